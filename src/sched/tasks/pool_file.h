/*
 * fairscheduler.xml: the pools of an application.
 *
 *      <allocations>
 *        <pool name="production">
 *          <schedulingMode>FAIR</schedulingMode>
 *          <weight>2</weight>
 *          <minShare>3</minShare>
 *        </pool>
 *      </allocations>
 */
#pragma once

#include "sched/tasks/pool.h"

#include <stddef.h>

struct fst_error;

struct pool_file {
        struct pool_spec *pools;
        int n_pools;
};

#define POOL_FILE_INIT ((struct pool_file){0})

/* A file of more than this many bytes is refused. */
enum { POOL_FILE_MAX = 1 << 20 };

/*
 * Read the pools in @text (@length bytes), in the order of the file; @name is for messages. What a pool leaves out
 * or gives wrongly gets Spark's default (FIFO, weight 1, minShare 0) and Spark's warning. A property is looked
 * for directly below its pool; pools may lie at any depth. 0; -EINVAL with @error when it is no well-formed XML,
 * declares entities (never needed here, and a way to make a small file huge), or is too long; @file is then
 * untouched.
 */
int pool_file_parse(struct pool_file *file, const char *text, size_t length, const char *name, struct fst_error *error);
void pool_file_deinit(struct pool_file *file);
