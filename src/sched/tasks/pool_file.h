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

/* The largest accepted file, in bytes. */
enum { POOL_FILE_MAX = 1 << 20 };

/* Reads the pools in @text (@length bytes), in file order; @name is for messages. A missing or invalid property gets
 * Spark's default (FIFO, weight 1, minShare 0) and Spark's warning. Properties are direct children of their pool.
 * Pools may be nested at any depth. Returns 0, or -EINVAL with @error and @file unchanged if the text is not
 * well-formed XML, declares entities (unneeded, and a way to make a small file expand hugely), or is too long.
 */
int pool_file_parse(struct pool_file *file, const char *text, size_t length, const char *name, struct fst_error *error);
void pool_file_deinit(struct pool_file *file);
