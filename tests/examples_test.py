"""The examples, run as a user runs them, give what another program computes."""
import collections
import os
import re
import subprocess

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIN = os.environ.get("FIRESTEEL_BIN", os.path.join(TOP, "bin"))


@pytest.fixture(scope="module")
def submit(tmp_path_factory):
    cache = tmp_path_factory.mktemp("cache")
    nothing = tmp_path_factory.mktemp("conf")

    def run(*words):
        return subprocess.run([os.path.join(BIN, "spark-submit"), *map(str, words)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False, timeout=50,
                              env=dict(os.environ, XDG_CACHE_HOME=str(cache), SPARK_CONF_DIR=str(nothing)))
    return run


def java_split(line):
    """What lies between single blanks, without the empty ends: String.split(" ")."""
    words = line.split(" ")
    while len(words) > 1 and not words[-1]:
        words.pop()
    return words if any(words) or line == "" else []


@pytest.mark.parametrize("master", ["local", "local[2]", "local[*]"])
def test_wordcount(submit, tmp_path, master):
    source = tmp_path / "in"
    source.mkdir()
    counts = collections.Counter()
    for part in range(3):
        lines = [" ".join(f"w{(i * i + part) % 997}" for i in range(n, n + 9)) for n in range(part, 2000)]
        lines += ["", "  two before", "two after  ", "a  b"]
        (source / f"part{part}.txt").write_text("\n".join(lines) + "\n")
        for line in lines:
            counts.update(java_split(line))
    done = submit("--master", master, os.path.join(TOP, "examples/wordcount.c"), source, tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/_SUCCESS").exists()
    found = {}
    for part in (tmp_path / "out").glob("part-*"):
        for line in part.read_text().splitlines():
            word, count = re.fullmatch(r"\((.*),(\d+)\)", line).groups()
            assert word not in found
            found[word] = int(count)
    assert found == counts


def test_output_that_exists_is_refused_and_kept(submit, tmp_path):
    (tmp_path / "in.txt").write_text("a b\n")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine").write_text("precious")
    done = submit("--master", "local[2]", os.path.join(TOP, "examples/wordcount.c"), tmp_path / "in.txt", tmp_path / "out")
    assert done.returncode != 0
    assert "already exists" in done.stderr
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["mine"]


def test_input_that_is_missing_is_named(submit, tmp_path):
    done = submit("--master", "local[2]", os.path.join(TOP, "examples/wordcount.c"), tmp_path / "nowhere", tmp_path / "out")
    assert done.returncode != 0
    assert f"Input path does not exist: file:{tmp_path}/nowhere" in done.stderr
    assert not (tmp_path / "out").exists()


def test_spark_pi(submit):
    done = submit("--master", "local[2]", os.path.join(TOP, "examples/spark_pi.c"), 4)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"Pi is roughly 3\.1[34]\d*\n", done.stdout)


def test_stations(submit, tmp_path):
    (tmp_path / "in.txt").write_text("a;1\nb;2.5\na;3\nc;-40\nb;3.5\nd;1.5\ne;0.25\n")
    done = submit("--master", "local[2]", os.path.join(TOP, "examples/stations.c"), tmp_path / "in.txt", -20, 50)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ("6 measurements\nb: 2.5 to 3.5, on average 3.00\na: 1.0 to 3.0, on average 2.00\n"
                           "d: 1.5 to 1.5, on average 1.50\n")
    (tmp_path / "in.txt").write_text("nonsense\n")
    done = submit("--master", "local[2]", os.path.join(TOP, "examples/stations.c"), tmp_path / "in.txt", -20, 50)
    assert done.returncode == 1
    assert 'parse in stations.so: "nonsense" is not STATION;DEGREES' in done.stderr


def pagerank(links, rounds):
    """The same by plain dictionaries; pages that nobody links to leave after the first round, as in Spark's example."""
    ranks = {page: 1.0 for page in links}
    for _ in range(rounds):
        sums = {}
        for page, targets in links.items():
            for to in targets if page in ranks else []:
                sums[to] = sums.get(to, 0) + ranks[page] / len(targets)
        ranks = {page: 0.15 + 0.85 * s for page, s in sums.items()}
    return sorted(ranks.items(), key=lambda r: -r[1])


def test_pagerank(submit, tmp_path):
    links = {f"page{i}": [f"page{i * i * k % 37}" for k in range(1, 2 + i % 5)] for i in range(100)}
    lines = [f"{page} {to}\n" for page, targets in links.items() for to in targets]
    (tmp_path / "links.txt").write_text("".join(lines))
    done = submit("--master", "local[2]", os.path.join(TOP, "examples/pagerank.c"), tmp_path / "links.txt", 5)
    assert done.returncode == 0, done.stderr
    got = [re.fullmatch(r"(\w+) has rank (\d+\.\d{6})", line).groups() for line in done.stdout.splitlines()]
    expected = pagerank(links, 5)
    assert len(got) == 10
    for (page, rank), (_, wanted) in zip(got, expected):
        assert abs(float(rank) - wanted) < 1e-6 and abs(dict(expected)[page] - wanted) < 1e-6
    again = submit("--master", "local[2]", os.path.join(TOP, "examples/pagerank.c"), tmp_path / "links.txt", 5)
    assert again.stdout == done.stdout
