/*
 * Shares an executor's blocks with other processes: serves cached partitions, pieces of broadcast variables and large
 * results, fetches cached partitions for tasks, and copies blocks to other executors for replicated storage levels.
 *
 * How the executor process uses it:
 *
 *      block_manager_new                   once exec_env and the connection to the driver exist; also calls
 *                                          block_store_set_observer and broadcasts_set_network
 *      exec_env.remote                     = block_manager_remote(m), before the first slot
 *      transfer_services.fetch_block       block_manager_fetch_block
 *      transfer_services.put_block         block_manager_put_block
 *      result over maxDirectResultSize     block_manager_keep_result; the status carries its size; the driver fetches
 *                                          "taskresult_<id>" and then removes it
 *      Remove                              block_manager_remove
 *
 * A partition on the wire is its pages, each as a frame (store/page_frame.h), compressed only if the stored partition
 * is. An upload begins with the type of the rows: kinds u32 (key | value << 8), key size u32, value size u32. A result
 * is its xxh3 (u64) and its bytes.
 *
 * A remote partition is read completely, into the task's memory or a file, before a row of it is used. If a peer dies
 * or pages are damaged, the next peer is asked, and at last the partition is computed. As in Spark, a fetched partition
 * is not stored here.
 *
 * Threads: any, for all functions.
 */
#pragma once

#include "exec/blocks/block_network.h"
#include "rdd/pipeline/remote_blocks.h"

struct Firesteel__FetchBlock;
struct Firesteel__PutBlock;
struct block_manager;
struct exec_env;
struct transfer_sink;
struct transfer_stream;

/* Borrows the memory, directories, blocks and broadcasts of @env; copies @network. */
struct block_manager *block_manager_new(struct exec_env *env, const struct block_network *network);

/* The caller has ended all serving and fetching. NULL is allowed. */
void block_manager_free(struct block_manager *m);

const struct remote_blocks *block_manager_remote(const struct block_manager *m);

/* Functions for struct transfer_services, with the manager as owner. */
int block_manager_fetch_block(void *manager, const struct Firesteel__FetchBlock *request,
                              struct transfer_stream **stream, struct fst_error *error);
int block_manager_put_block(void *manager, const struct Firesteel__PutBlock *request, struct transfer_sink **sink,
                            struct fst_error *error);

/*
 * Copies a partition to the executor at @to in its stored form. Returns 0, -ENOENT if it is not here any more, or
 * negative with @error. Blocks; ends when @stopped is set.
 */
int block_manager_give(struct block_manager *m, struct block_id id, const struct block_location *to, const int *stopped,
                       struct fst_error *error);

/*
 * Copies a partition to one more executor that does not have it. Returns as block_manager_give, and -EHOSTUNREACH if no
 * executor accepts it.
 */
int block_manager_copy(struct block_manager *m, struct block_id id, const int *stopped, struct fst_error *error);

/*
 * Stores a copy of an encoded result until the driver fetches it. Returns negative with @error if there is neither
 * memory nor disk space.
 */
int block_manager_keep_result(struct block_manager *m, int64_t task_id, const void *data, size_t len,
                              struct fst_error *error);

/* Removes a block of any kind. Returns false if it is not here. For all blocks of an RDD use block_store_remove_rdd. */
bool block_manager_remove(struct block_manager *m, struct block_name name);

/* True if results wait for the driver. */
bool block_manager_keeps_results(struct block_manager *m);

/* Bytes in front of a result on the wire. */
#define TASK_RESULT_HEADER 8
/* Bytes in front of the pages of an uploaded partition. */
#define BLOCK_PUT_HEADER 12
