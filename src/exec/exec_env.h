/*
 * The resources that the tasks of one executor share: memory, cached blocks, map outputs, local directories. The driver
 * of a local master has one, and so has every executor process.
 */
#pragma once

#include "conf/conf.h"
#include "shuffle/shuffle_reader.h"
#include "store/file_cipher.h"

#include <stddef.h>
#include <stdint.h>

struct memory_manager;
struct block_store;
struct app_files;
struct broadcasts;
struct shuffle_store;
struct disk_dirs;
struct numa_nodes;
struct isolation;
struct python_pool;
struct remote_blocks;
struct task_services;
struct slice_source;
struct transfer_client;
struct fst_error;

struct exec_env {
        struct memory_manager *memory;
        struct memory_manager *off_heap; /* for blocks of FST_STORAGE_OFF_HEAP; NULL: none */
        struct disk_dirs *dirs;
        struct shuffle_store *shuffles;
        struct block_store *blocks;
        struct broadcasts *broadcasts;
        struct python_pool *python;                /* Python workers; owned */
        struct numa_nodes *numa;                   /* the nodes that slots are bound to, owned; NULL: none */
        struct app_files *files;                   /* the application's files; NULL: none. exec_env_deinit frees it */
        struct transfer_client *transfers;         /* client for fetches from other processes; NULL: none */
        struct transfer_client *service_transfers; /* client for fetches from shuffle services; NULL: none */
        struct remote_shuffle *remote_outputs;     /* map outputs outside of executors; borrowed. NULL: none */
        struct shuffle_fetch_limits fetch_limits;  /* of a reduce task */
        const struct remote_blocks *remote;        /* block_manager_remote; NULL: there are no other executors */
        const struct task_services *services; /* rdd/pipeline/task_services.h; set before the first slot. NULL: none */
        int task_cpus;                        /* spark.task.cpus */
        bool ignore_corrupt_files;            /* spark.files.ignoreCorruptFiles */
        bool ignore_missing_files;            /* spark.files.ignoreMissingFiles */
        const char *app_id;                   /* borrowed */
        const char *executor_id;              /* borrowed; NULL: the driver */
        uint64_t seed;                        /* of the application's random numbers */
        const void *io_secret; /* the application's secret for file keys, read by exec_env_init; borrowed. NULL: a new
                                  one is made */
        size_t io_secret_len;
        uint8_t own_io_secret[MAX_FILE_SECRET]; /* the secret made here; exec_env_deinit wipes it */
        bool passes_blocks; /* a task process, which passes its blocks to the executor: set before exec_env_init */
        struct isolation *isolation; /* task processes (exec/isolation/isolation.h); NULL: not used */

        /*
         * Returns 0 if task @task_id may commit its output of @partition; FST_OUTPUT_E_DENIED (io/output_committer.h)
         * if another attempt may; negative if that cannot be found out. Blocks; on the task's thread. NULL: all
         * attempts are in this process, and the committer decides.
         */
        int (*may_commit)(void *commit_owner, int stage, int stage_attempt, int partition, int64_t task_id);
        void *commit_owner;

        /*
         * Barrier of a barrier stage's tasks, as task_services.barrier: sends @question to the driver and waits. NULL:
         * not available.
         */
        int (*barrier)(void *barrier_owner, const uint8_t *question, size_t len, const int *stopped, uint8_t **answer,
                       size_t *answer_len, struct fst_error *error);
        void *barrier_owner;

        /* Source of the rows of parallelize for tasks (rdd/pipeline/pipeline.h); NULL: the stages contain them. */
        const struct slice_source *slices;
        void *slice_owner;
};

/*
 * Sets *@list, which the caller owns, to the local directories of this process: those of disk_dirs_configured, where a
 * Mesos task has its sandbox (MESOS_SANDBOX) in the place of spark.local.dir, unless a shuffle service serves the files
 * after the task. Returns 0, or -EINVAL with @error.
 */
int exec_env_local_dirs(const struct fst_conf *conf, char **list, struct fst_error *error);

/*
 * Creates the parts that the configuration asks for, with @heap bytes of memory (spark.driver.memory or
 * spark.executor.memory). The pool is the share spark.memory.fraction of it. If all tasks are isolated
 * (@env->isolation, set before), it is the executor's own part of that. Returns negative with @error, which names the
 * key. Call exec_env_deinit in any case. Before the first task; one thread.
 */
int exec_env_init(struct exec_env *env, const struct fst_conf *conf, int64_t heap, struct fst_error *error);

/*
 * Decides whether the slots of this process, which runs @n tasks at a time, are bound to memory nodes: by
 * spark.firesteel.numa.enabled; if it is not set, when each cpu that the process may use gets a slot. With fewer slots,
 * other processes probably use the machine, and their slots would choose the same nodes. Before the first slot. Returns
 * 0, or negative with @error.
 */
int exec_env_bind_slots(struct exec_env *env, const struct fst_conf *conf, int n, struct fst_error *error);

/* Removes a broadcast variable and the file that Python workers have of it. Returns false if it is not here. */
bool exec_env_remove_broadcast(struct exec_env *env, int64_t id);

/* Removes the files only, right before the process exits: threads may still use the rest. */
void exec_env_remove_files(struct exec_env *env);

/* Frees everything. All reservations of memory must be released. A zeroed env is allowed. */
void exec_env_deinit(struct exec_env *env);
