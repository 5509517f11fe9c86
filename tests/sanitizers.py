"""Detects sanitizers in the tested build, because they change memory use."""
import os

from folders import BIN


def found(symbol):
    """Searches for a symbol that instrumented code calls. The product names __asan_init itself, to find the runtime
    (exec/app/sanitizers.c)."""
    with open(os.path.join(BIN, "libfiresteel.so"), "rb") as file:
        return symbol in file.read()


TSAN = found(b"__tsan_func_entry")  # it ends a forked child of a process with threads that starts a thread
ASAN = found(b"__asan_report_load")
SANITIZED = TSAN or ASAN
# What the compiler needs to link a program with the tested library: the runtime must be the program's first library.
LINK_FLAGS = ["-fsanitize=thread"] if TSAN else ["-fsanitize=address"] if ASAN else []
