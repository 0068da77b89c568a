import subprocess
import sys

said = subprocess.run([sys.executable, "-c", "print(input())"], input="hello", capture_output=True, text=True, check=True)
assert said.stdout == "hello\n"
piped = subprocess.run("echo one two | tr ' ' '\\n' | wc -l", shell=True, capture_output=True, text=True, check=True)
assert piped.stdout.strip() == "2"
