"""Generated from the description of the API by test/docs/generate.ts: do not edit."""

from datetime import datetime
from typing import Literal, Optional

from hotcell.answer import Answer


class WorkflowAuthor(Answer):
    key: str
    role: Literal["admin", "submitter", "reader"]


class WorkflowStepTask(Answer):
    name: str
    state: Literal["waiting", "running", "succeeded", "reused", "failed", "refused", "cancelled"]
    run: Optional[str]


class WorkflowStep(Answer):
    name: str
    state: Literal["waiting", "running", "succeeded", "failed", "skipped", "cancelled"]
    reason: str
    tasks: list[WorkflowStepTask]
    after: list[str]


class Workflow(Answer):
    workflow: str
    name: str
    at: datetime
    outcome: Optional[Literal["succeeded", "failed", "cancelled"]]
    reason: str
    ended_at: Optional[datetime]
    author: WorkflowAuthor
    parallel: int
    from_: Optional[str] = None
    callback: Optional[str] = None
    problem: Optional[str] = None
    steps: list[WorkflowStep]


class ListedWorkflow(Answer):
    workflow: str
    name: str
    at: datetime
    outcome: Optional[Literal["succeeded", "failed", "cancelled"]]
    reason: str


class WorkflowPage(Answer):
    workflows: list[ListedWorkflow]
    next: Optional[str]
