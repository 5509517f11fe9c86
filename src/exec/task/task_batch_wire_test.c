/* Tests launches of batches, from the driver's bytes to an executor's batch. */
#include "exec/task/task_batch_wire.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "rdd/pipeline/task_resources.h"
#include "rpc/control.pb-c.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define KINDS 20
#define ADDRESSES 100

static void launched(const struct task_batch *from, struct task_batch *to)
{
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT;
        task_batch_append_launch(from, &bytes);
        Firesteel__LaunchTasks *launch = firesteel__launch_tasks__unpack(NULL, bytes.len, (const uint8_t *)bytes.data);
        assert_non_null(launch);
        assert_int_equal(launch->n_runs, 1);
        assert_int_equal(task_batch_read_launch(launch->runs[0], 4, to, NULL), 0);
        firesteel__launch_tasks__free_unpacked(launch, NULL);
}

static struct task_batch *some_run(void)
{
        struct task_batch *run = new0(struct task_batch);
        run->slot = 3;
        run->n = 2;
        for (int i = 0; i < run->n; i++) {
                run->tasks[i].index = 7 + 5 * i;
                run->tasks[i].output = i;
                run->tasks[i].info.id = 100 + i;
                run->tasks[i].info.stage = 4;
                run->tasks[i].info.partition = 9 - i;
                run->tasks[i].info.attempt = i;
        }
        return run;
}

static void batches_survive_encoding(void **state)
{
        struct task_batch *from = some_run(), *to = new0(struct task_batch);
        launched(from, to);
        assert_int_equal(to->slot, 3);
        assert_int_equal(to->n, 2);
        for (int i = 0; i < 2; i++) {
                assert_int_equal(to->tasks[i].index, 7 + 5 * i);
                assert_int_equal(to->tasks[i].output, i);
                assert_int_equal(to->tasks[i].info.id, 100 + i);
                assert_int_equal(to->tasks[i].info.stage, 4);
                assert_int_equal(to->tasks[i].info.partition, 9 - i);
                assert_int_equal(to->tasks[i].info.attempt, i);
        }
        free(from);
        free(to);
}

/* Each of @KINDS resources has as many addresses as its number, and the last one many more. */
static void resources_survive_encoding(void **state)
{
        struct task_batch *from = some_run(), *to = new0(struct task_batch);
        char text[ADDRESSES][8], name[16];
        const char *addresses[ADDRESSES], *found_name, *found[ADDRESSES];
        for (int i = 0; i < ADDRESSES; i++) {
                snprintf(text[i], sizeof(text[i]), "a%d", i);
                addresses[i] = text[i];
        }
        for (int k = 0; k < KINDS; k++) {
                snprintf(name, sizeof(name), "kind%d", k);
                task_resources_put(&from->resources, name, addresses, k == KINDS - 1 ? ADDRESSES : (size_t)k + 1);
        }
        launched(from, to);
        size_t at = 0;
        int n;
        for (int k = 0; k < KINDS; k++) {
                assert_true(task_resources_next(&to->resources, &at, &found_name, found, ADDRESSES, &n));
                snprintf(name, sizeof(name), "kind%d", k);
                assert_string_equal(found_name, name);
                assert_int_equal(n, k == KINDS - 1 ? ADDRESSES : k + 1);
                for (int i = 0; i < n; i++)
                        assert_string_equal(found[i], addresses[i]);
        }
        assert_false(task_resources_next(&to->resources, &at, &found_name, found, ADDRESSES, &n));
        task_resources_deinit(&from->resources);
        task_resources_deinit(&to->resources);
        free(from);
        free(to);
}

static void rejects_invalid_batches(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        struct task_batch *to = new0(struct task_batch);
        Firesteel__TaskRun run = FIRESTEEL__TASK_RUN__INIT;
        assert_int_equal(task_batch_read_launch(&run, 4, to, &error), -EBADMSG);
        assert_string_equal(error_message(&error), "the batch has 0 tasks");
        run.n = 1;
        run.slot = 4;
        assert_int_equal(task_batch_read_launch(&run, 4, to, &error), -EBADMSG);
        run.slot = 0;
        run.first_task_id = -1;
        assert_int_equal(task_batch_read_launch(&run, 4, to, &error), -EBADMSG);
        assert_int_equal(to->n, 0);
        error_deinit(&error);
        free(to);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(batches_survive_encoding),
                cmocka_unit_test(resources_survive_encoding),
                cmocka_unit_test(rejects_invalid_batches),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
