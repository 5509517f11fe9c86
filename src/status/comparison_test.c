/* Two runs of known shape side by side; see comparison.h. */
#include "status/comparison.h"

#include "base/mem.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { T0 = 1000000 };

struct compared_stage {
        const char *name;
        int ms[2]; /* of its two tasks; 0: none */
        int64_t bytes, spilled;
};

static void run_stage(struct status *s, int id, const struct compared_stage *c)
{
        static const struct executor_ref ref = {.id = "0", .host = "h0"};
        struct stage_info info = {.id = id, .name = c->name, .tasks = 1 + (c->ms[1] > 0), .submission_ms = T0};
        status_on_stage_submitted(s, &(struct stage_submitted){.stage = info});
        for (int i = 0; i < info.tasks; i++) {
                struct task_info task = {.id = id * 10 + i,
                                         .launch_ms = T0,
                                         .executor = &ref,
                                         .stage_id = id,
                                         .index = i,
                                         .partition = i};
                struct task_end end = {.info = task,
                                       .finish_ms = T0 + c->ms[i],
                                       .metrics = {.executor_run_ms = c->ms[i],
                                                   .executor_cpu_ns = c->ms[i] * 1000000LL,
                                                   .input_bytes = c->bytes / info.tasks,
                                                   .disk_bytes_spilled = c->spilled / info.tasks}};
                status_on_task_start(s, &(struct task_start){.info = task});
                status_on_task_end(s, &end);
        }
        info.completion_ms = T0 + MAX(c->ms[0], c->ms[1]);
        status_on_stage_completed(s, &(struct stage_completed){.stage = info});
}

static void summarize(struct run_summary *run, const char *id, const struct compared_stage *stages, int n)
{
        struct status *s = status_new(NULL);
        status_on_application_start(s, &(struct application_start){.name = "test", .id = id, .ms = T0, .user = "me"});
        for (int i = 0; i < n; i++)
                run_stage(s, i, &stages[i]);
        status_on_application_end(s, &(struct application_end){.ms = T0 + 60000, .exit_code = 0});
        run_summary_init(run, s, 0, SIZE_MAX);
        status_free(s);
}

static void pairs_stages_by_name_and_names_the_reason(void **state)
{
        static const struct compared_stage first[] = {
                {"same", {1000, 1000}, 0, 0}, {"uneven", {1000, 1000}, 0, 0}, {"bigger", {1000, 1000}, 1024, 0},
                {"twice", {500, 500}, 0, 0},  {"twice", {700, 700}, 0, 0},    {"spills", {1000, 1000}, 1024, 0},
                {"gone", {10, 10}, 0, 0},     {"faster", {5000, 5000}, 0, 0},
        };
        static const struct compared_stage second[] = {
                {"bigger", {2000, 2000}, 2048, 0}, {"same", {1000, 1000}, 0, 0},   {"uneven", {1000, 9000}, 0, 0},
                {"twice", {500, 500}, 0, 0},       {"twice", {700, 700}, 0, 0},    {"spills", {1500, 1500}, 1024, 512},
                {"new", {20, 20}, 0, 0},           {"faster", {1000, 1000}, 0, 0},
        };
        static const struct {
                const char *name;
                int a, b;
                const char *reason;
        } expected[] = {
                {"uneven", 1000, 9000,
                 "idle cores behind the last start +4.0 s; now limited by slow tasks (44 %): partition 1 ran 9.0 s, "
                 "9.0 times the median of 1.0 s; idle cores cost 4.0 s"},
                {"faster", 5000, 1000, "computing -4.0 s"},
                {"bigger", 1000, 2000, "read 2.0 KiB, not 1.0 KiB; computing +1.0 s"},
                {"spills", 1000, 1500,
                 "spilled 512 B, not 0 B; computing +500 ms; now limited by spill (50 %): 512 B were spilled to disk, "
                 "while 1.0 KiB were read"},
                {"new", 0, 20, "only in the second run"},
                {"gone", 10, 0, "only in the first run"},
        };
        struct run_summary a, b;
        run_pairs pairs = {0};
        summarize(&a, "app-1", first, ARRAY_SIZE(first));
        summarize(&b, "app-2", second, ARRAY_SIZE(second));
        run_compare(&a, &b, &pairs);
        assert_int_equal(pairs.len, 9);
        for (size_t i = 0; i < pairs.len; i++) {
                const struct run_pair *p = &pairs.data[i];
                struct buf reason = BUF_INIT;
                run_pair_put_reason(p, &reason);
                CASE_LABEL("pair %zu, %s: %s", i, p->a ? p->a->name : p->b->name, buf_text(&reason));
                if (i < ARRAY_SIZE(expected)) {
                        assert_string_equal(p->a ? p->a->name : p->b->name, expected[i].name);
                        assert_int_equal(p->a ? p->a->wall_ms : 0, expected[i].a);
                        assert_int_equal(p->b ? p->b->wall_ms : 0, expected[i].b);
                        assert_string_equal(buf_text(&reason), expected[i].reason);
                } else {
                        assert_int_equal(p->a->wall_ms, p->b->wall_ms);
                        assert_int_equal(reason.len, 0);
                }
                buf_deinit(&reason);
        }
        assert_int_equal(a.totals[RUN_WALL_MS], 60000);
        assert_int_equal(a.totals[RUN_STAGES], 8);
        assert_int_equal(b.totals[RUN_TASKS], 16);
        assert_int_equal(b.totals[RUN_INPUT], 3072);
        vec_deinit(&pairs);
        run_summary_deinit(&a);
        run_summary_deinit(&b);
}

static void writes_changes(void **state)
{
        static const struct {
                enum run_total total;
                int64_t a, b;
                const char *text;
        } cases[] = {{RUN_JOBS, 1, 1, "="},
                     {RUN_JOBS, 0, 0, "="},
                     {RUN_FAILED_TASKS, 0, 5, "+5"},
                     {RUN_SPILL, 0, 512, "+512 B"},
                     {RUN_TASK_MS, 100, 133, "+33 %"},
                     {RUN_TASK_MS, 100, 50, "-50 %"},
                     {RUN_JOBS, 4, 0, "-100 %"}};
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct buf out = BUF_INIT;
                CASE_LABEL("from %d to %d", (int)cases[i].a, (int)cases[i].b);
                run_total_put_change(&out, cases[i].total, cases[i].a, cases[i].b);
                assert_string_equal(buf_text(&out), cases[i].text);
                buf_deinit(&out);
        }
}

static void only_stages_that_the_first_run_lacks_are_new(void **state)
{
        struct run_stage none = {.wall_ms = 0}, short_one = {.wall_ms = 1}, long_one = {.wall_ms = 2};
        const struct {
                const struct run_stage *a, *b;
                const char *text;
        } cases[] = {{&none, &short_one, "+1 ms"},
                     {&none, &none, "="},
                     {NULL, &short_one, "new"},
                     {NULL, &none, "new"},
                     {&none, NULL, "="},
                     {&short_one, NULL, "-100 %"},
                     {&short_one, &long_one, "+100 %"}};
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct buf out = BUF_INIT;
                CASE_LABEL("case %zu", i);
                run_pair_put_change(&(struct run_pair){cases[i].a, cases[i].b}, &out);
                assert_string_equal(buf_text(&out), cases[i].text);
                buf_deinit(&out);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(pairs_stages_by_name_and_names_the_reason),
                cmocka_unit_test(writes_changes),
                cmocka_unit_test(only_stages_that_the_first_run_lacks_are_new),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
