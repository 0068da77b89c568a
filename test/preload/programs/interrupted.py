import pandas as pd
import os, signal, time

signal.signal(signal.SIGUSR1, lambda number, frame: print("heard", number, frame.f_code.co_name))
os.kill(os.getpid(), signal.SIGUSR1)
os.kill(os.getpid(), signal.SIGINT)
time.sleep(60)
