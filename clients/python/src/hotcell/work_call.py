"""One call: a work folder and code go into a fresh cell, and what changed comes back. Runs in a thread of its own, so it
belongs to no event loop, and any thread may cancel it."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

from hotcell import steps
from hotcell.asking import new_key
from hotcell.bring_back import Brought, bring_back, digest_key
from hotcell.calls import Calls
from hotcell.cell_scripts import CodeFile, request_of_call, workspace
from hotcell.client import Run
from hotcell.failures import HotcellError
from hotcell.finished import Result
from hotcell.landing import Landing
from hotcell.wire import drive
from hotcell.work_folder import FolderBounds, WorkFolder, look_at
from hotcell.work_luggage import Luggage, Packer

if TYPE_CHECKING:
    from hotcell.policy_answers import PolicyView

# Another program may write into the folder while it is packed.
_tries = 4
# For so long a policy is taken to be as it was.
_policy_seconds = 60.0


class Finished(NamedTuple):
    result: Result
    brought: Brought


class WorkRoom:
    """What the calls of one executor share. Packing and bringing back take turns; running does not."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.lock = threading.Lock()
        self.packer = Packer()
        self._policy: Optional[PolicyView] = None
        self._asked_at = 0.0

    def bounds(self, options: Mapping[str, Any]) -> tuple[FolderBounds, int]:
        """What the policy lets a work folder hold, and how many seconds a run."""
        now = time.monotonic()
        if self._policy is None or now - self._asked_at > _policy_seconds:
            self._policy = drive(steps.policy(self.calls, options.get("policy") or "sealed"))
            self._asked_at = now
        limits, inputs = self._policy.policy.limits, self._policy.policy.inputs
        asked = options.get("limits") or {}
        # One of the outputs is our own notes.
        files = min(int(asked.get("output_files", limits.output_files.default)) - 1, inputs.files)
        size = min(int(asked.get("output_bytes", limits.output_bytes.default)), inputs.bytes)
        return FolderBounds(files, size, self._policy.name), limits.timeout_seconds.max


class WorkCall:
    def __init__(self, room: WorkRoom, options: Mapping[str, Any], timeout: int) -> None:
        self._room = room
        self._options = options
        self._timeout = timeout
        self._state = threading.Lock()
        self._run: Optional[Run] = None
        self.cancelled = threading.Event()
        self.ended = threading.Event()

    def cancel(self) -> None:
        """Returns at once: the caller may hold locks of its own. The call ends when nothing of it is alive."""
        with self._state:
            if self.cancelled.is_set():
                return
            self.cancelled.set()
            run = self._run
        if run is not None:
            threading.Thread(target=self._end, args=(run,), daemon=True).start()

    def run(self, work_dir: Path, code: Sequence[CodeFile]) -> Optional[Finished]:
        """None if it was cancelled before anything ran."""
        try:
            bounds, longest = self._room.bounds(self._options)
            for again in (True, False):
                folder, luggage = self._pack(work_dir, bounds)
                if self.cancelled.is_set():
                    return None
                try:
                    submitted = self._submit(luggage, code, longest)
                    break
                except HotcellError as error:
                    # Snapshots that nothing has named for long are collected.
                    if not (again and luggage.snapshot and error.code in ("not_found", "policy_refused")):
                        raise
                    if not any(issue.path.startswith("inputs") for issue in error.issues):
                        raise
                    self._room.packer.forget()
            result = self._followed(submitted)
            known = dict(digest_key(one.code) for one in code)
            with self._room.lock:
                return Finished(result, bring_back(result, folder, luggage.sent, known))
        finally:
            self.ended.set()

    def _pack(self, work_dir: Path, bounds: FolderBounds) -> tuple[WorkFolder, Luggage]:
        with self._room.lock:
            for attempt in range(_tries):
                try:
                    folder = look_at(work_dir, bounds)
                    return folder, drive(self._room.packer.pack(self._room.calls, folder))
                except (FileNotFoundError, HotcellError) as error:
                    changing = isinstance(error, FileNotFoundError) or error.code in ("invalid", "snapshot_refused")
                    if not changing or attempt == _tries - 1:
                        raise
        raise AssertionError("the last try returns or raises")

    def _submit(self, luggage: Luggage, code: Sequence[CodeFile], longest: int) -> Run:
        blocks, files = request_of_call(luggage, code)
        options = dict(self._options)
        options["inputs"] = {**(options.get("inputs") or {}), **({workspace: luggage.snapshot} if luggage.snapshot else {})}
        whole = max(self._timeout + 1, min(self._timeout * len(code) + 30, longest))
        options["limits"] = {
            "block_timeout_seconds": self._timeout,
            "timeout_seconds": whole,
            **(options.get("limits") or {}),
        }
        options |= {"files": files, "idempotency_key": new_key()}
        accepted = drive(steps.submit(self._room.calls, blocks, options))
        run = Run(self._room.calls, accepted.run, accepted.warnings or [])
        with self._state:
            self._run = run
            cancelled = self.cancelled.is_set()
        if cancelled:
            self._end(run)
        return run

    def _followed(self, run: Run) -> Result:
        return run.result(progress=False)

    def _end(self, run: Run) -> None:
        try:
            run.cancel("the caller cancelled the call")
        except HotcellError:
            # The caller that waits for the result learns why the API can't be reached.
            pass


def write_code(work_dir: Path, code: CodeFile) -> None:
    with Landing(work_dir) as landing:
        landing.write_bytes(code.path, code.code.encode())


def remove_code(work_dir: Path, code: Sequence[CodeFile]) -> None:
    with Landing(work_dir) as landing:
        for one in code:
            landing.remove(one.path)
