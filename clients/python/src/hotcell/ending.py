"""What the records of runs and of steps have in common: how it ended, and why."""

from __future__ import annotations

from typing import Optional, Protocol


class _Ended(Protocol):
    @property
    def outcome(self) -> Optional[str]: ...
    @property
    def reason(self) -> str: ...
    @property
    def exit_code(self) -> Optional[int]: ...


class Ending:
    """`record` has every field; the properties here are those that most callers want."""

    record: _Ended

    @property
    def ok(self) -> bool:
        return self.record.outcome == "succeeded"

    @property
    def reason(self) -> str:
        """One sentence: which limit or cause, and what to do."""
        return self.record.reason

    @property
    def exit_code(self) -> Optional[int]:
        return self.record.exit_code
