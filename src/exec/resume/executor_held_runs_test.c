/* The reports of an executor about batches that end without a driver: the next one must learn of each that it was told to
 * be running. */
#include "exec/executor_internal.h"

#include "base/mem.h"
#include "exec/actions/stage_context.h"
#include "exec/slot.h"
#include "rpc/control.pb-c.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct executor_options options;
static struct stage_context work = {.journal_job = 1, .journal_signature = 7};
static struct task_batch *running[1];

/* An executor of one slot whose first driver has died while it ran the batch. Its loop does not run. */
static struct task_batch *executor_start(struct executor *x, size_t limit)
{
        struct task_batch *run = new0(struct task_batch);
        *x = (struct executor){.options = &options,
                               .lock = PTHREAD_MUTEX_INITIALIZER,
                               .adopted = PTHREAD_COND_INITIALIZER,
                               .running = running,
                               .n_slots = 1,
                               .driver_number = 2,
                               .holding = true,
                               .held.limit = limit};
        uv_loop_init(&x->loop);
        uv_async_init(&x->loop, &x->wake, NULL);
        run->work = &work;
        run->driver = 1;
        run->n = 2;
        run->tasks[0].info.id = 40;
        run->tasks[1].info.id = 41;
        running[0] = run;
        return run;
}

static void executor_stop(struct executor *x, struct task_batch *run)
{
        uv_close((uv_handle_t *)&x->wake, NULL);
        uv_run(&x->loop, UV_RUN_DEFAULT);
        uv_loop_close(&x->loop);
        held_runs_deinit(&x->held);
        buf_deinit(&x->outbox);
        free(run);
}

static size_t listed_runs(struct executor *x)
{
        Firesteel__Holdings *holdings = mem_alloc(sizeof(*holdings));
        firesteel__holdings__init(holdings);
        executor_list_held_runs(x, holdings);
        size_t n = holdings->n_runs;
        firesteel__holdings__free_unpacked(holdings, NULL);
        return n;
}

static void batch_end(struct executor *x, struct task_batch *run)
{
        struct buf status = BUF_INIT;
        buf_puts(&status, "its outcome");
        assert_true(executor_holds(x, run));
        executor_hold_outcome(x, run, &status);
        running[0] = NULL;
        buf_deinit(&status);
}

/* Asserts that the outbox says that the batch does not run, and nothing else. */
static void expect_idle(const struct executor *x)
{
        Firesteel__StatusUpdate *update =
                firesteel__status_update__unpack(NULL, x->outbox.len, (const uint8_t *)x->outbox.data);
        assert_non_null(update);
        assert_int_equal(update->n_idle, 1);
        assert_int_equal(update->idle[0], 40);
        firesteel__status_update__free_unpacked(update, NULL);
}

static void reports_a_listed_batch_whose_outcome_is_held(void **state)
{
        struct executor x;
        struct task_batch *run = executor_start(&x, 0);
        assert_int_equal(listed_runs(&x), 1);
        batch_end(&x, run);
        assert_int_equal(x.outbox.len, 0);
        executor_end_holding(&x);
        expect_idle(&x);
        assert_int_equal(listed_runs(&x), 1);
        executor_stop(&x, run);
}

static void reports_a_listed_batch_whose_outcome_is_dropped(void **state)
{
        struct executor x;
        struct task_batch *run = executor_start(&x, 1);
        assert_int_equal(listed_runs(&x), 1);
        batch_end(&x, run);
        executor_end_holding(&x);
        expect_idle(&x);
        assert_int_equal(listed_runs(&x), 0);
        executor_stop(&x, run);
}

static void reports_a_batch_that_was_listed_as_ended_once(void **state)
{
        struct executor x;
        struct task_batch *run = executor_start(&x, 0);
        batch_end(&x, run);
        assert_int_equal(listed_runs(&x), 1);
        executor_end_holding(&x);
        assert_int_equal(x.outbox.len, 0);
        executor_stop(&x, run);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reports_a_listed_batch_whose_outcome_is_held),
                cmocka_unit_test(reports_a_listed_batch_whose_outcome_is_dropped),
                cmocka_unit_test(reports_a_batch_that_was_listed_as_ended_once),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
