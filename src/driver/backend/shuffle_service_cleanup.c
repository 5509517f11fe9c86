/*
 * See shuffle_service_cleanup.h. Outputs added during a call wait for the next one. Adjacent outputs of one executor
 * form one request. A service that cannot be reached keeps its files until the application ends.
 *
 * Heartbeats go to one service after the other. `beats` is a copy for the thread; services are forgotten only after it
 * has returned, so the names in it stay valid.
 */
#include "driver/backend/shuffle_service_cleanup.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "shuffle/shuffle_service_client.h"

#define LOG "ExternalBlockStoreClient"

/* Outputs of one executor. */
struct output_batch {
        char *host, *executor_id;
        int port;
        VEC(struct released_output) outputs;
};

typedef VEC(struct output_batch *) batches;

/* A service that gets heartbeats. */
struct watched_service {
        char *host;
        int port;
        bool reached;       /* by the last heartbeat; the thread's */
        int64_t reached_at; /* ns */
};

struct shuffle_service_cleanup {
        uv_loop_t *loop;
        struct service_client *client;
        bool removes_outputs; /* spark.shuffle.service.removeShuffle */
        uv_work_t work;
        bool working;
        batches waiting;
        batches sending;                 /* the thread's while `working` */
        int64_t interval_ms, timeout_ms; /* of heartbeats */
        uv_timer_t timer;
        uv_work_t beat;
        bool beating;
        int stopped;                          /* atomic */
        VEC(struct watched_service) services; /* of which the first n_beats are in `beats` */
        struct watched_service *beats;        /* the thread's while `beating` */
        size_t n_beats;
};

int shuffle_service_cleanup_new(uv_loop_t *loop, const struct fst_conf *conf, const char *app_id,
                                struct shuffle_service_cleanup **cleanup, struct fst_error *error)
{
        bool enabled, removes_outputs;
        int64_t interval_ms, timeout_ms;
        int r;
        if ((r = conf_get_bool(conf, "spark.shuffle.service.enabled", &enabled, error)) ||
            (r = conf_get_bool(conf, "spark.shuffle.service.removeShuffle", &removes_outputs, error)) ||
            (r = conf_get_ms(conf, "spark.executor.heartbeatInterval", &interval_ms, error)) ||
            (r = conf_get_ms(conf, "spark.storage.blockManagerHeartbeatTimeoutMs", &timeout_ms, error)))
                return r;
        *cleanup = NULL;
        if (!enabled)
                return 0;
        struct shuffle_service_cleanup *s = new0(struct shuffle_service_cleanup);
        s->loop = loop;
        s->removes_outputs = removes_outputs;
        s->interval_ms = MAX(interval_ms, (int64_t)1);
        s->timeout_ms = timeout_ms;
        s->work.data = s->beat.data = s->timer.data = s;
        r = service_client_new(conf, app_id, 1, &s->client, error);
        if (r) {
                free(s);
                return r;
        }
        uv_timer_init(loop, &s->timer);
        *cleanup = s;
        return 0;
}

static void batches_deinit(batches *all)
{
        for (size_t i = 0; i < all->len; i++) {
                struct output_batch *b = all->data[i];
                free(b->host);
                free(b->executor_id);
                vec_deinit(&b->outputs);
                free(b);
        }
        vec_deinit(all);
}

/* On a thread of the pool. */
static void shuffle_service_cleanup_send_all(uv_work_t *work)
{
        struct shuffle_service_cleanup *s = work->data;
        for (size_t i = 0; i < s->sending.len; i++) {
                const struct output_batch *b = s->sending.data[i];
                struct fst_error error = FST_ERROR_INIT;
                if (service_client_remove(s->client, b->host, b->port, b->executor_id, b->outputs.data, b->outputs.len,
                                          &error))
                        log_warn(LOG, "Map outputs of executor %s stay at %s:%d until the application ends: %s",
                                 b->executor_id, b->host, b->port, error_message(&error));
                error_deinit(&error);
        }
}

static void shuffle_service_cleanup_begin(struct shuffle_service_cleanup *s);

static void shuffle_service_cleanup_sent(uv_work_t *work, int status)
{
        struct shuffle_service_cleanup *s = work->data;
        batches_deinit(&s->sending);
        s->working = false;
        if (s->waiting.len)
                shuffle_service_cleanup_begin(s);
}

static void shuffle_service_cleanup_begin(struct shuffle_service_cleanup *s)
{
        s->sending = s->waiting;
        s->waiting = (batches){0};
        s->working = true;
        uv_queue_work(s->loop, &s->work, shuffle_service_cleanup_send_all, shuffle_service_cleanup_sent);
}

static struct output_batch *shuffle_service_cleanup_batch(struct shuffle_service_cleanup *s, const char *host, int port,
                                                          const char *executor_id)
{
        for (size_t i = 0; i < s->waiting.len; i++) {
                struct output_batch *b = s->waiting.data[i];
                if (b->port == port && strcmp(b->executor_id, executor_id) == 0 && strcmp(b->host, host) == 0)
                        return b;
        }
        struct output_batch *b = new0(struct output_batch);
        b->host = mem_strdup(host);
        b->executor_id = mem_strdup(executor_id);
        b->port = port;
        vec_push(&s->waiting, b);
        return b;
}

void shuffle_service_cleanup_add(struct shuffle_service_cleanup *s, const char *host, int port, const char *executor_id,
                                 int shuffle, int map_partition, int64_t task_id)
{
        if (!s->removes_outputs)
                return;
        struct output_batch *b = shuffle_service_cleanup_batch(s, host, port, executor_id);
        vec_push(&b->outputs,
                 (struct released_output){.shuffle = shuffle, .map_partition = map_partition, .task_id = task_id});
        if (!s->working)
                shuffle_service_cleanup_begin(s);
}

/* ------------------------------------------------------------------------------------------------------ heartbeats */

/* On a thread of the pool. */
static void shuffle_service_cleanup_beat_all(uv_work_t *work)
{
        struct shuffle_service_cleanup *s = work->data;
        for (size_t i = 0; i < s->n_beats && !__atomic_load_n(&s->stopped, __ATOMIC_RELAXED); i++) {
                struct watched_service *w = &s->beats[i];
                w->reached = service_client_heartbeat(s->client, w->host, w->port, s->timeout_ms, NULL) == 0;
                w->reached_at = w->reached ? now_ns() : w->reached_at;
        }
}

static void shuffle_service_cleanup_beaten(uv_work_t *work, int status)
{
        struct shuffle_service_cleanup *s = work->data;
        const int64_t oldest = now_ns() - ms_to_ns(s->timeout_ms);
        size_t kept = 0;
        for (size_t i = 0; i < s->services.len; i++) {
                struct watched_service *w = &s->services.data[i];
                if (i < s->n_beats)
                        *w = s->beats[i];
                if (i < s->n_beats && w->reached_at < oldest && !__atomic_load_n(&s->stopped, __ATOMIC_RELAXED)) {
                        log_warn(LOG, "The shuffle service at %s:%d does not take heartbeats, and gets no more",
                                 w->host, w->port);
                        free(w->host);
                } else {
                        s->services.data[kept++] = *w;
                }
        }
        s->services.len = kept;
        free(steal(s->beats));
        s->n_beats = 0;
        s->beating = false;
}

static void shuffle_service_cleanup_beat(uv_timer_t *timer)
{
        struct shuffle_service_cleanup *s = timer->data;
        if (s->beating || s->services.len == 0)
                return;
        s->beating = true;
        s->n_beats = s->services.len;
        s->beats = new_array(struct watched_service, s->n_beats);
        memcpy(s->beats, s->services.data, s->n_beats * sizeof(*s->beats));
        uv_queue_work(s->loop, &s->beat, shuffle_service_cleanup_beat_all, shuffle_service_cleanup_beaten);
}

void shuffle_service_cleanup_watch(struct shuffle_service_cleanup *s, const char *host, int port)
{
        for (size_t i = 0; i < s->services.len; i++)
                if (s->services.data[i].port == port && strcmp(s->services.data[i].host, host) == 0)
                        return;
        const struct watched_service w = {.host = mem_strdup(host), .port = port, .reached_at = now_ns()};
        vec_push(&s->services, w);
        uv_timer_start(&s->timer, shuffle_service_cleanup_beat, 0, (uint64_t)s->interval_ms);
}

void shuffle_service_cleanup_stop(struct shuffle_service_cleanup *s)
{
        if (!s)
                return;
        __atomic_store_n(&s->stopped, 1, __ATOMIC_RELAXED);
        uv_timer_stop(&s->timer);
}

/* ------------------------------------------------------------------------------------------------------------- end */

void shuffle_service_cleanup_end(struct shuffle_service_cleanup *s, const char *host, int port)
{
        struct fst_error error = FST_ERROR_INIT;
        if (service_client_end_application(s->client, host, port, &error))
                log_warn(LOG, "The end of the application could not be reported to the shuffle service at %s:%d: %s",
                         host, port, error_message(&error));
        error_deinit(&error);
}

void shuffle_service_cleanup_free(struct shuffle_service_cleanup *s)
{
        if (!s)
                return;
        batches_deinit(&s->waiting);
        batches_deinit(&s->sending);
        for (size_t i = 0; i < s->services.len; i++)
                free(s->services.data[i].host);
        vec_deinit(&s->services);
        service_client_free(s->client);
        free(s);
}
