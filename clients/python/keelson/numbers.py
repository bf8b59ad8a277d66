"""What the numbers of an answer are, as the signed release states it: section 7 of the protocol."""
from __future__ import annotations

import json
import math
import re
from decimal import Decimal
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ._wire import Message
from .errors import KeelsonError

TEXTS = ("kind", "column", "other", "third", "fourth", "unit", "text")
VALUES = ("least", "most", "start", "end", "probability")
WHOLES = ("place", "of", "flag")


class Number(NamedTuple):
    """One number of an answer.

    value: None where its group has no answer. low, high: the ends of its 95 % interval, of the one
    that also holds if the stated share of the rows is false where the release has that; None where
    there is none, infinite where nothing is known on a side.
    name: what it is, in short words. unit: None where none is known. least, most: what is possible
    without noise, which may lead beyond; None: any value. group: a part for each column that the
    answer is split by; None for an answer that is not.
    kind: `mean`, `count`, `quantile` and so on; a newer server may know more. column: the column
    that it is about. facts: what else the release states of it, by the names of the protocol.
    """

    name: str
    value: Optional[float]
    low: Optional[float]
    high: Optional[float]
    unit: Optional[str]
    least: Optional[float]
    most: Optional[float]
    kind: str
    column: Optional[str]
    group: Optional[Tuple[str, ...]]
    facts: Dict[str, Any]


class GroupDifference(NamedTuple):
    """By how much a number of one group is above that of another.

    name, kind, column, unit: of the number, as in `Number`. difference: in its unit; None where one
    of the groups has no answer. low, high: the ends of its interval; infinite where nothing is
    known on a side. coverage: the least probability with which the interval holds, .95 or .9.
    """

    name: str
    kind: str
    column: Optional[str]
    unit: Optional[str]
    difference: Optional[float]
    low: float
    high: float
    coverage: float


def compare_groups(
    answer: Sequence[Number], one: Sequence[str], other: Sequence[str],
) -> List[GroupDifference]:
    """Compares two groups of one answer of a release, number by number.

    It reads released numbers only, so it costs no privacy.

    answer: of `release.numbers`, such as `release.numbers["people"]`. one: the group whose numbers
    are compared, a part for each column that the answer is split by, such as `["north"]`. other:
    the group whose numbers are taken off.

    The interval goes from the low end of one minus the high end of the other to the opposite, which
    holds in at least 90 of 100 releases whatever the errors are. Counts have noise and no other
    error, drawn for each group by itself. So there the half-width is the root of the sum of
    squares, which holds 95 times in 100.

    Raises KeelsonError("invalid-parameter") where the answer lacks one of the two groups.
    """
    return [_difference(left, right)
            for left, right in zip(_of_group(answer, one), _of_group(answer, other))]


def _of_group(answer: Sequence[Number], group: Sequence[str]) -> List[Number]:
    if isinstance(group, str):
        raise KeelsonError(
            "invalid-parameter", f'a group is a list with a part for each column: ["{group}"]')
    found = [number for number in answer if number.group == tuple(group)]
    if len(found) > 0:
        return found
    groups = list(dict.fromkeys(
        ", ".join(number.group) for number in answer if number.group is not None))
    known = "; ".join(groups[:10]) if groups else "none, as it is not split by groups"
    raise KeelsonError(
        "invalid-parameter", f"the answer has no group {', '.join(group)}: its groups are {known}")


def _difference(one: Number, other: Number) -> GroupDifference:
    difference = (
        None if one.value is None or other.value is None else one.value - other.value)
    about = 0.0 if difference is None else difference
    (down, up), (others_down, others_up) = _reaches(one), _reaches(other)
    low, high, coverage = about - down - others_up, about + up + others_down, 0.9
    if one.kind in ("count", "bin") and _is_even(down, up) and _is_even(others_down, others_up):
        width = math.hypot(up, others_up)
        low, high, coverage = about - width, about + width, 0.95
    return GroupDifference(
        one.name, one.kind, one.column, one.unit, difference, low, high, coverage)


def _reaches(number: Number) -> Tuple[float, float]:
    """The distances of the ends, infinite where nothing is known."""
    if number.value is None or number.low is None or number.high is None:
        return math.inf, math.inf
    return number.value - number.low, number.high - number.value


def _is_even(down: float, up: float) -> bool:
    """True if an interval is finite, and reaches as far to both sides but for rounding."""
    return math.isfinite(up) and abs(up - down) <= 1e-6 * up


def malformed(text: str) -> KeelsonError:
    return KeelsonError("malformed", text)


def stated_by(value: Message, texts: Sequence[str]) -> List[Dict[str, Any]]:
    """What a value states of each number, or of each number of one group. Raises KeelsonError
    unless it describes each of them, or none. texts: the columns of the release, then its texts."""
    entries = _entries(value)
    found: List[Dict[str, Any]] = [{} for _ in range(entries)]
    numbers = value.numbers
    if numbers is not None:
        if not all(math.isfinite(one) for one in numbers.values):
            raise malformed("a value of a description is not finite")
        for fields, known in ((TEXTS, texts), (VALUES, numbers.values), (WHOLES, None)):
            for field in fields:
                places = _places(getattr(numbers, field), entries, known, field)
                for one, place in zip(found, places):
                    if place > 0:
                        one[field] = place if known is None else known[place - 1]
    else:
        # The server was of a version before the description.
        found = [{"kind": "other"} for _ in found]
    if any("kind" not in one for one in found):
        raise malformed(f"it does not describe each of {entries} numbers")
    return found


def _entries(value: Message) -> int:
    """How many numbers a value describes: all, or those of one group of a split answer."""
    groups = int(value.shape[0]) if len(value.groups) > 0 else 1
    return len(value.estimate) // groups


def _places(runs: List[int], length: int, known: Optional[Sequence[Any]], field: str) -> List[int]:
    places: List[int] = []
    if len(runs) % 2 != 0:
        raise malformed(f"the runs of {field} are not {length} numbers")
    for first, code in zip(runs[::2], runs[1::2]):
        count, step = divmod(code, 2)
        if count == 0 or len(places) + count > length:
            raise malformed(f"the runs of {field} are not {length} numbers")
        last = first + step * (count - 1)
        if (known is not None and last > len(known)) or (first == 0 and step == 1):
            raise malformed(f"{field} of a number is stated at place {last}, where nothing is")
        places.extend(first + step * at for at in range(count))
    if len(runs) > 0 and len(places) < length:
        raise malformed(f"the runs of {field} are not {length} numbers")
    return places


def texts_of(release: Message) -> List[str]:
    """The texts that the descriptions of a release name."""
    return [*release.columns, *release.texts]


def numbers_of(
    value: Message, texts: Sequence[str], estimate: Sequence[Optional[float]],
    groups: Sequence[Sequence[str]],
) -> List[Number]:
    """The numbers of an answer in its order; of a split one, those of each group in turn."""
    stated = stated_by(value, texts)
    names = names_of(stated)
    low, high = value.interval_if_false_low, value.interval_if_false_high
    if len(low) == 0:
        low, high = value.interval_low, value.interval_high
    found = []
    for at, number in enumerate(estimate):
        facts = dict(stated[at % len(stated)])
        has_interval = len(low) > 0 and number is not None
        found.append(Number(
            names[at % len(stated)], number,
            low[at] if has_interval else None,
            high[at] if has_interval else None,
            facts.pop("unit", None), facts.pop("least", None), facts.pop("most", None),
            facts.pop("kind"), facts.pop("column", None),
            tuple(groups[at // len(stated)]) if groups else None, facts))
    return found


def names_of(stated: Sequence[Dict[str, Any]]) -> List[str]:
    """A short name for each number, the same as `keelson verify` prints."""
    columns = {one["column"] for one in stated if "column" in one}
    only_means = all(one["kind"] == "mean" for one in stated)
    return [_name(one, at, len(stated), only_means, len(columns) <= 1)
            for at, one in enumerate(stated)]


def _name(one: Dict[str, Any], at: int, count: int, only_means: bool, of_one: bool) -> str:
    kind, column, place = one["kind"], one.get("column", ""), one.get("place")
    if kind == "count":
        has_side = "start" in one or "end" in one
        return _side(one, one.get("column", "value")) if has_side else "contributors"
    if kind == "below":
        return f"contributors below {_text(one['end'])}" if "end" in one else "contributors"
    if kind == "total":
        if "start" not in one or "end" not in one:
            return f"total of {column}"
        found = "a found cap, at most " if one.get("flag") == 1 else ""
        return f"total of {column}, each {_text(one['start'])} to {found}{_text(one['end'])}"
    if kind == "mean":
        if place is None:
            return f"{'' if only_means else 'mean '}{column}"
        return f"mean {place}" if of_one else f"mean {place} of {column}"
    if kind in ("variance", "covariance") and (kind == "variance" or "other" in one):
        lead = "" if place is None else f"covariance {place} of "
        return f"{lead}{column}, {one.get('other', column)}"
    if kind == "bin":
        return _bin(one)
    if kind == "share" and ("start" in one or "end" in one):
        return f"share with {_side(one, column)}"
    if kind == "moment" and "third" in one:
        columns = [one[name] for name in ("column", "other", "third", "fourth") if name in one]
        return f"{'third' if len(columns) == 3 else 'fourth'} moment of {', '.join(columns)}"
    if kind in ("skewness", "excess-kurtosis"):
        along = f"along direction {place}" if "column" not in one else f"of {column}"
        return f"{kind.replace('-', ' ')} {along}"
    if kind == "quantile" and "column" in one and "probability" in one:
        return f"{_quantile(one['probability'])} of {column}"
    simple = _simple(one)
    if simple is not None:
        return simple
    is_placed = kind == "other" and "place" in one and "of" in one
    if is_placed and "text" in one:
        return f"{one['text']} {place if 'column' not in one else f'of {column}'}"
    if "column" in one:
        return str(column)
    return f"number {place} of {one['of']}" if is_placed else f"number {at + 1} of {count}"


# Kinds whose name is of one form. A number that lacks a part of it has another name.
SIMPLE = {
    "groups": "distinct groups", "rank": "rank", "choice": "place in the list, from 0",
    "bin-start": "{column}, bin {place} from", "ratio": "{column} per {other}",
    "median": "{column}", "deviation": "deviation {place}", "weight": "weight {place}",
    "projector": "projector {column}, {other}",
}


def _simple(one: Dict[str, Any]) -> Optional[str]:
    form = SIMPLE.get(one["kind"])
    shown = {name: _text(part) if isinstance(part, float) else part for name, part in one.items()}
    try:
        return None if form is None else form.format(**shown)
    except KeyError:
        return None


def _quantile(probability: float) -> str:
    """`median`, `25th percentile`, `99.9th percentile`."""
    if probability == 0.5:
        return "median"
    percent = _text(float(format(100 * probability, ".12g")))
    last = re.fullmatch(r"(?:\d*[02-9])?([123])", percent)
    ending = {"1": "st", "2": "nd", "3": "rd"}[last[1]] if last else "th"
    return f"{percent}{ending} percentile"


def _side(one: Dict[str, Any], column: str) -> str:
    if "end" in one:
        return f"{column} below {_text(one['end'])}"
    return f"{column} at least {_text(one['start'])}"


def _bin(one: Dict[str, Any]) -> str:
    column, start, end = one.get("column", ""), one.get("start"), one.get("end")
    if "text" in one:
        return str(one["text"])
    if "place" in one:
        return f"{column}, bin {one['place']} count"
    if start is None:
        return f"{column} below {_text(end)}"
    return f"{column} from {_text(start)}" if end is None else (
        f"{column} {_text(start)} to {_text(end)}")


def _text(value: Optional[float]) -> str:
    """A number as JSON and the command write it."""
    if value is None:
        return "any"
    if value != 0 and not 1e-6 <= abs(value) < 1e21:
        return re.sub(r"e([+-])0*(?=\d)", r"e\1", repr(value).replace(".0e", "e"))
    return re.sub(r"\.0$", "", format(Decimal(repr(value)), "f"))


def choices_of(number: Number) -> List[Any]:
    """The public list that a number of the kind `choice` is a place of."""
    found = json.loads(number.facts["text"])
    return list(found)


def table_of(numbers: Dict[str, Optional[List[Number]]]) -> str:
    """The answers as lines: question, group, name, value and interval with the unit."""
    lines = [["question", "group", "name", "value", "95 % interval", "unit"]]
    for question, answer in numbers.items():
        for one in answer or []:
            lines.append([
                question, ", ".join(one.group or ()), one.name,
                "no answer" if one.value is None else _short(one.value),
                _interval(one.low, one.high), one.unit or ""])
        if answer is None:
            lines.append([question, "", "", "refused", "", ""])
    kept = [at for at in range(len(lines[0])) if any(line[at] for line in lines[1:])]
    widths = [max(len(line[at]) for line in lines) for at in kept]
    return "\n".join("  ".join(line[at].ljust(width) for at, width in zip(kept, widths)).rstrip()
                     for line in lines)


def _interval(low: Optional[float], high: Optional[float]) -> str:
    if low is None or high is None:
        return ""
    if math.isinf(low):
        return "no interval" if math.isinf(high) else f"{_short(high)} or less"
    return f"{_short(low)} or more" if math.isinf(high) else f"{_short(low)} to {_short(high)}"


def _short(value: Optional[float]) -> str:
    return "" if value is None else f"{value:.6g}"
