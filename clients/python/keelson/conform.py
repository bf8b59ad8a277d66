"""This client behind the line protocol of `keelson conform`: python3 -m keelson.conform."""
from __future__ import annotations

import asyncio
import json
import sys
from typing import Any, Dict, Optional

from .contributor import AsyncContributor, Settled
from .encryption import CAN_ENCRYPT
from .errors import KeelsonError
from .once import AsyncOnceContributor
from .releases import verify_log
from .signing import Signer, message_of, sha512
from .subscriber import subscribe_async


def say(event: str, **members: Any) -> None:
    print(json.dumps({"event": event, **members}), flush=True)


class LineClient:
    def __init__(self) -> None:
        self.contributor: Optional[AsyncContributor] = None
        self.reading: Optional["asyncio.Task[None]"] = None

    def take(self, line: Dict[str, Any]) -> None:
        getattr(self, "do_" + line["do"])(line)

    def do_open(self, line: Dict[str, Any]) -> None:
        server_key = line.get("serverKey")
        kind = AsyncOnceContributor if line.get("once") else AsyncContributor
        self.contributor = kind(
            line["url"], line["study"], bytes.fromhex(line["seed"]), line["outbox"],
            None if server_key is None else bytes.fromhex(server_key),
            bytes.fromhex(line.get("enrolment", "")),
            encrypted_only=line.get("encryptedOnly", False),
            on_recovered=lambda settled: say("settled", code=settled.code),
            on_ended=lambda error: say("ended", code=error.code),
        )
        self.contributor.start()

    def do_send(self, line: Dict[str, Any]) -> None:
        asyncio.ensure_future(self.send(line))

    async def send(self, line: Dict[str, Any]) -> None:
        assert self.contributor is not None
        try:
            work = asyncio.ensure_future(self.contributor.send(line["rows"], line["last"]))
            # One turn of the loop, and the rows are in the outbox.
            await asyncio.sleep(0)
            say("stored")
            settled: Settled = await work
            say("settled", id=line["id"], code=settled.code)
        except KeelsonError as error:
            if error is not self.contributor.error:
                say("settled", id=line["id"], code=error.code)

    def do_withdraw(self, line: Dict[str, Any]) -> None:
        asyncio.ensure_future(self.withdraw(line.get("epoch", 0)))

    async def withdraw(self, epoch: int) -> None:
        assert self.contributor is not None
        try:
            say("withdrawn", epoch=await self.contributor.withdraw(epoch))
        except KeelsonError as error:
            if error is not self.contributor.error:
                say("withdrawn", code=error.code)

    def do_subscribe(self, line: Dict[str, Any]) -> None:
        self.reading = asyncio.ensure_future(self.read(line))

    async def read(self, line: Dict[str, Any]) -> None:
        try:
            key = bytes.fromhex(line["serverKey"])
            previous = line.get("previousDigest")
            async for one in subscribe_async(
                line["url"], line["study"], key, line.get("from", 0),
                None if previous is None else bytes.fromhex(previous),
            ):
                say("release", index=one.index, epoch=one.epoch, digest=one.digest.hex())
        except KeelsonError as error:
            say("ended", code=error.code)

    def do_verify(self, line: Dict[str, Any]) -> None:
        with open(line["log"], "rb") as file:
            data = file.read()
        try:
            verify_log(data, bytes.fromhex(line["serverKey"]))
            say("verified", ok=True)
        except KeelsonError:
            say("verified", ok=False)

    def do_sign(self, line: Dict[str, Any]) -> None:
        signer, data = Signer(bytes.fromhex(line["seed"])), bytes.fromhex(line["bytes"])
        server_key, study_id = bytes.fromhex(line["serverKey"]), bytes.fromhex(line["studyId"])
        payload = data if line["label"] == "hello" else sha512(data)
        message = message_of(line["label"], server_key, study_id, signer.public_key, payload)
        signature = signer.sign(line["label"], server_key, study_id, payload)
        say("signed", message=message.hex(), signature=signature.hex())

    def do_ping(self, line: Dict[str, Any]) -> None:
        say("pong")

    def do_close(self, line: Dict[str, Any]) -> None:
        asyncio.ensure_future(self.close())

    async def close(self) -> None:
        if self.reading is not None:
            self.reading.cancel()
        if self.contributor is not None:
            await self.contributor.close()
            error = self.contributor.error
            if error is not None and error.code != "closed":
                return
        say("closed")


async def main() -> None:
    client = LineClient()
    can = ["contribute", "once", "withdraw", "typed", "subscribe", "verify"]
    say("hello", can=can + ["encrypt", "encrypted-only"] * CAN_ENCRYPT)
    loop = asyncio.get_running_loop()
    while True:
        text = await loop.run_in_executor(None, sys.stdin.readline)
        if not text:
            return
        client.take(json.loads(text))


if __name__ == "__main__":
    asyncio.run(main())
