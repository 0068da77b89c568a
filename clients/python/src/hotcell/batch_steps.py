"""The steps of batches, for both kinds of connection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Optional
from urllib.parse import quote

from hotcell.asking import camel, key_of
from hotcell.calls import Calls, posted
from hotcell.freezing import freeze, is_local
from hotcell.polling import until
from hotcell.steps import blocks_of, request_with_inputs
from hotcell.wire import Asked

if TYPE_CHECKING:
    from hotcell.batch_answers import Batch, BatchItemPage, BatchPage

_own = {"name", "parallel", "on_failure", "publish", "callback"}
_code = {"code", "language", "blocks"}


def _at(batch: str, action: str = "") -> str:
    return f"/v1/batches/{quote(batch, safe='')}{action}"


async def create(calls: Calls, over: Mapping[str, Any], asked: Mapping[str, Any]) -> Batch:
    from hotcell.batch_answers import Batch

    key = {"idempotency-key": key_of(asked)}
    own = {camel(name): value for name, value in asked.items() if name in _own and value is not None}
    options = {name: value for name, value in asked.items() if name not in _own | _code}
    blocks = blocks_of(asked.get("code"), asked.get("language", "python"), asked.get("blocks"))
    # What is local is frozen first.
    pinned = {name: (await freeze(calls, one, None)).id if is_local(one) else one for name, one in over.items()}
    body = {"over": pinned, "run": await request_with_inputs(calls, blocks, options), **own}
    return await calls.read(Batch, posted("/v1/batches", body, key))


async def show(calls: Calls, batch: str) -> Batch:
    from hotcell.batch_answers import Batch

    return await calls.read(Batch, Asked("GET", _at(batch)))


async def end(calls: Calls, batch: str, timeout: Optional[float]) -> Batch:
    return await until(calls, lambda: show(calls, batch), lambda one: one.ended_at is not None, f"Batch {batch}", timeout)


async def listed(calls: Calls, query: Mapping[str, Any]) -> BatchPage:
    from hotcell.batch_answers import BatchPage

    return await calls.read(BatchPage, Asked("GET", "/v1/batches", query=dict(query)))


async def items(calls: Calls, batch: str, unsuccessful: bool, cursor: Optional[str]) -> BatchItemPage:
    from hotcell.batch_answers import BatchItemPage

    query = {**({"unsuccessful": "true"} if unsuccessful else {}), **({"cursor": cursor} if cursor else {})}
    return await calls.read(BatchItemPage, Asked("GET", _at(batch, "/items"), query=query))


async def cancel(calls: Calls, batch: str, reason: Optional[str]) -> Batch:
    from hotcell.batch_answers import Batch

    body = {} if reason is None else {"reason": reason}
    return await calls.read(Batch, posted(_at(batch, "/cancel"), body), again=False)


async def rerun(calls: Calls, batch: str) -> Batch:
    from hotcell.batch_answers import Batch

    return await calls.read(Batch, Asked("POST", _at(batch, "/rerun")), again=False)
