/*
 * save_as_text_file: each task writes its partition to a file of its own attempt, commits it, and the job's commit
 * makes all of them the output (io/output_committer.h).
 */
#include "driver/actions.h"

#include "base/mem.h"
#include "io/output_committer.h"
#include "io/text_writer.h"

struct save_action {
        struct action action;
        fst_type type;
        struct output_committer *committer;
};

struct save_sink {
        struct op op;
        struct save_action *save;
        struct text_writer *writer;
        bool open;
};

static struct save_sink *sink_of(struct op *op)
{
        return container_of(op, struct save_sink, op);
}

static int fail_with(struct op *op, int r, struct fst_error *error)
{
        return task_run_fail_with(op->run, r, error);
}

static int save_begin(struct op *op)
{
        struct save_sink *sink = sink_of(op);
        struct fst_error error = FST_ERROR_INIT;
        const struct fst_task_info *task = &op->run->task.info;
        _cleanup_free_ char *path = output_committer_task_path(sink->save->committer, task->partition, (int)task->id);
        int r = text_writer_open(sink->writer, path, &error);
        sink->open = r == 0;
        return r ? fail_with(op, r, &error) : 0;
}

static int save_consume(struct op *op, const struct rows *in)
{
        struct fst_error error = FST_ERROR_INIT;
        if (task_run_stopped(op->run))
                return task_run_cancelled(op->run);
        int r = text_writer_write(sink_of(op)->writer, &in->batch, &error);
        return r ? fail_with(op, r, &error) : 0;
}

static int save_end(struct op *op)
{
        struct save_sink *sink = sink_of(op);
        struct fst_error error = FST_ERROR_INIT;
        const struct fst_task_info *task = &op->run->task.info;
        int r = text_writer_close(sink->writer, &error);
        if (r)
                return fail_with(op, r, &error);
        sink->open = false;
        op->run->counters.output_bytes += (int64_t)text_writer_bytes(sink->writer);
        op->run->counters.output_records += (int64_t)text_writer_rows(sink->writer);
        r = output_committer_commit_task(sink->save->committer, task->partition, (int)task->id, &error);
        if (r == FST_OUTPUT_E_DENIED)
                return task_run_fail(op->run, FST_COMMIT_DENIED, "another attempt of partition %d has committed",
                                     task->partition);
        return r ? fail_with(op, r, &error) : 0;
}

static void save_abandon(struct op *op)
{
        struct save_sink *sink = sink_of(op);
        struct fst_error error = FST_ERROR_INIT;
        const struct fst_task_info *task = &op->run->task.info;
        if (sink->open)
                text_writer_abandon(sink->writer);
        sink->open = false;
        output_committer_abort_task(sink->save->committer, task->partition, (int)task->id, &error);
        error_deinit(&error);
}

static void save_free(struct op *op)
{
        struct save_sink *sink = sink_of(op);
        text_writer_free(sink->writer);
        op_deinit(op);
        free(sink);
}

static const struct op_class save_class = {
        "save_as_text_file", .begin = save_begin,     .consume = save_consume,
        .end = save_end,     .abandon = save_abandon, .free = save_free,
};

static struct op *save_sink_new(struct action *action, struct task_run *run)
{
        struct save_sink *sink = new0(struct save_sink);
        sink->save = container_of(action, struct save_action, action);
        op_init(&sink->op, &save_class, run, sink->save->type);
        sink->writer = text_writer_new();
        return &sink->op;
}

static int save_result(struct action *action, struct op *sink, struct task_result *result)
{
        return 0;
}

static int save_merge(struct action *action, int output, struct task_result *result, struct fst_error *error)
{
        return 0;
}

static int save(fst_rdd *rdd, struct save_action *self, fst_site site, struct fst_error *error)
{
        int r = output_committer_setup_job(self->committer, error);
        if (r)
                return r;
        r = action_run(rdd, &self->action, NULL, 0, site, error);
        if (r == 0)
                r = output_committer_commit_job(self->committer, error);
        if (r) {
                struct fst_error ignored = FST_ERROR_INIT;
                output_committer_abort_job(self->committer, &ignored);
                error_deinit(&ignored);
        }
        return r;
}

FST_API int fst_save_as_text_file_at(fst_rdd *rdd, const char *path, fst_site site)
{
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        struct output_options options = OUTPUT_OPTIONS_INIT;
        struct save_action action = {
                {.name = "save_as_text_file", .sink_new = save_sink_new, .result = save_result, .merge = save_merge},
                rdd->type,
                NULL};
        int r = action_check(rdd, &error);
        if (r == 0 && (!path || !*path))
                r = error_set(&error, -EINVAL,
                              "save_as_text_file needs a path: Can not create a Path from an empty "
                              "string");
        if (r == 0)
                r = output_options_read(rdd->sc->conf, &options, &error);
        if (r == 0)
                r = output_committer_new(path, rdd->lineage.id, &options, &action.committer, &error);
        if (r == 0)
                r = save(rdd, &action, site, &error);
        output_committer_free(action.committer);
        return r ? action_failed(rdd, site, r, &error) : 0;
}
