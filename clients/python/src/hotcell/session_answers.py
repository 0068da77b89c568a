"""Generated from the description of the API by test/docs/generate.ts: do not edit."""

from datetime import datetime
from typing import Literal, Optional

from hotcell.answer import Answer


class StepError(Answer):
    name: str
    message: str


class StepUsage(Answer):
    wall_ms: int
    cpu_ms: int
    peak_memory_bytes: int
    log_bytes: int


class StepOutput(Answer):
    kind: Literal["result", "display"]
    display: Optional[int] = None
    type: Optional[str] = None
    size: int
    sha256: str
    text: Optional[str] = None


class StepRefused(Answer):
    path: str
    reason: str


class Step(Answer):
    run: str
    index: int
    status: Literal["queued", "running", "finished"]
    step: str
    code: str
    language: Optional[str]
    at: datetime
    outcome: Optional[Literal["succeeded", "failed", "timed_out", "out_of_memory", "output_exceeded", "cancelled", "rejected", "lost"]]
    reason: str
    exit_code: Optional[int]
    signal: Optional[str]
    said_by: Optional[Literal["cell", "job"]]
    started_at: Optional[datetime]
    finished_at: Optional[datetime]
    error: Optional[StepError] = None
    interpreter: Optional[int] = None
    warnings: Optional[list[str]] = None
    usage: Optional[StepUsage] = None
    outputs: list[StepOutput]
    refused: list[StepRefused]
    stdout: Optional[str] = None
    stderr: Optional[str] = None
    truncated: Optional[bool] = None
