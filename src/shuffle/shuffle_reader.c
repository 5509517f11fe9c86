/*
 * See shuffle_reader.h. While an output is read it is pinned, so that its pages stay in memory; extents on disk are
 * read one page at a time into memory of the task.
 */
#include "shuffle/shuffle_reader.h"

#include "base/mem.h"
#include "store/spill.h"

struct shuffle_input {
        struct task_run *run;
        const struct shuffle_inputs *inputs;
        int partition;
        int at;                  /* the output being read */
        bool pinned;             /* it is */
        const struct page *page; /* next in memory */
        const struct page *last; /* and the last one there */
        uint32_t extent;         /* next on disk: index + 1 */
        struct page *loaded;     /* the last one from disk */
        struct memory_consumer memory;
        struct codec codec; /* of the files; NONE until one is read */
};

static int reader_open(void *owner, struct task_run *run, int shuffle_id, int partition, struct shuffle_input **input)
{
        const struct shuffle_reader_env *env = owner;
        for (int i = 0; i < env->n_inputs; i++) {
                if (env->inputs[i].shuffle_id != shuffle_id)
                        continue;
                struct shuffle_input *in = new0(struct shuffle_input);
                in->run = run;
                in->inputs = &env->inputs[i];
                in->partition = partition;
                in->at = -1;
                codec_init(&in->codec, env->space->shuffle_codec, env->space->level);
                memory_consumer_init(&in->memory, task_run_memory(run), "shuffle read", NULL);
                *input = in;
                return 0;
        }
        return task_run_fail(run, -EIO, "shuffle %d is not among the inputs of this stage", shuffle_id);
}

static void unpin(struct shuffle_input *in)
{
        if (in->pinned)
                shuffle_output_unpin(in->inputs->outputs[in->at]);
        in->pinned = false;
}

/* The output at hand cannot be read: the scheduler will have it made again. */
static int fetch_failed(struct shuffle_input *in, int status, struct fst_error *error)
{
        in->run->fetch_failed = true;
        in->run->fetch_shuffle = in->inputs->shuffle_id;
        in->run->fetch_map = in->at;
        return task_run_fail_with(in->run, status, error);
}

/* 1: the next output is at hand; 0: there are no more; negative after task_run_fail. */
static int next_output(struct shuffle_input *in)
{
        struct fst_error error = FST_ERROR_INIT;
        unpin(in);
        if (++in->at >= in->inputs->n)
                return 0;
        struct shuffle_output *output = in->inputs->outputs[in->at];
        if (!output) {
                int r = error_set(&error, -ENOENT, "Missing an output location for shuffle %d partition %d",
                                  in->inputs->shuffle_id, in->partition);
                return fetch_failed(in, r, &error);
        }
        shuffle_output_pin(output);
        in->pinned = true;
        const struct shuffle_partition *p = &output->at[in->partition];
        in->last = p->last;
        in->page = p->last ? p->last->next : NULL;
        in->extent = p->extents;
        in->run->counters.shuffle_read_blocks += in->page || in->extent;
        return 1;
}

static int load(struct shuffle_input *in)
{
        const struct shuffle_output *output = in->inputs->outputs[in->at];
        const struct shuffle_extent *extent = &output->extents[in->extent - 1];
        struct fst_error error = FST_ERROR_INIT;
        in->extent = extent->next;
        int r = spill_read_page(output->file, extent->offset, extent->length, &in->codec, &in->memory, &in->loaded,
                                &error);
        if (r == 0)
                return 0;
        if (r == FST_MEMORY_E_DENIED)
                return task_run_fail(in->run, -ENOMEM,
                                     "no memory to read a page of shuffle %d: raise spark.driver.memory or "
                                     "spark.executor.memory, or run fewer tasks at a time",
                                     in->inputs->shuffle_id);
        return fetch_failed(in, r, &error);
}

static int reader_next(struct shuffle_input *in, const struct page **page)
{
        page_free(&in->memory, steal(in->loaded));
        while (!in->page && !in->extent) {
                int r = next_output(in);
                if (r <= 0) {
                        *page = NULL;
                        return r;
                }
        }
        int r = 0;
        if (in->extent) {
                r = load(in);
                *page = in->loaded;
        } else {
                *page = in->page;
                in->page = in->page == in->last ? NULL : in->page->next;
        }
        if (r == 0)
                in->run->counters.shuffle_read_bytes += (*page)->used;
        return r;
}

static void reader_close(struct shuffle_input *in)
{
        page_free(&in->memory, steal(in->loaded));
        if (in->at < in->inputs->n)
                unpin(in);
        memory_consumer_deinit(&in->memory);
        codec_deinit(&in->codec);
        free(in);
}

const struct shuffle_source shuffle_reader_source = {
        .open = reader_open,
        .next = reader_next,
        .close = reader_close,
};
