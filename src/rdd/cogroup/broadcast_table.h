/*
 * Tables of the small sides of broadcast joins, which the tasks of a process share.
 *
 *      t = broadcast_table_ref(manager, small, data);         an operator, once its task has the rows
 *      shares = broadcast_table_reserve(t);                    for each task; false: the task reserves the memory
 *      broadcast_table_build(t, run, small);                   the first task builds the table, others wait for it
 *      … &t->table
 *      broadcast_table_release(t);                             if it shares
 *      broadcast_table_unref(t);
 *
 * A task that builds waits for nothing, so tasks that wait for it do not wait in a circle. Between tasks a table is not
 * reserved, as the index of a sorter (rdd/sort/sorter.h).
 */
#pragma once

#include "rdd/cogroup/broadcast_side.h"
#include "rdd/cogroup/join_table.h"

struct memory_manager;
struct task_run;

struct broadcast_table {
        struct join_table table;
        struct sort_entry *entries;
        size_t bytes; /* of both */

        /* The key. */
        struct memory_manager *manager;
        int64_t variable;
        fst_type type;
        const char *data; /* entries point into it; NULL: they hold whole rows */

        /* A lock guards the rest. */
        struct broadcast_table *prev, *next;
        unsigned refs, users; /* operators; tasks that share its reservation */
        enum { BROADCAST_TABLE_MISSING, BROADCAST_TABLE_STARTED, BROADCAST_TABLE_BUILT } state;
};

/* The bytes of the table of @small. */
size_t broadcast_table_bytes(const struct broadcast_side *small);

/* The table of @small, whose rows @data has, not yet built if this is the first reference. Any thread, as all below. */
struct broadcast_table *broadcast_table_ref(struct memory_manager *manager, const struct broadcast_side *small,
                                            const char *data);

/* The last one frees the table. NULL is allowed. */
void broadcast_table_unref(struct broadcast_table *t);

/* Whether it is the table of @small and @data. */
bool broadcast_table_is_of(const struct broadcast_table *t, const struct broadcast_side *small, const char *data);

/* Reserves the table's memory as fixed storage, once for all tasks. Returns false if the manager refuses. */
bool broadcast_table_reserve(struct broadcast_table *t);
void broadcast_table_release(struct broadcast_table *t);

/*
 * Builds the table from the data, or waits until another task has. @data: the rows, also if the key has none. Its
 * memory is reserved. Returns 0, or negative after task_run_fail or task_run_cancelled.
 */
int broadcast_table_build(struct broadcast_table *t, struct task_run *run, const struct broadcast_side *small,
                          const char *data);
