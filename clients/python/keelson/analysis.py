"""Private answers about data at hand: a table is given to the command `keelson` through a pipe."""
import csv
import html
import importlib
import io
import json
import logging
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from .errors import KeelsonError
from .tables import columns_of, is_missing, list_of

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

    def records(self) -> List[Dict[str, Any]]:
        """The numbers as records, for `pandas.DataFrame(answer.records())` and the like.

        Each has `name`, `estimate`, `low` and `high`. An end is None where the interval is open, and
        both are where there is none.
        """
        none: List[Optional[float]] = [None] * len(self.names)
        return [{"name": name, "estimate": value, "low": low, "high": high} for name, value, low, high
                in zip(self.names, self.estimate, self.low or none, self.high or none)]

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
    where: Sequence[str] = (), group_by: Optional[str] = None,
    groups: Optional[Union[str, Sequence[str]]] = None, groups_max: Optional[int] = None,
    types: Optional[Mapping[str, str]] = None, zone: Optional[str] = None,
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

    `where` are tests that rows must pass, such as `["minutes>=60", "region!=north"]`. `group_by`
    names a column: there is an answer for each of the public list `groups`, or, with
    `groups="discover"`, for each that enough people have. A person counts in `groups_max` of them;
    without it the group of a person is public. `types` gives columns other types than numbers, such
    as `{"late": "boolean", "day": "week"}`. `zone`, such as "Europe/Berlin" or "UTC", is the time
    zone of times that name none. `timeout` is in seconds.
    Raises KeelsonError: command-missing, invalid-rows, invalid-parameter or transport-failed.
    """
    words = ["estimate", estimator, "-", "--json",
             *_asked(epsilon=epsilon, delta=delta, participation=participation, cohort=cohort,
                     parameters=parameters)]
    options = {"--contributor": contributor, "--ledger": ledger, "--group-by": group_by,
               "--groups": groups, "--groups-max": groups_max}
    for flag, value in options.items():
        if value is not None:
            words += [flag, _setting(value)]
    for test in where:
        words += ["--where", test]
    for name, kind in (types or {}).items():
        words += ["--type", f"{name}={kind}"]
    table = columns_of(data)
    needed = [*([] if columns is None else columns),
              *(name for name in (contributor, group_by) if name is not None)]
    missing = [name for name in needed if name not in table]
    if missing:
        raise KeelsonError("invalid-parameter",
                           f"the data have no column {missing[0]}: there are {', '.join(table)}")
    if columns is not None:
        words += ["--columns", ",".join(columns)]
    if columns is not None and not where:
        table = {name: table[name] for name in dict.fromkeys(needed)}
    form, rows = _stream(table) or ("header=yes,separator=comma,decimal=point,missing=null",
                                    _text(table))
    form += "" if zone is None else f",zone={zone}"
    return _answer(json.loads(_run([*words, "--csv", form], rows, timeout)))


@dataclass(frozen=True, repr=False)
class Plan:
    """The error of an answer and the people that it needs, from public numbers alone."""

    kind: str
    """`plan`, or `infeasible`."""
    estimator: str
    error: Optional[float]
    """The expected error, as a standard deviation in `unit`, where everybody is honest."""
    error_if_false: Optional[float]
    """The same if the share of false rows lies that the plan allows for."""
    unit: str
    least_cohort: Optional[int]
    """The fewest people with an answer."""
    reason: Optional[str]
    """Why there is no plan, and what would help."""
    why: List[str]
    """The reasons for the estimator, where it was chosen."""
    facts: Mapping[str, Any]
    """All that `keelson plan --json` says."""

    def __repr__(self) -> str:
        lines = [f"{self.estimator}: {self.kind}"]
        if self.error is not None:
            lines.append(f"expected error {self.error:.3g} {self.unit}")
        if self.error_if_false is not None and self.error_if_false != self.error:
            lines.append(f"with the false rows that it allows for {self.error_if_false:.3g}")
        if self.least_cohort is not None:
            lines.append(f"people needed for an answer: {self.least_cohort}")
        return "\n".join([*lines, *([] if self.reason is None else [self.reason]), *self.why])


def plan(
    estimator: str, *, epsilon: float, participation: str, cohort: int,
    delta: Optional[float] = None, columns: Union[int, Sequence[str]] = 1,
    parameters: Optional[Mapping[str, Any]] = None, corruption: Optional[float] = None,
    timeout: Optional[float] = None,
) -> Plan:
    """The expected error of `estimate`, without data: it spends nothing.

    `columns` are names, or how many there are. `corruption` is the share of false rows to plan for.
    Raises KeelsonError: command-missing, invalid-parameter or transport-failed.
    """
    return _plan([estimator], epsilon=epsilon, participation=participation, cohort=cohort,
                 delta=delta, columns=columns, parameters=parameters, corruption=corruption,
                 timeout=timeout)


def choose(
    question: str, *, epsilon: float, participation: str, cohort: int,
    delta: Optional[float] = None, columns: Union[int, Sequence[str]] = 1,
    parameters: Optional[Mapping[str, Any]] = None, corruption: Optional[float] = None,
    timeout: Optional[float] = None,
) -> Plan:
    """The estimator that answers a question best by public facts, with its plan and the reasons.

    `question` is what you want to know: "mean", "median", "total", "percentile", "share" ...
    """
    return _plan(["auto", "--question", question], epsilon=epsilon, participation=participation,
                 cohort=cohort, delta=delta, columns=columns, parameters=parameters,
                 corruption=corruption, timeout=timeout)


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
        columns: Optional[Sequence[str]] = None, where: Sequence[str] = (),
        group_by: Optional[str] = None, groups: Optional[Union[str, Sequence[str]]] = None,
        groups_max: Optional[int] = None, types: Optional[Mapping[str, str]] = None,
        zone: Optional[str] = None, parameters: Optional[Mapping[str, Any]] = None,
        timeout: Optional[float] = None,
    ) -> Answer:
        """As `estimate`. An answer that the budget does not pay for is `infeasible`."""
        return estimate(
            self._data, estimator, epsilon=epsilon, delta=delta, columns=columns, where=where,
            group_by=group_by, groups=groups, groups_max=groups_max, types=types, zone=zone,
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


def _asked(
    *, epsilon: float, participation: str, cohort: Optional[int], delta: Optional[float],
    parameters: Optional[Mapping[str, Any]],
) -> List[str]:
    words = ["--epsilon", repr(epsilon), "--participation", participation]
    for flag, value in {"--delta": delta, "--cohort": cohort}.items():
        if value is not None:
            words += [flag, str(value)]
    for name, value in (parameters or {}).items():
        words += ["--set", f"{name}={_setting(value)}"]
    return words


def _plan(
    words: Sequence[str], *, epsilon: float, participation: str, cohort: int,
    delta: Optional[float], columns: Union[int, Sequence[str]],
    parameters: Optional[Mapping[str, Any]], corruption: Optional[float],
    timeout: Optional[float],
) -> Plan:
    named = [] if columns == 0 else ["--columns", _setting(columns)]
    hostile = [] if corruption is None else ["--corruption", repr(corruption)]
    asked = _asked(epsilon=epsilon, participation=participation, cohort=cohort, delta=delta,
                   parameters=parameters)
    facts = json.loads(_run(["plan", *words, "--json", *named, *hostile, *asked], b"", timeout))
    errors, public = facts.get("expectedError", {}), facts.get("facts", {})
    unit, size = str(public.get("errorsAreIn", "spreads")), 1.0
    # One spread that is known turns spreads into units.
    if unit == "spreads" and re.fullmatch(r"[0-9.e+-]+", str(public.get("spread"))):
        unit, size = "units of the column", float(public["spread"])
    error, error_if_false = (
        None if name not in errors else float(errors[name]["total"]) * size
        for name in ("clean", "corrupted"))
    return Plan(
        kind=str(facts["outcome"]), estimator=str(facts["estimator"]), error=error,
        error_if_false=error_if_false, unit=unit,
        least_cohort=facts.get("minimumCohort"), reason=_reason(facts),
        why=[str(each) for each in facts.get("choice", {}).get("why", [])], facts=facts)


def _reason(facts: Mapping[str, Any]) -> Optional[str]:
    said = ": ".join(str(facts[name]) for name in ("reason", "text", "remedy") if name in facts)
    return said or None


def _setting(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(str(each) for each in value)
    return str(value)


def _stream(table: Mapping[str, Any]) -> Optional[Tuple[str, bytes]]:
    """The table as a stream of Arrow, where pyarrow is installed and takes the columns.

    A million numbers take a tenth of the time that they take as text. NaN and empty texts are
    missing values, as they are there.
    """
    try:
        pyarrow = importlib.import_module("pyarrow")
        compute = importlib.import_module("pyarrow.compute")
    except ImportError:
        return None

    def column(values: Any) -> Any:
        found = values.to_arrow() if hasattr(values, "to_arrow") else values
        if not isinstance(found, (pyarrow.Array, pyarrow.ChunkedArray)):
            found = pyarrow.array(found, from_pandas=True)
        if pyarrow.types.is_floating(found.type):
            return compute.if_else(compute.is_nan(found), None, found)
        if pyarrow.types.is_string(found.type) or pyarrow.types.is_large_string(found.type):
            return compute.if_else(compute.equal(found, ""), None, found)
        return found

    try:
        whole = pyarrow.table({name: column(values) for name, values in table.items()})
    except (pyarrow.ArrowException, TypeError):
        # The text says which column cannot be used, or takes values of several types.
        return None
    sink = io.BytesIO()
    with pyarrow.ipc.new_stream(sink, whole.schema) as stream:
        stream.write_table(whole)
    return "missing=null", sink.getvalue()


def _text(table: Mapping[str, Any]) -> bytes:
    cells = [[_cell(name, value) for value in list_of(values)] for name, values in table.items()]
    if len({len(values) for values in cells}) > 1:
        raise KeelsonError("invalid-rows", "the columns have different lengths")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_MINIMAL)
    writer.writerow(table)
    writer.writerows(zip(*cells))
    return text.getvalue().encode()


def _cell(name: str, value: Any) -> str:
    if is_missing(value):
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
    parts = _parts(facts)
    answered = [part for part in parts if part["outcome"] == "value"]
    said = answered[0] if answered else parts[0]
    kind = str(said["outcome"])
    if kind == "refused" and not any(part["charged"] for part in parts):
        kind = "infeasible"
    names: List[str] = []
    estimate: List[Optional[float]] = []
    low: List[Optional[float]] = []
    high: List[Optional[float]] = []
    width = len(answered[0]["estimate"]) if answered else 0
    for part in parts if answered else []:
        numbers = part["estimate"] if part["outcome"] == "value" else [None] * width
        names += _names(part, len(numbers))
        estimate += numbers
        # The interval that false rows cannot break, where there is one.
        interval = part.get("intervalIfFalse95") or part.get("interval95")
        none = [None] * len(numbers) if any("interval95" in each for each in answered) else []
        low += none if interval is None else interval["low"]
        high += none if interval is None else interval["high"]
    privacy: Mapping[str, Any] = facts.get("privacy") or said.get("privacy") or {}
    return Answer(
        kind=kind, names=names, estimate=estimate, low=low, high=high,
        findings=[str(finding["text"]) for part in answered
                  for finding in part.get("findings", [])],
        reason=_reason(said), privacy={} if kind == "infeasible" else privacy,
        ledger=facts.get("ledger"), facts=facts)


def _parts(facts: Mapping[str, Any]) -> List[Mapping[str, Any]]:
    """The answers of the groups, where each is one of its own; else the one answer."""
    groups = facts.get("groups")
    if groups is not None:
        return list(groups)
    return list(facts["questions"].values()) if facts.get("questions") else [facts]


def _names(part: Mapping[str, Any], count: int) -> List[str]:
    own = [str(name) for name in part.get("labels") or part.get("columns") or []]
    if "group" in part:
        return [part["group"]] if count == 1 else [f"{part['group']} {name}" for name in own]
    groups = [" ".join([group] if isinstance(group, str) else group)
              for group in part.get("groups", [])]
    if groups:
        each = count // len(groups)
        own = groups if each == 1 or len(own) != each \
            else [f"{group} {name}" for group in groups for name in own]
    return own if len(own) == count else [str(place) for place in range(count)]
