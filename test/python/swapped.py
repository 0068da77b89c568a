"""The classes that AutoGen's tests name."""

from typing import Any

from hotcell.autogen import HotcellCommandLineCodeExecutor as DockerCommandLineCodeExecutor


class LocalCommandLineCodeExecutor(DockerCommandLineCodeExecutor):
    """Its option for removing code files has another name, and is on by default."""

    component_provider_override = "swapped.LocalCommandLineCodeExecutor"

    def __init__(self, *, cleanup_temp_files: bool = True, **options: Any) -> None:
        super().__init__(**{"delete_tmp_files": cleanup_temp_files, **options})
