"""A neighbour that is easy to meet: it listens on a port and an abstract socket, and has a shared segment and a file."""
import fcntl, threading, time
from attack import *

# One of each kind of file that every cell has, and in the weak container one that both have.
places = ["/cell-init", "/etc/hosts", "/etc/passwd", "/sys/devices/system/cpu/online", "/dev/null", "/dev/urandom",
          "/usr/bin/env", "/proc/sys/kernel/ostype", "/proc/version", "/attack/attack.py"]


def lock():
    held = []
    for path in places:
        try:
            held.append(open(path, "rb"))
            fcntl.flock(held[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            pass
    return held


def look_again():
    while True:
        for path in places:
            tried(lambda: open(path, "rb").close())
        time.sleep(0.02)


def settle():
    port = socket.create_server(("127.0.0.1", 47011))
    abstract = socket.socket(socket.AF_UNIX)
    abstract.bind("\0hotcell-neighbour")
    abstract.listen()
    with open("/dev/shm/neighbour", "w") as file:
        file.write("here")
    threading.Thread(target=look_again, daemon=True).start()
    # A segment stays when who made it goes.
    return port, abstract, lock(), syscall("shmget", 0x48434C4C, 4096, 0o1666)


if __name__ == "__main__":
    settled = settle()
    print("READY " + settled[-1], flush=True)
    signal.pause()
