/* Finds an action's class by name and encodes the results of every class. */
#include "exec/actions/action_kinds.h"

#include "base/buf.h"
#include "base/mem.h"

static const struct action_class *const classes[] = {
        &combine_action_class,
        &count_action_class,
        &distinct_action_class,
        &foreach_action_class,
        &foreach_partition_action_class,
        &histogram_action_class,
        &lookup_action_class,
        &reduce_action_class,
        &rows_action_class,
        &run_job_action_class,
        &sample_action_class,
        &save_action_class,
        &save_records_action_class,
        &stats_action_class,
        &save_objects_action_class,
        &save_java_objects_action_class,
        &top_action_class,
};

const struct action_class *action_class_of(const char *name)
{
        for (size_t i = 0; i < ARRAY_SIZE(classes); i++)
                if (strcmp(classes[i]->name, name) == 0)
                        return classes[i];
        return NULL;
}

int task_result_encode(struct action *action, struct task_result *result, struct buf *out, struct fst_error *error)
{
        size_t start = out->len;
        buf_putc(out, TASK_RESULT_VERSION);
        int r = action->class->encode_result ? action->class->encode_result(action, result, out, error) : 0;
        if (action->class->discard)
                action->class->discard(action, result);
        *result = (struct task_result){0};
        if (r)
                buf_truncate(out, start);
        return r;
}

int task_result_decode(struct action *action, const void *data, size_t len, struct task_result *result,
                       struct fst_error *error)
{
        const unsigned char *bytes = data;
        struct task_result decoded = {0};
        if (len < 1 || bytes[0] != TASK_RESULT_VERSION)
                return error_set(error, -EBADMSG, "a task's result has an unknown version");
        int r = 0;
        if (action->class->decode_result)
                r = action->class->decode_result(action, bytes + 1, len - 1, &decoded, error);
        else if (len > 1)
                r = error_set(error, -EBADMSG, "%zu bytes follow an empty result", len - 1);
        if (r)
                return error_wrap(error, r, "a task's result (%s)", action->class->name);
        *result = decoded;
        return 0;
}
