/*
 * Barrier execution: a stage whose tasks are started all at once or not at all, know of each other, and wait for each
 * other: for work of the kind that MPI programs and distributed training do.
 *
 *      static int train(fst_task *task, fst_iter *rows, fst_out *out)
 *      {
 *              char address[FST_BARRIER_ADDRESS];
 *              fst_bytes all[MOST];
 *              if (fst_barrier_address(task, 0, address) < 0)           // where the first of us runs
 *                      return -1;
 *              …
 *              if (fst_barrier_all_gather(task, (fst_bytes){mine, length}, all, MOST) < 0)
 *                      return -1;
 *              …
 *      }
 *      fst_rdd *model = fst_barrier_map_partitions(rows, train, FST_BYTES);
 *
 * If one of the tasks fails, the others are ended, and all of them run again. The application must have at least as
 * many free cores as the stage has tasks. A barrier stage can neither change the number of partitions (coalesce, union,
 * take) nor depend on two barrier RDDs; speculation does not concern it.
 */
#pragma once

#include <firesteel/function.h>
#include <firesteel/rdd.h>

FST_BEGIN_DECLS

/* Room for an address. */
#define FST_BARRIER_ADDRESS 288

/*
 * fst_rdd *fst_barrier_map_partitions(fst_rdd *rdd, FUNCTION f, fst_type type)
 *
 * As fst_map_partitions, in a barrier stage: Spark's rdd.barrier().mapPartitions(f).
 */
#define fst_barrier_map_partitions(rdd, f, type)                                                                       \
        fst_barrier_map_partitions_at((rdd), FST_FN(f), (type), FST_HERE("map_partitions"))
FST_API fst_rdd *fst_barrier_map_partitions_at(fst_rdd *rdd, fst_fn f, fst_type type, fst_site site);

/*
 * The following are for functions of tasks of a barrier stage. Each of its tasks must make the same calls in the same
 * order. They return a negative status when the task cannot go on: it was told to end, another task of the stage has
 * failed, or not all have come within spark.barrier.sync.timeout. The task has then failed, and returns.
 */

/* Wait until all tasks of the stage are here. 0, or negative. */
FST_API int fst_barrier_wait(fst_task *task);

/*
 * The same, and each gives a message: the first @max of them, by task, are in @messages, valid until the task's next
 * call of this or its end. The number of tasks, which may be more than @max; or negative.
 */
FST_API int fst_barrier_all_gather(fst_task *task, fst_bytes message, fst_bytes *messages, size_t max);

/*
 * Where task @index (that of partition @index) runs: "host:port" of its executor, cut to FST_BARRIER_ADDRESS bytes with
 * the NUL. Does not wait for others. The number of tasks of the stage, or negative.
 */
FST_API int fst_barrier_address(fst_task *task, int index, char *address);

FST_END_DECLS
