/* Drivers of a Mesos dispatcher: the queue, offers, kills, retries, recovery; the cases of Spark's
 * MesosClusterSchedulerSuite that concern decisions.
 */
#include "mesos/dispatcher/dispatcher_core.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <time.h>
#include <cmocka.h>

#define S NS_PER_SECOND

static const struct dispatcher_queue queues[] = {{"urgent", 2.5f}, {"routine", 1}, {"late", -1}};

static struct {
        struct dispatcher_config config;
        struct dispatcher d;
        struct buf seen; /* the actions since the last check */
} t;

static void take_actions(void)
{
        for (const struct dispatcher_action *a; (a = dispatcher_next_action(&t.d));) {
                switch (a->kind) {
                case DISPATCHER_STORE:
                        buf_printf(&t.seen, "store %s %s\n", a->driver->name,
                                   mesos_driver_state_name(a->driver->state));
                        break;
                case DISPATCHER_REMOVE:
                        buf_printf(&t.seen, "remove\n");
                        break;
                case DISPATCHER_STORE_FRAMEWORK:
                        buf_printf(&t.seen, "framework %s\n", a->id);
                        break;
                case DISPATCHER_ACCEPT:
                        buf_printf(&t.seen, "accept %s:", a->accept.offer->id);
                        for (size_t i = 0; i < a->accept.n_launches; i++) {
                                const struct dispatcher_launch *l = &a->accept.launches[i];
                                buf_printf(&t.seen, " %s", l->driver->name);
                                for (size_t r = 0; r < l->n_resources; r++)
                                        buf_printf(&t.seen, " %s(%s)=%g", l->resources[r].name, l->resources[r].role,
                                                   mesos_amount(l->resources[r].milli));
                        }
                        buf_puts(&t.seen, "\n");
                        break;
                case DISPATCHER_DECLINE:
                        buf_puts(&t.seen, "decline");
                        for (size_t i = 0; i < a->decline.n_offers; i++)
                                buf_printf(&t.seen, " %s", a->decline.offers[i]->id);
                        buf_printf(&t.seen, " %lld\n", (long long)a->decline.refuse_ms);
                        break;
                case DISPATCHER_KILL:
                        buf_printf(&t.seen, "kill %s\n", a->driver->name);
                        break;
                case DISPATCHER_RECONCILE:
                        buf_puts(&t.seen, "reconcile");
                        for (size_t i = 0; i < a->reconcile.n_drivers; i++)
                                buf_printf(&t.seen, " %s@%s", a->reconcile.drivers[i]->name,
                                           a->reconcile.drivers[i]->agent);
                        buf_puts(&t.seen, "\n");
                        break;
                case DISPATCHER_REVIVE:
                        buf_puts(&t.seen, "revive\n");
                        break;
                case DISPATCHER_LOG:
                        break;
                }
        }
}

static void expect(const char *actions)
{
        take_actions();
        assert_string_equal(buf_text(&t.seen), actions);
        buf_reset(&t.seen);
}

static int begin(void **state)
{
        memset(&t, 0, sizeof(t));
        t.config = (struct dispatcher_config){.max_drivers = 200,
                                              .retained_drivers = 200,
                                              .max_retry_wait = 60 * S,
                                              .refuse_ms = 120000,
                                              .queues = queues,
                                              .n_queues = ARRAY_SIZE(queues)};
        dispatcher_init(&t.d, &t.config);
        return 0;
}

static int begin_subscribed(void **state)
{
        begin(state);
        dispatcher_subscribed(&t.d, "fw", 0);
        expect("framework fw\n");
        return 0;
}

static int end(void **state)
{
        dispatcher_deinit(&t.d);
        buf_deinit(&t.seen);
        return 0;
}

/* Submits a driver with one core and 1024 MiB. Returns its id, which the caller owns. */
static char *submit(const char *name, const char *queue, bool supervise, int64_t now)
{
        struct mesos_driver_spec spec = {.name = name,
                                         .main_class = "Main",
                                         .queue = queue,
                                         .cpus_milli = 1000,
                                         .memory = 1024,
                                         .supervise = supervise};
        struct dispatcher_reply reply = dispatcher_submit(&t.d, &spec, now);
        assert_true(reply.success);
        char *id = mem_strdup(reply.driver_id);
        take_actions();
        return id;
}

static void submit_constrained(const char *name, const char *constraints)
{
        struct mesos_driver_spec spec = {.name = name, .cpus_milli = 1000, .memory = 1024};
        assert_int_equal(mesos_constraints_parse(&spec.constraints, constraints, NULL), 0);
        assert_true(dispatcher_submit(&t.d, &spec, 0).success);
        take_actions();
}

static void offer(const char *id, int cpus, int mem, int64_t now)
{
        const struct mesos_resource resources[] = {{.name = "cpus", .role = "*", .milli = cpus * 1000},
                                                   {.name = "mem", .role = "*", .milli = mem * 1000}};
        const struct mesos_offer o = {
                .id = id, .agent = "a1", .hostname = "h1", .resources = resources, .n_resources = 2};
        dispatcher_received(&t.d, &o, 1, now);
        take_actions();
}

static void update(const char *task_id, mesos_task_state state, int64_t now)
{
        dispatcher_updated(
                &t.d, &(struct dispatcher_update){.task_id = task_id, .state = state, .status = "x", .status_size = 1},
                now);
        take_actions();
}

static const char *state_of(const char *id)
{
        const struct mesos_driver *driver = dispatcher_driver(&t.d, id);
        return driver ? mesos_driver_state_name(driver->state) : "NOT_FOUND";
}

static void submission_before_subscription_is_refused(void **state)
{
        struct mesos_driver_spec spec = {.name = "a"};
        struct dispatcher_reply reply = dispatcher_submit(&t.d, &spec, 0);
        assert_false(reply.success);
        assert_string_equal(reply.message, "Scheduler is not ready to take requests");
        assert_string_equal(dispatcher_kill(&t.d, "x", 0).message, "Scheduler is not ready to take requests");
}

static void queue_is_launched_in_order(void **state)
{
        _cleanup_free_ char *a = submit("a", NULL, false, 0), *b = submit("b", NULL, false, 0),
                            *c = submit("c", NULL, false, 0);
        expect("store a QUEUED\nrevive\nstore b QUEUED\nrevive\nstore c QUEUED\nrevive\n");
        assert_string_equal(strrchr(a, '-'), "-0001");
        assert_string_equal(strrchr(c, '-'), "-0003");
        offer("o1", 2, 4096, 1);
        expect("store a RUNNING\nstore b RUNNING\n"
               "accept o1: a cpus(*)=1 mem(*)=1024 b cpus(*)=1 mem(*)=1024\n");
        assert_string_equal(state_of(b), "RUNNING");
        assert_string_equal(state_of(c), "QUEUED");
        assert_string_equal(dispatcher_driver(&t.d, a)->task_id, a);
        offer("o2", 4, 1023, 1);
        expect("decline o2 120000\n");
        update(a, MESOS_TASK_RUNNING, 2);
        expect("");
        update(a, MESOS_TASK_FINISHED, 3);
        expect("remove\n");
        assert_string_equal(state_of(a), "FINISHED");
        assert_int_equal(dispatcher_driver(&t.d, a)->task_state, MESOS_TASK_FINISHED);
}

static void higher_priority_goes_first(void **state)
{
        _cleanup_free_ char *a = submit("a", "late", false, 0), *b = submit("b", NULL, false, 0),
                            *c = submit("c", "urgent", false, 0), *e = submit("e", "routine", false, 0),
                            *f = submit("f", "urgent", false, 0);
        take_actions();
        buf_reset(&t.seen);
        offer("o", 5, 8192, 1);
        expect("store c RUNNING\nstore f RUNNING\nstore e RUNNING\nstore b RUNNING\nstore a RUNNING\n"
               "accept o: c cpus(*)=1 mem(*)=1024 f cpus(*)=1 mem(*)=1024 e cpus(*)=1 mem(*)=1024 "
               "b cpus(*)=1 mem(*)=1024 a cpus(*)=1 mem(*)=1024\n");
        assert_true(dispatcher_has_queue(&t.config, "default"));
        assert_true(dispatcher_has_queue(&t.config, "urgent"));
        assert_false(dispatcher_has_queue(&t.config, "Urgent"));
}

static void resources_of_several_roles_are_used(void **state)
{
        const struct mesos_resource resources[] = {{.name = "cpus", .role = "*", .milli = 500},
                                                   {.name = "mem", .role = "*", .milli = 600000},
                                                   {.name = "cpus", .role = "dev", .milli = 1000},
                                                   {.name = "mem", .role = "dev", .milli = 900000}};
        const struct mesos_offer o = {
                .id = "o", .agent = "a", .hostname = "h", .resources = resources, .n_resources = 4};
        _cleanup_free_ char *a = submit("a", NULL, false, 0);
        dispatcher_received(&t.d, &o, 1, 1);
        expect("store a QUEUED\nrevive\nstore a RUNNING\n"
               "accept o: a cpus(*)=0.5 cpus(dev)=0.5 mem(*)=600 mem(dev)=424\n");
}

static void constraints_select_agents(void **state)
{
        const struct mesos_resource resources[] = {{.name = "cpus", .role = "*", .milli = 4000},
                                                   {.name = "mem", .role = "*", .milli = 4096000}};
        const struct mesos_attribute c2 = {.name = "c2", .type = MESOS_VALUE_TEXT, .text = "a"},
                                     c3 = {.name = "c2", .type = MESOS_VALUE_TEXT, .text = "b"};
        const struct mesos_offer offers[] = {
                {.id = "o1",
                 .agent = "a",
                 .hostname = "h",
                 .resources = resources,
                 .n_resources = 2,
                 .attributes = &c3,
                 .n_attributes = 1},
                {.id = "o2",
                 .agent = "b",
                 .hostname = "i",
                 .resources = resources,
                 .n_resources = 2,
                 .attributes = &c2,
                 .n_attributes = 1},
        };
        submit_constrained("a", "c2:a");
        dispatcher_received(&t.d, offers, 1, 1);
        expect("store a QUEUED\nrevive\ndecline o1 120000\n");
        dispatcher_received(&t.d, offers, 2, 1);
        expect("store a RUNNING\naccept o2: a cpus(*)=1 mem(*)=1024\ndecline o1 120000\n");
}

static void launched_drivers_are_limited(void **state)
{
        t.config.max_drivers = 1;
        _cleanup_free_ char *a = submit("a", NULL, false, 0),
                            *b = submit("b", NULL, false, 0); /* queued ones are not */
        offer("o", 1, 2048, 1);
        struct mesos_driver_spec spec = {.name = "c"};
        struct dispatcher_reply reply = dispatcher_submit(&t.d, &spec, 2);
        assert_false(reply.success);
        assert_null(reply.driver_id);
        assert_string_equal(reply.message, "Already reached maximum submission size");
        take_actions();
        update(a, MESOS_TASK_FINISHED, 3);
        reply = dispatcher_submit(&t.d, &spec, 4);
        assert_true(reply.success);
        assert_string_equal(state_of(b), "QUEUED");
}

static void kill_removes_or_ends_driver(void **state)
{
        _cleanup_free_ char *a = submit("a", NULL, false, 0), *b = submit("b", NULL, true, 0),
                            *c = submit("c", NULL, false, 0);
        offer("o", 2, 4096, 1);
        take_actions();
        buf_reset(&t.seen);
        struct dispatcher_reply reply = dispatcher_kill(&t.d, c, 2);
        assert_true(reply.success);
        assert_string_equal(reply.message, "Removed driver while it's still pending");
        assert_string_equal(state_of(c), "NOT_FOUND");
        expect("remove\n");
        assert_string_equal(dispatcher_kill(&t.d, a, 2).message, "Killing running driver");
        expect("store a RUNNING\nkill a\n");
        update(a, MESOS_TASK_KILLED, 3);
        expect("remove\n");
        reply = dispatcher_kill(&t.d, a, 3);
        assert_false(reply.success);
        assert_string_equal(reply.message, "Driver already terminated");
        update(b, MESOS_TASK_FAILED, 4);
        expect("store b RETRYING\nrevive\n");
        assert_string_equal(dispatcher_kill(&t.d, b, 5).message, "Removed driver while it's being retried");
        expect("remove\n");
        reply = dispatcher_kill(&t.d, "driver-x", 5);
        assert_false(reply.success);
        assert_string_equal(reply.message, "Cannot find driver");
}

static void killed_supervised_driver_stays_killed(void **state)
{
        static const mesos_task_state ends[] = {MESOS_TASK_KILLED, MESOS_TASK_LOST, MESOS_TASK_FAILED};
        for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
                CASE_LABEL("%s", mesos_state_name(ends[i]));
                _cleanup_free_ char *a = submit("a", NULL, true, 0);
                offer("o", 1, 2048, 1);
                dispatcher_kill(&t.d, a, 2);
                take_actions();
                buf_reset(&t.seen);
                dispatcher_subscribed(&t.d, "fw", 2); /* the kill may have been lost with the connection */
                expect("kill a\n");
                update(a, ends[i], 3);
                expect("remove\n");
                assert_string_equal(state_of(a), "FINISHED");
                assert_int_equal(dispatcher_deadline(&t.d), INT64_MAX);
        }
}

static void supervised_driver_is_retried_with_back_off(void **state)
{
        static const int waits[] = {1, 2, 4, 8, 10, 10};
        t.config.max_retry_wait = 10 * S;
        int64_t now = 5;
        _cleanup_free_ char *a = submit("a", NULL, true, 0);
        offer("o", 1, 1024, now);
        for (int i = 0; i < (int)ARRAY_SIZE(waits); i++) {
                CASE_LABEL("retry %d", i + 1);
                _cleanup_free_ char *task = mem_strdup(dispatcher_driver(&t.d, a)->task_id);
                take_actions();
                buf_reset(&t.seen);
                update(task, i % 2 ? MESOS_TASK_LOST : MESOS_TASK_FAILED, now);
                expect("store a RETRYING\nrevive\n");
                assert_int_equal(dispatcher_deadline(&t.d), now + waits[i] * S);
                offer("early", 1, 1024, now + waits[i] * S - 1);
                expect("decline early 120000\n");
                now += waits[i] * S;
                dispatcher_tick(&t.d, now);
                expect("revive\n");
                assert_int_equal(dispatcher_deadline(&t.d), INT64_MAX);
                offer("o", 1, 1024, now);
                expect("store a RUNNING\naccept o: a cpus(*)=1 mem(*)=1024\n");
                _cleanup_free_ char *expected = mem_printf("%s-retry-%d", a, i + 1);
                assert_string_equal(dispatcher_driver(&t.d, a)->task_id, expected);
                update(task, MESOS_TASK_FAILED, now); /* of the task before */
                expect("");
                assert_string_equal(state_of(a), "RUNNING");
        }
}

static void only_failed_and_lost_drivers_are_retried(void **state)
{
        static const struct {
                mesos_task_state state;
                const char *result;
        } cases[] = {{MESOS_TASK_ERROR, "FINISHED"},    {MESOS_TASK_KILLED, "FINISHED"},
                     {MESOS_TASK_FINISHED, "FINISHED"}, {MESOS_TASK_FAILED, "RETRYING"},
                     {MESOS_TASK_LOST, "RETRYING"},     {MESOS_TASK_KILLING, "RUNNING"},
                     {MESOS_TASK_STARTING, "RUNNING"}};
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%s", mesos_state_name(cases[i].state));
                _cleanup_free_ char *a = submit("a", NULL, true, 0);
                offer("o", 1, 1024, 1);
                update(a, cases[i].state, 2);
                assert_string_equal(state_of(a), cases[i].result);
                dispatcher_kill(&t.d, a, 3);
                take_actions();
                update(a, MESOS_TASK_KILLED, 4);
                take_actions();
        }
}

static void invalid_offer_returns_driver_to_its_place(void **state)
{
        _cleanup_free_ char *a = submit("a", NULL, false, 0);
        offer("o", 1, 1024, 1);
        _cleanup_free_ char *b = submit("b", NULL, false, 2);
        take_actions();
        buf_reset(&t.seen);
        dispatcher_updated(
                &t.d, &(struct dispatcher_update){.task_id = a, .state = MESOS_TASK_LOST, .invalid_offer = true}, 3);
        expect("store a QUEUED\nrevive\n");
        offer("o", 1, 1024, 4);
        expect("store a RUNNING\naccept o: a cpus(*)=1 mem(*)=1024\n");
        assert_string_equal(dispatcher_driver(&t.d, a)->task_id, a);
}

static void finished_drivers_are_retained_up_to_limit(void **state)
{
        t.config.retained_drivers = 20;
        char *first = NULL, *last = NULL;
        for (int i = 0; i < 21; i++) {
                char *id = submit("a", NULL, false, 0);
                offer("o", 1, 1024, 1);
                update(id, MESOS_TASK_FINISHED, 1);
                take_actions();
                free(last);
                last = id;
                if (!first)
                        first = mem_strdup(id);
        }
        assert_int_equal(t.d.n_finished, 19); /* two of 20 went */
        assert_string_equal(state_of(first), "NOT_FOUND");
        assert_string_equal(state_of(last), "FINISHED");
        free(first);
        free(last);
}

static void recovered_drivers_go_on(void **state)
{
        const struct mesos_driver_record records[] = {
                {.id = "driver-1", .spec = {.name = "q", .cpus_milli = 1000, .memory = 1024}, .submitted = 7},
                {.id = "driver-2",
                 .spec = {.name = "l", .cpus_milli = 1000, .memory = 1024, .supervise = true},
                 .state = MESOS_DRIVER_LAUNCHED,
                 .task_id = "driver-2-retry-3",
                 .agent = "a9",
                 .hostname = "h9",
                 .retries = 3,
                 .retry_wait = 4 * S},
                {.id = "driver-3",
                 .spec = {.name = "r", .cpus_milli = 1000, .memory = 1024, .supervise = true},
                 .state = MESOS_DRIVER_RETRYING,
                 .retries = 1,
                 .retry_wait = INT64_MAX, /* from a damaged record */
                 .next_retry_ms = 1500},
        };
        dispatcher_recover_framework(&t.d, "fw");
        for (size_t i = 0; i < ARRAY_SIZE(records); i++)
                dispatcher_recover(&t.d, &records[i], S);
        dispatcher_recover(&t.d, &records[0], S); /* the second one is ignored */
        assert_int_equal(t.d.n_queued, 1);
        assert_int_equal(t.d.retrying.first->retry_wait, t.config.max_retry_wait);
        assert_int_equal(dispatcher_deadline(&t.d), S + S / 2);
        dispatcher_subscribed(&t.d, "fw", S);
        expect("reconcile l@a9\nrevive\n");
        dispatcher_updated(&t.d,
                           &(struct dispatcher_update){
                                   .task_id = "driver-2-retry-3", .state = MESOS_TASK_RUNNING, .reconciliation = true},
                           S);
        /* an answer to an earlier question */
        dispatcher_updated(&t.d,
                           &(struct dispatcher_update){
                                   .task_id = "driver-2-retry-3", .state = MESOS_TASK_LOST, .reconciliation = true},
                           S);
        assert_string_equal(state_of("driver-2"), "RUNNING");
        update("driver-2-retry-3", MESOS_TASK_FAILED, S);
        expect("store l RETRYING\nrevive\n");
        assert_int_equal(dispatcher_driver(&t.d, "driver-2")->retry_wait, 8 * S);
        offer("o", 2, 4096, 2 * S);
        expect("store r RUNNING\nstore q RUNNING\naccept o: r cpus(*)=1 mem(*)=1024 q cpus(*)=1 mem(*)=1024\n");

        struct mesos_driver_record record;
        mesos_driver_to_record(&t.d, dispatcher_driver(&t.d, "driver-2"), &record);
        assert_int_equal(record.next_retry_ms, 9000);
        assert_int_equal(record.retries, 4);
        assert_int_equal(record.state, MESOS_DRIVER_RETRYING);
}

static void removed_framework_loses_its_drivers(void **state)
{
        _cleanup_free_ char *a = submit("a", NULL, false, 0), *b = submit("b", NULL, true, 0);
        offer("o", 2, 4096, 1);
        take_actions();
        buf_reset(&t.seen);
        dispatcher_framework_removed(&t.d, 2);
        expect("remove\nstore b RETRYING\nrevive\n");
        assert_null(t.d.framework_id);
        dispatcher_subscribed(&t.d, "fw-2", 3);
        expect("framework fw-2\nrevive\n");
}

static void many_drivers_are_placed_fast(void **state)
{
        enum { N = 10000 };
        for (int i = 0; i < N; i++) {
                struct mesos_driver_spec spec = {.name = "a", .cpus_milli = 1000, .memory = 1024};
                assert_true(dispatcher_submit(&t.d, &spec, 0).success);
                take_actions();
        }
        buf_reset(&t.seen);
        static struct mesos_offer offers[N];
        static const struct mesos_resource resources[] = {{.name = "cpus", .role = "*", .milli = 500},
                                                          {.name = "mem", .role = "*", .milli = 4096000}};
        for (int i = 0; i < N; i++)
                offers[i] = (struct mesos_offer){
                        .id = "o", .agent = "a", .hostname = "h", .resources = resources, .n_resources = 2};
        const clock_t start = clock();
        dispatcher_received(&t.d, offers, N, 1);
        assert_true(clock() - start < CLOCKS_PER_SEC); /* 10,000 drivers for each of 10,000 offers would take longer */
        assert_int_equal(t.d.n_queued, N);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_subscribed, end)

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(submission_before_subscription_is_refused, begin, end),
                TEST(queue_is_launched_in_order),
                TEST(higher_priority_goes_first),
                TEST(resources_of_several_roles_are_used),
                TEST(constraints_select_agents),
                TEST(launched_drivers_are_limited),
                TEST(kill_removes_or_ends_driver),
                TEST(killed_supervised_driver_stays_killed),
                TEST(supervised_driver_is_retried_with_back_off),
                TEST(only_failed_and_lost_drivers_are_retried),
                TEST(invalid_offer_returns_driver_to_its_place),
                TEST(finished_drivers_are_retained_up_to_limit),
                cmocka_unit_test_setup_teardown(recovered_drivers_go_on, begin, end),
                TEST(removed_framework_loses_its_drivers),
                TEST(many_drivers_are_placed_fast),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
