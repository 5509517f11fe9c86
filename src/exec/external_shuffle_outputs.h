/*
 * What an executor has to do for a shuffle service (spark.shuffle.service.enabled): write its map outputs as files, in
 * directories that outlive it, and tell the service on its host where these are.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exec_env;
struct fst_conf;
struct fst_error;
struct kept_outputs;
struct shuffle_output;
struct transfer_client;

/*
 * Make the directories and register with the service at @host; *@kept is NULL if the configuration asks for none.
 * Blocks. Borrows @env. 0, or negative with @error.
 */
int kept_outputs_new(const struct fst_conf *conf, const struct exec_env *env, const char *host, int cores,
                     struct kept_outputs **kept, struct fst_error *error);

/* The files stay. NULL is allowed. */
void kept_outputs_free(struct kept_outputs *kept);

/* The service's port; 0 for NULL. */
int kept_outputs_port(const struct kept_outputs *kept);

/* What tasks fetch from services with; NULL for NULL. */
struct transfer_client *kept_outputs_transfers(const struct kept_outputs *kept);

/*
 * Write *@output, which becomes the output as it lies in its files. Any thread. Negative with @error when disks are
 * full or broken; then *@output is as it was.
 */
int kept_outputs_keep(struct kept_outputs *kept, int shuffle, int map_partition, int64_t task_id,
                      struct shuffle_output **output, struct fst_error *error);

/* Remove files that nobody needs any more. Any thread; NULL is allowed. */
void kept_outputs_remove(struct kept_outputs *kept, int shuffle, int map_partition, int64_t task_id);
void kept_outputs_remove_shuffle(struct kept_outputs *kept, int shuffle);
