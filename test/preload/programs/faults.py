import pandas
import faulthandler, sys

faulthandler.dump_traceback(file=sys.stdout, all_threads=False)
faulthandler.enable()
faulthandler._sigsegv()
