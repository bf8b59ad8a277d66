"""The wire schema of the protocol, and its codec: protobuf without a protobuf library.

`proto/keelson/v1/wire.proto` of the source is the schema. `decode` takes only what section 1 of the
protocol allows, so every message that it returns is in its form.
"""
from __future__ import annotations

import struct
from typing import Any, Dict, List, Tuple

from .errors import KeelsonError


class Message:
    """One message: its fields are attributes. An absent message is None."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


# Each field: number, name, type, bound. A type that ends in * is repeated; a type with a capital is
# a message. The bound of bytes is their length (0: any), that of an enum its largest value.
Field = Tuple[int, str, str, int]
CODES = """unspecified malformed unknown-study invalid-key key-not-allowed bad-signature
unknown-channel wrong-columns not-finite too-many-rows contribution-full mutated stale-epoch
epoch-not-open study-ended budget-exhausted sequence-too-far credit-exceeded overloaded rate-limited
too-many-channels contributor-budget-exhausted shutting-down unsupported internal quarantined
not-enrolled enrolment-expired too-many-new-keys too-late wrong-type bad-text
not-counted stale-share""".split()
CODE_MAX = len(CODES) - 1

SCHEMA: Dict[str, List[Field]] = {
    "ClientFrame": [
        (1, "hello", "Hello", 0), (2, "batch", "SignedBatch", 0), (3, "subscribe", "Subscribe", 0),
        (4, "unsubscribe", "Unsubscribe", 0), (5, "withdraw", "Withdraw", 0),
        (6, "open", "Open", 0), (7, "encrypted_batch", "EncryptedBatch", 0)],
    "Hello": [
        (1, "study_id", "bytes", 32), (2, "public_key", "bytes", 32),
        (3, "client_nonce", "bytes", 32), (4, "signature", "bytes", 64),
        (5, "enrolment", "bytes", 0)],
    "SignedBatch": [
        (1, "channel", "uint", 0), (2, "body", "bytes", 0), (3, "signature", "bytes", 64)],
    "Open": [
        (1, "study_id", "bytes", 32), (2, "public_key", "bytes", 32),
        (3, "client_share", "bytes", 32), (4, "signature", "bytes", 64),
        (5, "enrolment", "bytes", 0)],
    "EncryptedBatch": [(1, "channel", "uint", 0), (2, "encrypted", "bytes", 0)],
    "BatchBody": [
        (1, "study_id", "bytes", 32), (2, "sequence", "uint", 0), (3, "epoch", "uint", 0),
        (4, "last", "bool", 0), (5, "rows", "uint", 0), (6, "columns", "uint", 0),
        (7, "data_type", "enum+", 2), (8, "data", "bytes", 0), (9, "cells", "Cells*", 0)],
    "Cells": [
        (1, "present", "bytes", 0), (2, "numbers", "bytes", 0), (3, "codes", "bytes", 0),
        (4, "dictionary", "bytes", 0)],
    "Once": [
        (1, "study_id", "bytes", 32), (2, "public_key", "bytes", 32), (3, "enrolment", "bytes", 0),
        (4, "body", "bytes", 0), (5, "signature", "bytes", 64)],
    "Withdraw": [(1, "channel", "uint", 0), (2, "epoch", "uint", 0), (3, "signature", "bytes", 64)],
    "Subscribe": [(1, "study_id", "bytes", 32), (2, "from_release", "uint", 0)],
    "Unsubscribe": [(1, "study_id", "bytes", 32)],
    "ServerFrame": [
        (1, "welcome", "Welcome", 0), (2, "ready", "Ready", 0), (3, "ack", "Ack", 0),
        (4, "release", "SignedRelease", 0), (5, "head", "SignedHead", 0),
        (6, "notice", "Notice", 0), (7, "refusal", "Refusal", 0), (8, "opened", "Opened", 0),
        (9, "encrypted_ack", "EncryptedAck", 0)],
    "Welcome": [
        (1, "server_key", "bytes", 32), (2, "server_nonce", "bytes", 32),
        (3, "limits", "Limits", 0),
        (4, "studies", "SignedStudy*", 0), (5, "rotations", "bytes*", 192),
        (6, "share", "KeyShare", 0)],
    "KeyShare": [
        (1, "share", "bytes", 32), (2, "issued_ms", "uint", 0), (3, "until_ms", "uint", 0),
        (4, "signature", "bytes", 64)],
    "Limits": [
        (1, "frame_bytes", "uint", 0), (2, "rows_per_batch", "uint", 0),
        (3, "credit_batches", "uint", 0), (4, "channels_per_socket", "uint", 0),
        (5, "sequence_window", "uint", 0)],
    "SignedStudy": [
        (1, "facts", "bytes", 0), (2, "signature", "bytes", 64), (3, "state", "enum+", 3),
        (4, "epoch", "uint", 0)],
    "Ready": [
        (1, "channel", "uint", 0), (2, "study_id", "bytes", 32), (3, "public_key", "bytes", 32),
        (4, "signature", "bytes?", 64), (5, "epoch", "uint", 0), (6, "next_sequence", "uint", 0),
        (7, "holes", "uint*", 0), (8, "credit", "uint", 0), (9, "own_spend", "Spend", 0),
        (10, "box_keys", "bytes*", 96)],
    "Opened": [
        (1, "channel", "uint", 0), (2, "study_id", "bytes", 32), (3, "public_key", "bytes", 32),
        (4, "encrypted", "bytes", 0)],
    "EncryptedAck": [(1, "channel", "uint", 0), (2, "encrypted", "bytes", 0)],
    "Spend": [
        (1, "rho", "double", 0), (2, "rho_cap", "double", 0), (3, "delta", "double", 0),
        (4, "delta_cap", "double", 0)],
    "Ack": [
        (1, "channel", "uint", 0), (2, "accepted", "uint*", 0), (3, "rejections", "Rejection*", 0),
        (4, "epoch", "uint", 0), (5, "credit", "uint", 0), (6, "own_spend", "Spend", 0),
        (7, "withdrawn", "uint", 0)],
    "Rejection": [
        (1, "sequence", "uint", 0), (2, "code", "enum", CODE_MAX), (3, "retryable", "bool", 0),
        (4, "text", "string", 0)],
    "Notice": [
        (1, "study_id", "bytes", 32), (2, "state", "enum+", 3), (3, "epoch", "uint", 0),
        (4, "closes_in_ms", "uint", 0), (5, "box_keys", "bytes*", 96)],
    "Refusal": [
        (1, "code", "enum", CODE_MAX), (2, "retryable", "bool", 0), (3, "text", "string", 0),
        (4, "channel", "uint", 0), (5, "study_id", "bytes?", 32), (6, "public_key", "bytes?", 32)],
    "SignedRelease": [(1, "body", "bytes", 0), (2, "signature", "bytes", 64)],
    "ReleaseBody": [
        (1, "server_key", "bytes", 32), (2, "study_id", "bytes", 32), (3, "index", "uint", 0),
        (4, "epoch", "uint", 0), (5, "study", "string", 0), (6, "estimator", "string", 0),
        (7, "parameters", "string", 0), (8, "participation", "string", 0),
        (9, "outcome", "Outcome", 0), (10, "cost", "Cost", 0), (11, "ledger", "LedgerPosition", 0),
        (12, "previous_digest", "bytes", 64), (13, "mechanisms", "string", 0),
        (14, "closed_at_ms", "uint", 0), (15, "columns", "string*", 0), (16, "cohort", "uint", 0),
        (17, "guarantee", "string", 0), (18, "answers", "Answer*", 0), (19, "texts", "string*", 0)],
    "Answer": [
        (1, "question", "string", 0), (2, "estimator", "string", 0), (3, "parameters", "string", 0),
        (4, "outcome", "Outcome", 0), (5, "rho_amount", "string", 0),
        (6, "delta_amount", "string", 0)],
    "Outcome": [(1, "value", "Value", 0), (2, "refused", "Refused", 0)],
    "Value": [
        (1, "estimate", "double*", 0), (2, "shape", "uint*", 0),
        (3, "uncertainty", "Uncertainty", 0),
        (4, "interval_low", "double*", 0), (5, "interval_high", "double*", 0),
        (6, "parts", "Part*", 0),
        (7, "interval_if_false_low", "double*", 0), (8, "interval_if_false_high", "double*", 0),
        (9, "radius_if_false", "double", 0), (10, "spread", "double*", 0),
        (11, "findings", "Finding*", 0), (12, "groups", "string*", 0), (13, "answered", "bytes", 0),
        (14, "running", "RunningRelease", 0), (15, "numbers", "Numbers", 0)],
    "Numbers": [
        (1, "values", "double*", 0), (2, "kind", "uint*", 0), (3, "column", "uint*", 0),
        (4, "other", "uint*", 0), (5, "third", "uint*", 0), (6, "fourth", "uint*", 0),
        (7, "unit", "uint*", 0), (8, "text", "uint*", 0), (9, "least", "uint*", 0),
        (10, "most", "uint*", 0), (11, "start", "uint*", 0), (12, "end", "uint*", 0),
        (13, "probability", "uint*", 0), (14, "place", "uint*", 0), (15, "of", "uint*", 0),
        (16, "flag", "uint*", 0)],
    "RunningRelease": [(1, "position", "uint", 0), (2, "released", "double*", 0)],
    "Finding": [
        (1, "reason", "string", 0), (2, "columns", "uint*", 0), (3, "amounts", "double*", 0),
        (4, "group", "uint", 0)],
    "Part": [(1, "name", "string", 0), (2, "shape", "uint*", 0)],
    "Uncertainty": [
        (1, "gaussian", "GaussianUncertainty", 0), (2, "relative_operator", "double", 0),
        (3, "grid_spacing", "double", 0), (4, "laplace", "LaplaceUncertainty", 0)],
    "GaussianUncertainty": [(1, "standard_deviation", "double*", 0)],
    "LaplaceUncertainty": [(1, "scale", "double*", 0)],
    "Refused": [(1, "reason", "string", 0), (2, "text", "string", 0)],
    "Cost": [
        (1, "epsilon", "double", 0), (2, "delta", "double", 0), (3, "rho_amount", "string", 0),
        (4, "delta_amount", "string", 0)],
    "LedgerPosition": [
        (1, "scope", "string", 0), (2, "rule", "string", 0), (3, "rho_spent", "string", 0),
        (4, "rho_cap", "string", 0), (5, "delta_spent", "string", 0), (6, "delta_cap", "string", 0),
        (7, "epsilon_spent", "double", 0), (8, "epsilon_cap", "double", 0),
        (9, "window_ms", "uint", 0)],
    "SignedHead": [(1, "body", "bytes", 0), (2, "signature", "bytes", 64)],
    "HeadBody": [
        (1, "server_key", "bytes", 32), (2, "study_id", "bytes", 32), (3, "count", "uint", 0),
        (4, "digest", "bytes", 64), (5, "state", "enum+", 3)],
}
# Messages of which exactly one field is there, and fields that must be there.
ONE_OF = {"ClientFrame", "ServerFrame", "Outcome", "Uncertainty"}
NEEDED = {"Welcome": ["limits"], "ReleaseBody": ["cost", "ledger"], "Answer": ["outcome"]}
DEFAULTS = {"uint": 0, "enum": 0, "enum+": 0, "bool": False, "double": 0.0, "string": ""}
PARTS_MAX = 40_960


def malformed(text: str) -> KeelsonError:
    return KeelsonError("malformed", text)


def _varint(data: bytes, at: int) -> Tuple[int, int]:
    value, shift = 0, 0
    while True:
        if at >= len(data) or shift > 63:
            raise malformed("a number is cut short or too long")
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            if value >= 1 << 64:
                raise malformed("a number is above 64 bits")
            return value, at


def split_frames(data: bytes) -> List[bytes]:
    """The frames of an answer over HTTP: each after its length."""
    frames, at = [], 0
    while at < len(data):
        size, at = _varint(data, at)
        if at + size > len(data):
            raise malformed("a frame is cut short")
        frames.append(data[at:at + size])
        at += size
    return frames


def _empty(name: str) -> Message:
    fields: Dict[str, Any] = {}
    for _, field, kind, _bound in SCHEMA[name]:
        if kind.endswith("*"):
            fields[field] = []
        elif kind[0].isupper() or (name in ONE_OF):
            fields[field] = None
        else:
            fields[field] = DEFAULTS.get(kind, b"")
    return Message(**fields)


def decode(name: str, data: bytes) -> Message:
    """A message of the schema. Raises KeelsonError("malformed") for what is not allowed."""
    message = _empty(name)
    _read(name, data, message, [0])
    _check(name, message)
    return message


def _read(name: str, data: bytes, message: Message, parts: List[int]) -> None:
    fields = {number: (field, kind, bound) for number, field, kind, bound in SCHEMA[name]}
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        if tag >> 3 not in fields:
            raise malformed(f"{name} has a field that the schema does not define")
        field, kind, bound = fields[tag >> 3]
        wire = tag & 7
        if wire == 0:
            found, at = _varint(data, at)
            content: Any = found
        elif wire in (1, 2):
            size, at = _varint(data, at) if wire == 2 else (8, at)
            content, at = data[at:at + size], at + size
            parts[0] += 1
            if at > len(data) or parts[0] > PARTS_MAX:
                raise malformed(f"{name} is cut short, or has too many parts")
        else:
            raise malformed(f"{field} of {name} has another wire type")
        _put(name, message, field, kind, bound, wire, content, parts)


def _put(name: str, message: Message, field: str, kind: str, bound: int, wire: int, content: Any,
         parts: List[int]) -> None:
    base, is_list = kind.rstrip("*+?"), kind.endswith("*")
    if name in ONE_OF:
        for _, other, _kind, _bound in SCHEMA[name]:
            if other != field:
                setattr(message, other, None)
    if base[0].isupper():
        if wire != 2:
            raise malformed(f"{field} of {name} has another wire type")
        before = None if is_list else getattr(message, field)
        inner = _empty(base) if before is None else before
        _read(base, content, inner, parts)
        if is_list:
            getattr(message, field).append(inner)
        else:
            setattr(message, field, inner)
        return
    if is_list and wire == 2 and base in ("uint", "double"):
        getattr(message, field).extend(_packed(base, content))
        return
    value = _scalar(name, field, base, wire, content)
    if is_list:
        getattr(message, field).append(value)
    else:
        setattr(message, field, value)


def _packed(base: str, content: bytes) -> List[Any]:
    if base == "double":
        if len(content) % 8 != 0:
            raise malformed("numbers are cut short")
        return list(struct.unpack(f"<{len(content) // 8}d", content))
    values, at = [], 0
    while at < len(content):
        value, at = _varint(content, at)
        values.append(value)
    return values


def _scalar(name: str, field: str, base: str, wire: int, content: Any) -> Any:
    wanted = {"uint": 0, "enum": 0, "bool": 0, "double": 1, "bytes": 2, "string": 2}[base]
    if wire != wanted:
        raise malformed(f"{field} of {name} has another wire type")
    if base == "bool":
        return content != 0
    if base == "double":
        return struct.unpack("<d", content)[0]
    if base == "string":
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise malformed(f"{field} of {name} is not UTF-8") from error
    return bytes(content) if base == "bytes" else content


def _check(name: str, message: Message) -> None:
    if name in ONE_OF and kind_of(message) is None:
        raise malformed(f"{name} has none of its kinds")
    for part in NEEDED.get(name, []):
        if getattr(message, part) is None:
            raise malformed(f"{name} has no {part}")
    for _, field, kind, bound in SCHEMA[name]:
        value = getattr(message, field)
        if value is None:
            continue
        for one in value if kind.endswith("*") else [value]:
            base = kind.rstrip("*+?")
            if base[0].isupper():
                _check(base, one)
            elif base == "enum" and (one > bound or (one == 0 and kind == "enum+")):
                raise malformed(f"{field} of {name} has an unknown value")
            elif base == "bytes" and bound and len(one) != bound and (one or kind != "bytes?"):
                raise malformed(f"{field} of {name} has {len(one)} bytes")


def kind_of(message: Message) -> Any:
    """The name of the field that is there, in a message that has one."""
    return next((name for name, value in message.__dict__.items() if value is not None), None)


def _encode_varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode(name: str, fields: Dict[str, Any]) -> bytes:
    """The bytes of a message from its fields; a message in it is a dict. Absent: the default."""
    out = bytearray()
    for number, field, kind, _ in SCHEMA[name]:
        value = fields.get(field)
        if value is None:
            continue
        base = kind.rstrip("*+?")
        for one in value if kind.endswith("*") else [value]:
            if base[0].isupper():
                part = encode(base, one)
            elif base in ("uint", "enum", "bool"):
                if one:
                    out += _encode_varint(number << 3) + _encode_varint(int(one))
                continue
            else:
                part = bytes(one)
                if not part:
                    continue
            out += _encode_varint(number << 3 | 2) + _encode_varint(len(part)) + part
    return bytes(out)
