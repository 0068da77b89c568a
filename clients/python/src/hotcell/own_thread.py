"""Blocking work beside an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """In a thread of its own: the loop's few are not for work that waits for minutes."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def tell(end: Callable[[], None]) -> None:
        try:
            loop.call_soon_threadsafe(lambda: None if done.done() else end())
        except RuntimeError:
            # The loop was closed, and no caller waits any more.
            pass

    def run() -> None:
        try:
            value = work()
        except BaseException as error:
            failure = error
            tell(lambda: done.set_exception(failure))
        else:
            tell(lambda: done.set_result(value))

    threading.Thread(target=run, name="hotcell-call", daemon=True).start()
    return await done
