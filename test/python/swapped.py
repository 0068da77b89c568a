"""The classes that AutoGen's tests name."""

from typing import Any

from hotcell.autogen import HotcellCommandLineCodeExecutor as DockerCommandLineCodeExecutor
from hotcell.autogen import HotcellJupyterCodeExecutor
from hotcell.autogen_jupyter_config import HotcellJupyterCodeResult as JupyterCodeResult

JupyterCodeExecutor = HotcellJupyterCodeExecutor
__all__ = ["DockerCommandLineCodeExecutor", "JupyterCodeExecutor", "JupyterCodeResult"]


class LocalCommandLineCodeExecutor(DockerCommandLineCodeExecutor):
    """Its option for removing code files has another name, and is on by default."""

    component_provider_override = "swapped.LocalCommandLineCodeExecutor"

    def __init__(self, *, cleanup_temp_files: bool = True, **options: Any) -> None:
        super().__init__(**{"delete_tmp_files": cleanup_temp_files, **options})


class DockerJupyterServer:
    """There is none: what is left of it is the folder for pictures."""

    def __init__(self, *, bind_dir: str | None = None) -> None:
        self.bind_dir = bind_dir

    async def __aenter__(self) -> "DockerJupyterServer":
        return self

    async def __aexit__(self, *_: object) -> None:
        pass


class DockerJupyterCodeExecutor(HotcellJupyterCodeExecutor):
    def __init__(self, *, jupyter_server: DockerJupyterServer, **options: Any) -> None:
        super().__init__(output_dir=jupyter_server.bind_dir, **options)
