import asyncio
import os
import threading
from pathlib import Path

import pytest
from autogen_core import CancellationToken
from autogen_core.code_executor import CodeBlock, CodeExecutor, CodeResult, FunctionWithRequirements, with_requirements

from hotcell import Hotcell, HotcellError
from hotcell.autogen import HotcellCodeResult, HotcellCommandLineCodeExecutor


async def call(executor: HotcellCommandLineCodeExecutor, *blocks: str, language: str = "python") -> HotcellCodeResult:
    return await executor.execute_code_blocks([CodeBlock(one, language) for one in blocks], CancellationToken())


def tree(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text() if path.is_file() else "folder"
        for path in folder.rglob("*")
        if not path.name.startswith("tmp_code_") and not path.is_symlink()
    }


async def newest_running(hotcell: Hotcell) -> str:
    """Of the run whose first block has begun. The lists may be behind, so what they name is looked at."""
    while True:
        for row in hotcell.runs(status="running", limit=1).runs:
            if hotcell.run_by_id(row.run).is_finished() is False:
                return row.run
        await asyncio.sleep(0.05)


@pytest.fixture
def work_dir(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.fixture
def executor(work_dir: Path) -> HotcellCommandLineCodeExecutor:
    return HotcellCommandLineCodeExecutor(work_dir=work_dir)


changes = """
import os, shutil
assert open('kept.txt').read() == 'kept' and os.path.isdir('empty')
open('changed.txt', 'a').write('+')
os.rename('moved.txt', 'sub/moved.txt')
os.remove('removed.txt')
shutil.rmtree('folder')
open('folder', 'w').write('a file now')
os.remove('file'); os.makedirs('file/in'); open('file/in/x', 'w').write('a folder now')
os.makedirs('new/empty')
os.chmod('kept.txt', 0o755)
"""


@pytest.mark.parametrize("ending", ["", "raise SystemExit(3)", "os.kill(os.getpid(), 9)", "import time; time.sleep(999)"])
async def test_exactly_what_a_call_changed_comes_back_however_it_ends(work_dir: Path, ending: str) -> None:
    for name in ("kept", "changed", "moved", "removed"):
        (work_dir / f"{name}.txt").write_text(name)
    for name in ("sub", "empty", "folder"):
        (work_dir / name).mkdir()
    (work_dir / "sub/b").write_text("b")
    (work_dir / "folder/c").write_text("c")
    (work_dir / "file").write_text("file")
    before = (work_dir / "sub/b").stat()
    executor = HotcellCommandLineCodeExecutor(work_dir=work_dir, timeout=15 if "sleep" in ending else 60)
    result = await call(executor, changes + ending)
    assert (result.exit_code == 0) == (ending == ""), result
    expected = {
        "kept.txt": "kept",
        "changed.txt": "changed+",
        "sub": "folder",
        "sub/moved.txt": "moved",
        "sub/b": "b",
        "empty": "folder",
        "folder": "a file now",
        "file": "folder",
        "file/in": "folder",
        "file/in/x": "a folder now",
    }
    here = tree(work_dir)
    if "sleep" in ending:
        # A block that is stopped can't say which folders it left empty.
        assert {path: text for path, text in here.items() if not path.startswith("new")} == expected
    else:
        assert here == {**expected, "new": "folder", "new/empty": "folder"}
        assert os.access(work_dir / "kept.txt", os.X_OK)
    # An unchanged file is not written again.
    after = (work_dir / "sub/b").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


async def test_what_one_call_leaves_the_next_finds_and_so_does_what_the_caller_changes(
    work_dir: Path, executor: HotcellCommandLineCodeExecutor
) -> None:
    assert (await call(executor, "open('x', 'w').write('1')", "print(open('x').read())")).output == "1\n"
    (work_dir / "x").write_text("2")
    assert (await call(executor, "print(open('x').read())")).output == "2\n"
    (work_dir / "x").unlink()
    assert "FileNotFoundError" in (await call(executor, "open('x')")).output


async def test_nothing_of_the_host_is_reachable_through_work_dir(tmp_path: Path, work_dir: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (work_dir / "link").symlink_to(tmp_path / "secret")
    (work_dir / "up").symlink_to(tmp_path)
    os.mkfifo(work_dir / "pipe")
    executor = HotcellCommandLineCodeExecutor(work_dir=work_dir)
    result = await call(
        executor,
        "import os; print(sorted(one for one in os.listdir('.') if 'tmp' not in one), os.path.exists('../secret'))",
    )
    assert result.output == "[] False\n", result
    # What a cell puts where the host has a link replaces the link, and never what it leads to.
    (work_dir / "pipe").unlink()
    result = await call(executor, "import os; open('link', 'w').write('mine'); os.mkdir('up'); open('up/secret', 'w').write('gone')")
    assert result.exit_code == 0
    assert (tmp_path / "secret").read_text() == "secret"
    assert (work_dir / "link").read_text() == "mine" and not (work_dir / "link").is_symlink()
    assert "up/secret" in dict(result.not_kept)


async def test_links_and_devices_that_a_cell_makes_do_not_come_back(work_dir: Path, executor: HotcellCommandLineCodeExecutor) -> None:
    code = "import os; os.symlink('/etc/passwd', 'link'); os.mkfifo('pipe'); open('a', 'w'); os.link('a', 'b')"
    result = await call(executor, code)
    assert result.exit_code == 0, result
    assert {path for path, _ in result.not_kept} == {"link", "pipe", "a", "b"}
    assert tree(work_dir) == {}


@pytest.mark.parametrize("name", ["../out.py", "/tmp/out.py", "sub/../../out.py", "up/out.py", "."])
async def test_a_code_file_outside_work_dir_is_not_run(tmp_path: Path, work_dir: Path, name: str) -> None:
    (work_dir / "up").symlink_to(tmp_path)
    executor = HotcellCommandLineCodeExecutor(work_dir=work_dir)
    result = await call(executor, "print('before')", f"# filename: {name}\nprint('never')")
    assert (result.exit_code, result.output) == (1, "before\nFilename is not in the workspace")
    assert not (tmp_path / "out.py").exists()


async def test_a_named_file_is_made_with_its_folders(work_dir: Path, executor: HotcellCommandLineCodeExecutor) -> None:
    result = await call(executor, "# filename: deep/er/job.py: a note\nprint(__file__)")
    assert result.exit_code == 0 and result.output.endswith("deep/er/job.py\n"), result
    assert result.code_file == str(work_dir / "deep/er/job.py") and Path(result.code_file).exists()


async def test_a_block_can_change_neither_its_code_on_the_host_nor_that_of_a_later_block(
    executor: HotcellCommandLineCodeExecutor,
) -> None:
    spoil = "import os, glob\nfor p in glob.glob('/work/.hotcell/*'):\n  try: open(p, 'w')\n  except OSError as e: print(type(e).__name__)\n"
    result = await call(executor, "# filename: a.py\n" + spoil, "# filename: b.py\nprint('as written')")
    assert result.exit_code == 0 and result.output.endswith("PermissionError\nas written\n")


async def test_blocks_end_at_the_first_failure_and_at_an_unknown_language(work_dir: Path, executor: HotcellCommandLineCodeExecutor) -> None:
    blocks = [CodeBlock("echo one", "sh"), CodeBlock("echo two; exit 7", "Shell"), CodeBlock("echo three", "bash")]
    result = await executor.execute_code_blocks(blocks, CancellationToken())
    assert (result.exit_code, result.output) == (7, "one\ntwo\n")
    blocks = [CodeBlock("echo one", "sh"), CodeBlock("1", "cobol"), CodeBlock("echo three", "bash")]
    result = await executor.execute_code_blocks(blocks, CancellationToken())
    assert (result.exit_code, result.output) == (1, "one\nunknown language cobol")
    with pytest.raises(ValueError, match="No code blocks to execute."):
        await executor.execute_code_blocks([], CancellationToken())


async def test_the_time_limit_is_for_each_block(work_dir: Path) -> None:
    executor = HotcellCommandLineCodeExecutor(work_dir=work_dir, timeout=15)
    # Together they take longer than one may.
    result = await call(executor, *(["import time; time.sleep(6); print('x')"] * 3))
    assert (result.exit_code, result.output) == (0, "x\n" * 3)
    result = await call(executor, "print('begun', flush=True)\nimport time, signal\nsignal.signal(15, 1)\ntime.sleep(60)", "print(2)")
    assert (result.exit_code, result.output) == (124, "begun\n\n Timeout")


async def test_a_cancelled_call_is_dead_when_it_returns(work_dir: Path, executor: HotcellCommandLineCodeExecutor) -> None:
    token = CancellationToken()
    code = "import time; open('early', 'w'); print('begun', flush=True); time.sleep(600); open('late', 'w')"
    task = asyncio.create_task(executor.execute_code_blocks([CodeBlock(code, "python")], token))
    with Hotcell() as hotcell:
        for _ in hotcell.run_by_id(await newest_running(hotcell)).logs():
            break
        # From another thread, as link_future's callers do.
        await asyncio.to_thread(token.cancel)
        result = await task
        assert result.run and hotcell.run_by_id(result.run).result().outcome == "cancelled"
    assert result.exit_code == 1 and result.output.startswith("begun\nCode execution was cancelled.")
    assert set(tree(work_dir)) == {"early"}


async def test_a_token_that_is_cancelled_already_runs_nothing(executor: HotcellCommandLineCodeExecutor) -> None:
    token = CancellationToken()
    token.cancel()
    result = await executor.execute_code_blocks([CodeBlock("print(1)", "python")], token)
    assert result.exit_code == 1 and result.output.startswith("Code execution was cancelled.") and result.run is None


async def test_a_task_that_is_cancelled_ends_its_run(executor: HotcellCommandLineCodeExecutor, work_dir: Path) -> None:
    task = asyncio.create_task(call(executor, "import time; open('early', 'w'); time.sleep(600)"))
    with Hotcell() as hotcell:
        run = await newest_running(hotcell)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert hotcell.run_by_id(run).result().outcome == "cancelled"


def test_one_executor_serves_several_calls_and_several_event_loops(executor: HotcellCommandLineCodeExecutor, work_dir: Path) -> None:
    async def several(first: int) -> list[str]:
        calls = [call(executor, f"open('f{n}', 'w').write('{n}'); print({n})") for n in range(first, first + 3)]
        return [result.output for result in await asyncio.gather(*calls)]

    outputs: list[str] = asyncio.run(several(0))
    other = threading.Thread(target=lambda: outputs.extend(asyncio.run(several(3))))
    other.start()
    outputs += asyncio.run(several(6))
    other.join()
    assert sorted(outputs) == [f"{n}\n" for n in range(9)]
    assert tree(work_dir) == {f"f{n}": str(n) for n in range(9)}


async def test_start_stop_and_restart_in_any_order() -> None:
    executor = HotcellCommandLineCodeExecutor()
    await executor.stop()
    await executor.start()
    await executor.start()
    await call(executor, "open('x', 'w').write('kept')")
    await executor.restart()
    assert (await call(executor, "print(open('x').read())")).output == "kept\n"
    folder = executor.work_dir
    await executor.stop()
    await executor.stop()
    assert not folder.exists()
    with pytest.raises(RuntimeError, match="not properly initialized"):
        executor.work_dir


async def test_the_ends_that_only_cells_have_are_results_with_their_reason(work_dir: Path) -> None:
    executor = HotcellCommandLineCodeExecutor(work_dir=work_dir)
    result = await call(executor, "x = bytearray(2 * 1024**3)")
    assert result.exit_code in (1, 137) and "emory" in result.output, result
    with pytest.raises(HotcellError, match="nosuch"):
        await call(HotcellCommandLineCodeExecutor(work_dir=work_dir, policy="nosuch"), "1")


async def test_a_work_dir_past_the_limits_is_refused_with_what_is_too_large(work_dir: Path) -> None:
    (work_dir / "large.bin").write_bytes(bytes(70 * 1024**2))
    with pytest.raises(HotcellError, match=r"(?s)work_dir .*large\.bin"):
        await call(HotcellCommandLineCodeExecutor(work_dir=work_dir), "1")


async def test_a_large_folder_is_sent_once_and_its_changes_come_and_go(work_dir: Path, executor: HotcellCommandLineCodeExecutor) -> None:
    for n in range(300):
        (work_dir / f"{n}.txt").write_text(f"{n}" * 500)
    assert (await call(executor, "import os; print(len([f for f in os.listdir('.') if f[0] != 't']))")).output == "300\n"
    (work_dir / "0.txt").write_text("changed")
    (work_dir / "1.txt").unlink()
    result = await call(executor, "import os; print(open('0.txt').read(), os.path.exists('1.txt')); os.remove('2.txt'); open('3.txt', 'w')")
    assert result.output == "changed False\n", result
    here = tree(work_dir)
    assert len(here) == 298 and "2.txt" not in here and here["3.txt"] == "" and here["4.txt"] == "4" * 500
    with Hotcell() as hotcell:
        assert result.run and [one.name for one in hotcell.run_by_id(result.run).result().record.inputs] == ["workspace"]


def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


@with_requirements(
    python_packages=["numpy>=1.0"],
    global_imports=["numpy"],
)
def mean(values: list[float]) -> float:
    return float(numpy.mean(values))  # type: ignore[name-defined]  # noqa: F821


async def test_functions_can_be_imported_and_their_packages_are_compared_with_the_image(work_dir: Path) -> None:
    string = FunctionWithRequirements.from_str("def twice(x: int) -> int:\n    return 2 * x\n")
    plain = FunctionWithRequirements.from_callable(add)
    executor = HotcellCommandLineCodeExecutor(work_dir=work_dir, functions=[plain, mean, string])
    prompt = executor.format_functions_for_prompt()
    assert 'def add(a: int, b: int) -> int:\n    """Adds."""' in prompt and "functions" in prompt
    result = await call(executor, "from functions import add, mean, twice; print(add(1, 2), mean([1, 2]), twice(4))")
    assert (result.exit_code, result.output) == (0, "3 1.5 8\n")
    assert (work_dir / "functions.py").exists()
    wanting = FunctionWithRequirements.from_str("def f(): pass", python_packages=["numpy<1", "nosuch-package"])
    with pytest.raises(ValueError, match=r"Packages unavailable in environment: numpy<1 \(the image has .*\), nosuch-package"):
        await call(HotcellCommandLineCodeExecutor(work_dir=work_dir, functions=[wanting]), "1")
    broken = HotcellCommandLineCodeExecutor(
        work_dir=work_dir, functions=[FunctionWithRequirements.from_str("def f(): pass", global_imports=["nosuch"])]
    )
    for _ in "12":
        with pytest.raises(ValueError, match="(?s)Functions failed to load: .*nosuch"):
            await call(broken, "1")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("extra_volumes", {"/home": {"bind": "/mnt"}}),
        ("extra_hosts", {"a": "b"}),
        ("init_command", "true"),
        ("device_requests", [object()]),
    ],
)
def test_an_option_that_a_sealed_cell_cannot_have_is_refused_by_name(option: str, value: object) -> None:
    with pytest.raises(ValueError, match=option):
        HotcellCommandLineCodeExecutor(**{option: value})  # type: ignore[arg-type]
    HotcellCommandLineCodeExecutor(**{option: type(value)()})  # type: ignore[arg-type]


def test_the_other_options_are_taken(work_dir: Path, tmp_path: Path) -> None:
    executor = HotcellCommandLineCodeExecutor(
        "python:3-slim", "a-name", work_dir=str(work_dir), bind_dir=work_dir, stop_container=False
    )
    assert executor.bind_dir == executor.work_dir == work_dir and executor.timeout == 60
    with pytest.warns(UserWarning, match="auto_remove"):
        HotcellCommandLineCodeExecutor(auto_remove=False)
    with pytest.raises(ValueError, match="bind_dir"):
        HotcellCommandLineCodeExecutor(work_dir=work_dir, bind_dir=tmp_path)
    with pytest.raises(ValueError, match="identifier"):
        HotcellCommandLineCodeExecutor(functions_module="a-b")


async def test_a_dump_of_autogens_own_executor_loads_with_the_provider_changed(work_dir: Path) -> None:
    from autogen_ext.code_executors.docker import DockerCommandLineCodeExecutor

    dump = DockerCommandLineCodeExecutor(work_dir=work_dir, timeout=7).dump_component()
    dump.provider = "hotcell.autogen.HotcellCommandLineCodeExecutor"
    loaded = CodeExecutor.load_component(dump)
    assert isinstance(loaded, HotcellCommandLineCodeExecutor) and loaded.timeout == 7 and loaded.work_dir == work_dir
    assert isinstance(await call(loaded, "1"), CodeResult)
    ours = HotcellCommandLineCodeExecutor(api_key="hc_secret", url="http://127.0.0.1:1", policy="sealed").dump_component()
    assert "hc_secret" not in ours.model_dump_json() and ours.config["policy"] == "sealed"
