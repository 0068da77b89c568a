import pandas, os, signal

os.kill(os.getpid(), signal.SIGTERM)
