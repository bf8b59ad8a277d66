"""A contributor that sends each batch in a request of its own: section 9 of the protocol."""
from __future__ import annotations

import asyncio
import base64
import http.client
import json
import ssl
from typing import Any, Dict, NamedTuple, Optional, Sequence, Set, Tuple, Union
from urllib.parse import urlsplit

from ._wire import Message, decode, encode, kind_of, split_frames
from .connection import LOST, Backoff, Connection, verified_keys
from .contributor import AsyncContributor
from .errors import KeelsonError

REQUEST_SECONDS = 60.0
REST_MOST = 60.0
PROTOBUF = {"Content-Type": "application/x-protobuf"}
Came = Union[Tuple[str, Message], BaseException]


class Answer(NamedTuple):
    status: int
    retry_after: str
    body: bytes


class Requests:
    """HTTP requests below the address of a server, each on a connection of its own."""

    def __init__(self, url: str) -> None:
        self._parts = urlsplit(url)
        self._tls = ssl.create_default_context() if self._parts.scheme == "wss" else None
        self.seconds = REQUEST_SECONDS

    async def send(self, method: str, path: str, body: Optional[bytes] = None) -> Answer:
        """Raises one of LOST where nobody answers."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(None, self._send, method, path, body)

    def _send(self, method: str, path: str, body: Optional[bytes]) -> Answer:
        connection = self._connection(str(self._parts.hostname), self._parts.port)
        try:
            below = self._parts.path.rstrip("/")
            headers = PROTOBUF if method == "POST" else {}
            connection.request(method, f"{below}/{path}", body, headers)
            answer = connection.getresponse()
            return Answer(
                answer.status, answer.getheader("Retry-After") or "", answer.read())
        except http.client.HTTPException as error:
            raise EOFError(f"no answer of HTTP: {error!r}") from error
        finally:
            connection.close()

    def _connection(self, host: str, port: Optional[int]) -> http.client.HTTPConnection:
        if self._tls is None:
            return http.client.HTTPConnection(host, port, timeout=self.seconds)
        return http.client.HTTPSConnection(
            host, port, timeout=self.seconds, context=self._tls)


async def read_welcome(requests: Requests, study: str) -> Message:
    """What must be known before a batch: from a cache, where the study is given by its id."""
    if len(study) == 64 and not set(study) - set("0123456789abcdefABCDEF"):
        answer = await requests.send("GET", f"v1/studies/{study.lower()}/open")
        if answer.status == 200:
            try:
                opened = json.loads(answer.body)
                if opened.get("encryptedOnly") is True:
                    raise KeelsonError(
                        "unsupported",
                        "the server takes rows on encrypted channels alone: use Contributor")
                return welcome_in(base64.b64decode(opened["welcome"]))
            except (ValueError, KeyError, TypeError) as error:
                raise EOFError(f"an answer that is not the protocol's: {error!r}") from error
        # A server without this study says in its Welcome which studies it has.
        if answer.status != 404:
            raise await refused(answer)
    answer = await requests.send("POST", "v1/batches")
    if answer.status != 200:
        raise await refused(answer)
    frames = split_frames(answer.body)
    return welcome_in(frames[0] if frames else b"")


def welcome_in(data: bytes) -> Message:
    frame = decode("ServerFrame", data)
    if frame.welcome is None:
        raise EOFError("the server has no room")
    welcome: Message = frame.welcome
    return welcome


async def refused(answer: Answer) -> BaseException:
    """The error of an answer that has no frame, after the pause that the server asks for."""
    try:
        said = json.loads(answer.body)["error"]
        code, text = str(said["code"]), str(said["text"])
    except (ValueError, KeyError, TypeError):
        code, text = "", f"HTTP status {answer.status}"
    if answer.status in (404, 405):
        return KeelsonError(
            "unsupported", "the server takes no single batches: it is older than this client, or "
            "the address is wrong; Contributor needs no such path")
    if answer.status in (400, 403, 413, 415):
        return KeelsonError(code or "unsupported", text)
    rest = float(answer.retry_after) if answer.retry_after.isdigit() else 0.0
    await asyncio.sleep(min(rest, REST_MOST))
    return EOFError(text)


class OnceConnection(Connection):
    """Requests in the place of a socket. Its answers come as the frames of a channel do."""

    def __init__(self, requests: Requests, welcome: Message, pinned: Sequence[bytes]) -> None:
        super().__init__(None, welcome, verified_keys(welcome, pinned))
        self.sender: Dict[str, bytes] = {}
        self._requests = requests
        self._came: "asyncio.Queue[Came]" = asyncio.Queue()
        self._work: Set["asyncio.Task[None]"] = set()

    async def next(self) -> Tuple[str, Message]:
        came = await self._came.get()
        if isinstance(came, BaseException):
            raise came
        return came

    async def send(self, kind: str, fields: Dict[str, Any]) -> None:
        """Begins a request with a batch."""
        body, signature = fields["body"], fields["signature"]
        once = encode("Once", {**self.sender, "body": body, "signature": signature})
        self._begin(self._exchange(once, decode("BatchBody", body).sequence))

    def ask(self, study: str) -> None:
        """Asks how the study stands: the answer comes as a Notice."""
        self._begin(self._notice(study))

    async def close(self) -> None:
        for one in self._work:
            one.cancel()
        # Whoever waits for a frame hears it, as with a socket.
        await self._came.put(EOFError("closed"))

    def _begin(self, work: Any) -> None:
        async def run() -> None:
            try:
                await self._came.put(await work)
            except (KeelsonError, *LOST) as error:
                await self._came.put(error)

        task = asyncio.ensure_future(run())
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    async def _exchange(self, once: bytes, sequence: int) -> Tuple[str, Message]:
        answer = await self._requests.send("POST", "v1/once", once)
        if answer.status != 200:
            raise await refused(answer)
        frame = decode("ServerFrame", answer.body)
        kind = kind_of(frame)
        ack = frame.ack
        is_verdict = ack is not None and (
            sequence in ack.accepted or sequence in [one.sequence for one in ack.rejections])
        if not is_verdict and kind != "refusal":
            raise EOFError(f"an answer without a verdict: {kind}")
        return kind, getattr(frame, kind)

    async def _notice(self, study: str) -> Tuple[str, Message]:
        welcome = await read_welcome(self._requests, study)
        _, _, one = Connection(None, welcome, self.keys).study(study)
        notice = Message(study_id=bytes.fromhex(study), state=one.state, epoch=one.epoch)
        return "notice", notice


class AsyncOnceContributor(AsyncContributor):
    """A contributor that opens no connection: for people who send once. Use it with `async with`.

    Its arguments and methods are those of AsyncContributor. Give the id of the study, so that a
    cache can answer what the study asks. Rows are in the outbox before they are sent, go again with
    the same bytes until they have their verdict, and count once. It differs where a connection
    tells its own key more:

    - The outbox keeps the next sequence of the key. Without a file, use each key in one run only.
    - What an epoch takes nothing of is `not-counted`: complete, withdrawn, quarantined and without
      budget are one code.
    - The answer is as good as the connection: use TLS.
    - It takes no rows back, and sealed studies end it with `unsupported`, as a server without
      `POST /v1/once` does.
    """

    _codes_of_new_sequence = frozenset({"mutated", "stale-epoch"})
    _polling: Optional["asyncio.Task[None]"] = None

    async def withdraw(self, epoch: int = 0) -> int:
        """Raises KeelsonError("unsupported"): only a connection takes rows back."""
        raise KeelsonError("unsupported", "to take rows back, use AsyncContributor or Contributor")

    async def _greet(self) -> Tuple[Connection, Message, Message]:
        if self.encrypted_only:
            raise KeelsonError(
                "unsupported", "a batch without a channel is signed and not encrypted: use "
                "AsyncContributor or Contributor with encrypted_only")
        requests = Requests(self._reach.url)
        wanted = self.wanted if self._study_id is None else self._study_id.hex()
        left = self._reach.left()
        if left is not None:
            # A request that is cut short holds its thread until it ends.
            requests.seconds = max(0.01, min(left, REQUEST_SECONDS))
        welcome = await read_welcome(requests, wanted)
        connection = OnceConnection(requests, welcome, self._pins)
        study = self._find(connection)
        assert self._study_id is not None
        if wanted.lower() != self._study_id.hex():
            # Only this answer says whether the server takes signed rows.
            await read_welcome(requests, self._study_id.hex())
        requests.seconds = REQUEST_SECONDS
        self._trust(connection.server_key)
        connection.sender = {
            "study_id": self._study_id, "public_key": self.public_key, "enrolment": self.enrolment}
        self._polls = Backoff()
        return connection, Message(
            channel=0, epoch=study.epoch, credit=1, holes=[],
            next_sequence=self._outbox.next_sequence()), study

    async def _acknowledged(self, ack: Message) -> None:
        # Before the verdict: a batch that came too late is signed again, for this epoch.
        self._open(ack.epoch)
        await super()._acknowledged(ack)

    async def _end(
        self, error: KeelsonError, quiet: bool = False, is_sure: bool = True,
    ) -> None:
        if self._polling is not None:
            self._polling.cancel()
        await super()._end(error, quiet, is_sure)

    async def _pump(self) -> None:
        """Nobody says when an epoch opens, so it is asked for while rows wait."""
        await super()._pump()
        if self._epoch > 0:
            self._polls.reset()
        elif self._connection is not None and self._queue:
            if self._polling is None or self._polling.done():
                self._polling = asyncio.ensure_future(self._poll())

    async def _poll(self) -> None:
        await self._polls.wait()
        if isinstance(self._connection, OnceConnection) and self._study_id is not None:
            self._connection.ask(self._study_id.hex())
