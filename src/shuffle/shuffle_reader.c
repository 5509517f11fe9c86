/*
 * See shuffle_reader.h. An output of this process is pinned while it is read, so that its pages stay in memory. Extents
 * on disk are read page by page into memory of the task. shuffle_fetch reads the outputs of other executors, and a
 * remote_shuffle those that are outside of executors.
 */
#include "shuffle/shuffle_reader.h"

#include "base/fault_point.h"
#include "base/log.h"
#include "base/mem.h"
#include "rdd/pipeline/page_loan.h"
#include "shuffle/buckets/bucket_page.h"
#include "shuffle/remote_shuffle.h"
#include "shuffle/shuffle_fetch.h"
#include "shuffle/shuffle_store.h"
#include "shuffle/stage_outputs.h"
#include "store/spill.h"

#define LEAST_LENT 1024 /* bytes */

struct shuffle_input {
        struct task_run *run;
        const struct shuffle_reader_env *env;
        struct shuffle_inputs *inputs;
        struct stage_outputs *here; /* a reference to the stage's outputs of this process; NULL if some are copies */
        struct shuffle_output **copies;  /* references of this task to outputs of this process, if some are copies */
        struct shuffle_output **outputs; /* outputs of this process by map partition: one of the two */
        struct shuffle_fetch *fetch;     /* for outputs of other executors; NULL: not needed yet */
        struct remote_input *remote;     /* for outputs outside of executors; NULL: not needed yet */
        fst_type type;
        int partition;
        int at;                  /* the current output */
        bool fetched;            /* the current output is another executor's */
        bool outside;            /* the current output is outside of executors */
        bool pinned;             /* the current output is pinned */
        const struct page *page; /* next page in memory */
        const struct page *last; /* last page in memory */
        uint32_t extent;         /* next page on disk: index + 1 */
        struct page *loaded;     /* the last page read from disk */
        struct memory_consumer memory;
        struct codec codec; /* of the files; NONE before the first read */
        uint32_t segment;   /* of `page`, if it has segments: the next one */
        struct bucket_input *buckets; /* NULL: rows are read output by output */
};

/* Rows by bucket, from all outputs at once, which are pinned. `page` and `segment` of the input are in output `at`. */
struct bucket_input {
        uint32_t bucket, n;
        uint64_t keys[FST_BATCH_ROWS], values[FST_BATCH_ROWS];
};

void shuffle_reader_env_end(struct shuffle_reader_env *env)
{
        for (int i = 0; i < env->n_inputs; i++)
                stage_outputs_end(&env->inputs[i]);
}

void shuffle_reader_env_deinit(struct shuffle_reader_env *env)
{
        shuffle_reader_env_end(env);
        for (int i = 0; i < env->n_inputs; i++)
                free(env->inputs[i].maps);
        for (int i = 0; i < env->n_locations; i++) {
                free(env->locations[i].executor_id);
                free(env->locations[i].host);
        }
        free(env->inputs);
        free(env->locations);
        *env = (struct shuffle_reader_env){.here = -1};
}

/*
 * Copies of what this executor has stored outside are dropped when memory is needed, unless a task reads them, so that
 * tasks take references of their own.
 */
static void shuffle_reader_find_outputs(struct shuffle_input *in)
{
        const struct shuffle_reader_env *env = in->env;
        if (!env->remote) {
                in->here = stage_outputs_get(in->inputs, env->here, env->store);
                in->outputs = in->here->at;
                return;
        }
        in->outputs = in->copies = new_array(struct shuffle_output *, (size_t)in->inputs->n);
        if (env->here < 0)
                return;
        const int32_t locations[] = {env->here, SHUFFLE_REMOTE - env->locations[env->here].executor};
        for (size_t i = 0; i < ARRAY_SIZE(locations); i++)
                shuffle_store_get_all(env->store, in->inputs->shuffle_id, in->inputs->maps, in->inputs->n, locations[i],
                                      in->outputs);
}

static int reader_open(void *owner, struct task_run *run, int shuffle_id, int partition, fst_type type,
                       struct shuffle_input **input)
{
        const struct shuffle_reader_env *env = owner;
        for (int i = 0; i < env->n_inputs; i++) {
                if (env->inputs[i].shuffle_id != shuffle_id)
                        continue;
                struct shuffle_input *in = new0(struct shuffle_input);
                in->run = run;
                in->env = env;
                in->inputs = &env->inputs[i];
                shuffle_reader_find_outputs(in);
                in->partition = partition;
                in->type = type;
                in->at = -1;
                codec_init(&in->codec, env->space->shuffle_codec, env->space->level);
                memory_consumer_init(&in->memory, task_run_memory(run), "shuffle read", NULL);
                in->memory.patient = true;
                *input = in;
                return 0;
        }
        return task_run_fail(run, -EIO, "shuffle %d is not among the inputs of this stage", shuffle_id);
}

static void shuffle_reader_unpin(struct shuffle_input *in)
{
        if (in->pinned)
                shuffle_output_unpin(in->outputs[in->at]);
        in->pinned = false;
}

/* Reports a fetch failure for the current output: the scheduler computes it again. */
static int shuffle_reader_fetch_failed(struct shuffle_input *in, int status, struct fst_error *error)
{
        return shuffle_fetch_lost(in->env, in->inputs, in->run, in->at, status, error);
}

/* Moves to the next output: 1; 0 after the last one; negative after task_run_fail. */
static int next_output(struct shuffle_input *in)
{
        struct fst_error error = FST_ERROR_INIT;
        shuffle_reader_unpin(in);
        in->fetched = in->outside = false;
        in->at++;
        if (in->here)
                in->at = stage_outputs_next(in->here, in->partition, in->at);
        if (in->at >= in->inputs->n) {
                fault_point(FAULT_REDUCE);
                return 0;
        }
        int32_t location = in->inputs->maps[in->at].location;
        if (location <= SHUFFLE_REMOTE && in->env->remote && !in->outputs[in->at]) {
                in->outside = true;
                return 1;
        }
        if (location >= 0 && location != in->env->here) {
                if (!in->fetch)
                        in->fetch =
                                shuffle_fetch_new(in->env, in->inputs, in->partition, in->type, in->run, &in->memory);
                in->fetched = true;
                return 1;
        }
        struct shuffle_output *output = in->outputs[in->at];
        if (!output) {
                int r = location < 0
                                ? error_set(&error, -ENOENT, "Missing an output location for shuffle %d partition %d",
                                            in->inputs->shuffle_id, in->partition)
                                : error_set(&error, -ENOENT, "map output %d of shuffle %d is not here any more", in->at,
                                            in->inputs->shuffle_id);
                return shuffle_reader_fetch_failed(in, r, &error);
        }
        in->page = NULL;
        in->extent = 0;
        if (shuffle_output_is_empty(output, in->partition))
                return 1;
        shuffle_output_pin(output);
        in->pinned = true;
        const struct shuffle_partition *p = shuffle_output_at(output, in->partition);
        in->last = p->last;
        in->page = p->last ? p->last->next : NULL;
        in->extent = p->extents;
        in->run->counters.shuffle_local_blocks++;
        return 1;
}

static int shuffle_reader_load(struct shuffle_input *in)
{
        const struct shuffle_output *output = in->outputs[in->at];
        const struct shuffle_extent *extent = &output->extents[in->extent - 1];
        struct fst_error error = FST_ERROR_INIT;
        in->extent = extent->next;
        int r = 0;
        for (int tries = 0; tries < 2; tries++) {
                r = spill_read_page(output->file, extent->offset, extent->length, &in->codec, &in->memory, &in->loaded,
                                    &error);
                if (r != -EBADMSG)
                        break;
                log_warn("ShuffleBlockFetcherIterator", "map output %d of shuffle %d is damaged: %s", in->at,
                         in->inputs->shuffle_id, error_message(&error));
        }
        if (r == 0) {
                error_deinit(&error);
                return 0;
        }
        return shuffle_reader_fetch_failed(in, r, &error);
}

/* Makes records of the next segments of the current page, which is in memory. */
static int shuffle_reader_convert(struct shuffle_input *in)
{
        struct fst_error error = FST_ERROR_INIT;
        int r = page_new(&in->memory, in->type, 0, &in->loaded);
        if (r)
                return shuffle_reader_fetch_failed(in, r, &error);
        bucket_page_to_records(in->page, &in->segment, in->loaded);
        if (in->segment == in->page->segments) {
                in->segment = 0;
                in->page = in->page == in->last ? NULL : in->page->next;
        }
        return 0;
}

/* Gets the next page of the current remote output; *@page is NULL at its end. */
static int shuffle_reader_fetch(struct shuffle_input *in, const struct page **page)
{
        int r = shuffle_fetch_next(in->fetch, in->at, &in->loaded);
        *page = in->loaded;
        in->fetched = r == 0 && in->loaded;
        return r;
}

/* Does the same for an output outside of executors. */
static int shuffle_reader_read_remote(struct shuffle_input *in, const struct page **page)
{
        struct remote_shuffle *remote = in->env->remote;
        struct fst_error error = FST_ERROR_INIT;
        if (!in->remote)
                in->remote = remote->class->open(
                        remote, &(struct remote_read){.inputs = in->inputs,
                                                      .here = in->outputs,
                                                      .partition = in->partition,
                                                      .type = in->type,
                                                      .in_flight = in->env->limits.bytes ? in->env->limits.bytes
                                                                                         : DEFAULT_IN_FLIGHT,
                                                      .run = in->run,
                                                      .memory = &in->memory});
        int r = remote->class->next(in->remote, in->at, &in->loaded, &error);
        if (r == FST_REMOTE_E_LOST)
                return shuffle_reader_fetch_failed(in, -ENOENT, &error);
        if (r == FST_MEMORY_E_DENIED || r == -ECANCELED)
                return shuffle_reader_fetch_failed(in, r, &error);
        if (r)
                return task_run_fail_with(in->run, r, &error);
        *page = in->loaded;
        in->outside = in->loaded != NULL;
        return 0;
}

static int reader_next(struct shuffle_input *in, const struct page **page)
{
        int r = 0;
        page_free(&in->memory, steal(in->loaded));
        for (;;) {
                if (in->fetched || in->outside) {
                        r = in->outside ? shuffle_reader_read_remote(in, page) : shuffle_reader_fetch(in, page);
                        if (r || *page)
                                return r;
                } else if (in->page || in->extent) {
                        break;
                }
                r = next_output(in);
                if (r <= 0) {
                        *page = NULL;
                        return r;
                }
        }
        r = 0;
        if (in->extent) {
                r = shuffle_reader_load(in);
                *page = in->loaded;
        } else if (in->page->segments) {
                r = shuffle_reader_convert(in);
                *page = in->loaded;
        } else {
                *page = in->page;
                in->page = in->page == in->last ? NULL : in->page->next;
        }
        if (r == 0)
                in->run->counters.shuffle_local_bytes += (*page)->used;
        return r;
}

/* ---------------------------------------------------------------------------------------------------- buckets */

/* Pins the outputs before @n and returns their bucket bits if all their rows of the partition are in memory by bucket,
 * else 0. */
static uint32_t shuffle_reader_pin_buckets(struct shuffle_input *in, int *n)
{
        uint32_t bits = 0;
        for (*n = 0; *n < in->inputs->n; ++*n) {
                struct shuffle_output *o = in->outputs[*n];
                if (!o)
                        return 0;
                const bool empty = shuffle_output_is_empty(o, in->partition);
                if (!empty && (!o->bucket_bits || (bits && o->bucket_bits != bits)))
                        return 0;
                shuffle_output_pin(o);
                if (empty)
                        continue;
                bits = o->bucket_bits;
                if (o->file) {
                        shuffle_output_unpin(o);
                        return 0;
                }
        }
        return bits;
}

static void shuffle_reader_unpin_buckets(struct shuffle_input *in, int n)
{
        while (n > 0)
                shuffle_output_unpin(in->outputs[--n]);
}

static void shuffle_reader_count_output(struct shuffle_input *in, const struct shuffle_partition *p)
{
        if (!p || !p->last)
                return;
        in->run->counters.shuffle_local_blocks++;
        const struct page *page = p->last;
        do {
                page = page->next;
                in->run->counters.shuffle_local_bytes += page->used;
        } while (page != p->last);
}

static uint32_t reader_buckets(struct shuffle_input *in)
{
        int n;
        uint32_t bits = in->here ? shuffle_reader_pin_buckets(in, &n) : 0;
        if (!bits) {
                shuffle_reader_unpin_buckets(in, in->here ? n : 0);
                return 0;
        }
        for (int i = 0; i < n; i++)
                shuffle_reader_count_output(in, shuffle_output_at(in->outputs[i], in->partition));
        in->buckets = new0(struct bucket_input);
        in->buckets->n = 1u << bits;
        in->at = -1;
        return in->buckets->n;
}

/* Moves to the next page of any output; false after the last one. */
static bool shuffle_reader_next_segments(struct shuffle_input *in)
{
        in->segment = 0;
        in->page = !in->page || in->page == in->last ? NULL : in->page->next;
        while (!in->page && ++in->at < in->inputs->n) {
                const struct shuffle_partition *p = shuffle_output_at(in->outputs[in->at], in->partition);
                in->last = p ? p->last : NULL;
                in->page = in->last ? in->last->next : NULL;
        }
        return in->page;
}

static void reader_next_of(struct shuffle_input *in, uint32_t bucket, fst_batch *rows)
{
        struct bucket_input *b = in->buckets;
        uint32_t n = 0;
        if (bucket != b->bucket) {
                b->bucket = bucket;
                in->at = -1;
                in->page = NULL;
        }
        do {
                if (in->page)
                        n += bucket_page_read(in->page, bucket, &in->segment, b->keys + n, b->values + n,
                                              FST_BATCH_ROWS - n);
                if (in->page && in->segment < in->page->segments)
                        break; /* no room for a segment */
        } while (shuffle_reader_next_segments(in));
        if (n == 0 && bucket + 1 == b->n)
                fault_point(FAULT_REDUCE);
        *rows = (fst_batch){
                .rows = n, .type = in->type, .key.i64 = (int64_t *)b->keys, .value.i64 = (int64_t *)b->values};
}

/* A reference to an output, which is pinned. */
struct output_loan {
        struct page_loan loan;
        struct shuffle_output *output;
};

static void output_loan_end(struct page_loan *loan)
{
        struct output_loan *self = container_of(loan, struct output_loan, loan);
        shuffle_output_unpin(self->output);
        shuffle_output_unref(self->output);
        free(self);
}

/* A page is not lent if a copy of its rows costs less than a loan. */
static struct page_loan *reader_lend(struct shuffle_input *in, const struct page *page)
{
        if (!in->pinned || in->loaded || page->used < LEAST_LENT || !memory_may_fix_storage(in->run->memory_manager))
                return NULL;
        struct output_loan *loan = new0(struct output_loan);
        loan->loan.end = output_loan_end;
        loan->output = shuffle_output_ref(in->outputs[in->at]);
        shuffle_output_pin(loan->output);
        return &loan->loan;
}

static void reader_close(struct shuffle_input *in)
{
        page_free(&in->memory, steal(in->loaded));
        if (in->buckets)
                shuffle_reader_unpin_buckets(in, in->inputs->n);
        else if (in->at < in->inputs->n)
                shuffle_reader_unpin(in);
        free(in->buckets);
        for (int i = 0; in->copies && i < in->inputs->n; i++)
                shuffle_output_unref(in->copies[i]);
        free(in->copies);
        stage_outputs_unref(in->here);
        shuffle_fetch_free(in->fetch);
        if (in->remote)
                in->env->remote->class->close(in->remote);
        memory_consumer_deinit(&in->memory);
        codec_deinit(&in->codec);
        free(in);
}

const struct shuffle_source shuffle_reader_source = {
        .open = reader_open,
        .next = reader_next,
        .lend = reader_lend,
        .buckets = reader_buckets,
        .next_of = reader_next_of,
        .close = reader_close,
};
