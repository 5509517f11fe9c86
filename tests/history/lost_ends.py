"""Logs of genuine Spark in which ends of tasks are late or missing, and what each server shows of them.

An application that ends while killed tasks run logs their ends after the end of their job, after its own end, or never.
Genuine Spark writes a job when it ends and when the last task of an ended stage ends, so that a stage whose last end is
missing keeps its jobs as they were, and its tasks run for ever. Ours counts all ends that there are, and no running tasks in
stages that ended before their application (docs/differences.md).
"""
import collections
import json

# The name of a log, and where the ends of the stage's tasks are, in turn. The last place is that of the last task.
PLACES = {"late": ["after the job"], "after-application": ["after the application"],
          "one-lost": ["after the job", "after the application", "lost"], "all-lost": ["lost"]}


def event_of(line):
    event = json.loads(line)
    return event["Event"].replace("SparkListener", ""), event


def stage_to_change(lines):
    """A stage of which several tasks have started, of the last failed job that has one, and the place of the job's end."""
    stages, starts = {}, collections.Counter()
    failed = other = None
    for i, line in enumerate(lines):
        kind, event = event_of(line)
        if kind == "JobStart":
            stages[event["Job ID"]] = event["Stage IDs"][-1]
        elif kind == "TaskStart":
            starts[event["Stage ID"]] += 1
        elif kind == "JobEnd" and starts[stages[event["Job ID"]]] > 1:
            other = stages[event["Job ID"]], i
            if event["Job Result"]["Result"] != "JobSucceeded":
                failed = other
    return failed or other


def crafted_logs(lines):
    """Returns a dictionary: the lines of each log by its name."""
    stage, job_end = stage_to_change(lines)
    events = [event_of(line) for line in lines]
    mine = {i: event for i, (kind, event) in enumerate(events) if kind == "TaskEnd" and event["Stage ID"] == stage}
    starts = [event for kind, event in events if kind == "TaskStart" and event["Stage ID"] == stage]
    ended = {event["Task Info"]["Task ID"]: event for event in mine.values()}
    pattern = next(iter(ended.values()), None) or next(event for kind, event in events if kind == "TaskEnd")
    end = next(event["Timestamp"] for kind, event in events if kind == "ApplicationEnd")
    ends = []
    for start in starts:  # an end that is missing in the log itself gets the form of another one
        event = ended.get(start["Task Info"]["Task ID"]) or dict(
            pattern, **{"Stage ID": stage, "Stage Attempt ID": start["Stage Attempt ID"], "Task Info": start["Task Info"]})
        info = dict(event["Task Info"], **{"Finish Time": end - 1, "Failed": True, "Killed": False})
        reason = {"Reason": "ExecutorLostFailure", "Executor ID": info["Executor ID"], "Exit Caused By App": False,
                  "Loss Reason": "Command exited with code 143"}
        event = dict(event, **{"Task Info": info, "Task End Reason": reason})
        event.pop("Task Metrics", None)
        event["Task Executor Metrics"] = dict.fromkeys(event.get("Task Executor Metrics", {}), 0)
        ends.append(json.dumps(event) + "\n")
    logs = {}
    for name, places in PLACES.items():
        where = collections.defaultdict(list)
        for i, line in enumerate(ends):
            where[places[-1] if i == len(ends) - 1 else places[min(i, max(len(places) - 2, 0))]].append(line)
        made = []
        for i, line in enumerate(lines):
            if i not in mine:
                made.append(line)
            if i == job_end:
                made += where["after the job"]
            elif events[i][0] == "ApplicationEnd":
                made += where["after the application"]
        logs[name] = made
    # Genuine Spark does not show in a log that the result of a running task is fetched.
    fetched = {event["Task Info"]["Task ID"] for kind, event in events if kind == "TaskGettingResult"}
    n = 0
    logs["each-fifth-lost"] = []
    for line, (kind, event) in zip(lines, events):
        n += kind == "TaskEnd"
        if kind != "TaskEnd" or n % 5 or event["Task Info"]["Task ID"] in fetched:
            logs["each-fifth-lost"].append(line)
    return logs


class Counts:
    """Of a job."""

    def __init__(self):
        self.active = self.completed = self.failed = self.killed = 0
        self.indices, self.reasons = set(), collections.Counter()

    def end(self, event):
        reason = event["Task End Reason"]
        self.active -= reason["Reason"] != "Resubmitted"
        if reason["Reason"] == "Success":
            self.completed += 1
            self.indices.add((event["Stage ID"], event["Task Info"]["Index"]))
        elif reason["Reason"] == "TaskKilled":
            self.killed += 1
            self.reasons[reason["Kill Reason"]] += 1
        else:
            self.failed += 1

    def fields(self):
        return {"numActiveTasks": self.active, "numCompletedTasks": self.completed, "numFailedTasks": self.failed,
                "numKilledTasks": self.killed, "numCompletedIndices": len(self.indices),
                "killedTasksSummary": dict(self.reasons)}


class LostEnds:
    """The tasks of a log whose ends are missing, and the fields that differ for them."""

    def __init__(self, lines, updated_ms=None):
        """@updated_ms: when the log was changed last, if our server does not take running tasks' time from it."""
        self.updated_ms, self.last_ms, has_ended = updated_ms, 0, False
        running, self.ended_stages, stages_of, jobs_of = {}, set(), {}, collections.defaultdict(list)
        self.started, self.ended = collections.defaultdict(set), collections.defaultdict(set)  # executors of stages
        self.removed, self.late_executors, on_time = set(), set(), set()  # late: all of its ends come after its removal
        self.jobs, self.written = collections.defaultdict(Counts), {}
        for line in lines:
            kind, event = event_of(line)
            info = event.get("Task Info") or {}
            key = event.get("Stage ID"), event.get("Stage Attempt ID")
            self.last_ms = max(self.last_ms, event.get("Timestamp") or 0, event.get("Completion Time") or 0,
                               event.get("Submission Time") or 0, info.get("Launch Time", 0), info.get("Finish Time", 0))
            if kind == "JobStart":
                stages_of[event["Job ID"]] = set(event["Stage IDs"])
            elif kind == "StageSubmitted":
                stage = event["Stage Info"]["Stage ID"]
                jobs_of[stage, event["Stage Info"]["Stage Attempt ID"]] = [j for j, of in stages_of.items() if stage in of]
            elif kind == "StageCompleted":
                self.ended_stages.add((event["Stage Info"]["Stage ID"], event["Stage Info"]["Stage Attempt ID"]))
            elif kind == "TaskStart":
                running[info["Task ID"]] = key, info
                self.started[key].add(info["Executor ID"])
                for job in jobs_of[key]:
                    self.jobs[job].active += 1
            elif kind == "TaskEnd":
                if event["Task End Reason"]["Reason"] != "Resubmitted":  # not an end of its own
                    running.pop(info["Task ID"], None)
                self.ended[key].add(info["Executor ID"])
                (self.late_executors if info["Executor ID"] in self.removed else on_time).add(info["Executor ID"])
                is_last = key in self.ended_stages and not any(key == k for k, _ in running.values())
                for job in jobs_of[key]:
                    self.jobs[job].end(event)
                    if is_last:
                        self.written[job] = self.jobs[job].fields()
            elif kind == "ExecutorRemoved":
                self.removed.add(event["Executor ID"])
            elif kind == "JobEnd":
                stages_of.pop(event["Job ID"])
                self.written[event["Job ID"]] = self.jobs[event["Job ID"]].fields()
            has_ended = has_ended or kind == "ApplicationEnd"
        self.lost = {task: at for task, at in running.items() if has_ended and at[0] in self.ended_stages}
        self.late_executors -= on_time
        self.jobs_with_lost = {job for key, _ in self.lost.values() for job in jobs_of[key]}

    def lost_of_stage(self, stage, attempt):
        return [info for key, info in self.lost.values() if key == (stage, attempt)]

    def expected(self, ours, genuine):
        """The fields of an object that may differ: {name: (ours, genuine)}."""
        if "jobId" in genuine and genuine["jobId"] in self.jobs_with_lost:
            final = self.jobs[genuine["jobId"]].fields()
            final["numActiveTasks"] = 0
            return {name: (final[name], value) for name, value in self.written[genuine["jobId"]].items()}
        if "stageId" in genuine and "attemptId" in genuine:
            lost = self.lost_of_stage(genuine["stageId"], genuine["attemptId"])
            return {"numActiveTasks": (0, len(lost))}
        if "taskId" in genuine and genuine["taskId"] in self.lost and self.updated_ms:
            launch = self.lost[genuine["taskId"]][1]["Launch Time"]
            return {"duration": (self.last_ms - launch, self.updated_ms - launch)}
        if "activeTasks" in genuine and "id" in genuine:
            lost = sum(info["Executor ID"] == genuine["id"] for _, info in self.lost.values())
            return {"activeTasks": (genuine["activeTasks"] - lost, genuine["activeTasks"])}
        return {}

    def idle_executors(self, ours, genuine):
        """The executors of a stage that only ours shows, with nothing but zeros: no task has ended on them."""
        if not {"stageId", "attemptId", "executorSummary"} <= set(ours):
            return set()
        key = ours["stageId"], ours["attemptId"]
        extra = set(ours["executorSummary"]) - set(genuine.get("executorSummary", {}))
        return {x for x in extra & (self.started[key] - self.ended[key])
                if not any(value for value in ours["executorSummary"][x].values() if isinstance(value, int))}

    def has_late_peaks(self, ours, genuine):
        """True for an executor whose peaks, all zero, come only from ends after its removal: genuine Spark shows none."""
        return "peakMemoryMetrics" in ours and "peakMemoryMetrics" not in genuine and \
            ours.get("id") in self.late_executors and not any(ours["peakMemoryMetrics"].values())

    def excused(self, ours, genuine):
        """The names of fields that differ in exactly the way that lost ends explain."""
        return {name for name, values in self.expected(ours, genuine).items()
                if values[0] != values[1] and (ours.get(name), genuine.get(name)) == values}
