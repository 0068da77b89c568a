import os
import subprocess

# /work is the one place from which programs run.
with open("/work/program", "w") as file:
    file.write("#!/bin/sh\necho it runs\n")
os.chmod("/work/program", 0o755)
assert subprocess.run(["/work/program"], capture_output=True, text=True, check=True).stdout == "it runs\n"
