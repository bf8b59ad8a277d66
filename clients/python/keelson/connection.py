"""One socket, after its Welcome was verified: sections 1, 4 and 5 of the protocol."""
from __future__ import annotations

import asyncio
import json
import random
from typing import Any, Dict, List, Sequence, Tuple

import websockets

from ._wire import Message, decode, encode, kind_of
from .errors import KeelsonError
from .signing import check_key, keys_of, study_id_of, verify_statement

MESSAGE_MAX = 64 * 1024 * 1024
WAIT_FIRST, WAIT_MOST = 0.05, 60.0
# What a lost or refused connection raises. A later attempt may succeed.
LOST = (OSError, websockets.WebSocketException, asyncio.TimeoutError, EOFError)


class Backoff:
    """Waits that double up to a minute, each shortened by chance."""

    def __init__(self) -> None:
        self._next = WAIT_FIRST

    def reset(self) -> None:
        self._next = WAIT_FIRST

    async def wait(self) -> None:
        now, self._next = self._next, min(WAIT_MOST, self._next * 2)
        await asyncio.sleep(now * random.uniform(0.5, 1))


class Connection:
    """Made by `open_connection`."""

    def __init__(self, socket: Any, welcome: Message, keys: List[bytes]) -> None:
        self.socket, self.welcome, self.keys = socket, welcome, keys
        self.server_key = keys[-1]

    async def next(self) -> Tuple[str, Message]:
        """The kind of the next frame, and the frame."""
        frame = decode("ServerFrame", await self.socket.recv())
        kind = kind_of(frame)
        return kind, getattr(frame, kind)

    async def send(self, kind: str, fields: Dict[str, Any]) -> None:
        await self.socket.send(encode("ClientFrame", {kind: fields}))

    async def close(self) -> None:
        await self.socket.close()

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
    connecting = websockets.connect(
        url, subprotocols=["keelson.v1"], compression=None, max_size=MESSAGE_MAX)
    socket = await asyncio.wait_for(connecting, 10)
    try:
        frame = decode("ServerFrame", await asyncio.wait_for(socket.recv(), 10))
        if frame.welcome is None:
            raise EOFError("the server has no room")
        keys = keys_of(check_key(frame.welcome.server_key), frame.welcome.rotations)
        if any(pin not in keys for pin in pinned):
            found = keys[-1].hex()
            raise KeelsonError(
                "server-key-mismatch", f"this server's key is {found}, which is not the pinned one")
        return Connection(socket, frame.welcome, keys)
    except BaseException:
        await socket.close()
        raise
