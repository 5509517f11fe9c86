/* See object_shuffle.h. A group belongs to its first task until it is written. The others wait for it. */
#include "shuffle/remote/object_shuffle.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/list.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "io/fs/file_system.h"
#include "io/fs/file_systems.h"
#include "shuffle/remote/object_input.h"
#include "shuffle/remote/object_store.h"
#include "shuffle/shuffle_output.h"

#include <inttypes.h>

#define LOG "ShuffleStore"
#define THREADS_OF_CORE 4
#define MAX_THREADS 32

struct commit_group {
        struct commit_group *prev, *next; /* among the open ones */
        int shuffle;
        VEC(struct remote_output) outputs;
        uint64_t bytes;
        int members; /* callers of publish that have not returned */
        bool done;
        uint32_t place;
        int status;
        struct fst_error error;
};

struct object_shuffle {
        struct remote_shuffle remote;
        struct object_store store;
        const struct spill_space *space;
        int32_t writer;
        uint64_t object_size;
        int64_t wait_ns;
        int (*running)(void *owner);
        void *owner;

        pthread_mutex_t lock; /* protects the fields below, and the groups */
        pthread_cond_t changed;
        LIST(struct commit_group) open;
        int publishing;
        uint32_t next_place;
};

/* ------------------------------------------------------------------------------------------------------ writing */

static const char *object_shuffle_remedy(int status)
{
        switch (status) {
        case -ENOSPC:
        case -EDQUOT:
                return "free space there, or set " OBJECT_STORE_KEY " to another store";
        case -EACCES:
        case -EPERM:
        case -EROFS:
                return "let the user of the executors write there, or set " OBJECT_STORE_KEY " to another store";
        }
        return "check that executors reach the store of " OBJECT_STORE_KEY;
}

static void object_shuffle_log_written(const struct commit_group *g, const char *path, uint64_t bytes, int64_t began)
{
        log_info(LOG, "Stored %zu map outputs of shuffle %d as %s (%" PRIu64 " bytes, %" PRId64 " ms)", g->outputs.len,
                 g->shuffle, path, bytes, (now_ns() - began) / NS_PER_MS);
}

/* Writes the group as an object. Each attempt writes another one, so that a late answer to an earlier one is harmless.
 */
static int object_shuffle_write(struct object_shuffle *x, struct commit_group *g, struct fst_error *error)
{
        struct object_store *s = &x->store;
        int r = 0;
        for (int tries = 0;; tries++) {
                int64_t began = now_ns();
                uint64_t bytes = 0;
                pthread_mutex_lock(&x->lock);
                uint32_t place = x->next_place++;
                pthread_mutex_unlock(&x->lock);
                if (place >= REMOTE_PLACES)
                        return error_set(error, -EOVERFLOW, "this executor has written %u objects, the most it can",
                                         place - 1);
                _cleanup_free_ char *path = object_store_path(s, g->shuffle, x->writer, place);
                r = object_write(s->fs, path, s->key, x->space, g->outputs.data, (int)g->outputs.len, &bytes, error);
                if (r == 0) {
                        object_shuffle_log_written(g, path, bytes, began);
                        g->place = place;
                        return 0;
                }
                s->fs->remove(s->fs, path, NULL);
                if (object_status_is_final(r) || tries >= s->retries)
                        break;
                log_warn(LOG, "storing map outputs of shuffle %d again: %s", g->shuffle,
                         error ? error_message(error) : strerror(-r));
                error_deinit(error);
                if (!object_pool_sleep(s->pool, s->retry_ns)) {
                        r = error_set(error, -ECANCELED, "the executor ends");
                        break;
                }
        }
        return error_wrap(error, r, "cannot store map outputs of shuffle %d in %s (%s)", g->shuffle, s->directory,
                          object_shuffle_remedy(r));
}

/* ------------------------------------------------------------------------------------------------------ groups */

/* Returns the open group of a shuffle, or a new one. With the lock. */
static struct commit_group *object_shuffle_group(struct object_shuffle *x, int shuffle, bool *leads)
{
        struct commit_group *g = x->open.first;
        while (g && g->shuffle != shuffle)
                g = g->next;
        *leads = !g;
        if (!g) {
                g = new0(struct commit_group);
                g->shuffle = shuffle;
                list_append(&x->open, g);
        }
        g->members++;
        return g;
}

/* Waits for more outputs, and closes the group. With the lock. */
static void object_shuffle_gather(struct object_shuffle *x, struct commit_group *g)
{
        struct timespec until = timespec_of_ns(now_ns() + x->wait_ns);
        int r = 0;
        while (r == 0 && x->wait_ns > 0 && g->bytes < x->object_size &&
               (!x->running || x->publishing < x->running(x->owner)))
                r = pthread_cond_clockwait(&x->changed, &x->lock, CLOCK_MONOTONIC, &until);
        list_remove(&x->open, g);
}

static int object_shuffle_publish(struct remote_shuffle *remote, int shuffle, struct remote_output *outputs, int n,
                                  struct fst_error *error)
{
        struct object_shuffle *x = container_of(remote, struct object_shuffle, remote);
        bool leads;
        for (int i = 0; i < n; i++)
                shuffle_output_pin(outputs[i].output);
        pthread_mutex_lock(&x->lock);
        x->publishing++;
        struct commit_group *g = object_shuffle_group(x, shuffle, &leads);
        for (int i = 0; i < n; i++) {
                vec_push(&g->outputs, outputs[i]);
                g->bytes += outputs[i].output->bytes;
        }
        pthread_cond_broadcast(&x->changed);
        if (leads) {
                object_shuffle_gather(x, g);
                pthread_mutex_unlock(&x->lock);
                g->status = object_shuffle_write(x, g, &g->error);
                pthread_mutex_lock(&x->lock);
                g->done = true;
                pthread_cond_broadcast(&x->changed);
        }
        while (!g->done)
                pthread_cond_wait(&x->changed, &x->lock);
        int r = g->status ? error_set(error, g->status, "%s", error_message(&g->error)) : 0;
        for (int i = 0; i < n; i++)
                outputs[i].place = g->place;
        bool last = --g->members == 0;
        x->publishing--;
        pthread_mutex_unlock(&x->lock);
        if (last) {
                vec_deinit(&g->outputs);
                error_deinit(&g->error);
                free(g);
        }
        for (int i = 0; i < n; i++)
                shuffle_output_unpin(outputs[i].output);
        return r;
}

/* ------------------------------------------------------------------------------------------------------ the rest */

static struct remote_input *object_shuffle_open(struct remote_shuffle *remote, const struct remote_read *read)
{
        return object_input_new(&container_of(remote, struct object_shuffle, remote)->store, read);
}

static void object_shuffle_forget(struct remote_shuffle *remote, int shuffle)
{
        object_store_forget_shuffle(&container_of(remote, struct object_shuffle, remote)->store, shuffle);
}

static void object_shuffle_free(struct remote_shuffle *remote)
{
        struct object_shuffle *x = container_of(remote, struct object_shuffle, remote);
        object_store_deinit(&x->store);
        pthread_cond_destroy(&x->changed);
        pthread_mutex_destroy(&x->lock);
        free(x);
}

static const struct remote_shuffle_class object_shuffle_class = {
        .name = "store",
        .publish = object_shuffle_publish,
        .open = object_shuffle_open,
        .next = object_input_next,
        .close = object_input_free,
        .forget = object_shuffle_forget,
        .free = object_shuffle_free,
};

int object_shuffle_new(const struct object_shuffle_options *options, struct remote_shuffle **remote,
                       struct fst_error *error)
{
        const struct fst_conf *conf = options->conf;
        const struct file_system *fs = NULL;
        int64_t retries, retry_ms, size, wait_ms;
        int r;
        if ((r = conf_get_int(conf, "spark.shuffle.io.maxRetries", &retries, error)) ||
            (r = conf_get_ms(conf, "spark.shuffle.io.retryWait", &retry_ms, error)) ||
            (r = conf_get_bytes(conf, OBJECT_STORE_KEY ".objectSize", &size, error)) ||
            (r = conf_get_ms(conf, OBJECT_STORE_KEY ".wait", &wait_ms, error)) ||
            (r = file_system_of(options->directory, &fs, error))) {
                file_key_free(options->key);
                return r;
        }
        struct object_shuffle *x = new0(struct object_shuffle);
        x->remote.class = &object_shuffle_class;
        object_store_init(&x->store, fs, mem_strdup(options->directory), options->key,
                          MIN(THREADS_OF_CORE * options->cores, MAX_THREADS));
        x->store.retries = (int)MIN(retries, (int64_t)INT16_MAX);
        x->store.retry_ns = ms_to_ns(retry_ms);
        x->space = options->space;
        x->writer = options->writer;
        x->object_size = (uint64_t)MAX(size, (int64_t)1);
        x->wait_ns = ms_to_ns(MAX(wait_ms, (int64_t)0));
        x->running = options->running;
        x->owner = options->owner;
        x->next_place = 1;
        pthread_mutex_init(&x->lock, NULL);
        pthread_cond_init(&x->changed, NULL);
        *remote = &x->remote;
        return 0;
}
