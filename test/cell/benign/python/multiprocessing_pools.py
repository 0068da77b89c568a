import multiprocessing as mp
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import shared_memory


def square(n):
    return n * n


def add(lock, value):
    for _ in range(100):
        with lock:
            value.value += 1


if __name__ == "__main__":
    lock, value = mp.Lock(), mp.Value("i", 0, lock=False)
    workers = [mp.Process(target=add, args=(lock, value)) for _ in range(4)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    assert value.value == 400
    with mp.Pool(3) as pool:
        assert pool.map(square, range(10))[9] == 81
    with ProcessPoolExecutor(2, mp_context=mp.get_context("spawn")) as pool:
        assert sum(pool.map(square, range(4))) == 14
    queue = mp.Queue()
    queue.put("x" * 100000)
    assert len(queue.get()) == 100000
    block = shared_memory.SharedMemory(create=True, size=1 << 20)
    block.buf[:5] = b"hello"
    again = shared_memory.SharedMemory(block.name)
    assert bytes(again.buf[:5]) == b"hello"
    again.close()
    block.close()
    block.unlink()
