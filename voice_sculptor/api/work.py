"""The studio's work, which blocks, for callers who wait without blocking; who leaves cancels it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import TYPE_CHECKING, Generic, TypeVar

from voice_sculptor.errors import Cancelled
from voice_sculptor.scheduling.worker import CancelToken

if TYPE_CHECKING:
    from starlette.requests import Request

T = TypeVar("T")

_END = object()


class Work(Generic[T]):
    """An iterator that runs on a thread of its own, as its request would otherwise hold one of a shared pool.

    Args:
        make: Makes the iterator, of items that are not `None`, on that thread; the token it is given is set once nobody
            waits any more.
    """

    def __init__(self, make: Callable[[CancelToken], Iterator[T]]) -> None:
        self._make = make
        self._token = CancelToken()
        self._loop = asyncio.get_running_loop()
        self._items: asyncio.Queue[object] = asyncio.Queue()
        threading.Thread(target=self._run, name="request", daemon=True).start()

    def cancel(self) -> None:
        """Stop it; what runs on the device ends within one step of the engine."""
        self._token.cancel()

    async def next(self) -> T | None:
        """The next item; `None` where there is none any more.

        Raises:
            Exception: Whatever the iterator raised.
        """
        item = await self._items.get()
        if item is _END:
            return None
        if isinstance(item, BaseException):
            raise item
        return item  # type: ignore[return-value]

    async def next_for(self, request: Request) -> T | None:
        """As `next`; cancels the work where the caller leaves before.

        Raises:
            Cancelled: The caller left.
        """
        item = asyncio.ensure_future(self.next())
        left = asyncio.ensure_future(_left(request))
        try:
            await asyncio.wait((item, left), return_when=asyncio.FIRST_COMPLETED)
            if not item.done():
                raise Cancelled
            return item.result()
        except BaseException:
            self.cancel()
            raise
        finally:
            for each in (item, left):
                each.cancel()
            await asyncio.gather(item, left, return_exceptions=True)

    async def rest(self) -> AsyncGenerator[T, None]:
        """All items that are left; leaving off cancels the work."""
        try:
            while (item := await self.next()) is not None:
                yield item
        finally:
            self.cancel()

    def _run(self) -> None:
        try:
            items = self._make(self._token)
            try:
                for item in items:
                    self._put(item)
            finally:
                close = getattr(items, "close", None)
                if close is not None:
                    close()
            self._put(_END)
        except BaseException as error:  # noqa: BLE001  # It is raised where it is waited for.
            self._put(error)

    def _put(self, item: object) -> None:
        try:
            self._loop.call_soon_threadsafe(self._items.put_nowait, item)
        except RuntimeError:  # The loop is closed: nobody waits.
            self.cancel()


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def run(request: Request, function: Callable[[CancelToken], T]) -> T:
    """The result of a function on a thread of its own, for a caller who may leave.

    Args:
        request: Whose body has been read.
        function: It is given a token that is set when the caller leaves.

    Raises:
        Cancelled: The caller left.
        Exception: Whatever the function raised.
    """

    def once(token: CancelToken) -> Iterator[T]:
        yield function(token)

    result = await Work(once).next_for(request)
    assert result is not None
    return result
