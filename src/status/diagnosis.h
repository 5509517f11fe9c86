/*
 * Finds what limited a stage, and where the wall-clock time of a job went. Pure functions over the status core.
 *
 * The wall-clock time of a stage is divided into parts whose sum is the whole:
 *
 *      waiting for cores   from the submission to the first task, and cores that were idle while tasks had to start
 *      uneven tasks        cores that were idle after the last task had started
 *      the rest            all cores were busy. It is divided as the tasks' time is: attempts that did not succeed,
 *                          waiting for shuffle blocks, garbage collection, …, computing
 *
 * "All cores" are the most that the stage used at one time. One pass over some columns of the tasks suffices.
 */
#pragma once

#include "base/buf.h"
#include "status/status.h"

enum diagnosis_part {
        DIAGNOSIS_COMPUTING,
        DIAGNOSIS_CORES,       /* waiting for cores */
        DIAGNOSIS_UNEVEN,      /* idle cores behind the last start */
        DIAGNOSIS_ATTEMPTS,    /* attempts that did not succeed */
        DIAGNOSIS_FETCH,       /* waiting for shuffle blocks */
        DIAGNOSIS_WRITE,       /* writing shuffle blocks */
        DIAGNOSIS_GC,          /* garbage collection, in logs of Spark */
        DIAGNOSIS_OUTSIDE,     /* tasks ran, but did not compute: input, output, locks */
        DIAGNOSIS_DESERIALIZE, /* decoding tasks */
        DIAGNOSIS_RESULTS,     /* encoding results and fetching large ones */
        DIAGNOSIS_SCHEDULER,   /* the rest of the scheduler delay: messages and queues */
        DIAGNOSIS_PARTS
};

enum diagnosis_limit {
        LIMIT_UNKNOWN, /* nothing ran, single tasks are not kept, or the stage took a few ms only */
        LIMIT_COMPUTING,
        LIMIT_CORES,
        LIMIT_ATTEMPTS,
        LIMIT_FETCH,
        LIMIT_WRITE,
        LIMIT_GC,
        LIMIT_OUTSIDE,
        LIMIT_BUSY_HOST,    /* tasks waited, and heartbeats say that the processors of their hosts were busy */
        LIMIT_CPU_OR_LOCKS, /* tasks waited without input, output, fetch wait or spill, on hosts of unknown load */
        LIMIT_OVERHEAD,     /* decoding tasks, scheduler delay, results: tasks are too short */
        LIMIT_SKEW,         /* some partitions have more data */
        LIMIT_STRAGGLERS,   /* some tasks are slow although their data is not larger */
        LIMIT_SLOW_HOST,
        LIMIT_SPILL,
        LIMIT_PARTITIONS, /* fewer tasks than cores */
        LIMIT_FAILED,     /* the stage failed: its share is 0 */
        DIAGNOSIS_LIMITS
};

/* A limit, and the part of the wall-clock time that it stands for, 0 to 1. */
struct diagnosis_share {
        enum diagnosis_limit limit;
        double share;
};

/* A long task. */
struct diagnosis_task {
        size_t row;
        int64_t duration_ms;
        int partition;
};

enum { DIAGNOSIS_LONG_TASKS = 3, DIAGNOSIS_FURTHER = 3 };

struct stage_diagnosis {
        enum diagnosis_limit limit;
        double share; /* of the wall-clock time that the limit stands for, 0 to 1 */
        struct diagnosis_share further[DIAGNOSIS_FURTHER]; /* other limits of at least a tenth, largest first */
        size_t n_further;
        double node_cpu; /* busy part of the processors of the stage's hosts meanwhile, -1: unknown */
        int64_t wall_ms;
        int64_t parts_ms[DIAGNOSIS_PARTS];                   /* sum: wall_ms */
        int64_t task_ms;                                     /* of all attempts */
        int64_t failed_ms, n_failed;                         /* of attempts that did not succeed */
        int64_t n_tasks, n_seen;                             /* attempts; those that are still retained */
        double slots;                                        /* the most cores that were busy at one time */
        int64_t cores;                                       /* of the executors that existed meanwhile, 0: unknown */
        int64_t median_ms;                                   /* of successful tasks, -1: none */
        struct diagnosis_task longest[DIAGNOSIS_LONG_TASKS]; /* longest first */
        size_t n_longest;
        int64_t longest_bytes, mean_bytes; /* read by the longest task, and by one on average */
        int64_t longest_records, mean_records;
        const char *slow_host;                /* NULL: none */
        int64_t slow_host_ms, other_hosts_ms; /* mean duration of a task on it, and elsewhere */
        bool shared;                          /* other stages ran at the same time */
};

/* @now_ms ends a stage that runs. */
void diagnose_stage(const struct status *s, const struct status_stage *stage, int64_t now_ms,
                    struct stage_diagnosis *out);

/*
 * Appends one line, without a newline: "skew: partition 7 ran 42 s, 8.4 times the median of 5.0 s …". Names in it come
 * from events: pages must escape it. Nothing for LIMIT_UNKNOWN. Further limits follow: "; also …".
 */
void stage_diagnosis_put(const struct status_stage *stage, const struct stage_diagnosis *d, struct buf *out);

/* Returns the name of a limit in one or two words: "skew". "" for LIMIT_UNKNOWN. */
const char *diagnosis_limit_name(enum diagnosis_limit limit);
/* Returns the name of a part: "waiting for shuffle blocks". */
const char *diagnosis_part_name(enum diagnosis_part part);

/* Where the wall-clock time of a job went. The four parts add up to wall_ms. */
struct job_diagnosis {
        int64_t wall_ms;
        int64_t driver_ms; /* no stage was submitted: the driver works alone */
        int64_t queued_ms; /* stages were submitted, and no task had started */
        int64_t busy_ms;   /* tasks ran: the part in which cores were busy, */
        int64_t idle_ms;   /* and the part in which they were idle */
        int64_t ideal_ms;  /* of the whole, if the tasks of each stage were equally long */
        int64_t cores;     /* of the executors that existed meanwhile, 0: unknown */
        bool shared;       /* other jobs ran at the same time: their tasks may have used the idle cores */
};

/* Reads single tasks of at most @max_rows tasks. Stages beyond count as if they were balanced. */
void diagnose_job(const struct status *s, const struct status_job *job, int64_t now_ms, size_t max_rows,
                  struct job_diagnosis *out);

/* Appends the first line of an error: at most @max bytes, and "..." in place of the line's rest. NULL: nothing. */
void diagnosis_put_error(struct buf *out, const char *error, size_t max);

/* Append a duration: "12 ms", "4.0 s", "3.5 min", "2.0 h", and a size: "12 B", "1.5 GiB". */
void diagnosis_put_duration(struct buf *out, int64_t ms);
void diagnosis_put_bytes(struct buf *out, int64_t bytes);
