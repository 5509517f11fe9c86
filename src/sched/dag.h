/*
 * The DAG scheduler: jobs, their stages, the outputs of their shuffles. Behind sched.h; for this room only.
 *
 * dag.c holds what happens to jobs and stages, stage_graph.c how a lineage becomes stages, sched.c the rest of
 * sched.h.
 */
#pragma once

#include "sched/job.h"
#include "sched/sched.h"
#include "sched/stage.h"
#include "sched/tasks/task_scheduler.h"

struct shuffle {
        struct map_outputs *outputs; /* NULL until a job used the shuffle */
        struct stage *stage;         /* that writes it, while a job needs it */
};

typedef VEC(struct stage *) stage_list;

struct sched {
        struct sched_config config;
        const struct sched_ops *ops;
        void *owner;
        struct task_scheduler tasks;
        struct job *first_job, *last_job; /* that have not been removed */
        int next_job_id, next_stage_id;
        VEC(struct shuffle) shuffles; /* by id */
        stage_list waiting;           /* STAGE_WAITING */
        stage_list failed;            /* STAGE_FAILED */
        int64_t resubmit_at;          /* when the failed ones are; INT64_MAX if none */
        uint64_t epoch;               /* grows when map outputs are lost */
        int64_t now;
        VEC(uint32_t) rdd_marks; /* by RDD id: the walk that saw it last */
        uint32_t walk;
        uint32_t stage_walk;
        struct sched_recorder *recorder; /* NULL: nobody records (sched_recorder.h) */
};

extern const struct task_events dag_task_events;

/* ------------------------------------------------------------------------------------------ stage_graph.c */

/* The result stage of @job with all the stages it depends on, made where there are none; fills job->stages. */
void stage_graph_build(struct sched *s, struct job *job);

/* The map stages whose outputs @stage needs and that lack some, by rising id; what is cached cuts the walk. */
void stage_graph_missing(struct sched *s, const struct stage *stage, stage_list *missing);

void stage_unref(struct sched *s, struct stage *stage);

/* True the first time that this walk (s->walk) comes to @rdd. */
bool dag_mark_rdd(struct sched *s, const struct lineage *rdd);

/* The entry of a shuffle, NULL if no job used it. */
struct shuffle *dag_shuffle(struct sched *s, int shuffle_id);

/* --------------------------------------------------------------------------------------- preferred_places.c */

/* Ask the owner where the tasks of @set would rather run; sets set->locality. */
void preferred_places_find(struct sched *s, struct task_set *set);

/* --------------------------------------------------------------------------------------------------- dag.c */

void job_unref(struct sched *s, struct job *job);

/* What @set's tasks bring is not wanted: its stage began anew with all its tasks, or is about to. */
bool dag_is_stale(const struct task_set *set);

/* Forget what @executor holds of every shuffle. */
void dag_unregister_outputs(struct sched *s, int executor);

/* Forget what any executor that ever was on @host holds of every shuffle. */
void dag_lose_host(struct sched *s, const char *host, const char *message);
void dag_resubmit_failed(struct sched *s);

/* An executor has come: a barrier stage that waits for enough cores need not wait any longer, if they are there. */
void dag_retry_barrier_stages(struct sched *s);
void dag_cancel_job(struct sched *s, struct job *job, const char *reason);
