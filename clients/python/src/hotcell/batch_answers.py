"""Generated from the description of the API by test/docs/generate.ts: do not edit."""

from datetime import datetime
from typing import Literal, Optional

from hotcell.answer import Answer


class BatchCounts(Answer):
    succeeded: int
    failed: int
    cancelled: int
    skipped: int


class BatchProblem(Answer):
    code: str
    message: str


class BatchRules(Answer):
    parallel: int
    on_failure: Literal["continue", "stop", "cancel"]
    publish: Optional[str] = None


class BatchAuthor(Answer):
    key: str
    role: str


class BatchPolicy(Answer):
    name: str
    digest: str


class BatchImage(Answer):
    ref: str
    digest: str


class BatchCancelled(Answer):
    at: datetime
    by: str
    reason: str


class BatchManifest(Answer):
    sha256: str
    bytes: int


class BatchEvidence(Answer):
    sha256: str


class BatchPublished(Answer):
    name: str
    snapshot: Optional[str] = None
    problem: Optional[str] = None


class Batch(Answer):
    batch: str
    name: Optional[str]
    state: Literal["listing", "running", "succeeded", "failed", "cancelled"]
    reason: str
    items: Optional[int]
    counts: BatchCounts
    running: int
    waiting: int
    rate_per_second: Optional[float]
    estimate: Optional[datetime]
    problem: Optional[BatchProblem] = None
    rules: BatchRules
    callback: Optional[str] = None
    round: int
    author: BatchAuthor
    policy: BatchPolicy
    image: BatchImage
    over: Optional[str]
    created_at: datetime
    ended_at: Optional[datetime]
    cancelled: Optional[BatchCancelled] = None
    manifest: Optional[BatchManifest] = None
    evidence: Optional[BatchEvidence] = None
    published: Optional[BatchPublished] = None


class BatchPage(Answer):
    batches: list[Batch]
    next: Optional[str]


class BatchItem(Answer):
    item: int
    round: int
    run: Optional[str]
    outcome: Optional[Literal["succeeded", "failed", "timed_out", "out_of_memory", "output_exceeded", "cancelled", "rejected", "lost"]]
    exit_code: Optional[int]
    reason: str
    result: Optional[str]
    outputs: Optional[str]
    state: Literal["waiting", "running", "ended", "skipped"]


class BatchItemPage(Answer):
    items: list[BatchItem]
    next: Optional[str]
