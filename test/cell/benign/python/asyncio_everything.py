import asyncio
import sys


async def main():
    async def greet(reader, writer):
        writer.write(await reader.readline())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(greet, "localhost", 0)
    port = server.sockets[0].getsockname()[1]
    reader, writer = await asyncio.open_connection("localhost", port)
    writer.write(b"hello\n")
    assert await reader.readline() == b"hello\n"
    writer.close()
    server.close()
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", "print(42)", stdout=asyncio.subprocess.PIPE)
    said, _ = await child.communicate()
    assert said == b"42\n"
    await asyncio.gather(*(asyncio.sleep(0) for _ in range(100)))
    assert await asyncio.get_running_loop().run_in_executor(None, lambda: 7) == 7


asyncio.run(main())
