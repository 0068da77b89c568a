"""Code in a fresh sealed cell for each call, for frameworks that keep nothing between calls."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple, Optional

from hotcell.client import Hotcell, Run
from hotcell.failures import HotcellError, Refused
from hotcell.own_thread import in_thread


class Told(NamedTuple):
    """What a model is told of a run. The platform's failures are raised instead."""

    exit_code: int
    stdout: str
    stderr: str
    # Both streams as they were written, and behind them why Hotcell ended the run.
    output: str
    timed_out: bool
    truncated: bool
    seconds: float
    run: Optional[str]


_codes = {"timed_out": 124, "out_of_memory": 137, "output_exceeded": 153, "rejected": 126}


class OneRun:
    def __init__(
        self,
        *,
        policy: Optional[str] = None,
        image: Optional[str] = None,
        inputs: Optional[Mapping[str, Any]] = None,
        timeout: float = 60,
        url: Optional[str] = None,
        api_key: Optional[str] = None,
    ) -> None:
        if timeout < 1:
            raise ValueError("timeout must be at least 1 second")
        self._timeout = timeout
        named = {"policy": policy, "image": image, "inputs": dict(inputs or {})}
        self._options: dict[str, Any] = {name: value for name, value in named.items() if value}
        self._client = Hotcell(url, api_key)

    def close(self) -> None:
        self._client.close()

    async def told(self, code: str, language: str, *, timeout: Optional[float] = None) -> Told:
        """A task that is cancelled ends the run, whose id no other caller knows."""
        limits = {"timeout_seconds": max(1, round(timeout or self._timeout))}
        asking = partial(self._client.submit, code, language=language, limits=limits, **self._options)
        submitting = asyncio.ensure_future(in_thread(asking))
        try:
            return await in_thread(partial(_told, await asyncio.shield(submitting)))
        except Refused as refused:
            # A model can change what it asks for.
            reasons = "\n".join(f"{issue.path}: {issue.message}" for issue in refused.issues)
            said = f"Refused by the policy: {refused}\n{reasons}".strip()
            return Told(126, "", said, said, False, False, 0.0, refused.run)
        except asyncio.CancelledError:
            await asyncio.shield(_end(submitting))
            raise


async def _end(submitting: asyncio.Future[Run]) -> None:
    """Also a run whose id is still on its way."""
    try:
        run = await submitting
    except HotcellError:
        return
    await in_thread(partial(run.cancel, "the caller was cancelled"))


def _told(run: Run) -> Told:
    result = run.result(progress=False)
    outcome = result.outcome
    ended = outcome in ("succeeded", "failed") and result.exit_code is not None
    code = result.exit_code if ended and result.exit_code is not None else _codes.get(outcome, 1)
    said = "" if ended else result.reason
    output = f"{result.log}\n{said}" if said and result.log else result.log or said
    return Told(
        code,
        result.stdout,
        f"{result.stderr}\n{said}".strip() if said else result.stderr,
        output,
        outcome == "timed_out",
        result.record.logs.truncated,
        result.timings.ran_ms / 1000,
        result.run,
    )
