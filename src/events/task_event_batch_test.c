#include "events/task_event_batch.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static const struct executor_ref first = {"1", "a"}, second = {"2", "b"};

static uint64_t random_state = 1;

static uint64_t next_random(uint64_t below)
{
        random_state = random_state * 6364136223846793005u + 1442695040888963407u;
        return (random_state >> 33) % below;
}

/* Packs and unpacks all events. Returns the number of batches. */
static size_t round_trip_ends(const struct task_end *ends, struct task_end *out, size_t n)
{
        size_t batches = 0;
        while (n > 0) {
                struct task_event_batch head;
                task_event_batch_of_ends(&head, ends, n);
                assert_in_range(head.n, 1, n);
                struct task_event_batch *b = mem_alloc(task_event_batch_bytes(&head));
                task_event_batch_put_ends(&head, ends, b);
                task_event_batch_get_ends(b, out);
                int64_t sum = 0, least = INT64_MAX, greatest = INT64_MIN;
                for (size_t i = 0; i < head.n; i++) {
                        sum += ends[i].metrics.executor_cpu_ns;
                        least = MIN(least, ends[i].finish_ms);
                        greatest = MAX(greatest, ends[i].finish_ms);
                        assert_int_equal(task_event_value(b, TASK_EVENT_INDEX, i), ends[i].info.index);
                }
                assert_int_equal(task_event_sum(b, TASK_EVENT_METRIC(executor_cpu_ns)), sum);
                assert_int_equal(task_event_range(b, TASK_EVENT_FINISH).least, least);
                assert_int_equal(task_event_range(b, TASK_EVENT_FINISH).greatest, greatest);
                ends += head.n;
                out += head.n;
                n -= head.n;
                batches++;
                free(b);
        }
        return batches;
}

static void packs_what_it_unpacks(void **state)
{
        enum { N = 2000 };
        struct task_end *ends = new_array(struct task_end, N), *out = new_array(struct task_end, N);
        for (int round = 0; round < 50; round++) {
                uint64_t chaos = 1 + (uint64_t)round * 4;
                for (size_t i = 0; i < N; i++) {
                        bool odd = next_random(400) < chaos;
                        struct task_info info = {.id = (int64_t)(odd ? next_random(1 << 20) : i),
                                                 .launch_ms = (int64_t)(i / 90),
                                                 .executor = odd && next_random(2) ? &second : &first,
                                                 .stage_id = (int32_t)(i / 700),
                                                 .index = (int32_t)(i % 700) - 1,
                                                 .partition = odd ? -7 : (int32_t)i,
                                                 .speculative = next_random(600) < chaos};
                        ends[i] = (struct task_end){.info = info,
                                                    .finish_ms = info.launch_ms + (int64_t)next_random(3),
                                                    .state = odd && next_random(2) ? TASK_FAILED : TASK_SUCCEEDED,
                                                    .kind = TASK_SHUFFLE_MAP,
                                                    .metrics.executor_cpu_ns = (int64_t)next_random(1 << 20),
                                                    .metrics.shuffle_write.write_ns = odd ? -5 : 0};
                }
                memset(out, 0, N * sizeof(*out));
                round_trip_ends(ends, out, N);
                for (size_t i = 0; i < N; i++) {
                        assert_memory_equal(&out[i].metrics, &ends[i].metrics, sizeof(out[i].metrics));
                        assert_int_equal(out[i].info.id, ends[i].info.id);
                        assert_int_equal(out[i].info.launch_ms, ends[i].info.launch_ms);
                        assert_ptr_equal(out[i].info.executor, ends[i].info.executor);
                        assert_int_equal(out[i].info.stage_id, ends[i].info.stage_id);
                        assert_int_equal(out[i].info.partition, ends[i].info.partition);
                        assert_int_equal(out[i].info.speculative, ends[i].info.speculative);
                        assert_int_equal(out[i].finish_ms, ends[i].finish_ms);
                        assert_int_equal(out[i].state, ends[i].state);
                        assert_int_equal(out[i].kind, ends[i].kind);
                }
        }
        free(ends);
        free(out);
}

static void starts_that_rise_need_no_array(void **state)
{
        struct task_start starts[300], out[300];
        struct task_event_batch head;
        for (int i = 0; i < 300; i++)
                starts[i].info = (struct task_info){
                        .id = 1000 + i, .launch_ms = 5, .executor = &first, .index = i, .partition = 40 + i};
        task_event_batch_of_starts(&head, starts, 300);
        assert_int_equal(head.n, MAX_TASK_EVENT_BATCH);
        assert_int_equal(head.varying, 0);
        assert_int_equal(task_event_batch_bytes(&head), sizeof(head) + TASK_START_COLUMNS * sizeof(int64_t));
        struct task_event_batch *b = mem_alloc(task_event_batch_bytes(&head));
        task_event_batch_put_starts(&head, starts, b);
        task_event_batch_get_starts(b, out);
        for (size_t i = 0; i < head.n; i++) {
                assert_int_equal(out[i].info.id, 1000 + i);
                assert_int_equal(out[i].info.index, i);
                assert_int_equal(out[i].info.partition, 40 + i);
        }
        assert_int_equal(task_event_sum(b, TASK_EVENT_INDEX), 255 * 256 / 2);
        free(b);
}

static void columns_are_kept_only_if_needed(void **state)
{
        struct task_info common = {.stage_id = 3, .executor = &first, .locality = 2};
        struct task_event_batch *b = mem_alloc(MAX_TASK_EVENT_BATCH_BYTES);
        static const int64_t values[TASK_START_COLUMNS][3] = {{7, 8, 9}, {4, 5, 6}, {0, 0, 0}, {5, 5, 6}, {1, 1, 1}};
        struct task_start out[3];
        task_event_batch_begin(b, &common, 3, TASK_START_COLUMNS);
        for (size_t c = 0; c < TASK_EVENT_LAUNCH; c++) {
                memcpy(task_event_batch_next(b), values[c], sizeof(values[c]));
                task_event_batch_close(b, c);
        }
        task_event_batch_set(b, TASK_EVENT_LAUNCH, 1);
        assert_int_equal(b->rising, 1 << TASK_EVENT_ID | 1 << TASK_EVENT_INDEX);
        assert_int_equal(b->varying, 1 << TASK_EVENT_PARTITION);
        assert_true(task_event_batch_bytes(b) <= MAX_TASK_EVENT_BATCH_BYTES);
        task_event_batch_get_starts(b, out);
        for (size_t i = 0; i < 3; i++) {
                assert_int_equal(out[i].info.id, values[TASK_EVENT_ID][i]);
                assert_int_equal(out[i].info.partition, values[TASK_EVENT_PARTITION][i]);
                assert_int_equal(out[i].info.stage_id, 3);
                for (size_t c = 0; c < TASK_START_COLUMNS; c++)
                        assert_int_equal(task_event_value(b, c, i), values[c][i]);
        }
        free(b);
}

static void detail_stands_alone(void **state)
{
        struct task_detail detail = {.message = "lost"};
        struct task_end ends[4] = {0}, out[4];
        for (int i = 0; i < 4; i++)
                ends[i].info = (struct task_info){.id = i, .executor = &first};
        ends[1].detail = &detail;
        assert_int_equal(round_trip_ends(ends, out, 4), 3);
        assert_null(out[0].detail);
        assert_ptr_equal(out[1].detail, &detail);
        assert_null(out[2].detail);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(packs_what_it_unpacks),
                cmocka_unit_test(starts_that_rise_need_no_array),
                cmocka_unit_test(columns_are_kept_only_if_needed),
                cmocka_unit_test(detail_stands_alone),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
