/*
 * Running a stage's lineage over one partition; see pipeline.h.
 *
 * The nodes are the RDDs from the final one (0) down to the source. feed(i, p) pushes partition p of node i into the
 * next operator above: a source reads, everything else feeds from the node below and then ends its own operator.
 * Coalesce feeds several partitions of the node below into the same operator; a persisted node is read from the
 * block store if it is there, and goes past a tee that writes it there otherwise.
 *
 * OP_ENOUGH from downstream ends the source, and the operators are ended as usual: what they held back may still
 * be wanted by those above the one that had enough.
 */
#include "rdd/pipeline.h"

#include "base/mem.h"
#include "io/text_reader.h"
#include "rdd/op_combine.h"
#include "rdd/op_element.h"
#include "rdd/op_iter.h"
#include "rdd/op_key.h"
#include "rdd/op_sort.h"
#include "rdd/op_tee.h"
#include "store/block_store.h"
#include "store/page.h"

struct node {
        const fst_rdd *rdd;
        struct op *op;                /* NULL where rows pass unchanged: sources, coalesce */
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
        struct node *nodes;
        int n;
        struct op *sink;
};

/* ------------------------------------------------------------------------------------------------ building */

static struct op *op_of(const fst_rdd *rdd, struct task_run *run)
{
        fst_type in = rdd->parent ? rdd->parent->type : rdd->type;
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

/* The operator that takes the rows of RDD @i from whoever computes or reads them. */
static struct op *consumer_of(struct pipeline *p, int i)
{
        for (int above = i - 1; above >= 0; above--)
                if (p->nodes[above].op)
                        return p->nodes[above].op;
                else if (p->nodes[above].tee)
                        return p->nodes[above].tee;
        return p->sink;
}

/* The same while the RDD is computed: a persisted one goes past its tee. */
static struct op *output_of(struct pipeline *p, int i)
{
        return p->nodes[i].tee ? p->nodes[i].tee : consumer_of(p, i);
}

static void node_init(struct pipeline *p, int i, const fst_rdd *rdd)
{
        struct node *node = &p->nodes[i];
        node->rdd = rdd;
        node->op = op_of(rdd, p->env.run);
        node->level = (enum fst_storage_level)__atomic_load_n(&rdd->lineage.storage_level, __ATOMIC_RELAXED);
        if (node->level && p->env.blocks) {
                node->tee = tee_op_new(p->env.run, rdd->type);
                node->tee->next = consumer_of(p, i);
        }
        if (node->op)
                node->op->next = output_of(p, i);
        switch (rdd->op) {
        case RDD_TEXT_FILE:
                node->text = text_reader_new(0);
                node->lines = new_array(fst_bytes, FST_BATCH_ROWS);
                break;
        case RDD_RANGE:
                node->numbers = new_array(int64_t, FST_BATCH_ROWS);
                break;
        case RDD_SHUFFLED:
                page_cursor_init(&node->cursor, rdd->type);
                node->has_cursor = true;
                break;
        default:
                break;
        }
}

struct pipeline *pipeline_new(const struct pipeline_env *env, const fst_rdd *final, struct op *sink)
{
        struct pipeline *p = new0(struct pipeline);
        p->env = *env;
        p->sink = sink;
        for (const fst_rdd *rdd = final; rdd; rdd = rdd->op == RDD_SHUFFLED ? NULL : rdd->parent)
                p->n++;
        p->nodes = new_array(struct node, (size_t)p->n);
        const fst_rdd *rdd = final;
        for (int i = 0; i < p->n; i++, rdd = rdd->parent)
                node_init(p, i, rdd);
        return p;
}

void pipeline_free(struct pipeline *p)
{
        if (!p)
                return;
        for (int i = 0; i < p->n; i++) {
                struct node *node = &p->nodes[i];
                op_free(node->op);
                op_free(node->tee);
                text_reader_free(node->text);
                free(node->numbers);
                free(node->lines);
                if (node->has_cursor)
                        page_cursor_deinit(&node->cursor);
        }
        op_free(p->sink);
        free(p->nodes);
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

/* Where slice @i of @n of a collection of @count begins, as Spark's ParallelCollectionRDD cuts. */
static uint64_t slice_start(uint64_t count, int i, int n)
{
        return (uint64_t)((unsigned __int128)count * (unsigned)i / (unsigned)n);
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

static int feed_parallelize(struct pipeline *p, struct node *node, int partition, struct op *to)
{
        const fst_rdd *rdd = node->rdd;
        uint64_t at = slice_start(rdd->parallelize.count, partition, rdd->lineage.partitions);
        uint64_t end = slice_start(rdd->parallelize.count, partition + 1, rdd->lineage.partitions);
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
        int r = source->open(p->env.shuffle_owner, run, node->rdd->lineage.deps[0].shuffle_id, partition, &input);
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

static int feed(struct pipeline *p, int i, int partition);

static int feed_source(struct pipeline *p, struct node *node, int partition, struct op *to)
{
        switch (node->rdd->op) {
        case RDD_TEXT_FILE:
                return feed_text(p, node, partition, to);
        case RDD_RANGE:
                return feed_range(p, node, partition, to);
        case RDD_PARALLELIZE:
                return feed_parallelize(p, node, partition, to);
        default:
                return feed_shuffle(p, node, partition, to);
        }
}

static int feed_coalesced(struct pipeline *p, int i, int partition)
{
        const fst_rdd *rdd = p->nodes[i].rdd;
        int parents = rdd->parent->lineage.partitions;
        int at = (int)slice_start((uint64_t)parents, partition, rdd->lineage.partitions);
        int end = (int)slice_start((uint64_t)parents, partition + 1, rdd->lineage.partitions);
        int r = 0;
        for (; at < end && r == 0; at++)
                r = feed(p, i + 1, at);
        return r;
}

/* Push the input of node @i into its operator, or into @to if it has none. */
static int feed_input(struct pipeline *p, int i, int partition, struct op *to)
{
        struct node *node = &p->nodes[i];
        if (node->rdd->op == RDD_COALESCE)
                return feed_coalesced(p, i, partition);
        if (i == p->n - 1)
                return feed_source(p, node, partition, to);
        return feed(p, i + 1, partition);
}

/* Compute partition @partition of node @i. */
static int compute(struct pipeline *p, int i, int partition)
{
        struct op *op = p->nodes[i].op;
        if (!op)
                return feed_input(p, i, partition, output_of(p, i));
        int r = op_begin(op);
        if (r == 0)
                r = feed_input(p, i, partition, op);
        if (r >= 0)
                r = op_end(op);
        if (r < 0)
                op_abandon(op);
        return r;
}

static int feed_block(struct pipeline *p, int i, struct block *block)
{
        struct task_run *run = p->env.run;
        struct op *to = consumer_of(p, i);
        struct fst_error error = FST_ERROR_INIT;
        struct block_reader reader;
        struct rows rows = {0};
        int r = block_reader_init(&reader, block, &error);
        if (r)
                return task_run_fail_with(run, r, &error);
        while ((r = block_reader_next(&reader, &rows.batch, &error)) == 0 && rows.batch.rows > 0) {
                run->counters.input_records += rows.batch.rows;
                r = consume(to, &rows);
                if (r)
                        break;
        }
        block_reader_deinit(&reader);
        return r < 0 ? task_run_fail_with(run, r, &error) : r;
}

/* Read the block of a persisted RDD, or compute and keep it. */
static int feed_persisted(struct pipeline *p, int i, int partition)
{
        struct node *node = &p->nodes[i];
        struct block_id id = {node->rdd->lineage.id, partition};
        struct block *block;
        struct block_writer *writer = NULL;
        struct task_run *run = p->env.run;
        struct block_asker asker = {.task = run,
                                    .holds_memory = run->memory && memory_task_held(run->memory) > 0,
                                    .stopped = run->task.stopped};
        int r = block_store_acquire(p->env.blocks, &asker, id, node->level, node->rdd->type, &block, &writer);
        if (r < 0)
                return task_run_cancelled(run);
        if (r == 0) {
                r = feed_block(p, i, block);
                block_release(block);
                return r;
        }
        tee_op_start(node->tee, r == FST_BLOCK_E_COMPUTE ? writer : NULL);
        r = compute(p, i, partition);
        tee_op_finish(node->tee, r == 0);
        return r;
}

/* Push partition @partition of RDD @i to its consumer. */
static int feed(struct pipeline *p, int i, int partition)
{
        return p->nodes[i].tee ? feed_persisted(p, i, partition) : compute(p, i, partition);
}

int pipeline_run(struct pipeline *p, int partition)
{
        int r = op_begin(p->sink);
        if (r == 0)
                r = feed(p, 0, partition);
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
