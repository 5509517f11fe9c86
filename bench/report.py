"""Results as Markdown and JSON. A full run is kept in bench/results/ and shown in docs/benchmarks.md."""
import json
import os

from harness import BENCH, ROOT

DOCUMENT = """# Benchmarks

`make bench` writes this page from its last full run ([raw figures]({raw})). [bench/README.md](../bench/README.md) describes
the measurements. Do not edit this page: the next full run replaces it.

{table}"""


def table(results):
    machine, versions = results["machine"], results["versions"]
    spark = f"Spark {versions['spark']} ({versions['java']})" if versions.get("spark") else "no Spark"
    lines = [f"{results['date']}, firesteel {versions['firesteel']} ({versions['commit']}), {spark}.",
             f"{machine['processor']}, {machine['cores']} cores, {machine['memory_mb']} MB, {machine['system']}, "
             f"Linux {machine['kernel']}; load {machine['load']:.2f} before, {machine['load_at_end']:.2f} after.",
             f"Medians of {results['parameters']['RUNS']}; wall time, and CPU seconds of all threads.", "",
             "| measurement | Firesteel | compared with | factor | target | reached |", "|---|---|---|---|---|---|"]
    for benchmark in results["benchmarks"].values():
        for row in benchmark["rows"]:
            reached = {True: "yes", False: "**no**", None: "–"}[row["reached"]]
            lines.append(f"| {row['what']} | {row['ours']} | {row['theirs']} | {row['ratio']} | {row['asked']} | {reached} |")
    lines += [f"\nFAILED {failure}" for failure in results["failures"]]
    return "\n".join(lines) + "\n"


def store(results, full, tmp):
    """Write the JSON and the table: of full runs into the tree, of others below BENCH_TMP. Returns the directory."""
    folder = os.path.join(BENCH, "results") if full else os.path.join(tmp, "results")
    os.makedirs(folder, exist_ok=True)
    name = results["date"].replace(":", "")
    with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1, ensure_ascii=False)
        file.write("\n")
    with open(os.path.join(folder, name + ".md"), "w", encoding="utf-8") as file:
        file.write(table(results))
    if full:
        with open(os.path.join(ROOT, "docs", "benchmarks.md"), "w", encoding="utf-8") as file:
            file.write(DOCUMENT.format(raw=f"../bench/results/{name}.json", table=table(results)))
    return folder
