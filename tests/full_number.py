"""Numbers of repetitions: few in `make check`, all of them in `make check-long`, which sets FIRESTEEL_FULL_NUMBER."""
import os

FULL = bool(os.environ.get("FIRESTEEL_FULL_NUMBER"))


def full_number(full, usual):
    return full if FULL else usual
