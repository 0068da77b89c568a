"""One request over many items, for a program without an event loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Optional

from hotcell import batch_steps as steps
from hotcell.calls import Calls
from hotcell.wire import drive

if TYPE_CHECKING:
    from hotcell.batch_answers import Batch, BatchItemPage, BatchPage


class Batches:
    """
    >>> hotcell.batches.create({"items": [{"n": 1}, {"n": 2}]}, code, name="squares", parallel=10)

    `docs/batches.md` says what a batch can be over. Its runs have the rights of this client's key.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def create(self, over: Mapping[str, Any], code: Optional[str] = None, **asked: Any) -> Batch:
        """`asked`: name, parallel, on_failure, publish and callback, and what a run takes: blocks, inputs, policy."""
        return drive(steps.create(self._calls, over, {"code": code, **asked}))

    def show(self, batch: str) -> Batch:
        return drive(steps.show(self._calls, batch))

    def end(self, batch: str, timeout: Optional[float] = None) -> Batch:
        """Waits until all of its items have ended. WaitTimeout ends only the waiting."""
        return drive(steps.end(self._calls, batch, timeout))

    def list(self, **query: Any) -> BatchPage:
        """A page of batches, the newest first: limit, cursor."""
        return drive(steps.listed(self._calls, query))

    def items(self, batch: str, *, unsuccessful: bool = False, cursor: Optional[str] = None) -> BatchItemPage:
        """A page of items with their runs."""
        return drive(steps.items(self._calls, batch, unsuccessful, cursor))

    def cancel(self, batch: str, reason: Optional[str] = None) -> Batch:
        return drive(steps.cancel(self._calls, batch, reason))

    def rerun(self, batch: str) -> Batch:
        """Runs the items again that have not succeeded."""
        return drive(steps.rerun(self._calls, batch))
