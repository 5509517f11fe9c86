/* See history.h. Numbers are indexes: a job's record comes before the records that name the job. */
#include "driver/resume/history.h"

#include "base/error.h"
#include "base/mem.h"
#include "journal/fields.h"
#include "shuffle/remote_shuffle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void history_init(struct history *h)
{
        *h = (struct history){.last_task_id = -1, .ordered = true};
}

static void past_job_free(struct past_job *job)
{
        if (!job)
                return;
        vec_deinit(&job->results);
        vec_deinit(&job->maps);
        vec_deinit(&job->commits);
        free(job->done);
        free(job->call_site);
        free(job);
}

static void past_output_free(struct past_output *output)
{
        if (!output)
                return;
        free(output->path);
        free(output->tracker);
        free(output);
}

/* Removes an abandoned output at this path, if no save has taken it: another one replaces it. */
static void history_forget_abandoned(struct history *h, const char *path)
{
        size_t n = 0;
        for (size_t i = 0; i < h->abandoned.len; i++) {
                struct past_output *output = h->abandoned.data[i];
                if (!output->taken && strcmp(output->path, path) == 0)
                        past_output_free(output);
                else
                        h->abandoned.data[n++] = output;
        }
        h->abandoned.len = n;
}

/* The output is void. Its directory stays known if the application has made it. */
static void history_abandon_output(struct history *h, struct past_output *output)
{
        if (!output || !output->made) {
                past_output_free(output);
                return;
        }
        history_forget_abandoned(h, output->path);
        output->abandoned = true;
        vec_push(&h->abandoned, output);
}

/* Removes the jobs and outputs from these numbers on. */
static void history_cut(struct history *h, uint64_t jobs, uint64_t outputs)
{
        while (h->jobs.len > jobs)
                past_job_free(h->jobs.data[--h->jobs.len]);
        for (size_t i = outputs; i < h->outputs.len; i++)
                history_abandon_output(h, h->outputs.data[i]);
        h->outputs.len = MIN(h->outputs.len, outputs);
}

static void earlier_executor_deinit(struct earlier_executor *x)
{
        free((char *)x->id);
        free((char *)x->host);
        free((char *)x->container);
}

void history_deinit(struct history *h)
{
        history_cut(h, 0, 0);
        for (size_t i = 0; i < h->abandoned.len; i++)
                past_output_free(h->abandoned.data[i]);
        vec_deinit(&h->jobs);
        vec_deinit(&h->outputs);
        vec_deinit(&h->abandoned);
        vec_deinit(&h->maps);
        for (size_t i = 0; i < h->executors.len; i++)
                earlier_executor_deinit(&h->executors.data[i]);
        vec_deinit(&h->executors);
        object_table_deinit(&h->executor_places);
        vec_deinit(&h->remote);
        free(h->store);
        resume_application_deinit(&h->application);
}

static int past_map_output_by_place(const void *x, const void *y)
{
        const struct past_map_output *a = x, *b = y;
        if (a->shuffle != b->shuffle)
                return a->shuffle < b->shuffle ? -1 : 1;
        if (a->partition != b->partition)
                return a->partition < b->partition ? -1 : 1;
        return (a->record > b->record) - (a->record < b->record);
}

static int past_map_output_by_job(const void *x, const void *y)
{
        const struct past_map_output *a = x, *b = y;
        if (a->job != b->job)
                return a->job < b->job ? -1 : 1;
        return past_map_output_by_place(x, y);
}

/* Keeps the last output of each map partition, if neither it was lost after that nor its shuffle removed. */
static void history_sort_maps(struct history *h)
{
        struct past_map_output *at = h->maps.data;
        size_t n = 0, count = h->maps.len;
        int removed = -1;          /* a shuffle; its removals come first */
        size_t removed_record = 0; /* the last of them */
        h->maps_sorted = true;
        if (!count)
                return;
        qsort(at, count, sizeof(*at), past_map_output_by_place);
        for (size_t i = 0, end; i < count; i = end) {
                struct past_map_output last = {.lost = true};
                for (end = i; end < count && at[end].shuffle == at[i].shuffle && at[end].partition == at[i].partition;
                     end++)
                        if (!at[end].lost)
                                last = at[end];
                        else if (at[end].task_id == last.task_id)
                                last.lost = true;
                if (at[i].partition < 0) {
                        removed = at[i].shuffle;
                        removed_record = at[end - 1].record;
                } else if (!last.lost && (last.shuffle != removed || last.record > removed_record)) {
                        at[n++] = last;
                }
        }
        h->maps.len = n;
        qsort(at, n, sizeof(*at), past_map_output_by_job);
}

/* ------------------------------------------------------------------------------------------------------ records */

static struct past_job *history_job_at(struct history *h, struct field_reader *f)
{
        uint64_t number = fields_take_number(f);
        return !f->bad && number < h->jobs.len ? h->jobs.data[number] : NULL;
}

static int history_add_application(struct history *h, const void *content, size_t size)
{
        struct resume_application app;
        int r = resume_application_read(content, size, &app);
        if (r)
                return r;
        if (h->application.id) { /* the first driver's counts */
                resume_application_deinit(&app);
                return 0;
        }
        h->application = app;
        return 0;
}

static int history_add_void(struct history *h, struct field_reader *f)
{
        uint64_t jobs = fields_take_number(f), outputs = fields_take_number(f);
        if (!fields_are_complete(f) || jobs > h->jobs.len || outputs > h->outputs.len)
                return -EBADMSG;
        history_cut(h, jobs, outputs);
        h->ordered = true;
        for (size_t i = 0; i < h->jobs.len; i++)
                h->ordered = h->ordered && h->jobs.data[i]->alone;
        size_t n = 0;
        history_sort_maps(h); /* an output that was replaced does not come back */
        h->maps_sorted = false;
        for (size_t i = 0; i < h->maps.len; i++)
                if (h->maps.data[i].job < jobs)
                        h->maps.data[n++] = h->maps.data[i];
        h->maps.len = n;
        if (!jobs) /* nothing of earlier drivers counts */
                h->remote.len = 0;
        return 0;
}

static int history_add_job(struct history *h, const void *content, size_t size)
{
        struct resume_job_record record;
        int r = resume_job_read(content, size, &record);
        if (r || record.job != h->jobs.len)
                return -EBADMSG;
        struct past_job *job = new0(struct past_job);
        *job = (struct past_job){.signature = record.signature,
                                 .outputs = record.outputs,
                                 .alone = record.alone,
                                 .call_site = mem_strndup(record.call_site.data, record.call_site.len)};
        h->ordered = h->ordered && record.alone;
        vec_push(&h->jobs, job);
        return 0;
}

static bool past_job_make_done(struct past_job *job)
{
        if (!job->done && job->outputs) {
                job->done = calloc(job->outputs, 1); /* an untrusted size: touches no page before a result does */
        }
        return job->done;
}

static bool past_bytes_equal(fst_bytes a, fst_bytes b)
{
        return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

/* Adds results of the outputs from @output on that have none, in this order. They are marked before. */
static void past_job_push_result(struct past_job *job, uint32_t output, fst_bytes result, fst_bytes updates)
{
        struct past_result *last = job->results.len ? &job->results.data[job->results.len - 1] : NULL;
        job->done[output] = 1;
        if (last && last->output + last->count == output && past_bytes_equal(last->result, result) &&
            past_bytes_equal(last->updates, updates))
                last->count++;
        else
                vec_push(&job->results,
                         (struct past_result){.output = output, .count = 1, .result = result, .updates = updates});
}

static int history_add_result_range(struct history *h, struct field_reader *f)
{
        struct past_job *job = history_job_at(h, f);
        uint64_t output = fields_take_number(f), count = fields_take_number(f);
        fst_bytes result = fields_take_bytes(f), updates = fields_take_bytes(f);
        if (!job || !fields_are_complete(f) || output >= job->outputs || count > job->outputs - output ||
            !past_job_make_done(job))
                return -EBADMSG;
        for (uint64_t i = output; i < output + count; i++)
                if (!job->done[i])
                        past_job_push_result(job, (uint32_t)i, result, updates);
        return 0;
}

static int history_add_results(struct history *h, struct field_reader *f)
{
        struct past_job *job = history_job_at(h, f);
        if (!job)
                return -EBADMSG;
        while (f->at < f->end) {
                uint64_t output = fields_take_number(f);
                fst_bytes result = fields_take_bytes(f), updates = fields_take_bytes(f);
                if (f->bad || output >= job->outputs || !past_job_make_done(job))
                        return -EBADMSG;
                if (!job->done[output])
                        past_job_push_result(job, (uint32_t)output, result, updates);
        }
        return f->bad ? -EBADMSG : 0;
}

void past_job_add_result(struct past_job *job, uint32_t output, fst_bytes result)
{
        if (output < job->outputs && past_job_make_done(job) && !job->done[output])
                past_job_push_result(job, output, result, (fst_bytes){"", 0});
}

static int history_add_commit(struct history *h, struct field_reader *f)
{
        struct past_job *job = history_job_at(h, f);
        uint64_t output = fields_take_number(f);
        struct past_commit commit = {.output = (uint32_t)output,
                                     .task_id = (int64_t)fields_take_limited(f, MAX_RESUME_NUMBER),
                                     .updates = fields_take_limited(f, 1)};
        if (!job || !fields_are_complete(f) || output >= job->outputs)
                return -EBADMSG;
        commit.again = job->done && job->done[output];
        vec_push(&job->commits, commit);
        return 0;
}

void past_job_prune_commits(struct past_job *job)
{
        if (!job->commits.len || !job->done)
                return;
        _cleanup_free_ uint8_t *several = mem_zero(MAX(job->outputs, 1u));
        size_t n = 0;
        for (size_t i = 0; i < job->commits.len; i++) {
                const struct past_commit *c = &job->commits.data[i];
                if (!c->reset && !c->again)
                        several[c->output] = (uint8_t)MIN(several[c->output] + 1, 2);
        }
        for (size_t i = 0; i < job->commits.len; i++) {
                const struct past_commit *c = &job->commits.data[i];
                if (c->reset || c->again || !job->done[c->output] || several[c->output] > 1)
                        job->commits.data[n++] = *c;
        }
        job->commits.len = n;
}

static int history_add_map_updates(struct history *h, struct field_reader *f)
{
        struct past_job *job = history_job_at(h, f);
        struct past_map_updates updates = {.shuffle = (int)fields_take_limited(f, INT32_MAX),
                                           .partition = (int)fields_take_limited(f, INT32_MAX),
                                           .updates = fields_take_bytes(f)};
        if (!job || !fields_are_complete(f))
                return -EBADMSG;
        vec_push(&job->maps, updates);
        return 0;
}

static int history_add_reset(struct history *h, struct field_reader *f)
{
        struct past_job *job = history_job_at(h, f);
        if (!job || !fields_are_complete(f))
                return -EBADMSG;
        past_job_prune_commits(job);
        job->results.len = 0;
        free(steal(job->done));
        for (size_t i = 0; i < job->commits.len; i++)
                job->commits.data[i].reset = true;
        return 0;
}

static int history_add_job_ended(struct history *h, struct field_reader *f)
{
        struct past_job *job = history_job_at(h, f);
        fields_take_limited(f, 1);
        return job && fields_are_complete(f) ? 0 : -EBADMSG;
}

static int history_add_output(struct history *h, struct field_reader *f)
{
        uint64_t number = fields_take_number(f);
        struct past_output output = {.path = fields_take_text(f), .tracker = fields_take_text(f)};
        output.made = fields_take_limited(f, 1);
        if (!fields_are_complete(f) || number > h->outputs.len) {
                free(output.path);
                free(output.tracker);
                return -EBADMSG;
        }
        if (number == h->outputs.len)
                vec_push(&h->outputs, new0(struct past_output));
        struct past_output *to = h->outputs.data[number];
        free(to->path);
        free(to->tracker);
        *to = output;
        history_forget_abandoned(h, to->path);
        return 0;
}

static int history_add_output_state(struct history *h, struct field_reader *f)
{
        uint64_t number = fields_take_number(f), state = fields_take_limited(f, RESUME_OUTPUT_ABORTED);
        if (!fields_are_complete(f) || number >= h->outputs.len)
                return -EBADMSG;
        h->outputs.data[number]->state = (enum resume_output_state)state;
        return 0;
}

static int history_add_tasks(struct history *h, struct field_reader *f)
{
        int64_t last = (int64_t)fields_take_limited(f, MAX_RESUME_NUMBER);
        if (!fields_are_complete(f))
                return -EBADMSG;
        h->last_task_id = MAX(h->last_task_id, last);
        return 0;
}

static int history_add_store(struct history *h, struct field_reader *f)
{
        char *store = fields_take_text(f);
        if (!fields_are_complete(f)) {
                free(store);
                return -EBADMSG;
        }
        free(h->store);
        h->store = store;
        return 0;
}

static int history_add_map_outputs(struct history *h, struct field_reader *f)
{
        const size_t before = h->maps.len;
        struct past_map_output output = {.job = fields_take_number(f),
                                         .shuffle = (int)fields_take_limited(f, INT32_MAX),
                                         .writer = (int32_t)fields_take_limited(f, REMOTE_WRITERS - 1)};
        if (f->bad || output.job >= h->jobs.len || !h->jobs.data[output.job])
                return -EBADMSG;
        while (f->at < f->end) {
                output.partition = (int)fields_take_limited(f, INT32_MAX);
                output.task_id = (int64_t)fields_take_limited(f, MAX_RESUME_NUMBER - 2);
                output.place = (uint32_t)fields_take_limited(f, REMOTE_PLACES - 1);
                if (f->bad) {
                        h->maps.len = before;
                        return -EBADMSG;
                }
                output.record = h->map_records++;
                vec_push(&h->maps, output);
        }
        return 0;
}

static int history_add_map_lost(struct history *h, struct field_reader *f)
{
        struct past_map_output lost = {.shuffle = (int)fields_take_limited(f, INT32_MAX),
                                       .partition = (int)fields_take_limited(f, INT32_MAX),
                                       .task_id = (int64_t)fields_take_limited(f, MAX_RESUME_NUMBER),
                                       .lost = true,
                                       .record = h->map_records};
        if (!fields_are_complete(f))
                return -EBADMSG;
        h->map_records++;
        vec_push(&h->maps, lost);
        return 0;
}

struct executor_place_key {
        const struct history *history;
        const char *id;
};

static bool executor_place_has_id(const void *place, const void *key)
{
        const struct executor_place_key *k = key;
        return strcmp(k->history->executors.data[(uintptr_t)place - 1].id, k->id) == 0;
}

static void history_put_executor(struct history *h, struct earlier_executor x)
{
        vec_push(&h->executors, x);
        object_table_put(&h->executor_places, object_hash_text(x.id), (void *)(uintptr_t)h->executors.len);
}

/* Removes the executor with this id, if it is there. The last one takes its place. */
static void history_drop_executor(struct history *h, const char *id)
{
        const struct executor_place_key key = {h, id};
        void *place = object_table_find(&h->executor_places, object_hash_text(id), executor_place_has_id, &key);
        if (!place)
                return;
        object_table_remove(&h->executor_places, object_hash_text(id), place);
        struct earlier_executor *x = &h->executors.data[(uintptr_t)place - 1];
        earlier_executor_deinit(x);
        void *last = (void *)(uintptr_t)h->executors.len;
        *x = h->executors.data[--h->executors.len];
        if (place == last)
                return;
        object_table_remove(&h->executor_places, object_hash_text(x->id), last);
        object_table_put(&h->executor_places, object_hash_text(x->id), place);
}

static int history_add_executor(struct history *h, struct field_reader *f)
{
        struct earlier_executor x = {.id = fields_take_text(f), .host = fields_take_text(f)};
        int used = 0;
        x.cores = (int)fields_take_limited(f, INT32_MAX);
        x.profile = (int)fields_take_limited(f, INT32_MAX);
        x.pid = (int64_t)fields_take_limited(f, INT32_MAX);
        x.started = fields_take_number(f);
        x.container = f->at < f->end ? fields_take_text(f) : mem_strdup(""); /* version 3 has none */
        if (!fields_are_complete(f) || x.cores < 1 || !*x.id) {
                earlier_executor_deinit(&x);
                return -EBADMSG;
        }
        int number;
        if (sscanf(x.id, "%9d%n", &number, &used) == 1 && !x.id[used] && number >= 0)
                h->next_executor_id = MAX(h->next_executor_id, number + 1);
        history_drop_executor(h, x.id);
        history_put_executor(h, x);
        return 0;
}

static int history_add_executor_ids(struct history *h, struct field_reader *f)
{
        const int next = (int)fields_take_limited(f, MAX_EXECUTOR_ID + 1);
        if (!fields_are_complete(f))
                return -EBADMSG;
        h->next_executor_id = MAX(h->next_executor_id, next);
        return 0;
}

static int history_add_executor_lost(struct history *h, struct field_reader *f)
{
        _cleanup_free_ char *id = fields_take_text(f);
        if (!fields_are_complete(f))
                return -EBADMSG;
        history_drop_executor(h, id);
        return 0;
}

static int history_add_shuffle_removed(struct history *h, struct field_reader *f)
{
        struct past_map_output removal = {.shuffle = (int)fields_take_limited(f, INT32_MAX),
                                          .partition = -1,
                                          .lost = true,
                                          .record = h->map_records};
        if (!fields_are_complete(f))
                return -EBADMSG;
        h->map_records++;
        vec_push(&h->maps, removal);
        return 0;
}

int history_add(struct history *h, uint8_t kind, const void *content, size_t size)
{
        struct field_reader f = fields_of(content, size);
        switch (kind) {
        case RESUME_APPLICATION:
                return history_add_application(h, content, size);
        case RESUME_EARLIER:
                return 0; /* the reader of the files has used it */
        case RESUME_VOID:
                return history_add_void(h, &f);
        case RESUME_JOB:
                return history_add_job(h, content, size);
        case RESUME_RESULTS:
                return history_add_results(h, &f);
        case RESUME_MAP_UPDATES:
                return history_add_map_updates(h, &f);
        case RESUME_RESET:
                return history_add_reset(h, &f);
        case RESUME_JOB_ENDED:
                return history_add_job_ended(h, &f);
        case RESUME_OUTPUT:
                return history_add_output(h, &f);
        case RESUME_OUTPUT_STATE:
                return history_add_output_state(h, &f);
        case RESUME_TASKS:
                return history_add_tasks(h, &f);
        case RESUME_STORE:
                return history_add_store(h, &f);
        case RESUME_MAP_OUTPUTS:
                return history_add_map_outputs(h, &f);
        case RESUME_MAP_LOST:
                return history_add_map_lost(h, &f);
        case RESUME_FOLD:
                return fields_take_limited(&f, RESUME_RECORDS_VERSION) && fields_are_complete(&f) ? 0 : -EBADMSG;
        case RESUME_RESULT_RANGE:
                return history_add_result_range(h, &f);
        case RESUME_SHUFFLE_REMOVED:
                return history_add_shuffle_removed(h, &f);
        case RESUME_COMMIT:
                return history_add_commit(h, &f);
        case RESUME_EXECUTOR:
                return history_add_executor(h, &f);
        case RESUME_EXECUTOR_LOST:
                return history_add_executor_lost(h, &f);
        case RESUME_EXECUTOR_IDS:
                return history_add_executor_ids(h, &f);
        case RESUME_REMOTE:
                vec_push(&h->remote, ((fst_bytes){content, size}));
                return 0;
        default:
                return -EBADMSG;
        }
}

/* ------------------------------------------------------------------------------------------------------- answers */

static bool past_job_is(const struct past_job *past, const struct resume_job_record *job)
{
        return past && !past->taken && past->outputs == job->outputs &&
               resume_signature_equal(&past->signature, &job->signature);
}

/* The number of the untaken job that @job continues, or the number of jobs. */
static uint64_t history_find_job(const struct history *h, const struct resume_job_record *job)
{
        uint64_t i = h->next_job;
        if (h->ordered && job->alone)
                return i < h->jobs.len && past_job_is(h->jobs.data[i], job) ? i : h->jobs.len;
        while (i < h->jobs.len && !past_job_is(h->jobs.data[i], job))
                i++;
        return i;
}

static void history_explain(const struct past_job *past, const struct resume_job_record *job, uint64_t number,
                            struct buf *why)
{
        if (strlen(past->call_site) != job->call_site.len ||
            memcmp(past->call_site, job->call_site.data, job->call_site.len) != 0)
                buf_printf(why, "job %" PRIu64 " was \"%s\" and is now \"%.*s\"", number, past->call_site,
                           (int)job->call_site.len, job->call_site.data);
        else if (past->signature.modules != job->signature.modules)
                buf_printf(why, "job %" PRIu64 " (%s) has functions of another build of the application", number,
                           past->call_site);
        else if (past->signature.inputs != job->signature.inputs)
                buf_printf(why, "the input files of job %" PRIu64 " (%s) have changed", number, past->call_site);
        else
                buf_printf(why, "the operators, captured values or settings of job %" PRIu64 " (%s) have changed",
                           number, past->call_site);
}

static void history_skip_taken(struct history *h)
{
        while (h->next_job < h->jobs.len && (!h->jobs.data[h->next_job] || h->jobs.data[h->next_job]->taken))
                h->next_job++;
        while (h->next_output < h->outputs.len &&
               (!h->outputs.data[h->next_output] || h->outputs.data[h->next_output]->taken))
                h->next_output++;
}

enum history_answer history_take_job(struct history *h, struct resume_job_record *job, struct past_job **past,
                                     struct buf *why)
{
        h->ordered = h->ordered && job->alone;
        uint64_t number = history_find_job(h, job);
        if (number < h->jobs.len) {
                *past = h->jobs.data[number];
                (*past)->taken = true;
                job->job = number;
                history_skip_taken(h);
                return HISTORY_TAKEN;
        }
        bool differs = h->ordered && h->next_job < h->jobs.len;
        if (differs) {
                history_explain(h->jobs.data[h->next_job], job, h->next_job, why);
                history_cut(h, h->next_job, h->next_output);
        }
        job->job = h->jobs.len;
        vec_push(&h->jobs, NULL);
        history_skip_taken(h);
        return differs ? HISTORY_DIFFERS : HISTORY_NEW;
}

const struct past_map_output *history_map_outputs(struct history *h, uint64_t job, size_t *n)
{
        if (!h->maps_sorted)
                history_sort_maps(h);
        size_t first = vec_place(&h->maps, job, job), end = vec_place(&h->maps, job, job + 1);
        *n = end - first;
        return h->maps.data + first;
}

struct past_job *history_find(const struct history *h, struct resume_job_record *job)
{
        job->job = history_find_job(h, job);
        return job->job < h->jobs.len ? h->jobs.data[job->job] : NULL;
}

bool history_jobs_taken(const struct history *h)
{
        return h->next_job >= h->jobs.len;
}

/* The untaken output at @path from this index of @outputs on, or the number of outputs. */
static uint64_t history_find_output(struct past_output *const *outputs, size_t n, uint64_t i, const char *path)
{
        while (i < n && (!outputs[i] || outputs[i]->taken || strcmp(outputs[i]->path, path) != 0))
                i++;
        return i;
}

/* Takes the directory of an output that is void, or that comes after one to which main has not come again. */
static struct past_output *history_take_abandoned(struct history *h, const char *path)
{
        uint64_t i = history_find_output(h->outputs.data, h->outputs.len, h->next_output, path);
        if (i < h->outputs.len)
                history_abandon_output(h, steal(h->outputs.data[i]));
        i = history_find_output(h->abandoned.data, h->abandoned.len, 0, path);
        if (i == h->abandoned.len)
                return NULL;
        h->abandoned.data[i]->taken = true;
        return h->abandoned.data[i];
}

struct past_output *history_take_output(struct history *h, const char *path, uint64_t *number)
{
        uint64_t i = history_find_output(h->outputs.data, h->outputs.len, h->next_output, path);
        if (i == h->outputs.len || (h->ordered && i != h->next_output))
                return history_take_abandoned(h, path);
        *number = i;
        h->outputs.data[i]->taken = true;
        history_skip_taken(h);
        return h->outputs.data[i];
}

uint64_t history_number_output(struct history *h, bool *differs)
{
        *differs = h->ordered && h->next_output < h->outputs.len;
        if (*differs)
                history_cut(h, h->jobs.len, h->next_output);
        vec_push(&h->outputs, NULL);
        history_skip_taken(h);
        return h->outputs.len - 1;
}

void history_count(const struct history *h, uint64_t *jobs, uint64_t *results)
{
        *jobs = *results = 0;
        for (size_t i = 0; i < h->jobs.len; i++) {
                *jobs += h->jobs.data[i] != NULL;
                for (size_t j = 0; h->jobs.data[i] && j < h->jobs.data[i]->results.len; j++)
                        *results += h->jobs.data[i]->results.data[j].count;
        }
}
