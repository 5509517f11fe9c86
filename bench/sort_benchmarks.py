"""Sorts beside C programs with two threads, in the form of benchmarks.py, of Firesteel alone.

`number_sort`: 100 million numbers in memory. `text_sort`: the lines of a text, and of records, from file to file. The
programs of reference/ that know their rows are the fastest that we could write; generic_sort.c knows no more than an
engine.
"""
from benchmarks import figure, row, same_lines, seconds, size, timed, without_output
from engine_benchmarks import result_of
from harness import BenchError, median

NUMBERS, ROUNDS = 100_000_000, 3


def number_sort(h):
    """Rounds on rows in memory, whose result is in memory. The figure is the median of all rounds but the first."""
    rows = NUMBERS if h.parameters.are_full() else NUMBERS // 50
    sides = {"ours": lambda label: h.ours(label, "bench/apps/in_memory.c", "sort", rows, 0, ROUNDS, memory="12g"),
             "generic": lambda label: h.measure(label, [h.path("bin", "generic_sort"), "numbers", str(rows), str(ROUNDS)]),
             "best": lambda label: h.measure(label, [h.path("bin", "number_sort"), str(rows), str(ROUNDS)])}
    raw = {side: [] for side in sides}
    for i in range(h.parameters.runs):
        for side, run in sides.items():
            raw[side].append(result_of(run(f"number sort: {side} {i + 1}/{h.parameters.runs}")[-1]))
    if len({result["total"] for results in raw.values() for result in results}) != 1:
        raise BenchError(f"number sort: WRONG RESULT: {raw}")
    took = {side: median([x for result in results for x in result["rounds"][1:]]) for side, results in raw.items()}
    what = f"sort of {rows / 1e6:g} M numbers in memory, two threads"
    return [row(what, seconds(took["ours"]), f"C that knows no more {seconds(took['generic'])}",
                f"takes {took['ours'] / took['generic']:.2f}×", "≤ 2×", took["ours"] <= 2 * took["generic"]),
            row("… beside C that knows the numbers", seconds(took["ours"]), seconds(took["best"]),
                f"takes {took['ours'] / took['best']:.2f}×", "–", None)], raw


def text_sort(h):
    """From file to file, the whole process. All three write part files in order."""
    p, rows, raw = h.parameters, [], {}
    for kind in ("text", "records"):
        data = h.data(kind, p.record_bytes)
        expected = h.lines(data)
        sides = {"ours": lambda label, out: h.ours(label, "examples/sort.c", data, out),
                 "best": lambda label, out: h.measure(label, [h.path("bin", "text_sort"), data, out]),
                 "generic": lambda label, out: h.measure(label, [h.path("bin", "generic_sort"), "text", data, out])}
        sides["ours"](f"{kind} sort: ours, compiling", h.out("text-sort"))
        runs = raw[kind] = {side: [] for side in sides}
        for i in range(p.runs):
            for side, run in sides.items():
                out, label = h.out("text-sort"), f"{kind} sort: {side} {i + 1}/{p.runs}"
                runs[side] += without_output(run(label, out))
                same_lines(h, label, expected, out, ordered=True)
        h.out("text-sort")
        for side, what, most in (("best", f"sort of {size(p.record_bytes)} of {kind}, two threads", 1.2),
                                 ("generic", "… beside C that knows no more", None)):
            ratio, cpu = (figure(runs["ours"], key) / figure(runs[side], key) for key in ("wall", "cpu"))
            rows.append(row(what, timed(runs["ours"]), f"C {timed(runs[side])}", f"takes {ratio:.2f}× (CPU {cpu:.2f}×)",
                            f"≤ {most}×" if most else "–", ratio <= most if most else None))
    return rows, raw


ALL = {"number_sort": number_sort, "text_sort": text_sort}
