import pandas, sys, builtins

sys.excepthook = lambda kind, value, trace: print("hooked", kind.__name__, value, trace.tb_lineno, trace.tb_next)
sys.unraisablehook = lambda told: print("unraisable", told.exc_value)


class Fails:
    def __del__(self):
        raise ValueError("in del")


kept = Fails()
builtins.kept_too = Fails()
del kept
sys.stdout.reconfigure(line_buffering=False, write_through=False)
print("flushed at the end")
raise LookupError("the end")
