"""Calls of the API: which are tried again, and for how long."""

from __future__ import annotations

import json
import random
import time
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any, Optional, TypeVar

from hotcell.answered import Answered
from hotcell.failures import ApiUnreachable, HotcellError, WaitTimeout
from hotcell.problem_errors import error_of
from hotcell.wire import Asked, Wire

if TYPE_CHECKING:
    from hotcell.answer import Answer

    A = TypeVar("A", bound=Answer)

# The API may be away for so long (a restart, a rolling update) before a call gives up.
default_patience = 120.0
_passing = {408, 429, 500, 502, 503, 504}
# The longest that one chunk without a line break may become: a result with very many outputs.
_longest_line = 256 * 1024 * 1024


class Patience:
    """Pauses between calls that fail in a row, longer each time. Raises what is permanent or lasts too long."""

    def __init__(self, wire: Wire, seconds: float, deadline: Optional[float] = None) -> None:
        self._wire = wire
        self._seconds = seconds
        self._deadline = deadline
        self.succeeded()

    def succeeded(self) -> None:
        self._since: Optional[float] = None
        self._pause = 0.1

    async def failed(self, error: HotcellError) -> None:
        passing = isinstance(error, ApiUnreachable) or (error.retryable and error.status in _passing)
        if not passing:
            raise error
        now = time.monotonic()
        if self._since is None:
            self._since = now
        if now - self._since + self._pause > self._seconds:
            raise error
        if self._deadline is not None and now + self._pause > self._deadline:
            raise error
        await self._wire.pause(self._pause * random.uniform(0.8, 1.2))
        self._pause = min(self._pause * 2, 3.0)


class Calls:
    def __init__(self, wire: Wire, patience: float = default_patience) -> None:
        self.wire = wire
        self.patience = patience

    async def ask(self, asked: Asked, *, again: bool, deadline: Optional[float] = None) -> Answered:
        """`again`: to do it twice does no more than to do it once, so a failed call may be repeated."""
        patience = Patience(self.wire, self.patience, deadline)
        while True:
            try:
                answer = await self.wire.send(asked)
                if answer.status < 400:
                    return answer
                raise error_of(answer)
            except HotcellError as error:
                if not again:
                    raise
                await patience.failed(error)

    async def read(self, model: type[A], asked: Asked, *, again: bool = True) -> A:
        return parsed(model, (await self.ask(asked, again=again)).body)

    async def lines(self, asked: Asked) -> AsyncGenerator[bytes, None]:
        """Yields whole lines, and empty ones, by which a caller sees that the connection lives. Never half a line."""
        async with self.wire.open(asked) as opened:
            if opened.status >= 400:
                raise error_of(await opened.whole())
            parts: list[bytes] = []
            held = 0
            async for chunk in opened.chunks():
                *ends, rest = chunk.split(b"\n")
                for end in ends:
                    yield b"".join([*parts, end])
                    parts, held = [], 0
                if rest:
                    parts.append(rest)
                    held += len(rest)
                if held > _longest_line:
                    raise HotcellError("internal", "The API sent a line that is longer than any answer.")
            if parts:
                raise ApiUnreachable("api_unreachable", "The connection to the API broke within a line.", retryable=True)


def parsed(model: type[A], body: bytes) -> A:
    from pydantic import ValidationError

    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        raise HotcellError(
            "internal",
            f"The API answered something else than a {model.__name__}: {error.errors()[0]['msg']}.",
            hint="Client and API may be of different versions.",
        ) from error


def posted(path: str, value: Any, headers: Optional[dict[str, str]] = None, timeout: float = 60.0) -> Asked:
    sent = {"content-type": "application/json", **(headers or {})}
    return Asked("POST", path, headers=sent, body=json.dumps(value).encode(), timeout=timeout)


def ended_waiting(run: str) -> WaitTimeout:
    return WaitTimeout(
        "wait_timeout",
        f"Run {run} is not finished yet; the time to wait for it is over.",
        hint="The run goes on: ask again with .result(), or end it with .cancel().",
        run=run,
    )
