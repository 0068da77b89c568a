# The interpreter of a session: it runs the steps of one cell in one namespace. Init starts it as the job's user and feeds
# it over the pair of sockets that is its stdin. What it says there is the job's word: code of a step shares this process.
import os
import signal
import socket
import struct
import sys

WORK = '/work'
NONCE = 16
MOST = 65536
DONE, DISPLAY, DATA = 0, 1, 2
NO_INPUT = 'A step of a session has no input: put what it needs into its code, its files or the inputs of the session.'


class Channel:
    def __init__(self):
        self.socket = socket.socket(fileno=os.dup(0))
        self.socket.setblocking(True)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.close(null)
        self.nonce = b''

    def take(self):
        """The path of the next step's code; None when there will be no more."""
        head = self.exactly(4)
        if head is None:
            return None
        message = self.exactly(struct.unpack('<I', head)[0])
        if message is None:
            return None
        self.nonce = message[:NONCE]
        return message[NONCE:].decode()

    def exactly(self, length):
        got = b''
        while len(got) < length:
            more = self.socket.recv(length - len(got))
            if not more:
                return None
            got += more
        return got

    def say(self, kind, payload):
        self.socket.sendall(struct.pack('<I', NONCE + 1 + len(payload)) + self.nonce + bytes([kind]) + payload)

    def display(self, role, bundle):
        """One thing in several forms: their types and sizes, then their bytes."""
        import json

        forms = [(kind, as_bytes(kind, value)) for kind, value in bundle.items()]
        about = {'role': role, 'forms': [{'type': str(kind)[:100], 'size': len(data)} for kind, data in forms[:16]]}
        self.say(DISPLAY, json.dumps(about).encode())
        for _, data in forms[:16]:
            for at in range(0, len(data), MOST):
                self.say(DATA, data[at : at + MOST])


def as_bytes(kind, value):
    import base64
    import json

    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    if not isinstance(value, str):
        return json.dumps(value, default=str).encode()
    # Pictures come in base64, but for the one that is text.
    if kind.startswith('image/') and not kind.startswith('image/svg'):
        return base64.b64decode(value)
    return value.encode('utf-8', 'replace')


def no_input(*_words, **_more):
    __tracebackhide__ = True
    raise RuntimeError(NO_INPUT)


def system(command):
    """`!command`: in the cell, into the log of the step."""
    import subprocess

    flush()
    return subprocess.call(command, shell=True, executable='/bin/bash' if os.path.exists('/bin/bash') else None)


def output_of(command):
    import subprocess

    shell = '/bin/bash' if os.path.exists('/bin/bash') else None
    done = subprocess.run(command, shell=True, executable=shell, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout.decode('utf-8', 'replace')


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass


def notebook(channel):
    """A step as IPython runs a cell of a notebook."""
    os.environ.setdefault('IPYTHONDIR', '/tmp/.ipython')
    os.environ.setdefault('MPLBACKEND', 'module://matplotlib_inline.backend_inline')
    import warnings

    from IPython.core.displayhook import DisplayHook
    from IPython.core.displaypub import DisplayPublisher
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets import Type
    from traitlets.config import Config

    class Hook(DisplayHook):
        def start_displayhook(self):
            pass

        def write_output_prompt(self):
            pass

        def write_format_data(self, format_dict, md_dict=None):
            channel.display('result', format_dict)

        def finish_displayhook(self):
            flush()

    class Publisher(DisplayPublisher):
        def publish(self, data, metadata=None, *_rest, **_more):
            channel.display('display', data)

        def clear_output(self, wait=False):
            pass

    class Shell(InteractiveShell):
        displayhook_class = Type(Hook)
        display_pub_class = Type(Publisher)

        def init_io(self):
            pass

        def system(self, command):
            self.user_ns['_exit_code'] = system(self.var_expand(command, depth=1))

        system_piped = system_raw = system

        def getoutput(self, command, split=True, depth=0):
            from IPython.utils.text import LSString, SList

            text = output_of(self.var_expand(command, depth=depth + 1))[1]
            return SList(text.splitlines()) if split else LSString(text)

        def showtraceback(self, *words, **more):
            if isinstance(sys.exc_info()[1], SystemExit):
                return
            super().showtraceback(*words, **more)

        def _showtraceback(self, _kind, _error, lines):
            print(self.InteractiveTB.stb2text(lines), file=sys.stderr)

    config = Config()
    config.InteractiveShell.colors = 'nocolor'
    config.HistoryManager.enabled = False
    shell = Shell.instance(config=config)
    for name in ('exit', 'quit'):
        shell.user_ns.pop(name, None)
    warnings.filterwarnings('ignore', message='To exit: use')

    def run(code, _path):
        found = shell.run_cell(code, store_history=True)
        return found.error_before_exec or found.error_in_exec

    return run


def plain(channel):
    """Without IPython: the value of the last expression is shown as its repr."""
    import ast
    import builtins
    import inspect
    import linecache
    import traceback
    import types

    module = types.ModuleType('__main__')
    sys.modules['__main__'] = module
    names = module.__dict__
    names['__builtins__'] = builtins

    def evaluate(tree, path, mode):
        value = eval(compile(tree, path, mode, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
        if not inspect.iscoroutine(value):
            return value
        import asyncio

        return asyncio.new_event_loop().run_until_complete(value)

    def run(code, path):
        linecache.cache[path] = (len(code), None, code.splitlines(True), path)
        try:
            tree = ast.parse(code, path)
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            evaluate(tree, path, 'exec')
            if last is not None:
                value = evaluate(ast.Expression(last.value), path, 'eval')
                if value is not None:
                    names['_'] = value
                    channel.display('result', {'text/plain': repr(value)})
        except SystemExit as error:
            return error
        except BaseException as error:
            # Without this file's own frames.
            shown = error.__traceback__
            while shown is not None and shown.tb_frame.f_code.co_filename != path:
                shown = shown.tb_next
            traceback.print_exception(type(error), error, shown)
            return error
        return None

    return run


def ending_of(error):
    if error is None:
        return {'status': 'ok', 'exitCode': 0}
    if isinstance(error, KeyboardInterrupt):
        return {'status': 'interrupted', 'exitCode': 130}
    if isinstance(error, SystemExit):
        code = error.code
        if code is None or isinstance(code, int):
            return {'status': 'exited', 'exitCode': (code or 0) & 255}
        print(code, file=sys.stderr)
        return {'status': 'exited', 'exitCode': 1}
    name, message = type(error).__name__, str(error)
    return {'status': 'error', 'exitCode': 1, 'name': name[:200], 'message': message[:2000]}


def main():
    import builtins
    import getpass
    import json

    channel = Channel()
    sys.argv = ['']
    builtins.input = getpass.getpass = no_input
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        run = notebook(channel)
    except ImportError:
        run = plain(channel)
    own = os.getpid()
    while True:
        path = channel.take()
        if path is None:
            return
        with open(os.path.join(WORK, path), encoding='utf-8', newline='') as file:
            code = file.read()
        error = None
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            error = run(code, path)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        except BaseException as late:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            error = late
        if os.getpid() != own:
            # The step forked, and this is the child.
            flush()
            os._exit(0)
        ending = ending_of(error)
        flush()
        channel.say(DONE, json.dumps(ending).encode())


main()
