/* Tests the messages of Mesos's API: golden bytes of a call, and what events must hold. */
#include "mesos/protocol/mesos_messages.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "rpc/wire_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void a_call_has_mesos_field_numbers(void **state)
{
        Firesteel__Mesos__FrameworkID framework = FIRESTEEL__MESOS__FRAMEWORK_ID__INIT;
        Firesteel__Mesos__OfferID offer = FIRESTEEL__MESOS__OFFER_ID__INIT;
        Firesteel__Mesos__Filters filters = FIRESTEEL__MESOS__FILTERS__INIT;
        Firesteel__Mesos__SchedulerCall__Decline decline = FIRESTEEL__MESOS__SCHEDULER_CALL__DECLINE__INIT;
        mesos_scheduler_call call = FIRESTEEL__MESOS__SCHEDULER_CALL__INIT;
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT;
        static const char expected[] = "\x0a\x03\x0a\x01"
                                       "F"
                                       "\x10\x04" /* type DECLINE */
                                       "\x2a\x10"
                                       "\x0a\x03\x0a\x01"
                                       "O"
                                       "\x12\x09\x09\x00\x00\x00\x00\x00\x00\x5e\x40"; /* 120.0 */

        framework.value = "F";
        offer.value = "O";
        filters.has_refuse_seconds = true;
        filters.refuse_seconds = 120;
        decline.n_offer_ids = 1;
        decline.offer_ids = &(Firesteel__Mesos__OfferID *){&offer};
        decline.filters = &filters;
        call.framework_id = &framework;
        call.has_type = true;
        call.type = FIRESTEEL__MESOS__SCHEDULER_CALL__TYPE__DECLINE;
        call.decline = &decline;
        buf_puts(&bytes, "x");
        mesos_message_write(&call.base, &bytes);
        assert_int_equal(bytes.len, sizeof(expected));
        assert_memory_equal(bytes.data + 1, expected, sizeof(expected) - 1);
}

/* Reads @bytes as an event of a scheduler. Returns its type, or a negative status. */
static int event_type(const char *bytes, size_t len, struct fst_error *error)
{
        struct wire_memory memory = wire_memory_for(len);
        const mesos_scheduler_event *event;
        int r = mesos_scheduler_event_read(&memory, (const uint8_t *)bytes, len, &event, error);

        if (r == 0)
                r = (int)event->type;
        arena_deinit(&memory.arena);
        return r;
}

static void events_hold_what_their_type_promises(void **state)
{
        static const struct {
                const char *bytes;
                size_t len;
                int type;
                const char *message;
        } cases[] = {
                {"\x08\x08", 2, FIRESTEEL__MESOS__SCHEDULER_EVENT__TYPE__HEARTBEAT, NULL},
                {"\x08\x01\x12\x05\x0a\x03\x0a\x01"
                 "F",
                 9, FIRESTEEL__MESOS__SCHEDULER_EVENT__TYPE__SUBSCRIBED, NULL},
                {"\x08\x09", 2, FIRESTEEL__MESOS__SCHEDULER_EVENT__TYPE__UNKNOWN, NULL}, /* INVERSE_OFFERS */
                {"", 0, FIRESTEEL__MESOS__SCHEDULER_EVENT__TYPE__UNKNOWN, NULL},
                {"\x08\x01", 2, -EPROTO, "type SUBSCRIBED lacks its content"},
                {"\x08\x02", 2, -EPROTO, "type OFFERS lacks its content"},
                {"\x08\x01\x12\x00", 4, -EPROTO, "not a message of Mesos's API"}, /* without framework_id */
                {"\x08", 1, -EPROTO, "an event of 1 bytes"},
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct fst_error error = FST_ERROR_INIT;
                assert_int_equal(event_type(cases[i].bytes, cases[i].len, &error), cases[i].type);
                if (cases[i].message)
                        assert_non_null(strstr(error_message(&error), cases[i].message));
                error_deinit(&error);
        }
}

static void unknown_fields_of_a_resource_go_back(void **state)
{
        /* name "disk", type SCALAR, scalar 1.0, and the field 7 (disk), which mesos.proto does not have */
        static const char bytes[] = "\x0a\x04"
                                    "disk"
                                    "\x10\x00\x1a\x09\x09\x00\x00\x00\x00\x00\x00\xf0\x3f\x3a\x02\x0a\x00";
        struct wire_memory memory = wire_memory_for(sizeof(bytes));
        ProtobufCAllocator allocator = wire_memory_allocator(&memory);
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        Firesteel__Mesos__Resource *resource =
                firesteel__mesos__resource__unpack(&allocator, sizeof(bytes) - 1, (const uint8_t *)bytes);

        assert_non_null(resource);
        Firesteel__Mesos__Resource copy = *resource;
        mesos_message_write(&copy.base, &out);
        assert_int_equal(out.len, sizeof(bytes) - 1);
        assert_memory_equal(out.data, bytes, out.len);
        arena_deinit(&memory.arena);
}

static void reasons_have_mesos_names(void **state)
{
        assert_string_equal(mesos_reason_name(FIRESTEEL__MESOS__TASK_STATUS__REASON__REASON_INVALID_OFFERS),
                            "REASON_INVALID_OFFERS");
        assert_string_equal(mesos_reason_name((Firesteel__Mesos__TaskStatus__Reason)99), "unknown");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_call_has_mesos_field_numbers),
                cmocka_unit_test(events_hold_what_their_type_promises),
                cmocka_unit_test(unknown_fields_of_a_resource_go_back),
                cmocka_unit_test(reasons_have_mesos_names),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
