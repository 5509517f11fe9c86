/*
 * Barrier execution: the tasks of a stage start all at once or not at all, know each other, and can wait for each
 * other, as MPI programs and distributed training need it.
 *
 *      static int train(fst_task *task, fst_iter *rows, fst_out *out)
 *      {
 *              char address[FST_BARRIER_ADDRESS];
 *              fst_bytes all[MAX];
 *              if (fst_barrier_address(task, 0, address) < 0)           // of the first task
 *                      return -1;
 *              …
 *              if (fst_barrier_all_gather(task, (fst_bytes){mine, length}, all, MAX) < 0)
 *                      return -1;
 *              …
 *      }
 *      fst_rdd *model = fst_barrier_map_partitions(rows, train, FST_BYTES);
 *
 * If one of the tasks fails, the others are ended and all of them run again. The application must have at least as many
 * free cores as the stage has tasks. A barrier stage cannot change the number of partitions (coalesce, union, take) or
 * depend on two barrier RDDs. Speculation does not apply to it.
 */
#pragma once

#include <firesteel/function.h>
#include <firesteel/rdd.h>

FST_BEGIN_DECLS

/* The size of a buffer for an address. */
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
 * Call the following functions in a task of a barrier stage. All of its tasks must make the same calls in the same
 * order. A negative status means that the task must end: it was cancelled, another task of the stage has failed, or
 * not all tasks called within spark.barrier.sync.timeout. The task has then failed. Return from the function.
 */

/* Wait until all tasks of the stage have called this. Returns 0, or negative. */
FST_API int fst_barrier_wait(fst_task *task);

/*
 * The same, and exchange messages. Writes the first @max messages, in the order of tasks, to @messages, valid until the
 * task's next call of this or its end. Returns the number of tasks, which may exceed @max, or negative.
 */
FST_API int fst_barrier_all_gather(fst_task *task, fst_bytes message, fst_bytes *messages, size_t max);

/*
 * Write the address of the executor that runs task @index (that of partition @index) to @address: "host:port",
 * truncated to FST_BARRIER_ADDRESS bytes with the NUL. Does not wait for other tasks. Returns the number of tasks of
 * the stage, or negative.
 */
FST_API int fst_barrier_address(fst_task *task, int index, char *address);

FST_END_DECLS
