/* Records of a dispatcher, and the text of a task's update. */
#include "mesos/dispatcher/dispatcher_record.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "mesos/dispatcher/driver_description.h"
#include "mesos/dispatcher/status_text.h"
#include "mesos/protocol/mesos_messages.h"
#include "rest/rest_request.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <time.h>
#include <cmocka.h>

static const struct dispatcher_config config = {
        .max_drivers = 10, .retained_drivers = 10, .max_retry_wait = 60 * NS_PER_SECOND};

static void take_actions(struct dispatcher *d)
{
        while (dispatcher_next_action(d))
                ;
}

/* Submits a supervised driver of /a.jar. Returns its id, which the caller owns. */
static char *submit(struct dispatcher *d, const char *name)
{
        struct rest_request request = REST_REQUEST_INIT;
        struct mesos_driver_spec spec;
        request.app_resource = mem_strdup("/a.jar");
        request.main_class = mem_strdup("Main");
        strmap_set(&request.properties, "spark.app.name", name);
        strmap_set(&request.properties, "spark.driver.supervise", "true");
        strmap_set(&request.properties, "spark.mesos.driver.constraints", "rack:1");
        assert_int_equal(driver_description_spec(&request, &config, &spec, NULL), 0);
        _cleanup_free_ void *body = driver_description_pack(&request, &spec.body_size);
        spec.body = body;
        char *id = mem_strdup(dispatcher_submit(d, &spec, NS_PER_SECOND).driver_id);
        take_actions(d);
        rest_request_deinit(&request);
        return id;
}

static void offer(struct dispatcher *d)
{
        static const struct mesos_resource resources[] = {{.name = "cpus", .role = "*", .milli = 1000},
                                                          {.name = "mem", .role = "*", .milli = 4096000}};
        static const struct mesos_attribute rack = {.name = "rack", .type = MESOS_VALUE_TEXT, .text = "1"};
        static const struct mesos_offer o = {.id = "o",
                                             .agent = "a1",
                                             .hostname = "h1",
                                             .resources = resources,
                                             .n_resources = 2,
                                             .attributes = &rack,
                                             .n_attributes = 1};
        dispatcher_received(d, &o, 1, 2 * NS_PER_SECOND);
        take_actions(d);
}

static void drivers_survive_their_dispatcher(void **state)
{
        struct dispatcher first, next;
        dispatcher_init(&first, &config);
        dispatcher_subscribed(&first, "fw", 0);
        take_actions(&first);
        _cleanup_free_ char *a = submit(&first, "a"), *b = NULL, *c = NULL;
        offer(&first);
        dispatcher_updated(
                &first,
                &(struct dispatcher_update){.task_id = a, .state = MESOS_TASK_FAILED, .status = "s", .status_size = 1},
                3 * NS_PER_SECOND);
        take_actions(&first);
        b = submit(&first, "b");
        offer(&first);
        c = submit(&first, "c");
        struct persistence_record records[6] = {{.kind = MASTER_RECORD_DRIVER, .id = "bad", .data = "\xff", .size = 1},
                                                {.kind = MASTER_RECORD_WORKER, .id = "w", .data = "", .size = 0}};
        const char *const ids[] = {c, b, a};
        for (size_t i = 0; i < 3; i++) {
                struct persistence_record *r = &records[2 + i];
                r->kind = MASTER_RECORD_DRIVER;
                r->id = ids[i];
                r->data = dispatcher_record_pack(&first, dispatcher_driver(&first, ids[i]), &r->size);
        }
        records[5] = (struct persistence_record){MASTER_RECORD_FRAMEWORK, DISPATCHER_FRAMEWORK_RECORD, "fw", 2};

        dispatcher_init(&next, &config);
        assert_int_equal(dispatcher_records_read(&next, records, 6, 3 * NS_PER_SECOND), 2);
        assert_string_equal(next.framework_id, "fw");
        const struct mesos_driver *driver = dispatcher_driver(&next, a);
        assert_int_equal(driver->state, MESOS_DRIVER_RETRYING);
        assert_int_equal(driver->next_retry, 4 * NS_PER_SECOND);
        assert_int_equal(driver->task_state, MESOS_TASK_FAILED);
        assert_int_equal(driver->constraints.len, 1);
        driver = dispatcher_driver(&next, b);
        assert_int_equal(driver->state, MESOS_DRIVER_LAUNCHED);
        assert_string_equal(driver->task_id, b);
        assert_string_equal(driver->agent, "a1");
        assert_string_equal(driver->hostname, "h1");
        assert_true(driver->reconciling && driver->supervise);
        driver = dispatcher_driver(&next, c);
        assert_int_equal(driver->state, MESOS_DRIVER_QUEUED);
        assert_string_equal(driver->name, "c");
        assert_int_equal(driver->memory, dispatcher_driver(&first, c)->memory);
        for (size_t i = 2; i < 5; i++)
                free((void *)records[i].data);
        dispatcher_deinit(&first);
        dispatcher_deinit(&next);
}

static void ten_thousand_drivers_are_recovered_fast(void **state)
{
        enum { N = 10000 };
        struct dispatcher first, next;
        struct persistence_record *records = new_array(struct persistence_record, N);
        dispatcher_init(&first, &config);
        dispatcher_subscribed(&first, "fw", 0);
        take_actions(&first);
        for (int i = 0; i < N; i++) {
                char *id = submit(&first, "a");
                records[i].kind = MASTER_RECORD_DRIVER;
                records[i].id = id;
                records[i].data = dispatcher_record_pack(&first, dispatcher_driver(&first, id), &records[i].size);
        }
        dispatcher_init(&next, &config);
        const clock_t start = clock();
        assert_int_equal(dispatcher_records_read(&next, records, N, 0), 0);
        assert_true(clock() - start < 2 * CLOCKS_PER_SEC);
        assert_int_equal(next.n_queued, N);
        for (int i = 0; i < N; i++) {
                free((void *)records[i].data);
                free((void *)records[i].id);
        }
        free(records);
        dispatcher_deinit(&first);
        dispatcher_deinit(&next);
}

static void update_is_shown_with_old_names(void **state)
{
        Firesteel__Mesos__TaskStatus status = FIRESTEEL__MESOS__TASK_STATUS__INIT;
        Firesteel__Mesos__TaskID task = FIRESTEEL__MESOS__TASK_ID__INIT;
        Firesteel__Mesos__AgentID agent = FIRESTEEL__MESOS__AGENT_ID__INIT;
        struct buf bytes = BUF_INIT;
        task.value = (char *)"driver-1";
        agent.value = (char *)"S0";
        status.task_id = &task;
        status.agent_id = &agent;
        status.state = FIRESTEEL__MESOS__TASK_STATE__TASK_LOST;
        status.message = (char *)"Agent \"h\" is\tgone";
        status.has_timestamp = true;
        status.timestamp = 1.5;
        status.has_source = status.has_reason = true;
        status.source = FIRESTEEL__MESOS__TASK_STATUS__SOURCE__SOURCE_AGENT;
        status.reason = FIRESTEEL__MESOS__TASK_STATUS__REASON__REASON_AGENT_REMOVED;
        status.has_uuid = true;
        status.uuid = (ProtobufCBinaryData){2, (uint8_t *)"\x01z"};
        mesos_message_write(&status.base, &bytes);
        _cleanup_free_ char *text = status_text_of(bytes.data, bytes.len);
        assert_string_equal(text, "task_id {\n  value: \"driver-1\"\n}\nstate: TASK_LOST\n"
                                  "message: \"Agent \\\"h\\\" is\\tgone\"\nslave_id {\n  value: \"S0\"\n}\n"
                                  "timestamp: 1.5\nsource: SOURCE_SLAVE\nreason: REASON_SLAVE_REMOVED\n"
                                  "uuid: \"\\001z\"\n");
        assert_null(status_text_of("\xff", 1));
        buf_deinit(&bytes);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(drivers_survive_their_dispatcher),
                cmocka_unit_test(ten_thousand_drivers_are_recovered_fast),
                cmocka_unit_test(update_is_shown_with_old_names),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
