/*
 * What all tasks of a stage attempt share: made once by the driver, given to every slot that runs one of them. It
 * does not change while tasks run, and is shared by reference.
 */
#pragma once

#include "rdd/pipeline.h"
#include "rdd/rdd.h"
#include "shuffle/shuffle_reader.h"

struct action;
struct memory_manager;
struct block_store;
struct shuffle_store;

/* The executor's parts that tasks use; lives as long as the executor. */
struct exec_env {
        struct memory_manager *memory;
        struct shuffle_store *shuffles;
        struct block_store *blocks;
        const char *app_id;
        uint64_t seed; /* of the application's random numbers */
};

struct stage_work {
        int refs; /* atomic */
        const struct exec_env *env;
        int stage_id, stage_attempt;
        const fst_rdd *final;             /* what is computed */
        const fst_rdd *shuffled;          /* map stage: who reads its output; NULL: a result stage */
        struct action *action;            /* result stage: what becomes of the rows */
        struct shuffle_reader_env inputs; /* the shuffles that the stage reads; references are held */
};

struct stage_work *stage_work_ref(struct stage_work *work);

/* The last reference releases the inputs. NULL is allowed. Any thread. */
void stage_work_unref(struct stage_work *work);
