/* The diagnosis of stages and jobs of a known shape; see diagnosis.h. */
#include "status/diagnosis_scan.h"

#include "base/mem.h"
#include "unit/cases.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { T0 = 1000000, MAX_TASKS = 64 };

static const struct executor_ref refs[] = {{.id = "0", .host = "h0"}, {.id = "1", .host = "h1"}};

/* A task of the test's stage: times in ms after T0. */
struct test_task {
        int launch, duration, executor, state;
        struct task_metrics metrics;
};

/* A stage that was submitted at T0 and ended at T0 + @wall. */
struct diagnosed_stage {
        const char *label;
        int wall, tasks, cores; /* cores of each of two executors */
        struct test_task list[MAX_TASKS];
        enum diagnosis_limit limit;
        int share; /* per cent */
        const char *line;
};

static void add_executors(struct status *s, int cores)
{
        for (size_t i = 0; i < ARRAY_SIZE(refs); i++)
                status_on_executor_added(
                        s, &(struct executor_added){
                                   .id = refs[i].id, .host = refs[i].host, .ms = T0 - 100, .total_cores = cores});
}

static void run_tasks(struct status *s, int stage, const struct test_task *list, bool ends)
{
        for (int i = 0; i < MAX_TASKS && list[i].duration; i++) {
                struct task_info info = {.id = stage * 1000 + i,
                                         .launch_ms = T0 + list[i].launch,
                                         .executor = &refs[list[i].executor],
                                         .stage_id = stage,
                                         .index = i,
                                         .partition = i};
                struct task_end end = {.info = info,
                                       .finish_ms = info.launch_ms + list[i].duration,
                                       .state = (uint8_t)list[i].state,
                                       .metrics = list[i].metrics};
                status_on_task_start(s, &(struct task_start){.info = info});
                if (ends)
                        status_on_task_end(s, &end);
        }
}

static struct stage_info stage_info(int id, int tasks, int from, int to)
{
        return (struct stage_info){.id = id,
                                   .name = "map at a.c:1",
                                   .tasks = tasks,
                                   .submission_ms = T0 + from,
                                   .completion_ms = to ? T0 + to : 0};
}

static struct status *with_stage(const struct diagnosed_stage *c)
{
        struct status *s = status_new(NULL);
        struct stage_info info = stage_info(1, c->tasks, 0, 0);
        add_executors(s, c->cores);
        status_on_job_start(s, &(struct job_start){.id = 1, .ms = T0, .stages = &info, .n_stages = 1});
        status_on_stage_submitted(s, &(struct stage_submitted){.stage = info});
        run_tasks(s, 1, c->list, true);
        info = stage_info(1, c->tasks, 0, c->wall);
        status_on_stage_completed(s, &(struct stage_completed){.stage = info});
        status_on_job_end(s, &(struct job_end){.id = 1, .ms = T0 + c->wall});
        return s;
}

#define BUSY(ms)                                                                                                       \
        {                                                                                                              \
                .executor_run_ms = ms, .executor_cpu_ns = ms * 1000000LL                                               \
        }
#define EVEN(from, ms)                                                                                                 \
        {from, ms, 0, TASK_SUCCEEDED, BUSY(ms)},                                                                       \
        {                                                                                                              \
                from, ms, 1, TASK_SUCCEEDED, BUSY(ms)                                                                  \
        }

/* A task that has the CPU for @cpu of @ms, and reads as many bytes of shuffle blocks, at once. */
#define WAITS(from, ms, executor, cpu)                                                                                 \
        {                                                                                                              \
                from, ms, executor, TASK_SUCCEEDED,                                                                    \
                {                                                                                                      \
                        .executor_run_ms = ms, .executor_cpu_ns = cpu * 1000000LL, .shuffle_read = {                   \
                                .local_bytes = cpu                                                                     \
                        }                                                                                              \
                }                                                                                                      \
        }

/* A task that waits for 600 ms of 1 s, and spills half of what it reads. */
#define SPILLS(executor)                                                                                               \
        {                                                                                                              \
                0, 1000, executor, TASK_SUCCEEDED,                                                                     \
                {                                                                                                      \
                        .executor_run_ms = 1000, .executor_cpu_ns = 400000000, .input_bytes = 1024,                    \
                        .disk_bytes_spilled = 512                                                                      \
                }                                                                                                      \
        }

static const struct diagnosed_stage stages[] = {
        {"balanced tasks compute",
         2000,
         4,
         1,
         {EVEN(0, 1000), EVEN(1000, 1000)},
         LIMIT_COMPUTING,
         100,
         "computing (100 %): up to 2.0 cores were busy of 2, the median task ran 1.0 s"},
        {"cores come late",
         4000,
         2,
         1,
         {EVEN(3000, 1000)},
         LIMIT_CORES,
         75,
         "waiting for cores (75 %): 3.0 s passed for want of cores before the last of 2 tasks started (2 cores in all)"},
        {"the second core comes in the middle",
         3000,
         3,
         1,
         {{0, 2000, 0, TASK_SUCCEEDED, BUSY(2000)}, EVEN(2000, 1000)},
         LIMIT_CORES,
         33,
         "waiting for cores (33 %): 1.0 s passed for want of cores before the last of 3 tasks started (2 cores in all)"},
        {"one partition has more data",
         10000,
         4,
         2,
         {EVEN(0, 1000),
          {0, 1000, 0, TASK_SUCCEEDED, {.executor_run_ms = 1000, .executor_cpu_ns = 1000000000, .input_bytes = 1024}},
          {0,
           10000,
           1,
           TASK_SUCCEEDED,
           {.executor_run_ms = 10000, .executor_cpu_ns = 10000000000, .input_bytes = 10240}}},
         LIMIT_SKEW,
         68,
         "skew (68 %): partition 3 ran 10.0 s, 10.0 times the median of 1.0 s, and read 10.0 KiB (mean 2.8 KiB); "
         "idle cores cost 6.8 s"},
        {"one task is slow with the same data",
         10000,
         4,
         2,
         {EVEN(0, 1000), {0, 1000, 0, TASK_SUCCEEDED, BUSY(1000)}, {0, 10000, 1, TASK_SUCCEEDED, BUSY(10000)}},
         LIMIT_STRAGGLERS,
         68,
         "slow tasks (68 %): partition 3 ran 10.0 s, 10.0 times the median of 1.0 s; idle cores cost 6.8 s"},
        {"a host is slow",
         4000,
         6,
         1,
         {{0, 1000, 0, TASK_SUCCEEDED, BUSY(1000)},
          {0, 2000, 1, TASK_SUCCEEDED, BUSY(2000)},
          {1000, 1000, 0, TASK_SUCCEEDED, BUSY(1000)},
          {2000, 1000, 0, TASK_SUCCEEDED, BUSY(1000)},
          {2000, 2000, 1, TASK_SUCCEEDED, BUSY(2000)},
          {3000, 1000, 0, TASK_SUCCEEDED, BUSY(1000)}},
         LIMIT_SLOW_HOST,
         25,
         "one slow host (25 %): a task took 2.0 s on h1 and 1.0 s elsewhere on average, with no more data"},
        {"attempts fail",
         2000,
         2,
         1,
         {EVEN(0, 1000), {1000, 1000, 0, TASK_FAILED, BUSY(1000)}, {1000, 1000, 1, TASK_FAILED, BUSY(1000)}},
         LIMIT_ATTEMPTS,
         50,
         "failed attempts (50 %): 2 attempts did not succeed and took 2.0 s of 4.0 s of tasks"},
        {"tasks wait for shuffle blocks",
         1000,
         2,
         1,
         {{0,
           1000,
           0,
           TASK_SUCCEEDED,
           {.executor_run_ms = 1000,
            .executor_cpu_ns = 100000000,
            .shuffle_read = {.fetch_wait_ms = 800, .remote_bytes = 1024, .local_bytes = 1024}}},
          {0,
           1000,
           1,
           TASK_SUCCEEDED,
           {.executor_run_ms = 1000,
            .executor_cpu_ns = 100000000,
            .shuffle_read = {.fetch_wait_ms = 800, .remote_bytes = 1024, .local_bytes = 1024}}}},
         LIMIT_FETCH,
         80,
         "fetch wait (80 %): tasks waited 1.6 s of 2.0 s for shuffle blocks, 2.0 KiB of 4.0 KiB from other hosts; also waits "
         "outside the CPU (10 %): tasks had the CPU for 200 ms of 2.0 s; shuffle read 4.0 KiB"},
        {"the JVM collects garbage",
         1000,
         2,
         1,
         {{0, 1000, 0, TASK_SUCCEEDED, {.executor_run_ms = 1000, .executor_cpu_ns = 400000000, .jvm_gc_ms = 600}},
          {0, 1000, 1, TASK_SUCCEEDED, {.executor_run_ms = 1000, .executor_cpu_ns = 400000000, .jvm_gc_ms = 600}}},
         LIMIT_GC,
         60,
         "garbage collection (60 %): tasks stood still for 1.2 s of 2.0 s"},
        {"tasks wait for their input",
         1000,
         2,
         1,
         {{0, 1000, 0, TASK_SUCCEEDED, {.executor_run_ms = 1000, .executor_cpu_ns = 250000000, .input_bytes = 2048}},
          {0, 1000, 1, TASK_SUCCEEDED, {.executor_run_ms = 1000, .executor_cpu_ns = 250000000, .input_bytes = 2048}}},
         LIMIT_OUTSIDE,
         75,
         "waits outside the CPU (75 %): tasks had the CPU for 500 ms of 2.0 s; input 4.0 KiB"},
        {"a busy host, and one partition with most of the data",
         24000,
         6,
         1,
         {WAITS(0, 1000, 0, 100), WAITS(0, 1000, 1, 100), WAITS(1000, 23000, 0, 3300), WAITS(1000, 1000, 1, 100),
          WAITS(2000, 1000, 1, 100), WAITS(3000, 1000, 1, 100)},
         LIMIT_CPU_OR_LOCKS,
         50,
         "waiting for the CPU of a busy host, or for locks and input (50 %): tasks had the CPU for 3.8 s of 28.0 s; "
         "shuffle read 3.7 KiB; look at the load of the node: fewer cores per executor help if it is busy; "
         "also skew (42 %): partition 2 ran 23.0 s, 23.0 times the median of 1.0 s, and read 3.2 KiB (mean 633 B); "
         "idle cores cost 10.0 s"},
        {"tasks are too short",
         100,
         2,
         1,
         {{0,
           100,
           0,
           TASK_SUCCEEDED,
           {.executor_run_ms = 10, .executor_cpu_ns = 10000000, .executor_deserialize_ms = 30}},
          {0,
           100,
           1,
           TASK_SUCCEEDED,
           {.executor_run_ms = 10, .executor_cpu_ns = 10000000, .executor_deserialize_ms = 30}}},
         LIMIT_OVERHEAD,
         90,
         "overhead of tasks (90 %): the median task took 100 ms, scheduler delay 60 ms, decoding tasks 30 ms"},
        {"tasks spill",
         1000,
         2,
         1,
         {{0,
           1000,
           0,
           TASK_SUCCEEDED,
           {.executor_run_ms = 1000,
            .executor_cpu_ns = 1000000000,
            .input_bytes = 1024,
            .disk_bytes_spilled = 512,
            .memory_bytes_spilled = 2048}},
          {0,
           1000,
           1,
           TASK_SUCCEEDED,
           {.executor_run_ms = 1000,
            .executor_cpu_ns = 1000000000,
            .input_bytes = 1024,
            .disk_bytes_spilled = 512,
            .memory_bytes_spilled = 2048}}},
         LIMIT_SPILL,
         50,
         "spill (50 %): 1.0 KiB were spilled to disk (4.0 KiB in memory), while 2.0 KiB were read"},
        {"tasks spill on a busy host",
         1000,
         2,
         1,
         {SPILLS(0), SPILLS(1)},
         LIMIT_OUTSIDE,
         60,
         "waits outside the CPU (60 %): tasks had the CPU for 800 ms of 2.0 s; input 2.0 KiB, spill 1.0 KiB; also spill "
         "(50 %): 1.0 KiB were spilled to disk, while 2.0 KiB were read"},
        {"few partitions",
         1000,
         2,
         4,
         {EVEN(0, 1000)},
         LIMIT_PARTITIONS,
         75,
         "few partitions (75 %): 2 tasks for 8 cores"},
        {"the last task runs alone",
         2000,
         3,
         1,
         {EVEN(0, 1000), {1000, 1000, 0, TASK_SUCCEEDED, BUSY(1000)}},
         LIMIT_PARTITIONS,
         25,
         "few partitions (25 %): 3 tasks for 2 cores; idle cores cost 500 ms after the last start"},
        {"a few milliseconds say nothing", 4, 2, 1, {EVEN(3, 1)}, LIMIT_UNKNOWN, 0, ""},
        {"no task", 1000, 2, 4, {{0}}, LIMIT_UNKNOWN, 0, ""},
};

static void names_the_limit_of_a_stage(void **state)
{
        for (size_t i = 0; i < ARRAY_SIZE(stages); i++) {
                const struct diagnosed_stage *c = &stages[i];
                struct status *s = with_stage(c);
                struct stage_diagnosis d;
                struct buf line = BUF_INIT;
                const struct status_stage *stage = status_find_stage(s, 1, 0);
                int64_t sum = 0;
                diagnose_stage(s, stage, 0, &d);
                stage_diagnosis_put(stage, &d, &line);
                CASE_LABEL("%s: limit %d, %s", c->label, (int)d.limit, buf_text(&line));
                assert_int_equal(d.limit, c->limit);
                assert_int_equal((int)(d.share * 100 + 0.5), c->share);
                assert_string_equal(buf_text(&line), c->line);
                for (int part = 0; part < DIAGNOSIS_PARTS; part++) {
                        assert_true(d.parts_ms[part] >= 0);
                        sum += d.parts_ms[part];
                }
                assert_int_equal(sum, d.wall_ms);
                assert_int_equal(d.wall_ms, d.n_tasks ? c->wall : 0);
                buf_deinit(&line);
                status_free(s);
        }
}

/* The heartbeats of the hosts tell a busy host from locks. */
static void heartbeats_tell_busy_hosts_from_locks(void **state)
{
        static const struct {
                int busy; /* per cent */
                enum diagnosis_limit limit;
                const char *part;
        } cases[] = {{97, LIMIT_BUSY_HOST, "their hosts used 97 % of all processors"},
                     {20, LIMIT_OUTSIDE, "their hosts used 20 % of all processors"}};
        static const struct diagnosed_stage stage = {
                "", 10000, 2, 1, {WAITS(0, 10000, 0, 1000), WAITS(0, 10000, 1, 1000)}, LIMIT_UNKNOWN, 0, ""};
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct status *s = with_stage(&stage);
                struct stage_diagnosis d;
                struct buf line = BUF_INIT;
                for (int k = 0; k <= 10; k++) {
                        const struct executor_metrics_update heartbeat = {
                                .executor_id = "0",
                                .node = {.ms = T0 + k * 1000,
                                         .cpu_busy_ms = 1 + k * cases[i].busy * 10,
                                         .cpu_all_ms = 1 + k * 1000}};
                        status_on_executor_metrics_update(s, &heartbeat);
                }
                diagnose_stage(s, status_find_stage(s, 1, 0), 0, &d);
                stage_diagnosis_put(status_find_stage(s, 1, 0), &d, &line);
                CASE_LABEL("%d %%: %s", cases[i].busy, buf_text(&line));
                assert_int_equal(d.limit, cases[i].limit);
                assert_non_null(strstr(buf_text(&line), cases[i].part));
                buf_deinit(&line);
                status_free(s);
        }
}

/* Ends a stage of two tasks after @wall ms; @n_failed attempts of its first task fail, each with its error. */
static void diagnose_failed_stage(int wall, int n_failed, const char *failure, struct buf *line,
                                  struct stage_diagnosis *d)
{
        static const struct task_detail errors[] = {{.description = "no such file: a", .message = "no such file: a"},
                                                    {.description = "later", .message = "later"}};
        struct status *s = status_new(NULL);
        struct stage_info info = stage_info(1, 2, 0, 0);
        add_executors(s, 1);
        status_on_stage_submitted(s, &(struct stage_submitted){.stage = info});
        for (int i = 0; i < n_failed; i++) {
                struct task_info task = {
                        .id = i, .launch_ms = T0 + wall / 2, .executor = &refs[0], .stage_id = 1, .attempt = i};
                status_on_task_start(s, &(struct task_start){.info = task});
                status_on_task_end(s, &(struct task_end){.info = task,
                                                         .finish_ms = T0 + wall,
                                                         .state = TASK_FAILED,
                                                         .detail = &errors[MIN(i, 1)]});
        }
        info = stage_info(1, 2, 0, wall);
        info.failure_reason = failure;
        status_on_stage_completed(s, &(struct stage_completed){.stage = info});
        diagnose_stage(s, status_find_stage(s, 1, 0), 0, d);
        stage_diagnosis_put(status_find_stage(s, 1, 0), d, line);
        status_free(s);
}

static void a_failed_stage_names_its_first_error(void **state)
{
        static const struct {
                int wall, n_failed;
                const char *failure, *line;
        } cases[] = {
                {4, 4, "Task 0 failed 4 times",
                 "failed: 4 attempts failed, the first: firesteel.TaskFailure: "
                 "no such file: a"},
                {10000, 1, "Task 0 failed 1 times", "failed: 1 attempt failed: firesteel.TaskFailure: no such file: a"},
                {4, 0, "the executor\nis lost", "failed: the executor"},
                {4, 0, NULL, ""}, /* it did not fail */
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct buf line = BUF_INIT;
                struct stage_diagnosis d;
                diagnose_failed_stage(cases[i].wall, cases[i].n_failed, cases[i].failure, &line, &d);
                CASE_LABEL("case %zu: %s", i, buf_text(&line));
                assert_string_equal(buf_text(&line), cases[i].line);
                assert_int_equal(d.n_further, 0);
                assert_true(d.share == 0);
                buf_deinit(&line);
        }
}

static void shortens_errors_between_characters(void **state)
{
        static const struct {
                const char *error;
                size_t max;
                const char *text;
        } cases[] = {{NULL, 5, ""},          {"", 5, ""},
                     {"short", 5, "short"},  {"longer", 5, "longe..."},
                     {"one\ntwo", 9, "one"}, {"ab\xc3\xa4", 3, "ab..."}};
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct buf text = BUF_INIT;
                diagnosis_put_error(&text, cases[i].error, cases[i].max);
                CASE_LABEL("case %zu", i);
                assert_string_equal(buf_text(&text), cases[i].text);
                buf_deinit(&text);
        }
}

static void a_running_stage_lasts_until_now(void **state)
{
        struct status *s = status_new(NULL);
        struct stage_info info = stage_info(1, 2, 0, 0);
        static const struct test_task list[MAX_TASKS] = {EVEN(500, 100)};
        struct stage_diagnosis d;
        add_executors(s, 1);
        status_on_stage_submitted(s, &(struct stage_submitted){.stage = info});
        run_tasks(s, 1, list, false);
        diagnose_stage(s, status_find_stage(s, 1, 0), T0 + 1000, &d);
        assert_int_equal(d.wall_ms, 1000);
        assert_int_equal(d.parts_ms[DIAGNOSIS_CORES], 500);
        assert_int_equal(d.parts_ms[DIAGNOSIS_COMPUTING], 500);
        status_free(s);
}

static void removed_tasks_are_counted_but_not_seen(void **state)
{
        struct status *s = status_new(&(struct status_options){.retained_tasks = 10});
        struct stage_info info = stage_info(1, 40, 0, 0);
        struct test_task list[MAX_TASKS] = {0};
        struct stage_diagnosis d;
        struct buf line = BUF_INIT;
        for (int i = 0; i < 40; i++)
                list[i] = (struct test_task){i * 10, 10, 0, TASK_SUCCEEDED, BUSY(10)};
        status_on_stage_submitted(s, &(struct stage_submitted){.stage = info});
        run_tasks(s, 1, list, true);
        info = stage_info(1, 40, 0, 400);
        status_on_stage_completed(s, &(struct stage_completed){.stage = info});
        const struct status_stage *stage = status_find_stage(s, 1, 0);
        diagnose_stage(s, stage, 0, &d);
        stage_diagnosis_put(stage, &d, &line);
        assert_int_equal(d.n_tasks, 40);
        assert_true(d.n_seen <= 11);
        assert_non_null(strstr(buf_text(&line), "of 40 attempts)"));
        buf_deinit(&line);
        status_free(s);
}

static void damaged_times_do_no_harm(void **state)
{
        static const int64_t times[] = {INT64_MIN / 4, -1, 0, 1, T0, INT64_MAX / 4};
        for (size_t a = 0; a < ARRAY_SIZE(times); a++)
                for (size_t b = 0; b < ARRAY_SIZE(times); b++)
                        for (size_t c = 0; c < ARRAY_SIZE(times); c++) {
                                CASE_LABEL("launch %" PRId64 ", finish %" PRId64 ", end %" PRId64, times[a], times[b],
                                           times[c]);
                                struct status *s = status_new(NULL);
                                struct stage_info info = {.id = 1, .name = "", .tasks = 1, .submission_ms = 1};
                                struct task_info task = {
                                        .id = 1, .launch_ms = times[a], .executor = &refs[0], .stage_id = 1};
                                struct stage_diagnosis d;
                                struct job_diagnosis j;
                                add_executors(s, 1);
                                status_on_job_start(
                                        s,
                                        &(struct job_start){.id = 1, .ms = times[b], .stages = &info, .n_stages = 1});
                                status_on_stage_submitted(s, &(struct stage_submitted){.stage = info});
                                status_on_task_start(s, &(struct task_start){.info = task});
                                status_on_task_end(s, &(struct task_end){.info = task, .finish_ms = times[b]});
                                info.completion_ms = times[c];
                                status_on_stage_completed(s, &(struct stage_completed){.stage = info});
                                status_on_job_end(s, &(struct job_end){.id = 1, .ms = times[c]});
                                diagnose_stage(s, status_find_stage(s, 1, 0), 0, &d);
                                diagnose_job(s, status_find_job(s, 1), 0, SIZE_MAX, &j);
                                for (int part = 0; part < DIAGNOSIS_PARTS; part++)
                                        assert_true(d.parts_ms[part] >= 0);
                                assert_true(j.busy_ms >= 0 && j.idle_ms >= 0 && j.queued_ms >= 0 && j.driver_ms >= 0);
                                status_free(s);
                        }
}

/* A job from 0 to 10 s with two stages on two cores. */
static void divides_the_time_of_a_job(void **state)
{
        static const struct {
                const char *label;
                int submit[2], end[2];
                struct test_task first[MAX_TASKS], second[MAX_TASKS];
                int driver, queued, busy, idle, ideal;
        } cases[] = {
                {"driver, queue, tasks on one core of two, driver",
                 {2000, 5000},
                 {5000, 8000},
                 {{3000, 2000, 0, TASK_SUCCEEDED, BUSY(2000)}},
                 {{5000, 3000, 0, TASK_SUCCEEDED, BUSY(3000)}},
                 4000,
                 1000,
                 2500,
                 2500,
                 10000},
                {"two stages at the same time",
                 {0, 0},
                 {10000, 10000},
                 {{0, 10000, 0, TASK_SUCCEEDED, BUSY(10000)}},
                 {{0, 10000, 1, TASK_SUCCEEDED, BUSY(10000)}},
                 0,
                 0,
                 10000,
                 0,
                 10000},
                {"a long task in each stage",
                 {0, 5000},
                 {5000, 10000},
                 {{0, 5000, 0, TASK_SUCCEEDED, BUSY(5000)}, {0, 1000, 1, TASK_SUCCEEDED, BUSY(1000)}},
                 {{5000, 5000, 0, TASK_SUCCEEDED, BUSY(5000)}, {5000, 1000, 1, TASK_SUCCEEDED, BUSY(1000)}},
                 0,
                 0,
                 6000,
                 4000,
                 6000},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%s", cases[i].label);
                struct status *s = status_new(NULL);
                struct stage_info infos[] = {stage_info(1, 2, 0, 0), stage_info(2, 2, 0, 0)};
                struct job_diagnosis d;
                add_executors(s, 1);
                status_on_job_start(s, &(struct job_start){.id = 1, .ms = T0, .stages = infos, .n_stages = 2});
                for (int k = 0; k < 2; k++) {
                        infos[k] = stage_info(k + 1, 2, cases[i].submit[k], 0);
                        status_on_stage_submitted(s, &(struct stage_submitted){.stage = infos[k]});
                        run_tasks(s, k + 1, k ? cases[i].second : cases[i].first, true);
                        infos[k] = stage_info(k + 1, 2, cases[i].submit[k], cases[i].end[k]);
                        status_on_stage_completed(s, &(struct stage_completed){.stage = infos[k]});
                }
                status_on_job_end(s, &(struct job_end){.id = 1, .ms = T0 + 10000});
                diagnose_job(s, status_find_job(s, 1), 0, SIZE_MAX, &d);
                assert_int_equal(d.wall_ms, 10000);
                assert_int_equal(d.driver_ms, cases[i].driver);
                assert_int_equal(d.queued_ms, cases[i].queued);
                assert_int_equal(d.busy_ms, cases[i].busy);
                assert_int_equal(d.idle_ms, cases[i].idle);
                assert_int_equal(d.ideal_ms, cases[i].ideal);
                assert_int_equal(d.cores, 2);
                assert_false(d.shared);
                status_free(s);
        }
}

/* ------------------------------------------------------------------------------------- the pass over the tasks */

enum { TASKS = 3000, SLICES = 1024 };
#define BEGIN_MS INT64_C(1700000000000)

static uint64_t random_state;

static uint64_t next_random(uint64_t n)
{
        random_state = random_state * 6364136223846793005u + 1442695040888963407u;
        return (random_state >> 33) % n;
}

/* A stage of @length_ms whose tasks run for at most @task_ms. */
struct scanned_stage {
        const char *label;
        int64_t length_ms, task_ms;
        bool starts_in_order, last_runs;
};

static void make_tasks(struct task_columns *t, const struct scanned_stage *stage, struct task_end *ends)
{
        for (int i = 0; i < TASKS; i++) {
                int64_t latest = stage->length_ms - stage->task_ms;
                int64_t at = stage->starts_in_order ? latest * i / TASKS : (int64_t)next_random((uint64_t)latest + 1);
                ends[i] = (struct task_end){
                        .info = {.id = i, .index = i, .partition = i, .launch_ms = BEGIN_MS + (i ? at : 0)},
                        .state = next_random(50) ? TASK_SUCCEEDED : TASK_FAILED};
                ends[i].finish_ms = ends[i].info.launch_ms + (int64_t)next_random((uint64_t)stage->task_ms + 1);
                task_columns_start(t, &ends[i].info, 0);
        }
        for (int i = 0; i < TASKS - stage->last_runs; i++)
                task_columns_end(t, (size_t)i, &ends[i],
                                 ends[i].state == TASK_SUCCEEDED ? TASK_ROW_SUCCESS : TASK_ROW_FAILED);
        task_columns_finish(t);
        if (stage->last_runs)
                ends[TASKS - 1].finish_ms = BEGIN_MS + stage->length_ms;
}

/* The busy cores of the slice in which most are busy. */
static double most_busy(const struct task_end *ends, int64_t length_ms)
{
        double busy[SLICES] = {0}, most = 0;
        for (int i = 0; i < TASKS; i++) {
                double from = (double)(ends[i].info.launch_ms - BEGIN_MS) * SLICES / (double)length_ms;
                double to = (double)(ends[i].finish_ms - BEGIN_MS) * SLICES / (double)length_ms;
                for (int k = (int)from; k < SLICES && k < to; k++)
                        busy[k] += MIN(to, k + 1.0) - MAX(from, (double)k);
        }
        for (int k = 0; k < SLICES; k++)
                most = MAX(most, busy[k]);
        return most;
}

static void sums_equal_those_of_single_tasks(void **state)
{
        static const struct scanned_stage scanned[] = {
                {"a stage of few ms", 300, 20, false, false},
                {"tasks in the order of their starts", 20000, 600, true, false},
                {"tasks in any order", 20000, 600, false, false},
                {"a task that runs", 20000, 600, false, true},
                {"a day", 86400000, 3600000, false, false},
                {"milliseconds of more than 31 bits", INT64_C(6000000000), 86400000, true, false},
        };
        struct task_end *ends = new_array(struct task_end, TASKS);
        for (size_t i = 0; i < ARRAY_SIZE(scanned); i++) {
                CASE_LABEL("%s", scanned[i].label);
                struct task_columns t = {0};
                struct task_scan scan = {.end_ms = BEGIN_MS + scanned[i].length_ms};
                int64_t busy = 0, starting = 0, failed = 0, n_failed = 0, last = 0, longest = 0;
                make_tasks(&t, &scanned[i], ends);
                for (int k = 0; k < TASKS; k++)
                        last = MAX(last, ends[k].info.launch_ms);
                for (int k = 0; k < TASKS; k++) {
                        int64_t ms = ends[k].finish_ms - ends[k].info.launch_ms;
                        bool is_failed = ends[k].state == TASK_FAILED && !(scanned[i].last_runs && k == TASKS - 1);
                        busy += ms;
                        starting += MAX(MIN(ends[k].finish_ms, last) - ends[k].info.launch_ms, (int64_t)0);
                        failed += is_failed ? ms : 0;
                        n_failed += is_failed;
                        longest = MAX(longest, is_failed ? 0 : ms);
                }
                assert_true(task_scan_run(&scan, &t));
                assert_int_equal(scan.begin_ms, BEGIN_MS);
                assert_int_equal(scan.last_start_ms, last);
                assert_int_equal(scan.n_seen, TASKS);
                assert_int_equal(scan.busy_ms, busy);
                assert_int_equal(scan.busy_starting_ms, starting);
                assert_int_equal(scan.failed_ms, failed);
                assert_int_equal(scan.n_failed, n_failed);
                assert_int_equal(scan.longest[0].duration_ms, longest);
                assert_int_equal(scan.longest[0].partition, scan.longest[0].row);
                double expected = most_busy(ends, scanned[i].length_ms);
                if (fabs(scan.slots - expected) > expected * 1e-4)
                        fail_msg("%.9f cores instead of %.9f", scan.slots, expected);
                task_columns_deinit(&t);
        }
        free(ends);
}

static void tasks_without_a_time_line_have_no_scan(void **state)
{
        struct task_columns t = {0};
        struct task_scan scan = {.end_ms = BEGIN_MS};
        assert_false(task_scan_run(&scan, &t));
        task_columns_start(&t, &(struct task_info){.id = 1, .launch_ms = BEGIN_MS + 1}, 0);
        scan = (struct task_scan){.end_ms = BEGIN_MS};
        assert_false(task_scan_run(&scan, &t));
        task_columns_start(&t, &(struct task_info){.id = 2, .launch_ms = 1}, 0);
        scan = (struct task_scan){.end_ms = BEGIN_MS};
        assert_false(task_scan_run(&scan, &t)); /* more than 34 years */
        task_columns_deinit(&t);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(names_the_limit_of_a_stage),
                cmocka_unit_test(heartbeats_tell_busy_hosts_from_locks),
                cmocka_unit_test(a_failed_stage_names_its_first_error),
                cmocka_unit_test(shortens_errors_between_characters),
                cmocka_unit_test(a_running_stage_lasts_until_now),
                cmocka_unit_test(removed_tasks_are_counted_but_not_seen),
                cmocka_unit_test(damaged_times_do_no_harm),
                cmocka_unit_test(divides_the_time_of_a_job),
                cmocka_unit_test(sums_equal_those_of_single_tasks),
                cmocka_unit_test(tasks_without_a_time_line_have_no_scan),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
