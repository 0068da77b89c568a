"""What AutoGen keeps of a Jupyter executor, and what it is told of a call."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional

from autogen_core.code_executor import CodeResult
from pydantic import BaseModel


@dataclass
class HotcellJupyterCodeResult(CodeResult):
    """`run` is the id of the recorded session. AutoGen compares results by the other fields."""

    output_files: list[Path]
    run: Optional[str] = field(default=None, compare=False)


class HotcellJupyterCodeExecutorConfig(BaseModel):
    """The fields of JupyterCodeExecutorConfig, and ours. Never the API key."""

    kernel_name: str = "python3"
    timeout: int = 60
    output_dir: Optional[str] = None
    policy: Optional[str] = None
    image: Optional[str] = None
    inputs: dict[str, str] = {}
    url: Optional[str] = None
