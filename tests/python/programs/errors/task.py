"""An exception in a task: str(e) has the class, the message, and the line of the traceback."""
from pyspark import SparkContext

sc = SparkContext(appName="errors")


class TooLarge(Exception):
    pass


def check(x):
    if x > 6:
        raise TooLarge(f"{x} is too large: größer 😀")
    return x


for action in ("collect", "count", "sum"):
    try:
        getattr(sc.parallelize(range(10), 3).map(check), action)()
    except Exception as e:
        text = str(e)
        print(type(e).__name__, "TooLarge: 7 is too large: größer 😀" in text, "Traceback (most recent call last)" in text, "in check" in text,
              "PythonException" in text, "An error occurred while calling" in text)
for bad, word in ((lambda x: 1 / 0, "ZeroDivisionError"), (lambda x: [][1], "IndexError"), (lambda x: undefined, "NameError"), (lambda x: x.foo, "AttributeError"),
                  (lambda x: {}["k"], "KeyError: 'k'"), (lambda x: int("x"), "invalid literal for int()")):
    try:
        sc.parallelize([1, 2], 2).map(bad).collect()
    except Exception as e:
        print(word in str(e))
print(sc.parallelize(range(4), 2).map(check).collect())
sc.stop()
