"""Rows as the bytes of a batch: section 3 of the protocol."""
from __future__ import annotations

import re
import struct
import unicodedata
from typing import Any, Dict, List, Mapping, Sequence

from .errors import KeelsonError
from .tables import columns_of, is_missing, is_table, list_of

# The white space that may not end a text, and the characters that no text has.
SPACE = " \u00a0\u1680\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
REFUSED = [
    (0, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x61C, 0x61C), (0x180E, 0x180E), (0x200B, 0x200B),
    (0x200E, 0x200F), (0x2028, 0x202E), (0x2060, 0x206F), (0xD800, 0xF8FF), (0xFDD0, 0xFDEF), (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF), (0xFFF0, 0xFFFB), (0xE0000, 0xE0FFF), (0xF0000, 0x10FFFF),
]
# The joiners that a text may have, as section 3 lists them; the group is any other one.
DUAL = (
    "\u0620\u0626\u0628\u062a-\u062e\u0633-\u063f\u0641-\u0647\u0649\u064a\u066e\u066f\u0678-\u0687"
    "\u069a-\u06bf\u06c1\u06c2\u06cc\u06ce\u06d0\u06d1\u06fa-\u06fc\u06ff")
JOINED = (
    "\u0620\u0622-\u064a\u066e\u066f\u0671-\u0673\u0675-\u06d3\u06d5\u06ee\u06ef\u06fa-\u06fc\u06ff")
VIRAMA = "\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca"
JOINERS = re.compile(
    f"((?<=[{VIRAMA}])(?:\u200d|\u200c(?=[\u0900-\u0dff]))"
    f"|[{DUAL}][\u064b-\u065f\u0670]*\u200c(?=[{JOINED}]))|[\u200c\u200d]")
MOST_WHOLE = 2**53 - 1
VALUE_MAX = 2**64
CELLS_MAX = 524_288
TEXTS_MAX = 65_535


def invalid(text: str) -> KeelsonError:
    return KeelsonError("invalid-rows", text)


def plain_rows(rows: Any) -> List[Any]:
    """Rows that an outbox can keep: lists of values, or values by the names of their columns.

    rows: lists, or an array of two dimensions, in the order of the columns; or mappings by name, a
    mapping of columns, or a frame or table of pandas, polars or pyarrow. At least one row.
    """
    found = _records(rows) if is_table(rows) else rows.tolist() if hasattr(rows, "tolist") else rows
    if not isinstance(found, (list, tuple)) or len(found) == 0:
        raise invalid("give at least one row, as a list of lists, an array of two dimensions, or a "
                      "frame")
    if all(isinstance(row, Mapping) for row in found):
        return [{str(name): _plain(value, f"{name} of row {i}") for name, value in row.items()}
                for i, row in enumerate(found)]
    if any(not isinstance(row, (list, tuple)) or len(row) != len(found[0]) for row in found):
        raise invalid("every row is a list, and all have the same length")
    return [[_plain(value, f"column {j} of row {i}") for j, value in enumerate(row)]
            for i, row in enumerate(found)]


def _records(table: Any) -> List[Dict[str, Any]]:
    """The rows of a table, in which NaN stands for no value."""
    columns = {name: list_of(values) for name, values in columns_of(table).items()}
    if len({len(values) for values in columns.values()}) > 1:
        raise invalid("the columns have different lengths")
    return [{name: None if is_missing(value) else value for name, value in zip(columns, row)}
            for row in zip(*columns.values())]


def _plain(value: Any, place: str) -> Any:
    """A value that an outbox can keep."""
    # Only one with a single number has the method `item` without words; others are refused below.
    plain = value.item() if getattr(value, "size", None) == 1 else value
    if not isinstance(plain, (bool, int, float, str, type(None))):
        raise invalid(f"{place} is not a number, a text, True, False or None")
    if isinstance(plain, (int, float)):
        _check_size(plain, place)
    return plain


def _check_size(value: float, place: str) -> None:
    if not abs(value) <= VALUE_MAX:
        raise invalid(f"{place} is not a finite number of at most 2^64 in size: leave the row out")


def checked_rows(rows: List[Any], facts: Dict[str, Any]) -> List[List[Any]]:
    """The rows in the form that the study takes. An error names row and column, not the value."""
    columns = facts["columns"]
    if isinstance(rows[0], Mapping):
        rows = [_in_order(row, columns, i) for i, row in enumerate(rows)]
    if len(rows[0]) != len(columns):
        raise invalid(f"the rows have {len(rows[0])} columns, the study has {len(columns)}")
    kinds = [{"type": "number"} if isinstance(one, str) else one for one in columns]
    return [[_checked(value, kind, f"column {j} of row {i}")
             for j, (value, kind) in enumerate(zip(row, kinds))] for i, row in enumerate(rows)]


def _in_order(row: Mapping[str, Any], columns: List[Any], place: int) -> List[Any]:
    """The values of a row in the order of the study. A name that it has not is an error."""
    names = [one if isinstance(one, str) else one["name"] for one in columns]
    unknown = [name for name in row if name not in names]
    if unknown:
        raise invalid(f"the study has no column {unknown[0]}: it has {', '.join(names)}")
    needed = [name for name, one in zip(names, columns)
              if isinstance(one, str) or not one.get("optional", False)]
    missing = [name for name in needed if name not in row]
    if missing:
        raise invalid(f"row {place} has no value for the column {missing[0]}")
    return [row.get(name) for name in names]


def _checked(value: Any, column: Dict[str, Any], place: str) -> Any:
    kind = column["type"]
    if value is None and column.get("optional", False):
        return None
    if kind == "boolean":
        if not isinstance(value, bool):
            raise invalid(f"{place} is not true or false")
        return value
    if kind in ("number", "integer"):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise invalid(f"{place} is not a number")
        _check_size(value, place)
        if kind == "integer" and (value != int(value) or abs(value) > MOST_WHOLE):
            raise invalid(f"{place} is not a whole number of at most 2^53 - 1")
        return value
    if not isinstance(value, str):
        raise invalid(f"{place} is not a text")
    if kind == "category":
        if value not in names_of(column):
            raise invalid(f"{place} is not one of the names of the study")
        return value
    return text_form(value, column["bytes"], place)


def text_form(value: str, most: int, place: str) -> str:
    """The text in the one form of section 3. Raises for one that no study takes."""
    before, text = "", unicodedata.normalize("NFC", value).strip(SPACE)
    while text != before:
        before, text = text, unicodedata.normalize("NFC", _without_unseen(text)).strip(SPACE)
    points = [ord(letter) for letter in text]
    is_refused = any(low <= point <= high for point in points for low, high in REFUSED)
    if is_refused or any(point & 0xFFFE == 0xFFFE for point in points):
        raise invalid(f"{place} has a character that no text may have")
    if not 1 <= len(text.encode("utf-8")) <= most:
        raise invalid(f"{place} must have 1 to {most} bytes of UTF-8")
    return text


def _without_unseen(text: str) -> str:
    text = re.sub("([\u200c\u200d])[\u200c\u200d]+", r"\1", re.sub("[\ufe0e\ufe0f]", "", text))
    return JOINERS.sub(lambda found: found.group(1) or "", text)


def names_of(column: Dict[str, Any]) -> List[str]:
    """What the places of a category stand for."""
    return list(column["of"]) + (["other"] if column.get("other") else [])


def rows_per_batch(facts: Dict[str, Any], limits: Any) -> int:
    """The most rows that fit a batch and its frame."""
    columns = facts["columns"]
    typed = facts["version"] != 1
    room = limits.frame_bytes - 512 - (16 * len(columns) if typed else 0)
    texts = [one["bytes"] + 3 for one in columns if typed and one["type"] == "text"]
    size = 9 * len(columns) + sum(texts)
    most: int = min(limits.rows_per_batch, room // size)
    if typed:
        most = min(most, CELLS_MAX // len(columns), TEXTS_MAX)
    if most < 1:
        raise invalid("a row does not fit a frame of the server")
    return most


def contents_of(rows: Sequence[Sequence[Any]], facts: Dict[str, Any]) -> Dict[str, Any]:
    """The fields `data` or `cells` of a batch body."""
    if facts["version"] == 1:
        return {"data": b"".join(struct.pack(f"<{len(row)}d", *row) for row in rows)}
    columns = zip(*rows)
    pairs = zip(columns, facts["columns"])
    return {"cells": [cells_of(list(values), one) for values, one in pairs]}


def cells_of(values: List[Any], column: Dict[str, Any]) -> Dict[str, bytes]:
    """The one form of the values of a column."""
    there = [one for one in values if one is not None]
    cells: Dict[str, bytes] = {}
    if len(there) < len(values):
        cells["present"] = packed_bits([one is not None for one in values])
    if column["type"] in ("number", "integer"):
        cells["numbers"] = struct.pack(f"<{len(there)}d", *there)
    elif column["type"] == "boolean":
        cells["codes"] = packed_bits(there)
    else:
        is_text = column["type"] == "text"
        names = sorted(set(there), key=str.encode) if is_text else names_of(column)
        places = {name: place for place, name in enumerate(names)}
        size = "B" if len(names) <= 256 else "H"
        cells["codes"] = struct.pack(f"<{len(there)}{size}", *(places[one] for one in there))
        if is_text:
            encoded = (one.encode() for one in names)
            cells["dictionary"] = b"".join(bytes([len(one)]) + one for one in encoded)
    return cells


def packed_bits(bits: Sequence[bool]) -> bytes:
    whole = sum(1 << place for place, bit in enumerate(bits) if bit)
    return whole.to_bytes((len(bits) + 7) // 8, "little")
