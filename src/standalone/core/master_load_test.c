/* CPU time of the master with many workers and applications. */
#include "standalone/core/master_fixture.h"

#include <time.h>

static double cpu_ms(void)
{
        struct timespec t;

        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void register_many(struct recorder *rec, struct master *m, int n)
{
        for (int i = 0; i < n; i++) {
                char id[64];
                struct worker_spec spec = {.id = id, .host = "10.0.0.1", .port = i, .cores = 8, .memory = 16384};

                snprintf(id, sizeof(id), "worker-20231101000000-10.0.0.1-%d", i);
                master_register_worker(m, 1 + (uint64_t)i, &spec, 1);
                recorder_update(rec, NULL);
        }
}

/* Prints the CPU time of this thread for 10,000 workers, with an owner that records everything. Asserts no limit. */
static void ten_thousand_workers(void **state)
{
        struct master_config config = MASTER_CONFIG_DEFAULT;
        struct recorder rec = {0};
        struct app_spec spec = {
                .name = "big", .address = "big", .initial_executors = 10000, .profile = {.cores = 2, .memory = 1024}};
        char name[16];

        config.log_level = LOG_OFF;
        struct master *m = recorded_master(&rec, &config);

        master_elected(m, NULL, 0, NULL, 0, NULL, 0, 1);
        double began = cpu_ms();

        register_many(&rec, m, 10000);
        double registered = cpu_ms();

        master_register_app(m, 1, &spec, 1);
        master_schedule(m, 1);
        recorder_update(&rec, NULL);
        double placed = cpu_ms();

        assert_int_equal(m->apps.first->n_executors, 10000);
        spec.initial_executors = 10;
        spec.name = spec.address = name;
        double many = cpu_ms();

        for (int i = 0; i < 1000; i++) { /* one at a time, the worst batch size */
                snprintf(name, sizeof(name), "app%d", i);
                master_register_app(m, 2, &spec, 2);
                master_schedule(m, 2);
                recorder_update(&rec, NULL);
        }
        double all = cpu_ms();

        for (const struct master_app *app = m->apps.first->next; app; app = app->next)
                assert_int_equal(app->n_executors, 10);
        double beat = cpu_ms();

        for (int i = 0; i < 10000; i++) {
                master_heartbeat(m, 1 + (uint64_t)i, m->workers.first->id, 3);
                recorder_update(&rec, NULL);
        }
        double beaten = cpu_ms();

        print_message("10,000 workers registered in %.1f ms; 10,000 executors of one application placed in %.1f ms; "
                      "1,000 applications of 10 executors placed one by one in %.1f ms; 10,000 heartbeats %.1f ms; "
                      "%zu bytes a worker, %zu an executor, and their strings\n",
                      registered - began, placed - registered, all - many, beaten - beat, sizeof(struct master_worker),
                      sizeof(struct master_executor));
        master_free(m);
        recorder_deinit(&rec);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(ten_thousand_workers),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
