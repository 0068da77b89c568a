import numpy

block = bytearray(400 * 1024 * 1024)
block[::4096] = b"x" * len(block[::4096])
del block
assert numpy.ones(20_000_000).sum() == 20_000_000
