"""A session, for a program without an event loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional

from hotcell import session_calls
from hotcell.client import Run
from hotcell.session_step import Step
from hotcell.wire import drive

if TYPE_CHECKING:
    from typing_extensions import Self

    from hotcell.asking import FileContent
    from hotcell.calls import Calls
    from hotcell.finished import Result


class Session(Run):
    """
    >>> with hotcell.session(policy="analytics") as session:
    ...     session.run("x = 41")
    ...     print(session.run("x + 1").value)

    A run whose cell stays open for steps, and holds memory until it is finished. `with` finishes it. If its body fails,
    what runs is interrupted first.
    """

    def __init__(self, calls: Calls, run: str, warnings: Sequence[str]) -> None:
        super().__init__(calls, run, warnings)
        # Steps of this handle whose end it has not seen.
        self._begun: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], *_: object) -> None:
        if kind is None:
            self.finish()
        else:
            drive(session_calls.give_up(self._calls, self.id, self._begun))

    def run(
        self,
        code: str,
        *,
        language: str = "python",
        files: Optional[Mapping[str, FileContent]] = None,
        timeout_seconds: Optional[int] = None,
        timeout: Optional[float] = None,
    ) -> Step:
        """Runs code as the next step, and waits until it is over. A step that failed is a result.

        `timeout_seconds` is the step's own limit. `timeout` ends the waiting, not the step.
        """
        block = {"language": language, "code": code}
        return self.step_end(self.begin(block, files=files, timeout_seconds=timeout_seconds).index, timeout)

    def exec(
        self,
        argv: Sequence[str],
        *,
        files: Optional[Mapping[str, FileContent]] = None,
        timeout_seconds: Optional[int] = None,
        timeout: Optional[float] = None,
    ) -> Step:
        """Runs a program as the next step, and waits until it is over."""
        block = {"argv": list(argv)}
        return self.step_end(self.begin(block, files=files, timeout_seconds=timeout_seconds).index, timeout)

    def begin(
        self,
        block: Mapping[str, Any],
        *,
        files: Optional[Mapping[str, FileContent]] = None,
        timeout_seconds: Optional[int] = None,
    ) -> Step:
        """Records {"language": …, "code": …} or {"argv": […]} as the next step, and returns as soon as that is done."""
        step = session_calls.step_of(block, files, timeout_seconds)
        begun = Step(self._calls, drive(session_calls.begin(self._calls, self.id, step)))
        self._begun.append(begun.index)
        return begun

    def step_end(self, index: int, timeout: Optional[float] = None) -> Step:
        """Waits until the step is over. StepLost is raised if the session ended before it."""
        step = Step(self._calls, drive(session_calls.step_end(self._calls, self.id, index, timeout)))
        self._begun = [one for one in self._begun if one != index]
        step.raise_if_lost()
        return step

    def interrupt(self, index: Optional[int] = None) -> None:
        """SIGINT to this step, or to the first that was begun here and not seen to end. The session goes on."""
        step = session_calls.running(self.id, self._begun) if index is None else index
        drive(session_calls.interrupt(self._calls, self.id, step))

    def finish(self, timeout: Optional[float] = None) -> Result:
        """Ends the session behind the steps that were sent, and waits for its result."""
        drive(session_calls.ask_to_finish(self._calls, self.id))
        return self.result(timeout, progress=False)

    def __repr__(self) -> str:
        return f"<session {self.id}>"
