/* Tests allocation: from the scheduler's events to the backend's requests. */
#include "driver/allocation.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "api/api_fixture.h"
#include "driver/context.h"
#include "events/events.h"
#include "driver/backend/scheduler_backend.h"

struct driver_bench {
        struct scheduler_backend backend;
        struct fst_context sc;
        struct sched *sched;
        struct allocation *a;
        struct lineage rdd;
        struct buf asked; /* "target 3, 4 local: h1 3, h2 1; " */
};

static bool request_executors(struct scheduler_backend *backend, const struct executor_request *requests, int n)
{
        struct driver_bench *b = container_of(backend, struct driver_bench, backend);
        for (int i = 0; i < n; i++) {
                buf_printf(&b->asked, "target %d, %d local:", requests[i].target, requests[i].local_tasks);
                for (int k = 0; k < requests[i].n_hosts; k++)
                        buf_printf(&b->asked, " %s %d", requests[i].hosts[k].host, requests[i].hosts[k].tasks);
                buf_puts(&b->asked, "; ");
        }
        return true;
}

static int remove_executors(struct scheduler_backend *backend, const int32_t *executors, int n, bool decommission,
                            int32_t *accepted)
{
        memcpy(accepted, executors, (size_t)n * sizeof(*executors));
        return n;
}

static const struct scheduler_backend_class fake_class = {
        .name = "fake", .request_executors = request_executors, .remove_executors = remove_executors};

/* The first two tasks prefer executor 0, the third prefers h2. */
static int preferred(void *owner, const struct lineage *rdd, int partition, struct task_location *out, int max)
{
        if (partition > 2)
                return 0;
        *out = partition < 2 ? (struct task_location){.executor = 0} : (struct task_location){-1, "h2"};
        return 1;
}

static void stage_submitted(void *owner, struct stage *stage, struct task_set *set)
{
        struct driver_bench *b = owner;
        allocation_stage_submitted(b->a, b->sched, set);
}

static void on_job(void *owner, struct job *job)
{
}

static void on_launch(void *owner, int executor, struct task_set *set, const struct task_launch *run, int n)
{
}

static void on_kill(void *owner, int executor, int64_t task_id, bool interrupt, const char *reason)
{
}

static void on_task_lost(void *owner, const struct task_attempt_info *info, const struct task_status *status)
{
}

static void on_stage_completed(void *owner, struct stage *stage, const char *failure)
{
}

static void on_job_ended(void *owner, struct job *job, enum job_result result, const char *message)
{
}

static void on_output_removed(void *owner, int shuffle_id, int map_partition, int executor, uint64_t handle)
{
}

static void on_set_removed(void *owner, struct task_set *set)
{
}

static void on_stage_removed(void *owner, struct stage *stage)
{
}

static struct sched_ops sched_ops = {.job_started = on_job,
                                     .stage_submitted = stage_submitted,
                                     .launch = on_launch,
                                     .kill_task = on_kill,
                                     .task_lost = on_task_lost,
                                     .stage_completed = on_stage_completed,
                                     .job_ended = on_job_ended,
                                     .map_output_removed = on_output_removed,
                                     .task_set_removed = on_set_removed,
                                     .stage_removed = on_stage_removed,
                                     .job_removed = on_job};

static void bench_start(struct driver_bench *b, bool placed)
{
        struct fst_error error = FST_ERROR_INIT;
        const struct sched_config config = SCHED_CONFIG_DEFAULT;
        *b = (struct driver_bench){.backend = {.class = &fake_class},
                                   .rdd = {.partitions = 6, .name = "TestRDD", .call_site = "test at a.c:1"}};
        b->sc.conf = fst_conf_new();
        fst_conf_set(b->sc.conf, "spark.dynamicAllocation.enabled", "true");
        fst_conf_set(b->sc.conf, "spark.dynamicAllocation.shuffleTracking.enabled", "true");
        fst_conf_set(b->sc.conf, "spark.dynamicAllocation.executorIdleTimeout", "1s");
        fst_conf_set(b->sc.conf, "spark.executor.cores", "1");
        sched_ops.preferred = placed ? preferred : NULL;
        b->sched = sched_new(&config, &sched_ops, b);
        if (allocation_new(&b->sc, &b->backend, &b->a, &error))
                fail_msg("%s", error_message(&error));
        assert_non_null(b->a);
}

static void bench_end(struct driver_bench *b)
{
        allocation_free(b->a);
        sched_free(b->sched);
        vec_deinit(&b->sc.executors);
        fst_conf_free(b->sc.conf);
        buf_deinit(&b->asked);
}

static void add_executor(struct driver_bench *b, struct executor_ref *ref)
{
        int index = sched_add_executor(b->sched, ref->id, ref->host, 1, 0);
        vec_push(&b->sc.executors, ref);
        allocation_executor_added(b->a, index, 0);
}

static void submit_stage(struct driver_bench *b)
{
        assert_int_equal(sched_submit_job(b->sched, &(struct job_spec){.final = &b->rdd}, 0, NULL), 0);
}

static void requests_carry_preferred_hosts(void **state)
{
        struct driver_bench b;
        bench_start(&b, true);
        add_executor(&b, &(struct executor_ref){.id = "7", .host = "h1"});
        submit_stage(&b);
        allocation_tick(b.a, INT64_MAX - 1);
        assert_string_equal(buf_text(&b.asked), "target 2, 3 local: h1 2 h2 1; ");
        bench_end(&b);
}

static void requests_have_no_hosts_without_preferences(void **state)
{
        struct driver_bench b;
        bench_start(&b, false);
        add_executor(&b, &(struct executor_ref){.id = "7", .host = "h1"});
        submit_stage(&b);
        allocation_tick(b.a, INT64_MAX - 1);
        assert_string_equal(buf_text(&b.asked), "target 2, 0 local:; ");
        bench_end(&b);
}

static void reset_requests_the_initial_number(void **state)
{
        struct driver_bench b;
        bench_start(&b, false);
        submit_stage(&b);
        int64_t now = now_ns();
        for (int i = 0; i < 2; i++)
                allocation_tick(b.a, now += INT64_C(10000000000));
        assert_string_equal(buf_text(&b.asked), "target 1, 0 local:; target 3, 0 local:; ");
        buf_reset(&b.asked);
        allocation_reset(b.a);
        allocation_tick(b.a, now += INT64_C(10000000000));
        assert_string_equal(buf_text(&b.asked), "target 1, 0 local:; "); /* none, and the first for waiting tasks */
        allocation_reset(NULL);
        bench_end(&b);
}

/* Ids come from the cluster manager. Logs must not show the scheduler's indexes instead. */
static void log_shows_executor_ids(void **state)
{
        struct driver_bench b;
        bench_start(&b, false);
        log_set_level(LOG_INFO);
        int was = api_listen();
        add_executor(&b, &(struct executor_ref){.id = "7", .host = "h1"});
        add_executor(&b, &(struct executor_ref){.id = "12", .host = "h1"});
        allocation_tick(b.a, INT64_MAX - 1);
        allocation_executor_removed(b.a, 1, "gone");
        char *heard = api_heard(was);
        log_set_level(LOG_OFF);
        static const char *const said[] = {
                "New executor 7 has registered (new total is 1)", "New executor 12 has registered (new total is 2)",
                "Executors 7,12 removed due to idle timeout.", "Executor 12 is removed. Remove reason statistics: "};
        for (size_t i = 0; i < ARRAY_SIZE(said); i++)
                if (!strstr(heard, said[i]))
                        fail_msg("\"%s\" is not in: %s", said[i], heard);
        free(heard);
        bench_end(&b);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(requests_carry_preferred_hosts),
                cmocka_unit_test(requests_have_no_hosts_without_preferences),
                cmocka_unit_test(reset_requests_the_initial_number),
                cmocka_unit_test(log_shows_executor_ids),
        };
        log_set_level(LOG_OFF);
        return cmocka_run_group_tests(tests, NULL, NULL);
}
