"""A session, for a program with an event loop."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional

from hotcell import session_calls
from hotcell.async_client import AsyncRun
from hotcell.session_step import AsyncStep

if TYPE_CHECKING:
    from typing_extensions import Self

    from hotcell.asking import FileContent
    from hotcell.calls import Calls
    from hotcell.finished import AsyncResult


class AsyncSession(AsyncRun):
    """
    >>> async with hotcell.session(policy="analytics") as session:
    ...     await session.run("x = 41")
    ...     print((await session.run("x + 1")).value)

    A run whose cell stays open for steps, and holds memory until it is finished. `async with` finishes it. If its body fails,
    what runs is interrupted first.
    """

    def __init__(self, calls: Calls, run: str, warnings: Sequence[str]) -> None:
        super().__init__(calls, run, warnings)
        # Steps of this handle whose end it has not seen.
        self._begun: list[int] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: Optional[type[BaseException]], *_: object) -> None:
        if kind is None:
            await self.finish()
        else:
            await session_calls.give_up(self._calls, self.id, self._begun)

    async def run(
        self,
        code: str,
        *,
        language: str = "python",
        files: Optional[Mapping[str, FileContent]] = None,
        timeout_seconds: Optional[int] = None,
        timeout: Optional[float] = None,
    ) -> AsyncStep:
        """Runs code as the next step, and waits until it is over. A step that failed is a result.

        `timeout_seconds` is the step's own limit. `timeout` ends the waiting, not the step.
        """
        block = {"language": language, "code": code}
        begun = await self.begin(block, files=files, timeout_seconds=timeout_seconds)
        return await self.step_end(begun.index, timeout)

    async def exec(
        self,
        argv: Sequence[str],
        *,
        files: Optional[Mapping[str, FileContent]] = None,
        timeout_seconds: Optional[int] = None,
        timeout: Optional[float] = None,
    ) -> AsyncStep:
        """Runs a program as the next step, and waits until it is over."""
        block = {"argv": list(argv)}
        begun = await self.begin(block, files=files, timeout_seconds=timeout_seconds)
        return await self.step_end(begun.index, timeout)

    async def begin(
        self,
        block: Mapping[str, Any],
        *,
        files: Optional[Mapping[str, FileContent]] = None,
        timeout_seconds: Optional[int] = None,
    ) -> AsyncStep:
        """Records {"language": …, "code": …} or {"argv": […]} as the next step, and returns as soon as that is done."""
        step = session_calls.step_of(block, files, timeout_seconds)
        begun = AsyncStep(self._calls, await session_calls.begin(self._calls, self.id, step))
        self._begun.append(begun.index)
        return begun

    async def step_end(self, index: int, timeout: Optional[float] = None) -> AsyncStep:
        """Waits until the step is over. StepLost is raised if the session ended before it."""
        step = AsyncStep(self._calls, await session_calls.step_end(self._calls, self.id, index, timeout))
        self._begun = [one for one in self._begun if one != index]
        step.raise_if_lost()
        return step

    async def interrupt(self, index: Optional[int] = None) -> None:
        """SIGINT to this step, or to the first that was begun here and not seen to end. The session goes on."""
        step = session_calls.running(self.id, self._begun) if index is None else index
        await session_calls.interrupt(self._calls, self.id, step)

    async def finish(self, timeout: Optional[float] = None) -> AsyncResult:
        """Ends the session behind the steps that were sent, and waits for its result."""
        await session_calls.ask_to_finish(self._calls, self.id)
        return await self.result(timeout, progress=False)

    def __repr__(self) -> str:
        return f"<session {self.id}>"


class StartingSession:
    """To `await`, or to enter with `async with`."""

    def __init__(self, calls: Calls, options: Mapping[str, Any]) -> None:
        self._calls = calls
        self._options = options

    def __await__(self) -> Generator[Any, None, AsyncSession]:
        return self._start().__await__()

    async def __aenter__(self) -> AsyncSession:
        self._session = await self._start()
        return self._session

    async def __aexit__(self, *why: Any) -> None:
        await self._session.__aexit__(*why)

    async def _start(self) -> AsyncSession:
        accepted = await session_calls.start(self._calls, self._options)
        return AsyncSession(self._calls, accepted.run, accepted.warnings or [])
