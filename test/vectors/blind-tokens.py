"""Makes the enrolment in blind-tokens.json, with nothing of this project and no library.

Run: python3 test/vectors/blind-tokens.py. It signs with the key of the first vector of RFC 9578,
without blinding: a signature is the same either way.
"""
import base64
import hashlib
import json
import pathlib

from records import record_lines

PATH = pathlib.Path(__file__).with_name("blind-tokens.json")
ISSUER = b"tokens.example.org"
STUDY = "flight-delays"
# The public key of the seed 0x20 to 0x3f, as in docs/reference/protocol.md.
CONTRIBUTOR = bytes.fromhex("29acbae141bccaf0b22e1a94d34d0bc7361e526d0bfe12c89794bc9322966dd7")
SALT = bytes(range(0xC0, 0xE0))
PSS_SALT = bytes(range(48))


def sha384(data: bytes) -> bytes:
    return hashlib.sha384(data).digest()


def read(der: bytes, at: int) -> tuple[bytes, int]:
    """The contents of the DER value at a place, and where it ends."""
    length, start = der[at + 1], at + 2
    if length > 127:
        count = length - 128
        length, start = int.from_bytes(der[start:start + count], "big"), start + count
    return der[start:start + length], start + length


def members(der: bytes) -> list[bytes]:
    found, at = [], 0
    while at < len(der):
        value, at = read(der, at)
        found.append(value)
    return found


def key_of(pem: str) -> tuple[int, int]:
    der = base64.b64decode("".join(pem.strip().splitlines()[1:-1]))
    inner = members(read(der, 0)[0])[2]
    _, modulus, _, secret, *_ = members(read(inner, 0)[0])
    return int.from_bytes(modulus, "big"), int.from_bytes(secret, "big")


def encode(message: bytes) -> bytes:
    """EMSA-PSS of RFC 8017 for 2,047 bits."""
    digest = sha384(bytes(8) + sha384(message) + PSS_SALT)
    block = bytes(158) + b"\x01" + PSS_SALT
    mask = b"".join(sha384(digest + i.to_bytes(4, "big")) for i in range(5))[:len(block)]
    masked = bytearray(a ^ b for a, b in zip(block, mask))
    masked[0] &= 0x7F
    return bytes(masked) + digest + b"\xbc"


def enrolment(pem: str, token_key: bytes) -> dict[str, str]:
    n, d = key_of(pem)
    context = hashlib.sha512(b"keelson token study " + STUDY.encode()).digest()[:32]
    challenge = (b"\x00\x02" + len(ISSUER).to_bytes(2, "big") + ISSUER
                 + b"\x20" + context + b"\x00\x00")
    nonce = hashlib.sha512(b"keelson token nonce" + SALT + CONTRIBUTOR).digest()[:32]
    signed = (b"\x00\x02" + nonce + hashlib.sha256(challenge).digest()
              + hashlib.sha256(token_key).digest())
    signature = pow(int.from_bytes(encode(signed), "big"), d, n).to_bytes(256, "big")
    parts = {
        "challenge": challenge, "nonce": nonce, "key_id": hashlib.sha256(token_key).digest(),
        "enrolment": signed + signature + SALT + n.to_bytes(256, "big"),
    }
    return {"issuer": ISSUER.decode(), "study": STUDY, "contributor": CONTRIBUTOR.hex(),
            **{name: part.hex() for name, part in parts.items()}}


content = json.loads(PATH.read_text())
first = content["vectors"][0]
content["enrolment"] = enrolment(bytes.fromhex(first["skS"]).decode(), bytes.fromhex(first["pkS"]))
PATH.write_text(record_lines(content) + "\n")
