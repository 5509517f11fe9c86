/* Tests waits in an event loop: conditions set by timers that are already due, limits, and handles of others. */
#include "process/loop_wait.h"

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>
#include <uv.h>

#include <cmocka.h>

/* A pipe that nobody writes to keeps the loop waiting for events. */
struct waiting_loop {
        uv_loop_t loop;
        uv_pipe_t pipe;
        uv_timer_t timer;
        int ends[2];
        bool flag;
        int tests; /* of the condition */
};

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *buffer)
{
        static char data[16];
        *buffer = uv_buf_init(data, sizeof(data));
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buffer)
{
}

static int set_up(void **state)
{
        static struct waiting_loop w;
        w = (struct waiting_loop){0};
        assert_int_equal(pipe(w.ends), 0);
        assert_int_equal(uv_loop_init(&w.loop), 0);
        uv_pipe_init(&w.loop, &w.pipe, 0);
        uv_pipe_open(&w.pipe, w.ends[0]);
        uv_read_start((uv_stream_t *)&w.pipe, on_alloc, on_read);
        uv_timer_init(&w.loop, &w.timer);
        w.timer.data = &w;
        *state = &w;
        return 0;
}

static int tear_down(void **state)
{
        struct waiting_loop *w = *state;
        uv_close((uv_handle_t *)&w->pipe, NULL);
        uv_close((uv_handle_t *)&w->timer, NULL);
        uv_run(&w->loop, UV_RUN_DEFAULT);
        close(w->ends[1]);
        return uv_loop_close(&w->loop); /* fails if a handle of loop_wait is left */
}

static void on_timer(uv_timer_t *timer)
{
        struct waiting_loop *w = timer->data;
        w->flag = true;
}

/* The loop's time passes the timer's before the loop runs again. */
static void pass_time(int64_t ms)
{
        for (const int64_t end = now_ms() + ms; now_ms() < end;)
                ;
}

static bool never(void *owner)
{
        ((struct waiting_loop *)owner)->tests++;
        return false;
}

static bool always(void *owner)
{
        ((struct waiting_loop *)owner)->tests++;
        return true;
}

static bool is_set_slowly(void *owner)
{
        struct waiting_loop *w = owner;
        pass_time(3);
        return w->flag;
}

static void returns_after_timer_that_is_due(void **state)
{
        struct waiting_loop *w = *state;
        uv_timer_start(&w->timer, on_timer, 1, 0);
        pass_time(3);
        loop_wait_for_flag(&w->loop, &w->flag);
        assert_true(w->flag);
}

/* The timer becomes due while the condition is tested, so libuv runs it just before it waits. */
static void returns_after_timer_that_falls_due_during_test(void **state)
{
        struct waiting_loop *w = *state;
        uv_timer_start(&w->timer, on_timer, 1, 0);
        assert_true(loop_wait(&w->loop, is_set_slowly, w, LOOP_WAIT_FOREVER));
}

static void limit_ends_a_wait(void **state)
{
        struct waiting_loop *w = *state;
        const int64_t start = now_ms();
        assert_false(loop_wait(&w->loop, never, w, 20));
        assert_true(now_ms() - start >= 19); /* libuv rounds the current time down */
        assert_true(w->tests > 0);
}

/* The limit has passed when the loop begins. */
static void limit_that_falls_due_during_test_ends_a_wait(void **state)
{
        struct waiting_loop *w = *state;
        assert_false(loop_wait(&w->loop, is_set_slowly, w, 1));
}

static void limit_of_zero_or_less_tests_the_condition(void **state)
{
        struct waiting_loop *w = *state;
        assert_true(loop_wait(&w->loop, always, w, 0));
        assert_int_equal(w->tests, 1);
        assert_false(loop_wait(&w->loop, never, w, 0));
        assert_false(loop_wait(&w->loop, never, w, -5));
}

/* Time in which the loop did not run does not count. */
static void limit_counts_from_the_call(void **state)
{
        struct waiting_loop *w = *state;
        pass_time(30);
        uv_timer_start(&w->timer, on_timer, 31, 0); /* in the loop's time, which is 30 ms late: due in 1 ms */
        assert_true(loop_wait(&w->loop, is_set_slowly, w, 20000));
        const int64_t start = now_ms();
        pass_time(30);
        assert_false(loop_wait(&w->loop, never, w, 10));
        assert_true(now_ms() - start >= 39);
}

static void stop_of_others_does_not_end_a_wait(void **state)
{
        struct waiting_loop *w = *state;
        uv_stop(&w->loop);
        uv_timer_start(&w->timer, on_timer, 5, 0);
        loop_wait_for_flag(&w->loop, &w->flag);
        assert_true(w->flag);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(returns_after_timer_that_is_due, set_up, tear_down),
                cmocka_unit_test_setup_teardown(returns_after_timer_that_falls_due_during_test, set_up, tear_down),
                cmocka_unit_test_setup_teardown(limit_ends_a_wait, set_up, tear_down),
                cmocka_unit_test_setup_teardown(limit_that_falls_due_during_test_ends_a_wait, set_up, tear_down),
                cmocka_unit_test_setup_teardown(limit_of_zero_or_less_tests_the_condition, set_up, tear_down),
                cmocka_unit_test_setup_teardown(limit_counts_from_the_call, set_up, tear_down),
                cmocka_unit_test_setup_teardown(stop_of_others_does_not_end_a_wait, set_up, tear_down),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
