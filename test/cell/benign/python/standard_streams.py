import subprocess
import sys

# Opened again by name: the pipes are the job's own.
with open("/dev/stderr", "w") as file:
    file.write("by /dev/stderr\n")
with open("/dev/stdout", "w") as file:
    file.write("by /dev/stdout\n")
subprocess.run("echo by the shell > /dev/stderr; echo x | tee /dev/stderr > /dev/null", shell=True, check=True)
assert sys.stdin.read() == ""
