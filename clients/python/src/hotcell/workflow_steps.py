"""The steps of workflows, for both kinds of connection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Optional
from urllib.parse import quote

from hotcell.asking import camel, key_of
from hotcell.calls import Calls, posted
from hotcell.polling import until
from hotcell.steps import blocks_of, request_with_inputs
from hotcell.wire import Asked

if TYPE_CHECKING:
    from hotcell.workflow_answers import Workflow, WorkflowPage

_rules = {"needs", "on_failed_need", "when", "over", "reuse"}
_code = {"code", "language", "blocks"}


def _at(workflow: str, action: str = "") -> str:
    return f"/v1/workflows/{quote(workflow, safe='')}{action}"


async def _step(calls: Calls, asked: Mapping[str, Any]) -> dict[str, Any]:
    if "idempotency_key" in asked:
        raise TypeError("a step has no idempotency_key: pass it to begin, for the whole workflow")
    rules = {camel(name): value for name, value in asked.items() if name in _rules and value is not None}
    options = {name: value for name, value in asked.items() if name not in _rules | _code}
    blocks = blocks_of(asked.get("code"), asked.get("language", "python"), asked.get("blocks"))
    return {**rules, "run": await request_with_inputs(calls, blocks, options)}


async def begin(
    calls: Calls,
    name: str,
    steps: Mapping[str, Mapping[str, Any]],
    *,
    parallel: Optional[int],
    callback: Optional[str],
    idempotency_key: Optional[str],
) -> Workflow:
    from hotcell.workflow_answers import Workflow

    key = {"idempotency-key": key_of({"idempotency_key": idempotency_key})}
    body: dict[str, Any] = {"name": name, "steps": {one: await _step(calls, asked) for one, asked in steps.items()}}
    if parallel is not None:
        body["parallel"] = parallel
    if callback is not None:
        body["callback"] = callback
    return await calls.read(Workflow, posted("/v1/workflows", body, key))


async def show(calls: Calls, workflow: str) -> Workflow:
    from hotcell.workflow_answers import Workflow

    return await calls.read(Workflow, Asked("GET", _at(workflow)))


async def end(calls: Calls, workflow: str, timeout: Optional[float]) -> Workflow:
    return await until(
        calls, lambda: show(calls, workflow), lambda one: one.outcome is not None, f"Workflow {workflow}", timeout
    )


async def listed(calls: Calls, query: Mapping[str, Any]) -> WorkflowPage:
    from hotcell.workflow_answers import WorkflowPage

    return await calls.read(WorkflowPage, Asked("GET", "/v1/workflows", query=dict(query)))


async def cancel(calls: Calls, workflow: str, reason: Optional[str]) -> Workflow:
    from hotcell.workflow_answers import Workflow

    body = {} if reason is None else {"reason": reason}
    return await calls.read(Workflow, posted(_at(workflow, "/cancel"), body), again=False)


async def rerun(calls: Calls, workflow: str, from_step: Optional[str]) -> Workflow:
    from hotcell.workflow_answers import Workflow

    body = {} if from_step is None else {"from": from_step}
    return await calls.read(Workflow, posted(_at(workflow, "/rerun"), body), again=False)
