"""The steps of the client, for both kinds of connection."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional

from hotcell.asking import key_of, request_of
from hotcell.calls import Calls, parsed, posted
from hotcell.failures import HotcellError
from hotcell.freezing import freeze, is_local
from hotcell.wire import Asked

if TYPE_CHECKING:
    from hotcell.policy_answers import PolicyPage, PolicyView
    from hotcell.run_answers import AcceptedRun, RunPage


async def submit(calls: Calls, blocks: Sequence[Mapping[str, Any]], options: Mapping[str, Any]) -> AcceptedRun:
    from hotcell.run_answers import AcceptedRun

    key = key_of(options)
    request = await request_with_inputs(calls, blocks, options)
    return await calls.read(AcceptedRun, posted("/v1/runs", request, {"idempotency-key": key}))


async def request_with_inputs(
    calls: Calls, blocks: Sequence[Mapping[str, Any]], options: Mapping[str, Any]
) -> dict[str, Any]:
    """What is local is frozen first."""
    request = request_of(blocks, options)
    inputs = {name: await _input(calls, source) for name, source in (options.get("inputs") or {}).items()}
    workspace = options.get("workspace")
    work = {} if workspace is None else {"workspace": await _input(calls, workspace)}
    return {**request, **({"inputs": inputs} if inputs else {}), **work}


async def _input(calls: Calls, source: Any) -> str:
    if is_local(source):
        return (await freeze(calls, source, None)).id
    # A run names its outputs, a snapshot its id.
    named = getattr(source, "as_input", None) or getattr(source, "id", None)
    if isinstance(named, str):
        return named
    if isinstance(source, str):
        return source
    raise HotcellError(
        "invalid",
        f"An input can't be made from {type(source).__name__}.",
        hint="Pass a Path, a DataFrame, a snapshot, its id or name, RUN:outputs, or s3://bucket/prefix.",
    )


async def cancel(calls: Calls, run: str, reason: Optional[str]) -> None:
    """Again does no harm. A run that is finished already stays as it is."""
    try:
        await calls.ask(posted(f"/v1/runs/{run}/cancel", {} if reason is None else {"reason": reason}), again=True)
    except HotcellError as error:
        if error.code != "finished_already":
            raise


async def evidence(calls: Calls, run: str) -> bytes:
    """Byte for byte: the result names the sha256 of these bytes, and other tools read them."""
    return (await calls.ask(Asked("GET", f"/v1/runs/{run}/evidence"), again=True)).body


async def is_finished(calls: Calls, run: str) -> bool:
    answer = await calls.ask(Asked("GET", f"/v1/runs/{run}"), again=True)
    return bool(json.loads(answer.body).get("status") == "finished")


async def rerun(
    calls: Calls, run: str, latest_inputs: bool, inputs: Optional[Mapping[str, Any]], params: Optional[Mapping[str, Any]]
) -> AcceptedRun:
    from hotcell.run_answers import AcceptedRun

    asked: dict[str, Any] = {"latestInputs": latest_inputs} if latest_inputs else {}
    if inputs:
        asked["inputs"] = {name: await _input(calls, source) for name, source in inputs.items()}
    if params:
        asked["params"] = dict(params)
    # Not repeated: a second one would be a second run.
    return parsed(AcceptedRun, (await calls.ask(posted(f"/v1/runs/{run}/rerun", asked), again=False)).body)


async def runs(calls: Calls, query: Mapping[str, Any]) -> RunPage:
    from hotcell.run_answers import RunPage

    given = {name: value for name, value in query.items() if value is not None}
    return await calls.read(RunPage, Asked("GET", "/v1/runs", query=given))


async def policies(calls: Calls) -> PolicyPage:
    from hotcell.policy_answers import PolicyPage

    return await calls.read(PolicyPage, Asked("GET", "/v1/policies"))


async def policy(calls: Calls, name: str) -> PolicyView:
    from hotcell.policy_answers import PolicyView

    return await calls.read(PolicyView, Asked("GET", f"/v1/policies/{name}"))


def blocks_of(
    code: Optional[str], language: str, blocks: Optional[Sequence[Mapping[str, Any]]]
) -> Sequence[Mapping[str, Any]]:
    if (code is None) == (blocks is None):
        raise TypeError("pass either code or blocks")
    return [{"language": language, "code": code}] if blocks is None else blocks
