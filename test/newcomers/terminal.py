"""A terminal of COLUMNS columns around a program: what comes on stdin is typed, what goes to stdout is the screen."""

import fcntl
import os
import pty
import select
import struct
import sys
import termios

columns, program = int(sys.argv[1]), sys.argv[2:]
child, screen = pty.fork()
if child == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.execvp(program[0], program)

typed = True
while True:
    ready, _, _ = select.select([screen, *([0] if typed else [])], [], [])
    if 0 in ready:
        keys = os.read(0, 4096)
        typed = len(keys) > 0
        os.write(screen, keys)
    if screen in ready:
        try:
            shown = os.read(screen, 4096)
        except OSError:  # Linux says so when the last process of the terminal has ended.
            break
        if not shown:
            break
        os.write(1, shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
