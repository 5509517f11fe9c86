/* The DAG scheduler: jobs, their stages and the outputs of their shuffles. Internal to this room. Others use sched.h.
 *
 * dag.c handles events of jobs and stages, stage_graph.c turns a lineage into stages, sched.c holds the rest of
 * sched.h.
 */
#pragma once

#include "base/list.h"
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
        LIST(struct job) jobs; /* those not removed yet */
        int next_job_id, next_stage_id;
        VEC(struct shuffle) shuffles; /* by id */
        stage_list waiting;           /* STAGE_WAITING */
        stage_list failed;            /* STAGE_FAILED */
        int64_t resubmit_at;          /* when failed stages are resubmitted; INT64_MAX if there are none */
        uint64_t epoch;               /* grows when map outputs are lost */
        int64_t now;
        VEC(uint32_t) rdd_marks; /* by RDD id: the walk that visited it last */
        uint32_t walk;
        uint32_t stage_walk;
        struct sched_recorder *recorder; /* NULL: not recording (sched_recorder.h) */
};

extern const struct task_events dag_task_events;

/* ------------------------------------------------------------------------------------------ stage_graph.c */

/* Returns the result stage of @job with all stages it depends on, creating missing ones; fills job->stages. */
void stage_graph_build(struct sched *s, struct job *job);

/* The map stages that @stage needs and that lack outputs, by rising id. A cached RDD ends the walk. */
void stage_graph_missing(struct sched *s, const struct stage *stage, stage_list *missing);

void stage_unref(struct sched *s, struct stage *stage);

/* Returns true the first time that this walk (s->walk) visits @rdd. */
bool dag_mark_rdd(struct sched *s, const struct lineage *rdd);

/* The entry of a shuffle, NULL if no job used it. */
struct shuffle *dag_shuffle(struct sched *s, int shuffle_id);

/* ------------------------------------------------------------------------------------ preferred_locations.c */

/* Asks the owner for the preferred locations of the tasks of @set; sets set->locality. */
void preferred_places_find(struct sched *s, struct task_set *set);

/* ------------------------------------------------------------------------------------------- dag_outputs.c */

/* Unregisters the map outputs of all shuffles on @executor; those that are stored elsewhere only if @stored. */
void dag_unregister_outputs(struct sched *s, int executor, bool stored);

/* Unregisters the map outputs of all shuffles on executors that ever were on @host. */
void dag_lose_host(struct sched *s, const char *host, const char *message);

/* Registers the outputs that an earlier driver has left, for shuffles that some job has used. */
void dag_keep_stored(struct sched *s, const struct job_spec *spec);

/* Whether an executor, and not a store, should have had the output of a failed fetch, so that the executor is to blame. */
bool dag_executor_lacked_output(struct sched *s, const struct task_fetch *fetch);

/* Unregisters the missing outputs of a failed fetch, and all other outputs of that executor. */
void dag_unregister_missing_output(struct sched *s, const struct task_set *set, const struct task_fetch *fetch);

/* --------------------------------------------------------------------------------------------------- dag.c */

void job_unref(struct sched *s, struct job *job);

/* Returns true if results of @set's tasks are unwanted: its stage has restarted with all its tasks, or is about to.
 */
bool dag_is_stale(const struct task_set *set);

void dag_resubmit_failed(struct sched *s);

/* An executor was added: barrier stages that wait for slots start if there are enough now. */
void dag_retry_barrier_stages(struct sched *s);
void dag_cancel_job(struct sched *s, struct job *job, const char *reason);
