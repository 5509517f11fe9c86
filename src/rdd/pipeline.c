/*
 * Running a stage's lineage over one partition; see pipeline.h.
 *
 * The nodes are the RDDs that the stage computes, each once, parents before their children. feed(i, p, to) pushes
 * partition p of node i into the operator `to`: a source reads, everything else feeds from its parents' nodes into its
 * own operator and then ends that. Coalesce and union feed partitions of parents into `to` one after another; a
 * join takes its parents one after the other; a persisted node is read from the block store if it is there, and goes
 * past a tee that writes it there otherwise.
 *
 * Where lineage forks and meets again, a node feeds several others, one after the other, never while it is being fed
 * itself: so one operator is enough for each RDD, and its `next` is set each time. Operators and buffers are made when
 * they are first needed: of the many parents of a union a slot may see few.
 *
 * OP_ENOUGH from downstream ends the source, and the operators are ended as usual: what they held back may still
 * be wanted by those above the one that had enough.
 */
#include "rdd/pipeline.h"

#include "base/buf.h"
#include "base/fault_point.h"
#include "base/mem.h"
#include "io/text_reader.h"
#include "rdd/op_combine.h"
#include "rdd/op_element.h"
#include "rdd/op_iter.h"
#include "rdd/op_join.h"
#include "rdd/op_key.h"
#include "rdd/op_sort.h"
#include "rdd/op_tee.h"
#include "rdd/rdd_walk.h"
#include "rdd/remote_blocks.h"
#include "rdd/slice.h"
#include "store/block_store.h"
#include "store/page.h"
#include "store/storage_level.h"

/* Operators and buffers of more nodes than this are freed when a union goes from one parent to another. */
#define NODES_KEPT 64

struct node {
        const fst_rdd *rdd;
        const uint32_t *parents;      /* their nodes */
        bool made;                    /* what follows is there */
        bool active;                  /* it is being fed */
        struct op *op;                /* NULL where rows pass unchanged: sources, coalesce, union */
        struct op *tee;               /* behind op, where the RDD is persisted: rdd/op_tee.h */
        enum fst_storage_level level; /* as it was when the pipeline was made: unpersist may come at any time */
        struct text_reader *text;
        struct page_cursor cursor;
        bool has_cursor;
        int64_t *numbers; /* range: a batch of them */
        fst_bytes *lines; /* text: a batch of them */
};

struct pipeline {
        struct pipeline_env env;
        struct node *nodes; /* the last is the final one */
        uint32_t n, made;
        uint32_t *parents; /* of all nodes */
        struct op *sink;
};

/* ------------------------------------------------------------------------------------------------ building */

static struct op *op_of(const fst_rdd *rdd, struct task_run *run)
{
        fst_type in = rdd_parent(rdd) ? rdd_parent(rdd)->type : rdd->type;
        switch (rdd->op) {
        case RDD_MAP:
                return element_op_new(ELEMENT_MAP, run, in, rdd->type, &rdd->fn);
        case RDD_FLAT_MAP:
                return element_op_new(ELEMENT_FLAT_MAP, run, in, rdd->type, &rdd->fn);
        case RDD_FILTER:
                return element_op_new(ELEMENT_FILTER, run, in, rdd->type, &rdd->fn);
        case RDD_MAP_VALUES:
                return element_op_new(ELEMENT_MAP_VALUES, run, in, rdd->type, &rdd->fn);
        case RDD_MAP_PARTITIONS:
                if (FST_SHAPE_FORM(rdd->fn.shape) == FST_FORM_ITER)
                        return iter_op_new(run, in, rdd->type, &rdd->fn);
                return element_op_new(ELEMENT_BATCHES, run, in, rdd->type, &rdd->fn);
        case RDD_KEY_BY:
                return key_op_new(run, in, rdd->type, &rdd->fn);
        case RDD_VALUES:
                return value_op_new(run, in, rdd->type);
        case RDD_JOINED:
                return join_op_new(run, in, rdd->parents[1]->type, rdd->type, &rdd->fn);
        case RDD_COMBINE:
                return combine_op_new(run, rdd->type, &rdd->fn);
        case RDD_SHUFFLED:
                if (rdd->shuffle.combine)
                        return combine_op_new(run, rdd->type, &rdd->fn);
                return rdd->shuffle.sort ? sort_op_new(run, rdd->type, rdd->shuffle.order) : NULL;
        default:
                return NULL;
        }
}

static struct node *node_make(struct pipeline *p, uint32_t i)
{
        struct node *node = &p->nodes[i];
        const fst_rdd *rdd = node->rdd;
        if (node->made)
                return node;
        node->made = true;
        p->made++;
        node->op = op_of(rdd, p->env.run);
        if (node->level && p->env.blocks)
                node->tee = tee_op_new(p->env.run, rdd->type);
        if (node->tee && p->env.remote) {
                page_cursor_init(&node->cursor, rdd->type);
                node->has_cursor = true;
        }
        switch (rdd->op) {
        case RDD_TEXT_FILE:
                node->text = text_reader_new(0);
                node->lines = new_array(fst_bytes, FST_BATCH_ROWS);
                break;
        case RDD_RANGE:
                node->numbers = new_array(int64_t, FST_BATCH_ROWS);
                break;
        case RDD_SHUFFLED:
                if (!node->has_cursor)
                        if (!node->has_cursor)
                                page_cursor_init(&node->cursor, rdd->type);
                node->has_cursor = true;
                break;
        default:
                break;
        }
        return node;
}

/* Free what node_make has made; it may make it again. */
static void node_unmake(struct pipeline *p, struct node *node)
{
        if (!node->made)
                return;
        op_free(node->op);
        op_free(node->tee);
        text_reader_free(node->text);
        if (node->has_cursor)
                page_cursor_deinit(&node->cursor);
        free(node->numbers);
        free(node->lines);
        *node = (struct node){.rdd = node->rdd, .parents = node->parents, .level = node->level};
        p->made--;
}

struct pipeline *pipeline_new(const struct pipeline_env *env, const fst_rdd *final, struct op *sink)
{
        struct pipeline *p = new0(struct pipeline);
        struct rdd_walk walk;
        size_t n_parents = 0;
        p->env = *env;
        p->sink = sink;
        rdd_walk_init(&walk, (fst_rdd *) final, RDD_WALK_STAGE);
        p->n = walk.n;
        p->nodes = new_array(struct node, p->n);
        for (uint32_t i = 0; i < p->n; i++)
                n_parents += (size_t)walk.rdds[i]->n_parents;
        p->parents = new_array(uint32_t, n_parents);
        uint32_t *parents = p->parents;
        for (uint32_t i = 0; i < p->n; i++) {
                const fst_rdd *rdd = walk.rdds[i];
                struct node *node = &p->nodes[i];
                node->rdd = rdd;
                node->level = (enum fst_storage_level)__atomic_load_n(&rdd->lineage.storage_level, __ATOMIC_RELAXED);
                node->parents = parents;
                for (int k = 0; rdd->op != RDD_SHUFFLED && k < rdd->n_parents; k++)
                        *parents++ = walk.slots ? rdd_walk_index(&walk, rdd->parents[k]) : i - 1;
        }
        rdd_walk_deinit(&walk);
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

/* ------------------------------------------------------------------------------------------------- sources */

static int consume(struct op *op, const struct rows *rows)
{
        return op->class->consume(op, rows);
}

static int feed_text(struct pipeline *p, struct node *node, int partition, struct op *to)
{
        struct task_run *run = p->env.run;
        struct fst_error error = FST_ERROR_INIT;
        struct rows rows = {.batch = {.type = node->rdd->type, .key.bytes = node->lines}};
        int r = text_reader_open(node->text, &node->rdd->text.splits.data[partition], &error);
        if (r == 0 && p->env.sample_budget)
                text_reader_sample(node->text, p->env.sample_budget);
        while (r == 0) {
                const char *start = NULL;
                r = text_reader_next(node->text, node->lines, FST_BATCH_ROWS, &rows.batch.rows, &start,
                                     &rows.stable[0].size, &error);
                if (r || rows.batch.rows == 0)
                        break;
                rows.stable[0].start = (uintptr_t)start;
                run->counters.input_records += rows.batch.rows;
                r = consume(to, &rows);
        }
        uint64_t bytes = text_reader_bytes(node->text);
        run->counters.input_bytes += (int64_t)bytes;
        if (p->env.sample_budget && bytes)
                run->sample_scale = MAX(1.0, (double)node->rdd->text.splits.data[partition].length / (double)bytes);
        text_reader_close(node->text);
        return r < 0 ? task_run_fail_with(run, r, &error) : r;
}

static int feed_range(struct pipeline *p, struct node *node, int partition, struct op *to)
{
        const fst_rdd *rdd = node->rdd;
        uint64_t count = (uint64_t)rdd->range.end - (uint64_t)rdd->range.start;
        uint64_t at = slice_start(count, partition, rdd->lineage.partitions);
        uint64_t end = slice_start(count, partition + 1, rdd->lineage.partitions);
        struct rows rows = {.batch = {.type = rdd->type, .key.i64 = node->numbers}};
        int r = 0;
        while (at < end && r == 0) {
                uint32_t n = (uint32_t)MIN(end - at, (uint64_t)FST_BATCH_ROWS);
                int64_t first = (int64_t)((uint64_t)rdd->range.start + at);
                for (uint32_t i = 0; i < n; i++)
                        node->numbers[i] = first + i;
                rows.batch.rows = n;
                at += n;
                r = consume(to, &rows);
        }
        return r;
}

static int push_slice(struct slice *slice, struct op *to)
{
        fst_bytes views[FST_BATCH_ROWS];
        struct rows rows = {.batch = {.type = slice->type}};
        rows.stable[0] = (struct fst_stable){(uintptr_t)slice->heap, slice->heap_size};
        int r = 0;
        while (r == 0 && (rows.batch.rows = slice_next(slice, FST_BATCH_ROWS, views, &rows.batch.key)) > 0)
                r = consume(to, &rows);
        return r;
}

/* The rows are at the driver. */
static int feed_fetched(struct pipeline *p, const fst_rdd *rdd, int partition, uint64_t n, struct op *to)
{
        struct task_run *run = p->env.run;
        struct fst_error error = FST_ERROR_INIT;
        _cleanup_(buf_deinit) struct buf data = BUF_INIT;
        struct slice slice;
        if (!p->env.slices)
                return task_run_fail(run, -ENOENT, "the rows of %s are at the driver, which cannot be asked",
                                     rdd->call_site);
        int r = p->env.slices->fetch(p->env.slice_owner, run, rdd->lineage.id, partition, &data);
        if (r)
                return r;
        r = slice_open(&slice, rdd->type, n, data.data, data.len, &error);
        return r ? task_run_fail_with(run, r, &error) : push_slice(&slice, to);
}

static int feed_parallelize(struct pipeline *p, struct node *node, int partition, struct op *to)
{
        const fst_rdd *rdd = node->rdd;
        uint64_t at = slice_start(rdd->parallelize.count, partition, rdd->lineage.partitions);
        uint64_t end = slice_start(rdd->parallelize.count, partition + 1, rdd->lineage.partitions);
        if (!rdd->parallelize.data)
                return end > at ? feed_fetched(p, rdd, partition, end - at, to) : 0;
        struct rows rows = {.batch = {.type = rdd->type}};
        rows.stable[0] = (struct fst_stable){(uintptr_t)rdd->parallelize.bytes, rdd->parallelize.n_bytes};
        size_t width = rdd->type.key == FST_KIND_BYTES ? sizeof(fst_bytes) : rdd->type.key_size;
        int r = 0;
        while (at < end && r == 0) {
                rows.batch.rows = (uint32_t)MIN(end - at, (uint64_t)FST_BATCH_ROWS);
                rows.batch.key.fixed = (char *)rdd->parallelize.data + at * width;
                at += rows.batch.rows;
                r = consume(to, &rows);
        }
        return r;
}

static int feed_shuffle(struct pipeline *p, struct node *node, int partition, struct op *to)
{
        struct task_run *run = p->env.run;
        const struct shuffle_source *source = p->env.shuffle;
        struct shuffle_input *input = NULL;
        const struct page *page;
        struct rows rows = {0};
        int r = source->open(p->env.shuffle_owner, run, node->rdd->lineage.deps[0].shuffle_id, partition,
                             node->rdd->type, &input);
        if (r)
                return r;
        while ((r = source->next(input, &page)) == 0 && page) {
                page_cursor_start(&node->cursor, page);
                rows.stable[0] = (struct fst_stable){(uintptr_t)page->data, page->used};
                while (r == 0 && page_cursor_next(&node->cursor, &rows.batch)) {
                        run->counters.shuffle_read_records += rows.batch.rows;
                        r = consume(to, &rows);
                }
                if (r)
                        break;
        }
        source->close(input);
        return r;
}

/* ------------------------------------------------------------------------------------------------- feeding */

static int feed(struct pipeline *p, uint32_t i, int partition, struct op *to);

static int feed_coalesced(struct pipeline *p, const struct node *node, int partition, struct op *to)
{
        int parents = rdd_parent(node->rdd)->lineage.partitions;
        int at = (int)slice_start((uint64_t)parents, partition, node->rdd->lineage.partitions);
        int end = (int)slice_start((uint64_t)parents, partition + 1, node->rdd->lineage.partitions);
        int r = 0;
        for (; at < end && r == 0; at++)
                r = feed(p, node->parents[0], at, to);
        return r;
}

static int feed_union(struct pipeline *p, const struct node *node, int partition, struct op *to)
{
        const fst_rdd *rdd = node->rdd;
        int r = 0;
        if (rdd->unite.in_place) {
                for (int k = 0; k < rdd->n_parents && r == 0; k++)
                        r = feed(p, node->parents[k], partition, to);
                return r;
        }
        int k = 0;
        for (; partition >= rdd->parents[k]->lineage.partitions; k++)
                partition -= rdd->parents[k]->lineage.partitions;
        for (uint32_t i = 0; p->made > NODES_KEPT && !p->nodes[node->parents[k]].made && i < p->n; i++)
                if (!p->nodes[i].active)
                        node_unmake(p, &p->nodes[i]);
        return feed(p, node->parents[k], partition, to);
}

/* Push the input of @node into its operator @to, or into that of its child if it has none. */
static int feed_input(struct pipeline *p, struct node *node, int partition, struct op *to)
{
        switch (node->rdd->op) {
        case RDD_TEXT_FILE:
                return feed_text(p, node, partition, to);
        case RDD_RANGE:
                return feed_range(p, node, partition, to);
        case RDD_PARALLELIZE:
                return feed_parallelize(p, node, partition, to);
        case RDD_SHUFFLED:
                return feed_shuffle(p, node, partition, to);
        case RDD_COALESCE:
                return feed_coalesced(p, node, partition, to);
        case RDD_UNION:
                return feed_union(p, node, partition, to);
        default:
                return feed(p, node->parents[0], partition, to);
        }
}

static int feed_sides(struct pipeline *p, struct node *node, int partition)
{
        int r = 0;
        for (int k = 0; k < 2 && r == 0; k++) {
                struct op *side = join_op_side(node->op, (enum join_side)k);
                r = op_begin(side);
                if (r == 0)
                        r = feed(p, node->parents[k], partition, side);
        }
        return r;
}

/* Compute partition @partition of @node. */
static int compute(struct pipeline *p, struct node *node, int partition, struct op *to)
{
        struct op *op = node->op;
        if (!op)
                return feed_input(p, node, partition, to);
        op->next = to;
        int r = op_begin(op);
        if (r == 0)
                r = node->rdd->op == RDD_JOINED ? feed_sides(p, node, partition) : feed_input(p, node, partition, op);
        if (r >= 0)
                r = op_end(op);
        if (r < 0)
                op_abandon(op);
        return r;
}

static int feed_block(struct pipeline *p, struct block *block, struct op *to)
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
                run->counters.input_records += rows.batch.rows;
                r = consume(to, &rows);
                if (r)
                        break;
        }
        block_reader_deinit(&reader);
        return r < 0 ? task_run_fail_with(run, r, &error) : r;
}

/* The block as another executor has it. Not *@found if there is none, and it is to be computed. */
static int feed_remote(struct pipeline *p, struct node *node, struct block_id id, struct op *to, bool *found)
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
                        run->counters.input_records += rows.batch.rows;
                        r = consume(to, &rows);
                }
                if (r)
                        break;
        }
        remote->close(block);
        return r;
}

/* Read the block of a persisted RDD, or compute and keep it. */
static int feed_persisted(struct pipeline *p, struct node *node, int partition, struct op *to)
{
        struct block_id id = {node->rdd->lineage.id, partition};
        struct block *block;
        struct block_writer *writer = NULL;
        struct task_run *run = p->env.run;
        struct block_asker asker = {.task = run,
                                    .holds_memory = run->memory && memory_task_held(run->memory) > 0,
                                    .stopped = run->task.stopped};
        if (p->env.remote && !block_store_contains(p->env.blocks, id)) {
                bool found;
                int e = feed_remote(p, node, id, to, &found);
                if (found)
                        return e;
        }
        int r = block_store_acquire(p->env.blocks, &asker, id, node->level, node->rdd->type, &block, &writer);
        if (r < 0)
                return task_run_cancelled(run);
        if (r == 0) {
                r = feed_block(p, block, to);
                block_release(block);
                return r;
        }
        node->tee->next = to;
        tee_op_start(node->tee, r == FST_BLOCK_E_COMPUTE ? writer : NULL);
        r = compute(p, node, partition, node->tee);
        tee_op_finish(node->tee, r == 0);
        if (r == 0 && p->env.remote && (p->env.remote->takes_all || storage_level_replicas(node->level) > 1) &&
            block_store_contains(p->env.blocks, id))
                p->env.remote->replicate(p->env.remote->owner, run, id, node->level);
        return r;
}

static int feed(struct pipeline *p, uint32_t i, int partition, struct op *to)
{
        struct node *node = node_make(p, i);
        node->active = true;
        int r = node->tee ? feed_persisted(p, node, partition, to) : compute(p, node, partition, to);
        node->active = false;
        return r;
}

int pipeline_run(struct pipeline *p, int partition)
{
        int r = op_begin(p->sink);
        if (r == 0)
                r = feed(p, p->n - 1, partition, p->sink);
        /* A function may have called fst_fail and answered 0: then nothing may become of its rows. */
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
