/*
 * Measures the core with thousands of executors: memory, and processor time for reading pods and deciding. Asserts the
 * memory, and a few calls per pod. Prints times for docs/status.md:
 *
 *      executor_pods_load_test [PODS…]
 */
#include "base/error.h"
#include "kubernetes/executors/executor_pods.h"
#include "kubernetes/api/pod_fixture.h"

#include <malloc.h>
#include <stdlib.h>
#include <time.h>

static struct executor_pods p;
static int requested, answered, removed;
static int64_t now = NS_PER_SECOND;

static void run(void)
{
        for (const struct pod_action *action; (action = executor_pods_next_action(&p));) {
                assert_true(action->kind != POD_ACTION_DELETE_MANY);
                assert_true(action->kind != POD_ACTION_LABEL_INACTIVE);
                assert_true(action->kind != POD_ACTION_STOP_APPLICATION);
                requested += action->kind == POD_ACTION_CREATE;
                removed += action->kind == POD_ACTION_REMOVE_EXECUTOR;
        }
}

/* Returns a pod with all fields of an API server: some 8 KB. */
static char *pod_text(int id, const char *phase, int version)
{
        _cleanup_json_ json_t *pod = pod_with_version(pod_in(id, 0, phase), version);
        json_t *env = json_array(), *fields = json_object();
        char name[64];

        for (int i = 0; i < 40; i++) {
                snprintf(name, sizeof(name), "SPARK_JAVA_OPT_%d", i);
                json_array_append_new(env, json_pack("{s:s, s:s}", "name", name, "value",
                                                     "-Dspark.driver.port=7078 -Dspark.app.startTime=1790000000000"));
                snprintf(name, sizeof(name), "f:SPARK_JAVA_OPT_%d", i);
                json_object_set_new(fields, name, json_pack("{s:{}, s:{}}", "f:name", "f:value"));
        }
        json_object_set_new(json_array_get(json_object_get(json_object_get(pod, "spec"), "containers"), 0), "env", env);
        json_object_set_new(json_object_get(pod, "metadata"), "managedFields", fields);
        json_object_set_new(json_object_get(pod, "spec"), "nodeName", json_string("node-17.example"));
        return json_dumps(pod, 0);
}

/* Returns the processor's milliseconds since the last call. */
static double spent(void)
{
        static clock_t before;
        clock_t t = clock();
        double ms = (double)(t - before) * 1000 / CLOCKS_PER_SEC;

        before = t;
        return ms;
}

static void tick(void)
{
        while (executor_pods_deadline(&p) <= now)
                executor_pods_tick(&p, now);
        run();
}

static void all_told(int n, const char *phase, int version, const char *what)
{
        double parse = 0, followed = 0;
        char *text = pod_text(1, phase, version);

        print_message("  %s, %zu bytes each: ", what, strlen(text));
        free(text);
        for (int id = 1; id <= n; id++) {
                text = pod_text(id, phase, version);
                spent();
                _cleanup_json_ json_t *pod = json_loads(text, 0, NULL);
                parse += spent();
                snapshots_store_update(p.store, pod, now);
                if (id % 50 == 0) { /* an API server that reports 500 per second */
                        now += 100 * NS_PER_MS;
                        tick();
                }
                followed += spent();
                free(text);
        }
        now += 2 * NS_PER_SECOND;
        tick();
        print_message("%.1f ms to read, %.1f ms to follow\n", parse, followed);
}

static void costs(int n)
{
        struct executor_pods_config config = EXECUTOR_PODS_DEFAULT;
        size_t before = mallinfo2().uordblks;

        print_message("%d pods\n", n);
        requested = answered = removed = 0;
        executor_pods_init(&p, &config);
        pods_allocator_start(p.allocator, now);
        spent();
        pods_allocator_set_target(p.allocator, 0, n, now);
        for (run(); answered < requested; run())
                pods_allocator_created(p.allocator, ++answered, now);
        print_message("  decided to create: %.1f ms\n", spent());
        assert_int_equal(requested, n);
        all_told(n, "Pending", 1, "pending");
        all_told(n, "Running", 2, "running");
        assert_int_equal(pods_allocator_counts(p.allocator, 0).running, n);
        for (int id = 1; id <= n; id++)
                executor_pods_registered(&p, id, now);
        all_told(n, "Running", 3, "changed in nothing that matters");

        size_t each = (mallinfo2().uordblks - before) / (size_t)n;
        print_message("  %zu bytes a pod\n", each);
        assert_true(each < 1024);
        spent();
        for (int id = 1; id <= n; id++) {
                _cleanup_json_ json_t *gone =
                        json_text("{'metadata': {'name': 'app-exec-%d', 'uid': 'uid-%d'}}", id, id);
                snapshots_store_delete(p.store, gone, now);
        }
        now += 2 * NS_PER_SECOND;
        tick();
        print_message("  all gone: %.1f ms\n", spent());
        assert_int_equal(removed, n);
        assert_true(requested > n); /* the allocator requests replacements */
        executor_pods_deinit(&p);
}

static int sizes[8] = {300}, n_sizes = 1;

static void thousands_of_pods_stay_within_limits(void **state)
{
        for (int i = 0; i < n_sizes; i++)
                costs(sizes[i]);
}

int main(int argc, char **argv)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(thousands_of_pods_stay_within_limits)};

        for (int i = 1; i < argc && i <= 8; i++) {
                sizes[i - 1] = atoi(argv[i]);
                n_sizes = i;
        }
        return cmocka_run_group_tests(tests, NULL, NULL);
}
