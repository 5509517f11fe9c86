"""Rows of many types come back as they went."""
from collections import Counter, namedtuple
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from pyspark import SparkContext

sc = SparkContext(appName="types")
Point = namedtuple("Point", "x y")
rows = [None, True, 1, -2 ** 63, 2 ** 64, 1.5, float("inf"), 1j, "", "é\n\t\\\"", b"\x00\xff", bytearray(b"ab"), (), (1, (2, (3,))), [], [1, [2]],
        {"k": [1]}, {1}, frozenset([2]), date(2024, 2, 29), datetime(2024, 1, 2, 3, 4, 5, 6), timedelta(1), Decimal("1.10"), Fraction(1, 3),
        Point(1, 2), Counter("aab"), range(3), slice(1, 2), Ellipsis, int, len]
back = sc.parallelize(rows, 5).map(lambda x: x).collect()
for a, b in zip(rows, back):
    print(type(b).__name__, a == b)
print(sc.parallelize([Point(3, 4)]).map(lambda p: p.x + p.y).collect(), back[24])
sc.stop()
