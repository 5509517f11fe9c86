"""Which tasks of an application ran again, and why (tests/faults/run_resume).

A task is a partition of a stage. Its runs are in the file that resumed_programs.c writes. The caller tells the moments of the kills
and what the journal had at each of them. A task may run again for one of these reasons:

    running     its run had not ended: it was killed, or failed because of a kill
    unreported  its functions had ended shortly before its driver or executor was killed, or while no driver was there, and the
                journal had neither its result nor its map output. The rest of the task, its message to the driver and the write of
                the journal come after the end of its functions
    lost        its map output was in an executor or a shuffle server that was killed
    barrier     another task of its barrier stage was running, or has failed, because the stage began just after a kill

Anything else is a violation: above all, a task whose result was in the journal never runs again, nor does one whose map output was
in the journal and still exists.
"""
import collections
import dataclasses

TASKS_OF_DRIVER = 1000000  # the ids of the tasks of drivers differ by this at least
LAUNCH_SECONDS = 2  # an executor may begin a task so long after the death of its driver, which had launched it
MAX_BARRIER_TASKS = 8  # of a stage of the programs; their ids follow each other
REASONS = ("running", "unreported", "lost", "barrier")


@dataclasses.dataclass
class TaskRun:
    step: str
    stage: int
    partition: int
    task: int
    host: str
    pid: int
    began: float
    ended: float = 0  # 0: not


@dataclasses.dataclass
class Kill:
    """Between @time and @until."""
    time: float
    pids: set
    hosts: set = dataclasses.field(default_factory=set)  # whose executor was killed
    until: float = 0  # 0: @time
    driver: bool = False
    server: bool = False  # with its map outputs
    results: set = dataclasses.field(default_factory=set)  # (job, output) in the journal just after the driver's death
    map_outputs: set = dataclasses.field(default_factory=set)  # task ids, likewise


def read(path):
    """The runs in the order in which they began."""
    runs, ends, failed = {}, {}, set()
    for line in path.read_text().splitlines() if path.exists() else ():
        kind, *words = line.split()
        if kind == "B":
            step, stage, partition, task, host, pid, time = words
            runs.setdefault((int(task), step), TaskRun(step, int(stage), int(partition), int(task), host, int(pid), int(time) / 1e9))
        elif kind == "E":
            ends[int(words[0])] = int(words[1]) / 1e9
        else:
            failed.add(int(words[0]))
    for run in runs.values():
        run.ended = 0 if run.task in failed else ends.get(run.task, 0)
    return sorted(runs.values(), key=lambda run: run.began)


def has_killed(kill, run):
    return run.pid in kill.pids or run.host in kill.hosts


def may_be_unreported(run, again, kill, jobs, cluster):
    """True if the kill may have prevented the report of @run, which had ended."""
    journaled = (jobs.get(run.stage), run.partition) in kill.results or run.task in kill.map_outputs
    of_driver = kill.driver and run.task // TASKS_OF_DRIVER != again.task // TASKS_OF_DRIVER
    return (of_driver or has_killed(kill, run)) and run.ended > kill.time - cluster.report_seconds and not journaled


def may_be_lost(run, kills, cluster):
    """True if the map output of @run was at a process that was killed."""
    died = any(has_killed(kill, run) for kill in kills)
    drivers = any(kill.driver for kill in kills)
    if drivers and cluster.executors_end:
        return True
    return any(kill.server for kill in kills) or died and (not cluster.outlive or drivers and cluster.outlive == "executors")


def reason(run, again, kills, jobs, cluster, failed):
    """Why the task of @run may begin @again, or None. @jobs: the job of each result stage. @failed: tasks of its stage."""
    earlier = [kill for kill in kills if kill.time < again.began]
    since = [kill for kill in earlier if max(kill.time, kill.until) + kill.driver * LAUNCH_SECONDS > run.began]
    if not run.ended:
        return "running" if earlier else None
    if any(may_be_unreported(run, again, kill, jobs, cluster) for kill in since):
        return "unreported"
    if run.stage not in jobs and may_be_lost(run, since, cluster):
        return "lost"
    beside = any(abs(task - run.task) < MAX_BARRIER_TASKS for task in failed)
    return "barrier" if run.step.startswith("barrier") and (since or earlier and beside) else None


def repeated(runs, kills, jobs, cluster):
    """
    Counts the tasks that ran again by reason. Fails at one without.

    @cluster.outlive: map outputs outlive "executors", "drivers", too, or no process ("")
    @cluster.executors_end: executors end with their driver, and with them their map outputs
    @cluster.report_seconds: at most so much time is between the end of a task's functions and its record in the journal
    """
    before, counts, failed = {}, collections.Counter(), collections.defaultdict(list)
    for run in runs:
        task = run.step, run.stage, run.partition
        if task in before:
            why = reason(before[task], run, kills, jobs, cluster, failed[task[:2]])
            assert why, f"{run} runs again without a reason. Its last run was {before[task]}. The kills: {kills}"
            counts[why] += 1
        before[task] = run
        failed[task[:2]] += [] if run.ended else [run.task]
    return counts
