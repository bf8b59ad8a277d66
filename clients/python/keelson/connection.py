"""One socket, after its Welcome was verified: sections 1, 4 and 5 of the protocol."""
from __future__ import annotations

import asyncio
import json
import logging
import random
import ssl
import time
from typing import Any, Awaitable, Dict, List, Optional, Sequence, Tuple, TypeVar
from urllib.parse import urlsplit

import websockets
from websockets.exceptions import WebSocketException

from ._wire import Message, decode, encode, kind_of
from .encryption import CAN_ENCRYPT, taken_share
from .errors import KeelsonError
from .signing import check_key, keys_of, study_id_of, verify_statement

MESSAGE_MAX = 64 * 1024 * 1024
WAIT_FIRST, WAIT_MOST = 0.05, 60.0
# The errors of a lost or refused connection. A later attempt may succeed.
LOST = (OSError, WebSocketException, asyncio.TimeoutError, EOFError)
SCHEMES = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}
log = logging.getLogger("keelson")
SUBPROTOCOLS = ["keelson.v2", "keelson.v1"] if CAN_ENCRYPT else ["keelson.v1"]
# The package makes this name only when it is asked for, so type checkers do not see it.
connect: Any = getattr(websockets, "connect")
Found = TypeVar("Found")


def socket_url(url: str) -> str:
    """The WebSocket address of a server: http and https become ws and wss.

    Raises KeelsonError("invalid-parameter") for anything else.
    """
    try:
        parts = urlsplit(url)
        is_whole = parts.scheme in SCHEMES and bool(parts.hostname) and parts.port != 0
    except (ValueError, TypeError, AttributeError):
        is_whole = False
    if not is_whole or parts.fragment:
        raise KeelsonError(
            "invalid-parameter", "the server URL cannot be used: write it like ws://127.0.0.1:8787")
    return parts._replace(scheme=SCHEMES[parts.scheme]).geturl()


class Backoff:
    """Waits that double up to a minute, each shortened by chance."""

    def __init__(self) -> None:
        self._next = WAIT_FIRST

    def reset(self) -> None:
        self._next = WAIT_FIRST

    def next(self) -> float:
        now, self._next = self._next, min(WAIT_MOST, self._next * 2)
        return now * random.uniform(0.5, 1)

    async def wait(self) -> None:
        await asyncio.sleep(self.next())


class Reach:
    """The attempts to reach a server. A connection that is lost later is renewed for ever.

    timeout: seconds that the first one may take; None: any time.
    """

    def __init__(self, url: str, timeout: Optional[float]) -> None:
        self.url = socket_url(url)
        parts = urlsplit(self.url)
        # Without a password, which nobody may read in a log.
        self._shown = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()
        if timeout is not None and not timeout > 0:
            raise KeelsonError("invalid-parameter", "timeout is above 0 seconds, or None")
        self.backoff = Backoff()
        self._timeout, self._is_told = timeout, False
        self._ends: Optional[float] = None
        self._cause: Optional[BaseException] = None

    def begin(self) -> None:
        """Starts the time of the first attempt."""
        if self._timeout is not None:
            self._ends = asyncio.get_running_loop().time() + self._timeout

    async def limited(self, attempt: Awaitable[Found]) -> Found:
        """What an attempt gives, unless the time is over before: then asyncio.TimeoutError."""
        return await asyncio.wait_for(attempt, self.left())

    def left(self) -> Optional[float]:
        """Seconds; None once the server was reached, and where there is no limit."""
        if self._ends is None:
            return None
        return max(0.0, self._ends - asyncio.get_running_loop().time())

    def succeeded(self) -> None:
        self._ends, self._is_told = None, False

    async def failed(self, error: BaseException) -> None:
        """Waits for the next attempt. Raises KeelsonError("transport-failed") if none is left."""
        left = self.left()
        # The last attempt was cut short where no time is left: the one before it tells more.
        if left != 0 or self._cause is None:
            self._cause = error
        error = self._cause
        said = said_of(error)
        if left is not None and is_plain(error):
            raise KeelsonError(
                "transport-failed", f"{self._shown}: the port does not speak TLS: write ws://, or "
                "name the port of the TLS proxy") from error
        if left is not None and isinstance(error, ssl.SSLCertVerificationError):
            raise KeelsonError("transport-failed", f"{self._shown}: {said}") from error
        if left == 0:
            raise KeelsonError(
                "transport-failed", f"{self._shown} was not reached within {self._timeout:g} s: "
                f"{said}. Check the address and that the server runs") from error
        wait = self.backoff.next()
        # The attempts that follow the first one at once are not worth a line each.
        if not self._is_told or wait > 1:
            log.warning("no connection to %s: %s; it is tried again", self._shown, said)
        self._is_told = True
        await asyncio.sleep(wait if left is None else min(wait, left))


def said_of(error: BaseException) -> str:
    if isinstance(error, asyncio.TimeoutError):
        return "no answer"
    return str(error) or type(error).__name__


def is_plain(error: BaseException) -> bool:
    """Whether a server without TLS answered to a greeting in TLS."""
    return isinstance(error, ssl.SSLError) and error.reason == "WRONG_VERSION_NUMBER"


class Connection:
    """Made by `open_connection`."""

    def __init__(self, socket: Any, welcome: Message, keys: List[bytes]) -> None:
        self.socket, self.welcome, self.keys = socket, welcome, keys
        self.server_key = keys[-1]
        # The server's key share for an encrypted channel; None where there is none.
        self.share = taken_share(self.server_key, welcome.share, time.time() * 1000)

    async def next(self) -> Tuple[str, Message]:
        """The kind of the next frame, and the frame."""
        frame = decode("ServerFrame", await self.socket.recv())
        kind = kind_of(frame)
        return kind, getattr(frame, kind)

    async def send(self, kind: str, fields: Dict[str, Any]) -> None:
        await self.socket.send(encode("ClientFrame", {kind: fields}))

    async def close(self) -> None:
        """Ends the connection, if it is not lost already."""
        await close_socket(self.socket)

    def study(self, wanted: str) -> Tuple[bytes, Dict[str, Any], Message]:
        """The id, the facts and the state of the study with this name or id."""
        studies = []
        for one in self.welcome.studies:
            study_id = study_id_of(one.facts)
            verify_statement("study", self.server_key, study_id, one.facts, one.signature)
            studies.append((study_id, json.loads(one.facts), one))
        for study_id, facts, one in studies:
            if wanted.lower() == study_id.hex() or wanted == facts.get("study"):
                return study_id, facts, one
        raise KeelsonError("unknown-study", f"the server has no study {wanted}")


async def open_connection(url: str, pinned: Sequence[bytes]) -> Connection:
    """Connects and verifies Welcome. Raises one of LOST, or KeelsonError for a wrong server."""
    connecting = connect(
        url, subprotocols=SUBPROTOCOLS, compression=None, max_size=MESSAGE_MAX,
        # Nothing depends on how a socket ends, and a silent server must not hold anybody.
        close_timeout=1)
    socket = await asyncio.wait_for(connecting, 10)
    try:
        frame = decode("ServerFrame", await asyncio.wait_for(socket.recv(), 10))
        if frame.welcome is None:
            raise EOFError("the server has no room")
        return Connection(socket, frame.welcome, verified_keys(frame.welcome, pinned))
    except BaseException:
        await close_socket(socket)
        raise


async def close_socket(socket: Any) -> None:
    """Some versions of websockets raise where the other end is gone before it takes the close."""
    try:
        await socket.close()
    except LOST:
        pass


def verified_keys(welcome: Message, pinned: Sequence[bytes]) -> List[bytes]:
    """All keys of a server, oldest first. Raises KeelsonError where a pinned one is not of it."""
    keys = keys_of(check_key(welcome.server_key), welcome.rotations)
    if any(pin not in keys for pin in pinned):
        found = keys[-1].hex()
        raise KeelsonError(
            "server-key-mismatch", f"this server's key is {found}, which is not the pinned one")
    return keys
