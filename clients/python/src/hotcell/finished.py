"""The result of a run, with what it wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Optional, TypeVar

from hotcell.ending import Ending
from hotcell.failures import RunFailed, RunLost
from hotcell.log_text import LogText
from hotcell.run_outputs import AsyncOutputs, BaseOutputs, Outputs

if TYPE_CHECKING:
    from typing_extensions import Self

    from hotcell import run_answers

O = TypeVar("O", bound=BaseOutputs)


class BaseResult(Ending, Generic[O]):
    record: run_answers.Result

    def __init__(self, record: run_answers.Result, log: LogText, outputs: O) -> None:
        self.record = record
        self.outputs = outputs
        self._log = log

    @property
    def run(self) -> str:
        return self.record.run

    @property
    def outcome(self) -> str:
        return self.record.outcome

    @property
    def stdout(self) -> str:
        return self._log.text("stdout")

    @property
    def stderr(self) -> str:
        return self._log.text("stderr")

    @property
    def log(self) -> str:
        """Both streams, in the order in which they were written."""
        return self._log.text()

    def log_from(self, block: int, stream: Optional[str] = None) -> str:
        """Both streams, or one, of this block and those after it."""
        return self._log.text(stream, first_block=block)

    @property
    def blocks(self) -> list[run_answers.ResultBlock]:
        return self.record.blocks

    @property
    def workspace(self) -> Optional[run_answers.ResultWorkspace]:
        """What lay in /work at the start (`before`) and at the end (`after`), of a run that has a workspace."""
        return self.record.workspace

    @property
    def usage(self) -> run_answers.ResultUsage:
        return self.record.usage

    @property
    def timings(self) -> run_answers.ResultTimings:
        return self.record.timings

    @property
    def warnings(self) -> list[str]:
        return self.record.warnings

    def check(self) -> Self:
        """Raises RunFailed unless the program succeeded."""
        if not self.ok:
            raise RunFailed(self)
        return self

    def raise_if_lost(self) -> None:
        if self.outcome == "lost":
            raise RunLost(self)

    def __repr__(self) -> str:
        return f"<run {self.run} {self.outcome}: {self.reason}>"


class Result(BaseResult[Outputs]):
    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        from hotcell.notebook import page_of

        return {"text/plain": repr(self), "text/html": page_of(self)}


class AsyncResult(BaseResult[AsyncOutputs]):
    pass
