/*
 * See shuffle_service.h.
 *
 * There are few executors and many map outputs: executors are a list, map outputs a cache of indexes. A stream holds a
 * reference to its executor, so an executor that is removed meanwhile stays until the stream ends. Its files are gone
 * by then, and the outputs not sent yet become GONE records.
 *
 * Lock order: `lock` alone. It is held for lookups and while registrations are written, never while map outputs are
 * read.
 */
#include "shuffle/shuffle_service.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "net/security.h"
#include "rpc/transfer/transfer.pb-c.h"
#include "rpc/transfer/transfer_server.h"
#include "shuffle/output_cache.h"
#include "shuffle/shuffle_service_state.h"
#include "shuffle/shuffle_files.h"
#include "shuffle/service/driver_heartbeats.h"
#include "shuffle/shuffle_server.h"
#include "shuffle/shuffle_service_metrics.h"

#include <pthread.h>
#include <stdatomic.h>

#define LOG "ExternalShuffleService"

enum { MAX_DIRECTORIES = 256, MAX_EXECUTORS = 100000, MAX_NAME = 256, MAX_PATH = 3000 };

/* A registered executor. */
struct registered_executor {
        atomic_int refs;
        uint64_t number; /* unique, for the cache */
        char *app_id, *executor_id;
        struct shuffle_roots roots; /* owned */
};

struct shuffle_service {
        struct security *cluster, *security; /* the latter is bound to SHUFFLE_SERVICE_PURPOSE */
        struct transfer_server *server;
        struct shuffle_metrics *metrics; /* NULL: no sinks. Atomic */
        char *state_path;                /* NULL: registrations are not written */
        pthread_mutex_t lock;            /* protects all fields below */
        VEC(struct registered_executor *) executors;
        uint64_t next_number;
        struct output_cache *cache;
        uint64_t requests, registrations, not_registered;
        struct driver_heartbeats drivers;
        int64_t check_ns;     /* spark.shuffle.cleaner.interval: between looks at silent drivers */
        bool checks, closing; /* checks: the thread that looks has begun */
        pthread_t check_thread;
        pthread_cond_t closed; /* `closing` has been set */
};

/* --------------------------------------------------------------------------------------------------- executors */

static void registered_unref(struct registered_executor *x)
{
        if (!x || atomic_fetch_sub(&x->refs, 1) > 1)
                return;
        for (size_t i = 0; i < x->roots.n; i++)
                free(x->roots.at[i]);
        free(x->roots.at);
        free(x->app_id);
        free(x->executor_id);
        free(x);
}

/* Returns the index of an executor, or -1 if it is not registered. Lock held. */
static ssize_t find_registered(const struct shuffle_service *s, const char *app_id, const char *executor_id)
{
        for (size_t i = s->executors.len; i-- > 0;)
                if (strcmp(s->executors.data[i]->executor_id, executor_id) == 0 &&
                    strcmp(s->executors.data[i]->app_id, app_id) == 0)
                        return (ssize_t)i;
        return -1;
}

/* Returns a new reference, or NULL. Lock held. */
static struct registered_executor *find_registered_ref(const struct shuffle_service *s, const char *app_id,
                                                       const char *executor_id)
{
        ssize_t at = find_registered(s, app_id, executor_id);
        struct registered_executor *x = at >= 0 ? s->executors.data[at] : NULL;
        if (x)
                atomic_fetch_add(&x->refs, 1);
        return x;
}

static bool is_valid_id(const char *text)
{
        size_t n = strnlen(text, MAX_NAME + 1);
        return n > 0 && n <= MAX_NAME;
}

static bool is_clean_path(const char *path)
{
        const char *slash = strrchr(path, '/');
        return *path == '/' && strcmp(slash, "/..") != 0 && strnlen(path, MAX_PATH + 1) <= MAX_PATH &&
               !strstr(path, "/../") && !strstr(path, "\n");
}

static int check_registration(const Firesteel__RegisterShuffle *r, struct fst_error *error)
{
        if (!is_valid_id(r->app_id) || !is_valid_id(r->executor_id))
                return error_set(error, -EINVAL, "a registration needs the ids of application and executor");
        if (r->n_directories == 0 || r->n_directories > MAX_DIRECTORIES || r->subdirectories < 1 ||
            r->subdirectories > 4096)
                return error_set(error, -EINVAL, "executor %s of %s has %zu directories with %d in each",
                                 r->executor_id, r->app_id, r->n_directories, r->subdirectories);
        for (size_t i = 0; i < r->n_directories; i++)
                if (!is_clean_path(r->directories[i]))
                        return error_set(error, -EINVAL,
                                         "executor %s of %s registers \"%.100s\", which is not an absolute path",
                                         r->executor_id, r->app_id, r->directories[i]);
        return 0;
}

/* Registers an executor and replaces an earlier registration. Lock held. */
static int add_registration(struct shuffle_service *s, const Firesteel__RegisterShuffle *r, struct fst_error *error)
{
        int e = check_registration(r, error);
        if (e)
                return e;
        if (s->executors.len >= MAX_EXECUTORS)
                return error_set(error, -ENOSPC, "%zu executors are registered already", s->executors.len);
        struct registered_executor *x = new0(struct registered_executor);
        atomic_init(&x->refs, 1);
        x->number = ++s->next_number;
        x->app_id = mem_strdup(r->app_id);
        x->executor_id = mem_strdup(r->executor_id);
        x->roots = (struct shuffle_roots){
                .at = new_array(char *, r->n_directories), .n = r->n_directories, .subdirectories = r->subdirectories};
        for (size_t i = 0; i < r->n_directories; i++)
                x->roots.at[i] = mem_strdup(r->directories[i]);
        ssize_t at = find_registered(s, x->app_id, x->executor_id);
        if (at < 0) {
                vec_push(&s->executors, x);
                return 0;
        }
        output_cache_forget_executor(s->cache, s->executors.data[at]->number);
        registered_unref(s->executors.data[at]);
        s->executors.data[at] = x;
        return 0;
}

/* Writes the registrations. A failure is logged: the service cannot restore them after a restart. Lock held. */
static void write_registrations(struct shuffle_service *s)
{
        if (!s->state_path)
                return;
        struct fst_error error = FST_ERROR_INIT;
        Firesteel__ShuffleServiceState state = FIRESTEEL__SHUFFLE_SERVICE_STATE__INIT;
        Firesteel__RegisterShuffle *all = new_array(Firesteel__RegisterShuffle, s->executors.len + 1);
        state.executors = new_array(Firesteel__RegisterShuffle *, s->executors.len + 1);
        state.n_executors = s->executors.len;
        for (size_t i = 0; i < s->executors.len; i++) {
                const struct registered_executor *x = s->executors.data[i];
                firesteel__register_shuffle__init(&all[i]);
                all[i].app_id = x->app_id;
                all[i].executor_id = x->executor_id;
                all[i].n_directories = x->roots.n;
                all[i].directories = x->roots.at;
                all[i].subdirectories = x->roots.subdirectories;
                state.executors[i] = &all[i];
        }
        if (service_state_write(s->state_path, &state, &error))
                log_error(LOG, "Cannot write the registrations: %s", error_message(&error));
        error_deinit(&error);
        free(state.executors);
        free(all);
}

/*
 * False if the directories were removed: the executor's worker ended together with this service, and the next worker
 * removed them.
 */
static bool has_directories(const Firesteel__RegisterShuffle *r)
{
        for (size_t i = 0; i < r->n_directories; i++)
                if (access(r->directories[i], F_OK) == 0)
                        return true;
        return false;
}

static void read_registrations(struct shuffle_service *s)
{
        struct fst_error error = FST_ERROR_INIT;
        Firesteel__ShuffleServiceState *state = NULL;
        int r = service_state_read(s->state_path, &state, &error);
        if (r)
                log_warn(LOG, "Cannot restore the registrations: %s", error_message(&error));
        error_deinit(&error);
        for (size_t i = 0; state && i < state->n_executors; i++) {
                r = has_directories(state->executors[i]) ? add_registration(s, state->executors[i], &error) : 0;
                if (r)
                        log_warn(LOG, "%s: %s", s->state_path, error_message(&error));
                error_deinit(&error);
        }
        if (s->executors.len)
                log_info(LOG, "Restored the registrations of %zu executors", s->executors.len);
        if (state)
                firesteel__shuffle_service_state__free_unpacked(state, NULL);
}

/* ----------------------------------------------------------------------------------------------------- serving */

/* The source of a stream. */
struct service_source {
        struct shuffle_service *service;
        struct registered_executor *executor;
};

static struct shuffle_output *lookup_get(void *owner, int shuffle, int map_partition, int64_t task_id)
{
        struct service_source *l = owner;
        struct shuffle_service *s = l->service;
        struct output_key key = {.executor = l->executor->number,
                                 .task_id = task_id,
                                 .shuffle = shuffle,
                                 .map_partition = map_partition};
        struct fst_error error = FST_ERROR_INIT;
        size_t bytes;
        pthread_mutex_lock(&s->lock);
        struct shuffle_output *output = output_cache_get(s->cache, &key);
        pthread_mutex_unlock(&s->lock);
        if (output)
                return output;
        int r = shuffle_files_open(&l->executor->roots, shuffle, map_partition, task_id, &output, &bytes, &error);
        if (r) {
                if (r != -ENOENT)
                        log_error(LOG, "map output %d of shuffle %d of executor %s of %s: %s", map_partition, shuffle,
                                  l->executor->executor_id, l->executor->app_id, error_message(&error));
                error_deinit(&error);
                return NULL;
        }
        pthread_mutex_lock(&s->lock);
        output_cache_put(s->cache, &key, output, bytes);
        pthread_mutex_unlock(&s->lock);
        return output;
}

static void lookup_close(void *owner)
{
        struct service_source *l = owner;
        registered_unref(l->executor);
        free(l);
}

static int open_fetch(struct shuffle_service *s, const Firesteel__FetchShuffle *request,
                      struct transfer_stream **stream, struct fst_error *error)
{
        pthread_mutex_lock(&s->lock);
        struct registered_executor *x = find_registered_ref(s, request->app_id, request->executor_id);
        s->requests++;
        s->not_registered += !x;
        pthread_mutex_unlock(&s->lock);
        if (!x)
                return error_set(error, -ENOENT, "Executor is not registered (appId=%.256s, execId=%.256s)",
                                 request->app_id, request->executor_id);
        struct service_source *l = new0(struct service_source);
        l->service = s;
        l->executor = x;
        struct shuffle_outputs outputs = {.get = lookup_get, .close = lookup_close, .owner = l};
        return shuffle_server_open_from(&outputs, request, stream, error);
}

static int handle_registration(struct shuffle_service *s, const Firesteel__RegisterShuffle *request,
                               struct fst_error *error)
{
        pthread_mutex_lock(&s->lock);
        int r = add_registration(s, request, error);
        if (r == 0) {
                s->registrations++;
                write_registrations(s);
        }
        pthread_mutex_unlock(&s->lock);
        if (r == 0)
                log_info(LOG, "Registered executor %s of %s with %zu directories", request->executor_id,
                         request->app_id, request->n_directories);
        return r;
}

static int handle_removal(struct shuffle_service *s, const Firesteel__RemoveOutputs *request, struct fst_error *error)
{
        if (request->n_shuffles != request->n_map_partitions || request->n_shuffles != request->n_map_task_ids)
                return error_set(error, -EINVAL, "the removal has columns of different lengths");
        pthread_mutex_lock(&s->lock);
        struct registered_executor *x = find_registered_ref(s, request->app_id, request->executor_id);
        for (size_t i = 0; x && i < request->n_shuffles; i++)
                output_cache_forget(s->cache, &(struct output_key){.executor = x->number,
                                                                   .task_id = request->map_task_ids[i],
                                                                   .shuffle = request->shuffles[i],
                                                                   .map_partition = request->map_partitions[i]});
        pthread_mutex_unlock(&s->lock);
        for (size_t i = 0; x && i < request->n_shuffles; i++)
                shuffle_roots_remove(&x->roots, request->shuffles[i], request->map_partitions[i],
                                     request->map_task_ids[i]);
        registered_unref(x);
        return 0;
}

/* Removes the executors of an application from the list. The caller gets their references. */
static size_t take_executors(struct shuffle_service *s, const char *app_id, struct registered_executor ***out)
{
        VEC(struct registered_executor *) found = {0};
        pthread_mutex_lock(&s->lock);
        size_t kept = 0;
        for (size_t i = 0; i < s->executors.len; i++) {
                struct registered_executor *x = s->executors.data[i];
                if (strcmp(x->app_id, app_id) == 0) {
                        vec_push(&found, x);
                        output_cache_forget_executor(s->cache, x->number);
                } else {
                        s->executors.data[kept++] = x;
                }
        }
        s->executors.len = kept;
        if (found.len)
                write_registrations(s);
        pthread_mutex_unlock(&s->lock);
        *out = found.data;
        return found.len;
}

void shuffle_service_end_application(struct shuffle_service *s, const char *app_id, bool remove_files)
{
        struct registered_executor **all;
        pthread_mutex_lock(&s->lock);
        driver_heartbeats_forget(&s->drivers, app_id);
        pthread_mutex_unlock(&s->lock);
        size_t n = take_executors(s, app_id, &all);
        if (n)
                log_info(LOG, "Application %s removed, cleanupLocalDirs = %s", app_id, remove_files ? "true" : "false");
        for (size_t i = 0; i < n; i++) {
                if (remove_files)
                        shuffle_roots_remove_all(&all[i]->roots);
                registered_unref(all[i]);
        }
        free(all);
}

/* ---------------------------------------------------------------------------------------------- silent drivers */

static void *shuffle_service_check_main(void *argument)
{
        struct shuffle_service *s = argument;
        pthread_mutex_lock(&s->lock);
        while (!s->closing) {
                const struct timespec until = timespec_of_ns(now_ns() + s->check_ns);
                pthread_cond_timedwait(&s->closed, &s->lock, &until);
                for (char *app_id; !s->closing && (app_id = driver_heartbeats_take_silent(&s->drivers, now_ns()));) {
                        pthread_mutex_unlock(&s->lock);
                        log_info(LOG, "Application %s timed out. Removing shuffle files.", app_id);
                        shuffle_service_end_application(s, app_id, true);
                        free(app_id);
                        pthread_mutex_lock(&s->lock);
                }
        }
        pthread_mutex_unlock(&s->lock);
        return NULL;
}

static int handle_heartbeat(struct shuffle_service *s, const Firesteel__DriverHeartbeat *request,
                            struct fst_error *error)
{
        if (!is_valid_id(request->app_id) || request->timeout_ms > INT64_MAX / 1000000)
                return error_set(error, -EINVAL, "a heartbeat needs the id of its application and a valid timeout");
        pthread_mutex_lock(&s->lock);
        int r = driver_heartbeats_heard(&s->drivers, request->app_id, ms_to_ns(request->timeout_ms), now_ns(), error);
        if (r > 0 && !s->checks)
                s->checks = pthread_create(&s->check_thread, NULL, shuffle_service_check_main, s) == 0;
        pthread_mutex_unlock(&s->lock);
        if (r > 0)
                log_info(LOG, "The driver of %s sends heartbeats (timeout %lld ms)", request->app_id,
                         (long long)request->timeout_ms);
        return MIN(r, 0);
}

static void shuffle_service_stop_checks(struct shuffle_service *s)
{
        pthread_mutex_lock(&s->lock);
        s->closing = true;
        pthread_cond_signal(&s->closed);
        const bool joins = s->checks;
        pthread_mutex_unlock(&s->lock);
        if (joins)
                pthread_join(s->check_thread, NULL);
}

/* ------------------------------------------------------------------------------------------------------ requests */

/* Ends the empty reply to a request without data. */
static int empty_next(struct transfer_stream *stream, struct iovec *iov, int max, struct fst_error *error)
{
        return 0;
}

static void empty_close(struct transfer_stream *stream)
{
        free(stream);
}

static int open_empty_stream(struct transfer_stream **stream)
{
        static const struct transfer_stream_class nothing_class = {.next = empty_next, .close = empty_close};
        *stream = new0(struct transfer_stream);
        (*stream)->class = &nothing_class;
        return 0;
}

static int service_open(void *owner, const unsigned char *data, size_t len, struct transfer_stream **stream,
                        struct fst_error *error)
{
        struct shuffle_service *s = owner;
        Firesteel__TransferRequest *request = firesteel__transfer_request__unpack(NULL, len, data);
        enum shuffle_request kind = SHUFFLE_REQUEST_OTHER;
        int64_t began = now_ns();
        int r = 0;
        if (!request)
                return error_set(error, -EBADMSG, "malformed request");
        switch (request->what_case) {
        case FIRESTEEL__TRANSFER_REQUEST__WHAT_FETCH_SHUFFLE:
                kind = SHUFFLE_REQUEST_OPEN;
                r = open_fetch(s, request->fetch_shuffle, stream, error);
                break;
        case FIRESTEEL__TRANSFER_REQUEST__WHAT_REGISTER_SHUFFLE:
                kind = SHUFFLE_REQUEST_REGISTER;
                r = handle_registration(s, request->register_shuffle, error);
                r = r ? r : open_empty_stream(stream);
                break;
        case FIRESTEEL__TRANSFER_REQUEST__WHAT_REMOVE_OUTPUTS:
                r = handle_removal(s, request->remove_outputs, error);
                r = r ? r : open_empty_stream(stream);
                break;
        case FIRESTEEL__TRANSFER_REQUEST__WHAT_DRIVER_HEARTBEAT:
                r = handle_heartbeat(s, request->driver_heartbeat, error);
                r = r ? r : open_empty_stream(stream);
                break;
        case FIRESTEEL__TRANSFER_REQUEST__WHAT_END_APPLICATION:
                shuffle_service_end_application(s, request->end_application->app_id, true);
                r = open_empty_stream(stream);
                break;
        default:
                r = error_set(error, -EOPNOTSUPP, "a shuffle service does not support this request");
        }
        shuffle_metrics_count(__atomic_load_n(&s->metrics, __ATOMIC_ACQUIRE), kind, now_ns() - began);
        firesteel__transfer_request__free_unpacked(request, NULL);
        return r;
}

/* ---------------------------------------------------------------------------------------------------- the service */

/* Fails, because executors know the service by its port and would not find another one. */
static int port_taken(int port, struct fst_error *error)
{
        return error_set(
                error, -EADDRINUSE,
                "port %d (spark.shuffle.service.port) is in use, most likely by the shuffle service of another "
                "worker on this host. One service for each host is enough: start this worker with "
                "spark.shuffle.service.enabled=false, or give the workers and applications of this cluster "
                "another spark.shuffle.service.port",
                port);
}

static int shuffle_service_start(struct shuffle_service *s, const struct shuffle_service_options *options,
                                 struct fst_error *error)
{
        static const struct transfer_handler handler = {.open = service_open};
        const struct fst_conf *conf = options->conf;
        int64_t port, timeout_ms, threads, backlog, cache, check_ms;
        bool keep;
        int r;
        if ((r = conf_get_int(conf, "spark.shuffle.service.port", &port, error)) ||
            (r = conf_get_ms(conf, "spark.shuffle.io.connectionTimeout", &timeout_ms, error)) ||
            (r = conf_get_int(conf, "spark.shuffle.io.serverThreads", &threads, error)) ||
            (r = conf_get_int(conf, "spark.shuffle.io.backLog", &backlog, error)) ||
            (r = conf_get_bytes(conf, "spark.shuffle.service.index.cache.size", &cache, error)) ||
            (r = conf_get_bool(conf, "spark.shuffle.service.db.enabled", &keep, error)) ||
            (r = conf_get_ms(conf, "spark.shuffle.cleaner.interval", &check_ms, error)) ||
            (r = security_new(conf, "", SECURITY_EXECUTOR, &s->cluster, error)) ||
            (r = security_for(s->cluster, SHUFFLE_SERVICE_PURPOSE, &s->security, error)))
                return r;
        s->check_ns = ms_to_ns(MAX(check_ms, (int64_t)1));
        s->cache = output_cache_new((size_t)MAX(cache, (int64_t)0));
        if (options->state_dir && keep) {
                s->state_path = mem_printf("%s/registeredExecutors.fst", options->state_dir);
                read_registrations(s);
        }
        struct transfer_server_options server = {.service = "the shuffle service",
                                                 .host = options->host,
                                                 .port = options->port < 0 ? (int)port : options->port,
                                                 .threads = (int)threads,
                                                 .backlog = (int)backlog,
                                                 .security = s->security,
                                                 .idle_ns = timeout_ms * 1000000};
        r = transfer_server_new(&server, &handler, s, &s->server, error);
        return r == -EADDRINUSE ? port_taken(server.port, error) : r;
}

int shuffle_service_new(const struct shuffle_service_options *options, struct shuffle_service **service,
                        struct fst_error *error)
{
        struct shuffle_service *s = new0(struct shuffle_service);
        pthread_mutex_init(&s->lock, NULL);
        cond_init_monotonic(&s->closed);
        struct shuffle_metrics *metrics = NULL;
        int r = shuffle_service_start(s, options, error);
        if (r == 0)
                r = shuffle_metrics_start(s, options->conf, &metrics, error);
        __atomic_store_n(&s->metrics, metrics, __ATOMIC_RELEASE); /* its threads already serve */
        if (r) {
                shuffle_service_free(s);
                return r;
        }
        log_info(LOG, "Starting shuffle service on port %d (auth enabled = %s)", shuffle_service_port(s),
                 s->security ? "true" : "false");
        *service = s;
        return 0;
}

int shuffle_service_port(const struct shuffle_service *service)
{
        return transfer_server_port(service->server);
}

struct shuffle_service_counters shuffle_service_counters(struct shuffle_service *s)
{
        struct transfer_server_counters sent = transfer_server_counters(s->server);
        pthread_mutex_lock(&s->lock);
        struct shuffle_service_counters c = {.requests = s->requests,
                                             .registrations = s->registrations,
                                             .not_registered = s->not_registered,
                                             .connections = sent.connections,
                                             .open_connections = sent.open,
                                             .refused = sent.refused,
                                             .bytes_sent = sent.bytes_sent,
                                             .executors = s->executors.len,
                                             .cached = output_cache_count(s->cache),
                                             .cached_bytes = output_cache_bytes(s->cache)};
        for (size_t i = 0; i < s->executors.len; i++) {
                size_t k = 0;
                while (k < i && strcmp(s->executors.data[k]->app_id, s->executors.data[i]->app_id) != 0)
                        k++;
                c.applications += k == i;
        }
        pthread_mutex_unlock(&s->lock);
        return c;
}

void shuffle_service_free(struct shuffle_service *s)
{
        if (!s)
                return;
        shuffle_metrics_stop(s->metrics);
        transfer_server_free(s->server);
        shuffle_service_stop_checks(s); /* no heartbeat begins them again */
        shuffle_metrics_free(s->metrics);
        for (size_t i = 0; i < s->executors.len; i++)
                registered_unref(s->executors.data[i]);
        vec_deinit(&s->executors);
        output_cache_free(s->cache);
        security_free(s->security);
        security_free(s->cluster);
        driver_heartbeats_deinit(&s->drivers);
        pthread_cond_destroy(&s->closed);
        pthread_mutex_destroy(&s->lock);
        free(s->state_path);
        free(s);
}
