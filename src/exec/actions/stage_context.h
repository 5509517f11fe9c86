/*
 * The data that all tasks of a stage attempt share. The driver makes it once and passes it to every slot that runs such
 * a task. It is reference-counted and does not change while tasks run.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/strmap.h"
#include "exec/exec_env.h"
#include "rdd/pipeline/pipeline.h"
#include "rdd/rdd.h"
#include "shuffle/shuffle_reader.h"

struct action;

struct stage_context {
        int refs; /* atomic */
        const struct exec_env *env;
        int stage_id, stage_attempt;
        int job_id;              /* the first job that needs it, or -1; used by the driver only */
        bool barrier;            /* all of its tasks run at the same time */
        int task_cpus;           /* cores of each task, by its resource profile; 0: spark.task.cpus */
        const fst_rdd *final;    /* the RDD to compute */
        const fst_rdd *shuffled; /* map stage: the RDD that reads its output; NULL: a result stage */
        uint64_t journal_job; /* its job's number in the driver's journal + 1; 0: there is none */
        uint64_t journal_signature; /* of that job */
        uint32_t output_place; /* map stage: the place of its outputs (shuffle/remote_shuffle.h); 0: publishing decides
                                */
        struct action *action; /* result stage: the action on the rows */
        struct shuffle_reader_env inputs; /* the shuffles that the stage reads */
        struct strmap properties;         /* local properties of its job, for fst_task_local_property */
        struct arena memory;              /* nodes, action and their data, of a decoded stage */
        struct buf encoded;               /* the encoded form, for task processes; may be empty */
};

struct stage_context *stage_context_ref(struct stage_context *work);

/* Releases the inputs with the last reference. NULL is allowed. Any thread. */
void stage_context_unref(struct stage_context *work);
