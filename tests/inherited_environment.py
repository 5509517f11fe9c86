"""The environment for programs that tests start."""
import os


def inherited_environment(*without):
    """A copy of the environment without variables whose names begin with one of the prefixes. pytest sets and removes a variable
    of its own at each test, also while threads of other tests copy the environment; then the copy is made again."""
    while True:
        try:
            return {name: value for name, value in os.environ.items() if not name.startswith(without)}
        except KeyError:
            continue
