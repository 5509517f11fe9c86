/* See cleaner.h. */
#include "driver/cleaner.h"
#include "driver/context_handles.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "driver/job_runner.h"
#include "io/fs/file_systems.h"
#include "rdd/rdd_checkpoint.h"
#include "rdd/rdd_build.h"
#include "rdd/rdd_registry.h"

/* ------------------------------------------------------------------------------------------------------ releasing */

static bool cleaner_is_enabled(const fst_context *sc, const char *key)
{
        struct fst_error ignored = FST_ERROR_INIT;
        bool on = false;
        if (conf_get_bool(sc->conf, key, &on, &ignored))
                error_deinit(&ignored);
        return on;
}

/* RDDs were released or unpinned: make the next context_leave clean. */
static void cleaner_request(fst_context *sc)
{
        pthread_mutex_lock(&sc->lock);
        sc->clean = true;
        pthread_mutex_unlock(&sc->lock);
}

static void cleaner_release(fst_rdd *rdd)
{
        rdd_registry_lock(rdd->sc);
        rdd->released = true;
        rdd_registry_unlock(rdd->sc);
        cleaner_request(rdd->sc);
}

FST_API void fst_release(fst_rdd *rdd)
{
        if (!rdd || rdd_missing(rdd, "release"))
                return;
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        cleaner_release(rdd);
}

void cleaner_pin(fst_rdd *rdd)
{
        __atomic_add_fetch(&rdd->pins, 1, __ATOMIC_RELAXED);
}

void cleaner_unpin(fst_rdd *rdd)
{
        if (__atomic_sub_fetch(&rdd->pins, 1, __ATOMIC_ACQ_REL) == 0)
                cleaner_request(rdd->sc);
}

void cleaner_drop(fst_rdd *rdd, int first)
{
        if (rdd->lineage.id >= first)
                cleaner_release(rdd_release_intermediates(rdd, first));
}

FST_API int fst_scope_begin(fst_context *sc)
{
        sc = context_given(sc, rdd_site("scope_begin"));
        rdd_registry_lock(sc);
        int first = sc->registry.next_rdd_id;
        rdd_registry_unlock(sc);
        return first;
}

FST_API void fst_scope_end(fst_context *sc, int scope, const fst_rdd *keep)
{
        sc = context_given(sc, rdd_site("scope_end"));
        _cleanup_(context_leave) fst_context *in = context_enter(sc);
        rdd_registry_lock(sc);
        for (fst_rdd *rdd = sc->registry.rdds; rdd && rdd->lineage.id >= scope; rdd = rdd->next)
                if (rdd != keep)
                        rdd->released = true;
        rdd_registry_unlock(sc);
        cleaner_request(sc);
}

/* ------------------------------------------------------------------------------------------------------- cleaning */

typedef VEC(fst_rdd *) rdd_list;

static void cleaner_push_needed(rdd_list *stack, fst_rdd *rdd)
{
        if (rdd->needed)
                return;
        rdd->needed = true;
        vec_push(stack, rdd);
}

/* Mark the RDDs that are needed. Under the lock. */
static void cleaner_mark_needed(fst_context *sc)
{
        rdd_list stack = {0};
        for (fst_rdd *rdd = sc->registry.rdds; rdd; rdd = rdd->next)
                rdd->needed = false;
        for (fst_rdd *rdd = sc->registry.rdds; rdd; rdd = rdd->next)
                if (!rdd->released || __atomic_load_n(&rdd->pins, __ATOMIC_ACQUIRE) > 0)
                        cleaner_push_needed(&stack, rdd);
        while (stack.len > 0) {
                fst_rdd *rdd = stack.data[--stack.len];
                fst_rdd *source = __atomic_load_n(&rdd->checkpoint.source, __ATOMIC_ACQUIRE);
                for (int i = 0; !source && i < rdd->n_parents; i++)
                        cleaner_push_needed(&stack, rdd->parents[i]);
                if (source)
                        cleaner_push_needed(&stack, source);
        }
        vec_deinit(&stack);
}

static void cleaner_remove_checkpoint(const fst_rdd *rdd)
{
        struct fst_error error = FST_ERROR_INIT;
        const struct file_system *fs;
        int r = file_system_of(rdd->checkpoint.path, &fs, &error);
        if (r == 0)
                r = fs->remove(fs, rdd->checkpoint.path, &error);
        if (r)
                log_warn("ContextCleaner", "a checkpoint is not removed: %s", error_message(&error));
        error_deinit(&error);
}

/* Should the RDD be computed again, its small side is collected again. */
static void cleaner_drop_broadcast(fst_context *sc, fst_rdd *rdd)
{
        int64_t id = rdd->broadcast_join.small.variable;
        __atomic_store_n(&rdd->broadcast_join.ready, false, __ATOMIC_RELEASE);
        rdd->broadcast_join.small.variable = 0;
        fst_broadcast_destroy(sc, (fst_broadcast){id, rdd->broadcast_join.small.size});
}

static void cleaner_clean(fst_context *sc, fst_rdd *const *rdds, size_t n)
{
        bool blocking = cleaner_is_enabled(sc, "spark.cleaner.referenceTracking.blocking");
        bool checkpoints = cleaner_is_enabled(sc, "spark.cleaner.referenceTracking.cleanCheckpoints");
        int *shuffles = new_array(int, n);
        int n_shuffles = 0;
        for (size_t i = 0; i < n; i++) {
                fst_rdd *rdd = rdds[i];
                if (__atomic_load_n(&rdd->lineage.storage_level, __ATOMIC_RELAXED) != FST_STORAGE_NONE)
                        rdd_registry_unpersist(sc, rdd->lineage.id, blocking);
                if (rdd->op == RDD_SHUFFLED)
                        shuffles[n_shuffles++] = rdd->shuffle.id;
                if (rdd->op == RDD_BROADCAST_JOIN && rdd->broadcast_join.small.variable)
                        cleaner_drop_broadcast(sc, rdd);
                if (checkpoints && rdd_is_checkpointed(rdd) && !rdd->checkpoint.local)
                        cleaner_remove_checkpoint(rdd);
        }
        if (n_shuffles > 0)
                job_runner_remove_shuffles(sc->runner, shuffles, n_shuffles);
        free(shuffles);
}

static bool cleaner_may_clean(fst_context *sc)
{
        pthread_mutex_lock(&sc->lock);
        bool may = sc->clean && sc->acting == 1 && sc->runner;
        if (may)
                sc->clean = false;
        pthread_mutex_unlock(&sc->lock);
        return may;
}

void cleaner_run(fst_context *sc)
{
        rdd_list gone = {0};
        if (!cleaner_may_clean(sc) || !cleaner_is_enabled(sc, "spark.cleaner.referenceTracking"))
                return;
        rdd_registry_lock(sc);
        cleaner_mark_needed(sc);
        for (fst_rdd **at = &sc->registry.rdds, *rdd; (rdd = *at);) {
                if (rdd->needed) {
                        at = &rdd->next;
                        continue;
                }
                live_handle_remove(HANDLE_RDD, rdd);
                vec_push(&gone, rdd);
                *at = rdd->next;
                rdd->next = sc->registry.cleaned;
                sc->registry.cleaned = rdd;
        }
        rdd_registry_unlock(sc);
        cleaner_clean(sc, gone.data, gone.len);
        vec_deinit(&gone);
}
