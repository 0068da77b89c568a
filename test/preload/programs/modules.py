import pandas
import helper
from package import inner
from package.inner import told
import importlib, pickle, dataclasses, inspect, unittest, json, sys, enum


@dataclasses.dataclass(order=True)
class Point:
    x: int
    y: int = 2

    def moved(self):
        return Point(self.x + 1)


class Kind(enum.Enum):
    ONE = 1


print(helper.word, helper.__file__, inner.__name__, told(), inner.__package__, importlib.import_module("package.inner") is inner)
print(pickle.loads(pickle.dumps(Point(3))), pickle.dumps(Point), pickle.loads(pickle.dumps(Kind.ONE)), Point.__module__)
print(inspect.getsource(Point), inspect.getsourcefile(Point), inspect.getmodule(Point), sys.modules["__main__"].Point is Point)
print(importlib.util.find_spec("helper"), sys.modules["helper"].__spec__, json.dumps([1]), sorted(vars(sys.modules["__main__"])))


class Tests(unittest.TestCase):
    def test_right(self):
        self.assertEqual(Point(1).moved(), Point(2))

    def test_wrong(self):
        self.assertEqual(1, Point)


if __name__ == "__main__":
    unittest.main(verbosity=2, testRunner=unittest.TextTestRunner(stream=open("/dev/null", "w")), exit=False)
    from .inner import told
