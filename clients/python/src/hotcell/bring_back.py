"""Bringing back what a call changed in its work folder, and nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Set
from typing import NamedTuple, Optional

from hotcell.cell_scripts import Notes, inside, largest_notes, notes, read_notes
from hotcell.failures import HotcellError
from hotcell.finished import Result
from hotcell.landing import Landing
from hotcell.run_outputs import Outputs
from hotcell.staying import why_it_stays
from hotcell.wire import drive
from hotcell.work_folder import WorkFolder, state_of


class Brought(NamedTuple):
    changed: list[str]
    removed: list[str]
    # Paths with reasons: links and other things that are not regular files, names that a host should not have.
    not_kept: list[tuple[str, str]]


def bring_back(result: Result, folder: WorkFolder, sent: dict[str, str], known: dict[str, bytes]) -> Brought:
    """`known`: contents that this side has already, by digest."""
    refused = {one.path.removeprefix(inside): one.reason for one in result.outputs.refused}
    brought = Brought([], [], list(refused.items()))
    if not result.blocks or result.blocks[0].exit_code != 0:
        # The folder was never laid out as a whole: what is missing was not removed.
        return brought
    outputs = result.outputs
    told = _told(outputs, folder.bounds.files)
    if notes in outputs and told is None:
        why = f"the call left more empty folders or executable files than {folder.bounds.files}, or very long names of them"
        brought.not_kept.append(("…", f"{why}: no empty folder is made, and nothing is removed"))
    said = told or Notes(folder.empty_folders, set(), set())
    with Landing(folder.root) as landing:
        if told is not None and _is_whole(result):
            brought.removed.extend(_missing(sent, outputs, said.same | refused.keys()))
        for path in brought.removed:
            _remove(landing, folder, path)
        # Before anything lands: where a folder was, there may be a file now.
        _remove_folders(landing, brought.removed, set(folder.empty_folders), set(said.empty_folders))
        for file in outputs:
            path = file.path.removeprefix(inside)
            if not file.path.startswith(inside) or sent.get(path) == file.sha256:
                continue
            if reason := why_it_stays(path):
                brought.not_kept.append((path, reason))
                continue
            try:
                _land(landing, result, path, file.sha256, known, path in said.executable)
                brought.changed.append(path)
            except OSError as error:
                brought.not_kept.append((path, f"{error.strerror}: a link or a folder is in its way"))
        if told is not None:
            _set_modes(landing, folder, sent.keys() - {*brought.changed, *brought.removed}, said.executable)
        _make_folders(landing, said.empty_folders, brought)
    return brought


def _told(outputs: Outputs, most: int) -> Optional[Notes]:
    if notes not in outputs or outputs[notes].size > largest_notes(most):
        return None
    return read_notes(outputs.bytes(notes), most)


def _missing(sent: dict[str, str], outputs: Outputs, excused: Set[str]) -> list[str]:
    """A name that was refused is written with its percent signs encoded."""
    return [
        path for path in sent if inside + path not in outputs and not {path, path.replace("%", "%25")} & excused
    ]


def _is_whole(result: Result) -> bool:
    """Whether a file that is not among the outputs was removed. In doubt, it was not: there are notes that can be
    read unless the collection failed or the job tampered with them, and a cell without memory may have died during the collection."""
    return (
        result.outcome in ("succeeded", "failed", "timed_out", "cancelled")
        and all(one.path != "…" for one in result.outputs.refused)
    )


def _remove(landing: Landing, folder: WorkFolder, path: str) -> None:
    """What changed on the host meanwhile stays."""
    there = landing.state(path)
    if there is not None and (path not in folder.files or state_of(there) == folder.files[path]):
        landing.remove(path)


def _land(landing: Landing, result: Result, path: str, digest: str, known: dict[str, bytes], executable: bool) -> None:
    content = known.get(digest)
    if content is None:
        drive(result.outputs.land(landing, inside + path, path, executable=executable))
    else:
        landing.write_bytes(path, content, executable=executable)


def _set_modes(landing: Landing, folder: WorkFolder, unchanged: Set[str], executable: Set[str]) -> None:
    for path in unchanged:
        if folder.files[path].executable != (path in executable):
            landing.set_executable(path, path in executable)


def _make_folders(landing: Landing, empty: list[str], brought: Brought) -> None:
    for path in empty:
        if reason := why_it_stays(path):
            brought.not_kept.append((path[:200], reason))
            continue
        try:
            landing.make_folder(path)
        except (OSError, HotcellError) as error:
            brought.not_kept.append((path[:200], str(error)))


def _remove_folders(landing: Landing, removed: list[str], before: set[str], after: set[str]) -> None:
    """Folders from which everything was removed, the deepest first, unless the cell kept them."""
    left = {path.rpartition("/")[0] for path in removed} | (before - after)
    parts = [one.split("/") for one in left if one]
    parents = {"/".join(each[:n]) for each in parts for n in range(1, len(each) + 1)}
    for path in sorted(parents - after, key=len, reverse=True):
        landing.remove_empty(path)


def digest_key(code: str) -> tuple[str, bytes]:
    content = code.encode()
    return f"sha256:{hashlib.sha256(content).hexdigest()}", content
