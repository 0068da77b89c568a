"""What a step wrote and showed, as AutoGen's Jupyter executors tell it: texts in order, and files for pictures and HTML."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hotcell.session_step import Step

if TYPE_CHECKING:
    from hotcell.session_answers import StepOutput

# The first of them that a display has becomes its file; HTML becomes one as well.
_pictures = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
    "image/svg+xml": ".svg",
}
_page = {"text/html": ".html"}
_exit_codes = {"out_of_memory": 137, "output_exceeded": 153, "rejected": 126}


class Shown(NamedTuple):
    exit_code: int
    texts: list[str]
    files: list[Path]


def shown_by(step: Step, folder: Path) -> Shown:
    texts = [step.stdout] if step.stdout else []
    files: list[Path] = []

    def save(output: StepOutput, ending: str) -> None:
        path = (folder / f"{uuid.uuid4().hex}{ending}").absolute()
        path.write_bytes(_bytes(step, output))
        files.append(path)
        # A model learns of files by the text alone.
        texts.append(str(path))

    for forms in step.displays:
        _show(forms, texts, lambda one: _bytes(step, one).decode(errors="replace"), save)
    if step.stderr:
        # A traceback is the last that a step of Python writes.
        texts.append(step.stderr.rstrip("\n") if step.error else step.stderr)
    if step.outcome in ("succeeded", "failed"):
        return Shown(0 if step.ok else step.exit_code or 1, texts, files)
    said = f"Timeout: {step.reason}" if step.outcome == "timed_out" else step.reason
    return Shown(_exit_codes.get(step.outcome or "", 1), [*texts, said], files)


def _show(
    forms: dict[str, StepOutput],
    texts: list[str],
    text_of: Callable[[StepOutput], str],
    save: Callable[[StepOutput, str], None],
) -> None:
    if plain := forms.get("text/plain"):
        texts.append(text_of(plain))
    picture = next((kind for kind in _pictures if kind in forms), None)
    saved = {**({picture: _pictures[picture]} if picture else {}), **_page}
    for kind, ending in saved.items():
        if kind in forms:
            save(forms[kind], ending)
    if plain is None and not saved.keys() & forms.keys():
        texts.extend(text_of(one) for one in forms.values())


def _bytes(step: Step, output: StepOutput) -> bytes:
    return step.bytes(step.outputs.index(output))
