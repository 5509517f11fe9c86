/* Frames, messages and questions: bytes that stood on the wire of Celeborn 0.6.3, limits, and what is invalid. */
#include "celeborn/protocol/celeborn.pb-c.h"
#include "celeborn/protocol/celeborn_auth.h"
#include "celeborn/protocol/celeborn_frame.h"
#include "celeborn/protocol/celeborn_message.h"
#include "celeborn/protocol/celeborn_wire.h"

#include "base/error.h"
#include "base/mem.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MAX_FRAME (1 << 20)

static void assert_bytes(const struct buf *got, const char *expected, size_t len)
{
        assert_int_equal(got->len, len);
        assert_memory_equal(got->data, expected, len);
}

static void push_has_the_bytes_of_a_genuine_client(void **state)
{
        static const char expected[] =
                "\x00\x00\x00\x20\x0b\x00\x00\x00\x29\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x0cwire-14465"
                "-0\x00\x00\x00\x03"
                "0-0\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x19\x00\x00\x00of an attempt that failed";
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        unsigned char header[CELEBORN_BATCH_HEADER];
        celeborn_put_push(&out, 1, "wire-14465-0", "0-0", 41);
        celeborn_batch_put(header, (struct celeborn_batch){.map = 1, .size = 25});
        buf_append(&out, header, sizeof(header));
        buf_puts(&out, "of an attempt that failed");
        assert_bytes(&out, expected, sizeof(expected) - 1);
        struct celeborn_batch batch = celeborn_batch_get((const unsigned char *)expected + 41);
        assert_int_equal(batch.map, 1);
        assert_int_equal(batch.size, 25);
}

static void merged_push_has_the_bytes_of_a_genuine_client(void **state)
{
        static const char expected[] =
                "\x00\x00\x00\x37\x0c\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x0cwire-15823"
                "-0\x00\x00\x00\x02\x00\x00\x00\x03"
                "2-0\x00\x00\x00\x03"
                "0-0\x00\x00\x00\x02\x00\x00\x00\x00\x00\x04\x00\x00";
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        const char *partitions[] = {"2-0", "0-0"};
        const uint32_t offsets[] = {0, 262144};
        celeborn_put_push_merged(&out, 4, "wire-15823-0", partitions, offsets, 2, 524288);
        assert_bytes(&out, expected, sizeof(expected) - 1);
}

static void open_stream_has_the_bytes_of_a_genuine_client(void **state)
{
        static const char expected[] =
                "\x00\x00\x00\x0c\x03\x00\x00\x00\x23\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x23\x00\x00\x00\x33"
                "\x00\x00\x00\x1b\x0a\x0cwire-14465-0\x12\x05"
                "0-0-0\x20\xff\xff\xff\xff\x07";
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        Celeborn__OpenStream open = CELEBORN__OPEN_STREAM__INIT;
        open.shuffle_key = (char *)"wire-14465-0";
        open.file_name = (char *)"0-0-0";
        open.end_index = INT32_MAX;
        celeborn_put_data_request(&out, 1, CELEBORN_OPEN_STREAM, &open.base);
        assert_bytes(&out, expected, sizeof(expected) - 1); /* without the default start that wire.py writes */
}

static void frames_are_parsed_when_they_are_complete(void **state)
{
        static const uint8_t data[] =
                "\x00\x00\x00\x0c\x04\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x00\x01"
                "\x16"
                "\x00\x00\x00\x01\x16\x00\x00\x00\x00\x00";
        struct celeborn_frame frame = {0};
        size_t size;
        int64_t id;
        for (size_t len = 0; len < 22; len++) {
                assert_int_equal(celeborn_frame_parse(data, len, MAX_FRAME, &frame, &size, NULL),
                                 FST_CELEBORN_E_PARTIAL);
                assert_int_equal(size, len < 9 ? 9 : 22);
        }
        assert_int_equal(celeborn_frame_parse(data, sizeof(data) - 1, MAX_FRAME, &frame, &size, NULL), 0);
        assert_int_equal(size, 22);
        assert_true(celeborn_frame_request_id(&frame, &id));
        assert_int_equal(id, 7);
        assert_int_equal(frame.body_len, 1);
        assert_int_equal(frame.body[0], CELEBORN_SOFT_SPLIT);
        assert_int_equal(celeborn_frame_parse(data + 22, sizeof(data) - 23, MAX_FRAME, &frame, &size, NULL), 0);
        assert_int_equal(frame.type, CELEBORN_HEARTBEAT);
        assert_false(celeborn_frame_request_id(&frame, &id));
}

static void refuse_frame(const char *bytes, size_t len, size_t max)
{
        struct celeborn_frame frame = {.type = 99};
        struct fst_error error = FST_ERROR_INIT;
        size_t size;
        assert_int_equal(celeborn_frame_parse((const uint8_t *)bytes, len, max, &frame, &size, &error), -EPROTO);
        assert_non_null(error.message);
        assert_int_equal(frame.type, 99);
        error_deinit(&error);
}

static void rejects_invalid_frames(void **state)
{
        refuse_frame("\xff\xff\xff\xff\x04\x00\x00\x00\x01", 9, MAX_FRAME);
        refuse_frame("\x00\x00\x00\x0c\x04\x80\x00\x00\x01", 9, MAX_FRAME);
        refuse_frame("\x00\x00\x00\x0c\x04\x00\x10\x00\x00", 9, MAX_FRAME);
        refuse_frame("HTTP/1.1 400 Bad Request\r\n", 26, MAX_FRAME);
}

static void failures_have_slice_and_text(void **state)
{
        static const uint8_t chunk[] =
                "\x00\x00\x00\x20\x02\x00\x00\x00\x00\x80\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x02"
                "\x00\x00\x00\x00\x7f\xff\xff\xff\x00\x00\x00\x08no chunk";
        struct celeborn_frame frame;
        struct celeborn_slice slice;
        const char *text;
        size_t size, len;
        assert_int_equal(celeborn_frame_parse(chunk, sizeof(chunk) - 1, MAX_FRAME, &frame, &size, NULL), 0);
        assert_true(celeborn_frame_slice(&frame, &slice));
        assert_true(slice.stream_id == INT64_MIN + 5);
        assert_int_equal(slice.chunk, 2);
        assert_true(celeborn_frame_failure(&frame, &text, &len));
        assert_int_equal(len, 8);
        assert_memory_equal(text, "no chunk", 8);
        frame.head_len -= 1; /* the text ends behind the head */
        assert_false(celeborn_frame_failure(&frame, &text, &len));
        assert_int_equal(celeborn_status_of_failure("PUSH_DATA_WRITE_FAIL_REPLICA: x", 31),
                         CELEBORN_PUSH_WRITE_FAIL_REPLICA);
        assert_int_equal(celeborn_status_of_failure("PUSH_DATA_WRITE_FAIL_REPLICAS", 29), CELEBORN_REQUEST_FAILED);
        assert_int_equal(celeborn_status_of_failure("HARD_SPL", 8), CELEBORN_REQUEST_FAILED);
        assert_string_equal(celeborn_status_name(CELEBORN_HARD_SPLIT), "HARD_SPLIT");
        assert_string_equal(celeborn_status_name(99), "status 99");
}

/* An answer as 0.6.3 writes it, which has a field more than the questions. */
static void put_answer_0_6(struct buf *out, int type, const char *body, size_t len)
{
        static const char begin[] =
                "\xac\xed\x00\x05sr\x00\x3corg.apache.celeborn.common.network.protocol.TransportMessage"
                "\xd2\xc5\xb3\xed\xf7\x07\x0f\x33\x02\x00\x03I\x00\x10messageTypeValue[\x00\x07payload"
                "t\x00\x02[BL\x00\x0cserdeVersiont\x00\x3a"
                "Lorg/apache/celeborn/common/network/protocol/SerdeVersion;xp";
        static const char bytes[] = "ur\x00\x02[B\xac\xf3\x17\xf8\x06\x08\x54\xe0\x02\x00\x00xp";
        static const char end[] =
                "~r\x00\x38org.apache.celeborn.common.network.protocol.SerdeVersion\x00\x00\x00\x00\x00"
                "\x00\x00\x00\x12\x00\x00xr\x00\x0ejava.lang.Enum\x00\x00\x00\x00\x00\x00\x00\x00\x12"
                "\x00\x00xpt\x00\x02V1";
        buf_append(out, begin, sizeof(begin) - 1);
        buf_put_be32(out, (uint32_t)type);
        if (body) {
                buf_append(out, bytes, sizeof(bytes) - 1);
                buf_put_be32(out, (uint32_t)len);
                buf_append(out, body, len);
        } else {
                buf_putc(out, 'p');
        }
        buf_append(out, end, sizeof(end) - 1);
}

static void messages_are_parsed_in_each_encoding(void **state)
{
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        struct celeborn_message m = {0};
        put_answer_0_6(&out, CELEBORN_UNREGISTER_SHUFFLE_RESPONSE, "\x08\x02", 2);
        assert_int_equal(celeborn_endpoint_message_parse((uint8_t *)out.data, out.len, &m, NULL), 0);
        assert_int_equal(m.type, CELEBORN_UNREGISTER_SHUFFLE_RESPONSE);
        assert_int_equal(m.len, 2);
        assert_memory_equal(m.body, "\x08\x02", 2);
        int complete = 0;
        for (size_t len = 0; len < out.len; len++)
                if (celeborn_endpoint_message_parse((uint8_t *)out.data, len, &m, NULL) == 0)
                        complete += m.len == 2 ? 1 : 1000;
        assert_true(complete > 0 && complete < 180); /* the rest is behind the protobuf */

        buf_reset(&out);
        put_answer_0_6(&out, CELEBORN_ONE_WAY_RESPONSE, NULL, 0);
        assert_int_equal(celeborn_endpoint_message_parse((uint8_t *)out.data, out.len, &m, NULL), 0);
        assert_int_equal(m.type, CELEBORN_ONE_WAY_RESPONSE);
        assert_int_equal(m.len, 0);

        /* what this client writes, behind its envelope */
        buf_reset(&out);
        celeborn_put_endpoint_message(&out, "127.0.0.1", 9097, "MasterEndpoint", CELEBORN_REQUEST_SLOTS,
                                      (const uint8_t *)"\x0a\x01x", 3);
        assert_memory_equal(out.data,
                            "\x00\x01\x00\x09"
                            "127.0.0.1\x00\x00\x23\x89\x00\x0eMasterEndpoint\xac\xed",
                            35);
        assert_int_equal(celeborn_endpoint_message_parse((uint8_t *)out.data + 33, out.len - 33, &m, NULL), 0);
        assert_int_equal(m.type, CELEBORN_REQUEST_SLOTS);
        assert_int_equal(m.len, 3);

        static const uint8_t v2[] = "\xff\x00\x00\x00\x31\x00\x00\x00\x02\x08\x00";
        assert_int_equal(celeborn_endpoint_message_parse(v2, sizeof(v2) - 1, &m, NULL), 0);
        assert_int_equal(m.type, CELEBORN_HEARTBEAT_RESPONSE);
        assert_int_equal(celeborn_data_message_parse(v2 + 1, sizeof(v2) - 2, &m, NULL), 0);
        assert_int_equal(m.len, 2);
        assert_int_equal(celeborn_data_message_parse(v2 + 1, sizeof(v2) - 3, &m, NULL), -EPROTO);
        assert_int_equal(celeborn_endpoint_message_parse((const uint8_t *)"{}", 2, &m, NULL), -EPROTO);
}

static void endpoint_request_is_a_frame_of_its_length(void **state)
{
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        struct celeborn_frame frame;
        size_t size;
        celeborn_put_endpoint_request(&out, 3, "h", 1, "WorkerEndpoint", CELEBORN_COMMIT_FILES, (const uint8_t *)"x",
                                      1);
        assert_int_equal(celeborn_frame_parse((uint8_t *)out.data, out.len, MAX_FRAME, &frame, &size, NULL), 0);
        assert_int_equal(size, out.len);
}

static void exception_names_the_leader(void **state)
{
        static const char bytes[] =
                "\xac\xed\x00\x05sr\x00\x46org.apache.celeborn.common.client.MasterNotLeaderException\x01\x02\x03xp"
                "t\x00\x60Master:(10.0.0.1:9097,h1:9097) is not the leader. Suggested leader is "
                "Master:(10.0.0.2:9098,h2:9098) ((10.0.0.2:8097,h2:8097)).";
        struct celeborn_message m;
        struct fst_error error = FST_ERROR_INIT;
        char *host = NULL;
        int port = 0;
        assert_int_equal(celeborn_endpoint_message_parse((const uint8_t *)bytes, sizeof(bytes) - 1, &m, &error),
                         FST_CELEBORN_E_EXCEPTION);
        assert_true(celeborn_leader_of_exception(error_message(&error), &host, &port));
        assert_string_equal(host, "10.0.0.2");
        assert_int_equal(port, 9098);
        free(host);
        error_deinit(&error);
        assert_false(celeborn_leader_of_exception("Suggested leader is Master:h:0", &host, &port));
        assert_false(celeborn_leader_of_exception("leader is not present", &host, &port));
}

static void push_answers_name_splits(void **state)
{
        static const uint8_t split[] = "\x15\x00\x00\x00\x5b\x00\x00\x00\x06\x0a\x01\x01\x12\x01\x15";
        struct celeborn_push_answer answer = {0};
        struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(celeborn_push_answer_parse(NULL, 0, 1, &answer, NULL), 0);
        assert_int_equal(answer.status, CELEBORN_SUCCESS);
        assert_int_equal(celeborn_push_answer_parse(split, sizeof(split) - 1, 2, &answer, NULL), 0);
        assert_int_equal(answer.status, CELEBORN_HARD_SPLIT);
        assert_int_equal(answer.n, 1);
        assert_int_equal(answer.indexes[0], 1);
        assert_int_equal(answer.statuses[0], CELEBORN_HARD_SPLIT);
        celeborn_push_answer_deinit(&answer);
        assert_int_equal(celeborn_push_answer_parse(split, sizeof(split) - 1, 1, &answer, &error), -EPROTO);
        assert_string_equal(error_message(&error), "the answer to a push of 1 batches names batch 1");
        error_deinit(&error);
}

/* Appends an answer to @request: its body is a message, or nothing. */
static void put_answer(struct buf *out, uint8_t type, int64_t request, int message, const ProtobufCMessage *body)
{
        _cleanup_(buf_deinit) struct buf frame = BUF_INIT;
        if (body)
                celeborn_put_data_request(&frame, request, message, body);
        else
                celeborn_put_request(&frame, request, 0);
        frame.data[4] = (char)type;
        buf_reset(out);
        buf_append(out, frame.data, frame.len);
}

static int auth_answer(struct celeborn_auth *auth, const struct buf *answer, struct buf *out, struct fst_error *error)
{
        struct celeborn_frame frame;
        size_t size;
        assert_int_equal(celeborn_frame_parse((uint8_t *)answer->data, answer->len, 1 << 20, &frame, &size, NULL), 0);
        buf_reset(out);
        return celeborn_auth_on_frame(auth, &frame, out, error);
}

static int sent_type(const struct buf *out)
{
        struct celeborn_frame frame;
        struct celeborn_message message;
        size_t size;
        assert_int_equal(celeborn_frame_parse((uint8_t *)out->data, out->len, 1 << 20, &frame, &size, NULL), 0);
        assert_int_equal(celeborn_data_message_parse(frame.body, frame.body_len, &message, NULL), 0);
        return message.type;
}

static void first_connection_registers_the_application(void **state)
{
        _cleanup_(buf_deinit) struct buf out = BUF_INIT, answer = BUF_INIT;
        struct fst_error error = FST_ERROR_INIT;
        struct celeborn_auth *auth;
        assert_int_equal(celeborn_auth_new(CELEBORN_AUTH_REGISTER, "app", "secret", &auth, &out, &error), 0);
        assert_int_equal(sent_type(&out), CELEBORN_AUTHENTICATION_INITIATION);
        struct buf offer = BUF_INIT; /* what the server offers has the form of the request */
        buf_append(&offer, out.data, out.len);
        offer.data[4] = CELEBORN_RPC_RESPONSE;
        offer.data[24] = CELEBORN_AUTHENTICATION_INITIATION_RESPONSE;
        assert_int_equal(auth_answer(auth, &offer, &out, &error), 0);
        buf_deinit(&offer);
        assert_int_equal(sent_type(&out), CELEBORN_SASL_REQUEST);
        put_answer(&answer, CELEBORN_RPC_RESPONSE, 2, 0, NULL);
        assert_int_equal(auth_answer(auth, &answer, &out, &error), 0);
        assert_int_equal(sent_type(&out), CELEBORN_REGISTER_APPLICATION);
        Celeborn__RegisterApplicationResponse done = CELEBORN__REGISTER_APPLICATION_RESPONSE__INIT;
        done.status = true;
        put_answer(&answer, CELEBORN_RPC_RESPONSE, 3, CELEBORN_REGISTER_APPLICATION_RESPONSE, &done.base);
        assert_int_equal(auth_answer(auth, &answer, &out, &error), FST_CELEBORN_E_AUTHENTICATED);
        celeborn_auth_free(auth);
}

static void rejects_answers_that_end_authentication(void **state)
{
        _cleanup_(buf_deinit) struct buf out = BUF_INIT, answer = BUF_INIT;
        struct fst_error error = FST_ERROR_INIT;
        Celeborn__AuthenticationInitiation offer = CELEBORN__AUTHENTICATION_INITIATION__INIT;
        offer.version = (char *)"1.0"; /* and no mechanism */
        static const struct {
                uint8_t type;
                int64_t request;
                int status;
                const char *why;
        } cases[] = {{CELEBORN_RPC_RESPONSE, 1, -EPROTO, "does not offer"},
                     {CELEBORN_RPC_RESPONSE, 9, -EPROTO, "before the connection is authenticated"},
                     {CELEBORN_ONE_WAY_MESSAGE, 1, -EPROTO, "before the connection is authenticated"},
                     {CELEBORN_RPC_FAILURE, 1, -EACCES, "refuses the registration of application app"},
                     {CELEBORN_HEARTBEAT, 1, 0, NULL}};
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct celeborn_auth *auth;
                buf_reset(&out);
                assert_int_equal(celeborn_auth_new(CELEBORN_AUTH_REGISTER, "app", "secret", &auth, &out, &error), 0);
                put_answer(&answer, cases[i].type, cases[i].request, CELEBORN_AUTHENTICATION_INITIATION_RESPONSE,
                           &offer.base);
                assert_int_equal(auth_answer(auth, &answer, &out, &error), cases[i].status);
                if (cases[i].why)
                        assert_non_null(strstr(error_message(&error), cases[i].why));
                assert_int_equal(out.len, 0);
                error_deinit(&error);
                celeborn_auth_free(auth);
        }
}

static void questions_and_answers_survive_the_wire(void **state)
{
        struct celeborn_revive revives[] = {{7, 3, 0, CELEBORN_SOFT_SPLIT}, {-1, 4, 2, CELEBORN_PUSH_TIMEOUT_REPLICA}};
        struct celeborn_question question = {CELEBORN_ASK_REVIVE, 5, revives, 2}, q = {0};
        struct celeborn_worker workers[] = {{(char *)"h1", 1, 2, 3, 4}, {(char *)"h2", 65535, 6, 7, 8}};
        struct celeborn_location locations[] = {{3, 1, 0, 1}, {4, 3, 1, -1}, {5, 0, -1, -1}};
        struct celeborn_answer answer = {CELEBORN_SUCCESS, (char *)"m", (char *)"secret", workers, locations, 2, 3},
                               a = {0};
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        struct fst_error error = FST_ERROR_INIT;
        celeborn_question_put(&question, &out);
        assert_int_equal(celeborn_question_parse((uint8_t *)out.data, out.len, &q, NULL), 0);
        assert_int_equal(q.kind, CELEBORN_ASK_REVIVE);
        assert_int_equal(q.shuffle, 5);
        assert_int_equal(q.n, 2);
        assert_int_equal(q.revives[0].map, 7);
        assert_int_equal(q.revives[1].map, -1);
        assert_int_equal(q.revives[1].partition, 4);
        assert_int_equal(q.revives[1].epoch, 2);
        assert_int_equal(q.revives[1].cause, CELEBORN_PUSH_TIMEOUT_REPLICA);
        celeborn_question_deinit(&q);

        buf_reset(&out);
        celeborn_answer_put(&answer, &out);
        assert_int_equal(celeborn_answer_parse((uint8_t *)out.data, out.len, &a, NULL), 0);
        assert_string_equal(a.message, "m");
        assert_string_equal(a.secret, "secret");
        assert_int_equal(a.n_workers, 2);
        assert_string_equal(a.workers[1].host, "h2");
        assert_int_equal(a.workers[1].rpc_port, 65535);
        assert_int_equal(a.n_locations, 3);
        assert_memory_equal(a.locations, locations, sizeof(locations));
        celeborn_answer_deinit(&a);

        locations[0].primary = 2; /* there is no such worker */
        buf_reset(&out);
        celeborn_answer_put(&answer, &out);
        assert_int_equal(celeborn_answer_parse((uint8_t *)out.data, out.len, &a, &error), -EPROTO);
        assert_non_null(error.message);
        error_deinit(&error);
        question.kind = CELEBORN_ASK_FILES; /* which revives nothing */
        buf_reset(&out);
        celeborn_question_put(&question, &out);
        assert_int_equal(celeborn_question_parse((uint8_t *)out.data, out.len, &q, NULL), -EPROTO);
        assert_int_equal(celeborn_shuffle_of_place(celeborn_place(8)), 8);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(push_has_the_bytes_of_a_genuine_client),
                cmocka_unit_test(merged_push_has_the_bytes_of_a_genuine_client),
                cmocka_unit_test(open_stream_has_the_bytes_of_a_genuine_client),
                cmocka_unit_test(frames_are_parsed_when_they_are_complete),
                cmocka_unit_test(rejects_invalid_frames),
                cmocka_unit_test(failures_have_slice_and_text),
                cmocka_unit_test(messages_are_parsed_in_each_encoding),
                cmocka_unit_test(endpoint_request_is_a_frame_of_its_length),
                cmocka_unit_test(exception_names_the_leader),
                cmocka_unit_test(push_answers_name_splits),
                cmocka_unit_test(questions_and_answers_survive_the_wire),
                cmocka_unit_test(first_connection_registers_the_application),
                cmocka_unit_test(rejects_answers_that_end_authentication),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
