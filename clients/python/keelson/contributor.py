"""A contributor: sections 4 and 6 of the protocol, over as many sockets as it takes."""
from __future__ import annotations

import asyncio
import os
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Set, Tuple

from ._wire import CODES, Message, decode, encode
from .connection import LOST, Backoff, Connection, Reach, log, open_connection
from .encryption import ACK, CAN_ENCRYPT, OPENED, Between, Cipher, new_opening
from .errors import KeelsonError
from .outbox import Batch, Item, Outbox, Pin
from .rows import checked_rows, contents_of, plain_rows, rows_per_batch
from .signing import Signer, as_bytes, check_key, message_of, sha512, verify

STATES = {2: "budget-exhausted", 3: "study-ended"}
FINAL = set(STATES.values())
RENUMBERED_MOST = 3
is_lack_told = False


def tell_lack() -> None:
    """Says once what a missing package means."""
    global is_lack_told
    if not is_lack_told:
        log.warning(
            "batches are signed and not encrypted, so who ends TLS can read them: the package "
            "cryptography is missing (Debian: python3-cryptography)")
    is_lack_told = True


class Settled(NamedTuple):
    """What became of rows. `code` is `accepted`, or the code of the refusal."""

    code: str
    text: str
    epoch: int

    @property
    def accepted(self) -> bool:
        return self.code == "accepted"


def is_between(code: str, channel: int) -> bool:
    """True if a refusal on an encrypted channel says that frames did not come as they were sent."""
    return code in ("bad-signature", "stale-share") or (code == "malformed" and channel == 0)


class Withdrawal:
    """A withdrawal under way. `epoch` 0: the one that is open when it is first sent."""

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.is_sent = False
        self.answer: "asyncio.Future[int]" = asyncio.get_running_loop().create_future()


class AsyncContributor:
    """A standing connection of one key to one study. Use it with `async with`.

    url: such as ws://127.0.0.1:8787. study: name or id. seed: 32 bytes, as `open_seed` reads.
    outbox: a file for rows that are not settled; None keeps them in memory only.
    server_key: 32 bytes, the only server that is trusted; None: the outbox's, else the first one.
    enrolment: the token of the operator, where the study asks for one.
    timeout: seconds within which the server must first answer; None: any time. Connections that
    are lost later are renewed; the logger `keelson` says so.
    encrypted_only: sends rows on encrypted channels alone, so that nobody who ends TLS in front of
    the server reads them. Where there are none the contributor ends with `unsupported`, and the
    outbox keeps the rows. It needs the package cryptography. Without this option, rows go signed
    to a server without encrypted channels.
    on_recovered: called with what became of rows of an earlier run. on_ended: called with the error.
    """

    # A batch that is refused with one of these is signed again under the next sequence.
    _codes_of_new_sequence = frozenset({"mutated"})

    def __init__(
        self, url: str, study: str, seed: bytes, outbox: Optional[str] = None,
        server_key: Optional[bytes] = None, enrolment: bytes = b"",
        on_recovered: Callable[[Settled], None] = lambda settled: None,
        on_ended: Callable[[KeelsonError], None] = lambda error: None,
        timeout: Optional[float] = 60.0, encrypted_only: bool = False,
    ) -> None:
        if encrypted_only and not CAN_ENCRYPT:
            raise KeelsonError(
                "invalid-parameter", "encrypted_only needs the package cryptography, which is "
                "missing: install it (Debian: python3-cryptography), or leave encrypted_only out")
        self.encrypted_only = encrypted_only
        self.wanted, self.enrolment = study, as_bytes(enrolment, "enrolment")
        self._reach = Reach(url, timeout)
        self.error: Optional[KeelsonError] = None
        self._signer = Signer(seed)
        self._pins = [] if server_key is None else [check_key(server_key)]
        self._outbox = Outbox(outbox or ":memory:")
        self._on_recovered, self._on_ended = on_recovered, on_ended
        self._study_id: Optional[bytes] = None
        self._facts: Dict[str, Any] = {}
        self._connection: Optional[Connection] = None
        self._channel, self._epoch, self._credit, self._next = 0, 0, 1, 1
        # The keys of the channel; None where batches are signed.
        self._cipher: Optional[Cipher] = None
        self._holes: List[int] = []
        self._queue: List[Item] = []
        self._batches: Dict[int, Batch] = {}
        self._flight: Set[int] = set()
        self._deferred: Set[int] = set()
        self._renumbered: Dict[int, int] = {}
        self._refusals: Dict[int, Settled] = {}
        self._waiting: Dict[int, "asyncio.Future[Settled]"] = {}
        self._withdrawal: Optional[Withdrawal] = None
        self._withdrawing = asyncio.Lock()
        self._retry = Backoff()
        self._retrying: Optional["asyncio.Task[None]"] = None
        self._changed = asyncio.Event()
        self._task: Optional["asyncio.Task[None]"] = None
        self._load()

    @property
    def public_key(self) -> bytes:
        return self._signer.public_key

    def _load(self) -> None:
        pin = self._outbox.pin()
        if pin is not None:
            if pin.contributor != self.public_key:
                raise KeelsonError("outbox-failed", "this outbox belongs to another key")
            self._pins.append(pin.server_key)
            self._study_id = pin.study_id
        self._batches = {one.sequence: one for one in self._outbox.batches()}
        self._queue = [one for one in self._outbox.items() if one.rows is not None]

    async def __aenter__(self) -> "AsyncContributor":
        self.start()
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()

    def start(self) -> None:
        """Connects, and renews lost connections until `close`."""
        self._task = asyncio.ensure_future(self._run())

    async def contribute(self, rows: Any) -> Settled:
        """Sends a whole contribution to one epoch: `send` with `last`."""
        return await self.send(rows, last=True)

    async def send(self, rows: Any, last: bool = False) -> Settled:
        """Sends rows, and waits until they are settled.

        rows: lists of values or an array of two dimensions (rows x columns), in the order of the
        study's columns; or by name: mappings, or a frame of pandas, polars or pyarrow, in which NaN
        stands for no value.
        Raises KeelsonError("invalid-rows"), or what ended the contributor. Then the outbox keeps
        the rows.
        """
        if self.error is not None:
            raise self.error
        plain = plain_rows(rows)
        if self._facts:
            plain = checked_rows(plain, self._facts)
        item = self._outbox.keep(plain, last)
        self._queue.append(item)
        future: "asyncio.Future[Settled]" = asyncio.get_running_loop().create_future()
        self._waiting[item.id] = future
        await self._pump()
        return await future

    async def withdraw(self, epoch: int = 0) -> int:
        """Takes back all rows that this key gave to an open epoch, in any run.

        It is sent when the rows sent earlier are settled. None of them counts then, and the epoch
        takes no more rows of this key. epoch: default the one that is open then, or the next one.
        Returns the epoch, once the server has stored the withdrawal on disk. Raises
        KeelsonError("too-late") when the epoch is closed, or what ended the contributor.
        """
        async with self._withdrawing:
            if self.error is not None:
                raise self.error
            self._withdrawal = Withdrawal(epoch)
            try:
                await self._pump()
                return await self._withdrawal.answer
            finally:
                self._withdrawal = None
                self._changed.set()

    async def close(self) -> None:
        """Waits until all rows and a withdrawal are settled, and disconnects."""
        while self.error is None and (self._queue or self._batches or self._withdrawal):
            self._changed.clear()
            await self._changed.wait()
        if self.error is None:
            await self._end(KeelsonError("closed", "the contributor was closed"), quiet=True)
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    async def _end(
        self, error: KeelsonError, quiet: bool = False, is_sure: bool = True,
    ) -> None:
        """is_sure: False where somebody in between may have made the error: it settles nothing."""
        if self.error is not None:
            return
        self.error = error
        if error.code in FINAL and is_sure:
            open_items = {one.item for one in self._batches.values()}
            for number in open_items | {one.id for one in self._queue}:
                self._finish(number, Settled(error.code, error.text, 0))
            self._batches, self._queue = {}, []
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(error)
                future.exception()
        self._fail_withdrawal(error)
        if self._retrying is not None:
            self._retrying.cancel()
        self._changed.set()
        if not quiet:
            log.error("the contributor has ended: %s", error)
            self._on_ended(error)
        if self._connection is not None:
            await self._connection.close()
        self._outbox.close()

    async def _run(self) -> None:
        self._reach.begin()
        while self.error is None:
            lost: Optional[BaseException] = None
            try:
                await self._begin(*await self._reach.limited(self._greet()))
                while self.error is None and self._connection is not None:
                    await self._take(*await self._connection.next())
            except LOST as error:
                lost = error
            except KeelsonError as error:
                await self._end(error)
            except Exception as error:  # A defect must not leave callers waiting.
                await self._end(KeelsonError("invariant", repr(error)))
            connection, self._connection = self._connection, None
            if connection is not None:
                await connection.close()
            if self.error is None and lost is not None:
                try:
                    await self._reach.failed(lost)
                except KeelsonError as error:
                    await self._end(error)

    async def _greet(self) -> Tuple[Connection, Message, Message]:
        """A connection on which a channel is open; its Ready, and the study."""
        connection = await open_connection(self._reach.url, self._pins)
        try:
            study = self._find(connection)
            return connection, await self._hello(connection), study
        except BaseException:
            await connection.close()
            raise

    def _find(self, connection: Connection) -> Message:
        """The state of the study, whose id and facts are known from now on."""
        wanted = self.wanted if self._study_id is None else self._study_id.hex()
        study_id, self._facts, study = connection.study(wanted)
        if self.wanted.lower() != study_id.hex() and self.wanted != self._facts["study"]:
            raise KeelsonError("unknown-study", "the outbox belongs to another study")
        if "sealed" in self._facts:
            raise KeelsonError(
                "unsupported", "the study is sealed, and this client cannot seal rows")
        self._study_id = study_id
        return study

    def _trust(self, server_key: bytes) -> None:
        assert self._study_id is not None
        pin = Pin(server_key, self._study_id, self.public_key)
        if self._outbox.pin() != pin:
            self._outbox.set_pin(pin)
        self._pins = [server_key]

    async def _begin(self, connection: Connection, ready: Message, study: Message) -> None:
        self._reach.succeeded()
        self._reach.backoff.reset()
        self._connection = connection
        await self._resume(ready)
        await self._state(study.state)

    async def _hello(self, connection: Connection) -> Message:
        """Opens a channel. Returns Ready, once it has proved the server's key.

        Until then rows that are sent meanwhile go on the channel before it, in its form.
        """
        if connection.share is not None:
            return await self._open_encrypted(connection, connection.share)
        if self.encrypted_only:
            raise KeelsonError(
                "unsupported", "the server has no encrypted channels, or somebody in between hides "
                "them, and encrypted_only is set")
        if not CAN_ENCRYPT:
            tell_lack()
        nonces = connection.welcome.server_nonce + os.urandom(32)
        server_key, study_id, key = connection.server_key, self._study_id, self.public_key
        assert study_id is not None
        await connection.send("hello", {
            "study_id": study_id, "public_key": key, "client_nonce": nonces[32:],
            "signature": self._signer.sign("hello", server_key, study_id, nonces),
            "enrolment": self.enrolment,
        })
        frame = await self._answer(connection, "ready")
        verify(server_key, message_of("ready", server_key, study_id, key, nonces), frame.signature)
        self._cipher = None
        self._trust(server_key)
        return frame

    async def _open_encrypted(self, connection: Connection, share: bytes) -> Message:
        """Opens an encrypted channel. Its Ready is sealed, and so proves the server's key."""
        assert self._study_id is not None
        opening = new_opening(
            self._signer, connection.server_key, self._study_id, connection.welcome.server_nonce,
            share)
        await connection.send("open", {
            "study_id": self._study_id, "public_key": self.public_key,
            "client_share": opening.client_share, "signature": opening.signature,
            "enrolment": self.enrolment,
        })
        frame = await self._answer(connection, "opened")
        ready = decode("Ready", opening.cipher.open(OPENED, frame.encrypted))
        if ready.channel != frame.channel:
            raise Between("an answer to Open is about another channel")
        self._cipher = opening.cipher
        self._trust(connection.server_key)
        return ready

    async def _answer(self, connection: Connection, wanted: str) -> Message:
        """The answer to a Hello or Open: frames of earlier channels are passed over."""
        while True:
            kind, frame = await asyncio.wait_for(connection.next(), 30)
            if kind == "refusal" and frame.channel == 0:
                code = CODES[frame.code]
                if frame.retryable or (wanted == "opened" and is_between(code, 0)):
                    raise EOFError(code)
                raise KeelsonError(code, frame.text)
            if (kind == wanted and frame.study_id == self._study_id
                    and frame.public_key == self.public_key):
                return frame

    async def _resume(self, ready: Message) -> None:
        """After Ready: all that is not settled goes again, in the order of the sequences."""
        assert self._connection is not None
        self._channel, self._epoch, self._credit = ready.channel, ready.epoch, max(1, ready.credit)
        self._flight, self._deferred = set(), set()
        self._resend_withdrawal()
        beyond = ready.next_sequence + self._connection.welcome.limits.sequence_window
        lost = sorted(one for one in self._batches if one >= beyond)
        own = [one for one in self._batches if one < beyond]
        self._holes = sorted(set(ready.holes) - set(own))
        self._next = max([ready.next_sequence, *(one + 1 for one in own)])
        for sequence in lost:
            self._renumber(sequence)
        await self._pump()

    async def _take(self, kind: str, frame: Message) -> None:
        # Anybody in between can make an Ack in the clear: on an encrypted channel it says nothing.
        if kind == "ack" and frame.channel == self._channel and self._cipher is None:
            await self._acknowledged(frame)
        elif (kind == "encrypted_ack" and frame.channel == self._channel
                and self._cipher is not None):
            await self._acknowledged(decode("Ack", self._cipher.open(ACK, frame.encrypted)))
        elif kind == "notice" and frame.study_id == self._study_id:
            self._open(frame.epoch)
            await self._state(frame.state)
        elif kind == "refusal" and frame.channel in (0, self._channel):
            await self._refused(frame)
        await self._pump()

    async def _acknowledged(self, ack: Message) -> None:
        self._credit = max(1, ack.credit)
        if ack.withdrawn > 0 and self._withdrawal and not self._withdrawal.answer.done():
            self._withdrawal.answer.set_result(ack.withdrawn)
        for sequence in ack.accepted:
            self._retry.reset()
            self._settle(sequence, Settled("accepted", "", ack.epoch))
        for one in ack.rejections:
            code = CODES[one.code]
            is_numbered_again = (
                code in self._codes_of_new_sequence and self._may_renumber(one.sequence))
            # Without an open epoch the same bytes get the same answer, which says when one opens.
            is_early = is_numbered_again and code == "stale-epoch" and self._epoch == 0
            if one.retryable or is_early:
                if one.sequence in self._flight:
                    self._defer([one.sequence])
            elif is_numbered_again:
                self._renumber(one.sequence)
            else:
                self._settle(one.sequence, Settled(code, one.text, ack.epoch))
        self._open(ack.epoch)

    async def _refused(self, refusal: Message) -> None:
        code = CODES[refusal.code]
        if self._cipher is not None and is_between(code, refusal.channel):
            raise Between(f"a frame did not reach the server as it was: {code}")
        if code == "unknown-channel" and self._connection is not None:
            await self._resume(await self._hello(self._connection))
        elif refusal.retryable:
            self._defer(list(self._flight))
        elif code == "too-late":
            self._fail_withdrawal(KeelsonError(code, refusal.text))
        else:
            await self._end(KeelsonError(code, refusal.text), is_sure=self._cipher is None)

    def _fail_withdrawal(self, error: KeelsonError) -> None:
        if self._withdrawal is not None and not self._withdrawal.answer.done():
            self._withdrawal.answer.set_exception(error)

    def _resend_withdrawal(self) -> None:
        if self._withdrawal is not None:
            self._withdrawal.is_sent = False

    async def _state(self, state: int) -> None:
        if state not in STATES:
            return
        error = KeelsonError(STATES[state], "the study takes no more contributions")
        for item in self._queue:
            self._finish(item.id, Settled(error.code, error.text, 0))
        self._queue = []
        if not self._batches:
            await self._end(error)

    def _open(self, epoch: int) -> None:
        if epoch != self._epoch:
            self._deferred = set()
        self._epoch = epoch

    def _defer(self, sequences: List[int]) -> None:
        """Sends the same bytes again after a pause, or in the next epoch."""
        self._flight -= set(sequences)
        self._deferred |= set(sequences)
        if self._retrying is None or self._retrying.done():
            self._retrying = asyncio.ensure_future(self._again())

    async def _again(self) -> None:
        await self._retry.wait()
        self._deferred = set()
        self._resend_withdrawal()
        await self._pump()

    def _may_renumber(self, sequence: int) -> bool:
        return sequence in self._batches and self._renumbered.get(sequence, 0) < RENUMBERED_MOST

    def _renumber(self, sequence: int) -> None:
        """Signs the rows of a batch again under a free sequence. The batch itself never counted."""
        batch = self._batches.pop(sequence)
        body = decode("BatchBody", batch.body).__dict__
        body["cells"] = [one.__dict__ for one in body["cells"]]
        body["epoch"] = max(body["epoch"], self._epoch)
        signed = self._signed(batch.item, body)
        self._outbox.sign(batch.item, [signed], [sequence])
        self._flight.discard(sequence)
        self._batches[signed.sequence] = signed
        self._renumbered[signed.sequence] = self._renumbered.pop(sequence, 0) + 1

    def _signed(self, item: int, fields: Dict[str, Any]) -> Batch:
        assert self._connection is not None and self._study_id is not None
        if self._holes:
            sequence = self._holes.pop(0)
        else:
            sequence, self._next = self._next, self._next + 1
        body = encode("BatchBody", {**fields, "sequence": sequence})
        server_key = self._connection.server_key
        signature = self._signer.sign("batch", server_key, self._study_id, sha512(body))
        return Batch(sequence, item, body, signature)

    def _sign(self, item: Item) -> None:
        """Splits rows into batches, signs them, and stores them in place of the rows."""
        assert self._connection is not None and item.rows is not None
        try:
            rows = checked_rows(item.rows, self._facts)
            most = rows_per_batch(self._facts, self._connection.welcome.limits)
        except KeelsonError as error:
            self._finish(item.id, Settled("wrong-columns", error.text, 0), error)
            return
        batches = [self._signed(item.id, {
            "study_id": self._study_id, "epoch": self._epoch, "data_type": 2,
            "last": item.last and start + most >= len(rows),
            "rows": len(rows[start:start + most]), "columns": len(rows[0]),
            **contents_of(rows[start:start + most], self._facts),
        }) for start in range(0, len(rows), most)]
        self._outbox.sign(item.id, batches)
        self._batches.update({one.sequence: one for one in batches})

    async def _pump(self) -> None:
        """Signs and sends as much as epoch and credit allow."""
        connection = self._connection
        try:
            while connection is not None and connection is self._connection and self.error is None:
                free = self._batches.keys() - self._flight - self._deferred
                if len(self._flight) >= self._credit:
                    return
                if free:
                    sequence = min(free)
                    self._flight.add(sequence)
                    await self._offer(connection, self._batches[sequence])
                elif self._queue and self._epoch > 0:
                    self._sign(self._queue.pop(0))
                else:
                    return await self._send_withdrawal(connection)
        except LOST:
            # The reader of the socket finds out too, and connects again.
            return

    async def _offer(self, connection: Connection, batch: Batch) -> None:
        if self._cipher is None:
            await connection.send("batch", {
                "channel": self._channel, "body": batch.body, "signature": batch.signature})
        else:
            await connection.send("encrypted_batch", {
                "channel": self._channel, "encrypted": self._cipher.seal(batch.body)})

    async def _send_withdrawal(self, connection: Connection) -> None:
        """Once all rows are settled. A repeated one names the epoch of the first."""
        asked = self._withdrawal
        if asked is None or asked.is_sent or asked.answer.done() or self._batches or self._queue:
            return
        asked.epoch = asked.epoch or self._epoch
        if asked.epoch == 0:
            return
        asked.is_sent = True
        assert self._study_id is not None
        payload = asked.epoch.to_bytes(8, "big") + bytes(56)
        signature = self._signer.sign("withdraw", connection.server_key, self._study_id, payload)
        await connection.send("withdraw", {
            "channel": self._channel, "epoch": asked.epoch, "signature": signature})

    def _settle(self, sequence: int, settled: Settled) -> None:
        batch = self._batches.pop(sequence, None)
        self._flight.discard(sequence)
        self._deferred.discard(sequence)
        if batch is None:
            return
        if not settled.accepted:
            self._refusals.setdefault(batch.item, settled)
        if any(one.item == batch.item for one in self._batches.values()):
            self._outbox.settle(sequence)
        else:
            self._finish(batch.item, self._refusals.pop(batch.item, settled))

    def _finish(self, item: int, settled: Settled, error: Optional[KeelsonError] = None) -> None:
        self._outbox.forget(item)
        future = self._waiting.pop(item, None)
        self._changed.set()
        if future is None:
            self._on_recovered(settled)
        elif not future.done():
            if error is None:
                future.set_result(settled)
            else:
                future.set_exception(error)

