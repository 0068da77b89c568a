"""Waiting for what the API does not wait for by itself."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Optional, TypeVar

from hotcell.calls import Calls
from hotcell.failures import WaitTimeout

T = TypeVar("T")
_first_pause = 0.1
_longest_pause = 2.0


async def until(
    calls: Calls, show: Callable[[], Awaitable[T]], is_over: Callable[[T], bool], what: str, timeout: Optional[float]
) -> T:
    deadline = None if timeout is None else time.monotonic() + timeout
    pause = _first_pause
    while True:
        shown = await show()
        if is_over(shown):
            return shown
        if deadline is not None and time.monotonic() + pause > deadline:
            raise WaitTimeout(
                "wait_timeout",
                f"{what} has not ended yet; the time to wait for it is over.",
                hint="It goes on: wait for it again, or cancel it.",
            )
        await calls.wire.pause(pause)
        pause = min(pause * 2, _longest_pause)
