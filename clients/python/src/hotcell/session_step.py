"""What came of a step of a session."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Optional

from hotcell import session_calls
from hotcell.ending import Ending
from hotcell.failures import StepFailed, StepLost
from hotcell.landing import check
from hotcell.log_text import LogText
from hotcell.wire import drive

if TYPE_CHECKING:
    from typing_extensions import Self

    from hotcell import session_answers
    from hotcell.calls import Calls
    from hotcell.run_answers import LogRow


class BaseStep(Ending):
    record: session_answers.Step

    def __init__(self, calls: Calls, record: session_answers.Step) -> None:
        self._calls = calls
        self.record = record

    @property
    def run(self) -> str:
        """The id of its session."""
        return self.record.run

    @property
    def index(self) -> int:
        return self.record.index

    @property
    def outcome(self) -> Optional[str]:
        """None as long as it is not over."""
        return self.record.outcome

    @property
    def error(self) -> Optional[session_answers.StepError]:
        """The exception that ended it, as the interpreter says."""
        return self.record.error

    @property
    def warnings(self) -> list[str]:
        """What screening says of its code."""
        return list(self.record.warnings or [])

    @property
    def stdout(self) -> str:
        """Its head and its tail if it is long; then `truncated` is true, and `log` has all of it."""
        return self.record.stdout or ""

    @property
    def stderr(self) -> str:
        return self.record.stderr or ""

    @property
    def truncated(self) -> bool:
        return bool(self.record.truncated)

    @property
    def outputs(self) -> list[session_answers.StepOutput]:
        """What it showed, in every form."""
        return self.record.outputs

    @property
    def displays(self) -> list[dict[str, session_answers.StepOutput]]:
        """What it showed, one after the other, each with its forms by their types."""
        together: dict[int, dict[str, session_answers.StepOutput]] = {}
        for one in self.record.outputs:
            if one.display is not None and one.type is not None:
                together.setdefault(one.display, {})[one.type] = one
        return list(together.values())

    @property
    def value(self) -> Optional[str]:
        """The value of its last expression, as text."""
        texts = [one.text for one in self.record.outputs if one.kind == "result" and one.type == "text/plain"]
        return texts[-1] if texts else None

    def check(self) -> Self:
        """Raises StepFailed unless it succeeded."""
        if not self.ok:
            raise StepFailed(self)
        return self

    def raise_if_lost(self) -> None:
        if self.outcome in (None, "lost"):
            raise StepLost(self)

    async def read(self, output: int) -> bytes:
        named = self.record.outputs[output]
        if named.text is not None:
            data = named.text.encode()
        else:
            data = await session_calls.shown(self._calls, self.run, self.index, output)
        check(f"output {output} of step {self.index}", hashlib.sha256(data).hexdigest(), named.sha256)
        return data

    def __repr__(self) -> str:
        return f"<step {self.index} of {self.run} {self.outcome or self.record.status}: {self.reason}>"


def _together(rows: list[LogRow]) -> str:
    log = LogText()
    for row in rows:
        log.add(row)
    return log.text()


class Step(BaseStep):
    @property
    def log(self) -> str:
        """All that it wrote, both streams as they were written."""
        return _together(drive(session_calls.step_rows(self._calls, self.run, self.index)))

    def bytes(self, output: int) -> bytes:
        """What it showed at this place in `outputs`."""
        return drive(self.read(output))


class AsyncStep(BaseStep):
    async def log(self) -> str:
        """All that it wrote, both streams as they were written."""
        return _together(await session_calls.step_rows(self._calls, self.run, self.index))

    async def bytes(self, output: int) -> bytes:
        """What it showed at this place in `outputs`."""
        return await self.read(output)
