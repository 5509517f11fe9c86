"""What the programs of resumed_programs.c write and print."""
import json
import os
import re
import subprocess

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "resumed_programs.c")
PROGRAMS = ("wordcount", "sort", "pagerank", "saves", "accumulators", "barrier")
MORE_PROGRAMS = ("skewed", "checkpoint")
OUTPUTS = ("out", "out1", "plain")


def parts_of(folder):
    """The files of all outputs."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.glob("*/*")) if path.parent.name in OUTPUTS}


def sums_of(log):
    """The sums that a driver printed."""
    return [line for line in log.splitlines() if re.search(r"\bsum -?\d", line)]


class Undisturbed:
    """A run of a program without a kill, which others must equal."""

    def __init__(self, firesteel_bin, folder, program, source=SOURCE):
        folder.mkdir()
        confs = ["spark.ui.enabled=false", "spark.eventLog.enabled=true", f"spark.eventLog.dir={folder}", "spark.eventLog.compress=false",
                 "spark.eventLog.rolling.enabled=false"]
        command = [f"{firesteel_bin}/spark-submit", "--master", "local[2]", *(word for conf in confs for word in ("--conf", conf)),
                   str(source), program, str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        self.parts, self.sums = parts_of(folder), sums_of(done.stdout)
        self.lines = len((folder / "runs").read_text().splitlines())
        self.jobs = {}  # by result stage, the last one of a job
        for log in folder.glob("local-*"):
            for line in log.read_text().splitlines():
                event = json.loads(line)
                if event["Event"] == "SparkListenerJobStart":
                    self.jobs[max(event["Stage IDs"])] = event["Job ID"]
        assert self.parts and self.jobs

    def check(self, folder, log=None):
        """The outputs in @folder, and the sums in the log of the driver that wrote them, are those of this run."""
        found = parts_of(folder)
        assert found.keys() == self.parts.keys(), f"{sorted(found)}, not {sorted(self.parts)}"
        different = [name for name, content in self.parts.items() if found[name] != content]
        assert not different, f"other part files than those of an undisturbed run: {different}"
        assert log is None or sums_of(log) == self.sums, f"{sums_of(log)}, not {self.sums}"
