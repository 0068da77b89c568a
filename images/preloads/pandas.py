# usercustomize of python 3.13
"""An interpreter that waits for its script with pandas loaded.

Python imports this file by itself, after its own start and before it opens its script: so no frame of it lies below the
script, and everything from there on is Python's own. It loads the roots, says so, and waits. When the script is there, it
goes on only where a fresh interpreter would come to the same state: the script has to import all roots itself before it
does anything else. Otherwise it becomes a fresh interpreter, in the same process.
"""

import os
import sys

ROOTS = ("pandas",)

CHANNEL = 99
MOST_READ = 65536


class Asked:
    """Notes every module that the roots look for: a file of that name beside the script would change what they load."""

    def __init__(self):
        self.names = set()

    def find_spec(self, name, path=None, target=None):
        self.names.add(name.partition(".")[0])


def load():
    """The names at the top level that the roots asked for, found or not."""
    asked = Asked()
    sys.meta_path.insert(0, asked)
    for root in ROOTS:
        __import__(root)
    sys.meta_path.remove(asked)
    return asked.names | {name.partition(".")[0] for name in sys.modules}


def behind_docstring(quotes, text, lines):
    """Nothing, if the line on which it ends has nothing else; None where its end is not plain to see."""
    while quotes not in text:
        if "\\" in text:
            return None
        text = next(lines, quotes + ";")
    inside, _, rest = text.partition(quotes)
    return None if "\\" in inside or rest.strip() else ""


def statements(text):
    """The script's first lines, one statement in each; None where that is not plain to see."""
    lines = iter(text.split("\n"))
    for line in lines:
        if not line or line.isspace() or line.lstrip(" ").startswith("#"):
            continue
        if line[0] in " \t\f":
            yield None
        if line.startswith(('"""', "'''")):
            line = behind_docstring(line[:3], line[3:], lines)
        if line is None:
            yield None
        if line.startswith("from ") and "(" in line:
            while ")" not in line.partition("#")[0]:
                more = next(lines, None)
                if more is None:
                    yield None
                line = line.partition("#")[0] + " " + more
            line = line.replace("(", " ", 1).replace(")", " ", 1)
        if line != "":
            yield line.partition("#")[0]


def imported(statement):
    """The modules that a statement imports, if it does nothing else."""
    if statement is None or any(sign in statement for sign in ";\\()*\"'"):
        return None
    words = statement.replace(",", " , ").split()
    if not words or not all(word == "," or all(map(str.isidentifier, word.split("."))) for word in words):
        return None
    if words[0] == "from" and len(words) > 3 and words[2] == "import":
        return [words[1]]
    if words[0] != "import":
        return None
    parts = " ".join(words[1:]).split(" , ")
    names = [part.split() for part in parts]
    if all(len(one) == 1 or (len(one) == 3 and one[1] == "as") for one in names):
        return [one[0] for one in names]
    return None


def imports_roots_first(text, known):
    missing = set(ROOTS)
    for statement in statements(text):
        names = imported(statement)
        if names is None:
            return False
        for name in names:
            top = name.partition(".")[0]
            if top not in known and top not in sys.stdlib_module_names:
                return False
            missing = {root for root in missing if name != root and not name.startswith(root + ".")}
        if not missing:
            return True
    return False


def is_like_fresh(known):
    script = sys.argv[0]
    for entry in os.listdir():
        top = entry.partition(".")[0]
        can_be_imported = entry.endswith((".py", ".pyc", ".so")) or os.path.isdir(entry)
        if entry != script and can_be_imported and (top in known or top in sys.stdlib_module_names):
            return False
    with open(script, "rb") as file:
        head = file.read(MOST_READ)
    # Another encoding, or another end of lines, is for Python itself to read.
    if len(head) == MOST_READ:
        head = head[: head.rfind(b"\n") + 1]
    try:
        text = head.decode().replace("\r\n", "\n")
    except ValueError:
        return False
    first, second = (text.split("\n", 2) + ["", ""])[:2]
    if "coding" in first + second or any(sign in text for sign in "\r\0\f\ufeff"):
        return False
    return imports_roots_first(text, known)


def wait():
    folder = os.path.dirname(__file__)
    sys.path[:] = [one for one in sys.path if one != folder]
    before = set(sys.modules)
    known = load()
    loaded = set(sys.modules)
    os.write(CHANNEL, b"R")
    if os.read(CHANNEL, 1) != b"G":
        os._exit(0)
    os.close(CHANNEL)
    sys.path_importer_cache.pop(folder, None)
    if not is_like_fresh(known | before):
        os.execvp(sys.orig_argv[0], sys.orig_argv)
    logging = sys.modules.get("logging")
    if logging is not None:
        import time

        logging._startTime = time.time_ns()
    for name in set(sys.modules) - loaded:
        del sys.modules[name]


wait()
# As if there were no such file: Python forgets this module, and says nothing.
raise ImportError(name=__name__)
