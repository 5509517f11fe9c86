/* The action queue of the core of executor pods. */
#include "kubernetes/executors/pod_actions.h"

#include <stdarg.h>

static void pod_action_deinit(struct pod_action *action)
{
        switch (action->kind) {
        case POD_ACTION_CREATE:
                for (int i = 0; i < action->create.n_claims; i++)
                        free(action->create.claims[i]);
                free(action->create.claims);
                break;
        case POD_ACTION_DELETE_MANY:
                free(action->delete_many.ids);
                break;
        case POD_ACTION_DELETE:
                pod_state_unref(action->delete.pod);
                break;
        case POD_ACTION_LABEL_INACTIVE:
                pod_state_unref(action->pod);
                break;
        case POD_ACTION_REMOVE_EXECUTOR:
                exit_reason_deinit(&action->remove.reason);
                break;
        case POD_ACTION_STOP_APPLICATION:
                free(action->stop.message);
                break;
        case POD_ACTION_LOG:
                free(action->log.line);
                break;
        case POD_ACTION_LIST_CLAIMS:
                break;
        }
}

void pod_actions_deinit(struct pod_actions *actions)
{
        while (pod_actions_next(actions))
                ;
        queue_deinit(&actions->queue);
}

void pod_actions_push(struct pod_actions *actions, struct pod_action action)
{
        queue_push(&actions->queue, action);
}

void pod_actions_log(struct pod_actions *actions, enum log_level level, const char *component, const char *format, ...)
{
        struct buf line = BUF_INIT;
        va_list args;

        va_start(args, format);
        buf_vprintf(&line, format, args);
        va_end(args);
        pod_actions_push(actions, (struct pod_action){
                                          POD_ACTION_LOG,
                                          .log = {.level = level, .component = component, .line = buf_steal(&line)}});
}

const struct pod_action *pod_actions_next(struct pod_actions *actions)
{
        if (actions->has_current)
                pod_action_deinit(&actions->current);
        actions->has_current = queue_pop(&actions->queue, &actions->current);
        return actions->has_current ? &actions->current : NULL;
}
