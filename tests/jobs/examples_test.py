"""The examples, run as a user runs them, give the results of a reference program."""
import collections
import itertools
import math
import os
import re
import statistics
import subprocess
import zlib

import pytest

from folders import BIN, TOP


@pytest.fixture(scope="module")
def submit(tmp_path_factory):
    cache = tmp_path_factory.mktemp("cache")
    nothing = tmp_path_factory.mktemp("conf")

    def run(*words):
        return subprocess.run([os.path.join(BIN, "spark-submit"), *map(str, words)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False, timeout=120,
                              env=dict(os.environ, XDG_CACHE_HOME=str(cache), SPARK_CONF_DIR=str(nothing)))
    return run


def java_split(line):
    """Java's String.split(" "): parts between single blanks, without empty ones at the end."""
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


@pytest.mark.parametrize("master", ["local[2]", "local-cluster[2,1,1024]"])
@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (1, 2), (0, 1, 2)], ids=str)
def test_closed_standard_streams_change_no_result(tmp_path, master, closed):
    (tmp_path / "in.txt").write_text("a b a\nb a\n")
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")} if len(closed) == 3 else {}  # then the compiler has none of them
    redirections = " ".join(f"{fd}>&-" if fd else "0<&-" for fd in closed)
    command = [os.path.join(BIN, "spark-submit"), "--master", master, os.path.join(TOP, "examples/wordcount.c"),
               "in.txt", "out"]
    done = subprocess.run(["bash", "-c", f'"$@" {redirections}', "bash", *command], cwd=tmp_path, timeout=120, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=dict(os.environ, SPARK_CONF_DIR=str(tmp_path), **cache))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/_SUCCESS").exists()
    lines = [line for part in (tmp_path / "out").glob("part-*") for line in part.read_text().splitlines()]
    assert sorted(lines) == ["(a,3)", "(b,2)"]


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


def test_struct_sales(submit, tmp_path):
    (tmp_path / "in.txt").write_text("no,skis,2,310\nse,boots,1,80.5\nno,skis,1,299\nno,poles,3,20\nse,skis,1,300\n")
    done = submit("--master", "local[2]", os.path.join(TOP, "examples/struct_sales.c"), tmp_path / "in.txt")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ("no: skis, 3 pieces, 919.00\nno: poles, 3 pieces, 60.00\n"
                           "se: skis, 1 pieces, 300.00\nse: boots, 1 pieces, 80.50\n")
    (tmp_path / "in.txt").write_text("no,skis,two,310\n")
    done = submit("--master", "local[2]", os.path.join(TOP, "examples/struct_sales.c"), tmp_path / "in.txt")
    assert done.returncode == 1
    assert '"no,skis,two,310" is not COUNTRY,PRODUCT,PIECES,PRICE' in done.stderr


def example(submit, name, *words):
    """Runs an example and returns its output lines."""
    done = submit("--master", "local[2]", os.path.join(TOP, f"examples/{name}.c"), *words)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def pagerank(edges, rounds):
    """PageRank with dictionaries. Pages without incoming links disappear after the first round, as in Spark's example."""
    links = collections.defaultdict(set)
    for page, to in edges:
        links[page].add(to)
    ranks = dict.fromkeys(links, 1.0)
    for _ in range(rounds):
        sums = collections.Counter()
        for page, targets in links.items():
            for to in targets if page in ranks else ():
                sums[to] += ranks[page] / len(targets)
        ranks = {page: 0.15 + 0.85 * s for page, s in sums.items()}
    return ranks


def ranks_of(lines):
    ranks = dict(re.fullmatch(r"(\w+) has rank: (\d+\.\d{6})\.", line).groups() for line in lines)
    assert len(ranks) == len(lines)
    return {page: float(rank) for page, rank in ranks.items()}


@pytest.mark.parametrize("rounds", [1, 5])
def test_pagerank(submit, tmp_path, rounds):
    edges = [(f"page{i}", f"page{i * i * k % 37}") for i in range(100) for k in range(1, 2 + i % 5)]
    (tmp_path / "links.txt").write_text("".join(f"{page}  {to}\n" for page, to in edges))
    lines = example(submit, "pagerank", tmp_path / "links.txt", rounds)
    assert ranks_of(lines) == pytest.approx(pagerank(edges, rounds), abs=1e-6)
    assert example(submit, "pagerank", tmp_path / "links.txt", rounds) == lines


def test_pagerank_of_links_that_are_made_up(submit):
    pages = 1000 // 8 + 1
    edges = [(str(i % pages), str(i * i // 3 % pages)) for i in range(1000)]
    assert ranks_of(example(submit, "pagerank", 1000)) == pytest.approx(pagerank(edges, 10), abs=1e-6)


def test_pagerank_names_a_line_that_is_no_link(submit, tmp_path):
    (tmp_path / "links.txt").write_text("a b\nalone\n")
    done = submit("--master", "local[2]", os.path.join(TOP, "examples/pagerank.c"), tmp_path / "links.txt")
    assert done.returncode == 1
    assert '"alone" is not PAGE LINKED_PAGE' in done.stderr


class JavaRandom:
    """java.util.Random, whose numbers Spark's examples use."""
    def __init__(self, seed):
        self.state = seed ^ 0x5DEECE66D

    def bits(self, n):
        self.state = (self.state * 0x5DEECE66D + 11) % (1 << 48)
        return self.state >> 48 - n

    def uniform(self):
        high = self.bits(26)
        return ((high << 27) + self.bits(27)) / (1 << 53)

    def two_normal(self):
        while True:
            a, b = 2 * self.uniform() - 1, 2 * self.uniform() - 1
            if 0 < a * a + b * b < 1:
                root = math.sqrt(-2 * math.log(a * a + b * b) / (a * a + b * b))
                return [a * root, b * root]


@pytest.mark.parametrize("words", [(), (3,)])
def test_transitive_closure(submit, words):
    random, edges = JavaRandom(42), set()
    while len(edges) < 200:
        edge = random.bits(31) % 100, random.bits(31) % 100
        if edge[0] != edge[1]:
            edges.add(edge)
    paths = set()
    while paths != (more := paths | edges | {(x, z) for x, y in edges for w, z in paths if w == y}):
        paths = more
    assert example(submit, "transitive_closure", *words) == [f"TC has {len(paths)} edges."]


def test_broadcast_test(submit):
    lines = example(submit, "broadcast_test", 3, 5000, "1k")
    for i in range(3):
        part = lines[i * 13:][:13]
        assert part[:12] == [f"Iteration {i}", "==========="] + ["5000"] * 10
        assert re.fullmatch(rf"Iteration {i} took \d+ milliseconds", part[12])
    assert len(lines) == 39


def test_multi_broadcast(submit):
    assert example(submit, "multi_broadcast", 4, 12345) == ["(12345,12345)"] * 10


@pytest.mark.parametrize("name, words, pairs", [
    ("group_by", (), 2000),
    ("group_by", (3, 500, 17, 5), 1500),
    ("skewed_group_by", (), 1500),
    ("skewed_group_by", (3, 500, 17, 5), sum(int(500 * p / 3) for p in (1, 2, 3))),
])
def test_group_by(submit, name, words, pairs):
    """Keys are random but reproducible. No two of these few of 2^31 are equal."""
    assert example(submit, name, *words) == [str(pairs)]


def test_logistic_regression(submit):
    random = JavaRandom(42)
    points = []
    for i in range(10000):
        y = 1 if i % 2 else -1
        points.append(([x + 0.7 * y for _ in range(5) for x in random.two_normal()], y))
    weights = [[2 * random.uniform() - 1 for _ in range(10)]]
    for _ in range(5):
        w = weights[-1]
        total = [0.0] * 10
        for x, y in points:
            of = (1 / (1 + math.exp(min(-y * sum(a * b for a, b in zip(w, x)), 700))) - 1) * y
            total = [t + a * of for t, a in zip(total, x)]
        weights.append([a - t for a, t in zip(w, total)])
    lines = example(submit, "logistic_regression", 3)
    assert lines[1:-1] == [f"On iteration {i}" for i in range(1, 6)]
    for line, name, wanted in ((lines[0], "Initial", weights[0]), (lines[-1], "Final", weights[-1])):
        numbers = re.fullmatch(rf"{name} w: DenseVector\((.*)\)", line).group(1).split(", ")
        assert [float(x) for x in numbers] == pytest.approx(wanted, rel=1e-9)


def kmeans(points, centres, converged):
    """Returns the distance moved in each round, and the centres."""
    moved = []
    while not moved or moved[-1] > converged:
        near = collections.defaultdict(list)
        for p in points:
            near[min(range(len(centres)), key=lambda i, p=p: math.dist(p, centres[i]) ** 2)].append(p)
        new = [tuple(map(statistics.fmean, zip(*near[i]))) if near[i] else c for i, c in enumerate(centres)]
        moved.append(sum(math.dist(a, b) ** 2 for a, b in zip(centres, new)))
        centres = new
    return moved, sorted(centres)


@pytest.mark.parametrize("k, converged", [(1, 0.01), (3, 0.01), (3, 1e9)])
def test_kmeans(submit, tmp_path, k, converged):
    points = [(x + i * i % 7 / 4, y + i * 3 % 5 / 4, i / 8) for x, y in ((0, 0), (9, 1), (3, 8)) for i in range(5)]
    (tmp_path / "points.txt").write_text("".join(f"{x} {y} {z}\n" for x, y, z in points))
    lines = example(submit, "kmeans", tmp_path / "points.txt", k, converged)
    moved = [float(re.fullmatch(r"Finished iteration \(delta = (.*)\)", line).group(1)) for line in lines[:-k - 1]]
    assert lines[-k - 1] == "Final centers:"
    rows = [tuple(map(float, line.split())) for line in lines[-k:]]
    assert all(row[3:] == (0,) for row in rows)
    centres = sorted(row[:3] for row in rows)
    # The initial points depend on the sample, but must be among the input.
    assert any(len(moved) == len(m) and moved == pytest.approx(m, abs=1e-9) and
               [x for c in centres for x in c] == pytest.approx([x for c in cs for x in c])
               for m, cs in (kmeans(points, list(some), converged) for some in itertools.combinations(points, k)))


def test_kmeans_names_a_line_that_is_no_point(submit, tmp_path):
    (tmp_path / "points.txt").write_text("1 2\n1 2 3 4 5\n")
    done = submit("--master", "local[2]", os.path.join(TOP, "examples/kmeans.c"), tmp_path / "points.txt", 1, 0)
    assert done.returncode == 1
    assert '"1 2 3 4 5" is not up to 4 numbers' in done.stderr


def test_log_query(submit, tmp_path):
    key = '(10.10.10.10,"FRED",GET http://images.com/2013/Generic.jpg HTTP/1.1)'
    assert example(submit, "log_query") == [f"{key}\tbytes=621\tn=2"]
    wanted = collections.defaultdict(lambda: [0, 0])
    with open(tmp_path / "access.log", "w", encoding="utf-8") as log:
        for i in range(200):
            ip, user, query = f"10.0.0.{i % 3}", ('"-"', '"ANN"', '"BOB"', "eve")[i % 4], f"GET /{i % 5} HTTP/1.1"
            size = "-" if i % 11 == 0 else str(i * 7)
            log.write(f'{ip} - {user} [18/Jan/2013:17:56:07 +1100] "{query}" 200 {size} "http://a/" "browser" "more"\n')
            group = wanted["(null,null,null)" if user == '"-"' else f"({ip},{user},{query})"]
            group[0] += 0 if size == "-" else i * 7
            group[1] += 1
        log.write("this is no line of a log\n")
        wanted["(null,null,null)"][1] += 1
    lines = example(submit, "log_query", tmp_path / "access.log")
    assert sorted(lines) == sorted(f"{key}\tbytes={size}\tn={n}" for key, (size, n) in wanted.items())


def gensort(rows):
    """The records of gensort, from its generator of 128 bits."""
    random, records = 0, []
    for row in range(rows):
        random = (random * 0x2360ED051FC65DA44385DF649FCCF645 + int.from_bytes(b"JimGrayRIP     \1", "big")) % (1 << 128)
        filler = "".join(digit * 4 for digit in f"{random:032X}"[20:])
        records.append(random.to_bytes(16, "big")[:10] + b"\0\x11" + f"{row:032X}".encode() + b"\x88\x99\xaa\xbb" +
                       filler.encode() + b"\xcc\xdd\xee\xff")
    return records


def parts_of(folder):
    assert (folder / "_SUCCESS").exists()
    parts = sorted(folder.glob("part-*"))
    assert [part.name for part in parts] == [f"part-{i:05}" for i in range(len(parts))]
    return [part.read_bytes() for part in parts]


def test_terasort(submit, tmp_path):
    records = gensort(5000)
    example(submit, "teragen", 5000, tmp_path / "made", 3)
    assert [len(part) for part in parts_of(tmp_path / "made")] == [166600, 166700, 166700]
    assert b"".join(parts_of(tmp_path / "made")) == b"".join(records)
    example(submit, "terasort", tmp_path / "made", tmp_path / "sorted", 4)
    assert [bool(part) for part in parts_of(tmp_path / "sorted")] == [True] * 4
    assert b"".join(parts_of(tmp_path / "sorted")) == b"".join(sorted(records))
    found = ["5000 records", f"checksum\t{sum(map(zlib.crc32, records)):x}"]
    assert example(submit, "teravalidate", tmp_path / "sorted") == found
    done = submit("--master", "local[2]", os.path.join(TOP, "examples/teravalidate.c"), tmp_path / "made")
    bad = sum(a > b for a, b in itertools.pairwise(records))
    assert (done.returncode, done.stdout.splitlines()) == (1, found + [f"error\t{bad} misordered"])


def test_terasort_wants_whole_records(submit, tmp_path):
    (tmp_path / "in").write_bytes(b"x" * 250)
    done = submit("--master", "local[2]", os.path.join(TOP, "examples/terasort.c"), tmp_path / "in", tmp_path / "out")
    assert done.returncode == 1
    assert "in has 250 bytes, which is not a whole number of records of 100 bytes" in done.stderr
    assert not (tmp_path / "out").exists()
