/* Reads the parts of events in logs that several events have: stages, RDDs, accumulables, maps; see event_reader.h. */
#include "base/mem.h"
#include "events/event_reader_internal.h"

void event_reader_store(struct event_reader *r, void *base, const void *data, size_t n, size_t size)
{
        if (n) {
                void *copy = memcpy(arena_alloc(&r->arena, n * size), data, n * size);
                memcpy(base, &copy, sizeof(copy));
        }
        memcpy((char *)base + sizeof(void *), &n, sizeof(n));
}

bool event_reader_read_ids(struct json_cursor *c, void *base, void *context)
{
        VEC(int) ids = {0};
        for (bool more = json_begin_array(c); more; more = json_next_element(c)) {
                int64_t id = 0;
                if (!json_read_int(c, &id))
                        break;
                vec_push(&ids, (int)id);
        }
        event_reader_store(context, base, ids.data, ids.len, sizeof(int));
        vec_deinit(&ids);
        return !c->problem;
}

/* Reads any value as text: a string's content, or the JSON of another value. */
static bool event_reader_read_raw(struct json_cursor *c, void *base, void *context)
{
        struct event_reader *r = context;
        while (*c->at == ' ' || *c->at == '\t')
                c->at++;
        if (*c->at == '"' || *c->at == 'n')
                return json_read_text(c, base, NULL);
        const char *start = c->at;
        if (!json_skip_value(c))
                return false;
        *(char **)base = arena_copy(&r->arena, start, (size_t)(c->at - start));
        return true;
}

struct strmap *event_reader_new_map(struct event_reader *r)
{
        return r->n_maps < EVENT_READER_MAPS ? &r->maps[r->n_maps++] : NULL;
}

bool event_reader_read_map(struct json_cursor *c, void *base, void *context)
{
        struct strmap *map = event_reader_new_map(context);
        char *name = NULL;
        if (!map)
                return json_skip_value(c);
        for (bool more = json_begin_members(c, &name); more; more = json_next_member(c, &name)) {
                char *value = NULL;
                if (!event_reader_read_raw(c, &value, context))
                        break;
                if (value)
                        strmap_set(map, name, value);
        }
        *(const struct strmap **)base = map;
        return !c->problem;
}

/* Skips an accumulable of Spark itself without looking at its fields. Returns false for others. */
static bool event_reader_skip_internal(struct json_cursor *c)
{
        static const char head[] = "{\"ID\":", name[] = ",\"Name\":\"internal.metrics.";
        if (memcmp(c->at, head, sizeof(head) - 1) != 0)
                return false;
        char *p = c->at + sizeof(head) - 1;
        while (*p >= '0' && *p <= '9')
                p++;
        if (memcmp(p, name, sizeof(name) - 1) != 0)
                return false;
        p += sizeof(name) - 1;
        char *end = memchr(p, '}', (size_t)(c->end - p));
        if (!end || memchr(p, '[', (size_t)(end - p)) || memchr(p, '{', (size_t)(end - p)) ||
            (end[1] != ',' && end[1] != ']'))
                return false;
        c->at = end + 1;
        return true;
}

struct accumulable_line {
        struct accumulable a;
        char *metadata;
        bool internal;
};

bool event_reader_read_accumulables(struct json_cursor *c, void *base, void *context)
{
        static const struct json_field fields[] = {
                JSON_FIELD(INT64, struct accumulable_line, a.id, "ID"),
                JSON_FIELD(TEXT, struct accumulable_line, a.name, "Name"),
                JSON_FIELD_CALL(event_reader_read_raw, offsetof(struct accumulable_line, a.update), "Update"),
                JSON_FIELD_CALL(event_reader_read_raw, offsetof(struct accumulable_line, a.value), "Value"),
                JSON_FIELD(BOOL, struct accumulable_line, internal, "Internal"),
                JSON_FIELD_CALL(NULL, 0, "Count Failed Values"),
                JSON_FIELD(TEXT, struct accumulable_line, metadata, "Metadata"),
        };
        static const struct json_fields table = JSON_FIELDS(fields);
        struct event_reader *r = context;
        VEC(struct accumulable) list = {0};
        for (bool more = json_begin_array(c); more; more = json_next_element(c)) {
                if (likely(event_reader_skip_internal(c)))
                        continue;
                struct accumulable_line l = {0};
                if (!json_read_object(c, &table, &l, r))
                        break;
                if (!l.internal && !(l.metadata && strcmp(l.metadata, "sql") == 0))
                        vec_push(&list, l.a);
        }
        event_reader_store(r, base, list.data, list.len, sizeof(list.data[0]));
        vec_deinit(&list);
        return !c->problem;
}

static const struct json_field block_manager_fields[] = {
        JSON_FIELD(TEXT, struct block_manager_ref, executor_id, "Executor ID"),
        JSON_FIELD(TEXT, struct block_manager_ref, host, "Host"),
        JSON_FIELD(INT32, struct block_manager_ref, port, "Port"),
};
const struct json_fields event_reader_block_manager_fields = JSON_FIELDS(block_manager_fields);

#define PEAK(i, name) JSON_FIELD(INT64, struct executor_peaks, values[i], name)
static const struct json_field peak_fields[] = {
        PEAK(0, "JVMHeapMemory"),
        PEAK(1, "JVMOffHeapMemory"),
        PEAK(2, "OnHeapExecutionMemory"),
        PEAK(3, "OffHeapExecutionMemory"),
        PEAK(4, "OnHeapStorageMemory"),
        PEAK(5, "OffHeapStorageMemory"),
        PEAK(6, "OnHeapUnifiedMemory"),
        PEAK(7, "OffHeapUnifiedMemory"),
        PEAK(8, "DirectPoolMemory"),
        PEAK(9, "MappedPoolMemory"),
        PEAK(10, "ProcessTreeJVMVMemory"),
        PEAK(11, "ProcessTreeJVMRSSMemory"),
        PEAK(12, "ProcessTreePythonVMemory"),
        PEAK(13, "ProcessTreePythonRSSMemory"),
        PEAK(14, "ProcessTreeOtherVMemory"),
        PEAK(15, "ProcessTreeOtherRSSMemory"),
        PEAK(16, "MinorGCCount"),
        PEAK(17, "MinorGCTime"),
        PEAK(18, "MajorGCCount"),
        PEAK(19, "MajorGCTime"),
        PEAK(20, "TotalGCTime"),
        PEAK(21, "ConcurrentGCCount"),
        PEAK(22, "ConcurrentGCTime"),
};
const struct json_fields event_reader_peak_fields = JSON_FIELDS(peak_fields);

/* ------------------------------------------------------------------------------------------ storage levels */

struct level_line {
        bool disk, memory, off_heap, deserialized;
        int32_t replicas;
};

/* Returns the level that equals @l, or else resembles it most: an application may define its own. */
static enum fst_storage_level event_reader_level(const struct level_line *l)
{
        static const struct {
                enum fst_storage_level level;
                struct level_line is;
        } levels[] = {
                {FST_STORAGE_MEMORY_ONLY, {.memory = true, .deserialized = true, .replicas = 1}},
                {FST_STORAGE_MEMORY_ONLY_2, {.memory = true, .deserialized = true, .replicas = 2}},
                {FST_STORAGE_MEMORY_ONLY_SER, {.memory = true, .replicas = 1}},
                {FST_STORAGE_MEMORY_ONLY_SER_2, {.memory = true, .replicas = 2}},
                {FST_STORAGE_MEMORY_AND_DISK, {.disk = true, .memory = true, .deserialized = true, .replicas = 1}},
                {FST_STORAGE_MEMORY_AND_DISK_2, {.disk = true, .memory = true, .deserialized = true, .replicas = 2}},
                {FST_STORAGE_MEMORY_AND_DISK_SER, {.disk = true, .memory = true, .replicas = 1}},
                {FST_STORAGE_MEMORY_AND_DISK_SER_2, {.disk = true, .memory = true, .replicas = 2}},
                {FST_STORAGE_DISK_ONLY, {.disk = true, .replicas = 1}},
                {FST_STORAGE_DISK_ONLY_2, {.disk = true, .replicas = 2}},
                {FST_STORAGE_DISK_ONLY_3, {.disk = true, .replicas = 3}},
        };
        if (!l->disk && !l->memory)
                return FST_STORAGE_NONE;
        if (l->off_heap)
                return FST_STORAGE_OFF_HEAP;
        enum fst_storage_level best = FST_STORAGE_MEMORY_ONLY;
        int best_score = -1;
        for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
                const struct level_line *is = &levels[i].is;
                int replicas = MIN(MAX(l->replicas, 1), 3);
                int score = 16 * (is->disk == l->disk && is->memory == l->memory) +
                            8 * (is->deserialized == l->deserialized) + 4 - (is->replicas > replicas) * 4 -
                            (replicas - MIN(is->replicas, replicas));
                if (score > best_score) {
                        best_score = score;
                        best = levels[i].level;
                }
        }
        return best;
}

bool event_reader_read_level(struct json_cursor *c, void *base, void *context)
{
        static const struct json_field fields[] = {
                JSON_FIELD(BOOL, struct level_line, disk, "Use Disk"),
                JSON_FIELD(BOOL, struct level_line, memory, "Use Memory"),
                JSON_FIELD(BOOL, struct level_line, off_heap, "Use Off Heap"),
                JSON_FIELD(BOOL, struct level_line, deserialized, "Deserialized"),
                JSON_FIELD(INT32, struct level_line, replicas, "Replication"),
        };
        static const struct json_fields table = JSON_FIELDS(fields);
        struct level_line l = {.replicas = 1};
        if (!json_read_object(c, &table, &l, context))
                return false;
        enum fst_storage_level level = event_reader_level(&l);
        memcpy(base, &level, sizeof(level));
        return true;
}

/* ------------------------------------------------------------------------------------------------ stages */

struct scope_line {
        char *id, *name;
        const struct rdd_scope *parent;
        int depth;
};

static bool event_reader_read_outer_scope(struct json_cursor *c, void *base, void *context);

static const struct json_field scope_fields[] = {
        JSON_FIELD(TEXT, struct scope_line, id, "id"),
        JSON_FIELD(TEXT, struct scope_line, name, "name"),
        JSON_FIELD_CALL(event_reader_read_outer_scope, 0, "parent"),
};
static const struct json_fields scope_table = JSON_FIELDS(scope_fields);

static bool event_reader_read_outer_scope(struct json_cursor *c, void *base, void *context)
{
        struct event_reader *r = context;
        struct scope_line *inner = base, l = {.depth = inner->depth + 1};
        if (l.depth > 30) {
                c->problem = "scopes are nested too deeply";
                return false;
        }
        if (!json_read_object(c, &scope_table, &l, r))
                return false;
        struct rdd_scope *scope = arena_alloc(&r->arena, sizeof(*scope));
        *scope = (struct rdd_scope){.id = l.id ? l.id : "", .name = l.name ? l.name : "", .parent = l.parent};
        inner->parent = scope;
        return true;
}

/* Reads the JSON in the string "Scope". Spark's reader would fail on damaged ones. Here the RDD has no scope then. */
static bool event_reader_read_scope(struct json_cursor *c, void *base, void *context)
{
        struct rdd_info *rdd = base;
        char *text;
        size_t length;
        struct scope_line l = {0};
        if (!json_read_text(c, &text, &length) || !text)
                return !c->problem;
        struct json_cursor inner = {.at = text, .end = text + length};
        if (json_read_object(&inner, &scope_table, &l, context) && l.name) {
                rdd->scope = l.name;
                rdd->scope_id = l.id ? atoi(l.id) : 0;
                rdd->outer_scope = l.parent;
        }
        return true;
}

static bool event_reader_read_determinism(struct json_cursor *c, void *base, void *context)
{
        struct rdd_info *rdd = base;
        char *text;
        if (!json_read_text(c, &text, NULL) || !text)
                return !c->problem;
        rdd->determinism = strcmp(text, "INDETERMINATE") == 0 ? RDD_INDETERMINATE
                           : strcmp(text, "UNORDERED") == 0   ? RDD_UNORDERED
                                                              : RDD_DETERMINATE;
        return true;
}

static bool event_reader_read_rdds(struct json_cursor *c, void *base, void *context)
{
        static const struct json_field fields[] = {
                JSON_FIELD(INT32, struct rdd_info, id, "RDD ID"),
                JSON_FIELD(TEXT, struct rdd_info, name, "Name"),
                JSON_FIELD_CALL(event_reader_read_scope, 0, "Scope"),
                JSON_FIELD(TEXT, struct rdd_info, call_site, "Callsite"),
                JSON_FIELD_CALL(event_reader_read_ids, offsetof(struct rdd_info, parent_ids), "Parent IDs"),
                JSON_FIELD_CALL(event_reader_read_level, offsetof(struct rdd_info, level), "Storage Level"),
                JSON_FIELD(BOOL, struct rdd_info, barrier, "Barrier"),
                JSON_FIELD_CALL(event_reader_read_determinism, 0, "DeterministicLevel"),
                JSON_FIELD(INT32, struct rdd_info, partitions, "Number of Partitions"),
                JSON_FIELD(INT32, struct rdd_info, cached_partitions, "Number of Cached Partitions"),
                JSON_FIELD(INT64, struct rdd_info, memory_size, "Memory Size"),
                JSON_FIELD(INT64, struct rdd_info, disk_size, "Disk Size"),
        };
        static const struct json_fields table = JSON_FIELDS(fields);
        VEC(struct rdd_info) rdds = {0};
        for (bool more = json_begin_array(c); more; more = json_next_element(c)) {
                vec_push(&rdds, (struct rdd_info){.name = "", .call_site = ""});
                if (!json_read_object(c, &table, &rdds.data[rdds.len - 1], context))
                        break;
        }
        event_reader_store(context, base, rdds.data, rdds.len, sizeof(rdds.data[0]));
        vec_deinit(&rdds);
        return !c->problem;
}

static const struct json_field stage_fields[] = {
        JSON_FIELD(INT32, struct stage_info, id, "Stage ID"),
        JSON_FIELD(INT32, struct stage_info, attempt, "Stage Attempt ID"),
        JSON_FIELD(TEXT, struct stage_info, name, "Stage Name"),
        JSON_FIELD(INT32, struct stage_info, tasks, "Number of Tasks"),
        JSON_FIELD_CALL(event_reader_read_rdds, offsetof(struct stage_info, rdds), "RDD Info"),
        JSON_FIELD_CALL(event_reader_read_ids, offsetof(struct stage_info, parent_ids), "Parent IDs"),
        JSON_FIELD(TEXT, struct stage_info, details, "Details"),
        JSON_FIELD(INT64, struct stage_info, submission_ms, "Submission Time"),
        JSON_FIELD(INT64, struct stage_info, completion_ms, "Completion Time"),
        JSON_FIELD(TEXT, struct stage_info, failure_reason, "Failure Reason"),
        JSON_FIELD_CALL(event_reader_read_accumulables, offsetof(struct stage_info, accumulables), "Accumulables"),
        JSON_FIELD(INT32, struct stage_info, resource_profile, "Resource Profile Id"),
        JSON_FIELD(BOOL, struct stage_info, push_enabled, "Shuffle Push Enabled"),
        JSON_FIELD(INT32, struct stage_info, n_mergers, "Shuffle Push Mergers Count"),
};
const struct json_fields event_reader_stage_fields = JSON_FIELDS(stage_fields);

bool event_reader_read_stages(struct json_cursor *c, void *base, void *context)
{
        VEC(struct stage_info) stages = {0};
        for (bool more = json_begin_array(c); more; more = json_next_element(c)) {
                vec_push(&stages, (struct stage_info){.name = "", .details = ""});
                if (!json_read_object(c, &event_reader_stage_fields, &stages.data[stages.len - 1], context))
                        break;
        }
        event_reader_store(context, base, stages.data, stages.len, sizeof(stages.data[0]));
        vec_deinit(&stages);
        return !c->problem;
}
