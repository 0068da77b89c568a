"""Generated from the description of the API by test/docs/generate.ts: do not edit."""

from datetime import datetime
from typing import Literal, Optional

from hotcell.answer import Answer


class CreatedSnapshot(Answer):
    id: str
    name: Optional[str] = None
    files: int
    bytes: int
    locations: str


class SnapshotEntry(Answer):
    path: str
    size: int
    sha256: str


class SnapshotDetail(Answer):
    id: str
    names: list[str]
    locations: str
    files: int
    bytes: int
    mode: Literal["copy", "reference"]
    source: str
    by: str
    at: datetime
    entries: list[SnapshotEntry]


class Upload(Answer):
    upload: str
    missing: list[str]


class ProblemError(Answer):
    path: str
    message: str


class Problem(Answer):
    type: str
    title: str
    status: int
    code: str
    detail: str
    errors: list[ProblemError]
    request_id: str
    retryable: bool
