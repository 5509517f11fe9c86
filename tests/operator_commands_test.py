"""firesteel operator: its commands without a cluster."""
import os
import subprocess

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FIRESTEEL = os.path.join(os.environ.get("FIRESTEEL_BIN", os.path.join(TOP, "bin")), "firesteel")


def operator(*words):
    return subprocess.run([FIRESTEEL, "operator", *words], capture_output=True, text=True, check=False, timeout=60)


def test_schedule_prints_next_runs():
    done = operator("schedule", "--time-zone", "Asia/Tokyo", "--count", "2", "30 2 1 1 *")
    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert [line[4:] for line in lines] == ["-12-31T17:30:00Z"] * 2
    assert int(lines[1][:4]) == int(lines[0][:4]) + 1


def test_schedule_names_the_mistake():
    for words, said, status in (
            (["61 * * * *"], "end of range (61) above maximum (59): 61", 1),
            (["0 0 30 2 *"], "'0 0 30 2 *' never occurs", 1),
            (["--time-zone", "Mars/Base", "@daily"], "unknown time zone Mars/Base", 1),
            (["@daily", "--count", "many"], "--count needs a number from 1 to 100000, not many", 2),
            (["0", "3", "*", "*", "*"], "more than one expression", 2),
            ([], "the expression is missing", 2)):
        done = operator("schedule", *words)
        assert said in done.stderr
        assert done.returncode == status
