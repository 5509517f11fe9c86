/*
 * What the tasks of one executor share: memory, cached blocks, map outputs, places on disk. The driver of a local
 * master has one, and so has every executor process.
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
struct isolation;
struct remote_blocks;
struct task_services;
struct slice_source;
struct transfer_client;
struct fst_error;

struct exec_env {
        struct memory_manager *memory;
        struct memory_manager *off_heap; /* of blocks of FST_STORAGE_OFF_HEAP; NULL: there is none */
        struct disk_dirs *dirs;
        struct shuffle_store *shuffles;
        struct block_store *blocks;
        struct broadcasts *broadcasts;
        struct app_files *files;           /* of the application; NULL: there are none. Freed by exec_env_deinit */
        struct transfer_client *transfers; /* what tasks fetch with from other processes; NULL: there are none */
        struct transfer_client *service_transfers; /* and from shuffle services; NULL: there are none */
        struct shuffle_fetch_limits fetch_limits;  /* of a reduce task */
        const struct remote_blocks *remote;        /* block_manager_remote; NULL: there are no other executors */
        const struct task_services *services; /* rdd/pipeline/task_services.h; set before the first slot. NULL: none */
        int task_cpus;                        /* spark.task.cpus */
        bool ignore_corrupt_files;            /* spark.files.ignoreCorruptFiles */
        bool ignore_missing_files;            /* spark.files.ignoreMissingFiles */
        const char *app_id;                   /* borrowed */
        const char *executor_id;              /* borrowed; NULL: it is the driver's own */
        uint64_t seed;                        /* of the application's random numbers */
        const void *io_secret; /* of the application's file keys, for exec_env_init; borrowed. NULL: a new one */
        size_t io_secret_len;
        uint8_t own_io_secret[MAX_FILE_SECRET]; /* that one; wiped by exec_env_deinit */
        bool passes_blocks; /* a worker process, whose blocks go to the executor: set before exec_env_init */
        struct isolation
                *isolation; /* how tasks run in processes of their own (exec/isolation/isolation.h); NULL: none do */

        /*
         * Whether task @task_id may commit its output of @partition, of which other processes may run attempts: 0;
         * FST_OUTPUT_E_DENIED (io/output_committer.h) when another attempt has been allowed to; or negative when that
         * cannot be known. Blocks; on the task's thread. NULL: all attempts are in this process, and the committer
         * knows.
         */
        int (*may_commit)(void *commit_owner, int stage, int stage_attempt, int partition, int64_t task_id);
        void *commit_owner;

        /* Asks the driver for a meeting of a barrier stage's tasks: as task_services.barrier. NULL: there are none. */
        int (*barrier)(void *barrier_owner, const uint8_t *question, size_t len, const int *stopped, uint8_t **answer,
                       size_t *answer_len, struct fst_error *error);
        void *barrier_owner;

        /* Where tasks get the rows of parallelize from (rdd/pipeline/pipeline.h); NULL: stages have them. */
        const struct slice_source *slices;
        void *slice_owner;
};

/*
 * Make what the configuration asks for, with @heap bytes of memory (spark.driver.memory or spark.executor.memory), of
 * which spark.memory.fraction is the pool; with isolation of all tasks (@env->isolation, set before) it is the
 * executor's own share of that. Negative with @error, which names the key; exec_env_deinit is due in any
 * case. Before the first task; one thread.
 */
int exec_env_init(struct exec_env *env, const struct fst_conf *conf, int64_t heap, struct fst_error *error);

/* Only remove the files, before the process ends at once: threads may still be at them, and look at the rest. */
void exec_env_remove_files(struct exec_env *env);

/* Free everything; whoever had memory reserved has given it back. A zeroed env is allowed. */
void exec_env_deinit(struct exec_env *env);
