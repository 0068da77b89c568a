"""Calls of our executor and of AutoGen's, in turns. Prints one line of JSON for each figure."""

import asyncio
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from autogen_core import CancellationToken
from autogen_core.code_executor import CodeBlock, CodeExecutor
from autogen_ext.code_executors.docker import DockerCommandLineCodeExecutor

from hotcell import AsyncHotcell
from hotcell.autogen import HotcellCommandLineCodeExecutor

rounds, at_once, image, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], Path(sys.argv[4])


def say(name: str, **figures: float) -> None:
    print(json.dumps({"name": name, **figures}), flush=True)


async def took(executor: CodeExecutor, code: str = "print('hi')") -> float:
    since = time.perf_counter()
    result = await executor.execute_code_blocks([CodeBlock(code, "python")], CancellationToken())
    if (result.exit_code, result.output.strip()) != (0, "hi"):
        raise RuntimeError(f"a call ended with {result.exit_code}: {result.output}")
    return 1000 * (time.perf_counter() - since)


async def in_turns(**executors: CodeExecutor) -> dict[str, float]:
    figures: dict[str, list[float]] = {name: [] for name in executors}
    for _ in range(2):
        for executor in executors.values():
            await took(executor)
    for _ in range(rounds):
        for name, executor in executors.items():
            figures[name].append(await took(executor))
    return {name: median(values) for name, values in figures.items()}


async def calls() -> None:
    for name in ("empty", "full", "theirs"):
        (folder / name).mkdir()
    for n in range(200):
        (folder / "full" / f"{n}.txt").write_text(f"{n} " * 400)
    async with DockerCommandLineCodeExecutor(image, work_dir=folder / "theirs") as theirs:
        empty = HotcellCommandLineCodeExecutor(work_dir=folder / "empty")
        full = HotcellCommandLineCodeExecutor(work_dir=folder / "full")
        figures = await in_turns(ours=empty, full=full, theirs=theirs)
        say("call", value=figures["ours"], baseline=figures["theirs"])
        say("unchanged-files", value=figures["full"] - figures["ours"])


def resident() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


async def many() -> None:
    async with AsyncHotcell() as hotcell:
        before = 0.0
        for first in (True, False):
            results = await asyncio.gather(*(hotcell.run(f"print({n})") for n in range(at_once)))
            if sorted(int(result.stdout) for result in results) != list(range(at_once)):
                raise RuntimeError("a run has the output of another")
            if first:
                before = resident()
        say("growth", value=resident() - before)


def imports() -> None:
    code = "import time; t = time.perf_counter(); from hotcell import Hotcell; print(1000 * (time.perf_counter() - t))"
    times = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(max(5, rounds // 4))]
    say("import", value=median(times))


os.chdir(folder)
asyncio.run(calls())
asyncio.run(many())
imports()
