/*
 * Map outputs for an external shuffle service (spark.shuffle.service.enabled): writes them as files in directories that
 * outlive the executor, and registers these with the service on its host.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct exec_env;
struct fst_conf;
struct fst_error;
struct external_shuffle_outputs;
struct shuffle_output;
struct transfer_client;

/*
 * Creates the directories and registers with the service at @host. *@outputs is NULL if the configuration uses no
 * service. Blocks. Borrows @env. Returns 0, or negative with @error.
 */
int external_shuffle_outputs_new(const struct fst_conf *conf, const struct exec_env *env, const char *host, int cores,
                                 struct external_shuffle_outputs **kept, struct fst_error *error);

/* Keeps the files. NULL is allowed. */
void external_shuffle_outputs_free(struct external_shuffle_outputs *kept);

/* Returns the service's port; 0 for NULL. */
int external_shuffle_outputs_port(const struct external_shuffle_outputs *kept);

/* Returns the client for fetches from services; NULL for NULL. */
struct transfer_client *external_shuffle_outputs_transfers(const struct external_shuffle_outputs *kept);

/*
 * Writes *@output to files and replaces it by the output in these files. Any thread. Returns negative with @error and
 * leaves *@output unchanged if disks are full or broken.
 */
int external_shuffle_outputs_keep(struct external_shuffle_outputs *kept, int shuffle, int map_partition,
                                  int64_t task_id, struct shuffle_output **output, struct fst_error *error);

/* Remove files that no reader needs any more. Any thread; NULL is allowed. */
void external_shuffle_outputs_remove(struct external_shuffle_outputs *kept, int shuffle, int map_partition,
                                     int64_t task_id);
void external_shuffle_outputs_remove_shuffle(struct external_shuffle_outputs *kept, int shuffle);
