/* Waits for the minimum executors of a gang. */
#include "kubernetes/backend/min_executors_wait.h"

#include "base/log.h"
#include "base/mem.h"

#define LOG "KubernetesGang"

#define REPORTS 20 /* reports of a wait that lasts until its timeout */
#define REPORT_LEAST_MS 1000
#define REPORT_MOST_MS 60000

struct min_executors_wait {
        struct gang gang;
        const struct min_executors_wait_ops *ops;
        void *owner;
        int here;
        uint64_t began;
        uv_timer_t timer;
};

static char *describe_wait(const struct min_executors_wait *w)
{
        _cleanup_free_ char *why = w->ops->why(w->owner);
        return mem_printf("%d of at least %d executors %s registered after %llu s%s%s", w->here, w->gang.executors,
                          w->here == 1 ? "is" : "are", (unsigned long long)((uv_now(w->timer.loop) - w->began) / 1000),
                          *why ? ": " : "", why);
}

static bool min_executors_wait_is_over(const struct min_executors_wait *w)
{
        return w->gang.timeout_ms > 0 && (int64_t)(uv_now(w->timer.loop) - w->began) >= w->gang.timeout_ms;
}

static void min_executors_wait_on_timer(uv_timer_t *timer)
{
        struct min_executors_wait *w = timer->data;
        _cleanup_free_ char *state = describe_wait(w);
        if (!min_executors_wait_is_over(w)) {
                log_warn(LOG, "Waiting for the gang: %s", state);
                return;
        }
        uv_timer_stop(timer);
        _cleanup_free_ char *message =
                mem_printf("the gang was incomplete after spark.firesteel.kubernetes.gang.timeout, so the application "
                           "releases its executors (request fewer or smaller executors, or raise the timeout): %s",
                           state);
        w->ops->given_up(w->owner, message);
}

struct min_executors_wait *min_executors_wait_begin(uv_loop_t *loop, const struct gang *gang,
                                                    const struct min_executors_wait_ops *ops, void *owner)
{
        if (!gang->wanted || gang->executors == 0)
                return NULL;
        struct min_executors_wait *w = new0(struct min_executors_wait);
        *w = (struct min_executors_wait){.gang = *gang, .ops = ops, .owner = owner, .began = uv_now(loop)};
        const int64_t whole = gang->timeout_ms ? gang->timeout_ms : REPORT_MOST_MS * REPORTS;
        int64_t interval = MIN(MAX(whole / REPORTS, (int64_t)REPORT_LEAST_MS), (int64_t)REPORT_MOST_MS);
        interval = MIN(interval, whole);
        uv_timer_init(loop, &w->timer);
        w->timer.data = w;
        uv_timer_start(&w->timer, min_executors_wait_on_timer, (uint64_t)interval, (uint64_t)interval);
        return w;
}

void min_executors_wait_arrived(struct min_executors_wait *w)
{
        if (!w || !uv_is_active((uv_handle_t *)&w->timer) || ++w->here < w->gang.executors)
                return;
        log_info(LOG, "The gang is complete: %d executors after %llu ms", w->here,
                 (unsigned long long)(uv_now(w->timer.loop) - w->began));
        uv_timer_stop(&w->timer);
}

static void min_executors_wait_on_closed(uv_handle_t *handle)
{
        free(handle->data);
}

void min_executors_wait_end(struct min_executors_wait *w)
{
        if (w)
                uv_close((uv_handle_t *)&w->timer, min_executors_wait_on_closed);
}
