"""Tables of other packages, none of which is imported here."""
from __future__ import annotations

from typing import Any, Dict, List, Mapping

from .errors import KeelsonError


def columns_of(data: Any) -> Dict[str, Any]:
    """The columns of a table, without importing the package that it is of."""
    if isinstance(data, Mapping):
        return {str(name): values for name, values in data.items()}
    if hasattr(data, "column_names") and hasattr(data, "column"):
        return {str(name): data.column(name) for name in data.column_names}
    if hasattr(data, "columns") and hasattr(data, "__getitem__"):
        return {str(name): data[name] for name in data.columns}
    if len(getattr(data, "shape", ())) == 2:
        return {str(place): data[:, place] for place in range(data.shape[1])}
    rows = list_of(data)
    if not rows or not all(isinstance(row, (list, tuple)) for row in rows):
        raise KeelsonError("invalid-rows", "give a frame, a table, a mapping of columns, or rows "
                           "of numbers: a list of lists or an array of two dimensions")
    return {str(place): [row[place] for row in rows] for place in range(len(rows[0]))}


def list_of(values: Any) -> List[Any]:
    for name in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, name):
            return list(getattr(values, name)())
    return list(values)


def is_table(data: Any) -> bool:
    """True for a frame, a table or a mapping of columns, which name their columns."""
    return isinstance(data, Mapping) or hasattr(data, "columns") or hasattr(data, "column_names")


def is_missing(value: Any) -> bool:
    """True for None, NaN and the missing values of pandas."""
    # NaN, NaT and the like are not equal to themselves; the missing value of pandas is not a bool.
    return value is None or type(value).__name__ == "NAType" or bool(
        getattr(value, "size", 1) == 1 and value != value)
