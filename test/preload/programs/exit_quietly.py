import pandas
import atexit, os, sys

atexit.register(print, "never seen")
sys.stdout.write("buffered?")
os._exit(9)
