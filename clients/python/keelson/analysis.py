"""Private answers about data at hand: a table is given to the command `keelson` through a pipe."""
import csv
import html
import io
import json
import logging
import os
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from .errors import KeelsonError

_log = logging.getLogger("keelson")
_install = ("install Node 20.19 or later and then the package, `npm install -g keelson`; or set "
            "the environment variable KEELSON_COMMAND to the command")


@dataclass(frozen=True, repr=False)
class Answer:
    """The answer of one estimator. Everything in it is released: it may be shown to anybody."""

    kind: str
    """`value`; `refused`, which is charged too; or `infeasible`: nothing ran."""
    names: List[str]
    """The name of each number."""
    estimate: List[Optional[float]]
    low: List[Optional[float]]
    """Lower ends of the 95 % intervals; empty where there are none, None where one is open."""
    high: List[Optional[float]]
    findings: List[str]
    """The doubts about the answer, in sentences."""
    reason: Optional[str]
    """Why there is no value, and what would help."""
    privacy: Mapping[str, Any]
    ledger: Optional[Mapping[str, Any]]
    """The state of the ledger that paid."""
    facts: Mapping[str, Any]
    """All that `keelson estimate --json` says."""

    def rows(self) -> List[Tuple[str, str, str]]:
        """The numbers with their intervals, as text."""
        def end(ends: List[Optional[float]], place: int) -> str:
            value = ends[place] if place < len(ends) else None
            return "open" if value is None else f"{value:.6g}"
        return [(name, "none" if value is None else f"{value:.6g}",
                 f"{end(self.low, place)} to {end(self.high, place)}" if self.low else "none")
                for place, (name, value) in enumerate(zip(self.names, self.estimate))]

    def _notes(self) -> List[str]:
        notes = [] if self.kind == "value" else [f"{self.kind}: {self.reason}"]
        if self.privacy:
            notes.append(f"privacy: epsilon {self.privacy['epsilon']:g}, "
                         f"delta {self.privacy['delta']:g}")
        if self.ledger is not None:
            spent = self.ledger["epsilon"]
            notes.append(f"ledger: epsilon {spent['spent']:.3g} of {spent['budget']:g} is spent")
        return [*self.findings, *notes]

    def __repr__(self) -> str:
        cells = [("name", "estimate", "95 % interval"), *self.rows()]
        widths = [max(len(row[column]) for row in cells) for column in range(3)]
        table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
                 for row in cells] if self.estimate else []
        return "\n".join([*table, *self._notes()])

    def _repr_html_(self) -> str:
        def line(tag: str, cells: Sequence[str]) -> str:
            inner = "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells)
            return f"<tr>{inner}</tr>"
        table = "" if not self.estimate else "<table>" + "".join(
            [line("th", ["name", "estimate", "95 % interval"]),
             *(line("td", row) for row in self.rows())]) + "</table>"
        return table + "".join(f"<p>{html.escape(note)}</p>" for note in self._notes())


def estimate(
    data: Any, estimator: str, *, epsilon: float, participation: str,
    delta: Optional[float] = None, columns: Optional[Sequence[str]] = None,
    cohort: Optional[int] = None, contributor: Optional[str] = None,
    parameters: Optional[Mapping[str, Any]] = None, ledger: Optional[str] = None,
    timeout: Optional[float] = None,
) -> Answer:
    """Runs one private estimator on a table. Each call spends the privacy that it asks for.

    `data` is a frame of pandas or polars, a table of pyarrow, an array of numpy with two
    dimensions, a mapping of columns, or a list of rows. A row is one person, unless `contributor`
    names the column of their ids. None and NaN are missing values: a row
    without a value that is used does not count. `participation` is "secret",
    which needs the public number of people as `cohort`, or "public". `ledger` is a file of
    `keelson ledger`, which pays. The rows go through a pipe and never to a disk.
    Raises KeelsonError: command-missing, invalid-rows, invalid-parameter or transport-failed.
    """
    words = ["estimate", estimator, "-", "--json", "--csv",
             "header=yes,separator=comma,decimal=point,missing=null", "--epsilon", repr(epsilon),
             "--participation", participation]
    options = {"--delta": delta, "--cohort": cohort, "--contributor": contributor,
               "--ledger": ledger}
    for flag, value in options.items():
        if value is not None:
            words += [flag, str(value)]
    for name, value in (parameters or {}).items():
        words += ["--set", f"{name}={_setting(value)}"]
    table = _columns(data)
    used = list(table) if columns is None else list(columns)
    if columns is not None:
        words += ["--columns", ",".join(used)]
    if contributor is not None and contributor not in used:
        used.append(contributor)
    missing = [name for name in used if name not in table]
    if missing:
        raise KeelsonError("invalid-parameter",
                           f"the data have no column {missing[0]}: there are {', '.join(table)}")
    return _answer(json.loads(_run(words, _text({name: table[name] for name in used}), timeout)))


class Session:
    """A table with one budget for all answers about it, which are charged before they are drawn.

    The budget ends with the session, unless `ledger` names a file that `keelson ledger` made;
    `epsilon`, `delta` and `participation` are then those of the file.
    """

    def __init__(
        self, data: Any, epsilon: Optional[float] = None, delta: float = 1e-6, *,
        participation: Optional[str] = None, cohort: Optional[int] = None,
        contributor: Optional[str] = None, ledger: Optional[str] = None,
    ) -> None:
        self._data = data
        self._cohort = cohort
        self._folder: Optional[tempfile.TemporaryDirectory[str]] = None
        if ledger is None:
            if epsilon is None or participation is None:
                raise KeelsonError("invalid-parameter",
                                   "give epsilon and participation, or the file of a ledger")
            # It holds charges alone, and only its owner can read it.
            self._folder = tempfile.TemporaryDirectory(prefix="keelson-")
            ledger = os.path.join(self._folder.name, "session.ledger")
            people = [] if contributor is None else ["--contributor", contributor]
            _run(["ledger", ledger, "--json", "--data", "this session", "--epsilon", repr(epsilon),
                  "--delta", repr(delta), "--participation", participation, *people])
        elif epsilon is not None or participation is not None or contributor is not None:
            raise KeelsonError("invalid-parameter", "the ledger states epsilon, participation and "
                               "contributor: leave them out")
        self._ledger = ledger
        state = self.state
        self._participation = str(state["participation"])
        self._contributor: Optional[str] = state["contributor"]

    @property
    def state(self) -> Dict[str, Any]:
        """What is spent, what is left, and every charge: `keelson ledger --json`."""
        return dict(json.loads(_run(["ledger", self._ledger, "--json"])))

    def estimate(
        self, estimator: str, *, epsilon: float, delta: Optional[float] = None,
        columns: Optional[Sequence[str]] = None, parameters: Optional[Mapping[str, Any]] = None,
        timeout: Optional[float] = None,
    ) -> Answer:
        """As `estimate`. An answer that the budget does not pay for is `infeasible`."""
        return estimate(
            self._data, estimator, epsilon=epsilon, delta=delta, columns=columns,
            parameters=parameters, timeout=timeout, participation=self._participation,
            cohort=self._cohort, contributor=self._contributor, ledger=self._ledger)

    def close(self) -> None:
        """Removes a budget that ends with the session."""
        if self._folder is not None:
            self._folder.cleanup()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _setting(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(str(each) for each in value)
    return str(value)


def _columns(data: Any) -> Dict[str, List[Any]]:
    """The columns of a table, without importing the package that it is of."""
    if isinstance(data, Mapping):
        return {str(name): _list(values) for name, values in data.items()}
    if hasattr(data, "column_names") and hasattr(data, "column"):
        return {str(name): _list(data.column(name)) for name in data.column_names}
    if hasattr(data, "columns") and hasattr(data, "__getitem__"):
        return {str(name): _list(data[name]) for name in data.columns}
    rows = _list(data)
    if not rows or not all(isinstance(row, (list, tuple)) for row in rows):
        raise KeelsonError("invalid-rows", "give a frame, a table, a mapping of columns, or rows "
                           "of numbers: a list of lists or an array of two dimensions")
    return {str(place): [row[place] for row in rows] for place in range(len(rows[0]))}


def _list(values: Any) -> List[Any]:
    for name in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, name):
            return list(getattr(values, name)())
    return list(values)


def _text(table: Mapping[str, Sequence[Any]]) -> bytes:
    if len({len(values) for values in table.values()}) > 1:
        raise KeelsonError("invalid-rows", "the columns have different lengths")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_MINIMAL)
    writer.writerow(table)
    cells = ([_cell(name, value) for value in values] for name, values in table.items())
    writer.writerows(zip(*cells))
    return text.getvalue().encode()


def _cell(name: str, value: Any) -> str:
    # NaN, NaT and the like are not equal to themselves; the missing value of pandas is not a bool.
    if value is None or type(value).__name__ == "NAType" or value != value:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return value
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    if hasattr(value, "item"):
        return _cell(name, value.item())
    raise KeelsonError("invalid-rows", f"column {name} holds a {type(value).__name__}: numbers, "
                       "texts, booleans and times can be used; leave the column out by columns=")


def _run(words: Sequence[str], rows: bytes = b"", timeout: Optional[float] = None) -> str:
    given = os.environ.get("KEELSON_COMMAND", "keelson")
    program, *before = shlex.split(given)
    found = shutil.which(program)
    if found is None:
        raise KeelsonError("command-missing", f"there is no command {program}: {_install}")
    try:
        done = subprocess.run([found, *before, *words], input=rows, capture_output=True,
                              timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        raise KeelsonError("transport-failed", f"no answer within {timeout} s: give more time. The "
                           "answer may be charged") from None
    notes = done.stderr.decode(errors="replace").strip()
    if done.returncode == 127:
        raise KeelsonError("command-missing", f"{program} needs Node: {_install}")
    if done.returncode not in (0, 1):
        raise KeelsonError("invalid-parameter", notes)
    # Advice may depend on the rows, so it is logged and in no answer.
    for line in notes.splitlines():
        _log.info("%s", line)
    return done.stdout.decode()


def _answer(facts: Dict[str, Any]) -> Answer:
    kind = str(facts["outcome"])
    if kind == "refused" and not facts["charged"]:
        kind = "infeasible"
    # The interval that false rows cannot break, where there is one.
    interval = facts.get("intervalIfFalse95") or facts.get("interval95") or {}
    numbers: List[Optional[float]] = facts.get("estimate", [])
    names = [str(name) for name in facts.get("labels") or facts.get("columns") or []]
    if len(names) != len(numbers):
        names = [str(place) for place in range(len(numbers))]
    reason = ": ".join(str(facts[name]) for name in ("reason", "text", "remedy") if name in facts)
    return Answer(
        kind=kind, names=names, estimate=numbers, low=interval.get("low", []),
        high=interval.get("high", []),
        findings=[str(finding["text"]) for finding in facts.get("findings", [])],
        reason=reason or None, privacy=facts.get("privacy", {}) if kind != "infeasible" else {},
        ledger=facts.get("ledger"), facts=facts)
