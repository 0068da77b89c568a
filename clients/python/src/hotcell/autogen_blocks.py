"""AutoGen's code blocks as files of the work folder: their names, their programs, and why one can't run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, Protocol

from hotcell.cell_scripts import CodeFile
from hotcell.staying import why_it_stays

shells = ("bash", "shell", "sh")
powershells = ("pwsh", "powershell", "ps1")
_loud_pip = {"python": re.compile(r"^! ?pip install"), **dict.fromkeys((*shells, *powershells), re.compile(r"^pip install"))}


class Block(Protocol):
    code: str
    language: str


class Planned(NamedTuple):
    code: list[CodeFile]
    # Said after the blocks before it have run; the blocks behind it never run.
    stop: str


def plan(blocks: Sequence[Block], work_dir: Path) -> Planned:
    planned = Planned([], "")
    for block in blocks:
        language = block.language.lower()
        program = _program(language)
        if program is None:
            return planned._replace(stop=f"unknown language {language}")
        code = silenced(block.code, language)
        try:
            name = _named(code, work_dir) or f"tmp_code_{sha256(code.encode()).hexdigest()}.{language}"
        except ValueError:
            return planned._replace(stop="Filename is not in the workspace")
        planned.code.append(CodeFile(name, program, code))
    return planned


def _program(language: str) -> list[str] | None:
    if language in ("python", "py"):
        return ["python3"]
    if re.fullmatch(r"python[0-9.]*", language) or language in ("bash", "sh"):
        return [language]
    if language == "shell":
        return ["sh"]
    return ["pwsh"] if language in powershells else None


def _named(code: str, work_dir: Path) -> str | None:
    """The name that the first line gives; ValueError if it leads out of the work folder, by dots or by a link, or
    may not be in it."""
    first = code.split("\n", 1)[0]
    if not first.startswith("# filename:"):
        return None
    root = work_dir.resolve()
    try:
        relative = (root / first.split(":")[1].strip()).resolve().relative_to(root)
    except OSError as error:
        raise ValueError("not a file name") from error
    if str(relative) == "." or "\0" in str(relative) or why_it_stays(relative.as_posix()):
        raise ValueError("not a file name")
    return relative.as_posix()


def silenced(code: str, language: str) -> str:
    loud = _loud_pip.get(language)
    if loud is None:
        return code
    lines = [
        line if "-qqq" in line else loud.sub(lambda found: f"{found.group(0)} -qqq", line, count=1)
        for line in code.split("\n")
    ]
    return "\n".join(lines)
