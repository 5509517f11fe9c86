/* See replicator.h. The thread starts with the first block and stays. */
#include "exec/blocks/replicator.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "exec/blocks/block_manager.h"
#include "numa/numa_nodes.h"

#include <pthread.h>
#include <string.h>

struct replicator {
        struct block_manager *blocks;
        pthread_t thread;
        int stopped; /* atomic */

        pthread_mutex_t lock; /* protects the fields below */
        pthread_cond_t wake;
        VEC(struct block_id) waiting;
        bool started;
};

static void replicator_copy(struct replicator *r, struct block_id id)
{
        struct fst_error error = FST_ERROR_INIT;
        int status = block_manager_copy(r->blocks, id, &r->stopped, &error);
        if (status < 0 && status != -ENOENT && !__atomic_load_n(&r->stopped, __ATOMIC_ACQUIRE))
                log_warn("BlockManager", "cannot replace the lost replica of rdd_%d_%d: %s", id.rdd, id.partition,
                         error_message(&error));
        error_deinit(&error);
}

static void *replicator_main(void *arg)
{
        struct replicator *r = arg;
        pthread_setname_np(pthread_self(), "copy-blocks");
        pthread_mutex_lock(&r->lock);
        while (!__atomic_load_n(&r->stopped, __ATOMIC_ACQUIRE)) {
                if (r->waiting.len == 0) {
                        pthread_cond_wait(&r->wake, &r->lock);
                        continue;
                }
                struct block_id id = r->waiting.data[--r->waiting.len];
                pthread_mutex_unlock(&r->lock);
                replicator_copy(r, id);
                pthread_mutex_lock(&r->lock);
        }
        pthread_mutex_unlock(&r->lock);
        return NULL;
}

struct replicator *replicator_new(struct block_manager *blocks)
{
        struct replicator *r = new0(struct replicator);
        r->blocks = blocks;
        pthread_mutex_init(&r->lock, NULL);
        pthread_cond_init(&r->wake, NULL);
        return r;
}

void replicator_free(struct replicator *r)
{
        if (!r)
                return;
        pthread_mutex_lock(&r->lock);
        __atomic_store_n(&r->stopped, 1, __ATOMIC_RELEASE);
        pthread_cond_signal(&r->wake);
        bool started = r->started;
        pthread_mutex_unlock(&r->lock);
        if (started)
                pthread_join(r->thread, NULL);
        vec_deinit(&r->waiting);
        pthread_cond_destroy(&r->wake);
        pthread_mutex_destroy(&r->lock);
        free(r);
}

void replicator_add(struct replicator *r, struct block_id id)
{
        pthread_mutex_lock(&r->lock);
        vec_push(&r->waiting, id);
        pthread_cond_signal(&r->wake);
        int status = r->started ? 0 : numa_create_thread(&r->thread, NULL, replicator_main, r);
        r->started |= status == 0;
        pthread_mutex_unlock(&r->lock);
        if (status)
                log_warn("BlockManager", "cannot replace lost replicas: no thread: %s", strerror(status));
}
