"""Accumulators: ints, floats, complex numbers, a parameter of our own."""
from pyspark import AccumulatorParam, SparkContext

sc = SparkContext(appName="accumulators")
a, b, c = sc.accumulator(1), sc.accumulator(0.5), sc.accumulator(1j)


class Vector(AccumulatorParam):
    def zero(self, value):
        return [0.0] * len(value)

    def addInPlace(self, x, y):
        return [i + j for i, j in zip(x, y)]


v = sc.accumulator([1.0, 2.0], Vector())


def step(x):
    global a, v
    a += x
    b.add(0.25)
    c.add(x)
    v += [x, -x]


sc.parallelize(range(10), 4).foreach(step)
print(a.value, b.value, c.value, v.value, a)
try:
    sc.parallelize([1]).map(lambda x: a.value).collect()
except Exception as e:
    print(type(e).__name__)
try:
    sc.accumulator("x")
except Exception as e:
    print(type(e).__name__)
sc.stop()
