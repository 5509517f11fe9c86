#include "sched/tasks/pool_file.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* A leaf, identified by its stage id. */
static struct schedulable *leaf(struct pool *pool, int job, int stage)
{
        struct schedulable *node = new0(struct schedulable);

        node->weight = 1;
        node->priority = job;
        node->stage_id = stage;
        schedulable_activate(node, pool);
        return node;
}

static void drop(struct schedulable *node)
{
        schedulable_deactivate(node);
        free(node);
}

/* Gives one core to the first leaf, which must be @stage. */
static void next_is(struct pool *root, int stage)
{
        struct schedulable *node = pool_pick(root);

        assert_non_null(node);
        assert_int_equal(node->stage_id, stage);
        schedulable_running(node, node->parent, 1);
}

static void fifo_goes_by_job_then_stage(void **state)
{
        struct pool *root = pool_build(SCHEDULING_FIFO, NULL, 0);
        struct schedulable *c = leaf(root, 1, 3), *b = leaf(root, 0, 2), *a = leaf(root, 0, 1);

        assert_ptr_equal(pool_for_job(root, "any"), root);
        next_is(root, 1);
        next_is(root, 1);
        schedulable_deactivate(a);
        next_is(root, 2);
        drop(b);
        next_is(root, 3);
        schedulable_activate(a, root);
        next_is(root, 1);
        drop(a);
        drop(c);
        assert_null(pool_pick(root));
        pool_free(root);
}

/* PoolSuite's fair scheduler: pool 1 has a minimum share of 2, pool 2 of 3. */
static void fair_serves_minimum_shares_first(void **state)
{
        struct pool_spec specs[] = {
                {"1", SCHEDULING_FIFO, 2, 1}, {"2", SCHEDULING_FIFO, 3, 1}, {"3", SCHEDULING_FIFO, 0, 1}};
        struct pool *root = pool_build(SCHEDULING_FAIR, specs, 3);
        struct schedulable *a = leaf(pool_for_job(root, "1"), 0, 10), *b = leaf(pool_for_job(root, "2"), 1, 20);
        struct schedulable *c = leaf(pool_for_job(root, "3"), 2, 30);
        next_is(root, 10); /* 0/2 and 0/3: by name */
        next_is(root, 20); /* 1/2 and 0/3 */
        next_is(root, 20); /* 1/2 and 1/3 */
        next_is(root, 10); /* 1/2 and 2/3 */
        next_is(root, 20); /* only 2/3 is below its minimum share */
        next_is(root, 30); /* all have their minimum share: 2, 3, 0 */
        next_is(root, 30);
        next_is(root, 10); /* 2, 3, 2: by name */
        drop(a);
        drop(b);
        drop(c);
        pool_free(root);
}

static void fair_shares_by_weight(void **state)
{
        struct pool_spec specs[] = {{"heavy", SCHEDULING_FAIR, 0, 3}, {"light", SCHEDULING_FAIR, 0, 1}};
        struct pool *root = pool_build(SCHEDULING_FAIR, specs, 2);
        struct schedulable *a = leaf(pool_for_job(root, "heavy"), 0, 1), *b = leaf(pool_for_job(root, "heavy"), 0, 2);
        struct schedulable *c = leaf(pool_for_job(root, "light"), 0, 3);

        for (int i = 0; i < 400; i++)
                next_is(root, pool_pick(root)->stage_id);
        assert_int_equal(a->running, 150);
        assert_int_equal(b->running, 150);
        assert_int_equal(c->running, 100);
        assert_int_equal(root->node.running, 400);
        drop(a);
        drop(b);
        drop(c);
        pool_free(root);
}

static void nested_pools_are_chosen_level_by_level(void **state)
{
        struct pool *root = pool_new("", SCHEDULING_FAIR, 0, 1);
        struct pool *p0 = pool_new("0", SCHEDULING_FAIR, 3, 1), *p1 = pool_new("1", SCHEDULING_FAIR, 4, 1);
        struct pool *p00 = pool_new("00", SCHEDULING_FAIR, 2, 2), *p01 = pool_new("01", SCHEDULING_FAIR, 1, 1);

        pool_add_child(root, p0);
        pool_add_child(root, p1);
        pool_add_child(p0, p00);
        pool_add_child(p0, p01);
        assert_ptr_equal(pool_find(root, "01"), p01);
        struct schedulable *a = leaf(p00, 0, 1), *b = leaf(p01, 1, 2), *c = leaf(p1, 2, 3);

        next_is(root, 1); /* all 0: by name, 0 then 00 */
        next_is(root, 3); /* 1/3 and 0/4 */
        next_is(root, 3); /* 1/3 and 1/4 */
        next_is(root, 2); /* 1/3 and 2/4; below: 1/2 and 0/1 */
        next_is(root, 3);
        next_is(root, 1);
        assert_int_equal(p0->node.running, 3);
        drop(a);
        drop(b);
        assert_false(p0->node.active);
        drop(c);
        assert_false(root->first);
        pool_free(root);
}

static void an_unknown_pool_is_made_with_defaults(void **state)
{
        struct pool *root = pool_build(SCHEDULING_FAIR, NULL, 0);
        struct pool *made = pool_for_job(root, "new");

        assert_non_null(pool_find(root, "default"));
        assert_ptr_equal(pool_for_job(root, NULL), pool_find(root, "default"));
        assert_ptr_equal(pool_for_job(root, "new"), made);
        assert_int_equal(made->mode, SCHEDULING_FIFO);
        assert_int_equal(made->node.weight, 1);
        assert_int_equal(made->node.min_share, 0);
        pool_free(root);
}

static void check(const struct pool_spec *pool, const char *name, enum scheduling_mode mode, int min_share, int weight)
{
        assert_string_equal(pool->name, name);
        assert_int_equal(pool->mode, mode);
        assert_int_equal(pool->min_share, min_share);
        assert_int_equal(pool->weight, weight);
}

static int parse(struct pool_file *file, const char *text, struct fst_error *error)
{
        return pool_file_parse(file, text, strlen(text), "fairscheduler.xml", error);
}

static void a_file_gives_pools_and_bad_values_defaults(void **state)
{
        struct pool_file file = POOL_FILE_INIT;
        const char *text = "<?xml version=\"1.0\"?>\n<allocations>\n"
                           "<pool name=\"1\"><minShare>2</minShare><weight> 3 </weight>"
                           "<schedulingMode>fair</schedulingMode></pool>\n"
                           "<pool name='neg'><minShare>-5</minShare><weight>0</weight></pool>"
                           "<pool name='bad'><minShare>INVALID</minShare><weight>3.5</weight>"
                           "<schedulingMode>NONE</schedulingMode></pool>"
                           "<pool name='empty'><minShare></minShare><weight> </weight><schedulingMode/></pool>"
                           "<pool><other><weight>9</weight></other></pool>"
                           "<group><pool name='deep'><weight>99999999999</weight></pool></group>"
                           "</allocations>";

        assert_int_equal(parse(&file, text, NULL), 0);
        assert_int_equal(file.n_pools, 6);
        check(&file.pools[0], "1", SCHEDULING_FAIR, 2, 3);
        check(&file.pools[1], "neg", SCHEDULING_FIFO, -5, 0);
        check(&file.pools[2], "bad", SCHEDULING_FIFO, 0, 1);
        check(&file.pools[3], "empty", SCHEDULING_FIFO, 0, 1);
        check(&file.pools[4], "", SCHEDULING_FIFO, 0, 1);
        check(&file.pools[5], "deep", SCHEDULING_FIFO, 0, 1);
        pool_file_deinit(&file);
}

static void a_broken_file_is_an_error_that_names_it(void **state)
{
        struct pool_file file = POOL_FILE_INIT;
        struct fst_error error = FST_ERROR_INIT;

        assert_int_equal(parse(&file, "<allocations>\n<pool name='a'><weight>1</pool>", &error), -EINVAL);
        assert_string_equal(error_message(&error),
                            "Error while building the fair scheduler pools from fairscheduler.xml: line 2: "
                            "mismatched tag");
        assert_int_equal(parse(&file, "", &error), -EINVAL);
        assert_int_equal(parse(&file, "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "entity declarations"));
        assert_null(file.pools);
        error_deinit(&error);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(fifo_goes_by_job_then_stage),
                cmocka_unit_test(fair_serves_minimum_shares_first),
                cmocka_unit_test(fair_shares_by_weight),
                cmocka_unit_test(nested_pools_are_chosen_level_by_level),
                cmocka_unit_test(an_unknown_pool_is_made_with_defaults),
                cmocka_unit_test(a_file_gives_pools_and_bad_values_defaults),
                cmocka_unit_test(a_broken_file_is_an_error_that_names_it),
        };

        log_threshold = LOG_OFF;
        return cmocka_run_group_tests_name("sched/tasks/pool", tests, NULL, NULL);
}
