/*
 * Map outputs in Celeborn while drivers die: random worlds keep the invariants of simulator_celeborn.c, and a lifecycle
 * manager that does not wait for its journal is noticed.
 */
#include "base/error.h"
#include "base/log.h"
#include "sched/simulator/simulator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static int run_world(uint64_t seed, bool lazy, struct simulator_journal *journal, struct simulator_report *report,
                     struct fst_error *error)
{
        struct simulator_options options = SIMULATOR_OPTIONS_DEFAULT;

        options.random = true;
        options.seed = seed;
        options.celeborn.workers = 4;
        *journal = (struct simulator_journal){.lazy_celeborn = lazy};
        return simulator_run_drivers(&options, 1 + (int)(seed % 4), journal, report, error);
}

static void next_drivers_go_on_with_outputs_in_celeborn(void **state)
{
        struct simulator_report sum = {0};
        int64_t kept = 0, taken_over = 0;
        const uint64_t n = getenv("FIRESTEEL_FULL_NUMBER") ? 20000 : 500;

        for (uint64_t seed = 1; seed <= n; seed++) {
                struct simulator_journal journal;
                struct simulator_report report;
                struct fst_error error = FST_ERROR_INIT;

                if (run_world(seed, false, &journal, &report, &error) != 0)
                        fail_msg("%s\nThe seed is %llu", error_message(&error), (unsigned long long)seed);
                simulator_report_add(&sum, &report);
                kept += journal.kept;
                taken_over += journal.taken_over;
                simulator_journal_deinit(&journal);
        }
        print_message(
                "map outputs kept %lld, tasks taken over %lld, shuffles committed %lld, lost %lld, revives %lld\n",
                (long long)kept, (long long)taken_over, (long long)sum.shuffles_committed, (long long)sum.shuffles_lost,
                (long long)sum.revives);
        assert_true(kept > 500);
        assert_true(taken_over > 100);
        assert_true(sum.shuffles_committed > 500);
        assert_true(sum.shuffles_lost > 20);
        assert_true(sum.revives > 200);
        assert_true(sum.jobs[JOB_SUCCEEDED] > 1000);
}

static void records_that_are_not_durable_are_noticed(void **state)
{
        int noticed = 0;

        for (uint64_t seed = 1; seed <= 200 && !noticed; seed++) {
                struct simulator_journal journal;
                struct simulator_report report;
                struct fst_error error = FST_ERROR_INIT;

                if (run_world(seed, true, &journal, &report, &error) != 0 &&
                    strstr(error_message(&error), "is committed with the output of task"))
                        noticed++;
                error_deinit(&error);
                simulator_journal_deinit(&journal);
        }
        assert_int_equal(noticed, 1);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(next_drivers_go_on_with_outputs_in_celeborn),
                cmocka_unit_test(records_that_are_not_durable_are_noticed),
        };

        log_threshold = LOG_OFF;
        return cmocka_run_group_tests(tests, NULL, NULL);
}
