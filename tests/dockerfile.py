"""A parser of the instructions that docker/ uses."""
import json
import re

KNOWN = ("ARG", "COPY", "ENTRYPOINT", "ENV", "FROM", "RUN", "USER", "WORKDIR")


class Stage:
    def __init__(self, base, name):
        self.base, self.name, self.steps = base, name, []

    def last(self, instruction):
        return [text for word, text in self.steps if word == instruction][-1]

    def entrypoint(self):
        return json.loads(self.last("ENTRYPOINT"))


def read(path):
    """Returns the stages of the file. Raises ValueError for an instruction not in KNOWN."""
    with open(path, encoding="utf-8") as file:
        lines = [line for line in file.read().split("\n") if not line.lstrip().startswith("#")]
    stages = []
    for line in re.sub(r"\\\n", "", "\n".join(lines)).split("\n"):
        word, _, text = line.strip().partition(" ")
        if not word:
            continue
        if word not in KNOWN:
            raise ValueError(f"{path}: {word} is not understood")
        if word == "FROM":
            base, _, name = text.partition(" AS ")
            stages.append(Stage(base, name))
        else:
            stages[-1].steps.append((word, text.strip()))
    return stages


def copy_of(text):
    """Returns the stage (None for the context), the sources and the destination of a COPY."""
    words = text.split()
    stage = words.pop(0).removeprefix("--from=") if words[0].startswith("--from=") else None
    return stage, words[:-1], words[-1]
