/* Rolls executors at an interval. */
#include "kubernetes/backend/roll_schedule.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "driver/plugins.h"
#include "kubernetes/executors/executor_rolling.h"
#include "driver/events/app_status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG "ExecutorRollPlugin"
#define K8S "spark.kubernetes.executor."

struct roll_schedule {
        struct roll_schedule_options options;
        enum roll_policy policy;
        int min_tasks;
        uv_timer_t timer;
};

struct roll_summary roll_summary_of(const struct executor_status *x)
{
        bool is_driver = strcmp(x->id, "driver") == 0;
        return (struct roll_summary){
                .id = is_driver ? -1 : (int32_t)strtol(x->id, NULL, 10),
                .add_time = x->added_ms,
                .total_tasks = (int)(x->active_tasks + x->completed_tasks + x->failed_tasks),
                .failed_tasks = (int)x->failed_tasks,
                .total_duration = x->duration_ms,
                .total_shuffle_write = x->shuffle_write_bytes,
                .peak_heap = x->peak_memory,
        };
}

static int32_t roll_schedule_choose(const struct roll_schedule *s)
{
        const size_t n = app_status_executors(s->options.status, NULL, 0);
        struct executor_status *all = new_array(struct executor_status, n);
        struct roll_summary *active = new_array(struct roll_summary, n);
        const size_t there = MIN(app_status_executors(s->options.status, all, n), n);
        int n_active = 0;
        for (size_t i = 0; i < there; i++)
                if (all[i].is_active)
                        active[n_active++] = roll_summary_of(&all[i]);
        const int32_t chosen = roll_choose(active, n_active, s->policy, s->min_tasks);
        free(active);
        free(all);
        return chosen;
}

static void roll_schedule_on_timer(uv_timer_t *timer)
{
        const struct roll_schedule *s = timer->data;
        const int32_t chosen = roll_schedule_choose(s);
        char id[12];
        if (chosen < 0) {
                log_info(LOG, "There is nothing to roll.");
                return;
        }
        snprintf(id, sizeof(id), "%d", chosen);
        _cleanup_free_ char *reason = mem_printf("Rolling via %s", roll_policy_name(s->policy));
        log_info(LOG, "Ask to decommission executor %s", id);
        s->options.decommission(s->options.owner, id, reason);
}

static int read_policy(const struct fst_conf *conf, enum roll_policy *policy, struct fst_error *error)
{
        _cleanup_free_ char *name = NULL;
        int r = conf_get_string(conf, K8S "rollPolicy", &name, error);
        for (char *c = name; r == 0 && *c; c++)
                if (*c >= 'a' && *c <= 'z')
                        *c = (char)(*c - 'a' + 'A');
        if (r == 0 && roll_policy_parse(name, policy) < 0)
                r = error_set(error, -EINVAL,
                              K8S "rollPolicy is '%s', but must be one of ID, ADD_TIME, TOTAL_GC_TIME, TOTAL_DURATION, "
                                  "AVERAGE_DURATION, FAILED_TASKS, PEAK_JVM_ONHEAP_MEMORY, PEAK_JVM_OFFHEAP_MEMORY, "
                                  "TOTAL_SHUFFLE_WRITE, DISK_USED, OUTLIER, OUTLIER_NO_FALLBACK",
                              name);
        return r;
}

int roll_schedule_begin(const struct roll_schedule_options *options, struct roll_schedule **out,
                        struct fst_error *error)
{
        int64_t interval, min_tasks;
        enum roll_policy policy;
        bool decommission;
        int r;
        *out = NULL;
        if ((r = conf_get_ms(options->conf, K8S "rollInterval", &interval, error)) ||
            (r = conf_get_int(options->conf, K8S "minTasksPerExecutorBeforeRolling", &min_tasks, error)) ||
            (r = conf_get_bool(options->conf, "spark.decommission.enabled", &decommission, error)) ||
            (r = read_policy(options->conf, &policy, error)) || !plugin_is_named(options->conf, PLUGIN_EXECUTOR_ROLL))
                return r;
        if (interval <= 0) {
                log_warn(LOG, "Disabled due to invalid interval value, '%lld'", (long long)interval);
                return 0;
        }
        if (!decommission) {
                log_warn(LOG, "Disabled because spark.decommission.enabled is false.");
                return 0;
        }
        struct roll_schedule *s = new0(struct roll_schedule);
        *s = (struct roll_schedule){
                .options = *options, .policy = policy, .min_tasks = (int)MIN(min_tasks, (int64_t)INT32_MAX)};
        uv_timer_init(options->loop, &s->timer);
        s->timer.data = s;
        uv_timer_start(&s->timer, roll_schedule_on_timer, (uint64_t)interval, (uint64_t)interval);
        *out = s;
        return 0;
}

static void roll_schedule_on_closed(uv_handle_t *handle)
{
        free(handle->data);
}

void roll_schedule_end(struct roll_schedule *s)
{
        if (s)
                uv_close((uv_handle_t *)&s->timer, roll_schedule_on_closed);
}
