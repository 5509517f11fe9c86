/* Persisted RDDs and their blocks; see status.h. */
#include "base/mem.h"
#include "status/status_internal.h"
#include "store/storage_level.h"

#include <stdio.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------- levels */

enum { LEVEL_TEXTS = FST_STORAGE_OFF_HEAP + 1 };

/* `Disk Memory (off heap) Deserialized 2x Replicated` */
static void status_format_level(struct storage_level l, char *to, size_t size)
{
        const char *memory = !l.memory ? "" : l.off_heap ? "Memory (off heap) " : "Memory ";
        snprintf(to, size, "%s%s%s %dx Replicated", l.disk ? "Disk " : "", memory,
                 l.deserialized ? "Deserialized" : "Serialized", MAX(l.replicas, 1));
}

const char *status_level_text(enum fst_storage_level level)
{
        static const char *const texts[LEVEL_TEXTS] = {
                [FST_STORAGE_NONE] = "Serialized 1x Replicated",
                [FST_STORAGE_MEMORY_ONLY] = "Memory Deserialized 1x Replicated",
                [FST_STORAGE_MEMORY_ONLY_2] = "Memory Deserialized 2x Replicated",
                [FST_STORAGE_MEMORY_ONLY_SER] = "Memory Serialized 1x Replicated",
                [FST_STORAGE_MEMORY_ONLY_SER_2] = "Memory Serialized 2x Replicated",
                [FST_STORAGE_MEMORY_AND_DISK] = "Disk Memory Deserialized 1x Replicated",
                [FST_STORAGE_MEMORY_AND_DISK_2] = "Disk Memory Deserialized 2x Replicated",
                [FST_STORAGE_MEMORY_AND_DISK_SER] = "Disk Memory Serialized 1x Replicated",
                [FST_STORAGE_MEMORY_AND_DISK_SER_2] = "Disk Memory Serialized 2x Replicated",
                [FST_STORAGE_DISK_ONLY] = "Disk Serialized 1x Replicated",
                [FST_STORAGE_DISK_ONLY_2] = "Disk Serialized 2x Replicated",
                [FST_STORAGE_DISK_ONLY_3] = "Disk Serialized 3x Replicated",
                [FST_STORAGE_OFF_HEAP] = "Disk Memory (off heap) Serialized 1x Replicated",
        };
        return texts[level];
}

/* --------------------------------------------------------------------------------------------------- RDDs */

struct status_rdd *status_find_rdd(const struct status *s, int id)
{
        for (size_t i = 0; i < s->rdds.len; i++)
                if (s->rdds.data[i]->id == id)
                        return s->rdds.data[i];
        return NULL;
}

void status_rdd_free(struct status_rdd *rdd)
{
        for (size_t i = 0; i < rdd->cached.len; i++)
                vec_deinit(&rdd->cached.data[i].executors);
        vec_deinit(&rdd->cached);
        vec_deinit(&rdd->distributions);
        vec_deinit(&rdd->places);
        free(rdd);
}

void status_add_rdds(struct status *s, const struct stage_info *stage)
{
        for (size_t i = 0; i < stage->n_rdds; i++) {
                const struct rdd_info *info = &stage->rdds[i];
                if (info->level == FST_STORAGE_NONE)
                        continue;
                struct status_rdd *rdd = status_find_rdd(s, info->id);
                if (!rdd) {
                        rdd = new0(struct status_rdd);
                        rdd->id = info->id;
                        vec_push(&s->rdds, rdd);
                }
                rdd->name = status_text(s, info->name);
                rdd->level = status_level_text(info->level);
                rdd->partitions = info->partitions;
        }
}

void status_on_unpersist_rdd(struct status *s, const struct unpersist_rdd *e)
{
        for (size_t i = 0; i < s->rdds.len; i++) {
                struct status_rdd *rdd = s->rdds.data[i];
                if (rdd->id != e->rdd_id)
                        continue;
                for (size_t k = 0; k < rdd->cached.len; k++)
                        for (size_t n = 0; n < rdd->cached.data[k].executors.len; n++) {
                                const char *id = s->executor_names.data[rdd->cached.data[k].executors.data[n]].id;
                                struct status_executor *x = status_find_executor(s, id);
                                if (x && x->is_active)
                                        x->rdd_blocks--;
                        }
                for (size_t k = 0; k < rdd->distributions.len; k++) {
                        const struct status_distribution *d = &rdd->distributions.data[k];
                        struct status_executor *x = status_find_executor(s, s->executor_names.data[d->executor].id);
                        if (!x || !x->is_active)
                                continue;
                        x->memory_used = MAX(x->memory_used - d->memory_used, (int64_t)0);
                        x->disk_used = MAX(x->disk_used - d->disk_used, (int64_t)0);
                        x->used_on_heap = MAX(x->used_on_heap - d->on_heap_used, (int64_t)0);
                        x->used_off_heap = MAX(x->used_off_heap - d->off_heap_used, (int64_t)0);
                }
                status_rdd_free(rdd);
                memmove(&s->rdds.data[i], &s->rdds.data[i + 1], (s->rdds.len - i - 1) * sizeof(s->rdds.data[0]));
                s->rdds.len--;
                return;
        }
}

/* ------------------------------------------------------------------------------------------------- blocks */

static void status_add_delta(int64_t *value, int64_t delta)
{
        *value = MAX(*value + delta, (int64_t)0);
}

void status_rdd_index(struct status_rdd *rdd)
{
        for (size_t i = 0; i < rdd->cached.len; i++) {
                while (rdd->places.len <= rdd->cached.data[i].index)
                        vec_push(&rdd->places, 0);
                rdd->places.data[rdd->cached.data[i].index] = (uint32_t)i + 1;
        }
}

/* Returns the partition of a block, or NULL if the name has no valid number. */
static struct status_partition *status_get_partition(struct status *s, struct status_rdd *rdd, const char *block)
{
        const char *number = strchr(block + 4, '_');
        char *end = NULL;
        long index = number ? strtol(number + 1, &end, 10) : -1;
        if (index < 0 || index >= STATUS_MAX_PARTITIONS || end == number + 1)
                return NULL;
        while (rdd->places.len <= (size_t)index)
                vec_push(&rdd->places, 0);
        if (rdd->places.data[index])
                return &rdd->cached.data[rdd->places.data[index] - 1];
        struct status_partition p = {.index = (uint32_t)index, .block = status_text(s, block), .level = ""};
        vec_push(&rdd->cached, p);
        rdd->places.data[index] = (uint32_t)rdd->cached.len;
        return &rdd->cached.data[rdd->cached.len - 1];
}

static void status_remove_partition(struct status_rdd *rdd, struct status_partition *p)
{
        vec_deinit(&p->executors);
        rdd->places.data[p->index] = 0;
        *p = rdd->cached.data[--rdd->cached.len];
        if (p < rdd->cached.data + rdd->cached.len)
                rdd->places.data[p->index] = (uint32_t)(p - rdd->cached.data) + 1;
}

/* Sets whether a partition is on an executor. Returns by how many the executor's blocks change. */
static int status_partition_set_executor(struct status_partition *p, uint32_t executor, bool held)
{
        for (size_t i = 0; i < p->executors.len; i++) {
                if (p->executors.data[i] != executor)
                        continue;
                if (held)
                        return 0;
                memmove(&p->executors.data[i], &p->executors.data[i + 1],
                        (p->executors.len - i - 1) * sizeof(p->executors.data[0]));
                p->executors.len--;
                return -1;
        }
        if (held)
                vec_push(&p->executors, executor);
        return held;
}

static struct status_distribution *status_get_distribution(struct status_rdd *rdd, uint32_t executor)
{
        for (size_t i = 0; i < rdd->distributions.len; i++)
                if (rdd->distributions.data[i].executor == executor)
                        return &rdd->distributions.data[i];
        vec_push(&rdd->distributions, (struct status_distribution){.executor = executor});
        return &rdd->distributions.data[rdd->distributions.len - 1];
}

static void status_remove_distribution(struct status_rdd *rdd, uint32_t executor)
{
        for (size_t i = 0; i < rdd->distributions.len; i++)
                if (rdd->distributions.data[i].executor == executor)
                        rdd->distributions.data[i] = rdd->distributions.data[--rdd->distributions.len];
}

/* The change of a block, as Spark counts it: the sizes are added where the level says, else subtracted. */
struct status_block_change {
        int64_t memory, disk;
        bool off_heap, held;
        const char *level; /* NULL: removed */
};

static void status_change_executor(struct status_executor *x, const struct status_block_change *c)
{
        status_add_delta(&x->memory_used, c->memory);
        status_add_delta(&x->disk_used, c->disk);
        if (x->has_memory_info)
                status_add_delta(c->off_heap ? &x->used_off_heap : &x->used_on_heap, c->memory);
}

static void status_change_rdd(struct status *s, struct status_rdd *rdd, const char *block, struct status_executor *x,
                              const struct status_block_change *c)
{
        struct status_partition *p = status_get_partition(s, rdd, block);
        if (!p)
                return;
        int delta = status_partition_set_executor(p, x->number, c->held);
        if (p->executors.len) {
                p->level = c->level ? status_text(s, c->level) : p->level;
                status_add_delta(&p->memory_used, c->memory);
                status_add_delta(&p->disk_used, c->disk);
        } else {
                status_remove_partition(rdd, p);
        }
        if (x->rdd_blocks + delta > 0) {
                struct status_distribution *d = status_get_distribution(rdd, x->number);
                status_add_delta(&d->memory_used, c->memory);
                status_add_delta(&d->disk_used, c->disk);
                if (x->has_memory_info)
                        status_add_delta(c->off_heap ? &d->off_heap_used : &d->on_heap_used, c->memory);
        } else {
                status_remove_distribution(rdd, x->number);
        }
        x->rdd_blocks = MAX(x->rdd_blocks + delta, (int64_t)0);
        status_add_delta(&rdd->memory_used, c->memory);
        status_add_delta(&rdd->disk_used, c->disk);
}

void status_on_block_updated(struct status *s, const struct block_updated *e)
{
        const struct block_update *b = &e->block;
        struct status_executor *x = status_find_executor(s, b->manager.executor_id);
        struct storage_level level = {0};
        char text[64];
        if (!x)
                return;
        if (b->level != FST_STORAGE_NONE)
                level = storage_level_of_block(b->level, b->memory_size, b->disk_size);
        status_format_level(level, text, sizeof(text));
        const struct status_block_change c = {.memory = level.memory ? b->memory_size : -b->memory_size,
                                              .disk = level.disk ? b->disk_size : -b->disk_size,
                                              .off_heap = level.off_heap,
                                              .held = b->level != FST_STORAGE_NONE,
                                              .level = b->level == FST_STORAGE_NONE ? NULL : text};
        bool is_rdd = strncmp(b->block_id, "rdd_", 4) == 0;
        if (is_rdd || strncmp(b->block_id, "broadcast_", 10) == 0)
                status_change_executor(x, &c);
        struct status_rdd *rdd = is_rdd ? status_find_rdd(s, atoi(b->block_id + 4)) : NULL;
        if (rdd)
                status_change_rdd(s, rdd, b->block_id, x, &c);
}

void status_forget_executor_blocks(struct status *s, uint32_t executor)
{
        for (size_t i = 0; i < s->rdds.len; i++) {
                struct status_rdd *rdd = s->rdds.data[i];
                status_remove_distribution(rdd, executor);
                for (size_t k = rdd->cached.len; k-- > 0;) {
                        struct status_partition *p = &rdd->cached.data[k];
                        int64_t holders = (int64_t)p->executors.len;
                        if (!holders || status_partition_set_executor(p, executor, false) == 0)
                                continue;
                        int64_t memory = p->memory_used / holders, disk = p->disk_used / holders;
                        status_add_delta(&rdd->memory_used, -memory);
                        status_add_delta(&rdd->disk_used, -disk);
                        status_add_delta(&p->memory_used, -memory);
                        status_add_delta(&p->disk_used, -disk);
                        if (!p->executors.len)
                                status_remove_partition(rdd, p);
                }
        }
}
