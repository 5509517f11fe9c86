"""Slots stay on the cpus of one memory node. The nodes are invented; the cpus are two of this machine's."""
import os
import subprocess

import pytest

from folders import BIN

# Both tasks run at the same time, so each has a slot of its own. A program that the thread of a slot starts may use all
# cpus again; one that a task process starts serves only that slot.
APP = r"""
#define _GNU_SOURCE
#include <firesteel/firesteel.h>

#include <sched.h>
#include <stdio.h>

static int cpus_of(fst_task *task, fst_iter *rows, fst_out *out)
{
        cpu_set_t cpus;
        if (sched_getaffinity(0, sizeof(cpus), &cpus))
                return fst_fail(task, "the cpus of the thread are unknown");
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
                if (CPU_ISSET(cpu, &cpus))
                        fst_emit(out, (int64_t)cpu);
        return fst_barrier_wait(task);
}

int main(void)
{
        fst_context *sc = fst_context_new("numa");
        fst_iter *rows;
        int64_t cpu;
        fst_bytes line;
        if (fst_collect(fst_barrier_map_partitions(fst_range_n(sc, 0, 2, 2), cpus_of, FST_I64), &rows) == 0)
                for (; fst_next(rows, &cpu);)
                        printf("%lld ", (long long)cpu);
        if (fst_collect(fst_pipe(fst_range_n(sc, 0, 1, 1), "nproc"), &rows) == 0)
                for (; fst_next(rows, &line);)
                        printf("program %.*s", FST_TEXT(line));
        printf("\n");
        return fst_context_stop(sc);
}
"""

CPUS = sorted(os.sched_getaffinity(0))[:2]

pytestmark = pytest.mark.skipif(len(CPUS) < 2, reason="needs two cpus")


def run(folder, lists, master="local[2]", conf=()):
    """The output of the application, on these two cpus, and the log. @lists has the cpus of each node."""
    (folder / "numa.c").write_text(APP)
    for number, cpus in enumerate(lists):
        (folder / "nodes" / f"node{number}").mkdir(parents=True)
        (folder / "nodes" / f"node{number}" / "cpulist").write_text(f"{cpus}\n")
    options = [word for setting in ("spark.ui.enabled=false", *conf) for word in ("--conf", setting)]
    done = subprocess.run(
        ["taskset", "-c", ",".join(map(str, CPUS)), os.path.join(BIN, "spark-submit"), "--master", master, *options,
         str(folder / "numa.c")], env=os.environ | {"FIRESTEEL_NUMA_NODES": str(folder / "nodes")}, capture_output=True,
        text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def bound(text, program=2):
    """Whether each of the two slots has one cpu, and another one. @program: the number of cpus that a program must have."""
    assert text.endswith(f"program {program}\n")
    cpus = [int(word) for word in text.split()[:-2]]
    assert sorted(set(cpus)) == CPUS and len(cpus) in (2, 4)
    return len(cpus) == 2


@pytest.mark.parametrize("master, isolation, program", [
    ("local[2]", "none", 2), ("local-cluster[1,2,1024]", "none", 2), ("local-cluster[1,2,1024]", "process", 1)])
def test_each_slot_stays_on_a_node(tmp_path, master, isolation, program):
    text, _ = run(tmp_path, CPUS, master, [f"spark.firesteel.task.isolation={isolation}"])
    assert bound(text, program)


@pytest.mark.parametrize("lists, conf", [
    (CPUS, ["spark.firesteel.numa.enabled=false"]), ([f"{CPUS[0]},{CPUS[1]}"], []), ([], []),
    ([f"{CPUS[0]},{CPUS[1]}", "900"], ["spark.firesteel.numa.enabled=true"])])
def test_slots_are_not_bound_without_a_second_node(tmp_path, lists, conf):
    text, _ = run(tmp_path, lists, conf=conf)
    assert not bound(text)


def test_a_malformed_list_is_warned_of(tmp_path):
    text, log = run(tmp_path, [CPUS[0], "1-"])
    assert not bound(text)
    assert "not bound to memory nodes" in log and "node1/cpulist: \"1-\"" in log
