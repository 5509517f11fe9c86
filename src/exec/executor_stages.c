/* See executor_stages.h. A stage that failed to load stays, so that each of its batches gets the reason. */
#include "exec/executor_stages.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "exec/blocks/broadcasts.h"
#include "exec/lost_executors.h"
#include "exec/app/module.h"
#include "exec/task/stage_wire.h"

enum received_stage_state { STAGE_LOADING, STAGE_READY, STAGE_FAILED };

struct stage_entry {
        struct stage_entry *next;
        struct executor_stages *stages;
        int id, attempt;
        struct stage_journal journal;
        enum received_stage_state state;
        bool removed; /* removed while it was loading */
        void *data;   /* freed when it is decoded */
        size_t len;
        int64_t broadcast; /* the value that has the data; 0: none */
        struct stage_context *work;
        struct fst_error error;
        int status;
        struct task_batch *waiting, **last;
        uv_work_t loading;
};

struct executor_stages {
        struct executor_stages_options options;
        struct stage_entry *entries; /* few at a time, newest first */
};

static void entry_free(struct stage_entry *e)
{
        if (e->work)
                shuffle_reader_env_end(&e->work->inputs);
        stage_context_unref(e->work);
        if (e->broadcast)
                broadcasts_remove(e->stages->options.env->broadcasts, e->broadcast);
        error_deinit(&e->error);
        free(e->data);
        free(e);
}

static struct stage_entry **executor_stages_find(struct executor_stages *s, int id, int attempt)
{
        struct stage_entry **at = &s->entries;
        while (*at && ((*at)->id != id || (*at)->attempt != attempt))
                at = &(*at)->next;
        return at;
}

static void executor_stages_decode(struct stage_entry *e)
{
        const struct executor_stages_options *o = &e->stages->options;
        if (e->status == 0)
                e->status = stage_decode(e->data, e->len, o->env, &e->work, &e->error);
        if (e->status == 0) /* for task processes */
                e->work->encoded = (struct buf){.data = (char *)steal(e->data), .len = e->len, .cap = e->len};
        free(steal(e->data));
        e->state = e->status ? STAGE_FAILED : STAGE_READY;
        if (e->status) {
                log_error("Executor", "stage %d.%d cannot be run: %s", e->id, e->attempt, error_message(&e->error));
                return;
        }
        e->work->journal_job = e->journal.job;
        e->work->journal_signature = e->journal.signature;
        struct shuffle_reader_env *inputs = &e->work->inputs;
        inputs->lost = lost_executors_has;
        inputs->lost_owner = o->lost;
        inputs->here = -1;
        for (int i = 0; i < inputs->n_locations; i++)
                if (strcmp(inputs->locations[i].executor_id, o->executor_id) == 0)
                        inputs->here = i;
}

static void hand_over_batches(struct stage_entry *e, struct task_batch *run)
{
        const struct executor_stages_options *o = &e->stages->options;
        run->work = e->work ? stage_context_ref(e->work) : NULL;
        o->ready(o->owner, run, e->work ? NULL : error_message(&e->error));
}

/* ------------------------------------------------------------------------------------------------------ loading */

static int executor_stages_load_module(void *owner, const struct stage_module *module, struct fst_error *error)
{
        const struct executor_stages_options *o = owner;
        return o->load(o->owner, module, error);
}

/* Copies the stage from the broadcast value. Blocks. */
static int executor_stages_fetch(struct stage_entry *e)
{
        struct broadcasts *values = e->stages->options.env->broadcasts;
        const void *value;
        void *hold;
        e->data = e->len && e->len <= MAX_STAGE_WIRE ? mem_try(e->len) : NULL;
        if (!e->data)
                return error_set(&e->error, -ENOMEM, "there is no memory for its %zu bytes", e->len);
        int r = broadcasts_get(values, e->broadcast, e->len, NULL, &value, &hold, &e->error);
        if (r)
                return r;
        memcpy(e->data, value, e->len);
        broadcasts_release(values, hold);
        return 0;
}

static void executor_stages_load(uv_work_t *work)
{
        struct stage_entry *e = container_of(work, struct stage_entry, loading);
        struct executor_stages_options *o = &e->stages->options;
        if (e->broadcast)
                e->status = executor_stages_fetch(e);
        o->prepare(o->owner);
        if (e->status == 0)
                e->status = stage_modules(e->data, e->len, executor_stages_load_module, o, &e->error);
}

static void executor_stages_loaded(uv_work_t *work, int status)
{
        struct stage_entry *e = container_of(work, struct stage_entry, loading);
        if (status && e->status == 0)
                e->status = error_set(&e->error, status, "the executor is ending");
        executor_stages_decode(e);
        while (e->waiting) {
                struct task_batch *run = e->waiting;
                e->waiting = run->next;
                hand_over_batches(e, run);
        }
        if (e->removed)
                entry_free(e);
}

static int is_loaded(void *owner, const struct stage_module *module, struct fst_error *error)
{
        return module_find(module->build_id) ? 0 : 1;
}

/* ----------------------------------------------------------------------------------------------------- in use */

struct executor_stages *executor_stages_new(const struct executor_stages_options *options)
{
        struct executor_stages *s = new0(struct executor_stages);
        s->options = *options;
        return s;
}

void executor_stages_add(struct executor_stages *s, int stage_id, int attempt, struct stage_journal journal,
                         const struct stage_bytes *bytes)
{
        if (*executor_stages_find(s, stage_id, attempt)) {
                free(bytes->data);
                return;
        }
        struct stage_entry *e = new0(struct stage_entry);
        e->stages = s;
        e->id = stage_id;
        e->attempt = attempt;
        e->journal = journal;
        e->data = bytes->data;
        e->broadcast = bytes->data || !s->options.env->broadcasts ? 0 : bytes->broadcast;
        e->len = bytes->data || e->broadcast ? bytes->len : 0;
        e->last = &e->waiting;
        e->next = s->entries;
        s->entries = e;
        int r = e->broadcast ? 1 : stage_modules(e->data, e->len, is_loaded, NULL, &e->error);
        if (r < 0)
                e->status = r;
        bool is_ready = r == 0 && s->options.is_prepared(s->options.owner);
        if (r < 0 || is_ready ||
            uv_queue_work(s->options.loop, &e->loading, executor_stages_load, executor_stages_loaded))
                executor_stages_decode(e);
}

void executor_stages_run(struct executor_stages *s, struct task_batch *run)
{
        const struct executor_stages_options *o = &s->options;
        struct stage_entry *e = *executor_stages_find(s, run->tasks[0].info.stage, run->tasks[0].info.stage_attempt);
        if (!e) {
                o->ready(o->owner, run, "the executor did not receive its stage");
        } else if (e->state == STAGE_LOADING) {
                run->next = NULL;
                *e->last = run;
                e->last = &run->next;
        } else {
                hand_over_batches(e, run);
        }
}

bool executor_stages_kill(struct executor_stages *s, int64_t task_id)
{
        for (struct stage_entry *e = s->entries; e; e = e->next)
                for (struct task_batch *run = e->waiting; run; run = run->next)
                        for (int i = 0; i < run->n; i++)
                                if (run->tasks[i].info.id == task_id) {
                                        run->tasks[i].killed = 1;
                                        return true;
                                }
        return false;
}

bool executor_stages_waits(const struct executor_stages *s)
{
        for (const struct stage_entry *e = s->entries; e; e = e->next)
                if (e->waiting)
                        return true;
        return false;
}

void executor_stages_remove(struct executor_stages *s, int stage_id, int attempt)
{
        struct stage_entry **at = executor_stages_find(s, stage_id, attempt), *e = *at;
        if (!e)
                return;
        *at = e->next;
        if (e->state == STAGE_LOADING)
                e->removed = true;
        else
                entry_free(e);
}

void executor_stages_clear(struct executor_stages *s)
{
        while (s->entries)
                executor_stages_remove(s, s->entries->id, s->entries->attempt);
}

void executor_stages_free(struct executor_stages *s)
{
        if (!s)
                return;
        while (s->entries) {
                struct stage_entry *e = s->entries;
                s->entries = e->next;
                entry_free(e);
        }
        free(s);
}
