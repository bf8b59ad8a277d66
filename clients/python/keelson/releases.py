"""Releases and their logs: section 7 of the protocol."""
from __future__ import annotations

import base64
import json
from typing import Any, Dict, Iterator, List, Optional, Tuple

from ._wire import Message, decode
from .errors import KeelsonError
from .numbers import stated_by, texts_of
from .signing import check_key, exact_bytes, keys_of, sha512, study_id_of, verify_statement

NO_DIGEST = bytes(64)


def check_form(release: Message) -> None:
    """One answer in the fields of the release, or a list of answers; and the keys of each."""
    if len(release.answers) == 0:
        if release.outcome is None:
            raise KeelsonError("malformed", "ReleaseBody has no outcome")
    elif release.estimator or release.parameters or release.outcome is not None:
        raise KeelsonError("malformed", "an answer beside a list of answers")
    if len(release.answers) > 16:
        raise KeelsonError("malformed", "more than 16 answers")
    outcomes = [one.outcome for one in release.answers] or [release.outcome]
    values = [one.value for one in outcomes if one.value is not None]
    for value in values:
        check_keys(value)
        stated_by(value, texts_of(release))
    if sum(value.shape[0] for value in values if value.groups) > 4096:
        raise KeelsonError("malformed", "more than 4,096 keys")


def check_keys(value: Message) -> None:
    """The keys split the first axis, and `answered` has a bit for each."""
    if len(value.groups) == 0:
        if value.answered:
            raise KeelsonError("malformed", "answered without keys")
        return
    count = value.shape[0] if len(value.shape) > 0 else 0
    if count == 0 or len(value.groups) % count != 0 or not 1 <= len(value.groups) // count <= 3:
        raise KeelsonError("malformed", "the keys are not the first axis")
    if value.answered:
        bits = int.from_bytes(value.answered, "little")
        if len(value.answered) != (count + 7) // 8 or bits >= (1 << count) - 1:
            raise KeelsonError("malformed", "answered has another form")


def keys_of_value(value: Optional[Message]) -> List[List[str]]:
    """The keys of an answer that is split, each a list of parts."""
    if value is None or len(value.groups) == 0:
        return []
    size = len(value.groups) // value.shape[0]
    return [list(value.groups[at:at + size]) for at in range(0, len(value.groups), size)]


def numbers_of_value(value: Message) -> List[Optional[float]]:
    """The numbers of an answer; None for those of a key that has no answer."""
    if not value.answered:
        return list(value.estimate)
    bits, size = int.from_bytes(value.answered, "little"), len(value.estimate) // value.shape[0]
    return [number if bits >> (at // size) & 1 else None
            for at, number in enumerate(value.estimate)]


class Chain:
    """Section 7: the releases of one study, each verified against the one before."""

    def __init__(
        self, study_id: bytes, facts: Dict[str, Any], keys: List[bytes], index: int = 0,
        digest: Optional[bytes] = NO_DIGEST, epoch: int = 0,
    ) -> None:
        self.study_id, self.facts, self.keys = study_id, facts, keys
        self.index, self.epoch = index, epoch
        self.digest = digest and exact_bytes(digest, 64, "a digest")

    def accept(self, body: bytes, signature: bytes) -> Message:
        """The release, once it is verified. Raises KeelsonError."""
        release = decode("ReleaseBody", body)
        check_form(release)
        if release.server_key not in self.keys:
            raise KeelsonError("log-invalid", "other-server")
        verify_statement("release", release.server_key, self.study_id, body, signature)
        # A key that was given up signs nothing any more.
        keys = self.keys[self.keys.index(release.server_key):]
        if release.study_id != self.study_id:
            raise KeelsonError("log-invalid", "other-study")
        if release.index != self.index:
            text = f"index-mismatch: {release.index} where {self.index} belongs"
            raise KeelsonError("log-invalid", text)
        if self.digest is not None and release.previous_digest != self.digest:
            raise KeelsonError("log-invalid", "digest-mismatch")
        if release.epoch <= self.epoch:
            raise KeelsonError("log-invalid", "epoch-order")
        for name in ("study", "participation", "cohort"):
            if getattr(release, name) != self.facts[name]:
                raise KeelsonError("log-invalid", f"facts-mismatch: {name}")
        columns = [one if isinstance(one, str) else one["name"] for one in self.facts["columns"]]
        if list(release.columns) != columns:
            raise KeelsonError("log-invalid", "facts-mismatch: columns")
        self.check_answers(release)
        self.keys, self.index, self.epoch = keys, self.index + 1, release.epoch
        self.digest = sha512(body)
        return release

    def check_answers(self, release: Message) -> None:
        questions = self.facts.get("questions")
        if questions is None:
            if len(release.answers) > 0 or release.estimator != self.facts["estimator"]:
                raise KeelsonError("log-invalid", "facts-mismatch: estimator")
            if json.loads(release.parameters) != self.facts["parameters"]:
                raise KeelsonError("log-invalid", "facts-mismatch: parameters")
            return
        if [one.question for one in release.answers] != [one["name"] for one in questions]:
            raise KeelsonError("log-invalid", "answers-mismatch: names")
        for answer, question in zip(release.answers, questions):
            if answer.estimator != question["estimator"]:
                raise KeelsonError("log-invalid", "answers-mismatch: estimator")
            if json.loads(answer.parameters) != question["parameters"]:
                raise KeelsonError("log-invalid", "answers-mismatch: parameters")
            keys, by = keys_of_value(answer.outcome.value), question.get("by")
            if len({tuple(key) for key in keys}) < len(keys) or (by is None and len(keys) > 0):
                raise KeelsonError("log-invalid", "keys-malformed")
            if by is not None and "groups" in by and len(keys) > 0 and keys != by["groups"]:
                raise KeelsonError("log-invalid", "keys-malformed: not the public list")
        for name in ("rho_amount", "delta_amount"):
            total = sum(int(getattr(one, name)) for one in release.answers)
            if total != int(getattr(release.cost, name)):
                raise KeelsonError("log-invalid", "answers-mismatch: charges")

    @staticmethod
    def index_of(body: bytes) -> int:
        """The index that a release claims, before it is verified."""
        return int(decode("ReleaseBody", body).index)

    @staticmethod
    def count_of(body: bytes) -> int:
        """The number of releases that a head claims, before it is verified."""
        return int(decode("HeadBody", body).count)

    def check_head(self, body: bytes, signature: bytes) -> Message:
        verify_statement("head", self.keys[-1], self.study_id, body, signature)
        head = decode("HeadBody", body)
        if head.server_key != self.keys[-1]:
            raise KeelsonError("log-invalid", "other-server")
        if head.study_id != self.study_id:
            raise KeelsonError("log-invalid", "other-study")
        if head.count != self.index or (self.digest is not None and head.digest != self.digest):
            raise KeelsonError("log-invalid", "head-mismatch")
        return head


def log_lines(data: bytes) -> Iterator[Tuple[str, Dict[str, bytes]]]:
    """Section 7, log files: canonical JSON objects, each line ended by one newline."""
    names = {
        "study": ["facts", "serverKey", "signature"], "rotation": ["record"],
        "release": ["body", "signature"], "head": ["body", "signature"],
    }
    if not data.endswith(b"\n"):
        raise KeelsonError("log-invalid", "line-malformed: the last line has no newline")
    for text in data[:-1].split(b"\n"):
        try:
            line = json.loads(text)
            fields = {
                name: base64.b64decode(line[name], validate=True) for name in names[line["type"]]}
        except (ValueError, KeyError, TypeError) as error:
            raise KeelsonError("log-invalid", "line-malformed") from error
        again = {name: base64.b64encode(value).decode() for name, value in fields.items()}
        whole = {**again, "type": line["type"]}
        canonical = json.dumps(whole, sort_keys=True, separators=(",", ":"))
        if canonical.encode() != text:
            raise KeelsonError("log-invalid", "line-malformed: not canonical")
        yield line["type"], fields


def verify_log(
    data: bytes, server_key: bytes, index: int = 0, digest: Optional[bytes] = NO_DIGEST,
    epoch: int = 0, stop: Optional[int] = None,
) -> Chain:
    """A whole log, or the part from `index` on, given digest and epoch of the release before.

    server_key: 32 bytes. digest: 64 bytes; None: the first link is not checked.
    stop: look no further than this many releases.
    """
    check_key(server_key)
    chain: Optional[Chain] = None
    study: Optional[Dict[str, bytes]] = None
    rotations: List[bytes] = []
    ended = False
    for kind, line in log_lines(data):
        if ended:
            raise KeelsonError("log-invalid", "line-after-head")
        if study is None:
            if kind != "study":
                raise KeelsonError("log-invalid", "study-missing")
            study = line
        elif kind == "study":
            raise KeelsonError("log-invalid", "study-repeated")
        elif kind == "rotation":
            if chain is not None:
                raise KeelsonError("log-invalid", "rotation-invalid: after a release")
            rotations.append(line["record"])
        else:
            chain = chain or begin_chain(study, rotations, server_key, index, digest, epoch)
            if kind == "release":
                chain.accept(line["body"], line["signature"])
                if chain.index == stop:
                    return chain
            else:
                chain.check_head(line["body"], line["signature"])
                ended = True
    if not ended or chain is None:
        raise KeelsonError("log-invalid", "head-missing" if study else "study-missing")
    return chain


def begin_chain(
    study: Dict[str, bytes], rotations: List[bytes], server_key: bytes, index: int,
    digest: Optional[bytes], epoch: int,
) -> Chain:
    keys = keys_of(study["serverKey"], rotations)
    if server_key not in keys:
        raise KeelsonError("log-invalid", "server-key-mismatch")
    study_id = study_id_of(study["facts"])
    verify_statement("study", keys[-1], study_id, study["facts"], study["signature"])
    return Chain(study_id, json.loads(study["facts"]), keys, index, digest, epoch)
