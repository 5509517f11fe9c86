/*
 * save_as_text_file, save_as_binary_records and save_as_object_file: each task writes its partition to a file of its
 * own attempt and commits it. Only one attempt of a partition may commit. exec_env.may_commit decides, because attempts
 * may run in different processes. Within one process the committer's table decides (io/output_committer.h).
 */
#include "exec/actions/action_kinds.h"

#include "base/fault_point.h"
#include "base/mem.h"
#include "exec/actions/stage_context.h"
#include "io/java_object_file.h"
#include "io/output_committer.h"
#include "io/part_writer.h"
#include "rdd/object_file.h"
#include "rdd/rdd_wire.h"
#include "rpc/stage.pb-c.h"

struct save_sink {
        struct op op;
        struct save_action *save;
        const struct exec_env *env;
        struct part_writer *part; /* exactly one of the three is set */
        struct object_writer *objects;
        struct java_object_writer *java;
        enum part_form form;
        bool open;
};

static struct save_sink *action_save_sink_of(struct op *op)
{
        return container_of(op, struct save_sink, op);
}

static int save_fail(struct op *op, int r, struct fst_error *error)
{
        return task_run_fail_with(op->run, r, error);
}

static int save_begin(struct op *op)
{
        struct save_sink *sink = action_save_sink_of(op);
        struct fst_error error = FST_ERROR_INIT;
        const struct fst_task_info *task = &op->run->task.info;
        _cleanup_free_ char *path = output_committer_task_path(sink->save->committer, task->partition, (int)task->id);
        int r = sink->part   ? part_writer_open(sink->part, path, sink->form, &error)
                : sink->java ? java_object_writer_open(sink->java, path, &error)
                             : object_writer_open(sink->objects, path, op->type, &error);
        sink->open = r == 0;
        return r ? save_fail(op, r, &error) : 0;
}

static int save_consume(struct op *op, const struct rows *in)
{
        struct fst_error error = FST_ERROR_INIT;
        if (task_run_stopped(op->run))
                return task_run_cancelled(op->run);
        struct save_sink *sink = action_save_sink_of(op);
        int r = sink->part   ? part_writer_write(sink->part, &in->batch, &error)
                : sink->java ? java_object_writer_write(sink->java, &in->batch, &error)
                             : object_writer_write(sink->objects, &in->batch, &error);
        return r ? save_fail(op, r, &error) : 0;
}

/* Returns 0 if this attempt may commit, FST_OUTPUT_E_DENIED if it may not, or a negative error. */
static int action_save_may_commit(const struct exec_env *env, const struct fst_task_info *task, struct fst_error *error)
{
        if (!env->may_commit)
                return 0;
        int r = env->may_commit(env->commit_owner, task->stage, task->stage_attempt, task->partition, task->id);
        return r < 0 ? error_set(error, r, "cannot ask the driver whether partition %d may be committed: %s",
                                 task->partition, strerror(-r))
                     : r;
}

static int save_close(struct save_sink *sink, struct fst_error *error)
{
        struct task_counters *counters = &sink->op.run->counters;
        int r = sink->part   ? part_writer_close(sink->part, error)
                : sink->java ? java_object_writer_close(sink->java, error)
                             : object_writer_close(sink->objects, error);
        if (r)
                return r;
        sink->open = false;
        counters->output_bytes += (int64_t)(sink->part   ? part_writer_bytes(sink->part)
                                            : sink->java ? java_object_writer_bytes(sink->java)
                                                         : object_writer_bytes(sink->objects));
        counters->output_records += (int64_t)(sink->part   ? part_writer_rows(sink->part)
                                              : sink->java ? java_object_writer_rows(sink->java)
                                                           : object_writer_rows(sink->objects));
        return 0;
}

static int save_end(struct op *op)
{
        struct save_sink *sink = action_save_sink_of(op);
        struct fst_error error = FST_ERROR_INIT;
        const struct fst_task_info *task = &op->run->task.info;
        int r = save_close(sink, &error);
        if (r)
                return save_fail(op, r, &error);
        r = action_save_may_commit(sink->env, task, &error);
        fault_point(FAULT_COMMIT);
        if (r == 0)
                r = output_committer_commit_task(sink->save->committer, task->partition, (int)task->id, &error);
        fault_point(FAULT_COMMIT);
        if (r == FST_OUTPUT_E_DENIED)
                return task_run_fail(op->run, FST_COMMIT_DENIED, "another attempt of partition %d has committed",
                                     task->partition);
        return r ? save_fail(op, r, &error) : 0;
}

static void save_abandon(struct op *op)
{
        struct save_sink *sink = action_save_sink_of(op);
        struct fst_error error = FST_ERROR_INIT;
        const struct fst_task_info *task = &op->run->task.info;
        if (sink->open && sink->part)
                part_writer_abandon(sink->part);
        if (sink->open && sink->objects)
                object_writer_abandon(sink->objects);
        if (sink->open && sink->java)
                java_object_writer_abandon(sink->java);
        sink->open = false;
        output_committer_abort_task(sink->save->committer, task->partition, (int)task->id, &error);
        error_deinit(&error);
}

static void save_free(struct op *op)
{
        struct save_sink *sink = action_save_sink_of(op);
        part_writer_free(sink->part);
        object_writer_free(sink->objects);
        java_object_writer_free(sink->java);
        op_deinit(op);
        free(sink);
}

static const struct op_class save_class = {
        "save",          .begin = save_begin,     .consume = save_consume,
        .end = save_end, .abandon = save_abandon, .free = save_free,
};

static struct save_sink *save_sink_new(struct action *action, struct task_run *run, const struct exec_env *env)
{
        struct save_sink *sink = new0(struct save_sink);
        sink->save = container_of(action, struct save_action, action);
        sink->env = env;
        op_init(&sink->op, &save_class, run, action->type);
        return sink;
}

static struct op *text_sink_new(struct action *action, struct task_run *run, const struct exec_env *env)
{
        struct save_sink *sink = save_sink_new(action, run, env);
        sink->part = part_writer_new();
        sink->form = PART_TEXT;
        return &sink->op;
}

static struct op *records_sink_new(struct action *action, struct task_run *run, const struct exec_env *env)
{
        struct save_sink *sink = save_sink_new(action, run, env);
        sink->part = part_writer_new();
        sink->form = PART_RECORDS;
        return &sink->op;
}

static struct op *objects_sink_new(struct action *action, struct task_run *run, const struct exec_env *env)
{
        struct save_sink *sink = save_sink_new(action, run, env);
        sink->objects = object_writer_new();
        return &sink->op;
}

static struct op *java_objects_sink_new(struct action *action, struct task_run *run, const struct exec_env *env)
{
        struct save_sink *sink = save_sink_new(action, run, env);
        sink->java = java_object_writer_new();
        return &sink->op;
}

static int save_result(struct action *action, struct op *sink, struct task_result *result)
{
        return 0;
}

static int save_encode(const struct action *action, struct rdd_wire_writer *writer, Firesteel__Action *message,
                       struct fst_error *error)
{
        struct output_identity id =
                output_committer_identity(container_of(action, struct save_action, action)->committer);
        Firesteel__Output *output = arena_alloc(&writer->arena, sizeof(*output));
        firesteel__output__init(output);
        output->path = (char *)id.path;
        output->tracker = (char *)id.tracker;
        output->job = id.job;
        output->algorithm = (uint32_t)id.algorithm;
        output->codec = (uint32_t)id.codec;
        message->output = output;
        return 0;
}

static int save_decode(struct rdd_wire_reader *reader, const Firesteel__Action *message, fst_type type,
                       struct action **out, struct fst_error *error)
{
        struct save_action *self = wire_array(reader->memory, 1, sizeof(*self));
        const Firesteel__Output *output = message->output;
        if (!self)
                return rdd_wire_too_big(error);
        if (!output || output->algorithm > 2 || output->codec >= CODEC_KINDS)
                return error_set(error, -EBADMSG, "the save action has no valid output");
        struct output_identity id = {output->path, output->tracker, output->job, (int)output->algorithm,
                                     (enum codec_kind)output->codec};
        int r = output_committer_join(&id, &self->committer, error);
        if (r == 0)
                *out = &self->action;
        return r;
}

static int action_save_records_decode(struct rdd_wire_reader *reader, const Firesteel__Action *message, fst_type type,
                                      struct action **out, struct fst_error *error)
{
        if (!part_records_of(type))
                return error_set(error, -EBADMSG, "saved records need a fixed length");
        return save_decode(reader, message, type, out, error);
}

static int save_java_objects_decode(struct rdd_wire_reader *reader, const Firesteel__Action *message, fst_type type,
                                    struct action **out, struct fst_error *error)
{
        if (!fst_type_equal(type, FST_BYTES))
                return error_set(error, -EBADMSG, "a Java object file needs frames");
        return save_decode(reader, message, type, out, error);
}

static void save_release(struct action *action)
{
        output_committer_free(container_of(action, struct save_action, action)->committer);
}

const struct action_class save_action_class = {
        .name = "save_as_text_file",
        .sink_new = text_sink_new,
        .result = save_result,
        .encode = save_encode,
        .decode = save_decode,
        .release = save_release,
};

const struct action_class save_records_action_class = {
        .name = "save_as_binary_records",
        .sink_new = records_sink_new,
        .result = save_result,
        .encode = save_encode,
        .decode = action_save_records_decode,
        .release = save_release,
};

const struct action_class save_objects_action_class = {
        .name = "save_as_object_file",
        .sink_new = objects_sink_new,
        .result = save_result,
        .encode = save_encode,
        .decode = save_decode,
        .release = save_release,
};

const struct action_class save_java_objects_action_class = {
        .name = "save_as_java_object_file",
        .sink_new = java_objects_sink_new,
        .result = save_result,
        .encode = save_encode,
        .decode = save_java_objects_decode,
        .release = save_release,
};
