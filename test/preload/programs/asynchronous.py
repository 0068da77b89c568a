import pandas
import asyncio, threading, contextvars, logging, sys

logging.basicConfig(stream=sys.stdout, format="%(levelname)s %(name)s %(module)s:%(lineno)d %(process)s" .replace("%(process)s", "") + "%(message)s", level=logging.INFO)
early = logging.makeLogRecord({}).relativeCreated < 60_000
logging.getLogger("x").info("started lately: %s", early)
state = contextvars.ContextVar("state", default=0)


async def steps(n):
    state.set(n)
    await asyncio.sleep(0)
    return state.get()


async def main():
    process = await asyncio.create_subprocess_exec("cat", stdout=asyncio.subprocess.PIPE)
    print(await asyncio.gather(*map(steps, range(3))), await process.communicate())
    asyncio.get_running_loop().call_soon(lambda: 1 / 0)
    await asyncio.sleep(0)


asyncio.run(main(), debug=False)
threading.Thread(target=lambda: 1 / 0, name="fails").start()
