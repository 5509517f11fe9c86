/*
 * Computes a stage's lineage over one partition; see pipeline.h.
 *
 * The nodes are the RDDs of the stage, each once, parents before children. feed(i, p, to) pushes partition p of node i
 * into the operator `to`: the node's class (rdd_class.h) feeds its own operator, which is then ended. A persisted node
 * is read from the block store, or computed and written there on the way (op_cache.h).
 *
 * Where lineage forks and joins, a node feeds several others, one after the other, but never while it is being fed. So
 * each RDD needs only one operator, whose `next` is set each time. Operators and buffers are created on first use: a
 * slot may need few of the many parents of a union.
 *
 * OP_ENOUGH from downstream stops the source, and the operators end as usual: operators above the one that has enough
 * may still need the rows held back.
 */
#include "rdd/pipeline/pipeline.h"

#include "base/fault_point.h"
#include "base/mem.h"
#include "rdd/pipeline/op_cache.h"
#include "rdd/rdd_class.h"
#include "rdd/rdd_visit.h"
#include "rdd/pipeline/remote_blocks.h"
#include "store/block_store.h"
#include "store/page.h"
#include "store/storage_level.h"

/* Before a union goes on to its next parent, operators and buffers are freed if more nodes than this have them. */
#define NODES_KEPT 64

struct pipeline {
        struct pipeline_env env;
        struct pipeline_node *nodes; /* the last one is the final RDD */
        uint32_t n, made;
        uint32_t *parents; /* the parents of all nodes */
        struct op *sink;
};

/* ------------------------------------------------------------------------------------------------ building */

static struct pipeline_node *node_make(struct pipeline *p, uint32_t i)
{
        struct pipeline_node *node = &p->nodes[i];
        const fst_rdd *rdd = node->rdd;
        if (node->made)
                return node;
        node->made = true;
        p->made++;
        if (node->class->op_new)
                node->op = node->class->op_new(rdd, p->env.run);
        if (node->class->state_new)
                node->state = node->class->state_new(node);
        if (node->level && p->env.blocks)
                node->cache = cache_op_new(p->env.run, rdd->type);
        if (node->cache && p->env.remote)
                page_cursor_init(&node->cursor, rdd->type);
        return node;
}

/* Frees what node_make created; node_make may create it again. */
static void node_unmake(struct pipeline *p, struct pipeline_node *node)
{
        if (!node->made)
                return;
        op_free(node->op);
        op_free(node->cache);
        if (node->class->state_free)
                node->class->state_free(node->state);
        page_cursor_deinit(&node->cursor);
        *node = (struct pipeline_node){
                .pipeline = p, .rdd = node->rdd, .class = node->class, .parents = node->parents, .level = node->level};
        p->made--;
}

struct pipeline *pipeline_new(const struct pipeline_env *env, const fst_rdd *final, struct op *sink)
{
        struct pipeline *p = new0(struct pipeline);
        struct rdd_visit walk;
        size_t n_parents = 0;
        p->env = *env;
        p->sink = sink;
        rdd_visit_init(&walk, (fst_rdd *) final, RDD_VISIT_STAGE);
        p->n = walk.n;
        p->nodes = new_array(struct pipeline_node, p->n);
        for (uint32_t i = 0; i < p->n; i++)
                n_parents += (size_t)MAX(walk.rdds[i]->n_parents, 1);
        p->parents = new_array(uint32_t, n_parents);
        uint32_t *parents = p->parents;
        for (uint32_t i = 0; i < p->n; i++) {
                const fst_rdd *rdd = walk.rdds[i];
                struct pipeline_node *node = &p->nodes[i];
                node->pipeline = p;
                node->rdd = rdd;
                node->class = walk.sources[i] ? &rdd_checkpointed_class : rdd->class;
                node->level = (enum fst_storage_level)__atomic_load_n(&rdd->lineage.storage_level, __ATOMIC_RELAXED);
                node->parents = parents;
                int n;
                fst_rdd *const *from = rdd_visit_parents(&walk, i, &n);
                for (int k = 0; k < n; k++)
                        *parents++ = walk.slots ? rdd_visit_index(&walk, from[k]) : i - 1;
        }
        rdd_visit_deinit(&walk);
        return p;
}

void pipeline_free(struct pipeline *p)
{
        if (!p)
                return;
        for (uint32_t i = 0; i < p->n; i++)
                node_unmake(p, &p->nodes[i]);
        op_free(p->sink);
        free(p->nodes);
        free(p->parents);
        free(p);
}

struct op *pipeline_sink(struct pipeline *p)
{
        return p->sink;
}

/* ------------------------------------------------------------------------------------------------- feeding */

static int pipeline_feed(struct pipeline *p, uint32_t i, int partition, struct op *to);

const struct pipeline_env *node_env(const struct pipeline_node *node)
{
        return &node->pipeline->env;
}

int node_feed_parent(struct pipeline_node *node, int parent, int partition, struct op *to)
{
        return pipeline_feed(node->pipeline, node->parents[parent], partition, to);
}

void node_forget_idle(struct pipeline_node *node, int next)
{
        struct pipeline *p = node->pipeline;
        if (p->made <= NODES_KEPT || p->nodes[node->parents[next]].made)
                return;
        for (uint32_t i = 0; i < p->n; i++)
                if (!p->nodes[i].active)
                        node_unmake(p, &p->nodes[i]);
}

static int node_feed_input(struct pipeline_node *node, int partition, struct op *to)
{
        const struct rdd_class *class = node->class;
        return class->feed ? class->feed(node, partition, to) : node_feed_parent(node, 0, partition, to);
}

/* Computes partition @partition of @node. */
static int pipeline_compute(struct pipeline_node *node, int partition, struct op *to)
{
        struct op *op = node->op;
        if (!op)
                return node_feed_input(node, partition, to);
        op->next = to;
        op->partition = partition;
        int r = op_begin(op);
        if (r == 0)
                r = node_feed_input(node, partition, op);
        if (r >= 0)
                r = op_end(op);
        if (r < 0)
                op_abandon(op);
        return r;
}

static int node_feed_block(struct pipeline *p, struct block *block, struct op *to)
{
        struct task_run *run = p->env.run;
        struct fst_error error = FST_ERROR_INIT;
        struct block_reader reader;
        struct rows rows = {0};
        int r = block_reader_init(&reader, block, &error);
        if (r)
                return task_run_fail_with(run, r, &error);
        fault_point(FAULT_CACHED_READ);
        while ((r = block_reader_next(&reader, &rows.batch, &error)) == 0 && rows.batch.rows > 0) {
                task_run_count_read(run, &run->counters.input_records, rows.batch.rows);
                r = node_push(to, &rows);
                if (r)
                        break;
        }
        block_reader_deinit(&reader);
        return r < 0 ? task_run_fail_with(run, r, &error) : r;
}

/* Reads the block from another executor. Sets *@found to false if the caller must compute it. */
static int node_feed_remote(struct pipeline *p, struct pipeline_node *node, struct block_id id, struct op *to,
                            bool *found)
{
        struct task_run *run = p->env.run;
        const struct remote_blocks *remote = p->env.remote;
        struct remote_block *block;
        const struct page *page;
        struct rows rows = {0};
        int r = remote->open(remote->owner, run, id, node->rdd->type, &block);
        *found = r <= 0;
        if (r)
                return r < 0 ? r : 0;
        fault_point(FAULT_CACHED_READ);
        while ((r = remote->next(block, &page)) == 0 && page) {
                fault_point(FAULT_CACHED_READ);
                page_cursor_start(&node->cursor, page);
                while (r == 0 && page_cursor_next(&node->cursor, &rows.batch)) {
                        task_run_count_read(run, &run->counters.input_records, rows.batch.rows);
                        r = node_push(to, &rows);
                }
                if (r)
                        break;
        }
        remote->close(block);
        return r;
}

/* Reads the block of a persisted RDD, or computes and stores it. */
static int node_feed_persisted(struct pipeline *p, struct pipeline_node *node, int partition, struct op *to)
{
        struct block_id id = {node->rdd->lineage.id, partition};
        struct block *block;
        struct block_writer *writer = NULL;
        struct task_run *run = p->env.run;
        struct block_asker asker = {.task = run,
                                    .holds_memory = run->memory && memory_task_held(run->memory) > 0,
                                    .stopped = run->task.stopped,
                                    .memory = run->memory};
        if (p->env.remote && !block_store_contains(p->env.blocks, id)) {
                bool found;
                int e = node_feed_remote(p, node, id, to, &found);
                if (found)
                        return e;
        }
        int r = block_store_acquire(p->env.blocks, &asker, id, node->level, node->rdd->type, &block, &writer);
        if (r < 0)
                return task_run_cancelled(run);
        if (r == 0) {
                r = node_feed_block(p, block, to);
                block_release(block);
                return r;
        }
        node->cache->next = to;
        cache_op_start(node->cache, r == FST_BLOCK_E_COMPUTE ? writer : NULL);
        r = pipeline_compute(node, partition, node->cache);
        if (r == 0 && task_run_check(run)) /* a function called fst_fail but returned 0: do not store its rows */
                r = run->status;
        r = cache_op_finish(node->cache, r);
        if (r >= 0 && p->env.remote && (p->env.remote->takes_all || storage_level_replicas(node->level) > 1) &&
            block_store_contains(p->env.blocks, id))
                p->env.remote->replicate(p->env.remote->owner, run, id, node->level);
        return r;
}

static int pipeline_feed(struct pipeline *p, uint32_t i, int partition, struct op *to)
{
        struct pipeline_node *node = node_make(p, i);
        node->active = true;
        int r = node->cache ? node_feed_persisted(p, node, partition, to) : pipeline_compute(node, partition, to);
        node->active = false;
        return r;
}

int pipeline_run(struct pipeline *p, int partition)
{
        int r = op_begin(p->sink);
        if (r == 0)
                r = pipeline_feed(p, p->n - 1, partition, p->sink);
        /* A function may have called fst_fail but returned 0: its rows must not be used. */
        if (task_run_check(p->env.run))
                r = p->env.run->status;
        if (r >= 0)
                r = op_end(p->sink);
        if (task_run_check(p->env.run))
                r = p->env.run->status;
        if (r < 0)
                op_abandon(p->sink);
        return r < 0 ? r : 0;
}
