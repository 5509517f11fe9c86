/* See external_shuffle_outputs.h. */
#include "exec/external_shuffle_outputs.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "exec/exec_env.h"
#include "shuffle/shuffle_service_client.h"
#include "shuffle/shuffle_files.h"
#include "shuffle/shuffle_store.h"

struct external_shuffle_outputs {
        struct shuffle_files *files;
        struct service_client *client;
        int port;
};

static int external_shuffle_outputs_make_files(struct external_shuffle_outputs *k, const struct fst_conf *conf,
                                               const struct exec_env *env, int64_t subdirectories,
                                               struct fst_error *error)
{
        _cleanup_free_ char *local = NULL, *list = NULL;
        struct file_key *key = NULL;
        bool encrypt;
        int r;
        if ((r = conf_get_string(conf, "spark.local.dir", &local, error)) ||
            (r = conf_get_bool(conf, "spark.io.encryption.enabled", &encrypt, error)) ||
            (encrypt && (r = file_key_from(env->io_secret, env->io_secret_len, &key, error))))
                return r;
        list = disk_dirs_configured(local);
        return shuffle_files_new(list, (int)subdirectories, &env->shuffles->space, key, &k->files, error);
}

int external_shuffle_outputs_new(const struct fst_conf *conf, const struct exec_env *env, const char *host, int cores,
                                 struct external_shuffle_outputs **kept, struct fst_error *error)
{
        bool enabled;
        int64_t port, subdirectories, connections;
        int r;
        if ((r = conf_get_bool(conf, "spark.shuffle.service.enabled", &enabled, error)) ||
            (r = conf_get_int(conf, "spark.shuffle.service.port", &port, error)) ||
            (r = conf_get_int(conf, "spark.shuffle.io.numConnectionsPerPeer", &connections, error)) ||
            (r = conf_get_int(conf, "spark.diskStore.subDirectories", &subdirectories, error)))
                return r;
        *kept = NULL;
        if (!enabled)
                return 0;
        struct external_shuffle_outputs *k = new0(struct external_shuffle_outputs);
        k->port = (int)port;
        r = service_client_new(conf, env->app_id, (int)connections * cores, &k->client, error);
        if (r == 0)
                r = external_shuffle_outputs_make_files(k, conf, env, subdirectories, error);
        if (r == 0)
                r = service_client_register(k->client, host, k->port, env->executor_id, shuffle_files_dirs(k->files),
                                            (int)subdirectories, error);
        if (r) {
                shuffle_files_remove_all(steal(k->files));
                external_shuffle_outputs_free(k);
                return r;
        }
        log_info("BlockManager", "Registered executor with local external shuffle service.");
        *kept = k;
        return 0;
}

void external_shuffle_outputs_free(struct external_shuffle_outputs *k)
{
        if (!k)
                return;
        shuffle_files_free(k->files);
        service_client_free(k->client);
        free(k);
}

int external_shuffle_outputs_port(const struct external_shuffle_outputs *kept)
{
        return kept ? kept->port : 0;
}

struct transfer_client *external_shuffle_outputs_transfers(const struct external_shuffle_outputs *kept)
{
        return kept ? service_client_transfers(kept->client) : NULL;
}

int external_shuffle_outputs_keep(struct external_shuffle_outputs *k, int shuffle, int map_partition, int64_t task_id,
                                  struct shuffle_output **output, struct fst_error *error)
{
        struct shuffle_output *in_files;
        int r = shuffle_files_keep(k->files, shuffle, map_partition, task_id, *output, &in_files, error);
        if (r)
                return r;
        shuffle_output_unref(*output);
        *output = in_files;
        return 0;
}

void external_shuffle_outputs_remove(struct external_shuffle_outputs *k, int shuffle, int map_partition,
                                     int64_t task_id)
{
        if (k)
                shuffle_files_remove(k->files, shuffle, map_partition, task_id);
}

void external_shuffle_outputs_remove_shuffle(struct external_shuffle_outputs *k, int shuffle)
{
        if (k)
                shuffle_files_remove_shuffle(k->files, shuffle);
}
