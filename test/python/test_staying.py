"""What a job leaves reaches neither the caller's key nor more of the caller's host than the policy says."""

import os
from pathlib import Path

import pytest
from autogen_core import CancellationToken
from autogen_core.code_executor import CodeBlock

from hotcell import Hotcell, HotcellError, NotAuthenticated
from hotcell.autogen import HotcellCommandLineCodeExecutor
from hotcell.cell_scripts import read_notes
from hotcell.command_folder import CommandFolder
from hotcell.local_settings import find_settings
from hotcell.work_folder import FolderBounds, look_at

few = FolderBounds(files=5, bytes=1000, policy="sealed")


@pytest.fixture
def installation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """In the current folder, where a job may have written it."""
    for name in ("HOTCELL_URL", "HOTCELL_API_KEY", "HOTCELL_HOME"):
        monkeypatch.delenv(name, raising=False)
    (home := tmp_path / ".hotcell").mkdir()
    (home / "config.env").write_text("HOTCELL_URL=http://127.0.0.1:1\n")
    (home / "credentials").write_text("hc_of_the_files\n")
    monkeypatch.chdir(tmp_path)
    return home


@pytest.mark.parametrize("passed", [True, False])
def test_a_key_from_elsewhere_never_goes_to_an_address_from_a_file(
    installation: Path, monkeypatch: pytest.MonkeyPatch, passed: bool
) -> None:
    if not passed:
        monkeypatch.setenv("HOTCELL_API_KEY", "hc_mine")
    for named in (False, True):
        if named:
            monkeypatch.setenv("HOTCELL_HOME", str(installation))
        with pytest.raises(HotcellError, match="set HOTCELL_URL"):
            Hotcell(api_key="hc_mine" if passed else None)


@pytest.mark.parametrize("passed", [True, False])
def test_a_key_from_a_file_never_goes_to_an_address_from_elsewhere(
    installation: Path, monkeypatch: pytest.MonkeyPatch, passed: bool
) -> None:
    if not passed:
        monkeypatch.setenv("HOTCELL_URL", "http://127.0.0.1:2")
    with pytest.raises(NotAuthenticated, match="set HOTCELL_API_KEY"):
        Hotcell("http://127.0.0.1:2" if passed else None)


def test_address_and_key_of_one_installation_or_both_from_the_caller_are_taken(
    installation: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_settings(None, None, None) == ("http://127.0.0.1:1", "hc_of_the_files", None)
    monkeypatch.setenv("HOTCELL_URL", "http://127.0.0.1:2")
    assert find_settings(None, "hc_mine", None) == ("http://127.0.0.1:2", "hc_mine", None)
    (installation / "credentials").unlink()
    monkeypatch.delenv("HOTCELL_URL")
    with pytest.raises(NotAuthenticated, match="credentials"):
        Hotcell()


def deep(folder: Path, parts: int) -> None:
    """Deeper than Python calls itself."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(parts):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)


def flatten(folder: Path) -> None:
    """Removes what `deep` made, which is too deep for pytest to remove."""
    below = folder / "below"
    while (folder / "d").exists():
        if (folder / "d/d").exists():
            (folder / "d/d").rename(below)
        (folder / "d").rmdir()
        if below.exists():
            below.rename(folder / "d")


def test_an_installation_does_not_leave_the_host(installation: Path, tmp_path: Path) -> None:
    (tmp_path / "sub/.Hotcell/keys").mkdir(parents=True)
    (tmp_path / "sub/.Hotcell/keys/root.pem").write_text("a key")
    (tmp_path / "sub/.hotcell-notes").write_text("a file")
    seen = look_at(tmp_path, few)
    assert list(seen.files) == ["sub/.hotcell-notes"] and seen.empty_folders == []
    assert seen.left_out == [".hotcell", "sub/.Hotcell"]


def test_a_very_deep_folder_stays_where_it_is(tmp_path: Path) -> None:
    deep(tmp_path, 1100)
    try:
        seen = look_at(tmp_path, few)
        assert seen.left_out == ["/".join("d" * 65)] and not seen.files and not seen.empty_folders
        for n in range(6):
            (tmp_path / f"{n}.txt").write_text("x")
        with pytest.raises(HotcellError, match="work_dir .* holds 6 files"):
            look_at(tmp_path, few)
    finally:
        flatten(tmp_path)


def test_empty_folders_are_counted_as_files_are(tmp_path: Path) -> None:
    for n in range(5):
        (tmp_path / f"{n}/in").mkdir(parents=True)
    assert len(look_at(tmp_path, few).empty_folders) == 5
    (tmp_path / "sixth").mkdir()
    with pytest.raises(HotcellError, match="6 empty folders"):
        look_at(tmp_path, few)


def test_notes_with_more_names_than_a_folder_may_have_are_not_followed() -> None:
    def of(kind: str, count: int) -> bytes:
        return "".join(f"{kind}{n}\0" for n in range(count)).encode()

    kept = read_notes(of("d", 5) + of("x", 5) + of("k", 5), 5)
    assert kept is not None and len(kept.empty_folders) == len(kept.executable) == len(kept.same) == 5
    for flood in (of("d", 6), of("x", 6), of("k", 6), b"\0" * 16):
        assert read_notes(flood, 5) is None


floods = {
    "an installation": ("mkdir -p .hotcell sub/.HotCell/empty; echo HOTCELL_URL=http://evil > .hotcell/config.env", "keeps its keys"),
    "deep folders": ("p=$(printf 'd/%.0s' $(seq 70)); mkdir -p $p f/$p; echo x > f/${p}x", "more than 64 parts"),
    "many folders": ("rm kept; seq 2000 | xargs mkdir", "nothing is removed"),
    "long notes": ("rm kept; head -c 9000000 /dev/zero > /outputs/notes; kill -9 $PPID", "nothing is removed"),
}


@pytest.mark.parametrize("flood", floods)
async def test_what_a_job_makes_on_the_host_is_bounded_and_the_folder_stays_in_use(tmp_path: Path, flood: str) -> None:
    (tmp_path / "kept").write_text("kept")
    command, reason = floods[flood]
    async with HotcellCommandLineCodeExecutor(work_dir=tmp_path, delete_tmp_files=True) as executor:
        result = await executor.execute_code_blocks([CodeBlock(command, "sh")], CancellationToken())
        assert any(reason in why for _, why in result.not_kept), result
        assert [path.name for path in tmp_path.iterdir()] == ["kept"]
        result = await executor.execute_code_blocks([CodeBlock("cat kept", "sh")], CancellationToken())
        assert (result.exit_code, result.output) == (0, "kept")


@pytest.mark.parametrize("name", [".hotcell/config.env", "sub/.Hotcell", "d/" * 64 + "x.py"])
async def test_a_code_file_that_may_not_travel_is_not_run(tmp_path: Path, name: str) -> None:
    async with HotcellCommandLineCodeExecutor(work_dir=tmp_path) as executor:
        blocks = [CodeBlock(f"# filename: {name}\nprint('never')", "python")]
        result = await executor.execute_code_blocks(blocks, CancellationToken())
        assert (result.exit_code, result.output) == (1, "Filename is not in the workspace")
    assert not list(tmp_path.iterdir())


def test_no_file_of_an_installation_is_saved_or_written(tmp_path: Path) -> None:
    with Hotcell() as hotcell:
        outputs = hotcell.run("import os; os.mkdir('/outputs/.hotcell'); open('/outputs/.hotcell/config.env', 'w')").outputs
        assert ".hotcell/config.env" in outputs
        with pytest.raises(HotcellError, match="an installation's own file"):
            outputs.save(tmp_path)
    with CommandFolder(tmp_path) as folder, pytest.raises(HotcellError, match="an installation's own file"):
        folder.write(".hotcell/credentials", b"")
    assert not list(tmp_path.iterdir())
