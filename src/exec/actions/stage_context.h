/*
 * What all tasks of a stage attempt share: made once by the driver, given to every slot that runs one of them. It
 * does not change while tasks run, and is shared by reference.
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

struct stage_work {
        int refs; /* atomic */
        const struct exec_env *env;
        int stage_id, stage_attempt;
        const fst_rdd *final;             /* what is computed */
        const fst_rdd *shuffled;          /* map stage: who reads its output; NULL: a result stage */
        struct action *action;            /* result stage: what becomes of the rows */
        struct shuffle_reader_env inputs; /* the shuffles that the stage reads */
        struct strmap properties;         /* local ones of its job, for fst_task_local_property */
        struct arena memory;              /* of a decoded stage: nodes, action, what they point to */
        struct buf encoded;               /* what worker processes are given: the form in which it came, or empty */
};

struct stage_work *stage_work_ref(struct stage_work *work);

/* The last reference releases the inputs. NULL is allowed. Any thread. */
void stage_work_unref(struct stage_work *work);
