"""Every object under a prefix into a folder, or every file of a folder under a prefix, by obstore at its best."""
import asyncio, json, os, sys, time
import obstore
from obstore.store import S3Store

asked = json.loads(sys.argv[1])
store = S3Store(
    asked["bucket"], endpoint=asked["endpoint"], access_key_id=asked["accessKey"],
    secret_access_key=asked["secretKey"], region=asked["region"], virtual_hosted_style_request=False,
    client_options={"allow_http": True},
)
folder, prefix = asked["folder"], asked["prefix"]


async def get(key):
    body = await obstore.get_async(store, key)
    with open(os.path.join(folder, key.rsplit("/", 1)[1]), "wb") as file:
        async for chunk in body.stream(min_chunk_size=1 << 20):
            file.write(chunk)


async def put(name):
    path = os.path.join(folder, name)
    small = os.path.getsize(path) < 1 << 20
    await obstore.put_async(store, prefix + name, open(path, "rb").read() if small else open(path, "rb"))


async def main():
    if asked["verb"] == "get":
        keys = [one["path"] for page in obstore.list(store, prefix) for one in page]
    else:
        keys = os.listdir(folder)
    work = get if asked["verb"] == "get" else put
    queue = iter(keys)

    async def lane():
        for key in queue:
            await work(key)

    since = time.perf_counter()
    await asyncio.gather(*(lane() for _ in range(64)))
    print((time.perf_counter() - since) * 1000)


asyncio.run(main())
