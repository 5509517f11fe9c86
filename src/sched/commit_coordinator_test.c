/* The cases of Spark's OutputCommitCoordinatorSuite. */
#include "sched/commit_coordinator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/log.h"

static void only_the_first_asker_may_commit(void **state)
{
        struct commit_coordinator *c = commit_coordinator_new();

        assert_true(commit_coordinator_stage_start(c, 1, 2));
        assert_true(commit_coordinator_may_commit(c, 1, 0, 0, 1));
        assert_false(commit_coordinator_may_commit(c, 1, 0, 0, 0));
        assert_true(commit_coordinator_may_commit(c, 1, 0, 0, 1)); /* repeated request */
        assert_true(commit_coordinator_may_commit(c, 1, 0, 1, 0)); /* another partition */
        assert_false(commit_coordinator_may_commit(c, 1, 0, 2, 0));
        commit_coordinator_free(c);
}

static void a_failed_committer_frees_its_partition(void **state)
{
        struct commit_coordinator *c = commit_coordinator_new();

        commit_coordinator_stage_start(c, 0, 1);
        assert_true(commit_coordinator_may_commit(c, 0, 0, 0, 0));
        commit_coordinator_failed(c, 0, 0, 0, 1); /* an unauthorized attempt: no change */
        assert_false(commit_coordinator_may_commit(c, 0, 0, 0, 2));
        commit_coordinator_failed(c, 0, 0, 0, 0);
        assert_false(commit_coordinator_may_commit(c, 0, 0, 0, 1)); /* the attempt has failed */
        assert_false(commit_coordinator_may_commit(c, 0, 0, 0, 0));
        assert_true(commit_coordinator_may_commit(c, 0, 0, 0, 2));
        commit_coordinator_free(c);
}

static void stage_attempts_are_told_apart(void **state)
{
        struct commit_coordinator *c = commit_coordinator_new();

        commit_coordinator_stage_start(c, 0, 1);
        assert_true(commit_coordinator_may_commit(c, 0, 0, 0, 0));
        assert_true(commit_coordinator_stage_start(c, 0, 1)); /* the next stage attempt keeps the state */
        assert_false(commit_coordinator_stage_start(c, 0, 3));
        assert_false(commit_coordinator_may_commit(c, 0, 1, 0, 0));
        commit_coordinator_failed(c, 0, 1, 0, 0); /* equal number, other stage attempt */
        assert_false(commit_coordinator_may_commit(c, 0, 1, 0, 1));
        assert_true(commit_coordinator_may_commit(c, 0, 0, 0, 0));
        commit_coordinator_failed(c, 0, 0, 0, 0);
        assert_true(commit_coordinator_may_commit(c, 0, 1, 0, 1));
        commit_coordinator_free(c);
}

static void stages_that_ended_commit_nothing(void **state)
{
        struct commit_coordinator *c = commit_coordinator_new();

        assert_false(commit_coordinator_may_commit(c, 0, 0, 0, 0));
        commit_coordinator_stage_start(c, 0, 1);
        commit_coordinator_stage_start(c, 5, 1);
        commit_coordinator_stage_end(c, 0);
        commit_coordinator_stage_end(c, 0);
        assert_false(commit_coordinator_is_empty(c));
        assert_false(commit_coordinator_may_commit(c, 0, 0, 0, 0));
        commit_coordinator_failed(c, 0, 0, 0, 0);
        commit_coordinator_stage_end(c, 5);
        assert_true(commit_coordinator_is_empty(c));
        commit_coordinator_free(c);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(only_the_first_asker_may_commit),
                cmocka_unit_test(a_failed_committer_frees_its_partition),
                cmocka_unit_test(stage_attempts_are_told_apart),
                cmocka_unit_test(stages_that_ended_commit_nothing),
        };

        log_threshold = LOG_OFF;
        return cmocka_run_group_tests_name("sched/commit_coordinator", tests, NULL, NULL);
}
