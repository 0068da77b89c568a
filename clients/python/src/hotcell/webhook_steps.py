"""The steps of webhooks, for both kinds of connection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from hotcell.calls import Calls, posted
from hotcell.schedule_steps import moment
from hotcell.wire import Asked

if TYPE_CHECKING:
    from hotcell.webhook_answers import DeliveryPage, Webhook, WebhookCallbacks, WebhookDelivery


def _at(webhook: str, action: str = "") -> str:
    return f"/v1/webhooks/{quote(webhook, safe='')}{action}"


async def create(calls: Calls, url: str, on: Sequence[str]) -> Webhook:
    from hotcell.webhook_answers import Webhook

    # Not repeated: a second one would get every event, too.
    return await calls.read(Webhook, posted("/v1/webhooks", {"url": url, "on": list(on)}), again=False)


async def listed(calls: Calls) -> list[Webhook]:
    from hotcell.webhook_answers import Webhooks

    return (await calls.read(Webhooks, Asked("GET", "/v1/webhooks"))).webhooks


async def callbacks(calls: Calls) -> WebhookCallbacks:
    from hotcell.webhook_answers import WebhookCallbacks

    return await calls.read(WebhookCallbacks, Asked("GET", "/v1/webhooks/callbacks"))


async def deliveries(calls: Calls, webhook: str, query: Mapping[str, Any]) -> DeliveryPage:
    from hotcell.webhook_answers import DeliveryPage

    return await calls.read(DeliveryPage, Asked("GET", _at(webhook, "/deliveries"), query=dict(query)))


async def redeliver(calls: Calls, webhook: str, delivery: WebhookDelivery) -> WebhookDelivery:
    from hotcell.webhook_answers import WebhookDelivery

    path = _at(webhook, f"/deliveries/{quote(delivery.event, safe='')}/redeliver")
    asked = Asked("POST", path, query={"at": moment(delivery.at)})
    return await calls.read(WebhookDelivery, asked, again=False)


async def remove(calls: Calls, webhook: str) -> None:
    await calls.ask(Asked("DELETE", _at(webhook)), again=False)
