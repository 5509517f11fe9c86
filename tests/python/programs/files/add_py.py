"""addPyFile: a module and a package in a zip, on the driver and in tasks."""
import os
import tempfile
import zipfile

from pyspark import SparkContext

sc = SparkContext(appName="addPyFile")
folder = tempfile.mkdtemp()
module = os.path.join(folder, "firesteel_helper_module.py")
with open(module, "w") as f:
    f.write("def twice(x):\n    return 2 * x\n")
package = os.path.join(folder, "firesteel_helpers.zip")
with zipfile.ZipFile(package, "w") as z:
    z.writestr("firesteel_helper_package/__init__.py", "")
    z.writestr("firesteel_helper_package/names.py", "def shout(s):\n    return s.upper() + '!'\n")


def use(x):
    from firesteel_helper_module import twice
    from firesteel_helper_package.names import shout
    return twice(x), shout(str(x) + "a")


try:
    sc.parallelize([1]).map(use).collect()
except Exception as e:
    print("No module named 'firesteel_helper_module'" in str(e))
sc.addPyFile(module)
sc.addPyFile(package)
print(use(4), sc.parallelize([1, 2, 3], 2).map(use).collect())
sc.stop()
