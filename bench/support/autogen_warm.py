"""Warm calls of AutoGen's Docker executor. Prints the median in milliseconds."""

import asyncio
import sys
import time
from pathlib import Path
from statistics import median

from autogen_core import CancellationToken
from autogen_core.code_executor import CodeBlock
from autogen_ext.code_executors.docker import DockerCommandLineCodeExecutor

rounds, image, folder = int(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
# A program that prints "hi".
code = sys.argv[4] if len(sys.argv) > 4 else "print('hi')"


async def main() -> None:
    figures = []
    async with DockerCommandLineCodeExecutor(image, work_dir=folder) as executor:
        for _ in range(rounds + 2):
            since = time.perf_counter()
            result = await executor.execute_code_blocks([CodeBlock(code, "python")], CancellationToken())
            if (result.exit_code, result.output.strip()) != (0, "hi"):
                raise RuntimeError(f"a call ended with {result.exit_code}: {result.output}")
            figures.append(1000 * (time.perf_counter() - since))
    print(median(figures[2:]))


asyncio.run(main())
