#include "driver/events/listener_bus.h"

#include "base/mem.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

static const struct executor_ref driver = {"driver", "localhost"};

/* Records all events as one sequence of ids: those of tasks, and negative numbers for others. */
struct event_recorder {
        struct listener listener;
        int64_t *heard;
        size_t n, room;
        size_t batches, idles, stops;
        char description[64];
        char property[64];
        pthread_mutex_t *gate; /* held by the test to stall the bus */
};

static void record_event(struct event_recorder *r, int64_t id)
{
        assert_true(r->n < r->room);
        r->heard[r->n++] = id;
}

static void on_task_starts(struct listener *l, const struct task_start *batch, size_t n)
{
        struct event_recorder *r = container_of(l, struct event_recorder, listener);
        r->batches++;
        for (size_t i = 0; i < n; i++)
                record_event(r, batch[i].info.id * 2);
}

static void on_task_ends(struct listener *l, const struct task_end *batch, size_t n)
{
        struct event_recorder *r = container_of(l, struct event_recorder, listener);
        r->batches++;
        for (size_t i = 0; i < n; i++) {
                record_event(r, batch[i].info.id * 2 + 1);
                if (batch[i].detail)
                        snprintf(r->description, sizeof(r->description), "%s/%s", batch[i].detail->description,
                                 batch[i].detail->stack[0].function);
        }
}

static void on_job_start(struct listener *l, const struct job_start *e)
{
        struct event_recorder *r = container_of(l, struct event_recorder, listener);
        if (r->gate) {
                pthread_mutex_lock(r->gate);
                pthread_mutex_unlock(r->gate);
        }
        record_event(r, -e->id);
        if (e->properties)
                snprintf(r->property, sizeof(r->property), "%s/%s/%d", strmap_get(e->properties, "a"),
                         e->stages[0].rdds[0].name, e->stages[0].rdds[0].parent_ids[1]);
}

static void on_idle(struct listener *l)
{
        container_of(l, struct event_recorder, listener)->idles++;
}

static void on_stop(struct listener *l)
{
        container_of(l, struct event_recorder, listener)->stops++;
}

static struct event_recorder recorder(size_t room)
{
        return (struct event_recorder){.listener = {.name = "recorder",
                                                    .on_task_starts = on_task_starts,
                                                    .on_task_ends = on_task_ends,
                                                    .on_job_start = on_job_start,
                                                    .on_idle = on_idle,
                                                    .on_stop = on_stop},
                                       .heard = new_array(int64_t, room),
                                       .room = room};
}

static void keeps_order_between_kinds_at_any_batch_size(void **state)
{
        enum { TASKS = 200000 };
        struct event_recorder r = recorder(TASKS * 2 + TASKS / 100 + 100);
        struct listener_bus *bus = listener_bus_new((struct listener_bus_options){.capacity = 500});
        listener_bus_add(bus, &r.listener);
        listener_bus_start(bus);
        static struct task_start starts[3000];
        static struct task_end ends[3000];
        int64_t *expected = new_array(int64_t, r.room);
        size_t n_expected = 0;
        unsigned seed = 1;
        for (int64_t next = 0; next < TASKS;) {
                size_t n = 1 + (size_t)rand_r(&seed) % (rand_r(&seed) % 8 ? 40 : 3000);
                for (size_t i = 0; i < n; i++) {
                        starts[i].info = (struct task_info){.id = next + (int64_t)i, .executor = &driver};
                        ends[i].info = starts[i].info;
                        expected[n_expected++] = starts[i].info.id * 2;
                        if (n_expected + 2 * n + 2 >= r.room)
                                n = i + 1;
                }
                listener_bus_post_task_starts(bus, starts, n);
                listener_bus_post_job_start(bus, &(struct job_start){.id = (int)n});
                expected[n_expected++] = -(int64_t)n;
                listener_bus_post_task_ends(bus, ends, n);
                for (size_t i = 0; i < n; i++)
                        expected[n_expected++] = ends[i].info.id * 2 + 1;
                next += (int64_t)n;
                if (n_expected + 10000 >= r.room)
                        break;
        }
        listener_bus_stop(bus);
        assert_int_equal(r.n, n_expected);
        assert_memory_equal(r.heard, expected, n_expected * sizeof(*expected));
        assert_int_equal(listener_bus_dropped(bus), 0);
        assert_int_equal(r.stops, 1);
        listener_bus_free(bus);
        free(expected);
        free(r.heard);
}

static void copies_data_that_events_point_to(void **state)
{
        struct event_recorder r = recorder(10);
        struct listener_bus *bus = listener_bus_new((struct listener_bus_options){0});
        listener_bus_add(bus, &r.listener);
        {
                char text[] = "first", function[] = "split", name[] = "words";
                int parents[] = {4, 5};
                struct stack_frame frame = {.function = function};
                struct task_detail detail = {.description = text, .stack = &frame, .n_stack = 1};
                struct rdd_info rdd = {.name = name, .parent_ids = parents, .n_parents = 2};
                struct stage_info stage = {.rdds = &rdd, .n_rdds = 1};
                _cleanup_(strmap_deinit) struct strmap properties = STRMAP_INIT;
                strmap_set(&properties, "gone", "x");
                strmap_set(&properties, "a", "value");
                strmap_remove(&properties, "gone");
                listener_bus_post_task_ends(bus, &(struct task_end){.info.id = 1, .detail = &detail}, 1);
                listener_bus_post_job_start(
                        bus, &(struct job_start){.id = 3, .stages = &stage, .n_stages = 1, .properties = &properties});
                memset(text, 'z', 5);
                memset(function, 'z', 5);
                memset(name, 'z', 5);
                memset(parents, 0, sizeof(parents));
        }
        listener_bus_start(bus); /* events posted before the start come first */
        assert_true(listener_bus_wait_until_empty(bus, 60000));
        assert_string_equal(r.description, "first/split");
        assert_string_equal(r.property, "value/words/5");
        listener_bus_stop(bus);
        listener_bus_post_job_start(bus, &(struct job_start){.id = 9}); /* too late: ignored */
        listener_bus_free(bus);
        assert_int_equal(r.n, 2);
        free(r.heard);
}

static void calls_on_idle(void **state)
{
        struct event_recorder r = recorder(10);
        struct listener_bus *bus = listener_bus_new((struct listener_bus_options){0});
        listener_bus_add(bus, &r.listener);
        listener_bus_start(bus);
        listener_bus_post_job_start(bus, &(struct job_start){.id = 1});
        assert_true(listener_bus_wait_until_empty(bus, 60000));
        listener_bus_stop(bus);
        assert_true(r.idles >= 1);
        listener_bus_stop(bus);
        assert_int_equal(r.stops, 1);
        listener_bus_free(bus);
        listener_bus_free(NULL);
        free(r.heard);
}

struct producer {
        struct listener_bus *bus;
        int64_t first;
        size_t n;
};

static void *post_on_thread(void *arg)
{
        struct producer *p = arg;
        for (size_t i = 0; i < p->n; i++) {
                struct task_start start = {{.id = p->first + (int64_t)i, .executor = &driver}};
                listener_bus_post_task_starts(p->bus, &start, 1);
        }
        return NULL;
}

static void accepts_events_of_several_threads(void **state)
{
        enum { THREADS = 4, EACH = 20000 };
        struct event_recorder r = recorder(THREADS * EACH);
        struct listener_bus *bus = listener_bus_new((struct listener_bus_options){.capacity = 1000});
        listener_bus_add(bus, &r.listener);
        listener_bus_start(bus);
        struct producer producers[THREADS];
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++) {
                producers[i] = (struct producer){bus, (int64_t)i * EACH, EACH};
                pthread_create(&threads[i], NULL, post_on_thread, &producers[i]);
        }
        for (int i = 0; i < THREADS; i++)
                pthread_join(threads[i], NULL);
        listener_bus_stop(bus);
        assert_int_equal(r.n, THREADS * EACH);
        int64_t next[THREADS];
        for (int i = 0; i < THREADS; i++)
                next[i] = (int64_t)i * EACH;
        for (size_t i = 0; i < r.n; i++) /* in each thread's order */
                assert_int_equal(r.heard[i] / 2, next[r.heard[i] / 2 / EACH]++);
        listener_bus_free(bus);
        free(r.heard);
}

static void waits_for_slow_listener_and_drops_for_stuck_one(void **state)
{
        pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
        struct event_recorder r = recorder(1000);
        r.gate = &gate;
        struct listener_bus *bus = listener_bus_new((struct listener_bus_options){.capacity = 10, .stall_ms = 100});
        listener_bus_add(bus, &r.listener);
        listener_bus_start(bus);
        pthread_mutex_lock(&gate);
        for (int i = 0; i < 30; i++)
                listener_bus_post_job_start(bus, &(struct job_start){.id = i + 1});
        assert_false(listener_bus_wait_until_empty(bus, 10));
        uint64_t dropped = listener_bus_dropped(bus);
        assert_int_equal(dropped, 20);
        pthread_mutex_unlock(&gate);
        assert_true(listener_bus_wait_until_empty(bus, 60000));
        for (int i = 0; i < 200; i++) /* not stuck any more: all of these arrive */
                listener_bus_post_job_start(bus, &(struct job_start){.id = 1000 + i});
        listener_bus_stop(bus);
        assert_int_equal(listener_bus_dropped(bus), dropped);
        assert_int_equal(r.n, 210);
        for (int i = 0; i < 10; i++)
                assert_int_equal(r.heard[i], -(i + 1));
        for (int i = 0; i < 200; i++)
                assert_int_equal(r.heard[10 + i], -(1000 + i));
        listener_bus_free(bus);
        free(r.heard);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(keeps_order_between_kinds_at_any_batch_size),
                cmocka_unit_test(copies_data_that_events_point_to),
                cmocka_unit_test(calls_on_idle),
                cmocka_unit_test(accepts_events_of_several_threads),
                cmocka_unit_test(waits_for_slow_listener_and_drops_for_stuck_one),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
