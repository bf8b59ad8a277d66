"""Makes channel-keys.json, with nothing of this project.

Run: python3 test/vectors/channel-keys.py. It needs the package cryptography (Debian:
python3-cryptography) for Ed25519, X25519 and AES-GCM; HKDF is written out here.
"""
import hashlib
import hmac
import pathlib

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from records import record_lines

PATH = pathlib.Path(__file__).with_name("channel-keys.json")
SERVER = Ed25519PrivateKey.from_private_bytes(bytes(range(0x00, 0x20)))
CONTRIBUTOR = Ed25519PrivateKey.from_private_bytes(bytes(range(0x20, 0x40)))
STUDY_ID = bytes(range(0x40, 0x60))
SERVER_NONCE = bytes(range(0x60, 0x80))
SERVER_SECRET = bytes(range(0x80, 0xA0))
CLIENT_SECRET = bytes(range(0xA0, 0xC0))
ISSUED_MS, UNTIL_MS = 1_767_225_600_000, 1_767_226_200_000


def raw(key) -> bytes:
    return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def signed(label: str, study: bytes, contributor: bytes, payload: bytes) -> bytes:
    """The 180 bytes of section 5 of the protocol, with version 2."""
    head = f"keelson {label}".encode().ljust(16, b"\0") + (2).to_bytes(4, "big")
    return head + raw(SERVER) + study + contributor + payload


def sha512(data: bytes) -> bytes:
    return hashlib.sha512(data).digest()


def hmac256(key: bytes, data: bytes) -> bytes:
    return hmac.new(key, data, hashlib.sha256).digest()


def frame(key: bytes, number: int, kind: int, plain: bytes) -> dict[str, object]:
    nonce = bytes(4) + number.to_bytes(8, "big")
    sealed = AESGCM(key).encrypt(nonce, plain, bytes([kind]))
    return {"number": number, "kind": kind, "plain": plain.hex(), "sealed": sealed.hex()}


def vector() -> dict[str, object]:
    share = raw(X25519PrivateKey.from_private_bytes(SERVER_SECRET))
    client_share = raw(X25519PrivateKey.from_private_bytes(CLIENT_SECRET))
    times = ISSUED_MS.to_bytes(8, "big") + UNTIL_MS.to_bytes(8, "big")
    share_message = signed("share", bytes(32), bytes(32), sha512(share + times))
    message = signed("open", STUDY_ID, raw(CONTRIBUTOR), sha512(SERVER_NONCE + share + client_share))
    agreed = X25519PrivateKey.from_private_bytes(CLIENT_SECRET).exchange(
        X25519PublicKey.from_public_bytes(share))
    prk = hmac256(hashlib.sha256(message).digest(), agreed)
    up = hmac256(prk, b"keelson v2 contributor\x01")
    down = hmac256(prk, b"keelson v2 server\x01")
    bodies = [b"a body", b"", bytes(range(256)), b"\xff" * 100]
    answers = [b"Ready", b"an Ack", b"", b"\x01" * 70]
    return {
        "serverKey": raw(SERVER).hex(), "contributorKey": raw(CONTRIBUTOR).hex(),
        "studyId": STUDY_ID.hex(), "serverNonce": SERVER_NONCE.hex(),
        "serverSecret": SERVER_SECRET.hex(), "share": share.hex(),
        "issuedMs": ISSUED_MS, "untilMs": UNTIL_MS,
        "shareMessage": share_message.hex(), "shareSignature": SERVER.sign(share_message).hex(),
        "clientSecret": CLIENT_SECRET.hex(), "clientShare": client_share.hex(),
        "message": message.hex(), "signature": CONTRIBUTOR.sign(message).hex(),
        "agreed": agreed.hex(), "prk": prk.hex(), "up": up.hex(), "down": down.hex(),
        "fromContributor": [
            frame(up, number, 1, sha512(body) + body) for number, body in enumerate(bodies)],
        "fromServer": [
            frame(down, number, 3 if number else 2, plain) for number, plain in enumerate(answers)],
        # Numbers beyond 32 bits are written in full.
        "farFrame": frame(up, 2**40 + 1, 1, sha512(b"far") + b"far"),
    }


if __name__ == "__main__":
    PATH.write_text(record_lines(vector()) + "\n")
