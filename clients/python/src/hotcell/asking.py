"""A run as the API takes it, from what a caller of Python writes."""

from __future__ import annotations

import base64
import os
import re
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, Union

from hotcell.failures import HotcellError, Issue

FileContent = Union[str, bytes, "os.PathLike[str]"]


class RunOptions(TypedDict, total=False):
    """What can be asked of a run beside its code. The policy decides."""

    policy: str
    image: str
    # A snapshot's id or name, "RUN:outputs", "s3://bucket/prefix", a Path (it is frozen first) or a DataFrame.
    inputs: Mapping[str, Any]
    # Bundled with the code: by their paths in /work. A str is the text of the file, a Path names a local file.
    files: Mapping[str, FileContent]
    params: Any
    # For example {"timeout_seconds": 30, "memory_bytes": 2**30}; the names of the API work as well.
    limits: Mapping[str, float]
    env: Mapping[str, str]
    labels: Mapping[str, str]
    priority: int
    publish: str
    # What lies writable in /work at the start, as an input or "@empty"; and a name for what is there at the end.
    workspace: Any
    workspace_publish: str
    retry: Mapping[str, Any]
    not_before: str
    # An address that is told when the run has ended: docs/webhooks.md.
    callback: str
    idempotency_key: str


_renamed = {"not_before": "notBefore", "workspace_publish": "workspacePublish"}


def request_of(blocks: Sequence[Mapping[str, Any]], options: Mapping[str, Any]) -> dict[str, Any]:
    """Without inputs and workspace: they may have to be frozen first."""
    unknown = set(options) - set(RunOptions.__annotations__)
    if unknown:
        raise TypeError(f"unknown option {', '.join(sorted(unknown))}: use {', '.join(RunOptions.__annotations__)}")
    request: dict[str, Any] = {"blocks": [dict(block) for block in blocks]}
    for name, value in options.items():
        if value is None or name in ("inputs", "workspace", "idempotency_key"):
            continue
        if name == "files":
            request["files"] = [bundled(path, content) for path, content in value.items()]
        elif name == "limits":
            request["limits"] = {camel(limit): amount for limit, amount in value.items()}
        else:
            request[_renamed.get(name, name)] = value
    return request


_key_form = re.compile(r"[\x21-\x7e]{1,255}")


def key_of(options: Mapping[str, Any]) -> str:
    """The caller's own, or a new one. What no header can carry would look like an API that does not answer."""
    key = options.get("idempotency_key")
    if key is None:
        return new_key()
    if isinstance(key, str) and _key_form.fullmatch(key):
        return key
    message = "must be 1 to 255 printable ASCII characters without spaces"
    raise HotcellError("invalid", f"idempotency_key: {message}.", issues=[Issue("idempotency_key", message)])


def new_key() -> str:
    """Sent with every submission, so that one whose answer is lost can be sent again without a second run."""
    return f"py-{uuid.uuid4()}"


def bundled(path: str, content: FileContent) -> dict[str, str]:
    if isinstance(content, str):
        return {"path": path, "text": content}
    data = content if isinstance(content, bytes) else Path(content).read_bytes()
    return {"path": path, "base64": base64.b64encode(data).decode()}


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
