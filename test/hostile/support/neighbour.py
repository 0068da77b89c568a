"""A neighbour that is easy to meet: it listens on a port and an abstract socket, and has a shared segment and a file."""
from attack import *


def settle():
    port = socket.create_server(("127.0.0.1", 47011))
    abstract = socket.socket(socket.AF_UNIX)
    abstract.bind("\0hotcell-neighbour")
    abstract.listen()
    with open("/dev/shm/neighbour", "w") as file:
        file.write("here")
    # A segment stays when who made it goes.
    return port, abstract, syscall("shmget", 0x48434C4C, 4096, 0o1666)


if __name__ == "__main__":
    settled = settle()
    print("READY " + settled[-1], flush=True)
    signal.pause()
