"""Keys and signatures: sections 3 and 5 of the protocol."""
from __future__ import annotations

import hashlib
import os
import struct
from typing import List, Sequence

from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from .errors import KeelsonError

NO_KEY = bytes(32)
# Labels of encrypted channels.
VERSION_2 = ("share", "open")
NO_STUDY = bytes(32)
FIELD_PRIME = 2**255 - 19
# Points of small order, without the highest bit.
SMALL_ORDER = {bytes.fromhex(text) for text in (
    "00" * 32,
    "01" + "00" * 31,
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "ec" + "ff" * 30 + "7f",
)}


def sha512(data: bytes) -> bytes:
    return hashlib.sha512(data).digest()


def study_id_of(facts: bytes) -> bytes:
    return hashlib.sha256(facts).digest()


def exact_bytes(value: bytes, size: int, name: str) -> bytes:
    """The bytes. Raises KeelsonError("invalid-key") for another type or length."""
    if len(as_bytes(value, name)) != size:
        raise KeelsonError("invalid-key", f"{name} has {size} bytes, not {len(value)}")
    return bytes(value)


def as_bytes(value: bytes, name: str) -> bytes:
    """The bytes. Raises KeelsonError("invalid-key") for another type, as hexadecimal digits are."""
    if not isinstance(value, (bytes, bytearray)):
        raise KeelsonError(
            "invalid-key", f"{name} is given as bytes, not as {type(value).__name__}: "
            "bytes.fromhex(...) reads hexadecimal digits")
    return bytes(value)


def check_key(key: bytes) -> bytes:
    """The key, unless it is one that both sides refuse. Raises KeelsonError("invalid-key")."""
    exact_bytes(key, 32, "a key")
    without_sign = key[:31] + bytes([key[31] & 0x7F])
    if int.from_bytes(without_sign, "little") >= FIELD_PRIME:
        raise KeelsonError("invalid-key", "y is not reduced")
    if without_sign in SMALL_ORDER:
        raise KeelsonError("invalid-key", "a point of small order")
    return key


def message_of(
    label: str, server_key: bytes, study_id: bytes, contributor_key: bytes, payload: bytes,
) -> bytes:
    """The 180 bytes that are signed."""
    version = 2 if label in VERSION_2 else 1
    head = (b"keelson " + label.encode("ascii")).ljust(16, b"\0") + struct.pack(">I", version)
    message = head + server_key + study_id + contributor_key + payload
    if len(message) != 180:
        raise KeelsonError("malformed", "a field of a signed message has a wrong length")
    return message


def verify(key: bytes, message: bytes, signature: bytes) -> None:
    """Raises KeelsonError("bad-signature") unless the key signed the message."""
    try:
        VerifyKey(key).verify(message, signature)
    except (BadSignatureError, ValueError) as error:
        raise KeelsonError("bad-signature", "a signature is not valid") from error


def verify_statement(
    label: str, server_key: bytes, study_id: bytes, content: bytes, signature: bytes,
) -> None:
    """`study`, `release`, `head`: by a server over the SHA-512 of bytes."""
    verify(server_key, message_of(label, server_key, study_id, NO_KEY, sha512(content)), signature)


class Signer:
    """A contributor's key. `seed` has 32 bytes."""

    def __init__(self, seed: bytes) -> None:
        self._signing = SigningKey(exact_bytes(seed, 32, "a seed"))
        self.public_key = bytes(self._signing.verify_key)

    def sign(self, label: str, server_key: bytes, study_id: bytes, payload: bytes) -> bytes:
        message = message_of(label, server_key, study_id, self.public_key, payload)
        return bytes(self._signing.sign(message).signature)


def keys_of(server_key: bytes, rotations: Sequence[bytes]) -> List[bytes]:
    """All keys of a server, oldest first. Every rotation is verified."""
    if len(rotations) > 64:
        raise KeelsonError("malformed", "more than 64 rotations")
    keys: List[bytes] = []
    for record in rotations:
        if len(record) != 192:
            raise KeelsonError("malformed", "a rotation has 192 bytes")
        before, after = check_key(record[:32]), check_key(record[32:64])
        if keys and keys[-1] != before:
            raise KeelsonError("bad-signature", "a rotation does not continue the one before")
        message = message_of("rotation", before, NO_STUDY, NO_KEY, sha512(after))
        verify(before, message, record[64:128])
        verify(after, message, record[128:])
        keys = (keys or [before]) + [after]
    if keys and keys[-1] != server_key:
        raise KeelsonError("bad-signature", "the rotations do not lead to the server's key")
    return keys or [check_key(server_key)]


def open_seed(path: str) -> bytes:
    """The secret seed in a key file, which the first call makes (mode 0600).

    The format is that of `keelson keys new`: 64 hexadecimal digits.
    """
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        with open(path, encoding="ascii") as file:
            text = file.read().strip()
        if os.name == "posix" and os.stat(path).st_mode & 0o077:
            text = f'others may read {path}: run "chmod 600 {path}"'
            raise KeelsonError("invalid-key", text) from None
        if len(text) != 64 or set(text) - set("0123456789abcdefABCDEF"):
            raise KeelsonError("invalid-key", f"{path} is no key file of 64 digits") from None
        return bytes.fromhex(text)
    with os.fdopen(handle, "w") as file:
        seed = os.urandom(32)
        file.write(seed.hex() + "\n")
        file.flush()
        os.fsync(file.fileno())
    return seed
