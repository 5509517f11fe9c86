/*
 * A pool lists only children with tasks to launch, so that picking skips the thousands of task sets that wait for their
 * last tasks. A FIFO pool keeps its active children in order, and picks the first. A FAIR pool compares all of them at
 * each pick, because each launch changes the running counts. A comparison is a few integer products.
 *
 * Spark sorts once for a round of offers, and the first task set takes all that it can. Here each core goes to the set
 * that is first at that moment, which is fairer when many cores become free at once. Spark breaks ties of FAIR
 * task sets by their names as strings ("10.0" before "2.0"), Firesteel by their numbers.
 *
 * Invariants: a pool is active if and only if one of its children is. running of a pool is the sum over its leaves.
 */
#include "sched/tasks/pool.h"

#include "base/list.h"
#include "base/log.h"
#include "base/mem.h"

#include <stdint.h>

#define LOG "FairSchedulableBuilder"

static const char *pool_mode_name(enum scheduling_mode mode)
{
        return mode == SCHEDULING_FAIR ? "FAIR" : "FIFO";
}

struct pool *pool_new(const char *name, enum scheduling_mode mode, int min_share, int weight)
{
        struct pool *pool = new0(struct pool);

        pool->name = mem_strdup(name);
        pool->mode = mode;
        pool->node.pool = pool;
        pool->node.min_share = min_share;
        pool->node.weight = MAX(weight, 1);
        return pool;
}

void pool_free(struct pool *pool)
{
        if (!pool)
                return;
        for (struct pool *child = pool->children; child;) {
                struct pool *next = child->sibling;

                pool_free(child);
                child = next;
        }
        free(pool->name);
        free(pool);
}

void pool_add_child(struct pool *parent, struct pool *child)
{
        child->node.parent = parent;
        child->sibling = parent->children;
        parent->children = child;
}

struct pool *pool_find(struct pool *root, const char *name)
{
        if (strcmp(root->name, name) == 0)
                return root;
        for (struct pool *child = root->children; child; child = child->sibling) {
                struct pool *found = pool_find(child, name);

                if (found)
                        return found;
        }
        return NULL;
}

struct pool *pool_build(enum scheduling_mode mode, const struct pool_spec *specs, int n)
{
        struct pool *root = pool_new("", mode, 0, 0);

        if (mode == SCHEDULING_FIFO)
                return root;
        for (int i = 0; i < n; i++) {
                struct pool *pool = pool_find(root, specs[i].name);

                if (!pool || pool == root) {
                        pool = pool_new(specs[i].name, specs[i].mode, specs[i].min_share, specs[i].weight);
                        pool_add_child(root, pool);
                }
                pool->mode = specs[i].mode;
                pool->node.min_share = specs[i].min_share;
                pool->node.weight = MAX(specs[i].weight, 1);
                log_info(LOG, "Created pool: %s, schedulingMode: %s, minShare: %d, weight: %d", specs[i].name,
                         pool_mode_name(specs[i].mode), specs[i].min_share, specs[i].weight);
        }
        if (!pool_find(root, POOL_DEFAULT_NAME)) {
                pool_add_child(root, pool_new(POOL_DEFAULT_NAME, SCHEDULING_FIFO, 0, 1));
                log_info(LOG, "Created default pool: %s, schedulingMode: FIFO, minShare: 0, weight: 1",
                         POOL_DEFAULT_NAME);
        }
        return root;
}

struct pool *pool_for_job(struct pool *root, const char *name)
{
        struct pool *pool = NULL;

        if (root->mode == SCHEDULING_FIFO)
                return root;
        if (!name || !*name)
                name = POOL_DEFAULT_NAME;
        pool = pool_find(root, name);
        if (pool)
                return pool;
        pool = pool_new(name, SCHEDULING_FIFO, 0, 1);
        pool_add_child(root, pool);
        log_warn(LOG,
                 "A job was submitted with scheduler pool %s, which has not been configured. This can happen when "
                 "the file that pools are read from isn't set, or when that file doesn't contain %s. Created %s "
                 "with default configuration (schedulingMode: FIFO, minShare: 0, weight: 1)",
                 name, name, name);
        return pool;
}

static bool fifo_before(const struct schedulable *a, const struct schedulable *b)
{
        if (a->priority != b->priority)
                return a->priority < b->priority;
        if (a->stage_id != b->stage_id)
                return a->stage_id < b->stage_id;
        return a->attempt < b->attempt;
}

/* Compares x/y with z/w in integers, y and w positive. Returns 0 if they are equal. */
static int compare_ratio(int64_t x, int64_t y, int64_t z, int64_t w)
{
        int64_t left = x * w, right = z * y;

        return left < right ? -1 : left > right;
}

static bool fair_before(const struct schedulable *a, const struct schedulable *b)
{
        bool a_needy = a->running < a->min_share;
        bool b_needy = b->running < b->min_share;
        int order;

        if (a_needy != b_needy)
                return a_needy;
        if (a_needy)
                order = compare_ratio(a->running, MAX(a->min_share, 1), b->running, MAX(b->min_share, 1));
        else
                order = compare_ratio(a->running, a->weight, b->running, b->weight);
        if (order != 0)
                return order < 0;
        if (a->pool && b->pool)
                return strcmp(a->pool->name, b->pool->name) < 0;
        return a->stage_id != b->stage_id ? a->stage_id < b->stage_id : a->attempt < b->attempt;
}

void schedulable_activate(struct schedulable *node, struct pool *parent)
{
        for (; parent && !node->active; node = &parent->node, parent = node->parent) {
                struct schedulable *after = parent->last;

                node->active = true;
                node->parent = parent;
                /* new task sets are the youngest, so a search from the end is short */
                while (parent->mode == SCHEDULING_FIFO && after && fifo_before(node, after))
                        after = after->prev;
                list_insert_after(parent, after, node);
        }
}

void schedulable_deactivate(struct schedulable *node)
{
        while (node && node->active) {
                struct pool *parent = node->parent;

                node->active = false;
                list_remove(parent, node);
                if (parent->first || !parent->node.parent)
                        return;
                node = &parent->node;
        }
}

void schedulable_running(struct schedulable *leaf, struct pool *pool, int change)
{
        leaf->running += change;
        for (; pool; pool = pool->node.parent)
                pool->node.running += change;
}

struct schedulable *pool_pick(const struct pool *pool)
{
        struct schedulable *best = pool->first;

        while (best) {
                if (pool->mode == SCHEDULING_FAIR)
                        for (struct schedulable *other = best->next; other; other = other->next)
                                if (fair_before(other, best))
                                        best = other;
                if (!best->pool)
                        return best;
                pool = best->pool;
                best = pool->first;
        }
        return NULL;
}
