import pandas
import os, sys, atexit, subprocess, threading

# Each way to end, in a child of its own: a fork of this very interpreter.
def ends(how):
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        how()
        raise AssertionError
    _, status = os.waitpid(pid, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)


for value in (None, 0, 3, 256, -1, 2**40, "a word", "", 1.5, (1, 2), [], True, b"x", "\ud800"):
    ends(lambda: os._exit(7) if value is None else sys.exit(value))
print(subprocess.run([sys.executable, "-c", "import sys; print(sys.argv, 'pandas' in sys.modules, sys.path)"], capture_output=True))
atexit.register(print, "first registered")
atexit.register(print, "then registered")
threading.Thread(target=lambda: (threading.main_thread().join(), print("a thread after the main one"))).start()
sys.exit("the last word")
