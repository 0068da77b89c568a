"""Events that are sent to an address, for a program with an event loop."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hotcell import webhook_steps as steps
from hotcell.calls import Calls

if TYPE_CHECKING:
    from hotcell.webhook_answers import DeliveryPage, Webhook, WebhookCallbacks, WebhookDelivery


class AsyncWebhooks:
    """
    >>> await hotcell.webhooks.create("https://example.com/ends", ["run.finished"])

    `docs/webhooks.md` says what is sent, and how to check it.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def create(self, url: str, on: Sequence[str]) -> Webhook:
        return await steps.create(self._calls, url, on)

    async def list(self) -> builtins.list[Webhook]:
        return await steps.listed(self._calls)

    async def callbacks(self) -> WebhookCallbacks:
        """The key by which callbacks are signed. Their deliveries are those of the webhook "callbacks"."""
        return await steps.callbacks(self._calls)

    async def deliveries(self, webhook: str, **query: Any) -> DeliveryPage:
        """A page of what was sent, the newest first: limit, cursor."""
        return await steps.deliveries(self._calls, webhook, query)

    async def redeliver(self, webhook: str, delivery: WebhookDelivery) -> WebhookDelivery:
        """Sends an event again, from the first try on."""
        return await steps.redeliver(self._calls, webhook, delivery)

    async def remove(self, webhook: str) -> None:
        """Sends nothing there any more."""
        await steps.remove(self._calls, webhook)
