"""The folders that tests use: of the tree, and of the build that they test."""
import os

TESTS = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(TESTS)
BIN = os.path.abspath(os.environ.get("FIRESTEEL_BIN") or os.path.join(TOP, "bin"))  # with firesteel and spark-submit
BUILD = os.path.abspath(os.environ.get("FIRESTEEL_BUILD") or os.path.join(TOP, "build"))
FIRESTEEL = os.path.join(BIN, "firesteel")
