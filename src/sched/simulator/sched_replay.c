/*
 * The new scheduler writes a trace too, which is compared line by line with the old one, for all kinds of records
 * alike. Two cursors go through the old trace: `parsed`, after the last line passed to the scheduler, and `compared`,
 * after the last line that was repeated. After each call they are equal. When the scheduler queries its owner, the line
 * at `compared` is the answer: yes if it records one.
 *
 * The trace is not trusted. This file checks everything that the scheduler assumes of its driver: ids in range,
 * existing parents, one writer for a shuffle, times that do not run backwards.
 */
#include "sched/simulator/sched_replay_internal.h"

#include "sched/sched_recorder.h"

#include <stdio.h>

/* ----------------------------------------------------------------------------------------- events, a line each */

static int64_t take_time(struct replay *r, struct trace_words *w)
{
        r->now = trace_take_number(w, r->now, MAX_TIME);
        return r->now;
}

static int take_int(struct trace_words *w, int low, int high)
{
        return (int)trace_take_number(w, low, high);
}

static enum scheduling_mode take_mode(struct trace_words *w)
{
        char word[8];

        trace_take_word(w, word, sizeof(word));
        w->bad |= strcmp(word, "FIFO") != 0 && strcmp(word, "FAIR") != 0;
        return strcmp(word, "FAIR") == 0 ? SCHEDULING_FAIR : SCHEDULING_FIFO;
}

static double take_fraction(struct trace_words *w)
{
        char word[40], *stop;

        trace_take_word(w, word, sizeof(word));
        double value = strtod(word, &stop);

        if (*stop || stop == word || !(value >= 0 && value <= 1e9)) {
                w->bad = true;
                return 0;
        }
        return value;
}

static void sched_replay_take_setting(struct replay *r, struct trace_words *w)
{
        char key[64];

        trace_take_word(w, key, sizeof(key));
        if (strcmp(key, "mode") == 0) {
                r->config.mode = take_mode(w);
                return;
        }
#define SETTING(name)                                                                                                  \
        if (strcmp(key, #name) == 0) {                                                                                 \
                r->config.name =                                                                                       \
                        (__typeof__(r->config.name))trace_take_number(w, 0,                                            \
                                                                      sizeof(r->config.name) == 8   ? MAX_TIME         \
                                                                      : sizeof(r->config.name) == 4 ? INT32_MAX        \
                                                                                                    : 1);              \
                return;                                                                                                \
        }
        SCHED_TRACE_SETTINGS(SETTING)
#undef SETTING
#define FRACTION(name)                                                                                                 \
        if (strcmp(key, #name) == 0) {                                                                                 \
                r->config.name = take_fraction(w);                                                                     \
                return;                                                                                                \
        }
        SCHED_TRACE_FRACTIONS(FRACTION)
#undef FRACTION
        w->bad = true;
}

static void on_config(struct replay *r, struct trace_words *w)
{
        while (trace_words_left(w) && !w->bad)
                sched_replay_take_setting(r, w);
}

static void on_pool(struct replay *r, struct trace_words *w)
{
        struct pool_spec spec = {.name = trace_take_text(w)};

        spec.mode = take_mode(w);
        spec.min_share = take_int(w, 0, MAX_ID);
        spec.weight = take_int(w, 1, MAX_ID);
        if (!spec.name || r->s)
                w->bad = true;
        else
                vec_push(&r->pools, spec);
        if (w->bad && (r->s || !spec.name))
                free(spec.name);
}

static void on_resource(struct replay *r, struct trace_words *w)
{
        struct resource_request request = {.name = trace_take_text(w)};

        request.amount = trace_take_number(w, 1, 100 * RESOURCE_ONE);
        if (request.amount > RESOURCE_ONE && request.amount % RESOURCE_ONE != 0)
                w->bad = true;
        if (r->s || !request.name || r->resources.len == 16) {
                w->bad = true;
                free(request.name);
                return;
        }
        vec_push(&r->resources, request);
}

static struct replay_rdd *rdd_at(const struct replay *r, int id)
{
        return (size_t)id < r->rdds.len ? r->rdds.data[id] : NULL;
}

/* Stores the partitions of @parent that each partition needs. The caller frees the list. */
static int *take_needs(const struct lineage *rdd, const struct lineage *parent, struct trace_words *w)
{
        VEC(int) list = {0};

        vec_reserve(&list, 2);
        for (int p = 0; p < rdd->partitions && !w->bad; p++) {
                int first = take_int(w, 0, parent->partitions);

                vec_push(&list, first);
                vec_push(&list, take_int(w, 0, parent->partitions - first));
        }
        return list.data;
}

static void take_dep(struct replay *r, struct replay_rdd *of, struct trace_words *w)
{
        struct lineage *rdd = &of->lineage;
        char kind[4];
        struct lineage_dep dep = {.shuffle_id = -1, .child = rdd, .reduce_partitions = rdd->partitions};

        trace_take_word(w, kind, sizeof(kind));
        dep.kind = strcmp(kind, "s") == 0 ? LINEAGE_SHUFFLE : LINEAGE_NARROW;
        bool mapped = strcmp(kind, "m") == 0;

        w->bad |= strcmp(kind, "s") != 0 && strcmp(kind, "n") != 0 && !mapped;
        struct replay_rdd *parent = rdd_at(r, take_int(w, 0, MAX_ID));

        if (dep.kind == LINEAGE_SHUFFLE) {
                dep.shuffle_id = take_int(w, 0, MAX_ID);
                while (r->shuffles.len <= (size_t)dep.shuffle_id)
                        vec_push(&r->shuffles, 0);
                w->bad |= r->shuffles.data[dep.shuffle_id];
                r->shuffles.data[dep.shuffle_id] = 1;
        }
        if (w->bad || !parent) {
                w->bad = true;
                return;
        }
        dep.parent = &parent->lineage;
        of->needs = mem_grow(of->needs, (size_t)(rdd->n_deps + 1) * sizeof(*of->needs));
        of->needs[rdd->n_deps] = mapped ? take_needs(rdd, dep.parent, w) : NULL;
        dep.needs = mapped ? sched_replay_needs : NULL;
        rdd->deps = mem_grow(rdd->deps, (size_t)(rdd->n_deps + 1) * sizeof(*rdd->deps));
        rdd->deps[rdd->n_deps++] = dep;
}

static void on_rdd(struct replay *r, struct trace_words *w)
{
        int id = take_int(w, 0, MAX_ID);
        int partitions = take_int(w, 1, r->max_tasks);
        int flags = take_int(w, 0, 3);

        if (w->bad || rdd_at(r, id)) {
                w->bad = true;
                return;
        }
        while (r->rdds.len <= (size_t)id)
                vec_push(&r->rdds, NULL);
        struct replay_rdd *rdd = new0(struct replay_rdd);

        rdd->replay = r;
        rdd->lineage.id = id;
        rdd->lineage.partitions = partitions;
        rdd->lineage.barrier = flags & 1;
        rdd->lineage.indeterminate = flags & 2;
        rdd->lineage.name = trace_take_text(w);
        rdd->lineage.call_site = trace_take_text(w);
        rdd->lineage.cached = sched_replay_cached;
        while (trace_words_left(w) && !w->bad)
                take_dep(r, rdd, w);
        r->rdds.data[id] = rdd; /* increment now, so that no RDD is its own parent */
}

/* Sets the profiles of RDDs from the lines that follow the current one. */
static void sched_replay_take_profiles(struct replay *r)
{
        static const char word[] = "rdd_profile ", other[] = "profile ";

        for (const char *at = r->at + sched_replay_line_len(r, r->at) + 1; at < r->end;
             at += sched_replay_line_len(r, at) + 1) {
                size_t len = sched_replay_line_len(r, at);
                struct trace_words w =
                        trace_words_of(at + MIN(len, sizeof(word) - 1), len - MIN(len, sizeof(word) - 1));

                if (len >= sizeof(other) && memcmp(at, other, sizeof(other) - 1) == 0)
                        continue;
                if (len < sizeof(word) || memcmp(at, word, sizeof(word) - 1) != 0)
                        return;
                struct replay_rdd *rdd = rdd_at(r, take_int(&w, 0, MAX_ID));
                int profile = take_int(&w, 1, MAX_ID);

                if (rdd && !w.bad)
                        rdd->lineage.profile = profile;
        }
}

static void on_done(struct replay *r, struct trace_words *w)
{
        r->done.len = 0;
        while (trace_words_left(w) && !w->bad) {
                int first = take_int(w, 0, r->max_tasks), count = take_int(w, 0, r->max_tasks);

                w->bad |= first < (int)r->done.len || first + count > r->max_tasks;
                for (int i = (int)r->done.len; !w->bad && i < first + count; i++)
                        vec_push(&r->done, i >= first);
        }
}

static void on_stored(struct replay *r, struct trace_words *w)
{
        r->stored.len = 0;
        while (trace_words_left(w) && !w->bad) {
                struct earlier_output output = {.shuffle_id = take_int(w, 0, MAX_ID),
                                                .map_partition = take_int(w, 0, INT32_MAX),
                                                .executor = take_int(w, 0, INT32_MAX)};

                output.handle = (uint64_t)trace_take_number(w, INT64_MIN, -1);
                if (!w->bad)
                        vec_push(&r->stored, output);
        }
}

static void on_submit(struct replay *r, struct trace_words *w)
{
        _cleanup_(strmap_deinit) struct strmap properties = STRMAP_INIT;
        VEC(int) partitions = {0};
        int64_t now = take_time(r, w);
        struct replay_rdd *rdd = rdd_at(r, take_int(w, 0, MAX_ID));
        _cleanup_free_ char *call_site = trace_take_text(w);
        int n = take_int(w, -1, r->max_tasks);

        for (int i = 0; i < n && !w->bad; i++)
                vec_push(&partitions, take_int(w, 0, r->max_tasks));
        while (trace_words_left(w) && !w->bad) {
                _cleanup_free_ char *key = trace_take_text(w), *value = trace_take_text(w);

                w->bad |= !key || !value;
                if (!w->bad)
                        strmap_set(&properties, key, value);
        }
        w->bad |= !rdd;
        if (!w->bad) {
                const size_t outputs = (size_t)(n >= 0 ? n : rdd->lineage.partitions);

                vec_reserve(&partitions, 1);
                while (r->done.len && r->done.len < outputs)
                        vec_push(&r->done, 0);
                struct job_spec spec = {.final = &rdd->lineage,
                                        .partitions = n >= 0 ? partitions.data : NULL,
                                        .n_partitions = MAX(n, 0),
                                        .done = r->done.len ? r->done.data : NULL,
                                        .stored = r->stored.data,
                                        .n_stored = (int)r->stored.len,
                                        .call_site = call_site,
                                        .properties = &properties};

                sched_replay_take_profiles(r);
                w->bad = sched_submit_job(r->s, &spec, now, NULL) < 0;
        }
        r->done.len = r->stored.len = 0;
        vec_deinit(&partitions);
}

struct taken_resource {
        char *name;
        VEC(char *) addresses;
};

static void sched_replay_take_resource(struct trace_words *w, struct taken_resource *resource)
{
        *resource = (struct taken_resource){.name = trace_take_text(w)};
        w->bad |= !resource->name;
        for (int n = take_int(w, 0, 1024); n > 0 && !w->bad; n--) {
                char *address = trace_take_text(w);

                w->bad |= !address;
                if (address)
                        vec_push(&resource->addresses, address);
        }
}

static void sched_replay_take_executor(struct replay *r, struct trace_words *w, bool has_profile)
{
        struct taken_resource taken[16];
        struct executor_resource resources[16];
        int64_t now = take_time(r, w);
        int profile = has_profile ? take_int(w, 1, MAX_ID) : 0;
        _cleanup_free_ char *id = trace_take_text(w), *host = trace_take_text(w);
        struct executor_spec spec = {.id = id, .host = host, .profile = profile, .cores = take_int(w, 0, r->max_tasks)};

        w->bad |= !id || !host;
        spec.resources = resources;
        while (trace_words_left(w) && !w->bad && spec.n_resources < 16) {
                struct taken_resource *t = &taken[spec.n_resources];

                sched_replay_take_resource(w, t);
                resources[spec.n_resources++] = (struct executor_resource){
                        t->name, (const char *const *)t->addresses.data, (int)t->addresses.len};
        }
        if (!w->bad)
                sched_register_executor(r->s, &spec, now);
        for (int i = 0; i < spec.n_resources; i++) {
                for (size_t k = 0; k < taken[i].addresses.len; k++)
                        free(taken[i].addresses.data[k]);
                vec_deinit(&taken[i].addresses);
                free(taken[i].name);
        }
}

static void on_add_executor(struct replay *r, struct trace_words *w)
{
        sched_replay_take_executor(r, w, false);
}

static void on_add_profile_executor(struct replay *r, struct trace_words *w)
{
        sched_replay_take_executor(r, w, true);
}

static void sched_replay_take_status(struct trace_words *w, struct task_status *status, struct task_fetch *fetch)
{
        status->task_id = trace_take_number(w, -1, INT64_MAX);
        status->state = (enum task_state)take_int(w, TASK_SUCCEEDED, TASK_RUNNING - 1);
        status->run_ns = trace_take_number(w, -MAX_TIME, MAX_TIME);
        status->records = trace_take_number(w, -MAX_TIME, MAX_TIME);
        status->output = (uint64_t)trace_take_number(w, INT64_MIN, INT64_MAX);
        if (status->state == TASK_SUCCEEDED)
                return;
        status->message = trace_take_text(w);
        if (status->state != TASK_FETCH_FAILED)
                return;
        fetch->shuffle_id = take_int(w, -1, MAX_ID);
        fetch->map_partition = take_int(w, -1, INT32_MAX);
        fetch->executor = take_int(w, -1, INT32_MAX);
        status->fetch = fetch->shuffle_id >= 0 ? fetch : NULL;
}

static void on_status(struct replay *r, struct trace_words *w)
{
        VEC(struct task_status) statuses = {0};
        VEC(struct task_fetch) fetches = {0};
        int64_t now = take_time(r, w);

        while (trace_words_left(w) && !w->bad) {
                struct task_status status = {0};
                struct task_fetch fetch = {0};

                sched_replay_take_status(w, &status, &fetch);
                vec_push(&statuses, status);
                vec_push(&fetches, fetch);
        }
        for (size_t i = 0; i < statuses.len; i++)
                if (statuses.data[i].fetch)
                        statuses.data[i].fetch = &fetches.data[i];
        if (!w->bad)
                sched_update_status(r->s, statuses.data, (int)statuses.len, now);
        for (size_t i = 0; i < statuses.len; i++)
                free((char *)statuses.data[i].message);
        vec_deinit(&statuses);
        vec_deinit(&fetches);
}

static void on_adopt_run(struct replay *r, struct trace_words *w)
{
        int32_t outputs[SCHED_MAX_RUN];
        struct sched_adoption a = {.outputs = outputs};
        struct task_set *set = NULL;
        const int64_t now = take_time(r, w);
        const int stage = take_int(w, 0, MAX_ID), attempt = take_int(w, 0, INT32_MAX);

        a.executor = take_int(w, 0, MAX_ID);
        a.first_id = trace_take_number(w, 0, INT64_MAX);
        a.takes_core = trace_take_number(w, 0, 1);
        while (trace_words_left(w) && !w->bad && a.n < SCHED_MAX_RUN)
                outputs[a.n++] = take_int(w, 0, INT32_MAX);
        while (!w->bad && (set = sched_next_task_set(r->s, set)) &&
               (set->stage_id != stage || set->attempt != attempt))
                continue;
        if (set && !w->bad)
                sched_adopt_run(r->s, set, &a, now);
        else
                w->bad = true;
}

static void sched_replay_on_end(struct replay *r, struct trace_words *w)
{
        r->ended = true;
        sched_free(steal(r->s));
}

/* ------------------------------------------------------------------------------------------------ simple records */

/* The words of a record that has only numbers and texts. */
struct replay_arguments {
        int64_t now;
        int64_t n[5];
        char *text[2];
};

/*
 * @format has a letter for each word: T time, e index, b boolean, i 32-bit and k 64-bit id, z size, h any number, s
 * text, S text that is not NULL.
 */
static void sched_replay_take_arguments(struct replay *r, struct trace_words *w, const char *format,
                                        struct replay_arguments *a)
{
        static const struct range {
                int64_t low, high;
        } ranges[] = {['e'] = {-1, MAX_ID},    ['b'] = {0, 1},        ['i'] = {-1, INT32_MAX},
                      ['k'] = {-1, INT64_MAX}, ['z'] = {0, MAX_TIME}, ['h'] = {INT64_MIN, INT64_MAX}};
        int numbers = 0, texts = 0;

        for (; *format; format++) {
                const struct range *range = &ranges[(unsigned char)*format];

                if (*format == 'T')
                        a->now = take_time(r, w);
                else if (*format != 's' && *format != 'S')
                        a->n[numbers++] = trace_take_number(w, range->low, range->high);
                else if (!(a->text[texts++] = trace_take_text(w)) && *format == 'S')
                        w->bad = true;
        }
}

#define CALL(name, call)                                                                                               \
        static void name(struct sched *s, const struct replay_arguments *a)                                            \
        {                                                                                                              \
                call;                                                                                                  \
        }
CALL(call_revive, sched_revive(s, a->now))
CALL(call_tick, sched_tick(s, a->now))
CALL(call_lose_executor, sched_executor_lost(s, (int)a->n[0], a->n[1], a->text[0], a->now))
CALL(call_disable_executor, sched_disable_executor(s, (int)a->n[0]))
CALL(call_enable_executor, sched_enable_executor(s, (int)a->n[0]))
CALL(call_lend_cores, sched_lend_cores(s, (int)a->n[0], (int)a->n[1]))
CALL(call_decommission_executor, sched_decommission_executor(s, (int)a->n[0], a->n[1]))
CALL(call_lose_host, sched_host_lost(s, a->text[0], a->text[1], a->now))
CALL(call_suspect_task, sched_suspect_task(s, a->n[0]))
CALL(call_release_core, sched_release_core(s, a->n[0], a->now))
CALL(call_task_progress, sched_task_progress(s, a->n[0], a->n[1], a->n[2]))
CALL(call_kill_attempt, sched_kill_task(s, a->n[0], a->n[1], a->text[0]))
CALL(call_result_fits, sched_result_fits(s, a->n[0], a->n[1], a->now))
CALL(call_cancel_job, sched_cancel_job(s, (int)a->n[0], a->text[0], a->now))
CALL(call_cancel_group, sched_cancel_group(s, a->text[0], a->text[1], a->now))
CALL(call_cancel_tag, sched_cancel_tag(s, a->text[0], a->text[1], a->now))
CALL(call_cancel_stage, sched_cancel_stage(s, (int)a->n[0], a->text[0], a->now))
CALL(call_cancel_all, sched_cancel_all(s, a->now))
CALL(call_unregister_shuffle, sched_unregister_shuffle(s, (int)a->n[0]))
CALL(call_store_output,
     sched_store_output(s, (int)a->n[0], (int)a->n[1], (uint64_t)a->n[2], (int)a->n[3], (uint64_t)a->n[4]))
CALL(call_move_output, sched_move_output(s, (int)a->n[0], (int)a->n[1], (uint64_t)a->n[2], (int)a->n[3], (int)a->n[4]))
#undef CALL

/* A record has a function that takes its words, or a format and a call. */
static const struct replay_record {
        const char *word;
        void (*take)(struct replay *r, struct trace_words *w);
        bool prepares; /* not a call of the scheduler */
        const char *format;
        void (*call)(struct sched *s, const struct replay_arguments *a);
} records[] = {
        {"status", on_status},
        {"adopt_run", on_adopt_run},
        {"revive", .format = "T", .call = call_revive},
        {"tick", .format = "T", .call = call_tick},
        {"submit", on_submit},
        {"rdd", on_rdd, true},
        {"done", on_done, true},
        {"stored", on_stored, true},
        {"config", on_config, true},
        {"pool", on_pool, true},
        {"resource", on_resource, true},
        {"add_executor", on_add_executor},
        {"add_profile_executor", on_add_profile_executor},
        {"lose_executor", .format = "Tebs", .call = call_lose_executor},
        {"disable_executor", .format = "e", .call = call_disable_executor},
        {"enable_executor", .format = "e", .call = call_enable_executor},
        {"lend_cores", .format = "ee", .call = call_lend_cores},
        {"decommission_executor", .format = "eb", .call = call_decommission_executor},
        {"lose_host", .format = "TSs", .call = call_lose_host},
        {"suspect_task", .format = "k", .call = call_suspect_task},
        {"task_progress", .format = "kzz", .call = call_task_progress},
        {"release_core", .format = "Tk", .call = call_release_core},
        {"kill_attempt", .format = "kbs", .call = call_kill_attempt},
        {"result_fits", .format = "Tkz", .call = call_result_fits},
        {"cancel_job", .format = "Tis", .call = call_cancel_job},
        {"cancel_group", .format = "TSs", .call = call_cancel_group},
        {"cancel_tag", .format = "TSs", .call = call_cancel_tag},
        {"cancel_stage", .format = "Tis", .call = call_cancel_stage},
        {"cancel_all", .format = "T", .call = call_cancel_all},
        {"unregister_shuffle", .format = "e", .call = call_unregister_shuffle},
        {"move_output", .format = "eehee", .call = call_move_output},
        {"store_output", .format = "eeheh", .call = call_store_output},
        {"end", sched_replay_on_end},
};

static void record_take(struct replay *r, const struct replay_record *record, struct trace_words *w)
{
        struct replay_arguments a = {0};

        if (record->take) {
                record->take(r, w);
                return;
        }
        sched_replay_take_arguments(r, w, record->format, &a);
        if (!w->bad)
                record->call(r->s, &a);
        free(a.text[0]);
        free(a.text[1]);
}

/* ------------------------------------------------------------------------------------------------ the loop */

static int bad_line(struct replay *r, const char *why)
{
        size_t line = 1;

        for (const char *c = r->compared; c < r->at; c++)
                line += *c == '\n';
        return error_set(r->error, -EINVAL, "line %zu: %s: \"%.*s\"", r->line + line - 1, why,
                         (int)MIN(sched_replay_line_len(r, r->at), (size_t)200), r->at);
}

/* Creates the scheduler after the settings, and compares its first lines. */
static void sched_replay_begin(struct replay *r)
{
        r->config.pools = r->pools.data;
        r->config.n_pools = (int)r->pools.len;
        r->config.resources = r->resources.data;
        r->config.n_resources = (int)r->resources.len;
        r->s = sched_new(&r->config, &sched_replay_ops, r);
        sched_record(r->s, (struct sched_trace_sink){.write = sched_replay_compare, .owner = r, .each_line = true});
}

static int sched_replay_feed(struct replay *r)
{
        size_t len = sched_replay_line_len(r, r->at);
        struct trace_words w = trace_words_of(r->at, len);
        const struct replay_record *record = NULL;
        char word[24];

        if (r->at + len == r->end)
                return bad_line(r, "the last line is incomplete");
        if (len > 2 && memcmp(r->at, "= ", 2) == 0) {
                sched_replay_diverge(r, "(nothing)", 9);
                return 0;
        }
        trace_take_word(&w, word, sizeof(word));
        for (size_t i = 0; i < ARRAY_SIZE(records) && !record; i++)
                if (strcmp(records[i].word, word) == 0)
                        record = &records[i];
        if (!record)
                return bad_line(r, "unknown record");
        if (record->take != on_config && record->take != on_pool && record->take != on_resource && !r->s)
                sched_replay_begin(r);
        record_take(r, record, &w);
        if (w.bad || trace_words_left(&w))
                return bad_line(r, "invalid record");
        if (record->prepares) {
                r->parsed = r->at + len + 1;
                return 0;
        }
        sched_replay_free_hosts(r);
        r->report.calls++;
        r->parsed = r->compared;
        if (!r->diverged && r->compared <= r->at)
                sched_replay_diverge(r, "(nothing)", 9);
        return 0;
}

static int sched_replay_run(struct replay *r)
{
        static const char first[] = SCHED_TRACE_FIRST_LINE "\n";
        size_t len = (size_t)(r->end - r->at);

        if (len < strlen(first) || memcmp(r->at, first, strlen(first)) != 0)
                return error_set(r->error, -EINVAL,
                                 "the file is not a scheduler trace of this version: its first line is not \"%s\"",
                                 SCHED_TRACE_FIRST_LINE);
        r->parsed = r->at + strlen(first);
        while (r->parsed < r->end && !r->diverged && !r->ended) {
                r->at = r->parsed;
                int e = sched_replay_feed(r);

                if (e < 0)
                        return e;
        }
        if (r->ended && !r->diverged && r->compared < r->end) {
                r->at = r->compared;
                return bad_line(r, "unexpected line after the end record");
        }
        return r->diverged ? FST_REPLAY_E_DIVERGED : 0;
}

int sched_replay(const char *text, size_t len, int max_tasks, struct sched_replay_report *report,
                 struct fst_error *error)
{
        struct replay r = {.at = text,
                           .compared = text,
                           .end = text + len,
                           .line = 1,
                           .max_tasks = max_tasks,
                           .config = SCHED_CONFIG_DEFAULT,
                           .error = error};
        int e = sched_replay_run(&r);

        *report = r.report;
        r.diverged = true; /* the trace has no decisions after this */
        r.error = NULL;
        if (r.s)
                sched_free(r.s);
        for (size_t i = 0; i < r.pools.len; i++)
                free(r.pools.data[i].name);
        for (size_t i = 0; i < r.rdds.len; i++) {
                if (!r.rdds.data[i])
                        continue;
                free((char *)r.rdds.data[i]->lineage.name);
                free((char *)r.rdds.data[i]->lineage.call_site);
                for (int d = 0; d < r.rdds.data[i]->lineage.n_deps; d++)
                        free(r.rdds.data[i]->needs[d]);
                free(r.rdds.data[i]->needs);
                free(r.rdds.data[i]->lineage.deps);
                free(r.rdds.data[i]);
        }
        for (size_t i = 0; i < r.resources.len; i++)
                free(r.resources.data[i].name);
        sched_replay_free_hosts(&r);
        sched_replay_free_requests(&r);
        vec_deinit(&r.requests);
        vec_deinit(&r.hosts);
        vec_deinit(&r.done);
        vec_deinit(&r.stored);
        vec_deinit(&r.resources);
        vec_deinit(&r.pools);
        vec_deinit(&r.rdds);
        vec_deinit(&r.shuffles);
        return e;
}
