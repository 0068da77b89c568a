"""Runs that follow each other, for a program with an event loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Optional

from hotcell import workflow_steps as steps
from hotcell.calls import Calls

if TYPE_CHECKING:
    from hotcell.workflow_answers import Workflow, WorkflowPage


class AsyncWorkflows:
    """
    >>> await hotcell.workflows.begin("nightly", {"extract": {"code": e}, "load": {"code": l, "needs": ["extract"]}})

    `docs/workflows.md` says what steps can do. Its runs have the rights of this client's key.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def begin(
        self,
        name: str,
        steps_by_name: Mapping[str, Mapping[str, Any]],
        *,
        parallel: Optional[int] = None,
        callback: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Workflow:
        """A step has needs, on_failed_need, when, over and reuse, and what a run takes: code or blocks, inputs, policy."""
        return await steps.begin(
            self._calls, name, steps_by_name, parallel=parallel, callback=callback, idempotency_key=idempotency_key
        )

    async def show(self, workflow: str) -> Workflow:
        return await steps.show(self._calls, workflow)

    async def end(self, workflow: str, timeout: Optional[float] = None) -> Workflow:
        """Waits until it has ended. WaitTimeout ends only the waiting."""
        return await steps.end(self._calls, workflow, timeout)

    async def list(self, **query: Any) -> WorkflowPage:
        """A page of workflows, the newest first: limit, cursor."""
        return await steps.listed(self._calls, query)

    async def cancel(self, workflow: str, reason: Optional[str] = None) -> Workflow:
        """Its runs are cancelled, and no more are begun."""
        return await steps.cancel(self._calls, workflow, reason)

    async def rerun(self, workflow: str, from_step: Optional[str] = None) -> Workflow:
        """What did not succeed again; with `from_step`, that step and all that come after it, too."""
        return await steps.rerun(self._calls, workflow, from_step)
