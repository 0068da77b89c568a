"""Generated from the description of the API by test/docs/generate.ts: do not edit."""

from datetime import datetime
from typing import Literal, Optional

from hotcell.answer import Answer


class PolicyPagePolicy(Answer):
    name: str
    digest: str
    description: str
    runtime: Literal["runc", "gvisor"]
    images: list[str]
    languages: list[str]
    revoked: bool


class PolicyPageProblem(Answer):
    file: str
    line: float
    column: float
    message: str


class PolicyPage(Answer):
    policies: list[PolicyPagePolicy]
    problems: list[PolicyPageProblem]


class PolicyRevocation(Answer):
    version: Literal[1]
    policy: str
    reason: str
    by: str
    at: datetime


class PolicyImage(Answer):
    name: str
    ref: str
    digest: str
    packages: Optional[str] = None


class PolicyLanguage(Answer):
    name: str
    aliases: list[str]
    command: list[str]
    ending: str


class Bounds(Answer):
    min: int
    default: int
    max: int


class FractionBounds(Answer):
    min: float
    default: float
    max: float


class PolicyLimits(Answer):
    timeout_seconds: Bounds
    block_timeout_seconds: Bounds
    grace_seconds: Bounds
    memory_bytes: Bounds
    cpus: FractionBounds
    pids: Bounds
    open_files: Bounds
    file_bytes: Bounds
    log_bytes: Bounds
    output_bytes: Bounds
    output_files: Bounds
    scratch_bytes: Bounds
    scratch_inodes: Bounds


class PolicyInputs(Answer):
    count: int
    bytes: int
    files: int
    verify_each_use: bool


class PolicyOutputs(Answer):
    publish: list[str]


class PolicyLogs(Answer):
    past_limit: Literal["truncate", "stop"]


class PolicyEnv(Answer):
    job: list[str]
    image: list[str]


class PolicyLabels(Answer):
    required: list[str]


class PolicyApprovalWhen(Answer):
    languages: list[str]


class PolicyApproval(Answer):
    count: int
    by: list[Literal["admin", "submitter"]]
    when: Optional[PolicyApprovalWhen] = None


class PolicySessions(Answer):
    steps: int
    idle_seconds: int
    step_seconds: int
    lifetime_seconds: int
    memory_bytes: Optional[int] = None


class PolicyWorker(Answer):
    labels: list[str]


class PolicyRetention(Answer):
    mode: Literal["governance", "compliance"]
    days: int
    after: Optional[Literal["erase"]] = None


class PolicyPreload(Answer):
    name: str
    digest: str


class Policy(Answer):
    version: Literal[1]
    name: str
    description: str
    network: Literal["none"]
    runtime: Literal["runc", "gvisor"]
    images: list[PolicyImage]
    languages: list[PolicyLanguage]
    argv: bool
    limits: PolicyLimits
    inputs: PolicyInputs
    outputs: PolicyOutputs
    logs: PolicyLogs
    env: PolicyEnv
    labels: PolicyLabels
    priority: Bounds
    retries: int
    screening: bool
    approval: Optional[PolicyApproval] = None
    sessions: Optional[PolicySessions] = None
    worker: PolicyWorker
    retention: Optional[PolicyRetention] = None
    preload: Optional[PolicyPreload] = None
    seccomp: dict[str, str]


class PolicyView(Answer):
    name: str
    digest: str
    revoked: Optional[PolicyRevocation]
    policy: Policy
