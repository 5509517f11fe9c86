"""Which tasks may run again after a kill (faults/task_trace.py)."""
import types

import pytest

from task_trace import Kill, TaskRun, read, repeated

JOBS = {1: 0}  # stage 1 is the result stage of job 0, stage 0 one of map tasks
EXECUTOR, OTHER = 11, 12


def run(stage, task, began, ended, pid=EXECUTOR, step="rows"):
    return TaskRun(step, stage, 3, task, "host", pid, began, ended)


def counts(runs, *kills, outlive="", executors_end=False):
    return dict(repeated(runs, kills, JOBS, types.SimpleNamespace(outlive=outlive, executors_end=executors_end, report_seconds=0.5)))


def driver_death(time, results=(), map_outputs=(), pids=()):
    return Kill(time, {1, *pids}, driver=True, results=set(results), map_outputs=set(map_outputs))


def test_a_task_that_was_running_runs_again():
    assert counts([run(1, 5, 10, 0), run(1, 1000005, 12, 13)], driver_death(11)) == {"running": 1}


def test_a_task_whose_end_was_not_journaled_runs_again():
    assert counts([run(1, 5, 10, 10.9), run(1, 1000005, 12, 13)], driver_death(11)) == {"unreported": 1}
    assert counts([run(1, 5, 11.1, 11.2), run(1, 1000005, 12, 13)], driver_death(11)) == {"unreported": 1}


@pytest.mark.parametrize("runs, kills", [
    ([run(1, 5, 10, 10.9), run(1, 1000005, 12, 13)], [driver_death(11, results={(0, 3)})]),  # its result is in the journal
    ([run(0, 5, 10, 10.9), run(0, 1000005, 12, 13)], [driver_death(11, map_outputs={5})]),  # its map output, and the executor lives
    ([run(0, 5, 10, 10.9), run(0, 1000005, 12, 13)], [driver_death(11, map_outputs={5}, pids={OTHER})]),
    ([run(1, 5, 10, 10.1), run(1, 1000005, 12, 13)], [driver_death(11)]),  # it had ended long before
    ([run(1, 5, 11.1, 11.2), run(1, 6, 12, 13)], [driver_death(11)]),  # both are of the next driver
    ([run(1, 5, 10, 10.1), run(1, 6, 12, 13)], [Kill(11, {EXECUTOR})]),  # a result does not die with its executor
    ([run(1, 5, 10, 0), run(1, 6, 12, 13)], []),  # it failed by itself
    ([run(0, 5, 10, 10.1), run(0, 6, 12, 13)], []),
])
def test_other_tasks_do_not(runs, kills):
    with pytest.raises(AssertionError, match="runs again without a reason"):
        counts(runs, *kills)


def test_map_outputs_are_lost_with_their_executor_unless_they_outlive_it():
    runs = [run(0, 5, 10, 10.1), run(0, 6, 12, 13)]
    assert counts(runs, Kill(11, {EXECUTOR})) == {"lost": 1}
    for outlive in ("executors", "drivers"):
        with pytest.raises(AssertionError):
            counts(runs, Kill(11, {EXECUTOR}), outlive=outlive)
    assert counts([runs[0], run(0, 1000006, 12, 13)], driver_death(11, map_outputs={5}), executors_end=True) == {"lost": 1}
    assert counts(runs, Kill(11, set(), {"host"})) == {"lost": 1}
    both = driver_death(11, map_outputs={5}, pids={EXECUTOR})
    assert counts([runs[0], run(0, 1000006, 12, 13)], both, outlive="executors") == {"lost": 1}
    with pytest.raises(AssertionError):
        counts([runs[0], run(0, 1000006, 12, 13)], both, outlive="drivers")


def test_a_barrier_stage_runs_again_together():
    assert counts([run(0, 5, 10, 10.1, step="barrier1"), run(0, 6, 12, 13, step="barrier1")], Kill(11, {OTHER})) == {"barrier": 1}
    # The stage begins after the kill, and one of its tasks cannot fetch what died with the executor.
    fetching = TaskRun("barrier1", 0, 4, 6, "host", OTHER, 12, 0)
    runs = [run(0, 5, 12, 12.1, step="barrier1"), fetching, run(0, 7, 13, 14, step="barrier1")]
    assert counts(runs, Kill(11, {OTHER})) == {"barrier": 1}
    for others in ([fetching], []):
        with pytest.raises(AssertionError):
            counts([runs[0], *others, runs[2]], *([] if others else [Kill(11, {OTHER})]))


def test_reads_the_runs_of_a_trace(tmp_path):
    lines = ("B rows 0 1 5 a 11 1000000000", "B rows 0 2 6 b 11 2000000000", "E 5 3000000000", "F 6 3000000000", "E 6 3000000000")
    (tmp_path / "runs").write_text("".join(line + "\n" for line in lines))
    assert read(tmp_path / "runs") == [TaskRun("rows", 0, 1, 5, "a", 11, 1.0, 3.0), TaskRun("rows", 0, 2, 6, "b", 11, 2.0, 0)]
    assert read(tmp_path / "missing") == []
