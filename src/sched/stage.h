/*
 * A stage: the part of a lineage that runs without a shuffle, once for each partition. A map stage writes the
 * outputs of one shuffle and may serve several jobs; a result stage belongs to one job.
 * Read by the driver, written by the DAG scheduler (dag.c).
 */
#pragma once

#include "base/vec.h"
#include "rdd/lineage.h"
#include "sched/job.h"
#include "sched/map_outputs.h"

struct task_set;

enum stage_state {
        STAGE_IDLE,    /* not needed yet, or complete */
        STAGE_WAITING, /* for parents */
        STAGE_RUNNING, /* an attempt is out */
        STAGE_FAILED,  /* a fetch failed: to be submitted again */
};

struct stage {
        int id;
        int attempt;                       /* of the attempt submitted last; -1 before the first */
        struct lineage *lineage;           /* the last RDD of the stage */
        const struct lineage_dep *shuffle; /* what a map stage writes; NULL: a result stage */
        int partitions;                    /* map: of lineage; result: of the job */
        const char *call_site;             /* where the stage's RDD was made, or the action; borrowed from it */
        bool barrier;                      /* its tasks run all at once or not at all */
        bool indeterminate;                /* computed again, its outputs may be others */
        struct job *job;                   /* result stage: the job; NULL for a map stage */
        int first_job_id;
        struct stage **parents; /* map stages that it reads */
        int n_parents;
        struct map_outputs *outputs; /* map stage: the shuffle's */
        int64_t submitted;           /* the last attempt */
        void *user;                  /* the driver's; NULL at first */

        /* for dag.c */
        enum stage_state state;
        uint8_t *pending; /* map stage: partitions that the running attempt still owes */
        int n_pending;
        int slot_failures;      /* barrier: how often there were too few cores */
        int64_t slots_checked;  /* when that is counted again */
        int failed_attempts;    /* by fetch failure, since the last success */
        int last_failed;        /* the attempt counted last */
        struct task_set *set;   /* the newest attempt's while it is in the task scheduler, else NULL */
        VEC(struct job *) jobs; /* that need it and have not ended, by rising id */
        int refs;               /* jobs that have not been removed, task sets */
        uint32_t mark;          /* of graph walks */
};

static inline bool stage_is_result(const struct stage *stage)
{
        return !stage->shuffle;
}
