"""The operators of bench/apps/in_memory.c on the same rows, by DuckDB or Polars, with two threads.

    columns.py duckdb|polars sum|join|sort|words ROWS KEYS ROUNDS

Rows are in the engine's own memory before a round, and its result is afterwards. Prints what in_memory.c prints.
"""
import os
import sys
import time

os.environ["POLARS_MAX_THREADS"] = "2"

import numpy  # noqa: E402
import polars  # noqa: E402

SEED, ONE, TWO = (numpy.uint64(x) for x in (0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb))


def mix(n):
    """SplitMix64 of 0 to n - 1, as generator.h has it."""
    z = numpy.arange(n, dtype=numpy.uint64) + SEED
    z = (z ^ (z >> numpy.uint64(30))) * ONE
    z = (z ^ (z >> numpy.uint64(27))) * TWO
    return z ^ (z >> numpy.uint64(31))


def below(random, n):
    return ((random >> numpy.uint64(32)) * numpy.uint64(n) >> numpy.uint64(32)).astype(numpy.int64)


def words(rows, keys):
    """A word has 3 to 12 hexadecimal digits; few of them are frequent."""
    random = mix(rows)
    word = below(random, keys) * below(random << numpy.uint64(32), keys) // keys
    texts = polars.Series([format(int(x), "016x")[:3 + i % 10] for i, x in enumerate(mix(keys))], dtype=polars.String)
    return texts.gather(polars.Series(word))


def tables(mode, rows, keys):
    if mode == "sort":
        return {"a": polars.DataFrame({"v": mix(rows).view(numpy.int64)})}
    if mode == "words":
        return {"a": polars.DataFrame({"k": words(rows, keys)})}
    made = {"a": polars.DataFrame({"k": below(mix(rows), keys), "v": numpy.arange(rows)})}
    if mode == "join":
        made["b"] = polars.DataFrame({"k": numpy.arange(keys), "v": mix(keys).view(numpy.int64)})
    return made


QUERIES = {"sum": "SELECT k, sum(v)::BIGINT AS v FROM a GROUP BY k", "words": "SELECT k, count(*) AS v FROM a GROUP BY k",
           "join": "SELECT a.k AS k, xor(a.v, b.v) AS v FROM a JOIN b ON a.k = b.k", "sort": "SELECT v FROM a ORDER BY v"}


def with_duckdb(mode, made, rounds):
    import duckdb
    db = duckdb.connect(config={"threads": 2})
    for name, table in made.items():
        arrow = table.to_arrow()
        db.execute(f"CREATE TABLE {name} AS SELECT * FROM arrow")
        del arrow
    made.clear()
    for _ in range(rounds):
        db.execute("DROP TABLE IF EXISTS result")
        start = time.monotonic()
        db.execute(f"CREATE TABLE result AS {QUERIES[mode]}")
        print(f"round: {time.monotonic() - start:.3f}", flush=True)
    return db.execute("SELECT count(*), (sum(v::HUGEINT) & 18446744073709551615::HUGEINT)::UBIGINT FROM result").fetchone()


def with_polars(mode, made, rounds):
    col = polars.col
    a, b = made["a"], made.get("b")
    run = {"sum": lambda: a.group_by("k").agg(col("v").sum()), "words": lambda: a.group_by("k").agg(polars.len().alias("v")),
           "join": lambda: a.lazy().join(b.lazy(), on="k").select("k", (col("v") ^ col("v_right")).alias("v")).collect(),
           "sort": lambda: a.sort("v")}[mode]
    for _ in range(rounds):
        result = None
        start = time.monotonic()
        result = run()
        print(f"round: {time.monotonic() - start:.3f}", flush=True)
    return result.height, int(result["v"].cast(polars.Int64).to_numpy().view(numpy.uint64).sum(dtype=numpy.uint64))


def main(engine, mode, rows, keys, rounds):
    made = tables(mode, int(rows), int(keys or 0))
    rows, total = (with_duckdb if engine == "duckdb" else with_polars)(mode, made, int(rounds))
    print(f"total: {rows} {total}")


main(*sys.argv[1:])
