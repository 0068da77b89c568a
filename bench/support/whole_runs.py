"""Whole runs over HTTP beside AutoGen's warm calls on the same image. Prints one line of JSON for each figure."""

import asyncio
import json
import os
import sys
import time
from collections import defaultdict
from pathlib import Path
from statistics import median

import httpx
from autogen_core import CancellationToken
from autogen_core.code_executor import CodeBlock
from autogen_ext.code_executors.docker import DockerCommandLineCodeExecutor

rounds, burst, image, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], Path(sys.argv[4])

programs = {
    "print": "print('hi')",
    "pandas": "import pandas as pd; print('hi' if pd.DataFrame({'a': range(1000)}).a.sum() == 499500 else 'no')",
}
stages = ("queuedMs", "stagedMs", "sealedMs", "ranMs", "committedMs")
spent: dict[str, list[float]] = defaultdict(list)


def say(name: str, **figures: float) -> None:
    print(json.dumps({"name": name, **figures}), flush=True)


async def ours(client: httpx.AsyncClient, code: str) -> None:
    body = {"blocks": [{"language": "python", "code": code}]}
    answer = await client.post("/v1/runs", json=body, headers={"prefer": "wait=60"})
    result = answer.raise_for_status().json()
    if result.get("outcome") != "succeeded" or result["stdout"] != "hi\n":
        raise RuntimeError(f"a run ended with {result}")
    for stage in stages:
        spent[stage].append(result["timings"].get(stage) or 0)


async def theirs(executor: DockerCommandLineCodeExecutor, code: str) -> None:
    result = await executor.execute_code_blocks([CodeBlock(code, "python")], CancellationToken())
    if (result.exit_code, result.output.strip()) != (0, "hi"):
        raise RuntimeError(f"a call ended with {result.exit_code}: {result.output}")


async def took(work) -> float:
    since = time.perf_counter()
    await work
    return 1000 * (time.perf_counter() - since)


async def at_once(count: int, parallel: int, make) -> tuple[float, list[float]]:
    """The seconds that all take, at most so many at a time, and the milliseconds from the beginning to each answer."""
    gate, ended, since = asyncio.Semaphore(parallel), [], time.perf_counter()

    async def one() -> None:
        async with gate:
            await make()
        ended.append(1000 * (time.perf_counter() - since))

    await asyncio.gather(*(one() for _ in range(count)))
    return time.perf_counter() - since, sorted(ended)


async def main() -> None:
    limits = httpx.Limits(max_connections=256)
    headers = {"authorization": f"Bearer {os.environ['HOTCELL_API_KEY']}"}
    async with (
        httpx.AsyncClient(base_url=os.environ["HOTCELL_URL"], headers=headers, limits=limits, timeout=120) as client,
        DockerCommandLineCodeExecutor(image, work_dir=folder) as executor,
    ):
        for name, code in programs.items():
            for _ in range(2):
                await ours(client, code)
                await theirs(executor, code)
            spent.clear()
            figures = [(await took(ours(client, code)), await took(theirs(executor, code))) for _ in range(rounds)]
            say(f"end-to-end/{name}", value=median(a for a, _ in figures), baseline=median(b for _, b in figures))
            if name == "print":
                for stage in stages:
                    say(f"end-to-end/{stage.removesuffix('Ms')}", value=median(spent[stage]))
        code = programs["print"]
        warm, _ = await at_once(4 * rounds, 4, lambda: theirs(executor, code))
        for parallel in (4, 16):
            seconds, _ = await at_once(4 * rounds, parallel, lambda: ours(client, code))
            say(f"throughput/{parallel}", value=4 * rounds / seconds, baseline=4 * rounds / warm)
        _, answers = await at_once(burst, burst, lambda: ours(client, code))
        _, warm_answers = await at_once(burst, 4, lambda: theirs(executor, code))
        for name, share in (("median", 0.5), ("p99", 0.99)):
            last = min(burst - 1, int(burst * share))
            say(f"burst/{name}", value=answers[last], baseline=warm_answers[last])


asyncio.run(main())
