/* Task events in batches lead to the same status as the same events one by one. */
#include "base/mem.h"
#include "status/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static const struct executor_ref executors[] = {{"0", "a"}, {"1", "b"}, {"2", "b"}};

static uint64_t world_state;

static int world_random(int below)
{
        world_state = world_state * 6364136223846793005u + 1442695040888963407u;
        return (int)((world_state >> 33) % (uint64_t)below);
}

/* The same application twice. */
struct batch_world {
        struct status *single, *batched;
        int64_t next_id;
        int next_index;
        VEC(struct task_info) running;
};

static void world_begin(struct batch_world *w, bool without_details)
{
        struct status_options options = {
                .is_live = true, .retained_tasks = 1 << 20, .without_details = without_details};
        struct stage_info stages[] = {{.id = 0, .name = "map", .tasks = 5000, .submission_ms = 1000},
                                      {.id = 1, .name = "reduce", .tasks = 5000, .submission_ms = 1000}};
        *w = (struct batch_world){.single = status_new(&options), .batched = status_new(&options)};
        for (int i = 0; i < 2; i++) {
                struct status *s = i ? w->batched : w->single;
                status_on_job_start(s, &(struct job_start){.id = 0, .ms = 1000, .stages = stages, .n_stages = 2});
                status_on_job_start(s, &(struct job_start){.id = 1, .ms = 1000, .stages = stages, .n_stages = 1});
                status_on_stage_submitted(s, &(struct stage_submitted){.stage = stages[0]});
                status_on_stage_submitted(s, &(struct stage_submitted){.stage = stages[1]});
        }
}

static void world_starts(struct batch_world *w, const struct task_start *starts, size_t n)
{
        for (size_t i = 0; i < n; i++)
                status_on_task_start(w->single, &starts[i]);
        for (size_t at = 0; at < n;) {
                struct task_event_batch head;
                task_event_batch_of_starts(&head, &starts[at], n - at);
                struct task_event_batch *b = mem_alloc(task_event_batch_bytes(&head));
                task_event_batch_put_starts(&head, &starts[at], b);
                status_on_task_start_batch(w->batched, b);
                at += head.n;
                free(b);
        }
}

static void world_ends(struct batch_world *w, const struct task_end *ends, size_t n)
{
        for (size_t i = 0; i < n; i++)
                status_on_task_end(w->single, &ends[i]);
        for (size_t at = 0; at < n;) {
                struct task_event_batch head;
                task_event_batch_of_ends(&head, &ends[at], n - at);
                struct task_event_batch *b = mem_alloc(task_event_batch_bytes(&head));
                task_event_batch_put_ends(&head, &ends[at], b);
                status_on_task_end_batch(w->batched, b);
                at += head.n;
                free(b);
        }
}

/* Launches up to 300 tasks: mostly of one stage, one executor, with rising ids and indices. */
static void world_launch(struct batch_world *w, int chaos)
{
        struct task_start starts[300];
        size_t n = 1 + (size_t)world_random(world_random(3) ? 300 : 3);
        int stage = world_random(20) < chaos ? 7 : world_random(2), executor = world_random(3);
        for (size_t i = 0; i < n; i++) {
                bool odd = world_random(300) < chaos;
                w->next_id += 1 + (odd ? world_random(3) : 0) - (odd && chaos > 8 ? 2 : 0);
                w->next_index = odd ? world_random(4000) : w->next_index + 1;
                starts[i].info = (struct task_info){.id = w->next_id,
                                                    .launch_ms = 1000 + w->next_id / 200,
                                                    .executor = &executors[odd ? world_random(3) : executor],
                                                    .stage_id = stage,
                                                    .index = w->next_index % 5000,
                                                    .attempt = odd,
                                                    .partition = w->next_index % 5000 + stage * 10 + odd,
                                                    .locality = (uint8_t)(odd ? world_random(4) : 1),
                                                    .speculative = odd && world_random(2)};
                vec_push(&w->running, starts[i].info);
        }
        world_starts(w, starts, n);
}

/* Ends up to 300 running tasks from some place on. */
static void world_end(struct batch_world *w, int chaos)
{
        static const struct task_detail details[] = {
                {.description = "oops", .message = "oops"}, {.reason = "Resubmitted"}, {.message = "stopped"}};
        struct task_end ends[300];
        size_t at = w->running.len ? (size_t)world_random((int)w->running.len) : 0;
        size_t n = MIN(1 + (size_t)world_random(300), w->running.len - at);
        for (size_t i = 0; i < n; i++) {
                bool odd = world_random(300) < chaos;
                struct task_end *e = &ends[i];
                *e = (struct task_end){.info = w->running.data[at + i],
                                       .kind = TASK_RESULT,
                                       .state = TASK_SUCCEEDED,
                                       .finish_ms = w->running.data[at + i].launch_ms + world_random(3)};
                e->metrics.executor_cpu_ns = world_random(100000);
                e->metrics.result_size = 900;
                e->metrics.peak_execution_memory = world_random(10);
                e->metrics.input_records = odd ? -3 : 0;
                e->getting_result_ms = odd && world_random(2) ? e->finish_ms : 0;
                if (odd && world_random(2)) {
                        e->state = (uint8_t)world_random(TASK_RUNNING);
                        e->detail = e->state == TASK_SUCCEEDED ? NULL : &details[world_random(3)];
                }
                e->presence = (uint8_t)(odd ? world_random(METRICS_ABSENT + 1) : METRICS_BY_STATE);
        }
        world_ends(w, ends, n);
        if (world_random(30) < chaos)
                world_ends(w, ends, n); /* once more */
        memmove(w->running.data + at, w->running.data + at + n, (w->running.len - at - n) * sizeof(w->running.data[0]));
        w->running.len -= n;
}

static void compare_tasks(const struct batch_world *w, const struct status_stage *a, const struct status_stage *b)
{
        assert_int_equal(a->columns.n_rows, b->columns.n_rows);
        assert_int_equal(a->columns.n_retained, b->columns.n_retained);
        assert_int_equal(a->columns.unordered, b->columns.unordered);
        assert_int_equal(a->notes.len, b->notes.len);
        for (size_t row = 0; row < a->columns.n_rows; row++) {
                for (size_t c = 0; c < TASK_COLUMNS; c++)
                        assert_int_equal(task_columns_value(&a->columns, row, (enum task_column)c),
                                         task_columns_value(&b->columns, row, (enum task_column)c));
                if (!b->columns.unordered)
                        assert_int_equal(task_columns_find(&b->columns, task_columns_value(&a->columns, row, TASK_ID)),
                                         row);
        }
}

static void compare_stages(const struct batch_world *w, const struct status_stage *a, const struct status_stage *b)
{
        assert_int_equal(a->active_tasks, b->active_tasks);
        assert_int_equal(a->completed_tasks, b->completed_tasks);
        assert_int_equal(a->failed_tasks, b->failed_tasks);
        assert_int_equal(a->killed_tasks, b->killed_tasks);
        assert_int_equal(a->first_launch_ms, b->first_launch_ms);
        assert_int_equal(a->longest_ms, b->longest_ms);
        assert_memory_equal(&a->metrics, &b->metrics, sizeof(a->metrics));
        assert_memory_equal(&a->speculation, &b->speculation, sizeof(a->speculation));
        assert_memory_equal(a->locality, b->locality, sizeof(a->locality));
        assert_int_equal(a->indices.n, b->indices.n);
        for (size_t i = 0; i < a->indices.n_words || i < b->indices.n_words; i++)
                assert_int_equal(i < a->indices.n_words ? a->indices.bits[i] : 0,
                                 i < b->indices.n_words ? b->indices.bits[i] : 0);
        assert_int_equal(a->executors.len, b->executors.len);
        for (size_t i = 0; i < a->executors.len; i++)
                assert_memory_equal(&a->executors.data[i], &b->executors.data[i],
                                    offsetof(struct status_executor_stage, excluded));
        compare_tasks(w, a, b);
}

static void world_compare(const struct batch_world *w)
{
        const struct status *a = w->single, *b = w->batched;
        assert_memory_equal(&a->totals, &b->totals, sizeof(a->totals));
        assert_int_equal(a->last_event_ms, b->last_event_ms);
        for (size_t i = 0; i < 2; i++) {
                const struct status_job *j = a->jobs.data[i], *k = b->jobs.data[i];
                compare_stages(w, a->stages.data[i], b->stages.data[i]);
                assert_int_equal(j->active_tasks, k->active_tasks);
                assert_int_equal(j->completed_tasks, k->completed_tasks);
                assert_int_equal(j->failed_tasks, k->failed_tasks);
                assert_int_equal(j->killed_tasks, k->killed_tasks);
                assert_int_equal(j->completed_indices, k->completed_indices);
        }
        assert_int_equal(a->executors.len, b->executors.len);
        for (size_t i = 0; i < a->executors.len; i++) {
                const struct status_executor *x = a->executors.data[i], *y = b->executors.data[i];
                assert_string_equal(x->id, y->id);
                assert_int_equal(x->active_tasks, y->active_tasks);
                assert_int_equal(x->completed_tasks, y->completed_tasks);
                assert_int_equal(x->failed_tasks, y->failed_tasks);
                assert_int_equal(x->total_tasks, y->total_tasks);
                assert_int_equal(x->duration_ms, y->duration_ms);
                assert_int_equal(x->peak_task_memory, y->peak_task_memory);
                assert_int_equal(x->input_bytes, y->input_bytes);
                assert_int_equal(x->has_peaks, y->has_peaks);
        }
}

static void batches_equal_single_events(void **state)
{
        for (int seed = 1; seed <= 60; seed++) {
                struct batch_world w;
                int chaos = seed % 12;
                world_state = (uint64_t)seed;
                world_begin(&w, seed % 5 == 0);
                for (int step = 0; step < 30; step++) {
                        world_launch(&w, chaos);
                        if (world_random(3))
                                world_end(&w, chaos);
                }
                world_compare(&w);
                while (w.running.len)
                        world_end(&w, chaos);
                world_compare(&w);
                vec_deinit(&w.running);
                status_free(w.single);
                status_free(w.batched);
        }
}

static void keeps_the_limit_after_each_batch(void **state)
{
        struct status_options options = {.is_live = true, .retained_tasks = 1000};
        struct status *s = status_new(&options);
        struct stage_info stage = {.id = 0, .name = "map", .tasks = 20000, .submission_ms = 1000};
        status_on_job_start(s, &(struct job_start){.id = 0, .ms = 1000, .stages = &stage, .n_stages = 1});
        status_on_stage_submitted(s, &(struct stage_submitted){.stage = stage});
        struct batch_world w = {.single = status_new(&options), .batched = s};
        for (int at = 0; at < 20000; at += 200) {
                struct task_start starts[200];
                struct task_end ends[200];
                for (int i = 0; i < 200; i++) {
                        starts[i].info = (struct task_info){.id = at + i,
                                                            .launch_ms = 1000 + at,
                                                            .executor = &executors[0],
                                                            .index = at + i,
                                                            .partition = at + i};
                        ends[i] = (struct task_end){
                                .info = starts[i].info, .finish_ms = 1001 + at, .metrics.executor_cpu_ns = at + i};
                }
                world_starts(&w, starts, 200);
                world_ends(&w, ends, 200);
                assert_true(s->stages.data[0]->columns.n_retained <= 1000);
        }
        const struct status_stage *kept = s->stages.data[0];
        assert_int_equal(kept->completed_tasks, 20000);
        assert_int_equal(kept->metrics.executor_cpu_ns, (int64_t)20000 * 19999 / 2);
        assert_true(kept->columns.n_retained >= 800);
        for (size_t row = 20000 - kept->columns.n_retained; row < 20000; row++) { /* the newest ones */
                assert_false(task_columns_is_removed(&kept->columns, row));
                assert_int_equal(task_columns_value(&kept->columns, row, TASK_INDEX), row);
        }
        status_free(w.single);
        status_free(s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(batches_equal_single_events),
                cmocka_unit_test(keeps_the_limit_after_each_batch),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
