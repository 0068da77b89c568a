"""A sandbox of deepagents (LangChain) whose commands run in sealed cells. Its folder is /outputs/workspace; of a command
nothing else is kept."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from deepagents.backends.protocol import ExecuteResponse, FileDownloadResponse, FileOperationError, FileUploadResponse
from deepagents.backends.sandbox import BaseSandbox

from hotcell.command_folder import CommandFolder, cell_folder
from hotcell.failures import HotcellError

# For a system prompt: where files have to be for the next command to find them.
folder = cell_folder


class HotcellSandbox(BaseSandbox):  # type: ignore[misc]
    """`options` are those of CommandFolder: work_dir, policy, image, inputs, timeout, url, api_key."""

    def __init__(self, **options: Any) -> None:
        self._id = f"hotcell-{uuid.uuid4()}"
        self.commands = CommandFolder(**options)

    @property
    def id(self) -> str:
        return self._id

    def close(self) -> None:
        self.commands.close()

    def execute(self, command: str, *, timeout: int | None = None) -> ExecuteResponse:
        ran = self.commands.run(command, timeout=timeout)
        return ExecuteResponse(output=ran.output + ran.said, exit_code=ran.exit_code, truncated=ran.truncated)

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        def upload(path: str, content: bytes) -> FileOperationError | None:
            _, error = _attempt(lambda: self.commands.write(path, content))
            return error

        return [FileUploadResponse(path=path, error=upload(path, content)) for path, content in files]

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        def download(path: str) -> FileDownloadResponse:
            content, error = _attempt(lambda: self.commands.read(path))
            return FileDownloadResponse(path=path, content=content, error=error)

        return [download(path) for path in paths]


def _attempt(work: Callable[[], Any]) -> tuple[Any, FileOperationError | None]:
    """deepagents wants a word for each file instead of an exception."""
    try:
        return work(), None
    except FileNotFoundError:
        return None, "file_not_found"
    except IsADirectoryError:
        return None, "is_directory"
    except OSError:
        return None, "permission_denied"
    except HotcellError:
        return None, "invalid_path"
