"""The same for programs without asyncio: a thread of its own runs the loop."""
from __future__ import annotations

import asyncio
import threading
from typing import Any, Coroutine, Iterator, Optional, Type, Union

from .contributor import AsyncContributor, Settled
from .once import AsyncOnceContributor
from .signing import open_seed
from .subscriber import Release, subscribe_async


class _Loop:
    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Contributor:
    """A standing connection of one key to one study. Use it with `with`.

    key: a key file, made by the first run, or a seed of 32 bytes. The others: as AsyncContributor.
    """

    _kind: Type[AsyncContributor] = AsyncContributor

    def __init__(
        self, url: str, study: str, key: Union[str, bytes], outbox: Optional[str] = None,
        server_key: Optional[bytes] = None, enrolment: bytes = b"",
        timeout: Optional[float] = 60.0, encrypted_only: bool = False,
    ) -> None:
        seed = key if isinstance(key, bytes) else open_seed(key)
        self._loop = _Loop()

        async def begin() -> AsyncContributor:
            contributor = self._kind(
                url, study, seed, outbox, server_key, enrolment, timeout=timeout,
                encrypted_only=encrypted_only)
            contributor.start()
            return contributor

        try:
            self._contributor: AsyncContributor = self._loop.run(begin())
        except BaseException:
            self._loop.stop()
            raise

    @property
    def public_key(self) -> bytes:
        return self._contributor.public_key

    def contribute(self, rows: Any) -> Settled:
        """Sends a whole contribution to one epoch, and waits until it is settled."""
        return self.send(rows, last=True)

    def send(self, rows: Any, last: bool = False) -> Settled:
        """Sends rows, and waits until they are settled: as AsyncContributor.send."""
        settled: Settled = self._loop.run(self._contributor.send(rows, last))
        return settled

    def withdraw(self, epoch: int = 0) -> int:
        """Takes back all rows that this key gave to an open epoch: as AsyncContributor.withdraw."""
        taken: int = self._loop.run(self._contributor.withdraw(epoch))
        return taken

    def close(self) -> None:
        """Waits until all rows are settled, and disconnects."""
        self._loop.run(self._contributor.close())
        self._loop.stop()

    def __enter__(self) -> "Contributor":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class OnceContributor(Contributor):
    """Opens no connection: for people who send once. It differs as AsyncOnceContributor does."""

    _kind = AsyncOnceContributor


def subscribe(
    url: str, study: str, server_key: Optional[bytes] = None, start: int = 0,
    previous_digest: Optional[bytes] = None, timeout: Optional[float] = 60.0,
) -> Iterator[Release]:
    """The verified releases of a study, then each new one as it comes: as subscribe_async."""
    loop = _Loop()
    releases = subscribe_async(url, study, server_key, start, previous_digest, timeout)
    try:
        while True:
            try:
                yield loop.run(releases.__anext__())  # type: ignore[arg-type]
            except StopAsyncIteration:
                return
    finally:
        loop.run(releases.aclose())  # type: ignore[attr-defined]
        loop.stop()
