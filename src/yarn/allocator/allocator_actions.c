/* See allocator_actions.h. */
#include "yarn/allocator/allocator_actions.h"

#include "base/buf.h"

static void yarn_action_deinit(struct yarn_action *action)
{
        switch (action->kind) {
        case YARN_ACTION_ASK:
                free(action->ask.location);
                break;
        case YARN_ACTION_EXCLUDE:
        case YARN_ACTION_INCLUDE:
                free(action->host);
                break;
        case YARN_ACTION_EXECUTOR_EXITED:
                free(action->exited.reason);
                break;
        case YARN_ACTION_DECOMMISSION:
                free(action->decommission.host);
                break;
        case YARN_ACTION_LOG:
                free(action->log.line);
                break;
        case YARN_ACTION_RELEASE:
        case YARN_ACTION_LAUNCH:
                break;
        }
}

const struct yarn_action *yarn_actions_next(struct yarn_actions *actions)
{
        if (actions->has_current)
                yarn_action_deinit(&actions->current);
        actions->has_current = queue_pop(&actions->queue, &actions->current);
        return actions->has_current ? &actions->current : NULL;
}

void yarn_actions_deinit(struct yarn_actions *actions)
{
        while (yarn_actions_next(actions))
                ;
        queue_deinit(&actions->queue);
}

void yarn_actions_log(struct yarn_actions *actions, enum log_level level, const char *format, ...)
{
        struct buf line = BUF_INIT;
        va_list args;
        va_start(args, format);
        buf_vprintf(&line, format, args);
        va_end(args);
        queue_push(&actions->queue,
                   (struct yarn_action){.kind = YARN_ACTION_LOG, .log = {.level = level, .line = buf_steal(&line)}});
}
