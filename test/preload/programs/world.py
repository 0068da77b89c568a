"""What a program sees of the interpreter and of the cell before it does anything."""
import os, sys, site, gc, signal, threading, warnings
import pandas as pd

import faulthandler
import locale
import resource

print(sys.argv, sys.orig_argv, sys.path, sys.flags, sys._xoptions, sys.warnoptions)
print(sorted(sys.modules), sys.meta_path, sys.path_hooks, sorted(sys.path_importer_cache))
print(__name__, __file__, __doc__, __spec__, type(__loader__).__name__, __builtins__.__name__, sorted(globals()))
print(sys.executable, sys.prefix, sys.getrecursionlimit(), sys.getswitchinterval(), sys.gettrace(), sys.getprofile())
print(sys.excepthook is sys.__excepthook__, sys.displayhook is sys.__displayhook__, sys.stdin.fileno(), sys.stdin.isatty())
print([repr(s) for s in (sys.stdin, sys.stdout, sys.stderr)], sys.stdin.seekable(), sys.stdin.read())
print(site.ENABLE_USER_SITE, site.USER_SITE, site.PREFIXES, os.path.exists(site.USER_SITE))
print(os.getcwd(), sorted(os.listdir()), os.umask(0o22), list(os.environ.items()))
print(open("/proc/self/cmdline").read(), open("/proc/self/environ").read(), open("/proc/self/comm").read())
print(sorted(os.listdir("/proc/self/fd")), [os.fstat(fd).st_mode for fd in (0, 1, 2)], os.open("/dev/null", os.O_RDONLY))
print({s: signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGCHLD)}, signal.pthread_sigmask(signal.SIG_BLOCK, []))
print(threading.current_thread(), threading.enumerate(), gc.isenabled(), gc.get_threshold(), gc.get_freeze_count())
print(warnings.filters, faulthandler.is_enabled(), locale.setlocale(locale.LC_ALL), locale.getpreferredencoding())
print(os.getpriority(os.PRIO_PROCESS, 0), os.getsid(0) == os.getpid(), os.getpgid(0) == os.getpid(), os.sched_getaffinity(0))
print([(n, resource.getrlimit(getattr(resource, n))) for n in sorted(dir(resource)) if n.startswith("RLIMIT_")])
print(sys.getfilesystemencoding(), sys.stdout.encoding, sys.stdout.line_buffering, sys.stdout.write_through, len(sys._current_frames()))
import inspect

print([frame.function for frame in inspect.stack()], sys._getframe().f_back)
print(os.access("/work/.local", os.F_OK), pd.DataFrame({"a": [1]}).to_csv())
