"""What runs in a cell around the blocks of a call. /outputs/workspace is the work folder there: everything that is in
it at the end comes back, whatever became of the blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

from hotcell.staying import most_path_bytes
from hotcell.work_luggage import Luggage

# The name of the input, and of the folder.
workspace = "workspace"
inside = f"{workspace}/"
# Bundled files are root's and read-only: no block changes the code of a later one.
_folder = ".hotcell"
# Names the empty folders and the executable files, which outputs do not tell, and what was left out because it is
# unchanged. It comes back even if nothing else does.
notes = "notes"

_note = f"""find . -mindepth 1 \\( -type d -empty -printf 'd%P\\0' -o -type f -perm -u+x -printf 'x%P\\0' \\) > /work/notes 2>/dev/null && cat /work/notes > /outputs/{notes} || :"""

# The notes are there before a file goes. Without one of these programs everything comes back, which only takes longer.
_leave_out = f"""
if [ -s /work/{_folder}/sent ]; then
find . -type f -printf '%P\\0' | xargs -0 sha256sum -z -- | LC_ALL=C sort -z | LC_ALL=C comm -z -12 - /work/{_folder}/sent | cut -z -c 67- > /work/same &&
sed -z 's/^/k/' /work/same >> /outputs/{notes} && xargs -0 rm -f -- < /work/same
fi 2>/dev/null"""

_open = f"""
set -e
mkdir /outputs/{workspace}
cd /outputs/{workspace}
if [ -d /inputs/{workspace} ]; then cp -R --no-preserve=mode,ownership /inputs/{workspace}/. .; fi
if [ -s /work/{_folder}/gone ]; then xargs -0 rm -f -- < /work/{_folder}/gone; fi
if [ -s /work/{_folder}/changed.tar ]; then tar -xf /work/{_folder}/changed.tar --no-same-owner; fi
if [ -s /work/{_folder}/executable ]; then xargs -0 chmod u+x -- < /work/{_folder}/executable; fi
{_note}
"""

_block = f"""
code=$1 file=$2 last=$3
shift 3
cd /outputs/{workspace} || exit 125
case $file in */*) mkdir -p -- "${{file%/*}}" || exit 126 ;; esac
rm -f -- "$file" && cp --no-preserve=mode,ownership -- "/work/{_folder}/$code" "$file" || exit 126
"$@" "$file"
ended=$?
cd /outputs/{workspace} 2>/dev/null && {{
{_note}
if [ $last = yes ] || [ $ended != 0 ]; then
{_leave_out}
fi
}}
exit $ended
"""


class CodeFile:
    def __init__(self, path: str, program: Sequence[str], code: str) -> None:
        self.path = path
        self.program = list(program)
        self.code = code


def request_of_call(
    luggage: Luggage, code: Sequence[CodeFile]
) -> tuple[list[dict[str, Any]], dict[str, str | bytes]]:
    """Blocks and files: the first block lays the work folder out, and one follows for each code file."""
    files: dict[str, str | bytes] = {f"{_folder}/open.sh": _open, f"{_folder}/block.sh": _block}
    if luggage.changed is not None:
        files[f"{_folder}/changed.tar"] = luggage.changed
    for name, content in (("gone", luggage.gone), ("executable", luggage.executable), ("sent", luggage.same)):
        if content:
            files[f"{_folder}/{name}"] = content
    blocks: list[dict[str, Any]] = [{"argv": ["sh", f"/work/{_folder}/open.sh"]}]
    for index, one in enumerate(code):
        files[f"{_folder}/code-{index}"] = one.code
        last = "yes" if index == len(code) - 1 else "no"
        blocks.append({"argv": ["sh", f"/work/{_folder}/block.sh", f"code-{index}", one.path, last, *one.program]})
    return blocks, files


class Notes(NamedTuple):
    empty_folders: list[str]
    executable: set[str]
    same: set[str]


def largest_notes(most: int) -> int:
    """Of a folder with so many names of each of the three kinds."""
    return 3 * most * (most_path_bytes + 2)


def read_notes(content: bytes, most: int) -> Optional[Notes]:
    """A job can write here what it likes: these are only names, judged later. None if there are more of one kind than a
    work folder may have."""
    if content.count(b"\0") > 3 * most:
        return None
    items = content.decode("utf-8", "replace").split("\0")
    kinds = {kind: [item[1:] for item in items if item[:1] == kind] for kind in "dxk"}
    if max(map(len, kinds.values())) > most:
        return None
    return Notes(kinds["d"], set(kinds["x"]), set(kinds["k"]))
