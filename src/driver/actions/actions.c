/*
 * The common part of actions, and the driver's half of the small ones: count, foreach. The tasks' half is in
 * exec/actions/. See actions.h.
 */
#include "driver/actions/actions.h"

#include "base/mem.h"
#include "driver/actions/checkpoint.h"
#include "driver/actions/preliminary_jobs.h"
#include "driver/events/progress_bar.h"
#include "exec/actions/action_kinds.h"
#include "rdd/aggregate/op_reduce.h"
#include "rdd/pipeline/op_element.h"
#include "rdd/pipeline/task_run.h"
#include "structs/struct_row.h"

#include <stdio.h>

int action_check(fst_rdd *rdd, struct fst_error *error)
{
        if (task_run_current())
                return error_set(error, -EDEADLK, TASK_RUN_DRIVER_ONLY);
        if (rdd->sc->status)
                return error_set(error, rdd->sc->status, "%s", error_message(&rdd->sc->error));
        int r = rdd_plan(rdd);
        return r ? error_set(error, r, "%s", error_message(&rdd->error)) : 0;
}

int action_run_job(fst_rdd *rdd, struct action *action, const int *partitions, int n, fst_site site,
                   struct fst_error *error)
{
        int r = action_check(rdd, error);
        if (r == 0)
                r = preliminary_jobs_run(rdd, site, error);
        if (r)
                return r;
        _cleanup_free_ char *call_site = rdd_call_site(rdd->sc, site);
        struct job_request request = {
                .rdd = rdd,
                .partitions = partitions,
                .n = partitions ? n : rdd->lineage.partitions,
                .action = action,
                .call_site = call_site,
                .scope = site.operation,
        };
        if (request.n == 0)
                return 0;
        r = job_runner_run(rdd->sc->runner, &request, error);
        progress_bar_finish_all(rdd->sc->progress);
        return r;
}

int action_run(fst_rdd *rdd, struct action *action, const int *partitions, int n, fst_site site,
               struct fst_error *error)
{
        int r = action_run_job(rdd, action, partitions, n, site, error);
        return r ? r : checkpoint_after_job(rdd, site, error);
}

int action_failed(fst_rdd *rdd, fst_site site, int status, struct fst_error *error)
{
        _cleanup_free_ char *name = rdd_call_site(rdd->sc, site);
        return context_action_failed(rdd->sc, name, status, error);
}

int action_check_place(fst_rdd *rdd, const void *place, const char *what, fst_site site)
{
        struct fst_error error = FST_ERROR_INIT;
        if (place)
                return 0;
        error_set(&error, -EINVAL, "it was given NULL instead of a pointer for its %s", what);
        return action_failed(rdd, site, -EINVAL, &error);
}

/* -------------------------------------------------------------------------------------- results for variables */

struct owned_bytes {
        struct context_result owned;
        char data[];
};

static void owned_bytes_free(struct context_result *owned)
{
        free(container_of(owned, struct owned_bytes, owned));
}

fst_bytes action_keep_bytes(fst_context *sc, fst_bytes bytes)
{
        struct owned_bytes *owned = mem_alloc(sizeof(*owned) + bytes.len + 1);
        owned->owned = (struct context_result){.free = owned_bytes_free};
        if (bytes.len)
                memcpy(owned->data, bytes.data, bytes.len);
        owned->data[bytes.len] = 0;
        context_own(sc, &owned->owned);
        return (fst_bytes){owned->data, bytes.len};
}

int action_check_variable(fst_type type, fst_variable v, const char *what, struct fst_error *error)
{
        char have[64], want[64];
        fst_type seen = fst_type_seen(type);
        if (!v.to)
                return error_set(error, -EINVAL, "%s was given NULL instead of a pointer for its result", what);
        if (type.value || seen.key != v.kind)
                return error_set(error, -EINVAL, "%s gives %s, but the variable is for %s", what,
                                 fst_type_name(type, have), fst_tag_name(FST_TAG(v.kind, FST_KIND_NONE), want));
        if (seen.key == FST_KIND_FIXED && seen.key_size != v.size)
                return error_set(error, -EINVAL, "%s gives %s of %u bytes, but the variable has %zu bytes", what,
                                 type.key == FST_KIND_FIXED ? "FIXED" : fst_type_name(type, have), seen.key_size,
                                 v.size);
        return 0;
}

void action_read_struct(fst_context *sc, const struct struct_type *s, fst_bytes row, void *to)
{
        memset(to, 0, s->size);
        if (struct_row_read(s, row, to, NULL) == STRUCT_ROW_E_SPACE)
                struct_row_read(s, row, to, (char *)action_keep_bytes(sc, row).data);
}

void action_give(fst_context *sc, fst_type type, const struct reduce_value *value, fst_variable to)
{
        fst_bytes bytes = {value->data, value->size};
        const struct struct_type *s = struct_type_of_column(type.key, type.key_size);
        if (s)
                action_read_struct(sc, s, action_keep_bytes(sc, bytes), to.to);
        else if (type.key == FST_KIND_BYTES)
                *(fst_bytes *)to.to = action_keep_bytes(sc, bytes);
        else if (type.key == FST_KIND_FIXED)
                memcpy(to.to, value->data, value->size);
        else
                memcpy(to.to, &value->number, 8);
}

/* ----------------------------------------------------------------------------------------------------- count */

static int count_merge(struct action *action, int output, struct task_result *result, struct fst_error *error)
{
        container_of(action, struct count_job, action)->total += result->number;
        return 0;
}

static void count_reset(struct action *action)
{
        container_of(action, struct count_job, action)->total = 0;
}

struct count_job count_job_of(const fst_rdd *rdd)
{
        return (struct count_job){
                {.class = &count_action_class, .type = rdd->type, .merge = count_merge, .reset = count_reset}, 0};
}

FST_API int fst_count_at(fst_rdd *rdd, int64_t *count, fst_site site)
{
        rdd = rdd_given(rdd, site);
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        struct count_job job = count_job_of(rdd);
        int r = action_run(rdd, &job.action, NULL, 0, site, &error);
        if (r)
                return action_failed(rdd, site, r, &error);
        if (count)
                *count = job.total;
        return 0;
}

/* --------------------------------------------------------------------------------------------------- foreach */

int action_no_merge(struct action *action, int output, struct task_result *result, struct fst_error *error)
{
        return 0;
}

int foreach_action_init(struct foreach_action *action, fst_rdd *rdd, fst_fn f, struct fst_error *error)
{
        *action = (struct foreach_action){{.class = &foreach_action_class, .type = rdd->type, .merge = action_no_merge},
                                          f};
        int r = action_check(rdd, error);
        if (r == 0)
                r = element_check(ELEMENT_FOREACH, rdd->type, rdd->type, &f, error);
        return r ? r : rdd_registry_describe(rdd->sc, &f, &action->fn.name, error);
}

FST_API int fst_foreach_at(fst_rdd *rdd, fst_fn f, fst_site site)
{
        rdd = rdd_given(rdd, site);
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        struct foreach_action action;
        int r = foreach_action_init(&action, rdd, f, &error);
        if (r == 0)
                r = action_run(rdd, &action.action, NULL, 0, site, &error);
        return r ? action_failed(rdd, site, r, &error) : 0;
}
