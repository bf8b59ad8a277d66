"""A subscriber: every release is verified before it is yielded."""
from __future__ import annotations

import asyncio
from typing import Any, AsyncIterator, Dict, List, NamedTuple, Optional

from ._wire import CODES, Message
from .connection import LOST, Connection, Reach, open_connection
from .errors import KeelsonError
from .numbers import Number, numbers_of, table_of, texts_of
from .releases import NO_DIGEST, Chain, keys_of_value, numbers_of_value
from .signing import check_key, exact_bytes

END_GRACE = 2.0


class Release(NamedTuple):
    """A verified release. `message` has all fields of ReleaseBody; `body` are the signed bytes."""

    # A tuple also has a method of this name, which nobody needs here.
    index: int  # type: ignore[assignment]
    epoch: int
    digest: bytes
    body: bytes
    signature: bytes
    message: Message

    @property
    def estimates(self) -> Dict[str, Optional[List[Optional[float]]]]:
        """The numbers of each question; None where the release refuses, and in place of the
        numbers of a key that has no answer. A study of one question has the name of its
        estimator."""
        return {name: None if value is None else numbers_of_value(value)
                for name, value in self._values().items()}

    @property
    def numbers(self) -> Dict[str, Optional[List[Number]]]:
        """The same with what each number is: name, unit, what is possible, interval, group."""
        texts = texts_of(self.message)
        return {name: None if value is None else numbers_of(
            value, texts, numbers_of_value(value), keys_of_value(value))
            for name, value in self._values().items()}

    def records(self) -> List[Dict[str, Any]]:
        """The numbers as records, for `pandas.DataFrame(release.records())` and the like.

        Each has `epoch`, `question`, `group` (its parts with ", " between, or None), `name`,
        `value`, `low`, `high` and `unit`, as in `Number`. A question that is refused has none.
        """
        return [{
            "epoch": self.epoch, "question": question,
            "group": None if one.group is None else ", ".join(one.group), "name": one.name,
            "value": one.value, "low": one.low, "high": one.high, "unit": one.unit,
        } for question, answer in self.numbers.items() for one in answer or []]

    def table(self) -> str:
        """The numbers with their names, intervals and units, as lines of text."""
        return table_of(self.numbers)

    def _values(self) -> Dict[str, Optional[Message]]:
        answers = self.message.answers
        named = {one.question: one.outcome for one in answers} if answers else {
            self.message.estimator: self.message.outcome}
        return {name: one.value for name, one in named.items()}


class _Again(Exception):
    """The server left something out: one new socket may still deliver it."""


class _Reader:
    def __init__(
        self, study: str, server_key: Optional[bytes], start: int, previous: Optional[bytes],
    ) -> None:
        self.study, self.start = study, start
        # Without the digest of the release before, the first link is not checked.
        self.previous = NO_DIGEST if start == 0 else previous
        if previous is not None:
            exact_bytes(previous, 64, "a digest")
        self.pins = [] if server_key is None else [check_key(server_key)]
        self.chain: Optional[Chain] = None
        self.missing: Optional[int] = None
        self.stood_at = 0
        self.ended = False

    async def begin(self, connection: Connection) -> None:
        wanted = self.study if self.chain is None else self.chain.study_id.hex()
        study_id, facts, _ = connection.study(wanted)
        if self.chain is None:
            self.chain = Chain(study_id, facts, connection.keys, self.start, self.previous)
        else:
            # A key that was given up before stays given up.
            self.chain.keys = connection.keys[connection.keys.index(self.chain.keys[0]):]
        self.pins = [connection.server_key]
        self.stood_at = self.chain.index
        await connection.send("subscribe", {"study_id": study_id, "from_release": self.chain.index})

    def take(self, kind: str, frame: Message) -> Optional[Release]:
        chain = self.chain
        assert chain is not None
        try:
            if kind == "release":
                self.check_gap(chain.index_of(frame.body))
                message = chain.accept(frame.body, frame.signature)
                return Release(
                    message.index, message.epoch, chain.digest or b"", frame.body, frame.signature,
                    message)
            if kind == "head":
                self.head(chain, frame)
        except KeelsonError as error:
            raise KeelsonError("log-invalid", str(error)) from error
        if kind == "refusal" and frame.channel == 0:
            if frame.retryable:
                raise EOFError(CODES[frame.code])
            raise KeelsonError(CODES[frame.code], frame.text)
        return None

    def head(self, chain: Chain, frame: Message) -> None:
        count = chain.count_of(frame.body)
        self.check_gap(count)
        if self.stood_at <= count < chain.index:
            return  # It was written before a release that came first.
        self.ended = chain.check_head(frame.body, frame.signature).state != 1

    def check_gap(self, index: int) -> None:
        assert self.chain is not None
        if index > self.chain.index and self.missing != self.chain.index:
            self.missing = self.chain.index
            raise _Again("the server left releases out")


async def subscribe_async(
    url: str, study: str, server_key: Optional[bytes] = None, start: int = 0,
    previous_digest: Optional[bytes] = None, timeout: Optional[float] = 60.0,
) -> AsyncIterator[Release]:
    """The releases of a study from the first one on, then each new one.

    start: index of the first release. previous_digest: SHA-512 of the body of the release before
    it, 64 bytes, so that the first link is checked too.
    timeout: seconds within which the server must first answer; None: any time. Connections that
    are lost later are renewed; the logger `keelson` says so. Ends when the study has ended.
    Raises KeelsonError: "log-invalid" for a release or a head that does not verify,
    "server-key-mismatch", "unknown-study", "transport-failed" when the time is over.
    """
    reader, reach = _Reader(study, server_key, start, previous_digest), Reach(url, timeout)
    reach.begin()
    while not reader.ended:
        connection = None
        try:
            connection = await reach.limited(open_connection(reach.url, reader.pins))
            await reader.begin(connection)
            while True:
                # A study that stopped may still publish one release.
                limit = END_GRACE if reader.ended else reach.left()
                kind, frame = await asyncio.wait_for(connection.next(), limit)
                release = reader.take(kind, frame)
                # The server has read Subscribe: it has sent a release or a head.
                reach.succeeded()
                if release is not None:
                    reach.backoff.reset()
                    yield release
        except (_Again, *LOST) as error:
            if not reader.ended:
                await reach.failed(error)
        finally:
            if connection is not None:
                await connection.close()
