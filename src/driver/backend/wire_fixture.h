/*
 * For tests of the public interface: local masters that encode and decode their stages, as for executors.
 *
 *      local_backend_set_probe(&by_wire);      before a context is made; local_backend_set_probe(NULL) at the end
 */
#pragma once

#include "base/buf.h"
#include "driver/context.h"
#include "driver/backend/local_backend.h"
#include "exec/actions/action.h"
#include "exec/slot.h"
#include "exec/task/stage_wire.h"
#include "rdd/slice.h"

#include <stdio.h>
#include <stdlib.h>

/*
 * Encodes and decodes every run's stage before a slot has it, and every result before the driver has it. One context at
 * a time.
 */
static struct {
        struct stage_context *of_driver[8]; /* by slot, while the decoded stage runs */
        int stages, slices;                 /* encoded so far; atomic */
} wire;

static inline void wire_must(int r, struct fst_error *error, const char *what)
{
        if (r == 0)
                return;
        fprintf(stderr, "%s: %s\n", what, error_message(error));
        abort();
}

static inline int same_module(void *owner, const struct stage_module *file, struct fst_error *error)
{
        *(int *)owner += file->build_id[0] && !file->has_sha256;
        return 0;
}

static inline void send_stage(fst_context *sc, struct task_batch *run)
{
        const struct stage_modules_source modules = {.same_program = true};
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT;
        struct fst_error error = FST_ERROR_INIT;
        struct stage_context *decoded;
        int found = 0;
        wire_must(stage_encode(run->work, &modules, &bytes, &error), &error, "stage_encode");
        wire_must(stage_modules(bytes.data, bytes.len, same_module, &found, &error), &error, "stage_modules");
        wire_must(found > 1 ? -EEXIST : 0, &error, "a module is listed twice");
        wire_must(stage_decode(bytes.data, bytes.len, &sc->env, &decoded, &error), &error, "stage_decode");
        memset(bytes.data, 0xa5, bytes.len); /* decoding must have copied it */
        wire.of_driver[run->slot] = run->work;
        run->work = decoded;
        wire.stages++;
}

static inline void send_results(fst_context *sc, struct task_batch *run)
{
        struct stage_context *decoded = run->work;
        run->work = wire.of_driver[run->slot];
        for (int i = 0; i < run->n && decoded->action; i++) {
                _cleanup_(buf_deinit) struct buf bytes = BUF_INIT;
                struct fst_error error = FST_ERROR_INIT;
                struct slot_task *t = &run->tasks[i];
                if (t->state != TASK_SUCCEEDED)
                        continue;
                wire_must(task_result_encode(decoded->action, &t->result, &bytes, &error), &error,
                          "task_result_encode");
                wire_must(task_result_decode(run->work->action, bytes.data, bytes.len, &t->result, &error), &error,
                          "task_result_decode");
        }
        stage_context_unref(decoded);
}

/* A slice of the data of an application's RDD, as the driver would serve it. */
static inline int fetch_slice(void *owner, struct task_run *run, int rdd, int partition, struct buf *slice)
{
        fst_context *sc = owner;
        struct fst_error error = FST_ERROR_INIT;
        const fst_rdd *at = sc->registry.rdds;
        while (at->lineage.id != rdd)
                at = at->next;
        __atomic_add_fetch(&wire.slices, 1, __ATOMIC_RELAXED);
        int r = slice_encode(at, partition, slice, &error);
        return r ? task_run_fail_with(run, r, &error) : 0;
}

/* For sc->env.slices of a context with this probe. The context is the owner. */
static const struct slice_source slices_of_driver __attribute__((unused)) = {.fetch = fetch_slice};

static const struct local_backend_probe by_wire
        __attribute__((unused)) = {.launched = send_stage, .done = send_results};
