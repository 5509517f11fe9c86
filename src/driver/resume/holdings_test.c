/* What earlier executors hold: each output is taken once, from an executor that is there; the rest is left to remove. */
#include "driver/resume/holdings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void takes_the_named_output_only(void **state)
{
        struct holdings h = {0};
        assert_true(holdings_add_output(&h, 1, 3, 40, 0));
        assert_true(holdings_add_output(&h, 1, 3, 41, 1)); /* of another attempt */
        assert_true(holdings_add_output(&h, 0, 3, 40, 2));
        assert_int_equal(holdings_take_output(&h, 1, 3, 42), -1);
        assert_int_equal(holdings_take_output(&h, 2, 3, 40), -1);
        assert_int_equal(holdings_take_output(&h, 1, 3, 41), 1);
        assert_int_equal(holdings_take_output(&h, 1, 3, 41), -1);
        assert_true(holdings_add_output(&h, 1, 4, 43, 3)); /* a later registration */
        assert_int_equal(holdings_take_output(&h, 1, 4, 43), 3);
        holdings_close(&h);
        assert_int_equal(h.outputs.len, 2);
        assert_false(holdings_add_output(&h, 1, 5, 44, 3));
        assert_int_equal(h.outputs.len, 2);
        holdings_deinit(&h);
}

static void copies_survive_the_loss_of_an_executor(void **state)
{
        struct holdings h = {0};
        holdings_add_output(&h, 1, 3, 40, 0);
        holdings_add_output(&h, 1, 3, 40, 1);
        holdings_drop_executor(&h, 0);
        assert_int_equal(holdings_take_output(&h, 1, 3, 40), 1);
        holdings_drop_executor(&h, 1);
        assert_int_equal(h.outputs.len, 0);
        assert_int_equal(holdings_take_output(&h, 1, 3, 40), -1);
        holdings_deinit(&h);
}

static void blocks_count_once_a_known_job_has_their_rdd(void **state)
{
        struct holdings h = {0};
        assert_true(holdings_add_rdd(&h, 5));
        assert_true(holdings_add_rdd(&h, 5));
        assert_true(holdings_add_rdd(&h, 7));
        holdings_validate_rdd(&h, 5);
        holdings_validate_rdd(&h, 6);
        holdings_close(&h);
        assert_int_equal(h.rdds.len, 1);
        assert_int_equal(h.rdds.data[0].rdd, 7);
        assert_false(holdings_add_rdd(&h, 8));
        holdings_deinit(&h);
}

/* Random orders of additions, takes and losses, compared with a table. */
static void random_worlds_agree_with_a_table(void **state)
{
        enum { SHUFFLES = 3, PARTITIONS = 8, EXECUTORS = 4 };
        for (unsigned seed = 1; seed <= 300; seed++) {
                bool has[SHUFFLES][PARTITIONS][EXECUTORS] = {{{false}}};
                unsigned at = seed;
                struct holdings h = {0};
                for (int step = 0; step < 200; step++) {
                        int s = rand_r(&at) % SHUFFLES, p = rand_r(&at) % PARTITIONS, e = rand_r(&at) % EXECUTORS;
                        switch (rand_r(&at) % 5) {
                        case 0:
                                holdings_drop_executor(&h, e);
                                for (int i = 0; i < SHUFFLES * PARTITIONS; i++)
                                        has[i / PARTITIONS][i % PARTITIONS][e] = false;
                                break;
                        case 1:
                        case 2:
                                if (!has[s][p][e])
                                        holdings_add_output(&h, s, p, 10 * s + p, e);
                                has[s][p][e] = true;
                                break;
                        default:
                                e = holdings_take_output(&h, s, p, 10 * s + p);
                                for (int i = 0; i < EXECUTORS && e < 0; i++)
                                        assert_false(has[s][p][i]);
                                if (e >= 0)
                                        assert_true(has[s][p][e]);
                                if (e >= 0) { /* it is used up */
                                        has[s][p][e] = false;
                                }
                        }
                }
                holdings_deinit(&h);
        }
}

static void add_run(struct holdings *h, int executor, int64_t first_id, uint64_t job)
{
        const struct held_batch run = {.executor = executor,
                                       .first_id = first_id,
                                       .job = job,
                                       .outputs = (int32_t[]){3, 5},
                                       .n = 2,
                                       .takes_core = first_id != 30};
        assert_true(holdings_add_run(h, &run));
}

static void takes_the_batches_of_a_job_once(void **state)
{
        struct holdings h = {0};
        struct held_batch run;
        add_run(&h, 0, 10, 1);
        add_run(&h, 1, 20, 2);
        add_run(&h, 1, 30, 1);
        add_run(&h, 2, 40, 1);
        holdings_end_run(&h, 30);
        holdings_end_run(&h, 31); /* not its first task */
        holdings_drop_executor(&h, 2);
        assert_true(holdings_take_run(&h, 1, &run));
        assert_int_equal(run.first_id, 10);
        assert_true(run.takes_core);
        assert_int_equal(run.outputs[1], 5);
        free(run.outputs);
        assert_true(holdings_take_run(&h, 1, &run));
        assert_int_equal(run.first_id, 30);
        assert_true(run.takes_core);
        free(run.outputs);
        assert_false(holdings_take_run(&h, 1, &run));
        holdings_close(&h);
        assert_false(holdings_add_run(&h, &run));
        assert_true(holdings_take_run(&h, 0, &run)); /* what nobody has asked for */
        assert_int_equal(run.first_id, 20);
        free(run.outputs);
        assert_false(holdings_take_run(&h, 0, &run));
        holdings_deinit(&h);
}

static void blocks_that_come_after_their_job_count(void **state)
{
        struct holdings h = {0};
        holdings_validate_rdd(&h, 4);
        assert_true(holdings_add_rdd(&h, 4));
        assert_true(holdings_add_rdd(&h, 5));
        holdings_close(&h);
        assert_int_equal(h.rdds.len, 1);
        assert_int_equal(h.rdds.data[0].rdd, 5);
        assert_false(holdings_add_rdd(&h, 4));
        holdings_deinit(&h);
}

static void finds_kept_writers_in_both_directions(void **state)
{
        struct holdings h = {0};
        holdings_keep_writer(&h, 4, 70);
        holdings_keep_writer(&h, 0, 900);
        holdings_keep_writer(&h, 2, 1);
        assert_int_equal(holdings_writer(&h, 4), 70);
        assert_int_equal(holdings_writer(&h, 0), 900);
        assert_int_equal(holdings_writer(&h, 1), -1); /* a new executor between them */
        assert_int_equal(holdings_writer(&h, 5), -1);
        assert_int_equal(holdings_executor_of_writer(&h, 1), 2);
        assert_int_equal(holdings_executor_of_writer(&h, 70), 4);
        assert_int_equal(holdings_executor_of_writer(&h, 71), -1);
        assert_int_equal(holdings_executor_of_writer(&h, 901), -1);
        holdings_close(&h);
        assert_int_equal(holdings_executor_of_writer(&h, 900), 0); /* for good */
        holdings_deinit(&h);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(takes_the_named_output_only),
                cmocka_unit_test(copies_survive_the_loss_of_an_executor),
                cmocka_unit_test(blocks_count_once_a_known_job_has_their_rdd),
                cmocka_unit_test(random_worlds_agree_with_a_table),
                cmocka_unit_test(finds_kept_writers_in_both_directions),
                cmocka_unit_test(takes_the_batches_of_a_job_once),
                cmocka_unit_test(blocks_that_come_after_their_job_count),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
