import pandas
import warnings


def old():
    warnings.warn("gone soon", DeprecationWarning, stacklevel=2)
    warnings.warn("look out", stacklevel=1)


old()
old()
print("\d", 1 is 1)
warnings.simplefilter("error")
old()
