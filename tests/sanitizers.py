"""Detects sanitizers in the tested build, because they change memory use."""
import os

BIN = os.environ.get("FIRESTEEL_BIN") or os.path.join(os.path.dirname(__file__), "..", "build", "src")


def found():
    with open(os.path.join(BIN, "libfiresteel.so"), "rb") as file:
        library = file.read()
    return b"__asan_init" in library or b"__tsan_init" in library


SANITIZED = found()
