/*
 * See block_manager.h. This file stores and announces blocks; block_server.c serves them and remote_block.c fetches
 * them.
 */
#include "exec/blocks/block_manager.h"

#include "base/error.h"
#include "base/mem.h"
#include "exec/blocks/block_manager_internal.h"
#include "exec/blocks/broadcasts.h"
#include "exec/exec_env.h"

#include <endian.h>
#include <inttypes.h>
#include <xxhash.h>

/* Announces partitions. Broadcast pieces are announced by broadcasts.c. */
static void announce_partition(void *owner, const struct block_status *status)
{
        struct block_manager *m = owner;
        struct block_info info = {.level = status->level,
                                  .memory_bytes = (int64_t)status->memory_bytes,
                                  .disk_bytes = (int64_t)status->disk_bytes,
                                  .rows = (int64_t)status->rows};
        if (m->network.changed)
                m->network.changed(m->network.owner,
                                   (struct block_name){BLOCK_RDD, status->id.rdd, status->id.partition}, &info);
}

struct block_manager *block_manager_new(struct exec_env *env, const struct block_network *network)
{
        struct block_manager *m = new0(struct block_manager);
        m->env = env;
        m->network = *network;
        pthread_mutex_init(&m->lock, NULL);
        m->remote = remote_block_operations;
        m->remote.owner = m;
        block_store_set_observer(env->blocks, announce_partition, m);
        if (env->broadcasts)
                broadcasts_set_network(env->broadcasts, network);
        return m;
}

void block_manager_free(struct block_manager *m)
{
        if (!m)
                return;
        block_store_set_observer(m->env->blocks, NULL, NULL);
        while (m->results) {
                struct kept_task_result *next = m->results->next;
                kept_result_unref(m, m->results);
                m->results = next;
        }
        pthread_mutex_destroy(&m->lock);
        free(m);
}

const struct remote_blocks *block_manager_remote(const struct block_manager *m)
{
        return &m->remote;
}

/* ------------------------------------------------------------------------------------------------ large results */

void kept_result_unref(struct block_manager *m, struct kept_task_result *result)
{
        if (__atomic_sub_fetch(&result->refs, 1, __ATOMIC_ACQ_REL) > 0)
                return;
        region_deinit(&result->region, m->env->memory);
        free(result);
}

int block_manager_keep_result(struct block_manager *m, int64_t task_id, const void *data, size_t len,
                              struct fst_error *error)
{
        struct kept_task_result *result = new0(struct kept_task_result);
        uint64_t checksum = htole64(XXH3_64bits(data, len));
        int r = region_new(&result->region, m->env->memory, m->env->dirs, (uint64_t)len + TASK_RESULT_HEADER, error);
        if (r) {
                free(result);
                return error_wrap(error, r, "keeping the result of task %" PRId64, task_id);
        }
        memcpy(result->region.data, &checksum, sizeof(checksum));
        memcpy(result->region.data + TASK_RESULT_HEADER, data, len);
        result->task_id = task_id;
        result->refs = 1;
        pthread_mutex_lock(&m->lock);
        result->next = m->results;
        m->results = result;
        pthread_mutex_unlock(&m->lock);
        return 0;
}

struct kept_task_result *kept_result_find(struct block_manager *m, int64_t task_id)
{
        pthread_mutex_lock(&m->lock);
        struct kept_task_result *result = m->results;
        while (result && result->task_id != task_id)
                result = result->next;
        if (result)
                __atomic_add_fetch(&result->refs, 1, __ATOMIC_RELAXED);
        pthread_mutex_unlock(&m->lock);
        return result;
}

bool block_manager_keeps_results(struct block_manager *m)
{
        pthread_mutex_lock(&m->lock);
        bool any = m->results;
        pthread_mutex_unlock(&m->lock);
        return any;
}

static bool remove_result(struct block_manager *m, int64_t task_id)
{
        struct kept_task_result *gone = NULL;
        pthread_mutex_lock(&m->lock);
        for (struct kept_task_result **at = &m->results; *at && !gone;) {
                if ((*at)->task_id == task_id) {
                        gone = *at;
                        *at = gone->next;
                } else {
                        at = &(*at)->next;
                }
        }
        pthread_mutex_unlock(&m->lock);
        if (gone)
                kept_result_unref(m, gone);
        return gone;
}

bool block_manager_remove(struct block_manager *m, struct block_name name)
{
        switch (name.kind) {
        case BLOCK_RDD:
                return block_store_remove(m->env->blocks, (struct block_id){(int)name.id, name.part});
        case BLOCK_BROADCAST:
                return exec_env_remove_broadcast(m->env, name.id);
        case BLOCK_TASK_RESULT:
                return remove_result(m, name.id);
        default:
                return false;
        }
}
