"""
The deliberately weak container: root, every capability, no filter, the host's network. It runs each attack as a naive
executor would: the code of all blocks in one writable folder, a terminal as input, descriptors handed on.
"""
import json, os, pty, shutil, signal, subprocess, sys, tempfile

plan = json.load(open("/attack/plan.json"))
try:
    shutil.copy("/usr/bin/id", "/usr/local/bin/setuid-root")
    os.chmod("/usr/local/bin/setuid-root", 0o4755)
except OSError as error:
    print("no setuid program: %s" % error, file=sys.stderr)
os.makedirs("/work", exist_ok=True)
environment = dict(os.environ, PYTHONPATH="/attack")
if plan["ownNetwork"]:
    # Where no container can have the host's network, it gets one of its own, with services and a neighbour in it.
    import neighbour, network

    kept = network.make(), network.serve(json.load(open("/attack/where.json"))), neighbour.settle()


def run(path):
    master, slave = pty.openpty()
    os.write(master, b"typed\n")

    handed_on = [os.open(path, os.O_RDONLY) for path in ("/attack/plan.json", "/attack")]
    # A file, not a pipe: what an attack leaves running must not be waited for.
    with tempfile.TemporaryFile(dir="/work") as said:
        try:
            subprocess.run(["setsid", "--ctty", "python3", path], stdin=slave, stdout=said, stderr=said, cwd="/",
                           env=environment, pass_fds=handed_on, timeout=plan["seconds"])
        except subprocess.TimeoutExpired:
            return "it took longer than %s s" % plan["seconds"]
        finally:
            for fd in (master, slave, *handed_on):
                os.close(fd)
        said.seek(0)
        return said.read().decode(errors="replace")


for attack in plan["attacks"]:
    paths = []
    for index, code in enumerate(attack["blocks"]):
        path = "/work/block_%d.py" % index
        shutil.rmtree(path, ignore_errors=True)
        with open(path, "w") as file:
            file.write(code)
        paths.append(path)
    said = "".join(run(path) for path in paths)
    try:
        # This is the container's PID 1: what is left of one attack must not disturb the next.
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        pass
    print(json.dumps({"name": attack["name"], "said": said}), flush=True)
