/* See result_getter.h. Fetches in the order of requests. */
#include "driver/backend/result_getter.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "exec/actions/row_sink.h"
#include "exec/blocks/block_manager.h"
#include "rpc/transfer/transfer.h"

#include <endian.h>
#include <pthread.h>
#include <xxhash.h>

struct wanted_result {
        struct wanted_result *next;
        struct block_location from;
        int64_t task_id;
        size_t size;
        void *cookie;
};

struct result_getter {
        struct transfer_client *client;
        result_got_fn done;
        void *owner;
        pthread_mutex_t lock;
        pthread_cond_t wake;
        struct wanted_result *first, **last;
        pthread_t *threads;
        int n_threads, started, idle;
        int stopping; /* atomic; transfers check it */
};

struct result_getter *result_getter_new(struct transfer_client *client, int threads, result_got_fn done, void *owner)
{
        struct result_getter *g = new0(struct result_getter);
        g->client = client;
        g->done = done;
        g->owner = owner;
        g->last = &g->first;
        g->n_threads = MAX(threads, 1);
        g->threads = new_array(pthread_t, (size_t)g->n_threads);
        pthread_mutex_init(&g->lock, NULL);
        pthread_cond_init(&g->wake, NULL);
        return g;
}

static int result_getter_receive(struct transfer_input *in, unsigned char *data, size_t size, struct fst_error *error)
{
        uint64_t checksum;
        unsigned char more;
        int r = transfer_read_all(in, &checksum, sizeof(checksum), error);
        if (r == 0 && size)
                r = transfer_read_all(in, data, size, error);
        if (r == FST_TRANSFER_E_END)
                return error_set(error, -EPROTO, "the result is shorter than announced");
        if (r)
                return r;
        ssize_t n = transfer_read(in, &more, 1, error);
        if (n > 0)
                return error_set(error, -EPROTO, "the result is longer than announced");
        if (n < 0)
                return (int)n;
        if (XXH3_64bits(data, size) != le64toh(checksum))
                return error_set(error, -EBADMSG, "the result is damaged: its checksum is wrong");
        return 0;
}

static void result_getter_get(struct result_getter *g, struct wanted_result *w)
{
        _cleanup_(buf_deinit) struct buf request = BUF_INIT;
        struct fst_error error = FST_ERROR_INIT;
        struct transfer_call call = {.stopped = &g->stopping};
        struct transfer_input *in = NULL;
        void *data = mem_try(w->size);
        block_request_fetch((struct block_name){BLOCK_TASK_RESULT, w->task_id, 0}, &request);
        int r = data ? 0
                     : error_set(&error, -ENOMEM,
                                 "no memory in the driver for a result of %zu bytes: " NO_DRIVER_MEMORY_REMEDY,
                                 w->size);
        if (r == 0)
                r = transfer_open(g->client, w->from.host, w->from.port, request.data, request.len, &call, &in, &error);
        if (r == 0)
                r = result_getter_receive(in, data, w->size, &error);
        transfer_close(in);
        bool request_failed = r && data;
        if (request_failed) {
                error_wrap(&error, r, "fetching the result of task %lld from %s:%d", (long long)w->task_id,
                           w->from.host, w->from.port);
                free(steal(data));
        }
        if (r == -ENOMEM && request_failed)
                r = -EIO; /* it was the executor that had no memory */
        g->done(g->owner, w->cookie, data, r ? 0 : w->size, r, r ? error_message(&error) : NULL);
        error_deinit(&error);
        free(w);
}

static void *result_getter_main(void *arg)
{
        struct result_getter *g = arg;
        pthread_setname_np(pthread_self(), "result-getter");
        pthread_mutex_lock(&g->lock);
        while (!g->stopping) {
                struct wanted_result *w = g->first;
                if (!w) {
                        g->idle++;
                        pthread_cond_wait(&g->wake, &g->lock);
                        g->idle--;
                        continue;
                }
                if (!(g->first = w->next))
                        g->last = &g->first;
                pthread_mutex_unlock(&g->lock);
                result_getter_get(g, w);
                pthread_mutex_lock(&g->lock);
        }
        pthread_mutex_unlock(&g->lock);
        return NULL;
}

void result_getter_fetch(struct result_getter *g, const struct block_location *from, int64_t task_id, size_t size,
                         void *cookie)
{
        struct wanted_result *w = new0(struct wanted_result);
        *w = (struct wanted_result){.from = *from, .task_id = task_id, .size = size, .cookie = cookie};
        pthread_mutex_lock(&g->lock);
        *g->last = w;
        g->last = &w->next;
        if (g->idle == 0 && g->started < g->n_threads &&
            pthread_create(&g->threads[g->started], NULL, result_getter_main, g) == 0)
                g->started++;
        bool nobody = g->started == 0;
        if (nobody) { /* no thread could be started: it is alone in the list */
                g->first = NULL;
                g->last = &g->first;
        }
        pthread_cond_signal(&g->wake);
        pthread_mutex_unlock(&g->lock);
        if (nobody)
                result_getter_get(g, w);
}

void result_getter_free(struct result_getter *g)
{
        if (!g)
                return;
        pthread_mutex_lock(&g->lock);
        __atomic_store_n(&g->stopping, 1, __ATOMIC_RELAXED);
        pthread_cond_broadcast(&g->wake);
        pthread_mutex_unlock(&g->lock);
        for (int i = 0; i < g->started; i++)
                pthread_join(g->threads[i], NULL);
        for (struct wanted_result *w = g->first, *next; w; w = next) {
                next = w->next;
                g->done(g->owner, w->cookie, NULL, 0, -ECANCELED, "the application ends");
                free(w);
        }
        pthread_cond_destroy(&g->wake);
        pthread_mutex_destroy(&g->lock);
        free(g->threads);
        free(g);
}
