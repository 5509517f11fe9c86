/*
 * See status_snapshot.h. One function for each kind of entity writes it, reads it, and counts its bytes, so that the
 * directions agree.
 *
 * The stream begins with a head. After the first problem of reading, the result is thrown away.
 */
#include "status/status_snapshot.h"

#include "base/mem.h"
#include "status/snapshot_tasks.h"
#include "status/status_internal.h"
#include "status/columns/task_chunk.h"

#include <xxhash.h>

enum { SNAPSHOT_VERSION = 6 };

struct snapshot_head {
        char magic[8];
        uint32_t version, columns;
        uint64_t sizes;  /* of the structs, mixed */
        uint64_t length; /* of what follows */
};

static const char snapshot_magic[8] = "FSstatus";

/* A change of a struct changes this number, most likely. */
static uint64_t snapshot_sizes(void)
{
        const uint64_t sizes[] = {sizeof(struct status),       sizeof(struct status_job),
                                  sizeof(struct status_stage), sizeof(struct status_rdd),
                                  sizeof(struct task_chunk),   sizeof(struct status_executor),
                                  sizeof(struct task_columns), sizeof(struct status_executor_stage),
                                  sizeof(struct node_series)};
        return XXH3_64bits(sizes, sizeof(sizes));
}

/* ------------------------------------------------------------------------------------------------- values */

/* A text of its own memory. */
static void snapshot_owned(struct snapshot_stream *p, const char **text)
{
        if (!p->get)
                snapshot_write_text(p, *text);
        else
                *text = snapshot_copy_text(p);
}

/* A text that many share. One that may not be NULL becomes "" in damaged data. */
static void snapshot_shared(struct snapshot_stream *p, const char **text)
{
        if (!p->get) {
                snapshot_write_text(p, *text);
                return;
        }
        _cleanup_free_ char *copy = snapshot_copy_text(p);
        *text = status_text(p->status, p->is_bad && !copy ? "" : copy);
}

static void snapshot_in_arena(struct snapshot_stream *p, struct arena *arena, const char **text)
{
        const char *from = NULL;
        uint32_t length = 0;
        if (!p->get)
                snapshot_write_text(p, *text);
        else
                *text = snapshot_read_text(p, &from, &length) ? arena_copy(arena, from, length) : NULL;
}

static void snapshot_map(struct snapshot_stream *p, struct strmap *map)
{
        if (!p->get) {
                uint64_t n = map->count;
                VALUE(p, n);
                for (struct strmap_entry *e = NULL; (e = strmap_next(map, e));) {
                        snapshot_write_text(p, e->key);
                        snapshot_write_text(p, e->value);
                }
                return;
        }
        size_t n = snapshot_length(p, 0, 2 * sizeof(uint32_t));
        for (size_t i = 0; i < n && !p->is_bad; i++) {
                _cleanup_free_ char *key = snapshot_copy_text(p), *value = snapshot_copy_text(p);
                if (key && value)
                        strmap_set(map, key, value);
        }
}

static void snapshot_indices(struct snapshot_stream *p, struct status_indices *set)
{
        size_t n = snapshot_length(p, set->n_words, sizeof(uint64_t));
        VALUE(p, set->n);
        if (p->get && n) {
                set->bits = new_array(uint64_t, n);
                set->n_words = n;
        }
        snapshot_bytes(p, set->bits, n * sizeof(uint64_t));
}

static void snapshot_killed(struct snapshot_stream *p, status_killed_list *list)
{
        LIST(p, list, sizeof(int64_t) + sizeof(uint32_t));
        for (size_t i = 0; i < list->len; i++) {
                snapshot_shared(p, &list->data[i].reason);
                VALUE(p, list->data[i].n);
        }
}

/* ------------------------------------------------------------------------------------------------- jobs and stages */

static void snapshot_job(struct snapshot_stream *p, struct status_job *job)
{
        VALUE(p, job->id);
        VALUE(p, job->state);
        snapshot_shared(p, &job->name);
        snapshot_owned(p, &job->description);
        snapshot_shared(p, &job->group);
        LIST(p, &job->tags, sizeof(uint32_t));
        for (size_t i = 0; i < job->tags.len; i++)
                snapshot_shared(p, &job->tags.data[i]);
        snapshot_owned(p, &job->failure);
        VALUE(p, job->submission_ms);
        VALUE(p, job->completion_ms);
        LIST(p, &job->stages, sizeof(int));
        for (size_t i = 0; i < job->stages.len; i++) {
                struct status_job_stage *stage = &job->stages.data[i];
                VALUE(p, stage->id);
                VALUE(p, stage->completed);
                VALUE(p, stage->skipped);
                snapshot_indices(p, &stage->indices);
        }
        VALUE(p, job->tasks);
        VALUE(p, job->active_tasks);
        VALUE(p, job->completed_tasks);
        VALUE(p, job->failed_tasks);
        VALUE(p, job->killed_tasks);
        VALUE(p, job->skipped_tasks);
        VALUE(p, job->completed_indices);
        VALUE(p, job->active_stages);
        VALUE(p, job->completed_stages);
        VALUE(p, job->skipped_stages);
        VALUE(p, job->failed_stages);
        snapshot_killed(p, &job->killed);
        if (job->state > STATUS_JOB_FAILED)
                p->is_bad = true;
}

/* The scopes around an RDD, from the inner one. */
static void snapshot_scopes(struct snapshot_stream *p, const struct rdd_scope **scope)
{
        bool is_there;
        do {
                is_there = *scope != NULL;
                VALUE(p, is_there);
                if (!is_there || p->is_bad)
                        return;
                if (p->get) {
                        struct rdd_scope *made = arena_alloc(&p->status->texts, sizeof(*made));
                        *made = (struct rdd_scope){0};
                        *scope = made;
                }
                struct rdd_scope *mine = (struct rdd_scope *)*scope;
                snapshot_shared(p, &mine->id);
                snapshot_shared(p, &mine->name);
                scope = &mine->parent;
        } while (is_there);
}

static void snapshot_stage_rdd(struct snapshot_stream *p, struct status_rdd_info *rdd)
{
        VALUE(p, rdd->id);
        size_t n = snapshot_length(p, (size_t)rdd->n_parents, sizeof(int));
        if (p->get) {
                rdd->n_parents = (int)n;
                rdd->parent_ids = new_array(int, n);
        }
        snapshot_bytes(p, rdd->parent_ids, n * sizeof(int));
        snapshot_shared(p, &rdd->name);
        snapshot_shared(p, &rdd->call_site);
        snapshot_shared(p, &rdd->scope);
        VALUE(p, rdd->scope_id);
        snapshot_scopes(p, &rdd->outer_scope);
        VALUE(p, rdd->level);
        VALUE(p, rdd->determinism);
        VALUE(p, rdd->barrier);
        VALUE(p, rdd->partitions);
        if (rdd->level > FST_STORAGE_OFF_HEAP)
                p->is_bad = true;
}

static void snapshot_accumulable(struct snapshot_stream *p, struct status_stage *stage, struct accumulable *a)
{
        VALUE(p, a->id);
        snapshot_shared(p, &a->name);
        snapshot_in_arena(p, &stage->texts, &a->update);
        snapshot_in_arena(p, &stage->texts, &a->value);
}

static void snapshot_stage_executor(struct snapshot_stream *p, struct status_stage *stage,
                                    struct status_executor_stage *x)
{
        bool has_peaks = x->peaks != NULL;
        VALUE(p, x->executor);
        VALUE(p, x->task_ms);
        VALUE(p, x->succeeded_tasks);
        VALUE(p, x->failed_tasks);
        VALUE(p, x->killed_tasks);
        VALUE(p, x->active_tasks);
        VALUE(p, x->input_bytes);
        VALUE(p, x->input_records);
        VALUE(p, x->output_bytes);
        VALUE(p, x->output_records);
        VALUE(p, x->shuffle_read_bytes);
        VALUE(p, x->shuffle_read_records);
        VALUE(p, x->shuffle_write_bytes);
        VALUE(p, x->shuffle_write_records);
        VALUE(p, x->memory_bytes_spilled);
        VALUE(p, x->disk_bytes_spilled);
        VALUE(p, x->excluded);
        VALUE(p, has_peaks);
        if (has_peaks && p->get)
                x->peaks = arena_alloc(&stage->texts, sizeof(*x->peaks));
        if (has_peaks)
                snapshot_bytes(p, (void *)x->peaks, sizeof(*x->peaks));
        if (x->executor >= p->status->executor_names.len)
                p->is_bad = true;
}

static void snapshot_note(struct snapshot_stream *p, struct status_stage *stage, struct status_task_note *note)
{
        VALUE(p, note->row);
        snapshot_in_arena(p, &stage->texts, &note->error);
        size_t n = snapshot_length(p, note->n_accumulables, sizeof(int64_t));
        if (p->get && n) {
                struct accumulable *list = arena_alloc(&stage->texts, n * sizeof(*list));
                memset(list, 0, n * sizeof(*list));
                note->accumulables = list;
                note->n_accumulables = n;
        }
        for (size_t i = 0; i < n; i++)
                snapshot_accumulable(p, stage, (struct accumulable *)&note->accumulables[i]);
}

/* The jobs of a stage, as their places among all jobs. */
static void snapshot_stage_jobs(struct snapshot_stream *p, struct status_stage *stage)
{
        const struct status *s = p->status;
        LIST(p, &stage->jobs, 2 * sizeof(uint64_t));
        for (size_t i = 0; i < stage->jobs.len; i++) {
                struct status_stage_job *mine = &stage->jobs.data[i];
                uint64_t number = 0, place = mine->place;
                while (!p->get && s->jobs.data[number] != mine->job)
                        number++;
                VALUE(p, number);
                VALUE(p, place);
                if (!p->get)
                        continue;
                if (number >= s->jobs.len || place >= s->jobs.data[number]->stages.len) {
                        p->is_bad = true;
                        stage->jobs.len = i;
                        return;
                }
                *mine = (struct status_stage_job){s->jobs.data[number], (size_t)place};
        }
}

static void snapshot_stage_counts(struct snapshot_stream *p, struct status_stage *stage)
{
        VALUE(p, stage->tasks);
        VALUE(p, stage->active_tasks);
        VALUE(p, stage->completed_tasks);
        VALUE(p, stage->failed_tasks);
        VALUE(p, stage->killed_tasks);
        VALUE(p, stage->submission_ms);
        VALUE(p, stage->first_launch_ms);
        VALUE(p, stage->completion_ms);
        VALUE(p, stage->resource_profile);
        VALUE(p, stage->n_mergers);
        VALUE(p, stage->push_enabled);
        snapshot_indices(p, &stage->indices);
        snapshot_killed(p, &stage->killed);
        VALUE(p, stage->metrics);
        VALUE(p, stage->push_metrics);
        VALUE(p, stage->longest_ms);
        VALUE(p, stage->peaks);
        VALUE(p, stage->has_peaks);
        VALUE(p, stage->speculation);
        VALUE(p, stage->submitted_speculative);
        VALUE(p, stage->locality);
        VALUE(p, stage->lost_ends);
}

static void snapshot_stage(struct snapshot_stream *p, struct status_stage *stage)
{
        VALUE(p, stage->id);
        VALUE(p, stage->attempt);
        VALUE(p, stage->state);
        snapshot_shared(p, &stage->name);
        snapshot_owned(p, &stage->details);
        snapshot_owned(p, &stage->description);
        snapshot_owned(p, &stage->failure);
        snapshot_shared(p, &stage->pool);
        snapshot_stage_counts(p, stage);
        LIST(p, &stage->rdds, sizeof(int));
        for (size_t i = 0; i < stage->rdds.len; i++)
                snapshot_stage_rdd(p, &stage->rdds.data[i]);
        LIST(p, &stage->parents, sizeof(int));
        snapshot_bytes(p, stage->parents.data, stage->parents.len * sizeof(int));
        snapshot_stage_jobs(p, stage);
        LIST(p, &stage->executors, sizeof(int64_t));
        for (size_t i = 0; i < stage->executors.len; i++)
                snapshot_stage_executor(p, stage, &stage->executors.data[i]);
        LIST(p, &stage->accumulables, sizeof(int64_t));
        for (size_t i = 0; i < stage->accumulables.len; i++)
                snapshot_accumulable(p, stage, &stage->accumulables.data[i]);
        snapshot_columns(p, &stage->columns);
        LIST(p, &stage->notes, sizeof(uint64_t));
        for (size_t i = 0; i < stage->notes.len; i++)
                snapshot_note(p, stage, &stage->notes.data[i]);
        if (stage->state > STATUS_STAGE_SKIPPED)
                p->is_bad = true;
}

/* ------------------------------------------------------------------------------------------------- executors, RDDs */

static void snapshot_node_point(struct snapshot_stream *p, struct node_point *point)
{
        VALUE(p, point->ms);
        VALUE(p, point->node_cpu);
        VALUE(p, point->process_cpu);
        VALUE(p, point->memory);
        VALUE(p, point->disk_bytes);
        VALUE(p, point->net_bytes);
}

static void snapshot_node(struct snapshot_stream *p, struct node_series *s)
{
        VALUE(p, s->last);
        VALUE(p, s->has_last);
        VALUE(p, s->pace.step);
        VALUE(p, s->pace.n_pending);
        VALUE(p, s->pace.n);
        VALUE(p, s->pending_ms);
        if (!node_pace_is_valid(&s->pace)) {
                p->is_bad = true;
                s->pace = (struct node_pace){0};
        }
        snapshot_node_point(p, &s->pending);
        for (size_t i = 0; i < s->pace.n; i++)
                snapshot_node_point(p, &s->points[i]);
}

static void snapshot_executor(struct snapshot_stream *p, struct status_executor *x)
{
        VALUE(p, x->number);
        snapshot_shared(p, &x->id);
        snapshot_shared(p, &x->host);
        snapshot_shared(p, &x->host_port);
        VALUE(p, x->is_registered);
        VALUE(p, x->is_active);
        VALUE(p, x->excluded);
        VALUE(p, x->has_memory_info);
        VALUE(p, x->has_peaks);
        VALUE(p, x->cores);
        VALUE(p, x->max_tasks);
        VALUE(p, x->resource_profile);
        VALUE(p, x->added_ms);
        VALUE(p, x->removed_ms);
        snapshot_shared(p, &x->removed_reason);
        VALUE(p, x->rdd_blocks);
        VALUE(p, x->memory_used);
        VALUE(p, x->disk_used);
        VALUE(p, x->max_memory);
        VALUE(p, x->max_on_heap);
        VALUE(p, x->max_off_heap);
        VALUE(p, x->used_on_heap);
        VALUE(p, x->used_off_heap);
        VALUE(p, x->active_tasks);
        VALUE(p, x->completed_tasks);
        VALUE(p, x->failed_tasks);
        VALUE(p, x->total_tasks);
        VALUE(p, x->duration_ms);
        VALUE(p, x->gc_ms);
        VALUE(p, x->input_bytes);
        VALUE(p, x->shuffle_read_bytes);
        VALUE(p, x->shuffle_write_bytes);
        VALUE(p, x->peak_task_memory);
        VALUE(p, x->peaks);
        LIST(p, &x->excluded_in_stages, sizeof(int));
        snapshot_bytes(p, x->excluded_in_stages.data, x->excluded_in_stages.len * sizeof(int));
        snapshot_map(p, &x->logs);
        snapshot_map(p, &x->attributes);
        snapshot_map(p, &x->resources);
        bool has_node = x->node != NULL;
        VALUE(p, has_node);
        if (has_node && p->get)
                x->node = new0(struct node_series);
        if (has_node)
                snapshot_node(p, x->node);
}

static void snapshot_partition(struct snapshot_stream *p, struct status_partition *part)
{
        VALUE(p, part->index);
        snapshot_shared(p, &part->block);
        snapshot_shared(p, &part->level);
        VALUE(p, part->memory_used);
        VALUE(p, part->disk_used);
        LIST(p, &part->executors, sizeof(uint32_t));
        snapshot_bytes(p, part->executors.data, part->executors.len * sizeof(uint32_t));
        p->is_bad = p->is_bad || part->index >= STATUS_MAX_PARTITIONS;
        for (size_t i = 0; i < part->executors.len; i++)
                p->is_bad = p->is_bad || part->executors.data[i] >= p->status->executor_names.len;
}

static void snapshot_rdd(struct snapshot_stream *p, struct status_rdd *rdd)
{
        VALUE(p, rdd->id);
        snapshot_shared(p, &rdd->name);
        snapshot_shared(p, &rdd->level);
        VALUE(p, rdd->partitions);
        VALUE(p, rdd->memory_used);
        VALUE(p, rdd->disk_used);
        LIST(p, &rdd->cached, sizeof(uint32_t));
        for (size_t i = 0; i < rdd->cached.len; i++)
                snapshot_partition(p, &rdd->cached.data[i]);
        LIST(p, &rdd->distributions, sizeof(uint32_t));
        for (size_t i = 0; i < rdd->distributions.len; i++) {
                struct status_distribution *d = &rdd->distributions.data[i];
                VALUE(p, d->executor);
                VALUE(p, d->memory_used);
                VALUE(p, d->disk_used);
                VALUE(p, d->on_heap_used);
                VALUE(p, d->off_heap_used);
                p->is_bad = p->is_bad || d->executor >= p->status->executor_names.len;
        }
}

/* ------------------------------------------------------------------------------------------------- application */

static void snapshot_application(struct snapshot_stream *p, struct status_application *a)
{
        snapshot_shared(p, &a->id);
        snapshot_shared(p, &a->name);
        snapshot_shared(p, &a->user);
        snapshot_shared(p, &a->attempt_id);
        snapshot_shared(p, &a->spark_version);
        VALUE(p, a->start_ms);
        VALUE(p, a->end_ms);
        VALUE(p, a->has_ended);
        VALUE(p, a->exit_code);
        snapshot_map(p, &a->driver_logs);
        snapshot_map(p, &a->runtime);
        snapshot_map(p, &a->spark_properties);
        snapshot_map(p, &a->hadoop_properties);
        snapshot_map(p, &a->system_properties);
        snapshot_map(p, &a->metrics_properties);
        snapshot_map(p, &a->classpath);
        VALUE(p, a->has_environment);
}

static void snapshot_profile(struct snapshot_stream *p, struct status_profile *profile)
{
        VALUE(p, profile->id);
        VALUE(p, profile->task_cpus);
        LIST(p, &profile->requests, sizeof(double));
        for (size_t i = 0; i < profile->requests.len; i++) {
                struct profile_request *q = &profile->requests.data[i];
                snapshot_shared(p, &q->name);
                VALUE(p, q->amount);
                snapshot_shared(p, &q->discovery_script);
                snapshot_shared(p, &q->vendor);
                VALUE(p, q->of_task);
        }
}

/* The active stages of a pool, as places among all stages. */
static void snapshot_pool(struct snapshot_stream *p, struct status_pool *pool)
{
        const struct status *s = p->status;
        snapshot_shared(p, &pool->name);
        LIST(p, &pool->stages, sizeof(uint64_t));
        for (size_t i = 0; i < pool->stages.len; i++) {
                uint64_t number = 0;
                while (!p->get && s->stages.data[number] != pool->stages.data[i])
                        number++;
                VALUE(p, number);
                if (p->get && number >= s->stages.len) {
                        p->is_bad = true;
                        pool->stages.len = i;
                        return;
                }
                pool->stages.data[i] = s->stages.data[number];
        }
}

static void snapshot_process(struct snapshot_stream *p, struct status_process *process)
{
        snapshot_shared(p, &process->id);
        snapshot_shared(p, &process->host_port);
        VALUE(p, process->cores);
        VALUE(p, process->added_ms);
        snapshot_map(p, &process->logs);
}

/* A list of pointers to entities, which reading makes. */
#define ENTITIES(p, list, type, function)                                                                              \
        do {                                                                                                           \
                size_t length_ = snapshot_length((p), (list)->len, sizeof(int));                                       \
                for (size_t i_ = 0; i_ < length_ && !(p)->is_bad; i_++) {                                              \
                        if ((p)->get)                                                                                  \
                                vec_push((list), new0(type));                                                          \
                        function((p), (list)->data[i_]);                                                               \
                }                                                                                                      \
        } while (0)

static void snapshot_status(struct snapshot_stream *p)
{
        struct status *s = p->status;
        VALUE(p, s->options.retained_jobs);
        VALUE(p, s->options.retained_stages);
        VALUE(p, s->options.retained_tasks);
        VALUE(p, s->options.retained_dead_executors);
        VALUE(p, s->options.is_live);
        VALUE(p, s->options.without_details);
        VALUE(p, s->totals);
        VALUE(p, s->last_event_ms);
        snapshot_application(p, &s->application);
        LIST(p, &s->executor_names, 2 * sizeof(uint32_t));
        for (size_t i = 0; i < s->executor_names.len; i++) {
                snapshot_shared(p, &s->executor_names.data[i].id);
                snapshot_shared(p, &s->executor_names.data[i].host);
        }
        ENTITIES(p, &s->executors, struct status_executor, snapshot_executor);
        ENTITIES(p, &s->jobs, struct status_job, snapshot_job);
        ENTITIES(p, &s->stages, struct status_stage, snapshot_stage);
        ENTITIES(p, &s->rdds, struct status_rdd, snapshot_rdd);
        LIST(p, &s->pools, sizeof(uint32_t));
        for (size_t i = 0; i < s->pools.len; i++)
                snapshot_pool(p, &s->pools.data[i]);
        LIST(p, &s->profiles, sizeof(int));
        for (size_t i = 0; i < s->profiles.len; i++)
                snapshot_profile(p, &s->profiles.data[i]);
        ENTITIES(p, &s->processes, struct status_process, snapshot_process);
}

/* Counts the bytes of the stream without the head and the parts. Adds those of the pieces of parts to *@in_parts. */
static uint64_t snapshot_count(const struct status *s, uint64_t *in_parts)
{
        struct snapshot_stream p = {.status = (struct status *)s};
        snapshot_status(&p);
        *in_parts += p.in_parts;
        return p.written;
}

uint64_t status_snapshot_size(const struct status *s)
{
        uint64_t in_parts = 0, length = sizeof(struct snapshot_head) + snapshot_count(s, &in_parts);
        return length + snapshot_pieces(length) * SNAPSHOT_CHECKSUM + in_parts;
}

bool status_snapshot_write(const struct status *s, status_snapshot_put_fn *put, void *owner)
{
        uint64_t in_parts = 0;
        struct snapshot_head head = {.version = SNAPSHOT_VERSION,
                                     .columns = TASK_COLUMNS,
                                     .sizes = snapshot_sizes(),
                                     .length = snapshot_count(s, &in_parts)};
        struct snapshot_stream p = {.put = put,
                                    .owner = owner,
                                    .status = (struct status *)s,
                                    .next_part = snapshot_pieces(sizeof(head) + head.length)};
        snapshot_stream_begin(&p);
        memcpy(head.magic, snapshot_magic, sizeof(head.magic));
        snapshot_write_bytes(&p, &head, sizeof(head));
        snapshot_status(&p);
        snapshot_stream_end(&p);
        snapshot_stream_deinit(&p);
        snapshot_write_parts(&p);
        return !p.is_bad && p.written == sizeof(head) + head.length && p.n_pieces == p.next_part;
}

static bool snapshot_read_head(struct snapshot_stream *p)
{
        struct snapshot_head head;
        p->left = sizeof(head);
        snapshot_read_bytes(p, &head, sizeof(head));
        p->left = p->is_bad ? 0 : head.length;
        return !p->is_bad && memcmp(head.magic, snapshot_magic, sizeof(head.magic)) == 0 &&
               head.version == SNAPSHOT_VERSION && head.columns == TASK_COLUMNS && head.sizes == snapshot_sizes();
}

struct status *status_snapshot_read(const struct status_snapshot_source *source)
{
        struct snapshot_stream p = {.get = source->get, .owner = source->owner, .source = source};
        if (!source->open(source->owner, 0))
                return NULL;
        if (snapshot_read_head(&p)) {
                p.status = status_new(NULL);
                snapshot_status(&p);
        } else {
                snapshot_fail(&p);
        }
        snapshot_stream_deinit(&p);
        source->close(source->owner);
        if (!p.is_bad && !p.left && !p.here) {
                status_index(p.status);
                return p.status;
        }
        status_free(p.status);
        return NULL;
}

void status_snapshot_load(struct status *s)
{
        for (size_t i = 0; i < s->stages.len; i++)
                task_columns_need(&s->stages.data[i]->columns);
}
