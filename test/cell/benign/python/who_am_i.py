import getpass
import grp
import os
import pathlib
import pwd
import socket

assert getpass.getuser() == "job"
assert pwd.getpwuid(os.getuid()).pw_dir == "/work"
assert grp.getgrgid(os.getgid()).gr_name == "job"
assert pathlib.Path.home() == pathlib.Path("/work") and os.path.expanduser("~") == "/work"
assert socket.gethostname() == "cell"
assert (os.cpu_count() or 0) >= 1 and len(os.sched_getaffinity(0)) >= 1
