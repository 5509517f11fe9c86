"""An interpreter with pyspark, for tests (python/environments.py), and its packages as venv-pack would pack them."""
import io
import os
import subprocess
import sys
import tarfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "python"))
from environments import MISSING, find  # noqa: E402,F401

from folders import BUILD  # noqa: E402

PYTHON = (find(BUILD) or ("python3",))[0]
FOUND = subprocess.run([PYTHON, "-c", "import os, sys\nfrom importlib.util import find_spec\nprint('python%d.%d' % sys.version_info[:2],"
                        " os.path.realpath(sys.executable), *(os.path.dirname(find_spec(m).submodule_search_locations[0])"
                        " for m in ('pyspark', 'py4j')), sep='\\n')"],
                       capture_output=True, text=True, check=False).stdout.splitlines()
# Its name, the file behind its links, which has no packages if it is that of a virtual environment, and where packages are.
NAME, REAL, PYSPARK, PY4J = FOUND if len(FOUND) == 4 else (None,) * 4


def small(entry):
    """Workers need none of these."""
    unneeded = ("/pyspark/jars", "/pyspark/pandas", "/pyspark/examples", "/pyspark/data")
    return None if any(part in entry.name for part in unneeded) else entry


def pack(path):
    """Makes the archive of a virtual environment: bin/python, packages, pyvenv.cfg."""
    config = f"home = {os.path.dirname(REAL)}\ninclude-system-site-packages = false\n".encode()
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        link = tarfile.TarInfo("bin/python")
        link.type, link.linkname = tarfile.SYMTYPE, REAL
        archive.addfile(link)
        file = tarfile.TarInfo("pyvenv.cfg")
        file.size = len(config)
        archive.addfile(file, io.BytesIO(config))
        archive.add(f"{PYSPARK}/pyspark", f"lib/{NAME}/site-packages/pyspark", filter=small)
        archive.add(f"{PY4J}/py4j", f"lib/{NAME}/site-packages/py4j", filter=small)
    return path
