"""Client of Hotcell, which runs agent-written code as sealed, auditable batch jobs."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hotcell.async_client import AsyncHotcell, AsyncRun
    from hotcell.async_session import AsyncSession
    from hotcell.client import Hotcell, Run
    from hotcell.failures import (
        ApiUnreachable,
        DamagedOutput,
        HotcellError,
        NotAllowed,
        NotAuthenticated,
        NotFound,
        Refused,
        RunFailed,
        RunLost,
        StepFailed,
        StepLost,
        TooMany,
        WaitTimeout,
    )
    from hotcell.finished import AsyncResult, Result
    from hotcell.session_client import Session
    from hotcell.session_step import AsyncStep, Step

# A name's module is imported when the name is first used: `import hotcell` itself loads neither httpx nor pydantic.
_homes = {
    "client": ["Hotcell", "Run"],
    "async_client": ["AsyncHotcell", "AsyncRun"],
    "session_client": ["Session"],
    "async_session": ["AsyncSession"],
    "session_step": ["AsyncStep", "Step"],
    "finished": ["AsyncResult", "Result"],
    "failures": [
        "ApiUnreachable",
        "DamagedOutput",
        "HotcellError",
        "NotAllowed",
        "NotAuthenticated",
        "NotFound",
        "Refused",
        "RunFailed",
        "RunLost",
        "StepFailed",
        "StepLost",
        "TooMany",
        "WaitTimeout",
    ],
}
_home_of = {name: home for home, names in _homes.items() for name in names}

__all__ = [
    "ApiUnreachable",
    "AsyncHotcell",
    "AsyncResult",
    "AsyncRun",
    "AsyncSession",
    "AsyncStep",
    "DamagedOutput",
    "Hotcell",
    "HotcellError",
    "NotAllowed",
    "NotAuthenticated",
    "NotFound",
    "Refused",
    "Result",
    "Run",
    "RunFailed",
    "RunLost",
    "Session",
    "Step",
    "StepFailed",
    "StepLost",
    "TooMany",
    "WaitTimeout",
]


def __getattr__(name: str) -> Any:
    home = _home_of.get(name)
    if home is None:
        raise AttributeError(f"module 'hotcell' has no attribute {name!r}")
    return getattr(importlib.import_module(f"hotcell.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
