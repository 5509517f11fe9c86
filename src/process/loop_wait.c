/* See loop_wait.h. */
#include "process/loop_wait.h"

#include <uv.h>

struct loop_wait {
        bool (*is_done)(void *owner);
        void *owner;
        bool is_over; /* the time has passed */
        int closing;
};

static void loop_wait_on_timeout(uv_timer_t *timer)
{
        struct loop_wait *w = timer->data;
        w->is_over = true;
        uv_stop(timer->loop);
}

/* libuv calls it after timers and before it waits. It does not wait after uv_stop. */
static void loop_wait_on_prepare(uv_prepare_t *prepare)
{
        struct loop_wait *w = prepare->data;
        if (w->is_done(w->owner))
                uv_stop(prepare->loop);
}

static void loop_wait_on_closed(uv_handle_t *handle)
{
        struct loop_wait *w = handle->data;
        w->closing--;
}

bool loop_wait(uv_loop_t *loop, bool (*is_done)(void *owner), void *owner, int64_t timeout_ms)
{
        struct loop_wait w = {.is_done = is_done, .owner = owner, .closing = 2};
        uv_prepare_t prepare;
        uv_timer_t limit;
        bool done = is_done(owner);
        if (done)
                return true;
        uv_prepare_init(loop, &prepare);
        uv_timer_init(loop, &limit);
        prepare.data = limit.data = &w;
        uv_prepare_start(&prepare, loop_wait_on_prepare);
        uv_unref((uv_handle_t *)&prepare);
        if (timeout_ms != LOOP_WAIT_FOREVER) {
                uv_update_time(loop); /* else the time since the loop last ran would count, too */
                uv_timer_start(&limit, loop_wait_on_timeout, timeout_ms > 0 ? (uint64_t)timeout_ms : 0, 0);
        }
        while (!done && !w.is_over) {
                uv_run(loop, UV_RUN_ONCE);
                done = is_done(owner);
        }
        uv_prepare_stop(&prepare);
        uv_close((uv_handle_t *)&prepare, loop_wait_on_closed);
        uv_close((uv_handle_t *)&limit, loop_wait_on_closed);
        while (w.closing > 0) /* the handles are on this stack */
                uv_run(loop, UV_RUN_NOWAIT);
        return done;
}

static bool loop_wait_is_flag_set(void *flag)
{
        return *(const bool *)flag;
}

void loop_wait_for_flag(uv_loop_t *loop, const bool *flag)
{
        loop_wait(loop, loop_wait_is_flag_set, (void *)flag, LOOP_WAIT_FOREVER);
}
