"""Dockerfiles as far as docker/ uses them: instructions of stages, in order."""
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
    """The stages of the file; ValueError for an instruction that is none of KNOWN."""
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
    """The stage (None: the context), the sources and the place of a COPY."""
    words = text.split()
    stage = words.pop(0).removeprefix("--from=") if words[0].startswith("--from=") else None
    return stage, words[:-1], words[-1]
