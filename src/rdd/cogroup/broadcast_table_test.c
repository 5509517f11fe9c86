/* Tests the tables that tasks of a process share: one for each small side, built and reserved once. */
#include "rdd/cogroup/broadcast_table.h"

#include "base/mem.h"
#include "rdd/pipeline/task_run.h"
#include "store/memory.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { ROWS = 5000, TASKS = 4, STORAGE = 1 << 20 };

struct table_world {
        struct memory_manager *memory;
        int64_t *data; /* records of I64 and I64 */
        struct broadcast_side small;
};

static int setup(void **state)
{
        struct table_world *w = new0(struct table_world);
        w->memory = memory_manager_new(2 * STORAGE, 0.5);
        w->data = new_array(int64_t, 2 * ROWS);
        for (int i = 0; i < ROWS; i++)
                w->data[2 * i] = w->data[2 * i + 1] = i;
        w->small = (struct broadcast_side){.side = JOIN_RIGHT,
                                           .type = FST_PAIR(I64, I64),
                                           .rows = ROWS,
                                           .variable = 3,
                                           .size = 2 * ROWS * sizeof(int64_t)};
        *state = w;
        return 0;
}

static int teardown(void **state)
{
        struct table_world *w = *state;
        assert_int_equal(memory_manager_storage_used(w->memory), 0);
        memory_manager_free(w->memory);
        free(w->data);
        free(w);
        return 0;
}

static struct broadcast_table *table_of(struct table_world *w, const void *data)
{
        return broadcast_table_ref(w->memory, &w->small, data);
}

static void tasks_of_one_side_share_a_table(void **state)
{
        struct table_world *w = *state;
        struct broadcast_table *t[6] = {table_of(w, w->data), table_of(w, w->data), table_of(w, w->data + 1)};
        assert_ptr_equal(t[1], t[0]);
        assert_ptr_equal(t[2], t[0]); /* its entries hold whole rows */
        w->small.variable = 4;
        t[3] = table_of(w, w->data);
        assert_ptr_not_equal(t[3], t[0]);
        w->small.type = FST_PAIR(BYTES, I64);
        t[4] = table_of(w, w->data);
        t[5] = table_of(w, w->data + 1);
        assert_ptr_not_equal(t[4], t[3]);
        assert_ptr_not_equal(t[5], t[4]); /* its entries point into other bytes */
        assert_true(broadcast_table_is_of(t[4], &w->small, (char *)w->data));
        assert_false(broadcast_table_is_of(t[4], &w->small, (char *)(w->data + 1)));
        for (int i = 0; i < 6; i++)
                broadcast_table_unref(t[i]);
        broadcast_table_unref(NULL);
}

static void reserves_a_table_once(void **state)
{
        struct table_world *w = *state;
        struct broadcast_table *t = table_of(w, w->data);
        assert_true(broadcast_table_reserve(t));
        assert_true(broadcast_table_reserve(t));
        assert_int_equal(memory_manager_storage_used(w->memory), broadcast_table_bytes(&w->small));
        broadcast_table_release(t);
        assert_int_equal(memory_manager_storage_used(w->memory), t->bytes);
        broadcast_table_release(t);
        assert_int_equal(memory_manager_storage_used(w->memory), 0);
        assert_true(memory_acquire_fixed_storage(w->memory, STORAGE - t->bytes + 1));
        assert_false(broadcast_table_reserve(t));
        memory_release_storage(w->memory, STORAGE - t->bytes + 1);
        broadcast_table_unref(t);
}

/* ------------------------------------------------------------------------------------------------------- building */

struct table_task {
        struct table_world *w;
        pthread_t thread;
        int result;
        const struct sort_entry *entries;
};

static void *run_table_task(void *arg)
{
        struct table_task *task = arg;
        struct table_world *w = task->w;
        struct task_run run;
        task_run_init(&run, w->memory, NULL);
        for (int i = 0; i < 20; i++) {
                struct broadcast_table *t = table_of(w, w->data);
                assert_true(broadcast_table_reserve(t));
                task->result = broadcast_table_build(t, &run, &w->small, (char *)w->data);
                task->entries = task->result == 0 ? t->entries : NULL; /* if not, another task may be building */
                for (uint32_t k = 0; task->result == 0 && k < ROWS; k += 99)
                        assert_int_equal(t->entries[k].value, k);
                broadcast_table_release(t);
                broadcast_table_unref(t);
        }
        task_run_deinit(&run);
        return NULL;
}

static void run_table_tasks(struct table_world *w, struct table_task *tasks)
{
        for (int i = 0; i < TASKS; i++) {
                tasks[i] = (struct table_task){.w = w};
                assert_int_equal(pthread_create(&tasks[i].thread, NULL, run_table_task, &tasks[i]), 0);
        }
        for (int i = 0; i < TASKS; i++)
                pthread_join(tasks[i].thread, NULL);
}

static void one_task_builds_for_all(void **state)
{
        struct table_task tasks[TASKS];
        struct table_world *w = *state;
        struct broadcast_table *t = table_of(w, w->data); /* keeps it from task to task */
        run_table_tasks(w, tasks);
        assert_int_equal(t->state, BROADCAST_TABLE_BUILT);
        for (int i = 0; i < TASKS; i++) {
                assert_int_equal(tasks[i].result, 0);
                assert_ptr_equal(tasks[i].entries, t->entries);
        }
        broadcast_table_unref(t);
}

static void builds_and_drops_in_any_order(void **state)
{
        struct table_task tasks[TASKS];
        run_table_tasks(*state, tasks);
        for (int i = 0; i < TASKS; i++)
                assert_int_equal(tasks[i].result, 0);
}

static void each_task_fails_if_rows_are_missing(void **state)
{
        struct table_task tasks[TASKS];
        struct table_world *w = *state;
        struct broadcast_table *t = table_of(w, w->data);
        w->small.size--;
        run_table_tasks(w, tasks);
        for (int i = 0; i < TASKS; i++)
                assert_int_equal(tasks[i].result, -EBADMSG);
        assert_int_equal(t->state, BROADCAST_TABLE_MISSING);
        assert_null(t->entries);
        w->small.size++;
        run_table_tasks(w, tasks);
        assert_int_equal(tasks[0].result, 0);
        broadcast_table_unref(t);
}

static void a_killed_task_stops_waiting(void **state)
{
        const int killed = 1;
        struct table_world *w = *state;
        struct broadcast_table *t = table_of(w, w->data);
        struct task_run run;
        task_run_init(&run, w->memory, NULL);
        run.task.stopped = &killed;
        t->state = BROADCAST_TABLE_STARTED; /* by a task that does not end */
        assert_int_equal(broadcast_table_build(t, &run, &w->small, (char *)w->data), -ECANCELED);
        assert_int_equal(memory_manager_waiting(w->memory), 0);
        task_run_deinit(&run);
        broadcast_table_unref(t);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(tasks_of_one_side_share_a_table, setup, teardown),
                cmocka_unit_test_setup_teardown(reserves_a_table_once, setup, teardown),
                cmocka_unit_test_setup_teardown(one_task_builds_for_all, setup, teardown),
                cmocka_unit_test_setup_teardown(builds_and_drops_in_any_order, setup, teardown),
                cmocka_unit_test_setup_teardown(each_task_fails_if_rows_are_missing, setup, teardown),
                cmocka_unit_test_setup_teardown(a_killed_task_stops_waiting, setup, teardown),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
