"""What the client needs of a connection. Each step of the client is written once, over this; it is awaited in an event
loop with AsyncWire, and runs to its end without one with SyncWire, whose methods never suspend."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, NamedTuple, Optional, Protocol, TypeVar

from hotcell.answered import Answered

T = TypeVar("T")


class Asked(NamedTuple):
    method: str
    path: str
    query: dict[str, Any] = {}
    headers: dict[str, str] = {}
    body: Optional[bytes] = None
    # For each read of a part, not for the whole answer.
    timeout: float = 60.0


class Opened(Protocol):
    @property
    def status(self) -> int: ...
    async def whole(self) -> Answered: ...
    def chunks(self) -> AsyncGenerator[bytes, None]: ...


class Wire(Protocol):
    """Every failure of the connection is an ApiUnreachable."""

    async def send(self, asked: Asked) -> Answered: ...
    def open(self, asked: Asked) -> AbstractAsyncContextManager[Opened]: ...
    async def together(self, steps: Sequence[Callable[[], Coroutine[Any, Any, None]]]) -> None:
        """A few at a time. The first failure is raised when those that were begun have ended."""
        ...

    async def pause(self, seconds: float) -> None: ...
    async def offload(self, work: Callable[..., T], *args: Any) -> T: ...
    async def close(self) -> None: ...


def drive(steps: Coroutine[Any, Any, T]) -> T:
    """Runs steps over a SyncWire: nothing in them suspends, so the first push takes them to their end."""
    try:
        steps.send(None)
    except StopIteration as end:
        value: T = end.value
        return value
    steps.close()
    raise RuntimeError("a step of the synchronous client waited for an event loop")
