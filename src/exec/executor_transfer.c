/* See executor_transfer.h. Connects block manager, broadcasts, shuffle store, file cache and transfers. */
#include "exec/executor_transfer.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "celeborn/celeborn_shuffle.h"
#include "celeborn/lifecycle/celeborn_driver.h"
#include "celeborn/protocol/celeborn_wire.h"
#include "exec/app/app_files.h"
#include "exec/blocks/block_manager.h"
#include "exec/blocks/broadcasts.h"
#include "exec/driver_client.h"
#include "exec/exec_services.h"
#include "exec/isolation/isolation.h"
#include "exec/external_shuffle_outputs.h"
#include "exec/blocks/replicator.h"
#include "exec/lost_executors.h"
#include "exec/migration.h"
#include "exec/app/module.h"
#include "exec/task/stage_wire.h"
#include "net/sha256.h"
#include "net/security.h"
#include "rdd/pipeline/pipeline.h"
#include "rpc/control.pb-c.h"
#include "rpc/transfer/transfer.h"
#include "rpc/transfer/transfer_services.h"
#include "rpc/wire_memory.h"
#include "shuffle/remote/object_shuffle.h"
#include "shuffle/shuffle_manager.h"
#include "shuffle/shuffle_receiver.h"
#include "shuffle/shuffle_server.h"
#include "shuffle/shuffle_store.h"
#include "store/disk_dirs.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define CELEBORN_ASK_MS 600000 /* servers that do not answer fail the question before */

struct executor_transfer {
        struct exec_env *env;
        struct executor_transfer_options options;
        struct security *security; /* bound to this executor's transfers */
        struct transfer_client *client;
        struct transfer_services services;
        struct transfer_server *server;
        struct block_manager *blocks;
        struct replicator *replicator;
        struct block_network network;
        struct file_cache *files;
        struct external_shuffle_outputs *kept; /* for the shuffle service; NULL: none */
        struct remote_shuffle *remote;         /* for map outputs in a store or in Celeborn; NULL: none */
        enum shuffle_manager shuffle_manager;  /* CELEBORN: `remote` is there */
        bool publishes;                        /* all map outputs live outside of executors */
        struct task_services task_services;
        pthread_mutex_t lock; /* protects `updates` and `driver` */
        struct block_location driver;
        struct buf updates;   /* BlockUpdates */
        int ending;           /* atomic: stops the fetching of modules */
};

/* -------------------------------------------------------------------------------------- requests to the driver */

/* Sends a request that returns BlockLocations. Returns how many of @out were filled, or negative. */
static int ask_locations(struct executor_transfer *d, uint16_t type, const ProtobufCMessage *question,
                         const int *stopped, struct block_location *out, int max, struct fst_error *error)
{
        uint8_t *body = NULL;
        size_t len = 0;
        int r = driver_client_ask(d->options.asks, type, question, stopped, &body, &len, error);
        if (r)
                return r;
        Firesteel__BlockLocations *found = firesteel__block_locations__unpack(&wire_guarded, len, body);
        free(body);
        if (!found)
                return error_set(error, -EBADMSG, "the driver's reply about blocks is malformed");
        int n = 0;
        for (size_t i = 0; i < found->n_locations && n < max; i++) {
                const Firesteel__BlockLocation *p = found->locations[i];
                struct block_location *to = &out[n++];
                *to = (struct block_location){.executor = p->executor, .port = p->port};
                snprintf(to->host, sizeof(to->host), "%s", p->host);
        }
        firesteel__block_locations__free_unpacked(found, NULL);
        return n;
}

static int ask_block_locations(void *owner, struct block_name name, const int *stopped, struct block_location *out,
                               int max, struct fst_error *error)
{
        char text[BLOCK_NAME_SIZE];
        Firesteel__BlockNames question = FIRESTEEL__BLOCK_NAMES__INIT;
        question.n_names = 1;
        question.names = &(char *){(char *)block_name_format(name, text)};
        return ask_locations(owner, FIRESTEEL__CONTROL_TYPE__BLOCK_LOCATIONS, &question.base, stopped, out, max, error);
}

static int ask_block_peers(void *owner, const struct block_name *name, const int *stopped, struct block_location *out,
                           int max, struct fst_error *error)
{
        char text[BLOCK_NAME_SIZE];
        Firesteel__BlockNames question = FIRESTEEL__BLOCK_NAMES__INIT;
        question.n_names = name != NULL;
        question.names = &(char *){name ? (char *)block_name_format(*name, text) : NULL};
        return ask_locations(owner, FIRESTEEL__CONTROL_TYPE__GET_PEERS, &question.base, stopped, out, max, error);
}

/* Asks about a Celeborn shuffle. The driver answers when its servers have answered. */
static int ask_celeborn(void *owner, const struct celeborn_question *question, const int *stopped,
                        struct celeborn_answer *answer, struct fst_error *error)
{
        struct executor_transfer *d = owner;
        _cleanup_(buf_deinit) struct buf request = BUF_INIT;
        uint8_t *body = NULL;
        size_t len = 0;
        celeborn_question_put(question, &request);
        int r = driver_client_ask_packed(d->options.asks, FIRESTEEL__CONTROL_TYPE__CELEBORN_ASK, request.data,
                                         request.len, CELEBORN_ASK_MS, stopped, &body, &len, error);
        if (r == 0)
                r = celeborn_answer_parse(body, len, answer, error);
        free(body);
        return r;
}

static void on_block_changed(void *owner, struct block_name name, const struct block_info *info)
{
        struct executor_transfer *d = owner;
        char text[BLOCK_NAME_SIZE];
        Firesteel__BlockUpdate update = FIRESTEEL__BLOCK_UPDATE__INIT;
        update.name = (char *)block_name_format(name, text);
        update.storage_level = info->level;
        update.memory_bytes = info->memory_bytes;
        update.disk_bytes = info->disk_bytes;
        update.rows = info->rows;
        Firesteel__BlockUpdates updates = FIRESTEEL__BLOCK_UPDATES__INIT;
        updates.n_updates = 1;
        updates.updates = &(Firesteel__BlockUpdate *){&update};
        size_t size = protobuf_c_message_get_packed_size(&updates.base);
        pthread_mutex_lock(&d->lock);
        buf_reserve(&d->updates, size);
        protobuf_c_message_pack(&updates.base, (uint8_t *)d->updates.data + d->updates.len);
        d->updates.len += size;
        pthread_mutex_unlock(&d->lock);
        d->options.updated(d->options.owner);
}

void executor_transfer_take_updates(struct executor_transfer *d, struct buf *out)
{
        pthread_mutex_lock(&d->lock);
        if (d->updates.len)
                buf_append(out, d->updates.data, d->updates.len);
        buf_reset(&d->updates);
        pthread_mutex_unlock(&d->lock);
}

/* ------------------------------------------------------------------------------------------------------- slices */

static int fetch_slice(void *owner, struct task_run *run, int rdd, int partition, struct buf *slice)
{
        struct executor_transfer *d = owner;
        struct fst_error error = FST_ERROR_INIT;
        _cleanup_(buf_deinit) struct buf request = BUF_INIT;
        struct transfer_input *input = NULL;
        char part[64 << 10];
        ssize_t n = 0;
        block_request_fetch((struct block_name){BLOCK_PARALLEL, rdd, partition}, &request);
        struct transfer_call call = {.stopped = run->task.stopped};
        pthread_mutex_lock(&d->lock);
        const struct block_location driver = d->driver;
        pthread_mutex_unlock(&d->lock);
        int r = transfer_open(d->client, driver.host, driver.port, request.data, request.len, &call, &input, &error);
        while (r == 0 && (n = transfer_read(input, part, sizeof(part), &error)) > 0)
                buf_append(slice, part, (size_t)n);
        transfer_close(input);
        r = r ? r : (int)n;
        return r < 0 ? task_run_fail_with(run, r, &error) : 0;
}

static const struct slice_source slice_source = {.fetch = fetch_slice};

/* ---------------------------------------------------------------------------------------------- files and modules */

static int start_files(struct executor_transfer *d, struct fst_error *error)
{
        const struct sha256_ops *sha256;
        struct block_location driver = d->network.driver;
        /* All executors of the application on this host share the cache. */
        _cleanup_free_ char *list = NULL, *shared = NULL, *own = NULL;
        int r = exec_env_local_dirs(d->options.conf, &list, error);
        if (r || (r = sha256_load(&sha256, error)))
                return r;
        shared = file_cache_dir(list, d->env->app_id);
        /* In the directory for blocks, which other processes remove if this one is killed. */
        own = mem_printf("%s/files", disk_dirs_root(d->env->dirs, 0));
        r = file_cache_new(shared, sha256, d->client, &driver, &d->files, error);
        struct archive_limits archives;
        if (r == 0)
                r = archive_limits_read(d->options.conf, &archives, error);
        r = r ? r : app_files_new(own, d->files, &archives, &d->env->files, error);
        char here[PATH_MAX];
        if (r == 0 && getenv("CONTAINER_ID") && getcwd(here, sizeof(here)))
                app_files_set_container(d->env->files, here);
        return r;
}

int executor_transfer_load_module(struct executor_transfer *d, const struct stage_module *module,
                                  struct fst_error *error)
{
        _cleanup_free_ char *path = NULL;
        const struct module *loaded;
        if (module_find(module->build_id))
                return 0;
        if (!module->has_sha256)
                return error_set(error, -ENOENT,
                                 "module %s (build-id %s) is not loaded here, and the driver does not "
                                 "serve it",
                                 module->name, module->build_id);
        int r = file_cache_get(d->files, module->sha256, module->size, &d->ending, &path, error);
        if (r == 0)
                r = module_load(path, &loaded, error);
        if (r)
                return error_wrap(error, r, "module %s", module->name);
        if (strcmp(loaded->info.build_id, module->build_id) != 0)
                return error_set(error, -ENOEXEC, "module %s has build-id %s, but the stage needs %s", module->name,
                                 loaded->info.build_id, module->build_id);
        if (d->env->isolation)
                isolation_add_module(d->env->isolation, loaded->path);
        return 0;
}

void executor_transfer_stop_loading(struct executor_transfer *d)
{
        __atomic_store_n(&d->ending, 1, __ATOMIC_RELAXED);
}

void executor_transfer_add_files(struct executor_transfer *d, const struct Firesteel__Files *files)
{
        for (size_t i = 0; files && i < files->n_files; i++) {
                const Firesteel__File *f = files->files[i];
                struct fst_error error = FST_ERROR_INIT;
                if (f->sha256.len != FILE_HASH_SIZE || app_files_announce(d->env->files, f->name, f->sha256.data,
                                                                          f->size, (enum app_file_use)f->use, &error))
                        log_warn("Executor", "the application's file %s: %s", f->name, error_message(&error));
                error_deinit(&error);
        }
}

/* ----------------------------------------------------------------------------------------------------- serving */

static int serve_shuffle(void *owner, const struct Firesteel__FetchShuffle *request, struct transfer_stream **stream,
                         struct fst_error *error)
{
        struct executor_transfer *d = owner;
        return shuffle_server_open(d->env->shuffles, request, stream, error);
}

static int serve_block(void *owner, const struct Firesteel__FetchBlock *request, struct transfer_stream **stream,
                       struct fst_error *error)
{
        struct executor_transfer *d = owner;
        return block_manager_fetch_block(d->blocks, request, stream, error);
}

static int receive_block(void *owner, const struct Firesteel__PutBlock *request, struct transfer_sink **sink,
                         struct fst_error *error)
{
        struct executor_transfer *d = owner;
        return block_manager_put_block(d->blocks, request, sink, error);
}

static int receive_output(void *owner, const struct Firesteel__PutShuffle *request, struct transfer_sink **sink,
                          struct fst_error *error)
{
        struct executor_transfer *d = owner;
        return shuffle_receiver_open(d->env->shuffles, d->env->memory, request, sink, error);
}

bool executor_transfer_keeps_results(struct executor_transfer *d)
{
        return block_manager_keeps_results(d->blocks);
}

int executor_transfer_migrate(struct executor_transfer *d, void (*round_over)(void *owner), void *owner,
                              struct migration **migration, struct fst_error *error)
{
        const bool in_celeborn = d->shuffle_manager == SHUFFLE_MANAGER_CELEBORN;
        return migration_new(&(struct migration_options){.conf = d->options.conf,
                                                         .env = d->env,
                                                         .blocks = d->blocks,
                                                         .network = &d->network,
                                                         .asks = d->options.asks,
                                                         .fallback = in_celeborn ? NULL : d->remote,
                                                         .round_over = round_over,
                                                         .owner = owner},
                             migration, error);
}

static int start_client(struct executor_transfer *d, struct fst_error *error)
{
        const struct fst_conf *conf = d->options.conf;
        int64_t retries, wait_ms, timeout_ms, connections;
        int r;
        if ((r = conf_get_int(conf, "spark.shuffle.io.maxRetries", &retries, error)) ||
            (r = conf_get_ms(conf, "spark.shuffle.io.retryWait", &wait_ms, error)) ||
            (r = conf_get_ms(conf, "spark.shuffle.io.connectionTimeout", &timeout_ms, error)) ||
            (r = conf_get_int(conf, "spark.shuffle.io.numConnectionsPerPeer", &connections, error)))
                return r;
        d->client = transfer_client_new(&(struct transfer_client_options){
                .security = d->security,
                .app_id = d->env->app_id,
                .connections_per_peer = (int)connections * d->options.cores,
                .max_retries = (int)retries,
                .retry_wait_ns = wait_ms * 1000000,
                .connect_ns = timeout_ms * 1000000,
                .timeout_ns = timeout_ms * 1000000,
        });
        d->env->transfers = d->client;
        return 0;
}

static int start_server(struct executor_transfer *d, struct fst_error *error)
{
        const struct fst_conf *conf = d->options.conf;
        int64_t port, retries, timeout_ms;
        int r;
        if ((r = conf_get_int(conf, "spark.blockManager.port", &port, error)) ||
            (r = conf_get_int(conf, "spark.port.maxRetries", &retries, error)) ||
            (r = conf_get_ms(conf, "spark.shuffle.io.connectionTimeout", &timeout_ms, error)))
                return r;
        d->services = (struct transfer_services){.owner = d,
                                                 .fetch_shuffle = serve_shuffle,
                                                 .fetch_block = serve_block,
                                                 .put_block = receive_block,
                                                 .put_shuffle = receive_output};
        return transfer_server_new(&(struct transfer_server_options){.host = d->options.bind,
                                                                     .port = (int)port,
                                                                     .port_retries = (int)retries,
                                                                     .security = d->security,
                                                                     .app_id = d->env->app_id,
                                                                     .idle_ns = timeout_ms * 1000000},
                                   &transfer_services_handler, &d->services, &d->server, error);
}

int executor_transfer_new(struct exec_env *env, const struct executor_transfer_options *options,
                          struct executor_transfer **data, struct fst_error *error)
{
        struct executor_transfer *d = new0(struct executor_transfer);
        int64_t failures;
        *data = d;
        d->env = env;
        d->options = *options;
        pthread_mutex_init(&d->lock, NULL);
        int r;
        if ((r = shuffle_manager_read(options->conf, &d->shuffle_manager, error)) ||
            (r = security_for(options->security, "transfer", &d->security, error)) || (r = start_client(d, error)) ||
            (r = conf_get_int(options->conf, "spark.storage.maxReplicationFailures", &failures, error)))
                return r;
        d->publishes = d->shuffle_manager == SHUFFLE_MANAGER_CELEBORN || conf_contains(options->conf, OBJECT_STORE_KEY);
        d->network = (struct block_network){.client = d->client,
                                            .lost = options->lost ? lost_executors_has : NULL,
                                            .lost_owner = options->lost,
                                            .locations = ask_block_locations,
                                            .peers = ask_block_peers,
                                            .changed = on_block_changed,
                                            .owner = d,
                                            .driver = {.executor = -1, .port = options->driver_port},
                                            .replication_failures = (int)failures};
        snprintf(d->network.driver.host, sizeof(d->network.driver.host), "%s", options->driver_host);
        d->driver = d->network.driver;
        d->blocks = block_manager_new(env, &d->network);
        d->replicator = replicator_new(d->blocks);
        env->remote = block_manager_remote(d->blocks);
        env->slices = &slice_source;
        env->slice_owner = d;
        exec_services_init(&d->task_services, env);
        env->services = &d->task_services;
        if ((r = start_files(d, error)) || (r = start_server(d, error)) ||
            (r = external_shuffle_outputs_new(options->conf, env, options->hostname, options->cores, &d->kept, error)))
                return r;
        env->service_transfers = external_shuffle_outputs_transfers(d->kept);
        return 0;
}

void executor_transfer_set_driver(struct executor_transfer *d, const char *host, int port)
{
        struct block_location driver = {.executor = -1, .port = port};
        snprintf(driver.host, sizeof(driver.host), "%s", host);
        pthread_mutex_lock(&d->lock);
        d->driver = driver;
        pthread_mutex_unlock(&d->lock);
        file_cache_set_driver(d->files, &driver);
        if (d->env->broadcasts)
                broadcasts_set_driver(d->env->broadcasts, &driver);
}

struct shuffle_output_id *executor_transfer_list_outputs(struct executor_transfer *d, size_t *n)
{
        return shuffle_store_list(d->env->shuffles, n);
}

int executor_transfer_service_port(const struct executor_transfer *d)
{
        return external_shuffle_outputs_port(d->kept);
}

int executor_transfer_put_output(struct executor_transfer *d, int shuffle, int map_partition, int64_t task_id,
                                 struct shuffle_output *output, struct fst_error *error)
{
        int r = d->kept ? external_shuffle_outputs_keep(d->kept, shuffle, map_partition, task_id, &output, error) : 0;
        if (r == 0)
                shuffle_store_put(d->env->shuffles, shuffle, map_partition, task_id, output);
        else
                shuffle_output_unref(output);
        return r;
}

static int executor_transfer_use_celeborn(struct executor_transfer *d, struct fst_error *error)
{
        const char *app_id = conf_get_raw(d->options.conf, CELEBORN_APP_KEY);
        struct celeborn_shuffle_options options = {.conf = d->options.conf,
                                                   .app_id = app_id ? app_id : d->env->app_id,
                                                   .cores = d->options.cores,
                                                   .ask = ask_celeborn,
                                                   .owner = d};
        int r = celeborn_shuffle_new(&options, &d->remote, error);
        d->env->remote_outputs = d->remote;
        return r;
}

int executor_transfer_use_store(struct executor_transfer *d, int32_t writer, int (*running)(void *owner), void *owner,
                                struct fst_error *error)
{
        if (d->shuffle_manager == SHUFFLE_MANAGER_CELEBORN)
                return executor_transfer_use_celeborn(d, error);
        const struct exec_env *env = d->env;
        struct object_shuffle_options options = {.conf = d->options.conf,
                                                 .directory = conf_get_raw(d->options.conf, OBJECT_DIRECTORY_KEY),
                                                 .writer = writer,
                                                 .cores = d->options.cores,
                                                 .space = &env->shuffles->space,
                                                 .running = running,
                                                 .owner = owner};
        if (!options.directory)
                return 0;
        int r = env->io_secret_len ? file_key_from(env->io_secret, env->io_secret_len, &options.key, error) : 0;
        if (r == 0)
                r = object_shuffle_new(&options, &d->remote, error);
        d->env->remote_outputs = d->remote;
        return r;
}

bool executor_transfer_publishes(const struct executor_transfer *d)
{
        return d->publishes;
}

int executor_transfer_publish(struct executor_transfer *d, int shuffle, struct remote_output *outputs, int n,
                              struct fst_error *error)
{
        return d->remote->class->publish(d->remote, shuffle, outputs, n, error);
}

void executor_transfer_keep_copy(struct executor_transfer *d, int shuffle, const struct remote_output *stored)
{
        shuffle_store_put_copy(d->env->shuffles, shuffle, stored->map_partition, stored->task_id, stored->output);
}

int executor_transfer_port(const struct executor_transfer *d)
{
        return transfer_server_port(d->server);
}

int executor_transfer_keep_result(struct executor_transfer *d, int64_t task_id, const void *bytes, size_t len,
                                  struct fst_error *error)
{
        return block_manager_keep_result(d->blocks, task_id, bytes, len, error);
}

void executor_transfer_remove_output(struct executor_transfer *d, int shuffle, int map_partition, int64_t task_id)
{
        shuffle_store_remove(d->env->shuffles, shuffle, map_partition, task_id);
        external_shuffle_outputs_remove(d->kept, shuffle, map_partition, task_id);
}

void executor_transfer_remove(struct executor_transfer *d, const struct Firesteel__Remove *remove)
{
        for (size_t i = 0; i < remove->n_shuffles; i++) {
                shuffle_store_remove_shuffle(d->env->shuffles, remove->shuffles[i]);
                external_shuffle_outputs_remove_shuffle(d->kept, remove->shuffles[i]);
                if (d->remote)
                        d->remote->class->forget(d->remote, remove->shuffles[i]);
        }
        for (size_t i = 0; i < remove->n_outputs; i++) {
                const Firesteel__MapOutput *o = remove->outputs[i];
                executor_transfer_remove_output(d, o->shuffle, o->map_partition, o->task_id);
        }
        for (size_t i = 0; i < remove->n_rdds; i++)
                block_store_remove_rdd(d->env->blocks, remove->rdds[i]);
        for (size_t i = 0; i < remove->n_broadcasts; i++)
                exec_env_remove_broadcast(d->env, remove->broadcasts[i]);
        if (remove->all_broadcasts && d->env->broadcasts)
                broadcasts_remove_all(d->env->broadcasts);
        for (size_t i = 0; i < remove->n_task_results; i++)
                block_manager_remove(d->blocks, (struct block_name){BLOCK_TASK_RESULT, remove->task_results[i], 0});
}

void executor_transfer_replicate(struct executor_transfer *d, const uint8_t *body, size_t len)
{
        Firesteel__BlockNames *names = firesteel__block_names__unpack(&wire_guarded, len, body);
        struct block_name name;
        for (size_t i = 0; names && d->replicator && i < names->n_names;
             i++) /* the replicator is NULL if there was no memory or thread for it */
                if (block_name_parse(names->names[i], &name) && name.kind == BLOCK_RDD)
                        replicator_add(d->replicator, (struct block_id){(int)name.id, name.part});
        firesteel__block_names__free_unpacked(names, NULL);
}

void executor_transfer_stop_copying(struct executor_transfer *d)
{
        replicator_free(steal(d->replicator));
}

void executor_transfer_close(struct executor_transfer *d)
{
        transfer_server_free(steal(d->server));
}

void executor_transfer_leave_files(struct executor_transfer *d)
{
        if (d->files)
                file_cache_leave(d->files);
}

void executor_transfer_free(struct executor_transfer *d)
{
        if (!d)
                return;
        executor_transfer_stop_copying(d);
        transfer_server_free(d->server);
        app_files_free(steal(d->env->files));
        block_manager_free(d->blocks);
        file_cache_free(d->files);
        transfer_client_free(d->client);
        external_shuffle_outputs_free(d->kept);
        d->env->remote_outputs = NULL;
        if (d->remote)
                d->remote->class->free(d->remote);
        security_free(d->security);
        buf_deinit(&d->updates);
        pthread_mutex_destroy(&d->lock);
        free(d);
}
