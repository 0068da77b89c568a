"""The session behind a Jupyter executor, and a call of it that can be cancelled."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

from hotcell.autogen_blocks import Block, shells, silenced
from hotcell.autogen_displays import Shown, shown_by
from hotcell.failures import HotcellError, StepLost
from hotcell.session_client import Session
from hotcell.session_step import Step

# An interrupt that comes before its step has begun is lost, so it is sent again; a program may ignore all of them.
_interrupts = 10
_between_interrupts = 1.0


class KernelEnded(Exception):
    """The session is over: its names are gone, and the next call finds a new one."""


class KernelCall:
    """The blocks of one call, as steps of a session."""

    def __init__(self, timeout: int) -> None:
        self._timeout = timeout
        self._state = threading.Lock()
        self._running: Optional[tuple[Session, int]] = None
        self.cancelled = threading.Event()
        self._step_over = threading.Event()

    def cancel(self) -> None:
        """Returns at once: the caller may hold locks of its own."""
        with self._state:
            if self.cancelled.is_set():
                return
            self.cancelled.set()
            running = self._running
        if running is not None:
            self._stop(*running)

    def run(self, session: Session, blocks: Sequence[Block], folder: Path) -> Shown:
        """In order; the first that fails is the last."""
        texts: list[str] = []
        files: list[Path] = []
        for block in blocks:
            if self.cancelled.is_set():
                break
            shown = shown_by(self._step(session, block), folder)
            texts += shown.texts
            files += shown.files
            if shown.exit_code != 0:
                return Shown(shown.exit_code, texts, files)
        return Shown(0, texts, files)

    def _step(self, session: Session, block: Block) -> Step:
        language = block.language.lower()
        asked = {
            "language": "bash" if language in shells else "python",
            "code": silenced(block.code, language),
        }
        try:
            begun = session.begin(asked, timeout_seconds=self._timeout)
            self._step_over.clear()
            with self._state:
                self._running = (session, begun.index)
                late = self.cancelled.is_set()
            if late:
                self._stop(session, begun.index)
            return session.step_end(begun.index)
        except StepLost as lost:
            if lost.step.outcome == "lost":
                raise
            raise KernelEnded(lost.step.reason) from lost
        except HotcellError as error:
            if error.code in ("finished_already", "not_found"):
                raise KernelEnded(error.message) from error
            raise
        finally:
            with self._state:
                self._running = None
            self._step_over.set()

    def _stop(self, session: Session, index: int) -> None:
        threading.Thread(target=self._interrupt, args=(session, index), daemon=True).start()

    def _interrupt(self, session: Session, index: int) -> None:
        for _ in range(_interrupts):
            try:
                session.interrupt(index)
            except HotcellError:
                # It may come through the next time.
                pass
            if self._step_over.wait(_between_interrupts):
                return
        session.cancel("a cancelled call did not end at its interrupt")
