"""What AutoGen keeps of an executor, and what it is told of a call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Optional

from autogen_core.code_executor import CodeResult
from pydantic import BaseModel


@dataclass
class HotcellCodeResult(CodeResult):
    """`run` is the id of the recorded run; `not_kept` names what did not come back to work_dir, with reasons."""

    code_file: Optional[str]
    run: Optional[str] = None
    not_kept: Sequence[tuple[str, str]] = ()


class HotcellCommandLineCodeExecutorConfig(BaseModel):
    """The fields of DockerCommandLineCodeExecutorConfig, and ours. Never the API key."""

    image: Optional[str] = None
    container_name: Optional[str] = None
    timeout: int = 60
    work_dir: Optional[str] = None
    bind_dir: Optional[str] = None
    auto_remove: bool = True
    stop_container: bool = True
    functions_module: str = "functions"
    extra_volumes: dict[str, dict[str, str]] = {}
    extra_hosts: dict[str, str] = {}
    init_command: Optional[str] = None
    delete_tmp_files: bool = False
    policy: Optional[str] = None
    inputs: dict[str, str] = {}
    url: Optional[str] = None
