/*
 * See block_master.h. A hash table maps a block's name to its holders. Besides, the blocks of an RDD and the pieces of
 * a broadcast are in a list of their own, so that forgetting them costs their own number, not the table's.
 *
 * Invariant: a block is in the table exactly while it has a holder. `having` of an executor counts its blocks.
 */
#include "driver/backend/block_master.h"

#include "base/clock.h"
#include "base/hash_table.h"
#include "base/mem.h"
#include "base/vec.h"
#include "store/storage_level.h"

#include <pthread.h>

#define MAX_LOOKED_AT MAX_BLOCK_LOCATIONS /* of holders: thousands of executors may have a piece and ask for it */

struct block_holder {
        struct block_executor *executor;
        struct block_info info;
};

struct block_entry {
        struct block_entry *chain;        /* in the table */
        struct block_entry *next, **link; /* of the same group */
        struct block_name name;
        VEC(struct block_holder) holders;
        VEC(uint64_t) held_by; /* a bit for each executor, by index + 1 */
};

/* All blocks of one RDD or broadcast variable. */
struct block_group {
        struct block_group *chain;
        enum block_kind kind;
        int64_t id;
        struct block_entry *first;
};

struct block_executor {
        int index;
        char *id, *host;
        int port;
        size_t having;
        bool leaves;
};

struct block_master {
        pthread_mutex_t lock;
        struct block_entry **table;
        size_t slots, count;
        struct block_group **groups;
        size_t group_slots, group_count;
        VEC(struct block_executor *) executors; /* by index + 1; NULL: unknown */
        uint64_t random;
        struct block_master_observer observer;
};

static uint64_t block_master_random(struct block_master *m)
{
        return object_hash_number(m->random += 0x9E3779B97F4A7C15u);
}

static uint64_t block_master_hash(enum block_kind kind, int64_t id, int32_t part)
{
        return object_hash_number(object_hash_number((uint64_t)id * 8 + (uint64_t)kind) + (uint64_t)(uint32_t)part);
}

struct block_master *block_master_new(void)
{
        struct block_master *m = new0(struct block_master);
        pthread_mutex_init(&m->lock, NULL);
        m->slots = m->group_slots = 64;
        m->table = new_array(struct block_entry *, m->slots);
        m->groups = new_array(struct block_group *, m->group_slots);
        m->random = (uint64_t)now_ns();
        return m;
}

static void block_master_executor_free(struct block_executor *e)
{
        if (!e)
                return;
        free(e->id);
        free(e->host);
        free(e);
}

void block_master_free(struct block_master *m)
{
        if (!m)
                return;
        for (size_t i = 0; i < m->slots; i++)
                for (struct block_entry *e = m->table[i], *next; e; e = next) {
                        next = e->chain;
                        vec_deinit(&e->holders);
                        vec_deinit(&e->held_by);
                        free(e);
                }
        for (size_t i = 0; i < m->group_slots; i++)
                for (struct block_group *g = m->groups[i], *next; g; g = next) {
                        next = g->chain;
                        free(g);
                }
        for (size_t i = 0; i < m->executors.len; i++)
                block_master_executor_free(m->executors.data[i]);
        vec_deinit(&m->executors);
        free(m->table);
        free(m->groups);
        pthread_mutex_destroy(&m->lock);
        free(m);
}

void block_master_set_observer(struct block_master *m, const struct block_master_observer *observer)
{
        m->observer = observer ? *observer : (struct block_master_observer){0};
}

/* ------------------------------------------------------------------------------------------------- the tables */

static struct block_entry **entry_slot(struct block_master *m, struct block_name name)
{
        return &m->table[block_master_hash(name.kind, name.id, name.part) & (m->slots - 1)];
}

static struct block_entry *entry_find(struct block_master *m, struct block_name name)
{
        struct block_entry *e = *entry_slot(m, name);
        while (e && (e->name.kind != name.kind || e->name.id != name.id || e->name.part != name.part))
                e = e->chain;
        return e;
}

static struct block_group **group_slot(struct block_master *m, enum block_kind kind, int64_t id)
{
        return &m->groups[block_master_hash(kind, id, 0) & (m->group_slots - 1)];
}

static struct block_group *group_find(struct block_master *m, enum block_kind kind, int64_t id)
{
        struct block_group *g = *group_slot(m, kind, id);
        while (g && (g->kind != kind || g->id != id))
                g = g->chain;
        return g;
}

static void block_master_grow_entries(struct block_master *m)
{
        struct block_entry **old = m->table;
        size_t n = m->slots;
        m->slots = n * 2;
        m->table = new_array(struct block_entry *, m->slots);
        for (size_t i = 0; i < n; i++)
                for (struct block_entry *e = old[i], *next; e; e = next) {
                        struct block_entry **slot = entry_slot(m, e->name);
                        next = e->chain;
                        e->chain = *slot;
                        *slot = e;
                }
        free(old);
}

static void block_master_grow_groups(struct block_master *m)
{
        struct block_group **old = m->groups;
        size_t n = m->group_slots;
        m->group_slots = n * 2;
        m->groups = new_array(struct block_group *, m->group_slots);
        for (size_t i = 0; i < n; i++)
                for (struct block_group *g = old[i], *next; g; g = next) {
                        struct block_group **slot = group_slot(m, g->kind, g->id);
                        next = g->chain;
                        g->chain = *slot;
                        *slot = g;
                }
        free(old);
}

static struct block_entry *entry_add(struct block_master *m, struct block_name name)
{
        struct block_group *g = group_find(m, name.kind, name.id);
        if (!g) {
                if (++m->group_count > m->group_slots)
                        block_master_grow_groups(m);
                struct block_group **slot = group_slot(m, name.kind, name.id);
                g = new0(struct block_group);
                *g = (struct block_group){.chain = *slot, .kind = name.kind, .id = name.id};
                *slot = g;
        }
        if (++m->count > m->slots)
                block_master_grow_entries(m);
        struct block_entry **slot = entry_slot(m, name), *e = new0(struct block_entry);
        e->name = name;
        e->chain = *slot;
        *slot = e;
        e->next = g->first;
        e->link = &g->first;
        if (e->next)
                e->next->link = &e->next;
        g->first = e;
        return e;
}

static void entry_remove(struct block_master *m, struct block_entry *e)
{
        struct block_entry **at = entry_slot(m, e->name);
        while (*at != e)
                at = &(*at)->chain;
        *at = e->chain;
        *e->link = e->next;
        if (e->next)
                e->next->link = e->link;
        m->count--;
        struct block_group **g = group_slot(m, e->name.kind, e->name.id);
        while ((*g)->kind != e->name.kind || (*g)->id != e->name.id)
                g = &(*g)->chain;
        if (!(*g)->first) {
                struct block_group *empty = *g;
                *g = empty->chain;
                free(empty);
                m->group_count--;
        }
        vec_deinit(&e->holders);
        vec_deinit(&e->held_by);
        free(e);
}

static bool block_entry_has(const struct block_entry *e, const struct block_executor *executor)
{
        size_t bit = (size_t)(executor->index + 1);
        return bit / 64 < e->held_by.len && (e->held_by.data[bit / 64] >> (bit % 64) & 1);
}

static void block_entry_set_held(struct block_entry *e, const struct block_executor *executor, bool held)
{
        size_t bit = (size_t)(executor->index + 1);
        while (e->held_by.len <= bit / 64)
                vec_push(&e->held_by, 0);
        e->held_by.data[bit / 64] &= ~((uint64_t)1 << (bit % 64));
        e->held_by.data[bit / 64] |= (uint64_t)held << (bit % 64);
}

/* Removes a holder. Returns true if it was the last, and the block is removed too. */
static bool holder_remove_at(struct block_master *m, struct block_entry *e, size_t at)
{
        struct block_executor *executor = e->holders.data[at].executor;
        block_entry_set_held(e, executor, false);
        executor->having--;
        e->holders.data[at] = e->holders.data[--e->holders.len];
        if (e->holders.len > 0)
                return false;
        entry_remove(m, e);
        return true;
}

static bool holder_remove(struct block_master *m, struct block_entry *e, const struct block_executor *executor)
{
        for (size_t i = 0; i < e->holders.len && block_entry_has(e, executor); i++)
                if (e->holders.data[i].executor == executor)
                        return holder_remove_at(m, e, i);
        return false;
}

/* -------------------------------------------------------------------------------------------------- executors */

static struct block_executor *block_master_executor(struct block_master *m, int executor)
{
        size_t at = (size_t)(executor + 1);
        return executor >= -1 && at < m->executors.len ? m->executors.data[at] : NULL;
}

typedef VEC(struct block_copy) block_copies;

/* Whether a partition has fewer copies than its level asks for. Sets *@copy to the executor that makes one. */
static bool block_entry_is_short(struct block_master *m, const struct block_entry *e, struct block_copy *copy)
{
        const struct block_holder *h = &e->holders.data[block_master_random(m) % e->holders.len];
        if (e->name.kind != BLOCK_RDD || h->executor->index < 0 ||
            e->holders.len >= (size_t)storage_level_replicas(h->info.level))
                return false;
        *copy = (struct block_copy){h->executor->index, (int)e->name.id, e->name.part};
        return true;
}

/* @short_of may be NULL. */
static size_t block_master_forget(struct block_master *m, struct block_executor *executor, block_copies *short_of)
{
        size_t lost = 0;
        struct block_copy copy;
        for (size_t i = 0; i < m->slots && executor->having > 0; i++)
                for (struct block_entry *e = m->table[i], *next; e; e = next) {
                        size_t had = executor->having;
                        next = e->chain;
                        if (holder_remove(m, e, executor))
                                lost++;
                        else if (short_of && executor->having < had && block_entry_is_short(m, e, &copy))
                                vec_push(short_of, copy);
                }
        return lost;
}

static int block_master_by_executor(const void *a, const void *b)
{
        const struct block_copy *x = a, *y = b;
        return (x->executor > y->executor) - (x->executor < y->executor);
}

void block_master_add_executor(struct block_master *m, int executor, const char *id, const char *host, int port)
{
        struct block_executor *e = new0(struct block_executor);
        *e = (struct block_executor){.index = executor, .id = mem_strdup(id), .host = mem_strdup(host), .port = port};
        pthread_mutex_lock(&m->lock);
        struct block_executor *before = block_master_executor(m, executor);
        if (before)
                block_master_forget(m, before, NULL);
        block_master_executor_free(before);
        while (m->executors.len < (size_t)(executor + 2))
                vec_push(&m->executors, NULL);
        m->executors.data[executor + 1] = e;
        pthread_mutex_unlock(&m->lock);
}

size_t block_master_remove_executor(struct block_master *m, int executor, struct block_copy **short_of, size_t *n)
{
        block_copies copies = {0};
        size_t lost = 0;
        pthread_mutex_lock(&m->lock);
        struct block_executor *e = block_master_executor(m, executor);
        if (e) {
                lost = block_master_forget(m, e, short_of ? &copies : NULL);
                m->executors.data[executor + 1] = NULL;
        }
        pthread_mutex_unlock(&m->lock);
        block_master_executor_free(e);
        if (short_of) {
                if (copies.len)
                        qsort(copies.data, copies.len, sizeof(copies.data[0]), block_master_by_executor);
                *short_of = copies.data;
                *n = copies.len;
        }
        return lost;
}

static struct block_location block_master_location(const struct block_executor *e)
{
        struct block_location l = {.executor = e->index, .port = e->port};
        strncpy(l.host, e->host, sizeof(l.host) - 1);
        return l;
}

/* ---------------------------------------------------------------------------------------------------- updates */

static void block_master_record(struct block_master *m, struct block_executor *executor, struct block_name name,
                                const struct block_info *info)
{
        struct block_entry *e = entry_find(m, name);
        if (info->level == FST_STORAGE_NONE) {
                if (e)
                        holder_remove(m, e, executor);
                return;
        }
        if (!e)
                e = entry_add(m, name);
        for (size_t i = 0; i < e->holders.len && block_entry_has(e, executor); i++)
                if (e->holders.data[i].executor == executor) {
                        e->holders.data[i].info = *info;
                        return;
                }
        block_entry_set_held(e, executor, true);
        vec_push(&e->holders, (struct block_holder){executor, *info});
        executor->having++;
}

bool block_master_update(struct block_master *m, int executor, struct block_name name, const struct block_info *info)
{
        struct block_location at;
        char id[64] = "";
        if (!storage_level_valid((int)info->level))
                return false;
        pthread_mutex_lock(&m->lock);
        struct block_executor *e = block_master_executor(m, executor);
        if (e) {
                block_master_record(m, e, name, info);
                at = block_master_location(e);
                strncpy(id, e->id, sizeof(id) - 1);
        }
        struct block_master_observer observer = m->observer;
        pthread_mutex_unlock(&m->lock);
        if (e && observer.block_updated)
                observer.block_updated(observer.owner, &at, id, name, info);
        return e;
}

/* ---------------------------------------------------------------------------------------------------- look-ups */

/* The sort key of a holder: nearest first, the driver last, otherwise random. */
static uint64_t block_master_rank(struct block_master *m, const struct block_executor *e,
                                  const struct block_executor *asker)
{
        uint64_t near = asker && strcmp(asker->host, e->host) == 0 ? 0 : 1;
        return (e->index < 0 ? (uint64_t)2 : near) << 62 | block_master_random(m) >> 2;
}

struct ranked_executor {
        uint64_t rank;
        const struct block_executor *executor;
        const struct block_info *info;
};

/* Keep the @max elements of lowest rank, in order. */
static int ranked_add(struct ranked_executor *list, int n, int max, struct ranked_executor one)
{
        int at = n < max ? n : max - 1;
        if (n == max && (max == 0 || list[at].rank <= one.rank))
                return n;
        for (; at > 0 && list[at - 1].rank > one.rank; at--)
                list[at] = list[at - 1];
        list[at] = one;
        return MIN(n + 1, max);
}

static int block_master_copy_locations(const struct ranked_executor *list, int n, struct block_location *out)
{
        for (int i = 0; i < n; i++)
                out[i] = block_master_location(list[i].executor);
        return n;
}

int block_master_locations(struct block_master *m, struct block_name name, int asker, struct block_location *out,
                           int max, struct block_info *info)
{
        struct ranked_executor list[MAX_BLOCK_LOCATIONS];
        int n = 0;
        max = MIN(max, MAX_BLOCK_LOCATIONS);
        pthread_mutex_lock(&m->lock);
        const struct block_executor *asking = block_master_executor(m, asker);
        struct block_entry *e = entry_find(m, name);
        size_t all = e ? e->holders.len : 0, first = all > MAX_LOOKED_AT ? block_master_random(m) % all : 0;
        for (size_t i = 0; i < MIN(all, (size_t)MAX_LOOKED_AT); i++) {
                const struct block_holder *h = &e->holders.data[(first + i) % all];
                if (h->executor != asking)
                        n = ranked_add(list, n, max,
                                       (struct ranked_executor){block_master_rank(m, h->executor, asking), h->executor,
                                                                &h->info});
        }
        if (n > 0 && info)
                *info = *list[0].info;
        block_master_copy_locations(list, n, out);
        pthread_mutex_unlock(&m->lock);
        return n;
}

int block_master_executors(struct block_master *m, int rdd, int partition, int *out, int max)
{
        int n = 0;
        pthread_mutex_lock(&m->lock);
        struct block_entry *e = entry_find(m, (struct block_name){BLOCK_RDD, rdd, partition});
        for (size_t i = 0; e && i < e->holders.len && n < max; i++)
                if (e->holders.data[i].executor->index >= 0)
                        out[n++] = e->holders.data[i].executor->index;
        pthread_mutex_unlock(&m->lock);
        return n;
}

bool block_master_cached(struct block_master *m, int rdd, int partition)
{
        pthread_mutex_lock(&m->lock);
        bool there = entry_find(m, (struct block_name){BLOCK_RDD, rdd, partition}) != NULL;
        pthread_mutex_unlock(&m->lock);
        return there;
}

/*
 * Spark's default policy is RandomBlockReplicationPolicy. As in its BasicBlockReplicationPolicy with one rack for each
 * host, executors on other hosts come first: a copy on the same host is lost with it.
 */
int block_master_peers(struct block_master *m, int asker, const struct block_name *name, struct block_location *out,
                       int max)
{
        struct ranked_executor list[MAX_BLOCK_LOCATIONS];
        int n = 0;
        max = MIN(max, MAX_BLOCK_LOCATIONS);
        pthread_mutex_lock(&m->lock);
        const struct block_executor *asking = block_master_executor(m, asker);
        const struct block_entry *there = name ? entry_find(m, *name) : NULL;
        for (size_t i = 1; i < m->executors.len; i++) {
                const struct block_executor *x = m->executors.data[i];
                if (!x || x == asking || x->leaves || (there && block_entry_has(there, x)))
                        continue;
                uint64_t far = asking && strcmp(asking->host, x->host) == 0 ? 1 : 0;
                n = ranked_add(list, n, max,
                               (struct ranked_executor){far << 62 | block_master_random(m) >> 2, x, NULL});
        }
        block_master_copy_locations(list, n, out);
        pthread_mutex_unlock(&m->lock);
        return n;
}

void block_master_decommission(struct block_master *m, int executor)
{
        pthread_mutex_lock(&m->lock);
        struct block_executor *x = block_master_executor(m, executor);
        if (x)
                x->leaves = true;
        pthread_mutex_unlock(&m->lock);
}

struct block_totals block_master_rdd(struct block_master *m, int rdd)
{
        struct block_totals totals = {0};
        pthread_mutex_lock(&m->lock);
        struct block_group *g = group_find(m, BLOCK_RDD, rdd);
        for (struct block_entry *e = g ? g->first : NULL; e; e = e->next) {
                totals.partitions++;
                for (size_t i = 0; i < e->holders.len; i++) {
                        totals.memory_bytes += e->holders.data[i].info.memory_bytes;
                        totals.disk_bytes += e->holders.data[i].info.disk_bytes;
                }
        }
        pthread_mutex_unlock(&m->lock);
        return totals;
}

/* --------------------------------------------------------------------------------------------------- removal */

static int block_master_remove_group(struct block_master *m, enum block_kind kind, int64_t id, bool on_driver,
                                     int **executors)
{
        VEC(int) had = {0};
        pthread_mutex_lock(&m->lock);
        bool *seen = new_array(bool, m->executors.len + 1);
        struct block_group *g = group_find(m, kind, id);
        for (struct block_entry *e = g ? g->first : NULL, *next; e; e = next) {
                next = e->next;
                for (size_t i = e->holders.len; i-- > 0;) {
                        struct block_executor *x = e->holders.data[i].executor;
                        if (x->index < 0 && !on_driver)
                                continue;
                        if (x->index >= 0 && !seen[x->index])
                                vec_push(&had, x->index);
                        if (x->index >= 0)
                                seen[x->index] = true;
                        if (holder_remove_at(m, e, i))
                                break;
                }
        }
        free(seen);
        pthread_mutex_unlock(&m->lock);
        *executors = had.data;
        return (int)had.len;
}

int block_master_remove_rdd(struct block_master *m, int rdd, int **executors)
{
        return block_master_remove_group(m, BLOCK_RDD, rdd, true, executors);
}

int block_master_remove_broadcast(struct block_master *m, int64_t id, bool on_driver, int **executors)
{
        return block_master_remove_group(m, BLOCK_BROADCAST, id, on_driver, executors);
}
