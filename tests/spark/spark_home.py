"""Finds genuine Spark for `make check-spark`."""
import glob
import os
import subprocess
import sys

PYSPARK = "pyspark>=4.0"


def spark_home(build):
    """Returns SPARK_HOME, or pyspark in our virtual environment."""
    if os.environ.get("SPARK_HOME"):
        return os.environ["SPARK_HOME"]
    venv = os.path.join(build, "spark-venv")
    if not os.path.exists(os.path.join(venv, "done")):
        print("installing pyspark (once, some 450 MB)")
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([os.path.join(venv, "bin", "pip"), "install", "-q", PYSPARK], check=True)
        open(os.path.join(venv, "done"), "w").close()
    return glob.glob(os.path.join(venv, "lib", "python3*", "site-packages", "pyspark"))[0]
