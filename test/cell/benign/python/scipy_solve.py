import numpy
import scipy.linalg

left = numpy.random.default_rng(1).random((200, 200)) + numpy.eye(200)
right = numpy.ones(200)
assert numpy.allclose(left @ scipy.linalg.solve(left, right), right)
