"""Encrypted channels: section 12 of the protocol. They need the package cryptography."""
from __future__ import annotations

import hashlib
import hmac
import os
import struct
from typing import NamedTuple, Optional

try:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
    CAN_ENCRYPT = True
except ImportError:
    CAN_ENCRYPT = False

from ._wire import Message
from .errors import KeelsonError
from .signing import NO_KEY, NO_STUDY, Signer, message_of, sha512, verify

BATCH, OPENED, ACK = 1, 2, 3
# A share counts for so long after its time by this machine's clock, which may be wrong.
GRACE_MS = 24 * 3_600_000


class Between(EOFError):
    """Somebody changed, dropped or repeated frames. Another connection may get through."""


def agree(secret: bytes, share: bytes) -> bytes:
    """Z. Raises KeelsonError("malformed") for a share of small order, which gives zeros."""
    key = X25519PrivateKey.from_private_bytes(secret)
    try:
        agreed: bytes = key.exchange(X25519PublicKey.from_public_bytes(share))
    except ValueError:  # So OpenSSL says zeros.
        agreed = bytes(32)
    if agreed == bytes(32):
        raise KeelsonError("malformed", "the server's key share is a point of small order")
    return agreed


def share_of(secret: bytes) -> bytes:
    public = X25519PrivateKey.from_private_bytes(secret).public_key()
    return bytes(public.public_bytes(Encoding.Raw, PublicFormat.Raw))


def taken_share(server_key: bytes, stated: Optional[Message], now_ms: float) -> Optional[bytes]:
    """The share of a Welcome; None where there is none, or one that is over for a day.

    Raises KeelsonError for one that no honest server shows.
    """
    if stated is None or not CAN_ENCRYPT:
        return None
    share = bytes(stated.share)
    payload = sha512(share + struct.pack(">QQ", stated.issued_ms, stated.until_ms))
    verify(server_key, message_of("share", server_key, NO_STUDY, NO_KEY, payload), stated.signature)
    agree(bytes(32), share)
    return share if now_ms <= stated.until_ms + GRACE_MS else None


def nonce_of(number: int) -> bytes:
    return struct.pack(">IQ", 0, number)


class Cipher:
    """The contributor's end of an encrypted channel. Frames are numbered in each direction."""

    def __init__(self, agreed: bytes, message: bytes) -> None:
        root = _hmac(hashlib.sha256(message).digest(), agreed)
        self.up = _hmac(root, b"keelson v2 contributor\x01")
        self.down = _hmac(root, b"keelson v2 server\x01")
        self._sealing, self._opening = AESGCM(self.up), AESGCM(self.down)
        self._sent = self._received = 0

    def seal(self, body: bytes) -> bytes:
        """The next EncryptedBatch: whoever calls must send it before the one after it."""
        number, self._sent = self._sent, self._sent + 1
        return self._sealing.encrypt(nonce_of(number), sha512(body) + body, bytes([BATCH]))

    def open(self, kind: int, encrypted: bytes) -> bytes:
        """The contents of the server's next sealed frame. Raises Between for anything else."""
        number, self._received = self._received, self._received + 1
        try:
            return self._opening.decrypt(nonce_of(number), encrypted, bytes([kind]))
        except (InvalidTag, ValueError) as error:
            raise Between(
                "a frame is not from the server: somebody may stand in between") from error


def _hmac(key: bytes, data: bytes) -> bytes:
    return hmac.new(key, data, hashlib.sha256).digest()


class Opening(NamedTuple):
    """An Open that was not sent yet."""

    client_share: bytes
    signature: bytes
    cipher: Cipher


def new_opening(
    signer: Signer, server_key: bytes, study_id: bytes, server_nonce: bytes, share: bytes,
    secret: Optional[bytes] = None,
) -> Opening:
    """With a fresh secret, which nothing keeps. Tests give one."""
    secret = secret or os.urandom(32)
    client_share = share_of(secret)
    payload = sha512(server_nonce + share + client_share)
    message = message_of("open", server_key, study_id, signer.public_key, payload)
    signature = signer.sign("open", server_key, study_id, payload)
    return Opening(client_share, signature, Cipher(agree(secret, share), message))
