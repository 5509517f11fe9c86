"""Runs the program firesteel of this package: `python -m firesteel …`, and the command firesteel."""
import os
import sys

from firesteel import home


def main():
    program = os.path.join(home(), "bin", "firesteel")
    os.execv(program, [program] + sys.argv[1:])


if __name__ == "__main__":
    main()
