/* The context's registry of RDDs; see rdd_registry.h. */
#include "rdd/rdd_registry.h"

#include "base/fs.h"
#include "base/live_handles.h"
#include "base/mem.h"
#include "base/public_struct.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "io/fs/file_system.h"
#include "io/fs/file_systems.h"
#include "rdd/builtins.h"
#include "rdd/pipeline/task_run.h"
#include "rdd/rdd.h"
#include "store/block_store.h"

#include <errno.h>

static struct rdd_registry *registry_of(fst_context *sc)
{
        return (struct rdd_registry *)sc;
}

static struct rdd_registry *running; /* atomic */

fst_context *rdd_registry_running(void)
{
        return (fst_context *)__atomic_load_n(&running, __ATOMIC_ACQUIRE);
}

void rdd_registry_set_running(struct rdd_registry *r)
{
        __atomic_store_n(&running, r, __ATOMIC_RELEASE);
}

void rdd_registry_init(struct rdd_registry *r, const fst_conf *conf)
{
        pthread_mutexattr_t attr;
        *r = (struct rdd_registry){.conf = conf};
        pthread_mutexattr_init(&attr);
        pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
        pthread_mutex_init(&r->lock, &attr);
        pthread_mutexattr_destroy(&attr);
}

static void rdd_list_free(fst_rdd *rdds)
{
        while (rdds) {
                fst_rdd *next = rdds->next;
                live_handle_remove(HANDLE_RDD, rdds);
                rdd_free(rdds);
                rdds = next;
        }
}

void rdd_registry_deinit(struct rdd_registry *r)
{
        struct rdd_registry *expected = r;
        __atomic_compare_exchange_n(&running, &expected, NULL, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
        rdd_list_free(r->rdds);
        rdd_list_free(r->cleaned);
        free(r->checkpoint_dir);
        pthread_mutex_destroy(&r->lock);
}

void rdd_registry_add(fst_context *sc, fst_rdd *rdd)
{
        struct rdd_registry *r = registry_of(sc);
        pthread_mutex_lock(&r->lock);
        rdd->lineage.id = r->next_rdd_id++;
        rdd->next = r->rdds;
        r->rdds = rdd;
        pthread_mutex_unlock(&r->lock);
        live_handle_add(HANDLE_RDD, rdd);
}

int rdd_registry_shuffle_id(fst_context *sc)
{
        struct rdd_registry *r = registry_of(sc);
        pthread_mutex_lock(&r->lock);
        int id = r->next_shuffle_id++;
        pthread_mutex_unlock(&r->lock);
        return id;
}

int rdd_registry_next_id(fst_context *sc)
{
        struct rdd_registry *r = registry_of(sc);
        pthread_mutex_lock(&r->lock);
        int id = r->next_rdd_id;
        pthread_mutex_unlock(&r->lock);
        return id;
}

/* Creates "@dir/<uuid>" and returns it in *@own. The caller owns the string. */
static int checkpoint_own_directory(struct rdd_registry *r, const char *dir, char **own, struct fst_error *error)
{
        _cleanup_free_ char *whole = NULL;
        const struct file_system *fs;
        char uuid[UUID_TEXT];
        int status = file_system_resolve(dir, &whole, &fs, error);
        if (status)
                return status;
        uuid_draw(uuid);
        const int before = r->checkpoint_name ? __atomic_fetch_add(&r->checkpoint_dirs, 1, __ATOMIC_RELAXED) : 0;
        const char *name = r->checkpoint_name ? r->checkpoint_name : uuid;
        char *path = before ? mem_printf("%s/%s-%d", whole, name, before) : mem_printf("%s/%s", whole, name);
        status = fs->mkdirs(fs, path, error);
        if (status)
                free(path);
        else
                *own = path;
        return status;
}

FST_API const char *fst_checkpoint_dir(fst_context *sc)
{
        struct rdd_registry *r = registry_of(context_given(sc, rdd_site("checkpoint_dir")));
        pthread_mutex_lock(&r->lock);
        const char *dir = r->checkpoint_dir;
        pthread_mutex_unlock(&r->lock);
        return dir;
}

int rdd_registry_set_checkpoint_dir(fst_context *sc, const char *dir, struct fst_error *error)
{
        struct rdd_registry *r = registry_of(sc);
        char *own = NULL;
        int status = checkpoint_own_directory(r, dir, &own, error);
        if (status)
                return status;
        pthread_mutex_lock(&r->lock);
        free(r->checkpoint_dir);
        r->checkpoint_dir = own;
        pthread_mutex_unlock(&r->lock);
        return 0;
}

int rdd_registry_checkpoint_path(fst_context *sc, int rdd, char **path, struct fst_error *error)
{
        struct rdd_registry *r = registry_of(sc);
        const char *configured = conf_get_value(r->conf, "spark.checkpoint.dir");
        int status = 0;
        pthread_mutex_lock(&r->lock);
        if (!r->checkpoint_dir && configured && *configured)
                status = checkpoint_own_directory(r, configured, &r->checkpoint_dir, error);
        else if (!r->checkpoint_dir)
                status = error_set(error, -EINVAL,
                                   "Checkpoint directory has not been set in the SparkContext: call "
                                   "fst_set_checkpoint_dir before, or set spark.checkpoint.dir");
        if (status == 0)
                *path = mem_printf("%s/rdd-%d", r->checkpoint_dir, rdd);
        pthread_mutex_unlock(&r->lock);
        return status;
}

int rdd_registry_want_checkpoint(fst_context *sc, int change)
{
        return __atomic_add_fetch(&registry_of(sc)->checkpoints_wanted, change, __ATOMIC_RELAXED);
}

const fst_conf *rdd_registry_conf(fst_context *sc)
{
        return registry_of(sc)->conf;
}

int rdd_registry_describe(fst_context *sc, const fst_fn *fn, const char **name, struct fst_error *error)
{
        const struct rdd_registry *r = registry_of(sc);
        *name = fn->name;
        if (!fn->code && FST_SHAPE_FORM(fn->shape) != FST_FORM_BUILTIN && FST_SHAPE_FORM(fn->shape) != FST_FORM_NONE)
                return error_set(error, -EINVAL, "%s is NULL instead of a function", fn->name);
        return fn->code && r->describe && !builtin_is(fn) ? r->describe(fn, name, error) : 0;
}

const char *rdd_registry_local_property(fst_context *sc, const char *key)
{
        const struct rdd_registry *r = registry_of(sc);
        return r->local_property ? r->local_property(sc, key) : NULL;
}

bool rdd_registry_cached(fst_context *sc, int rdd, int partition)
{
        const struct rdd_registry *r = registry_of(sc);
        if (r->locations.cached)
                return r->locations.cached(r->locations.owner, rdd, partition);
        return r->blocks && block_store_contains(r->blocks, (struct block_id){rdd, partition});
}

void rdd_registry_unpersist(fst_context *sc, int rdd, bool blocking)
{
        const struct rdd_registry *r = registry_of(sc);
        if (r->locations.unpersisted)
                r->locations.unpersisted(r->locations.owner, rdd, blocking);
        else if (r->blocks)
                block_store_remove_rdd(r->blocks, rdd);
}

const fst_rdd *rdd_registry_find(fst_context *sc, int id)
{
        struct rdd_registry *r = registry_of(sc);
        pthread_mutex_lock(&r->lock);
        const fst_rdd *rdd = r->rdds;
        while (rdd && rdd->lineage.id != id)
                rdd = rdd->next;
        pthread_mutex_unlock(&r->lock);
        return rdd;
}

void rdd_registry_lock(fst_context *sc)
{
        pthread_mutex_lock(&registry_of(sc)->lock);
}

void rdd_registry_unlock(fst_context *sc)
{
        pthread_mutex_unlock(&registry_of(sc)->lock);
}

/* ----------------------------------------------------------------------------------------------- persisted RDDs */

static void rdd_registry_storage_here(struct block_store *blocks, int rdd, struct fst_storage_info *storage)
{
        size_t n;
        _cleanup_free_ struct block_id *ids = block_store_list(blocks, &n);
        for (size_t i = 0; i < n; i++) {
                struct block_status status;
                if (ids[i].rdd != rdd || !block_store_status(blocks, ids[i], &status))
                        continue;
                storage->cached_partitions++;
                storage->memory_bytes += (int64_t)status.memory_bytes;
                storage->disk_bytes += (int64_t)status.disk_bytes;
        }
}

FST_API int fst_get_storage_info_at(const fst_rdd *rdd, struct fst_storage_info *info, size_t size)
{
        struct fst_storage_info storage = {.level = fst_rdd_storage_level(rdd)};
        if (!live_handle_has(HANDLE_RDD, rdd) || task_run_current() || !info)
                return -EINVAL;
        const struct rdd_registry *r = registry_of(rdd->sc);
        if (r->locations.storage_info)
                r->locations.storage_info(r->locations.owner, rdd->lineage.id, &storage);
        else if (r->blocks)
                rdd_registry_storage_here(r->blocks, rdd->lineage.id, &storage);
        public_struct_copy(info, size, &storage, sizeof(storage));
        return 0;
}

FST_API int fst_persisted_rdds(fst_context *sc, fst_rdd **rdds, size_t max)
{
        struct rdd_registry *r = registry_of(context_given(sc, rdd_site("persisted_rdds")));
        VEC(fst_rdd *) found = {0}; /* newest first; levels may change meanwhile */
        pthread_mutex_lock(&r->lock);
        for (fst_rdd *rdd = r->rdds; rdd; rdd = rdd->next)
                if (!rdd->released && fst_rdd_storage_level(rdd))
                        vec_push(&found, rdd);
        pthread_mutex_unlock(&r->lock);
        size_t n = found.len;
        for (size_t i = 0; rdds && i < MIN(n, max); i++)
                rdds[i] = found.data[n - 1 - i];
        vec_deinit(&found);
        return (int)n;
}
