"""A contributor over as many sockets as it takes, and a subscriber. It uses only what docs/reference/protocol.md says."""
import asyncio
import json
import os
import random

import websockets

import wire_pb2 as wire
from keelson import (
    Chain, ProtocolError, batch_body, check_key, code_name, find_study, keys_of, message_of, read,
    sha512, verify,
)

MESSAGE_MAX = 64 * 1024 * 1024


class Refused(Exception):
    """The server will not serve this, now or later."""


class Outbox:
    """Batches that are not settled, and the server's key: on disk before anything is sent."""

    def __init__(self, path):
        self.path = path
        self.batches, self.server_key = {}, None
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                stored = json.load(file)
            self.server_key = bytes.fromhex(stored["server_key"])
            self.batches = {int(name): tuple(map(bytes.fromhex, one)) for name, one in stored["batches"].items()}

    def store(self):
        batches = {name: [part.hex() for part in one] for name, one in self.batches.items()}
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            json.dump({"server_key": self.server_key.hex(), "batches": batches}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(self.path + ".new", self.path)


class Connection:
    """One socket after its Welcome was verified."""

    def __init__(self, socket, welcome, keys):
        self.socket, self.welcome, self.keys = socket, welcome, keys
        self.server_key = keys[-1]

    @classmethod
    async def open(cls, url, pinned):
        socket = await websockets.connect(
            url, subprotocols=["keelson.v1"], compression=None, max_size=MESSAGE_MAX, max_queue=None)
        frame = read(wire.ServerFrame, await socket.recv())
        if frame.WhichOneof("kind") != "welcome":
            raise ProtocolError("the first frame is not Welcome")
        keys = keys_of(check_key(frame.welcome.server_key), list(frame.welcome.rotations))
        if pinned is not None and pinned not in keys:
            raise Refused("server-key-mismatch")
        return cls(socket, frame.welcome, keys)

    async def next(self):
        frame = read(wire.ServerFrame, await self.socket.recv())
        kind = frame.WhichOneof("kind")
        return kind, getattr(frame, kind)

    async def send(self, **frame):
        await self.socket.send(wire.ClientFrame(**frame).SerializeToString())


class Session:
    """One contributor in one study."""

    def __init__(self, url, study, contributor, outbox, report):
        self.url, self.study, self.contributor = url, study, contributor
        self.outbox, self.report = outbox, report
        self.connection, self.channel, self.study_id = None, 0, None
        self.epoch, self.credit, self.next_sequence, self.holes = 0, 1, 1, []
        self.flight, self.withdrawn, self.attempts = set(), 0, 0

    async def connect(self):
        """Until Ready; then everything that is not settled goes again."""
        while True:
            try:
                await self.greet()
                break
            except (OSError, websockets.WebSocketException, asyncio.TimeoutError):
                self.attempts += 1
                if self.connection is not None:
                    await self.connection.socket.close()
                # Section 6: twice as long each time, up to a minute, varied by chance.
                await asyncio.sleep(min(60, 0.05 * 2**self.attempts) * random.uniform(0.5, 1))
        self.attempts = 0
        self.flight = set()
        for sequence in sorted(self.outbox.batches):
            await self.offer(sequence)

    async def greet(self):
        self.connection = await Connection.open(self.url, self.outbox.server_key)
        server_key, welcome = self.connection.server_key, self.connection.welcome
        study_id, _, _ = find_study(welcome.studies, server_key, self.study)
        if self.study_id not in (None, study_id):
            raise Refused("the facts of the study have changed")
        self.study_id = study_id
        client_nonce = os.urandom(32)
        nonces = welcome.server_nonce + client_nonce
        key = self.contributor.key
        await self.connection.send(hello=wire.Hello(
            study_id=study_id, public_key=key, client_nonce=client_nonce,
            signature=self.contributor.sign("hello", server_key, study_id, nonces)))
        while True:
            kind, frame = await self.connection.next()
            if kind == "refusal":
                self.refused(frame)
            if kind == "ready" and frame.study_id == study_id and frame.public_key == key:
                break
        verify(server_key, message_of("ready", server_key, study_id, key, nonces), frame.signature)
        self.outbox.server_key = server_key
        self.outbox.store()
        self.channel, self.epoch, self.credit = frame.channel, frame.epoch, frame.credit
        own = set(self.outbox.batches)
        self.holes = sorted(set(frame.holes) - own)
        self.next_sequence = max([frame.next_sequence, *(sequence + 1 for sequence in own)])
        self.report("ready", next=frame.next_sequence, holes=list(frame.holes), unsettled=sorted(own))

    def refused(self, refusal):
        if not refusal.retryable:
            raise Refused(code_name(refusal.code))
        raise websockets.WebSocketException(code_name(refusal.code))

    async def sign(self, rows, last=False):
        """Signs rows for the open epoch under a free sequence, stores them, then sends them."""
        while self.epoch == 0 or len(self.flight) >= self.credit:
            await self.take()
        if self.holes:
            sequence = self.holes.pop(0)
        else:
            sequence, self.next_sequence = self.next_sequence, self.next_sequence + 1
        body = batch_body(self.study_id, sequence, self.epoch, rows, last)
        signature = self.contributor.sign("batch", self.connection.server_key, self.study_id, sha512(body))
        self.outbox.batches[sequence] = (body, signature)
        self.outbox.store()
        await self.offer(sequence)
        return sequence

    async def offer(self, sequence):
        while len(self.flight) >= self.credit:
            await self.take()
        if sequence not in self.outbox.batches:
            return
        body, signature = self.outbox.batches[sequence]
        self.flight.add(sequence)
        try:
            await self.connection.send(
                batch=wire.SignedBatch(channel=self.channel, body=body, signature=signature))
        except websockets.ConnectionClosed:
            await self.connect()

    async def take(self):
        """One frame of the server; a new connection where this one is lost."""
        try:
            kind, frame = await self.connection.next()
            if kind == "ack" and frame.channel == self.channel:
                await self.acknowledged(frame)
            elif kind == "notice" and frame.study_id == self.study_id:
                self.epoch = frame.epoch
                self.report("notice", epoch=frame.epoch, state=frame.state)
            elif kind == "refusal":
                self.refused(frame)
        except (OSError, websockets.WebSocketException):
            await self.connection.socket.close()
            await self.connect()

    async def acknowledged(self, ack):
        self.credit, self.epoch = ack.credit, ack.epoch
        self.withdrawn = ack.withdrawn or self.withdrawn
        for sequence in ack.accepted:
            self.settled(sequence, "accepted")
        again = []
        for rejection in ack.rejections:
            if rejection.retryable:
                self.flight.discard(rejection.sequence)
                again.append(rejection.sequence)
            else:
                self.settled(rejection.sequence, code_name(rejection.code))
        for sequence in again:
            # A pause as in section 6. An epoch that opens meanwhile is told by a Notice.
            await asyncio.sleep(0.1)
            await self.offer(sequence)

    def settled(self, sequence, outcome):
        self.flight.discard(sequence)
        if self.outbox.batches.pop(sequence, None) is None:
            return
        self.outbox.store()
        self.report("settled", sequence=sequence, outcome=outcome)

    async def settle_all(self):
        while self.outbox.batches:
            await self.take()

    async def withdraw(self):
        """Takes back what was given to the open epoch."""
        await self.settle_all()
        epoch = self.epoch
        payload = epoch.to_bytes(8, "big") + bytes(56)
        signature = self.contributor.sign("withdraw", self.connection.server_key, self.study_id, payload)
        await self.connection.send(
            withdraw=wire.Withdraw(channel=self.channel, epoch=epoch, signature=signature))
        while self.withdrawn != epoch:
            await self.take()
        return epoch


async def subscribe(url, study, server_key, releases, report):
    """Verifies releases from the first one on, until there are so many and a head was checked."""
    connection = await Connection.open(url, server_key)
    study_id, facts, _ = find_study(connection.welcome.studies, connection.server_key, study)
    chain = Chain(study_id, facts, connection.keys)
    await connection.send(subscribe=wire.Subscribe(study_id=study_id, from_release=0))
    heads = 0
    while chain.index < releases or heads == 0:
        kind, frame = await connection.next()
        if kind == "release":
            release = chain.accept(frame.body, frame.signature)
            report("release", index=release.index, epoch=release.epoch, digest=chain.digest.hex())
        elif kind == "head":
            chain.check_head(frame.body, frame.signature)
            heads += 1
            report("head", count=chain.index)
        elif kind == "refusal":
            raise Refused(code_name(frame.code))
    await connection.socket.close()
