"""The executor in place of AutoGen's Jupyter executors: what is its own, beside AutoGen's tests of theirs."""

import asyncio
import threading
from pathlib import Path

import pytest
from autogen_core import CancellationToken
from autogen_core.code_executor import CodeBlock, CodeExecutor, CodeResult

from hotcell import Hotcell
from hotcell.autogen import HotcellJupyterCodeExecutor
from hotcell.autogen_jupyter_config import HotcellJupyterCodeResult


async def call(executor: HotcellJupyterCodeExecutor, *codes: str, language: str = "python") -> HotcellJupyterCodeResult:
    return await executor.execute_code_blocks([CodeBlock(code, language) for code in codes], CancellationToken())


async def test_names_files_and_pictures(tmp_path: Path) -> None:
    async with HotcellJupyterCodeExecutor(output_dir=tmp_path) as executor:
        assert (await call(executor, "x = 41", "x + 1")).output == "42"
        shell = await call(executor, "echo kept > note; cat note; exit 3", language="sh")
        assert (shell.exit_code, shell.output) == (3, "kept\n")
        drawn = await call(executor, "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\nprint(open('note').read())")
        (picture,) = drawn.output_files
        assert picture.parent == tmp_path and picture.read_bytes()[1:4] == b"PNG" and str(picture) in drawn.output
        table = await call(executor, "import pandas as pd\npd.DataFrame({'a': [1]})")
        assert [file.suffix for file in table.output_files] == [".html"] and "<table" in table.output_files[0].read_text()
        failed = await call(executor, "print('before')\n1/0", "never = 1")
        assert failed.exit_code == 1 and failed.output.startswith("before\n\n-----") and "ZeroDivisionError" in failed.output
        assert "never" in (await call(executor, "never")).output
        session = failed.run
    with Hotcell() as hotcell:
        assert session and hotcell.run_by_id(session).result().outcome == "succeeded"


async def test_a_block_that_takes_too_long_is_stopped_and_names_stay() -> None:
    async with HotcellJupyterCodeExecutor(timeout=2) as executor:
        await call(executor, "x = 1")
        late = await call(executor, "x = 2\nwhile True: pass", "x = 3")
        assert late.exit_code == 1 and "Timeout" in late.output
        assert (await call(executor, "x")).output == "2"


async def test_a_cancelled_call_raises_when_its_step_is_over_and_names_stay() -> None:
    async with HotcellJupyterCodeExecutor() as executor:
        token = CancellationToken()
        code = "x = 1\nprint('begun', flush=True)\nwhile True: pass"
        task = asyncio.create_task(executor.execute_code_blocks([CodeBlock(code, "python")], token))
        await executor.start()
        session = await asyncio.to_thread(executor._open)
        await asyncio.to_thread(lambda: next(iter(session.logs())))
        # From another thread, as link_future's callers do.
        await asyncio.to_thread(token.cancel)
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await call(executor, "x")).output == "1"
        assert session.step_end(0).outcome == "cancelled"
        cancelled = CancellationToken()
        cancelled.cancel()
        with pytest.raises(asyncio.CancelledError):
            await executor.execute_code_blocks([CodeBlock("x = 2", "python")], cancelled)
        assert (await call(executor, "x")).output == "1"


async def test_a_restart_forgets_and_a_session_that_ended_says_so() -> None:
    executor = HotcellJupyterCodeExecutor()
    await executor.stop()
    await call(executor, "x = 1")
    await executor.restart()
    assert "NameError" in (await call(executor, "x")).output
    session = (await call(executor, "1")).run
    with Hotcell() as hotcell:
        hotcell.run_by_id(str(session)).cancel("not needed")
        hotcell.run_by_id(str(session)).result()
    ended = await call(executor, "1")
    assert ended.exit_code == 1 and "its names are gone" in ended.output
    again = await call(executor, "2")
    assert again.output == "2" and again.run != session
    await executor.stop()
    await executor.stop()


def test_one_executor_serves_several_event_loops() -> None:
    executor = HotcellJupyterCodeExecutor()

    async def several() -> list[str]:
        calls = [call(executor, "n = globals().get('n', 0) + 1; print(n)") for _ in "123"]
        return [result.output for result in await asyncio.gather(*calls)]

    outputs: list[str] = asyncio.run(several())
    other = threading.Thread(target=lambda: outputs.extend(asyncio.run(several())))
    other.start()
    other.join()
    assert sorted(outputs) == [f"{n}\n" for n in range(1, 7)]
    asyncio.run(executor.stop())


def test_options_are_taken_or_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="jupyter_server is not available.*output_dir"):
        HotcellJupyterCodeExecutor(object())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Kernel julia is not installed"):
        asyncio.run(HotcellJupyterCodeExecutor(kernel_name="julia").start())
    made = HotcellJupyterCodeExecutor(output_dir=tmp_path / "made", timeout=7, policy="sealed", api_key="hc_secret")
    dump = made.dump_component()
    assert "hc_secret" not in dump.model_dump_json()
    loaded = CodeExecutor.load_component(dump)
    assert isinstance(loaded, HotcellJupyterCodeExecutor) and loaded.output_dir == tmp_path / "made"


async def test_the_result_is_one_of_autogens_own() -> None:
    async with HotcellJupyterCodeExecutor() as executor:
        result = await call(executor, "print(1)")
    assert isinstance(result, CodeResult) and result == HotcellJupyterCodeResult(0, "1\n", [])
