"""Detects sanitizers in the tested build, because they change memory use."""
import os

BIN = os.environ.get("FIRESTEEL_BIN") or os.path.join(os.path.dirname(__file__), "..", "build", "src")


def found():
    with open(os.path.join(BIN, "libfiresteel.so"), "rb") as file:
        library = file.read()
    # The symbol that instrumented code calls. The product names __asan_init itself, to find the runtime (exec/app/sanitizers.c).
    return b"__asan_report_load" in library or b"__tsan_func_entry" in library


SANITIZED = found()
