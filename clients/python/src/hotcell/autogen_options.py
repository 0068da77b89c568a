"""Options of AutoGen's Docker executor that a sealed cell can't have: refused by name, with the way to do it here."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, Optional

# AutoGen's own default means ours, so that an old dump loads.
their_image = "python:3-slim"
_elsewhere = {
    "extra_volumes": "A cell sees no folder of the host. Freeze it with Hotcell().snapshot(path) and pass "
    'inputs={"name": snapshot.id}: it is at /inputs/name.',
    "extra_hosts": "A cell has no network. Freeze the data as a snapshot and pass it as inputs.",
    "init_command": "Every call has a cell of its own. Put the command into the first code block, or into an image of "
    "your own (./hotcell image build).",
    "device_requests": "A cell has no devices of the host.",
}


def refuse_options(**given: Any) -> None:
    for name, value in given.items():
        if value:
            raise ValueError(f"{name} is not available in a sealed cell. {_elsewhere[name]}")


def warn_of_options(auto_remove: bool, stacklevel: int) -> None:
    if not auto_remove:
        warnings.warn(
            "auto_remove=False has no effect: nothing of a cell is kept after a call. Its record is (see result.run).",
            UserWarning,
            stacklevel=stacklevel,
        )


def judge_work_dir(work_dir: Optional[Path], bind_dir: Optional[Path], stacklevel: int) -> None:
    if bind_dir is not None and (work_dir is None or bind_dir.resolve() != work_dir.resolve()):
        raise ValueError(
            "bind_dir has to be work_dir: no folder of the host is mounted into a cell, so there is only one. Leave it out."
        )
    if work_dir is not None and work_dir.resolve() == Path.cwd().resolve():
        warnings.warn(
            "Using the current directory as work_dir is deprecated.", DeprecationWarning, stacklevel=stacklevel
        )
