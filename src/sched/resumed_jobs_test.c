/*
 * A driver dies after any event, and another one runs the rest: jobs whose results an earlier driver has left
 * (job_spec.done). Each result counts once, and only missing ones are computed.
 */
#include "sched/sched_fixture.h"

#include "base/log.h"
#include "sched/sched_recorder.h"
#include "sched/simulator/sched_replay.h"

#define MAPS 4
#define OUTPUTS 6

/* Submits with the outputs of @done. */
static int resumed_submit(struct fix *f, struct lineage *rdd, const uint8_t *done)
{
        int id = sched_submit_job(f->s, &(struct job_spec){.final = rdd, .done = done}, f->now, NULL);

        sched_revive(f->s, f->now);
        return id;
}

static void only_missing_outputs_are_computed(void **state)
{
        const uint8_t done[OUTPUTS] = {1, 0, 1, 1, 0, 1};
        struct fix f;

        fix_begin(&f, NULL, 2, 2);
        resumed_submit(&f, fix_rdd(&f, OUTPUTS), done);
        assert_int_equal(f.tasks.len, 2);
        assert_int_equal(f.tasks.data[0].launch.output, 1);
        assert_int_equal(f.tasks.data[1].launch.output, 4);
        fix_drain(&f);
        fix_expect(&f, "start 0\nsubmit 0.0 1 4\ncomplete 0.0\njob 0 succeeded\n");
        assert_int_equal(f.accepted, 2);
        fix_end(&f);
}

static void a_finished_job_ends_at_once_and_keeps_the_ids(void **state)
{
        const uint8_t done[OUTPUTS] = {1, 1, 1, 1, 1, 1};
        struct fix f;

        fix_begin(&f, NULL, 1, 1);
        struct lineage *shuffled = fix_shuffle(&f, fix_rdd(&f, MAPS), OUTPUTS);

        assert_int_equal(resumed_submit(&f, shuffled, done), 0);
        fix_expect(&f, "start 0\njob 0 succeeded\n");
        assert_int_equal(f.tasks.len, 0);
        assert_int_equal(f.jobs_removed, 1);
        /* The next job needs the map outputs, which are lost, and gets the stages that it had before. */
        assert_int_equal(fix_submit(&f, shuffled), 1);
        fix_drain(&f);
        fix_expect(&f, "start 1\nsubmit 2.0\ncomplete 2.0\nsubmit 3.0\ncomplete 3.0\njob 1 succeeded\n");
        fix_end(&f);
}

static void parents_of_missing_outputs_run_first(void **state)
{
        const uint8_t done[OUTPUTS] = {1, 1, 1, 1, 1, 0};
        struct fix f;

        fix_begin(&f, NULL, 1, 4);
        resumed_submit(&f, fix_shuffle(&f, fix_rdd(&f, MAPS), OUTPUTS), done);
        fix_drain(&f);
        fix_expect(&f, "start 0\nsubmit 0.0\ncomplete 0.0\nsubmit 1.0 5\ncomplete 1.0\njob 0 succeeded\n");
        assert_int_equal(f.tasks.len, MAPS + 1);
        fix_end(&f);
}

static void some_results_of_a_barrier_or_of_unrepeatable_rows_are_not_kept(void **state)
{
        const uint8_t some[OUTPUTS] = {1, 1, 0, 1, 1, 1}, all[OUTPUTS] = {1, 1, 1, 1, 1, 1};
        for (int barrier = 0; barrier < 2; barrier++) {
                struct fix f;

                fix_begin(&f, NULL, 1, OUTPUTS);
                struct lineage *rdd = fix_rdd(&f, OUTPUTS);
                rdd->barrier = barrier;
                rdd->indeterminate = !barrier;
                resumed_submit(&f, rdd, some);
                assert_int_equal(f.tasks.len, OUTPUTS);
                fix_drain(&f);
                resumed_submit(&f, rdd, all);
                assert_int_equal(f.tasks.len, OUTPUTS);
                assert_int_equal(f.jobs_ended, 2);
                fix_end(&f);
        }
}

/* ------------------------------------------------------------------------------------------- stored map outputs */

#define EARLIER MAX_LISTED_EXECUTORS /* the number of an executor of the earlier driver */

/* Submits with these maps of shuffle 0 left by two earlier executors, in turn. */
static void stored_submit(struct fix *f, struct lineage *rdd, const char *maps, const uint8_t *done)
{
        struct earlier_output stored[16];
        int n = 0;

        for (; *maps; maps++, n++)
                stored[n] = (struct earlier_output){.map_partition = *maps - '0',
                                                    .executor = EARLIER + n % 2,
                                                    .handle = MAP_OUTPUT_STORED | (uint64_t)(n + 1)};
        assert_true(sched_submit_job(f->s,
                                     &(struct job_spec){.final = rdd, .done = done, .stored = stored, .n_stored = n},
                                     f->now, NULL) >= 0);
        sched_revive(f->s, f->now);
}

static void only_maps_that_are_not_stored_are_computed(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 2, 2);
        f.stored = MAP_OUTPUT_STORED;
        stored_submit(&f, fix_shuffle(&f, fix_rdd(&f, MAPS), OUTPUTS), "02", NULL);
        fix_drain(&f);
        fix_expect(&f, "start 0\nsubmit 0.0 1 3\ncomplete 0.0\nsubmit 1.0\ncomplete 1.0\njob 0 succeeded\n");
        fix_end(&f);
        fix_begin(&f, NULL, 2, 2);
        stored_submit(&f, fix_shuffle(&f, fix_rdd(&f, MAPS), OUTPUTS), "3210", NULL);
        fix_drain(&f);
        fix_expect(&f, "start 0\nsubmit 1.0\ncomplete 1.0\njob 0 succeeded\n");
        fix_end(&f);
}

static void invalid_stored_outputs_are_left_out(void **state)
{
        struct earlier_output stored[] = {{.shuffle_id = 7, .executor = EARLIER, .handle = MAP_OUTPUT_STORED | 1},
                                          {.map_partition = MAPS, .executor = EARLIER, .handle = MAP_OUTPUT_STORED | 1},
                                          {.map_partition = 1, .executor = EARLIER, .handle = MAP_OUTPUT_STORED | 2},
                                          {.map_partition = 1, .executor = EARLIER, .handle = MAP_OUTPUT_STORED | 3}};
        struct fix f;

        fix_begin(&f, NULL, 1, 8);
        sched_submit_job(f.s,
                         &(struct job_spec){.final = fix_shuffle(&f, fix_rdd(&f, MAPS), 1),
                                            .stored = stored,
                                            .n_stored = ARRAY_SIZE(stored)},
                         f.now, NULL);
        const struct map_outputs *outputs = sched_map_outputs(f.s, 0);
        assert_int_equal(outputs->available, 1);
        assert_int_equal(outputs->at[1].handle, MAP_OUTPUT_STORED | 2);
        sched_revive(f.s, f.now);
        fix_drain(&f);
        fix_expect(&f, "start 0\nsubmit 0.0 0 2 3\ncomplete 0.0\nsubmit 1.0\ncomplete 1.0\njob 0 succeeded\n");
        fix_end(&f);
}

static void stored_outputs_survive_executors_and_share_a_failed_fetch(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 2, 8);
        f.stored = MAP_OUTPUT_STORED;
        stored_submit(&f, fix_shuffle(&f, fix_rdd(&f, MAPS), 2), "0123", NULL);
        sched_executor_lost(f.s, 0, false, "gone", f.now);
        assert_int_equal(sched_map_outputs(f.s, 0)->available, MAPS);
        sched_revive(f.s, f.now);
        fix_fetch_failed(&f, 1, 0, 0, 1, EARLIER + 1); /* what this writer has left is gone */
        assert_int_equal(sched_map_outputs(f.s, 0)->available, MAPS / 2);
        assert_true(map_outputs_has(sched_map_outputs(f.s, 0), 0) && map_outputs_has(sched_map_outputs(f.s, 0), 2));
        fix_tick(&f);
        fix_drain(&f);
        assert_int_equal(f.jobs_ended, 1);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

static void some_stored_outputs_of_unrepeatable_rows_are_not_kept(void **state)
{
        for (int all = 0; all < 2; all++) {
                struct fix f;

                fix_begin(&f, NULL, 1, 8);
                struct lineage *maps = fix_rdd(&f, MAPS);
                maps->indeterminate = true;
                stored_submit(&f, fix_shuffle(&f, maps, 1), all ? "0123" : "013", NULL);
                fix_drain(&f);
                assert_int_equal(f.tasks.len, all ? 1 : MAPS + 1);
                assert_int_equal(f.jobs_ended, 1);
                fix_end(&f);
        }
}

static void task_ids_follow_those_of_the_earlier_driver(void **state)
{
        struct sched_config config = SCHED_CONFIG_DEFAULT;
        struct task_table table = {0};
        int64_t id;

        config.first_task_id = 5000;
        struct sched *s = sched_new(&config, NULL, NULL);
        assert_true(s->tasks.tasks.next_id >= 5000);
        sched_free(s);
        task_table_start(&table, 1000000);
        for (int64_t i = 0, first = table.next_id; i < 3 * TASK_CHUNK; i++) {
                struct task_attempt *a = task_table_add(&table, &id);

                assert_true(id == first + i && id >= 1000000);
                assert_ptr_equal(task_table_find(&table, id), a);
                assert_null(task_table_find(&table, id + 1));
                assert_null(task_table_find(&table, 5));
                task_table_end(&table, id);
        }
        task_table_deinit(&table);
}

/* ------------------------------------------------------------------------------------------- death at any event */

/* The state that outlives drivers: the results and map outputs of shuffle 0 that one of them has accepted. */
struct survivor {
        uint8_t done[OUTPUTS];
        int computed[OUTPUTS];
        bool stores;
        char stored[MAPS + 1]; /* digits */
        int stored_computed[MAPS];
};

/*
 * Runs one driver until @events of its tasks have ended, in an order that @seed gives. Returns true if the job ended
 * before.
 */
static bool survivor_run_driver(struct survivor *all, unsigned seed, int events)
{
        struct fix f;

        fix_begin(&f, NULL, 2, 2);
        struct lineage *both = fix_rdd(&f, OUTPUTS);
        fix_depend(&f, both, LINEAGE_SHUFFLE, fix_rdd(&f, MAPS));
        fix_depend(&f, both, LINEAGE_SHUFFLE, fix_narrow(&f, fix_rdd(&f, MAPS)));
        f.stored = all->stores ? MAP_OUTPUT_STORED : 0;
        stored_submit(&f, both, all->stored, all->done);
        for (int event = 0; event < events && f.jobs_ended == 0; event++) {
                size_t running = (size_t)fix_count_running(&f), which = (seed = seed * 1103515245 + 12345) % running;
                size_t i = 0;
                while (f.tasks.data[i].ended || which-- > 0)
                        i++;
                const bool is_result = !f.tasks.data[i].set->stage->shuffle;
                const struct stage *stage = f.tasks.data[i].set->stage;
                const int output = f.tasks.data[i].launch.output, accepted = f.accepted;
                const bool is_stored = all->stores && !is_result && stage->shuffle->shuffle_id == 0;
                fix_succeed_id(&f, (int64_t)i);
                if (is_result && f.accepted > accepted) {
                        all->done[output] = 1;
                        all->computed[output]++;
                }
                if (is_stored && f.accepted > accepted) {
                        all->stored[strlen(all->stored)] = (char)('0' + output);
                        all->stored_computed[output]++;
                }
        }
        bool ended = f.jobs_ended == 1 && f.result == JOB_SUCCEEDED;
        fix_end(&f);
        return ended;
}

static void each_result_counts_once_whenever_drivers_die(void **state)
{
        for (unsigned seed = 0; seed < 400; seed++) {
                struct survivor all = {.stores = seed % 2};
                int drivers = 1;

                for (unsigned at = seed; !survivor_run_driver(&all, seed, (int)(at % (2 * MAPS + OUTPUTS + 2)));
                     at += 5)
                        assert_true(++drivers < 1000);
                for (int i = 0; i < OUTPUTS; i++)
                        assert_int_equal(all.computed[i], 1);
                for (int i = 0; i < MAPS; i++)
                        assert_true(all.stored_computed[i] <= 1);
        }
}

static void trace_append(void *owner, const char *lines, size_t len)
{
        buf_append(owner, lines, len);
}

static void a_trace_with_kept_results_replays(void **state)
{
        const uint8_t done[OUTPUTS] = {0, 1, 1, 0, 1, 0};
        _cleanup_(buf_deinit) struct buf trace = BUF_INIT;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct sched_config config = SCHED_CONFIG_DEFAULT;
        struct sched_replay_report report;
        struct fix f;

        config.first_task_id = 0;
        fix_begin(&f, &config, 0, 0);
        sched_record(f.s, (struct sched_trace_sink){.write = trace_append, .owner = &trace});
        sched_add_executor(f.s, "0", "host", 2, 0);
        stored_submit(&f, fix_shuffle(&f, fix_rdd(&f, MAPS), OUTPUTS), "310", done);
        fix_drain(&f);
        fix_submit(&f, fix_rdd(&f, 2)); /* the kept results concern one job only */
        fix_drain(&f);
        fix_end(&f);
        assert_non_null(strstr(buf_text(&trace), "\ndone 1 2 4 1\n"));
        if (sched_replay(trace.data, trace.len, 1 << 20, &report, &error))
                fail_msg("%s", error_message(&error));
        assert_non_null(strstr(buf_text(&trace), "\nstored 0 3 1073741824 -9223372036854775807 0 1 1073741825 -92"));
        assert_int_equal(report.tasks, 1 + 3 + 2);
        assert_int_equal(report.jobs, 2);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(only_missing_outputs_are_computed),
                cmocka_unit_test(a_finished_job_ends_at_once_and_keeps_the_ids),
                cmocka_unit_test(parents_of_missing_outputs_run_first),
                cmocka_unit_test(some_results_of_a_barrier_or_of_unrepeatable_rows_are_not_kept),
                cmocka_unit_test(only_maps_that_are_not_stored_are_computed),
                cmocka_unit_test(invalid_stored_outputs_are_left_out),
                cmocka_unit_test(stored_outputs_survive_executors_and_share_a_failed_fetch),
                cmocka_unit_test(some_stored_outputs_of_unrepeatable_rows_are_not_kept),
                cmocka_unit_test(task_ids_follow_those_of_the_earlier_driver),
                cmocka_unit_test(each_result_counts_once_whenever_drivers_die),
                cmocka_unit_test(a_trace_with_kept_results_replays),
        };

        log_threshold = LOG_OFF;
        return cmocka_run_group_tests_name("sched/resumed_jobs", tests, NULL, NULL);
}
