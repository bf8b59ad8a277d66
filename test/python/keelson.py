"""A client of the Keelson protocol, using only docs/reference/protocol.md and wire.proto.

It is the smallest one that keeps every rule of that page for a contributor and a reader. A test runs it
against a real server, so the page cannot leave out what a client needs.
"""
import base64
import hashlib
import json
import math
import struct
import unicodedata

from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

import wire_pb2 as wire

NO_KEY = bytes(32)
NO_STUDY = bytes(32)
NO_DIGEST = bytes(64)
P = 2**255 - 19

# Section 3: without the highest bit.
SMALL_ORDER = {bytes.fromhex(text) for text in (
    "00" * 32,
    "01" + "00" * 31,
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "ec" + "ff" * 30 + "7f",
)}


class ProtocolError(Exception):
    """The other side did not keep to the page. The text names the rule."""


def sha512(data):
    return hashlib.sha512(data).digest()


def study_id_of(facts):
    return hashlib.sha256(facts).digest()


# ------------------------------------------------------------------------------------------ keys, signatures

def check_key(key):
    """Section 3: which keys are refused."""
    if len(key) != 32:
        raise ProtocolError("a key has 32 bytes")
    without_sign = key[:31] + bytes([key[31] & 0x7F])
    if int.from_bytes(without_sign, "little") >= P:
        raise ProtocolError("invalid-key: y is not reduced")
    if without_sign in SMALL_ORDER:
        raise ProtocolError("invalid-key: a point of small order")
    return key


def message_of(label, server_key, study_id, contributor_key, payload):
    """Section 5: the 180 bytes that are signed."""
    head = b"keelson " + label.encode("ascii")
    message = head.ljust(16, b"\0") + struct.pack(">I", 1)
    message += server_key + study_id + contributor_key + payload
    if len(message) != 180:
        raise ProtocolError("a field of a signed message has a wrong length")
    return message


def verify(key, message, signature):
    try:
        VerifyKey(key).verify(message, signature)
    except (BadSignatureError, ValueError) as error:
        raise ProtocolError("signature-invalid") from error


class Contributor:
    def __init__(self, seed):
        self.signing = SigningKey(seed)
        self.key = bytes(self.signing.verify_key)

    def sign(self, label, server_key, study_id, payload):
        return self.signing.sign(message_of(label, server_key, study_id, self.key, payload)).signature


def verify_statement(label, server_key, study_id, content, signature):
    """`study`, `release`, `head`: by a server over the SHA-512 of bytes."""
    verify(server_key, message_of(label, server_key, study_id, NO_KEY, sha512(content)), signature)


def keys_of(server_key, rotations):
    """Section 5: all keys of a server, oldest first. Checks every rotation."""
    if len(rotations) > 64:
        raise ProtocolError("more than 64 rotations")
    keys = []
    for record in rotations:
        if len(record) != 192:
            raise ProtocolError("a rotation has 192 bytes")
        before, after = check_key(record[:32]), check_key(record[32:64])
        if keys and keys[-1] != before:
            raise ProtocolError("a rotation does not continue the one before")
        message = message_of("rotation", before, NO_STUDY, NO_KEY, sha512(after))
        verify(before, message, record[64:128])
        verify(after, message, record[128:])
        keys = (keys or [before]) + [after]
    if keys and keys[-1] != server_key:
        raise ProtocolError("the rotations do not lead to the server's key")
    return keys or [check_key(server_key)]


# ------------------------------------------------------------------------------------------ messages

LENGTHS = {
    "study_id": 32, "public_key": 32, "client_nonce": 32, "server_nonce": 32, "server_key": 32,
    "signature": 64, "previous_digest": 64, "digest": 64, "rotations": 192,
}
NEEDED = {
    "ClientFrame": ["kind"], "ServerFrame": ["kind"], "Outcome": ["kind"], "Uncertainty": ["kind"],
    "Welcome": ["limits"], "ReleaseBody": ["cost", "ledger"], "Answer": ["outcome"],
}
NOT_ZERO = {"data_type", "state"}


def read(kind, data):
    """Section 1: a message, or ProtocolError('malformed') for what the version does not allow."""
    message = kind()
    try:
        message.ParseFromString(data)
    except Exception as error:
        raise ProtocolError("malformed: not a protobuf message") from error
    check_message(message)
    return message


def check_message(message):
    name = message.DESCRIPTOR.name
    if name == "ReleaseBody":
        check_form(message)
    elif name == "Value":
        check_keys(message)
    if len(message.UnknownFields()) > 0:
        raise ProtocolError(f"malformed: {name} has a field that the schema does not define")
    for part in NEEDED.get(name, []):
        is_oneof = part in message.DESCRIPTOR.oneofs_by_name
        if not (message.WhichOneof(part) if is_oneof else message.HasField(part)):
            raise ProtocolError(f"malformed: {name} has no {part}")
    for field in message.DESCRIPTOR.fields:
        value = getattr(message, field.name)
        if field.label != field.LABEL_REPEATED:
            if field.message_type is not None and not message.HasField(field.name):
                continue
            value = [value]
        for one in value:
            check_value(name, field, one)


def check_form(release):
    """Section 7: one answer in the fields of the release, or a list of answers."""
    if len(release.answers) == 0:
        if not release.HasField("outcome"):
            raise ProtocolError("malformed: ReleaseBody has no outcome")
    elif release.estimator or release.parameters or release.HasField("outcome"):
        raise ProtocolError("malformed: an answer beside a list of answers")
    if len(release.answers) > 16:
        raise ProtocolError("malformed: more than 16 answers")
    values = [one.outcome.value for one in release.answers]
    if sum(value.shape[0] for value in values if len(value.groups) > 0 and len(value.shape) > 0) > 4096:
        raise ProtocolError("malformed: more than 4,096 keys")
    for outcome in [one.outcome for one in release.answers] or [release.outcome]:
        if outcome.HasField("value"):
            stated_of(outcome.value, [*release.columns, *release.texts])


def check_keys(value):
    """Section 7: the keys split the first axis, and `answered` has a bit for each."""
    if len(value.groups) == 0:
        if value.answered:
            raise ProtocolError("malformed: answered without keys")
        return
    count = value.shape[0] if len(value.shape) > 0 else 0
    if count == 0 or len(value.groups) % count != 0 or not 1 <= len(value.groups) // count <= 3:
        raise ProtocolError("malformed: the keys are not the first axis")
    if value.answered:
        bits = int.from_bytes(value.answered, "little")
        if len(value.answered) != (count + 7) // 8 or bits >= (1 << count) - 1:
            raise ProtocolError("malformed: answered has another form")


def stated_of(value, texts):
    """Section 7: what a release states of each number, or of each number of one key."""
    check_keys(value)
    keys = len(groups_of_value(value))
    entries = len(value.estimate) if keys == 0 else len(value.estimate) // keys
    if not value.HasField("numbers"):
        return [{"kind": "other"} for _ in range(entries)]
    stated = [{} for _ in range(entries)]
    values = list(value.numbers.values)
    if any(one in (math.inf, -math.inf) or one != one for one in values):
        raise ProtocolError("malformed: a value that is not finite")
    for field, runs in ((field.name, list(found)) for field, found in value.numbers.ListFields()):
        known = values if field in VALUE_LISTS else None if field in WHOLE_LISTS else texts
        if field == "values":
            continue
        if len(runs) % 2 == 1 or sum(code // 2 for code in runs[1::2]) != entries or min(runs[1::2]) < 2:
            raise ProtocolError(f"malformed: the runs of {field}")
        places = (first + code % 2 * i for first, code in zip(runs[::2], runs[1::2]) for i in range(code // 2))
        if any(first == 0 and code % 2 == 1 for first, code in zip(runs[::2], runs[1::2])):
            raise ProtocolError(f"malformed: a run of {field} that grows from nothing")
        for one, place in zip(stated, places):
            if known is not None and place > len(known):
                raise ProtocolError(f"malformed: {field} where nothing is")
            if place > 0:
                one[field] = place if known is None else known[place - 1]
    if not all("kind" in one for one in stated):
        raise ProtocolError("malformed: a number that is not described")
    return stated


VALUE_LISTS = ("least", "most", "start", "end", "probability")
WHOLE_LISTS = ("place", "of", "flag")


def groups_of_value(value):
    """The keys of an answer that is split, each a list of parts."""
    if len(value.groups) == 0:
        return []
    size = len(value.groups) // value.shape[0]
    return [list(value.groups[at:at + size]) for at in range(0, len(value.groups), size)]


def answered_of(value):
    """Which keys have an answer."""
    bits = int.from_bytes(value.answered, "little")
    return [not value.answered or bits >> place & 1 == 1 for place in range(len(groups_of_value(value)))]


def answers_of(release):
    """The outcome of each question by its name. A study of the short form asks one, called answer."""
    if len(release.answers) == 0:
        return {"answer": release.outcome}
    return {one.question: one.outcome for one in release.answers}


def check_value(name, field, value):
    if field.message_type is not None:
        check_message(value)
    elif field.enum_type is not None:
        known = field.enum_type.values_by_number
        if value not in known or (value == 0 and field.name in NOT_ZERO):
            raise ProtocolError(f"malformed: {name} has an unknown {field.name}")
    elif field.type == field.TYPE_BYTES and field.name in LENGTHS:
        may_be_empty = name == "Refusal"
        if len(value) != LENGTHS[field.name] and not (may_be_empty and value == b""):
            raise ProtocolError(f"malformed: {field.name} of {name} has {len(value)} bytes")


def encode_rows(rows):
    return b"".join(struct.pack(f"<{len(row)}d", *row) for row in rows)


def batch_body(study_id, sequence, epoch, rows, last):
    return wire.BatchBody(
        study_id=study_id, sequence=sequence, epoch=epoch, last=last, rows=len(rows),
        columns=len(rows[0]), data_type=wire.DATA_TYPE_FLOAT64, data=encode_rows(rows),
    ).SerializeToString()


# Section 3: the white space that may not end a text, and the characters that no text has.
SPACE = " \u00a0\u1680\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
REFUSED = [
    (0, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x61C, 0x61C), (0x180E, 0x180E), (0x200B, 0x200F),
    (0x2028, 0x202E), (0x2060, 0x206F), (0xD800, 0xF8FF), (0xFDD0, 0xFDEF), (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF), (0xFFF0, 0xFFFB), (0xE0000, 0xE0FFF), (0xF0000, 0x10FFFF),
]
MOST_WHOLE = 2**53 - 1


def text_of(data, most):
    """A text from its bytes, or ProtocolError('bad-text') where it is not in the one form."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ProtocolError("bad-text: not UTF-8") from error
    points = [ord(letter) for letter in text]
    is_refused = any(low <= point <= high for point in points for low, high in REFUSED)
    if not 1 <= len(data) <= most or is_refused or any(point & 0xFFFE == 0xFFFE for point in points):
        raise ProtocolError("bad-text: its length or a character")
    if text.strip(SPACE) != text or unicodedata.normalize("NFC", text) != text:
        raise ProtocolError("bad-text: white space at an end, or not in NFC")
    return text


def names_of(column):
    """What the places of a category stand for."""
    return column["of"] + (["other"] if column.get("other") else [])


def bits_of(data, count, what):
    if len(data) != (count + 7) // 8 or int.from_bytes(data, "little") >> count != 0:
        raise ProtocolError(f"malformed: the bits of {what}")
    return [data[i // 8] >> i % 8 & 1 == 1 for i in range(count)]


def packed_bits(bits):
    whole = sum(1 << place for place, bit in enumerate(bits) if bit)
    return whole.to_bytes((len(bits) + 7) // 8, "little")


def unpacked(data, letter, count):
    if len(data) != struct.calcsize(letter) * count:
        raise ProtocolError("malformed: cells of another size")
    return list(struct.unpack(f"<{count}{letter}", data))


def dictionary_of(data, column):
    texts, at = [], 0
    while at < len(data):
        end = at + 1 + data[at]
        if end > len(data) or len(texts) == 65535:
            raise ProtocolError("malformed: a dictionary that is cut short or too long")
        texts.append(data[at + 1:end])
        at = end
    if any(left >= right for left, right in zip(texts, texts[1:])):
        raise ProtocolError("malformed: a dictionary that does not ascend")
    return [text_of(text, column["bytes"]) for text in texts]


def column_of_cells(cells, column, rows, letter):
    """Section 3: the values of one column, None where a row has none."""
    kind, is_optional = column["type"], column.get("optional", False)
    there = bits_of(cells.present, rows, "presence") if cells.present else [True] * rows
    if cells.present and (not is_optional or all(there)):
        raise ProtocolError("malformed: bits of presence that are not needed")
    if (cells.numbers and kind not in ("number", "integer")) or (cells.dictionary and kind != "text"):
        raise ProtocolError("malformed: cells of another type")
    count = sum(there)
    if kind in ("number", "integer"):
        values = unpacked(cells.numbers, letter, count)
        if cells.codes or not all(map(math.isfinite, values)):
            raise ProtocolError("malformed: codes of numbers" if cells.codes else "not-finite")
        if kind == "number" and not all(abs(one) <= 2**64 for one in values):
            raise ProtocolError("wrong-type: a number beyond 2^64")
        if kind == "integer" and not all(one == int(one) and abs(one) <= MOST_WHOLE for one in values):
            raise ProtocolError("wrong-type: no whole number")
    elif kind == "boolean":
        values = bits_of(cells.codes, count, "a boolean")
    else:
        texts = dictionary_of(cells.dictionary, column) if kind == "text" else names_of(column)
        codes = unpacked(cells.codes, "B" if len(texts) <= 256 else "H", count)
        if any(code >= len(texts) for code in codes):
            raise ProtocolError(f"{'malformed' if kind == 'text' else 'wrong-type'}: a place past the names")
        if kind == "text" and len(set(codes)) < len(texts):
            raise ProtocolError("malformed: a text that no row has")
        values = [texts[code] for code in codes]
    found = iter(values)
    return [next(found) if is_there else None for is_there in there]


def rows_of(body, facts):
    """The rows of a batch of a study of version 2, as people give them."""
    columns = facts["columns"]
    if body.columns != len(columns) or len(body.cells) != len(columns):
        raise ProtocolError("wrong-columns")
    if body.data or body.rows == 0:
        raise ProtocolError("malformed: data beside cells, or no rows")
    if body.rows * len(columns) > 524288:
        raise ProtocolError("too-many-rows")
    letter = "f" if body.data_type == wire.DATA_TYPE_FLOAT32 else "d"
    found = [column_of_cells(cells, column, body.rows, letter) for cells, column in zip(body.cells, columns)]
    return [list(row) for row in zip(*found)]


def cells_of_column(values, column, letter):
    """The reverse of `column_of_cells`."""
    there = [one for one in values if one is not None]
    cells = wire.Cells()
    if len(there) < len(values):
        cells.present = packed_bits([one is not None for one in values])
    if column["type"] in ("number", "integer"):
        cells.numbers = struct.pack(f"<{len(there)}{letter}", *there)
    elif column["type"] == "boolean":
        cells.codes = packed_bits(there)
    else:
        is_text = column["type"] == "text"
        names = sorted(set(there), key=lambda text: text.encode()) if is_text else names_of(column)
        size = "B" if len(names) <= 256 else "H"
        cells.codes = struct.pack(f"<{len(there)}{size}", *map(names.index, there))
        if is_text:
            cells.dictionary = b"".join(bytes([len(one.encode())]) + one.encode() for one in names)
    return cells


def code_name(number):
    return wire.Code.Name(number)[len("CODE_"):].lower().replace("_", "-")


def find_study(studies, server_key, name):
    """Section 4: the newest version of a name comes first. Checks the signature of its facts."""
    for study in studies:
        facts = json.loads(study.facts)
        if facts["study"] == name:
            study_id = study_id_of(study.facts)
            verify_statement("study", server_key, study_id, study.facts, study.signature)
            return study_id, facts, study
    raise ProtocolError(f"unknown-study: {name}")


# ------------------------------------------------------------------------------------------ releases

class Chain:
    """Section 7: the releases of one study, each verified against the one before."""

    def __init__(self, study_id, facts, keys, index=0, digest=NO_DIGEST, epoch=0):
        self.study_id, self.facts, self.keys = study_id, facts, keys
        self.index, self.digest, self.epoch = index, digest, epoch

    def accept(self, body, signature):
        release = read(wire.ReleaseBody, body)
        if release.server_key not in self.keys:
            raise ProtocolError("other-server")
        verify_statement("release", release.server_key, self.study_id, body, signature)
        # A key that was given up signs nothing any more.
        keys = self.keys[self.keys.index(release.server_key):]
        if release.study_id != self.study_id:
            raise ProtocolError("other-study")
        if release.index != self.index:
            raise ProtocolError(f"index-mismatch: {release.index} where {self.index} belongs")
        if self.digest is not None and release.previous_digest != self.digest:
            raise ProtocolError("digest-mismatch")
        if release.epoch <= self.epoch:
            raise ProtocolError("epoch-order")
        for name in ("study", "participation", "cohort"):
            if getattr(release, name) != self.facts[name]:
                raise ProtocolError(f"facts-mismatch: {name}")
        columns = [one if isinstance(one, str) else one["name"] for one in self.facts["columns"]]
        if list(release.columns) != columns:
            raise ProtocolError("facts-mismatch: columns")
        self.check_answers(release)
        self.keys, self.index, self.epoch = keys, self.index + 1, release.epoch
        self.digest = sha512(body)
        return release

    def check_answers(self, release):
        questions = self.facts.get("questions")
        if questions is None:
            if len(release.answers) > 0 or release.estimator != self.facts["estimator"]:
                raise ProtocolError("facts-mismatch: estimator")
            if json.loads(release.parameters) != self.facts["parameters"]:
                raise ProtocolError("facts-mismatch: parameters")
            return
        if [one.question for one in release.answers] != [one["name"] for one in questions]:
            raise ProtocolError("answers-mismatch: names")
        for answer, question in zip(release.answers, questions):
            if answer.estimator != question["estimator"]:
                raise ProtocolError("answers-mismatch: estimator")
            if json.loads(answer.parameters) != question["parameters"]:
                raise ProtocolError("answers-mismatch: parameters")
            keys, by = groups_of_value(answer.outcome.value), question.get("by")
            if len({tuple(key) for key in keys}) < len(keys) or (by is None and len(keys) > 0):
                raise ProtocolError("keys-malformed")
            if by is not None and "keys" in by and len(keys) > 0 and keys != by["keys"]:
                raise ProtocolError("keys-malformed: not the public list")
        for name in ("rho_amount", "delta_amount"):
            if sum(int(getattr(one, name)) for one in release.answers) != int(getattr(release.cost, name)):
                raise ProtocolError("answers-mismatch: charges")

    def check_head(self, body, signature):
        verify_statement("head", self.keys[-1], self.study_id, body, signature)
        head = read(wire.HeadBody, body)
        if head.server_key != self.keys[-1]:
            raise ProtocolError("other-server")
        if head.study_id != self.study_id:
            raise ProtocolError("other-study")
        if head.count != self.index or (self.digest is not None and head.digest != self.digest):
            raise ProtocolError("head-mismatch")
        return head


def log_lines(data):
    """Section 7, log files: canonical JSON objects, each line ended by one newline."""
    names = {
        "study": ["facts", "serverKey", "signature"], "rotation": ["record"],
        "release": ["body", "signature"], "head": ["body", "signature"],
    }
    if not data.endswith(b"\n"):
        raise ProtocolError("line-malformed: the last line has no newline")
    for text in data[:-1].split(b"\n"):
        try:
            line = json.loads(text)
            fields = {name: base64.b64decode(line[name], validate=True) for name in names[line["type"]]}
        except (ValueError, KeyError, TypeError) as error:
            raise ProtocolError("line-malformed") from error
        again = {name: base64.b64encode(value).decode() for name, value in fields.items()}
        canonical = json.dumps({**again, "type": line["type"]}, sort_keys=True, separators=(",", ":"))
        if canonical.encode() != text:
            raise ProtocolError("line-malformed: not canonical")
        yield line["type"], fields


def verify_log(data, server_key, index=0, digest=NO_DIGEST, epoch=0, stop=None):
    """A whole log, or the part from `index` on, given the digest and the epoch of the release before.

    stop: look no further than this many releases.
    """
    chain, study, rotations, ended = None, None, [], False
    for kind, line in log_lines(data):
        if ended:
            raise ProtocolError("line-after-head")
        if study is None:
            if kind != "study":
                raise ProtocolError("study-missing")
            study = line
        elif kind == "study":
            raise ProtocolError("study-repeated")
        elif kind == "rotation":
            if chain is not None:
                raise ProtocolError("rotation-invalid: after a release")
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
    if not ended:
        raise ProtocolError("head-missing" if study else "study-missing")
    return chain


def begin_chain(study, rotations, server_key, index, digest, epoch):
    keys = keys_of(study["serverKey"], rotations)
    if server_key not in keys:
        raise ProtocolError("server-key-mismatch")
    study_id = study_id_of(study["facts"])
    verify_statement("study", keys[-1], study_id, study["facts"], study["signature"])
    return Chain(study_id, json.loads(study["facts"]), keys, index, digest, epoch)
