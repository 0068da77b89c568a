"""A sandbox of Airflow's agents (apache-airflow-providers-common-ai): `SandboxToolset(HotcellSandboxBackend())`. Every command
runs in a fresh sealed cell, in a folder that the commands of a sandbox share."""

from __future__ import annotations

import threading
import uuid
from typing import Any, Optional

from airflow.providers.common.ai.sandbox.base import (
    SandboxBackend,
    SandboxError,
    SandboxExecResult,
    SandboxSpec,
    SandboxTerminalError,
)

from hotcell.command_folder import CommandFolder
from hotcell.failures import HotcellError


class HotcellSandboxBackend(SandboxBackend):  # type: ignore[misc]
    """`options` are those of CommandFolder: policy, image, inputs, url, api_key."""

    name = "hotcell"

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._folders: dict[str, CommandFolder] = {}
        self._lock = threading.Lock()

    def create(self, *, spec: Optional[SandboxSpec] = None) -> str:
        asked = spec or SandboxSpec()
        refused = [
            what
            for what, is_asked in {
                "a network (a cell has none)": not asked.block_network,
                "hosts to reach (a cell has no network)": bool(asked.allow_egress_to or asked.allow_egress_to_cidrs),
                "variables of the environment (the policy decides which a run may set)": bool(asked.env),
                "an owner (no other task can attach to this sandbox)": asked.owner is not None,
            }.items()
            if is_asked
        ]
        if refused:
            raise SandboxTerminalError(f"Hotcell gives no sandbox with {', '.join(refused)}.")
        sandbox = f"hotcell-{uuid.uuid4()}"
        folder = CommandFolder(**self._options)
        with self._lock:
            self._folders[sandbox] = folder
        return sandbox

    def destroy(self, sandbox: str) -> None:
        with self._lock:
            folder = self._folders.pop(sandbox, None)
        if folder:
            folder.close()

    def run_command(self, sandbox: str, command: str, *, timeout: float, max_output_bytes: int) -> SandboxExecResult:
        try:
            ran = self._folder(sandbox).run(command, timeout=timeout)
        except HotcellError as error:
            # What is wrong with the command comes as a result: this is the platform's failure.
            raise SandboxTerminalError(str(error)) from error
        stdout, stdout_cut = _cut(ran.stdout, max_output_bytes)
        stderr, stderr_cut = _cut(ran.stderr + ran.said, max_output_bytes)
        return SandboxExecResult(
            exit_code=ran.exit_code,
            stdout=stdout,
            stderr=stderr,
            timed_out=ran.timed_out,
            stdout_truncated=stdout_cut or ran.truncated,
            stderr_truncated=stderr_cut or ran.truncated,
            applied_timeout=float(max(1, round(timeout))),
        )

    def write_file(self, sandbox: str, path: str, content: bytes) -> None:
        """Of any size: it does not travel in a command."""
        try:
            self._folder(sandbox).write(path, content)
        except (HotcellError, OSError) as error:
            raise SandboxError(f"{path!r} can't be written: {error}") from error

    def _folder(self, sandbox: str) -> CommandFolder:
        with self._lock:
            folder = self._folders.get(sandbox)
        if folder is None:
            raise SandboxTerminalError(f"There is no sandbox {sandbox}: it was destroyed, or made by another process.")
        return folder


def _cut(text: str, most: int) -> tuple[str, bool]:
    data = text.encode()
    return (text, False) if len(data) <= most else (data[:most].decode(errors="ignore"), True)
