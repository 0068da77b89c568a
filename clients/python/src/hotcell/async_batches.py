"""One request over many items, for a program with an event loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Optional

from hotcell import batch_steps as steps
from hotcell.calls import Calls

if TYPE_CHECKING:
    from hotcell.batch_answers import Batch, BatchItemPage, BatchPage


class AsyncBatches:
    """
    >>> await hotcell.batches.create({"items": [{"n": 1}, {"n": 2}]}, code, name="squares", parallel=10)

    `docs/batches.md` says what a batch can be over. Its runs have the rights of this client's key.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def create(self, over: Mapping[str, Any], code: Optional[str] = None, **asked: Any) -> Batch:
        """`asked`: name, parallel, on_failure, publish and callback, and what a run takes: blocks, inputs, policy."""
        return await steps.create(self._calls, over, {"code": code, **asked})

    async def show(self, batch: str) -> Batch:
        return await steps.show(self._calls, batch)

    async def end(self, batch: str, timeout: Optional[float] = None) -> Batch:
        """Waits until all of its items have ended. WaitTimeout ends only the waiting."""
        return await steps.end(self._calls, batch, timeout)

    async def list(self, **query: Any) -> BatchPage:
        """A page of batches, the newest first: limit, cursor."""
        return await steps.listed(self._calls, query)

    async def items(self, batch: str, *, unsuccessful: bool = False, cursor: Optional[str] = None) -> BatchItemPage:
        """A page of items with their runs."""
        return await steps.items(self._calls, batch, unsuccessful, cursor)

    async def cancel(self, batch: str, reason: Optional[str] = None) -> Batch:
        return await steps.cancel(self._calls, batch, reason)

    async def rerun(self, batch: str) -> Batch:
        """Runs the items again that have not succeeded."""
        return await steps.rerun(self._calls, batch)
