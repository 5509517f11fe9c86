/*
 * An executor's side of blocks that others want or have: it serves cached partitions, pieces of broadcast variables and
 * large results, fetches cached partitions for tasks, and copies blocks to other executors for replicated storage
 * levels.
 *
 * How the executor process is to call it:
 *
 *      block_manager_new                   when its exec_env is there and the driver can be asked: also takes over
 *                                          block_store_set_observer, and broadcasts_set_network
 *      exec_env.remote                     = block_manager_remote(m), before the first slot
 *      transfer_services.fetch_block       block_manager_fetch_block
 *      transfer_services.put_block         block_manager_put_block
 *      result over maxDirectResultSize     block_manager_keep_result; the status says its size; the driver fetches
 *                                          "taskresult_<id>" and lets it be removed
 *      Remove                              block_manager_remove
 *
 * A partition on the wire is its pages, each as a frame (store/page_frame.h), compressed only if the partition is kept
 * so. As an upload, the type of
 * its rows goes first: kinds u32 (key | value << 8), key size u32, value size u32. A result is its bytes as they are,
 * behind their xxh3 (u64).
 *
 * A remote partition is read whole, into memory of the task or into a file, before a row of it is used: so a peer that
 * goes away, or damaged pages, cost nothing but asking the next, and then computing. It is not kept here, as in Spark.
 *
 * Threads: all functions from any.
 */
#pragma once

#include "exec/blocks/block_network.h"
#include "rdd/pipeline/remote_blocks.h"

struct Firesteel__FetchBlock;
struct Firesteel__PutBlock;
struct block_manager;
struct broadcasts;
struct exec_env;
struct transfer_sink;
struct transfer_stream;

/* @env's memory, directories, blocks and broadcasts are borrowed; @network is copied. */
struct block_manager *block_manager_new(struct exec_env *env, const struct block_network *network);

/* Nothing may be served or fetched any more. NULL is allowed. */
void block_manager_free(struct block_manager *m);

const struct remote_blocks *block_manager_remote(const struct block_manager *m);

/* As slots of struct transfer_services, with the manager as owner. */
int block_manager_fetch_block(void *manager, const struct Firesteel__FetchBlock *request,
                              struct transfer_stream **stream, struct fst_error *error);
int block_manager_put_block(void *manager, const struct Firesteel__PutBlock *request, struct transfer_sink **sink,
                            struct fst_error *error);

/*
 * Copy a partition to the executor at @to, as it is kept here. 0; -ENOENT: it is not here (any more); or negative with
 * @error. Blocks; looks at @stopped.
 */
int block_manager_give(struct block_manager *m, struct block_id id, const struct block_location *to, const int *stopped,
                       struct fst_error *error);

/*
 * Copy a partition to one more executor that does not have it: as block_manager_give, and -EHOSTUNREACH when nobody
 * takes it.
 */
int block_manager_copy(struct block_manager *m, struct block_id id, const int *stopped, struct fst_error *error);

/* Keep an encoded result for the driver, copying it. Negative with @error when there is neither memory nor disk. */
int block_manager_keep_result(struct block_manager *m, int64_t task_id, const void *data, size_t len,
                              struct fst_error *error);

/* Forget a block of any kind; false if it is not here. All blocks of an RDD: block_store_remove_rdd. */
bool block_manager_remove(struct block_manager *m, struct block_name name);

/* Whether results wait for the driver. */
bool block_manager_keeps_results(struct block_manager *m);

/* Bytes before a result on the wire. */
#define TASK_RESULT_HEADER 8
/* Bytes before the pages of an uploaded partition. */
#define BLOCK_PUT_HEADER 12
