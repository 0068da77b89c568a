"""Generated from the description of the API by test/docs/generate.ts: do not edit."""

from datetime import datetime
from typing import Any, Literal, Optional, Union

from hotcell.answer import Answer


class Receipt(Answer):
    payload: str
    payload_type: str
    signatures: list[Any]


class AcceptedRun(Answer):
    run: str
    status: Literal["queued"]
    warnings: Optional[list[str]] = None
    receipt: Optional[Receipt] = None


class Waiting(Answer):
    code: str
    message: str
    position: Optional[int]


class ListedRun(Answer):
    run: str
    tenant: str
    name: Optional[str]
    status: Literal["awaiting_approval", "queued", "staging", "running", "publishing", "finished"]
    outcome: Optional[Literal["succeeded", "failed", "timed_out", "out_of_memory", "output_exceeded", "cancelled", "rejected", "lost"]]
    reason: str
    exit_code: Optional[int]
    policy: Optional[str]
    queue: Optional[str]
    requester: str
    labels: dict[str, str]
    inputs: list[str]
    accepted_at: str
    finished_at: Optional[str]
    waiting: Optional[Waiting] = None


class RunPage(Answer):
    runs: list[ListedRun]
    next: Optional[str]
    incomplete: Optional[str] = None


class LogRow(Answer):
    seq: int
    at: datetime
    block: int
    stream: Literal["stdout", "stderr"]
    text: Optional[str] = None
    base64: Optional[str] = None
    dropped: Optional[int] = None
    omitted: Optional[int] = None


class ResultBlockUsage(Answer):
    wall_ms: int
    cpu_ms: int
    peak_memory_bytes: int
    log_bytes: int


class ResultBlock(Answer):
    index: int
    language: Optional[str]
    file: Optional[str]
    exit_code: Optional[int]
    signal: Optional[str]
    outcome: Optional[Literal["succeeded", "failed", "timed_out", "out_of_memory", "output_exceeded", "cancelled", "rejected", "lost"]]
    started_at: Optional[datetime]
    finished_at: Optional[datetime]
    usage: Optional[ResultBlockUsage] = None


class ResultPolicy(Answer):
    name: str
    digest: str


class ResultImage(Answer):
    ref: str
    digest: str


class ResultInput(Answer):
    name: str
    snapshot: str
    locations: Optional[str] = None


class ResultRequester(Answer):
    key: str
    role: Literal["admin", "submitter", "reader"]


class ResultLimits(Answer):
    timeout_seconds: int
    block_timeout_seconds: int
    grace_seconds: int
    memory_bytes: int
    cpus: float
    pids: int
    open_files: int
    file_bytes: int
    log_bytes: int
    output_bytes: int
    output_files: int
    scratch_bytes: int
    scratch_inodes: int


class ResultUsage(Answer):
    wall_ms: int
    cpu_ms: int
    peak_memory_bytes: int
    log_bytes: int
    output_bytes: int
    output_files: int


class RunOutputsFile(Answer):
    path: str
    size: int
    sha256: str


class RunOutputsRefused(Answer):
    path: str
    reason: str


class RunOutputs(Answer):
    snapshot: Optional[str]
    files: list[RunOutputsFile]
    refused: list[RunOutputsRefused]


class ResultLogs(Answer):
    sha256: Optional[str]
    bytes: int
    truncated: bool


class ResultAttemptError(Answer):
    code: str
    message: str


class ResultAttempt(Answer):
    attempt: int
    worker: str
    claim: Optional[str] = None
    started_at: datetime
    finished_at: Optional[datetime]
    outcome: Optional[Literal["succeeded", "failed", "timed_out", "out_of_memory", "output_exceeded", "cancelled", "rejected", "lost"]] = None
    error: Optional[ResultAttemptError] = None
    evidence: Optional[str] = None


class ResultTimings(Answer):
    accepted_at: datetime
    finished_at: datetime
    queued_ms: int
    staged_ms: int
    sealed_ms: int
    ran_ms: int
    committed_ms: int
    warm: bool
    cold: Optional[str] = None
    preload: Optional[str] = None
    fresh: Optional[str] = None


class ResultWorkspaceRefused(Answer):
    path: str
    reason: str


class ResultWorkspaceChangesPath(Answer):
    path: str
    change: Literal["added", "changed", "removed"]


class ResultWorkspaceChanges(Answer):
    added: int
    changed: int
    removed: int
    paths: list[ResultWorkspaceChangesPath]


class ResultWorkspace(Answer):
    before: str
    locations: str
    after: Optional[str]
    files: int
    bytes: int
    refused: list[ResultWorkspaceRefused]
    changes: Optional[ResultWorkspaceChanges]
    lost: Optional[str] = None


class ResultError(Answer):
    path: str
    message: str


class ResultEvidence(Answer):
    bundle: str
    sha256: str


class Result(Answer):
    version: Literal[1]
    run: str
    tenant: str
    status: Literal["finished"]
    outcome: Literal["succeeded", "failed", "timed_out", "out_of_memory", "output_exceeded", "cancelled", "rejected", "lost"]
    reason: str
    exit_code: Optional[int]
    blocks: list[ResultBlock]
    spec: Optional[str]
    policy: Optional[ResultPolicy]
    image: Optional[ResultImage]
    runtime: Optional[Literal["runc", "gvisor"]]
    inputs: list[ResultInput]
    labels: dict[str, str]
    callback: Optional[str] = None
    requester: ResultRequester
    limits: Optional[ResultLimits]
    usage: ResultUsage
    outputs: RunOutputs
    logs: ResultLogs
    posture: Any
    attempts: list[ResultAttempt]
    timings: ResultTimings
    warnings: list[str]
    steps: Optional[Any] = None
    workspace: Optional[ResultWorkspace] = None
    errors: Optional[list[ResultError]] = None
    evidence: Optional[ResultEvidence] = None
    receipt: Optional[Receipt] = None
    stdout: Optional[str] = None
    stderr: Optional[str] = None
    truncated: Optional[bool] = None


class RunEventStatus(Answer):
    type: Literal["status"]
    status: Literal["awaiting_approval", "queued", "staging", "running", "publishing", "finished"]
    reason: Optional[str] = None


class RunEventLog(Answer):
    seq: int
    at: datetime
    block: int
    stream: Literal["stdout", "stderr"]
    text: Optional[str] = None
    base64: Optional[str] = None
    dropped: Optional[int] = None
    type: Literal["log"]


class RunEventResult(Answer):
    type: Literal["result"]
    result: Result


RunEvent = Union[RunEventStatus, RunEventLog, RunEventResult]
