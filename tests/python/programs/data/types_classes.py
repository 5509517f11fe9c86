"""Classes of the program itself: instances, methods, properties, exceptions, inheritance, closures."""
from pyspark import SparkContext

sc = SparkContext(appName="classes")


class Shape:
    sides = 0

    def __init__(self, size):
        self.size = size

    def area(self):
        return 0

    def __repr__(self):
        return f"{type(self).__name__}({self.size})"


class Square(Shape):
    sides = 4

    def area(self):
        return self.size ** 2

    @property
    def twice(self):
        return Square(self.size * 2)

    @staticmethod
    def unit():
        return Square(1)

    def __call__(self, x):
        return self.size * x


rdd = sc.parallelize([Square(2), Shape(3), Square(4)], 2)
print(rdd.collect(), rdd.map(lambda s: s.area()).collect(), rdd.map(lambda s: s.sides).sum())
print(rdd.filter(lambda s: isinstance(s, Square)).map(lambda s: s.twice).collect(), rdd.map(lambda s: Square.unit()).first())
print(sc.parallelize([1, 2]).map(Square(5)).collect())


def make(n):
    def inner(x):
        return recursive(x) + n
    return inner


def recursive(x):
    return 1 if x < 2 else x * recursive(x - 1)


print(sc.parallelize([1, 3, 5]).map(make(1)).collect())
sc.stop()
