"""The examples in Python, run by spark-submit with genuine pyspark, give the results of a reference program."""
import collections
import os
import random
import subprocess

import pytest

from python_programs_test import BUILD, FOUND, environments, programs

pytestmark = pytest.mark.skipif(FOUND is None, reason=environments.MISSING)


@pytest.fixture
def submit(tmp_path):
    def run(name, *arguments):
        sides = programs.firesteel(FOUND[0], programs.home_of_build(BUILD, str(tmp_path)), str(tmp_path))
        done = subprocess.run([sides.submit, "--master", "local[2]", *programs.QUIET, os.path.join(programs.TOP, "examples", "python", name), *arguments],
                              env=dict(sides.environment, PYSPARK_PYTHON=sides.python), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180,
                              check=False)
        assert done.returncode == 0, done.stderr[-3000:] + done.stdout[-1000:]
        return done.stdout.splitlines()
    return run


def test_pi_is_near_pi(submit):
    assert submit("pi.py", "2")[-1].startswith("Pi is roughly 3.1")


def test_wordcount_prints_the_most_frequent_word_first(submit, tmp_path):
    words = ("to be or not to be that is the question " * 3).split()
    (tmp_path / "text").write_text(" ".join(words) + "\n")
    wanted = sorted(collections.Counter(words).items(), key=lambda row: (-row[1], row[0]))
    assert submit("wordcount.py", str(tmp_path / "text")) == [f"{word}: {count}" for word, count in wanted]


def test_sort_orders_numbers(submit, tmp_path):
    dice = random.Random(1)
    numbers = [dice.randrange(-1000, 1000) for _ in range(2000)]
    (tmp_path / "numbers").write_text("\n".join(map(str, numbers)) + "\n")
    assert [int(line) for line in submit("sort.py", str(tmp_path / "numbers"))] == sorted(numbers)


def test_pagerank_computes_ranks(submit, tmp_path):
    edges = [("a", "b"), ("a", "c"), ("b", "c"), ("c", "a"), ("d", "c")]
    (tmp_path / "links").write_text("".join(f"{a} {b}\n" for a, b in edges))
    links = collections.defaultdict(list)
    for start, end in edges:
        links[start].append(end)
    ranks = dict.fromkeys(links, 1.0)
    for _ in range(5):
        sums = collections.defaultdict(float)
        for page in set(links) & set(ranks):
            for target in links[page]:
                sums[target] += ranks[page] / len(links[page])
        ranks = {page: 0.15 + 0.85 * s for page, s in sums.items()}
    found = {line.split()[0]: float(line.split()[1]) for line in submit("pagerank.py", str(tmp_path / "links"), "5")}
    assert found == pytest.approx(ranks, abs=1e-5)


def test_kmeans_finds_separate_groups(submit, tmp_path):
    dice = random.Random(2)
    groups = [(0.0, 0.0), (10.0, 10.0)]
    (tmp_path / "points").write_text("".join(f"{dice.gauss(x, 0.1)} {dice.gauss(y, 0.1)}\n" for x, y in groups for _ in range(50)))
    centres = [tuple(map(float, line.split())) for line in submit("kmeans.py", str(tmp_path / "points"), "2")]
    assert [pytest.approx(centre, abs=0.1) for centre in groups] == centres


def test_transitive_closure_counts_pairs(submit):
    dice, edges = random.Random(42), set()
    while len(edges) < 200:
        start, end = dice.randrange(100), dice.randrange(100)
        if start != end:
            edges.add((start, end))
    paths, size = set(edges), 0
    while len(paths) != size:
        size = len(paths)
        paths |= {(start, end) for start, middle in edges for begin, end in paths if begin == middle}
    assert submit("transitive_closure.py") == [f"TC has {size} edges"]


def test_logistic_regression_separates_classes(submit, tmp_path):
    (tmp_path / "points").write_text("".join(f"{y} {y * (1 + i % 3)} {i % 5 - 2}\n" for i in range(60) for y in (-1, 1)))
    weights = list(map(float, submit("logistic_regression.py", str(tmp_path / "points"), "5")[-1].split()))
    assert len(weights) == 2 and weights[0] > 0.5


def test_status_api_follows_the_job(submit):
    lines = submit("status_api.py")
    assert lines[-1] == "The sum of the squares is 140" and any("of 8 tasks ended" in line for line in lines[:-1])
