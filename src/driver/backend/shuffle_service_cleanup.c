/*
 * See shuffle_service_cleanup.h. Outputs added during a call wait for the next one. Adjacent outputs of one executor
 * form one request. A service that cannot be reached keeps its files until the application ends.
 */
#include "driver/backend/shuffle_service_cleanup.h"

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

struct shuffle_service_cleanup {
        uv_loop_t *loop;
        struct service_client *client;
        bool removes_outputs; /* spark.shuffle.service.removeShuffle */
        uv_work_t work;
        bool working;
        batches waiting;
        batches sending; /* the thread's while `working` */
};

int shuffle_service_cleanup_new(uv_loop_t *loop, const struct fst_conf *conf, const char *app_id,
                                struct shuffle_service_cleanup **cleanup, struct fst_error *error)
{
        bool enabled, removes_outputs;
        int r;
        if ((r = conf_get_bool(conf, "spark.shuffle.service.enabled", &enabled, error)) ||
            (r = conf_get_bool(conf, "spark.shuffle.service.removeShuffle", &removes_outputs, error)))
                return r;
        *cleanup = NULL;
        if (!enabled)
                return 0;
        struct shuffle_service_cleanup *s = new0(struct shuffle_service_cleanup);
        s->loop = loop;
        s->removes_outputs = removes_outputs;
        s->work.data = s;
        r = service_client_new(conf, app_id, 1, &s->client, error);
        if (r)
                free(s);
        else
                *cleanup = s;
        return r;
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
        service_client_free(s->client);
        free(s);
}
