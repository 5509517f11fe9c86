"""countApprox, sumApprox, meanApprox, countApproxDistinct."""
from pyspark import SparkContext

sc = SparkContext(appName="approximate")
rdd = sc.parallelize(range(1000), 10)
print(rdd.countApprox(10000, 1.0), rdd.map(float).sumApprox(10000) == sum(range(1000)), rdd.map(float).meanApprox(10000) == 499.5)
n = sc.parallelize(range(2000)).map(str).countApproxDistinct()
print(1800 < n < 2200)
n = sc.parallelize([i % 20 for i in range(1000)], 3).countApproxDistinct(0.01)
print(18 <= n <= 22)
try:
    rdd.countApproxDistinct(0.00000001)
except Exception as e:
    print("relativeSD" in str(e))
sc.stop()
