/* See driver_transfer.h. */
#include "driver/backend/driver_transfer.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "driver/application_files.h"
#include "driver/backend/block_master.h"
#include "driver/messages/broadcast_turns.h"
#include "driver/broadcast_variables.h"
#include "driver/context.h"
#include "driver/backend/executor_table.h"
#include "driver/backend/file_server.h"
#include "driver/backend/result_getter.h"
#include "driver/messages/stage_shipping.h"
#include "driver/backend/unpersist_wait.h"
#include "exec/blocks/broadcasts.h"
#include "net/sha256.h"
#include "net/security.h"
#include "rdd/slice.h"
#include "rpc/rpc.h"
#include "rpc/transfer/transfer.h"
#include "rpc/transfer/transfer.pb-c.h"
#include "rpc/transfer/transfer_services.h"
#include "rpc/wire_memory.h"

#include <pthread.h>
#include <uv.h>

/* Work that another thread leaves to the scheduler's thread. */
struct deferred_work {
        struct deferred_work *next;
        enum { WORK_RDD, WORK_BROADCAST, WORK_RESULT, WORK_FILE } kind;
        int64_t id;
        bool everywhere;             /* a broadcast: the driver has dropped it too */
        struct unpersist_wait *wait; /* an RDD: waits for its removal; NULL: no thread waits */
        void *cookie, *bytes;
        size_t len;
        int status;
        char *message;
        Firesteel__File *file;
};

struct driver_transfer {
        struct fst_context *sc;
        const struct driver_transfer_ops *ops;
        void *owner;
        struct security *security;
        struct transfer_client *client;
        struct transfer_services services;
        struct transfer_server *server;
        struct block_master *blocks;
        struct file_server *file_server;
        struct result_getter *results;
        struct unpersist_waits *waits;
        struct broadcast_turns *turns;
        uv_timer_t *turn_timer; /* NULL before driver_transfer_ship_stages */
        bool proactive;               /* replace lost copies of partitions */
        int64_t broadcast_from;       /* spark.shuffle.mapOutput.minSizeForBroadcast */
        VEC(Firesteel__File *) known; /* files sent to executors; the scheduler's thread */
        Firesteel__Files files;

        pthread_mutex_t lock; /* guards the fields below */
        struct deferred_work *first, **last;
};

static void driver_transfer_queue(struct driver_transfer *d, struct deferred_work work)
{
        struct deferred_work *e = mem_alloc(sizeof(*e));
        *e = work;
        e->next = NULL;
        pthread_mutex_lock(&d->lock);
        __atomic_store_n(d->last, e, __ATOMIC_RELEASE); /* driver_transfer_take reads it without the lock */
        d->last = &e->next;
        pthread_mutex_unlock(&d->lock);
        d->ops->wake(d->owner);
}

/* ----------------------------------------------------------------------------------------------------- serving */

struct bytes_stream {
        struct transfer_stream stream;
        struct buf bytes;
        bool sent;
};

static int bytes_stream_next(struct transfer_stream *stream, struct iovec *iov, int max, struct fst_error *error)
{
        struct bytes_stream *s = container_of(stream, struct bytes_stream, stream);
        if (s->sent)
                return 0;
        s->sent = true;
        iov[0] = (struct iovec){s->bytes.data, s->bytes.len};
        return 1;
}

static void bytes_stream_close(struct transfer_stream *stream)
{
        struct bytes_stream *s = container_of(stream, struct bytes_stream, stream);
        buf_deinit(&s->bytes);
        free(s);
}

static const struct transfer_stream_class bytes_class = {.next = bytes_stream_next, .close = bytes_stream_close};

static int driver_transfer_serve_slice(struct driver_transfer *d, struct block_name name,
                                       struct transfer_stream **stream, struct fst_error *error)
{
        const fst_rdd *rdd = rdd_registry_find(d->sc, (int)name.id);
        if (!rdd || rdd->op != RDD_PARALLELIZE)
                return error_set(error, -ENOENT, "RDD %lld is not a collection of the driver", (long long)name.id);
        struct bytes_stream *s = new0(struct bytes_stream);
        s->stream.class = &bytes_class;
        int r = name.part < 0 ? error_set(error, -EINVAL, "the name of the slice has no partition")
                              : slice_encode(rdd, name.part, &s->bytes, error);
        if (r)
                bytes_stream_close(&s->stream);
        else
                *stream = &s->stream;
        return r;
}

static int driver_transfer_serve_block(void *owner, const Firesteel__FetchBlock *request,
                                       struct transfer_stream **stream, struct fst_error *error)
{
        struct driver_transfer *d = owner;
        struct block_name name;
        if (!block_name_parse(request->name, &name))
                return error_set(error, -EINVAL, "the name of the block is not valid");
        if (name.kind == BLOCK_PARALLEL)
                return driver_transfer_serve_slice(d, name, stream, error);
        if (name.kind == BLOCK_BROADCAST)
                return broadcasts_open(d->sc->env.broadcasts, name.id, name.part, stream, error);
        return error_set(error, -ENOENT, "the driver does not have this block");
}

static int driver_transfer_serve_file(void *owner, const Firesteel__FetchFile *request, struct transfer_stream **stream,
                                      struct fst_error *error)
{
        struct driver_transfer *d = owner;
        return file_server_fetch_file(d->file_server, request, stream, error);
}

static int driver_transfer_start(struct driver_transfer *d, struct fst_error *error)
{
        const struct fst_conf *conf = d->sc->conf;
        _cleanup_free_ char *bind = NULL;
        int64_t port, retries;
        int r;
        if ((r = conf_get_string(conf, "spark.driver.bindAddress", &bind, error)) ||
            (r = conf_get_int(conf, "spark.driver.blockManager.port", &port, error)) ||
            (r = conf_get_int(conf, "spark.port.maxRetries", &retries, error)))
                return r;
        d->services = (struct transfer_services){
                .owner = d, .fetch_block = driver_transfer_serve_block, .fetch_file = driver_transfer_serve_file};
        d->client = transfer_client_new(
                &(struct transfer_client_options){.security = d->security, .app_id = d->sc->app_id});
        return transfer_server_new(&(struct transfer_server_options){.host = bind ? bind : d->sc->host,
                                                                     .port = (int)port,
                                                                     .port_retries = (int)retries,
                                                                     .threads = 1,
                                                                     .security = d->security,
                                                                     .app_id = d->sc->app_id},
                                   &transfer_services_handler, &d->services, &d->server, error);
}

/* ------------------------------------------------------------------------------------- work of other threads */

static bool driver_transfer_is_cached(void *owner, int rdd, int partition)
{
        struct driver_transfer *d = owner;
        return block_master_cached(d->blocks, rdd, partition);
}

static void driver_transfer_storage_info(void *owner, int rdd, struct fst_storage_info *storage)
{
        struct driver_transfer *d = owner;
        struct block_totals totals = block_master_rdd(d->blocks, rdd);
        storage->cached_partitions = totals.partitions;
        storage->memory_bytes = totals.memory_bytes;
        storage->disk_bytes = totals.disk_bytes;
}

static void driver_transfer_unpersisted(void *owner, int rdd, bool blocking)
{
        struct driver_transfer *d = owner;
        struct unpersist_wait *wait = blocking ? unpersist_wait_begin(d->waits) : NULL;
        driver_transfer_queue(d, (struct deferred_work){.kind = WORK_RDD, .id = rdd, .wait = wait});
        if (wait)
                unpersist_wait_end(wait);
        listener_bus_post_unpersist_rdd(d->sc->bus, &(struct unpersist_rdd){rdd});
}

static void driver_transfer_broadcast_removed(void *owner, int64_t id, bool destroyed)
{
        driver_transfer_queue(owner, (struct deferred_work){.kind = WORK_BROADCAST, .id = id, .everywhere = destroyed});
}

static void driver_transfer_on_result(void *owner, void *cookie, void *bytes, size_t len, int status,
                                      const char *message)
{
        driver_transfer_queue(owner, (struct deferred_work){.kind = WORK_RESULT,
                                                            .cookie = cookie,
                                                            .bytes = bytes,
                                                            .len = len,
                                                            .status = status,
                                                            .message = message ? mem_strdup(message) : NULL});
}

static void driver_transfer_file_free(Firesteel__File *file)
{
        if (!file)
                return;
        free(file->name);
        free(file->sha256.data);
        free(file);
}

static void driver_transfer_on_file_added(void *owner, const char *name, const char *path, enum app_file_use use)
{
        struct driver_transfer *d = owner;
        struct fst_error error = FST_ERROR_INIT;
        Firesteel__File *file = mem_alloc(sizeof(*file));
        firesteel__file__init(file);
        file->name = mem_strdup(name);
        file->use = (Firesteel__File__Use)use;
        file->sha256.len = FILE_HASH_SIZE;
        file->sha256.data = mem_zero(FILE_HASH_SIZE);
        if (file_server_add(d->file_server, path, file->sha256.data, &file->size, &error)) {
                log_error("SparkContext", "the file %s cannot be served to executors: %s", name, error_message(&error));
                error_deinit(&error);
                driver_transfer_file_free(file);
                return;
        }
        driver_transfer_queue(d, (struct deferred_work){.kind = WORK_FILE, .file = file});
}

/* -------------------------------------------------------------------------------------------- places of blocks */

struct location_answer {
        Firesteel__BlockLocations message;
        Firesteel__BlockLocation list[MAX_BLOCK_LOCATIONS], *pointers[MAX_BLOCK_LOCATIONS];
        struct block_location places[MAX_BLOCK_LOCATIONS];
};

/* Fills the message with the first @n places. */
static void driver_transfer_fill_answer(struct location_answer *a, int n)
{
        firesteel__block_locations__init(&a->message);
        for (int i = 0; i < n; i++) {
                firesteel__block_location__init(&a->list[i]);
                a->list[i].executor = a->places[i].executor;
                a->list[i].host = (char *)a->places[i].host;
                a->list[i].port = a->places[i].port;
                a->pointers[i] = &a->list[i];
        }
        a->message.n_locations = (size_t)n;
        a->message.locations = a->pointers;
}

/* An executor that waits for its turn to fetch a piece of a broadcast value. */
struct turn_asker {
        struct rpc_call *call;
        int executor;
};

static void driver_transfer_find_holders(struct driver_transfer *d, struct block_name name, int executor,
                                         struct location_answer *answer)
{
        const int max = name.kind == BLOCK_BROADCAST ? MAX_PIECE_HOLDERS : MAX_BLOCK_LOCATIONS;
        driver_transfer_fill_answer(answer,
                                    block_master_locations(d->blocks, name, executor, answer->places, max, NULL));
}

static void driver_transfer_answer_asker(struct driver_transfer *d, struct turn_asker *asker, struct block_name name)
{
        struct location_answer answer;
        uint8_t body[MAX_BLOCK_LOCATIONS * (BLOCK_HOST_SIZE + 32)];
        driver_transfer_find_holders(d, name, asker->executor, &answer);
        rpc_call_reply(asker->call, FIRESTEEL__CONTROL_TYPE__BLOCK_LOCATIONS, body,
                       firesteel__block_locations__pack(&answer.message, body), NULL);
        free(asker);
}

static void driver_transfer_on_turn_timer(uv_timer_t *timer);

/* Answers those whose turn has come. */
static void driver_transfer_give_turns(struct driver_transfer *d)
{
        struct block_name name;
        int64_t now = now_ns();
        for (struct turn_asker *asker; (asker = broadcast_turns_next(d->turns, now, &name));)
                driver_transfer_answer_asker(d, asker, name);
        int64_t deadline = broadcast_turns_deadline(d->turns);
        if (d->turn_timer && deadline != INT64_MAX && !uv_is_active((uv_handle_t *)d->turn_timer))
                uv_timer_start(d->turn_timer, driver_transfer_on_turn_timer, (uint64_t)ms_until(deadline, now), 0);
}

static void driver_transfer_on_turn_timer(uv_timer_t *timer)
{
        driver_transfer_give_turns(timer->data);
}

static bool driver_transfer_may_fetch(struct driver_transfer *d, struct block_name name, int executor,
                                      struct rpc_message *m)
{
        if (name.kind != BLOCK_BROADCAST)
                return true;
        struct turn_asker *asker = mem_alloc(sizeof(*asker));
        if (broadcast_turns_ask(d->turns, name, asker, now_ns())) {
                free(asker);
                return true;
        }
        *asker = (struct turn_asker){.call = rpc_message_defer(m), .executor = executor};
        driver_transfer_give_turns(d); /* sets the timer */
        return false;
}

void driver_transfer_locations(struct driver_transfer *d, const struct remote_executor *x, struct rpc_message *m)
{
        struct block_name name;
        struct wire_scratch scratch;
        ProtobufCAllocator allocator = wire_scratch_allocator(&scratch);
        Firesteel__BlockNames *names = firesteel__block_names__unpack(&allocator, m->len, m->body);
        if (!names || names->n_names != 1 || !block_name_parse(names->names[0], &name)) {
                rpc_fail(m, "the request must have the name of one block");
        } else if (driver_transfer_may_fetch(d, name, x->index, m)) {
                struct location_answer answer;
                driver_transfer_find_holders(d, name, x->index, &answer);
                rpc_reply_packed(m, m->type, &answer.message.base, NULL);
        }
        firesteel__block_names__free_unpacked(names, &allocator);
}

/* ---------------------------------------------------------------------------------------- the scheduler's thread */

static void driver_transfer_remove_from(struct driver_transfer *d, int *executors, int n,
                                        const Firesteel__Remove *removal)
{
        for (int i = 0; i < n; i++)
                d->ops->remove(d->owner, executors[i], removal);
        free(executors);
}

static void driver_transfer_do_work(struct driver_transfer *d, struct deferred_work *e)
{
        Firesteel__Remove removal = FIRESTEEL__REMOVE__INIT;
        int32_t rdd = (int32_t)e->id;
        int *executors = NULL, n;
        switch (e->kind) {
        case WORK_RDD:
                block_master_remove_rdd(d->blocks, rdd, &executors);
                free(executors);
                d->ops->remove_rdd(d->owner, rdd, e->wait);
                d->ops->rdd_unpersisted(d->owner, rdd);
                if (e->wait)
                        unpersist_wait_answered(e->wait);
                break;
        case WORK_BROADCAST:
                broadcast_turns_remove(d->turns, e->id);
                driver_transfer_give_turns(d);
                n = block_master_remove_broadcast(d->blocks, e->id, e->everywhere, &executors);
                removal.n_broadcasts = 1;
                removal.broadcasts = &e->id;
                driver_transfer_remove_from(d, executors, n, &removal);
                break;
        case WORK_RESULT:
                d->ops->result(d->owner, e->cookie, e->bytes, e->len, e->status, e->message);
                break;
        case WORK_FILE:
                vec_push(&d->known, e->file);
                d->ops->files(d->owner, &(Firesteel__Files){.base = d->files.base, .n_files = 1, .files = &e->file});
                break;
        }
}

bool driver_transfer_take(struct driver_transfer *d)
{
        if (!__atomic_load_n(&d->first, __ATOMIC_ACQUIRE))
                return false;
        pthread_mutex_lock(&d->lock);
        struct deferred_work *e = d->first;
        d->first = NULL;
        d->last = &d->first;
        pthread_mutex_unlock(&d->lock);
        while (e) {
                struct deferred_work *next = e->next;
                driver_transfer_do_work(d, e);
                free(e->message);
                free(e);
                e = next;
        }
        return true;
}

const Firesteel__Files *driver_transfer_files(struct driver_transfer *d)
{
        d->files.n_files = d->known.len;
        d->files.files = d->known.data;
        return &d->files;
}

void driver_transfer_describe(struct driver_transfer *d, Firesteel__AppConfig *config)
{
        config->files = (Firesteel__Files *)driver_transfer_files(d);
        config->driver_host = d->sc->host;
        config->driver_port = transfer_server_port(d->server);
}

void driver_transfer_add_executor(struct driver_transfer *d, const struct remote_executor *x)
{
        block_master_add_executor(d->blocks, x->index, x->id, x->host, x->transfer_port);
}

void driver_transfer_decommission(struct driver_transfer *d, const struct remote_executor *x)
{
        block_master_decommission(d->blocks, x->index);
}

/* Asks the executor of these partitions to copy them to others. */
static void driver_transfer_ask_for_copies(struct driver_transfer *d, const struct block_copy *copies, size_t n)
{
        Firesteel__BlockNames names = FIRESTEEL__BLOCK_NAMES__INIT;
        names.n_names = n;
        names.names = new_array(char *, n);
        char(*texts)[BLOCK_NAME_SIZE] = mem_alloc(n * sizeof(*texts));
        for (size_t i = 0; i < n; i++)
                names.names[i] = (char *)block_name_format(
                        (struct block_name){BLOCK_RDD, copies[i].rdd, copies[i].partition}, texts[i]);
        d->ops->replicate(d->owner, copies->executor, &names);
        free(texts);
        free(names.names);
}

void driver_transfer_remove_executor(struct driver_transfer *d, const struct remote_executor *x)
{
        struct block_copy *copies = NULL;
        size_t n = 0, end;
        block_master_remove_executor(d->blocks, x->index, d->proactive ? &copies : NULL, &n);
        if (n)
                log_info("BlockManagerMasterEndpoint", "%zu partitions have lost a copy with executor %s", n, x->id);
        for (size_t i = 0; i < n; i = end) {
                for (end = i + 1; end < n && copies[end].executor == copies[i].executor;)
                        end++;
                driver_transfer_ask_for_copies(d, copies + i, end - i);
        }
        free(copies);
}

int driver_transfer_update(struct driver_transfer *d, const struct remote_executor *x, const Firesteel__BlockUpdate *u)
{
        struct block_name name;
        if (!block_name_parse(u->name, &name))
                return -1;
        bool noted = block_master_update(d->blocks, x->index, name,
                                         &(struct block_info){.level = (enum fst_storage_level)u->storage_level,
                                                              .memory_bytes = u->memory_bytes,
                                                              .disk_bytes = u->disk_bytes,
                                                              .rows = u->rows});
        if (noted && name.kind == BLOCK_BROADCAST && u->storage_level) {
                broadcast_turns_held(d->turns, name);
                driver_transfer_give_turns(d);
        }
        if (!noted || name.kind != BLOCK_RDD)
                return -1;
        d->ops->rdd_block(d->owner, x->index, (int)name.id, name.part,
                          u->storage_level && (u->memory_bytes || !u->disk_bytes), u->storage_level && u->disk_bytes);
        return u->storage_level ? (int)name.id : -1;
}

void driver_transfer_updates(struct driver_transfer *d, const struct remote_executor *x, const struct rpc_message *m)
{
        struct wire_scratch scratch;
        ProtobufCAllocator allocator = wire_scratch_allocator(&scratch);
        Firesteel__BlockUpdates *updates = firesteel__block_updates__unpack(&allocator, m->len, m->body);
        for (size_t i = 0; updates && i < updates->n_updates; i++)
                driver_transfer_update(d, x, updates->updates[i]);
        firesteel__block_updates__free_unpacked(updates, &allocator);
}

void driver_transfer_forget_rdd(struct driver_transfer *d, int rdd)
{
        int *executors;
        block_master_remove_rdd(d->blocks, rdd, &executors);
        free(executors);
}

void driver_transfer_peers(struct driver_transfer *d, const struct remote_executor *x, struct rpc_message *m)
{
        struct location_answer answer;
        struct block_name name;
        Firesteel__BlockNames *names = firesteel__block_names__unpack(&wire_guarded, m->len, m->body);
        bool named = names && names->n_names == 1 && block_name_parse(names->names[0], &name);
        firesteel__block_names__free_unpacked(names, NULL);
        driver_transfer_fill_answer(&answer, block_master_peers(d->blocks, x->index, named ? &name : NULL,
                                                                answer.places, MAX_BLOCK_LOCATIONS));
        rpc_reply_packed(m, m->type, &answer.message.base, NULL);
}

int driver_transfer_cached_on(struct driver_transfer *d, int rdd, int partition, int *executors, int max)
{
        return block_master_executors(d->blocks, rdd, partition, executors, max);
}

int driver_transfer_identify(void *data, const struct module *module, struct stage_module *file,
                             struct fst_error *error)
{
        struct driver_transfer *d = data;
        int r = file_server_add(d->file_server, module->path, file->sha256, &file->size, error);
        file->has_sha256 = r == 0;
        return r;
}

static int driver_transfer_broadcast_stage(void *owner, int64_t id, const void *data, size_t len,
                                           struct fst_error *error)
{
        struct driver_transfer *d = owner;
        return broadcasts_put(d->sc->env.broadcasts, id, data, len, error);
}

static void driver_transfer_remove_stage(void *owner, int64_t id)
{
        struct driver_transfer *d = owner;
        int *executors;
        broadcasts_remove(d->sc->env.broadcasts, id);
        block_master_remove_broadcast(d->blocks, id, true, &executors);
        free(executors); /* they remove it with the stage */
        broadcast_turns_remove(d->turns, id);
        driver_transfer_give_turns(d);
}

struct stage_shipping *driver_transfer_ship_stages(struct driver_transfer *d, uv_loop_t *loop)
{
        d->turn_timer = new0(uv_timer_t);
        uv_timer_init(loop, d->turn_timer);
        d->turn_timer->data = d;
        return stage_shipping_new(&(struct stage_shipping_options){
                .modules = {.identify = driver_transfer_identify, .owner = d},
                .broadcast_from = (size_t)d->broadcast_from,
                .broadcast = d->sc->env.broadcasts ? driver_transfer_broadcast_stage : NULL,
                .remove_broadcast = driver_transfer_remove_stage,
                .owner = d});
}

void driver_transfer_fetch_result(struct driver_transfer *d, const struct remote_executor *x, int64_t task_id,
                                  size_t size, void *cookie)
{
        struct block_location from = {.executor = x->index, .port = x->transfer_port};
        snprintf(from.host, sizeof(from.host), "%s", x->host);
        result_getter_fetch(d->results, &from, task_id, size, cookie);
}

/* ------------------------------------------------------------------------------------------------ start and end */

/* SparkListenerBlockUpdated. Not for stages: each is a value of some KB, which executors drop without a message. */
static void driver_transfer_block_updated(void *owner, const struct block_location *at, const char *executor_id,
                                          struct block_name name, const struct block_info *info)
{
        struct driver_transfer *d = owner;
        char text[BLOCK_NAME_SIZE];
        if (name.kind == BLOCK_BROADCAST && name.id >= STAGE_BROADCAST)
                return;
        listener_bus_post_block_updated(
                d->sc->bus,
                &(struct block_updated){
                        .block = {.manager = {.executor_id = executor_id, .host = at->host, .port = at->port},
                                  .block_id = block_name_format(name, text),
                                  .level = info->level,
                                  .memory_size = info->memory_bytes,
                                  .disk_size = info->disk_bytes}});
}

/* The driver has all values itself. */
static int driver_transfer_no_locations(void *owner, struct block_name name, const int *stopped,
                                        struct block_location *out, int max, struct fst_error *error)
{
        return 0;
}

static void driver_transfer_on_piece(void *owner, struct block_name name, const struct block_info *info)
{
        struct driver_transfer *d = owner;
        block_master_update(d->blocks, -1, name, info);
}

int driver_transfer_port(const struct driver_transfer *d)
{
        return transfer_server_port(d->server);
}

int driver_transfer_new(struct fst_context *sc, const struct security *security, const struct driver_transfer_ops *ops,
                        void *owner, struct driver_transfer **data, struct fst_error *error)
{
        struct driver_transfer *d = new0(struct driver_transfer);
        const struct sha256_ops *sha256;
        int64_t threads;
        *data = d;
        d->sc = sc;
        d->ops = ops;
        d->owner = owner;
        d->last = &d->first;
        firesteel__files__init(&d->files);
        pthread_mutex_init(&d->lock, NULL);
        d->turns = broadcast_turns_new();
        d->blocks = block_master_new();
        block_master_set_observer(d->blocks, &(struct block_master_observer){driver_transfer_block_updated, d});
        int r;
        if ((r = sha256_load(&sha256, error)) || (r = security_for(security, "transfer", &d->security, error)) ||
            (r = conf_get_int(sc->conf, "spark.resultGetter.threads", &threads, error)) ||
            (r = conf_get_bool(sc->conf, "spark.storage.replication.proactive", &d->proactive, error)) ||
            (r = conf_get_bytes(sc->conf, "spark.shuffle.mapOutput.minSizeForBroadcast", &d->broadcast_from, error)))
                return r;
        d->file_server = file_server_new(sha256);
        if ((r = driver_transfer_start(d, error)))
                return r;
        d->results = result_getter_new(d->client, (int)threads, driver_transfer_on_result, d);
        block_master_add_executor(d->blocks, -1, "driver", sc->host, transfer_server_port(d->server));
        d->waits = unpersist_waits_new();
        sc->registry.locations = (struct rdd_block_locations){.cached = driver_transfer_is_cached,
                                                              .unpersisted = driver_transfer_unpersisted,
                                                              .storage_info = driver_transfer_storage_info,
                                                              .owner = d};
        broadcast_variables_set_removed(sc->broadcasts, driver_transfer_broadcast_removed, d);
        broadcasts_set_network(sc->env.broadcasts, &(struct block_network){.locations = driver_transfer_no_locations,
                                                                           .changed = driver_transfer_on_piece,
                                                                           .owner = d});
        application_files_set_added(sc, driver_transfer_on_file_added, d);
        return 0;
}

static void driver_transfer_free_timer(uv_handle_t *timer)
{
        free(timer);
}

void driver_transfer_free(struct driver_transfer *d)
{
        if (!d)
                return;
        d->sc->registry.locations = (struct rdd_block_locations){0};
        unpersist_waits_free(d->waits);
        application_files_set_added(d->sc, NULL, NULL);
        broadcast_variables_set_removed(d->sc->broadcasts, NULL, NULL);
        broadcasts_set_network(d->sc->env.broadcasts, &(struct block_network){0});
        result_getter_free(d->results);
        transfer_server_free(d->server);
        while (d->first) {
                struct deferred_work *e = d->first;
                d->first = e->next;
                driver_transfer_file_free(e->file);
                free(e->cookie); /* its result has no waiter any more */
                free(e->bytes);
                free(e->message);
                free(e);
        }
        for (size_t i = 0; i < d->known.len; i++)
                driver_transfer_file_free(d->known.data[i]);
        vec_deinit(&d->known);
        file_server_free(d->file_server);
        for (struct turn_asker *asker; (asker = broadcast_turns_drop(d->turns)); free(asker))
                rpc_call_fail(asker->call, "the application has ended");
        broadcast_turns_free(d->turns);
        if (d->turn_timer)
                uv_close((uv_handle_t *)d->turn_timer, driver_transfer_free_timer);
        block_master_free(d->blocks);
        transfer_client_free(d->client);
        security_free(d->security);
        pthread_mutex_destroy(&d->lock);
        free(d);
}
