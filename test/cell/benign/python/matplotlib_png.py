import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plot

plot.plot([1, 2, 3], [1, 4, 9])
plot.title("squares")
plot.savefig("/outputs/squares.png")
assert open("/outputs/squares.png", "rb").read(4) == b"\x89PNG"
