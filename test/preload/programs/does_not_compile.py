import pandas

print("never")
if True
    pass
