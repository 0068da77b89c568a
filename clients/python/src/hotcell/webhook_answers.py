"""Generated from the description of the API by test/docs/generate.ts: do not edit."""

from datetime import datetime
from typing import Literal, Optional, Union

from hotcell.answer import Answer


class WebhookDisabled(Answer):
    at: datetime
    reason: str


class Webhook(Answer):
    id: str
    url: str
    on: list[Literal["run.finished", "batch.finished", "workflow.finished", "schedule.paused", "schedule.refused", "schedule.missed"]]
    created_at: datetime
    public_key: str
    disabled: Optional[WebhookDisabled] = None


class Webhooks(Answer):
    webhooks: list[Webhook]


class WebhookCallbacks(Answer):
    id: str
    public_key: str
    created_at: datetime


class WebhookDeliveryAttempt(Answer):
    at: datetime
    ms: int
    status: Optional[int]
    said: str


class WebhookDelivery(Answer):
    event: str
    url: Optional[str] = None
    type: Literal["run.finished", "batch.finished", "workflow.finished", "schedule.paused", "schedule.refused", "schedule.missed"]
    at: datetime
    data: dict[str, Optional[Union[str, float]]]
    state: Literal["due", "delivered", "failed", "dropped"]
    next_at: Optional[datetime]
    attempts: list[WebhookDeliveryAttempt]


class DeliveryPage(Answer):
    deliveries: list[WebhookDelivery]
    next: Optional[str]
