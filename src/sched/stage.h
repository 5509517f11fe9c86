/* A stage: the part of a lineage that runs without a shuffle, once for each partition. A map stage writes the outputs
 * of one shuffle and may serve several jobs. A result stage belongs to one job. The driver reads it, the DAG
 * scheduler (dag.c) writes it.
 */
#pragma once

#include "base/vec.h"
#include "rdd/lineage.h"
#include "sched/job.h"
#include "sched/map_outputs.h"

struct task_set;
struct sched_profile; /* sched/tasks/profile.h */

enum stage_state {
        STAGE_IDLE,    /* not needed yet, or complete */
        STAGE_WAITING, /* for parents */
        STAGE_RUNNING, /* an attempt is running */
        STAGE_FAILED,  /* a fetch failed: it will be resubmitted */
};

struct stage {
        int id;
        int attempt;                         /* number of the last attempt; -1 before the first */
        struct lineage *lineage;             /* the last RDD of the stage */
        const struct lineage_dep *shuffle;   /* written by a map stage; NULL: a result stage */
        int partitions;                      /* map: of lineage; result: of the job */
        const char *call_site;               /* of the stage's RDD, or of the action; borrowed */
        bool barrier;                        /* its tasks run all together or not at all */
        bool indeterminate;                  /* recomputed outputs may differ */
        const struct sched_profile *profile; /* resource profile: what each task takes, and where it may run */
        struct job *job;                     /* result stage: the job; NULL for a map stage */
        int first_job_id;
        struct stage **parents; /* the map stages that it reads */
        int n_parents;
        struct map_outputs *outputs; /* map stage: the shuffle's */
        int64_t submitted;           /* time of the last attempt */
        void *user;                  /* the driver's; initially NULL */

        /* for dag.c */
        enum stage_state state;
        bool profiles_conflict; /* its RDDs have several resource profiles, which may not be merged */
        uint8_t *pending;       /* map stage: partitions that the running attempt must still compute */
        int n_pending;
        int slot_failures;      /* barrier: how often there were too few slots */
        int64_t slots_checked;  /* time of the next check */
        int failed_attempts;    /* by fetch failures, since the last success */
        int last_failed;        /* the last attempt counted */
        struct task_set *set;   /* the newest attempt's while it is in the task scheduler, else NULL */
        VEC(struct job *) jobs; /* unfinished jobs that need it, by rising id */
        int refs;               /* jobs not removed yet, and task sets */
        uint32_t mark;          /* of graph walks */
};

static inline bool stage_is_result(const struct stage *stage)
{
        return !stage->shuffle;
}
