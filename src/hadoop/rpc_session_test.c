/* Sessions of Hadoop's RPC against a server that this test plays: golden bytes, authentication by token, errors,
 * damage. */
#include "hadoop/rpc_session.h"

#include "hadoop/credentials.h"
#include "hadoop/hadoop_rpc.pb-c.h"

#include "base/base64.h"
#include "base/error.h"
#include "base/mem.h"

#include <openssl/evp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define PROTOCOL "org.example.ProtocolPB"

static const char *server_principal; /* that the sessions expect */

static struct hadoop_rpc_session *session_open(enum hadoop_rpc_auth auth, bool fallback)
{
        struct hadoop_token token = {.alias = "", .kind = "YARN_AM_RM_TOKEN", .service = ""};
        buf_puts(&token.identifier, "identifier");
        buf_puts(&token.password, "password");
        struct hadoop_rpc_options options = {.protocol = PROTOCOL,
                                             .auth = auth,
                                             .user = auth == HADOOP_RPC_TOKEN ? NULL : "alice",
                                             .token = &token,
                                             .allow_fallback = fallback,
                                             .server_principal = server_principal,
                                             .principal_key = "rm.principal",
                                             .client_id = "0123456789abcdef"};
        struct hadoop_rpc_session *s;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        if (hadoop_rpc_session_new(&options, &s, &error) < 0)
                fail_msg("%s", error_message(&error));
        buf_deinit(&token.identifier);
        buf_deinit(&token.password);
        return s;
}

/* ------------------------------------------------------------------------------------------------ the server's side */

static void put_delimited(struct buf *out, const ProtobufCMessage *m)
{
        uint8_t bytes[4096];
        const size_t len = protobuf_c_message_pack(m, bytes);
        assert_true(len < 16384);
        if (len >= 0x80)
                buf_putc(out, (char)((len & 0x7f) | 0x80));
        buf_putc(out, (char)(len < 0x80 ? len : len >> 7));
        buf_append(out, bytes, len);
}

static struct buf server_frame(int32_t call_id, int status, const char *exception, const char *message,
                               const ProtobufCMessage *body)
{
        Firesteel__Hadoop__RpcResponseHeader h = FIRESTEEL__HADOOP__RPC_RESPONSE_HEADER__INIT;
        struct buf frame = BUF_INIT, rest = BUF_INIT;
        h.call_id = (uint32_t)call_id;
        h.status = status;
        h.exception_class = (char *)exception;
        h.error_message = (char *)message;
        put_delimited(&rest, &h.base);
        if (body)
                put_delimited(&rest, body);
        for (int shift = 24; shift >= 0; shift -= 8)
                buf_putc(&frame, (char)(rest.len >> shift));
        buf_append(&frame, rest.data, rest.len);
        buf_deinit(&rest);
        return frame;
}

static void server_send(struct hadoop_rpc_session *s, int32_t call_id, int status, const char *exception,
                        const char *message, const ProtobufCMessage *body)
{
        struct buf frame = server_frame(call_id, status, exception, message, body);
        for (size_t i = 0; i < frame.len; i++) /* one byte at a time: frames may come in any pieces */
                hadoop_rpc_session_input(s, frame.data + i, 1);
        buf_deinit(&frame);
}

static void server_send_sasl(struct hadoop_rpc_session *s, int state, const char *token,
                             Firesteel__Hadoop__SaslAuth *auth)
{
        Firesteel__Hadoop__SaslMessage m = FIRESTEEL__HADOOP__SASL_MESSAGE__INIT;
        m.state = state;
        if (token) {
                m.has_token = true;
                m.token = (ProtobufCBinaryData){.data = (uint8_t *)token, .len = strlen(token)};
        }
        m.n_auths = auth ? 1 : 0;
        m.auths = &auth;
        server_send(s, -33, 0, NULL, NULL, &m.base);
}

/* The client's next frame: its header, and the rest in @body. Removes it from the output. */
static Firesteel__Hadoop__RpcRequestHeader *client_frame(struct hadoop_rpc_session *s, struct buf *body)
{
        struct buf *out = hadoop_rpc_session_output(s);
        const uint8_t *p = (const uint8_t *)out->data;
        assert_true(out->len > 5);
        const size_t len = (size_t)p[2] << 8 | p[3], header = p[4];
        assert_true(out->len >= len + 4);
        Firesteel__Hadoop__RpcRequestHeader *h = firesteel__hadoop__rpc_request_header__unpack(NULL, header, p + 5);
        assert_non_null(h);
        buf_reset(body);
        buf_append(body, p + 5 + header, len - 1 - header);
        memmove(out->data, out->data + 4 + len, out->len - 4 - len);
        buf_truncate(out, out->len - 4 - len);
        return h;
}

static void skip_hello(struct hadoop_rpc_session *s, const char *expected)
{
        struct buf *out = hadoop_rpc_session_output(s);
        assert_memory_equal(out->data, expected, 7);
        memmove(out->data, out->data + 7, out->len - 7);
        buf_truncate(out, out->len - 7);
}

static Firesteel__Hadoop__SaslMessage *client_sasl(struct hadoop_rpc_session *s)
{
        struct buf body = BUF_INIT;
        Firesteel__Hadoop__RpcRequestHeader *h = client_frame(s, &body);
        assert_int_equal(h->call_id, -33);
        assert_int_equal(h->client_id.len, 0);
        firesteel__hadoop__rpc_request_header__free_unpacked(h, NULL);
        const uint8_t *p = (const uint8_t *)body.data;
        const size_t skip = p[0] & 0x80 ? 2 : 1;
        Firesteel__Hadoop__SaslMessage *m = firesteel__hadoop__sasl_message__unpack(NULL, body.len - skip, p + skip);
        assert_non_null(m);
        buf_deinit(&body);
        return m;
}

static void expect_event(struct hadoop_rpc_session *s, enum hadoop_rpc_event_type type, struct hadoop_rpc_event *e)
{
        assert_true(hadoop_rpc_session_next(s, e));
        assert_int_equal(e->type, type);
}

/* ------------------------------------------------------------------------------------------------------------ tests */

static void simple_session_sends_hello_context_and_call(void **state)
{
        struct hadoop_rpc_session *s = session_open(HADOOP_RPC_SIMPLE, false);
        struct hadoop_rpc_event e;
        struct buf body = BUF_INIT;
        expect_event(s, HADOOP_RPC_READY, &e);
        skip_hello(s, "hrpc\x09\x00\x00");
        Firesteel__Hadoop__RpcRequestHeader *h = client_frame(s, &body);
        assert_int_equal(h->call_id, -3);
        assert_int_equal(h->retry_count, -1);
        assert_memory_equal(h->client_id.data, "0123456789abcdef", 16);
        assert_memory_equal(body.data,
                            "\x21\x12\x07\x0a\x05"
                            "alice"
                            "\x1a\x16" PROTOCOL,
                            body.len);
        firesteel__hadoop__rpc_request_header__free_unpacked(h, NULL);
        hadoop_rpc_session_call(s, 5, 2, "method", "\x0a\x01x", 3);
        h = client_frame(s, &body);
        assert_int_equal(h->call_id, 5);
        assert_int_equal(h->retry_count, 2);
        assert_memory_equal(body.data, "\x22\x0a\x06method\x12\x16" PROTOCOL "\x18\x01\x03\x0a\x01x", body.len);
        firesteel__hadoop__rpc_request_header__free_unpacked(h, NULL);
        buf_deinit(&body);
        hadoop_rpc_session_free(s);
}

static void answers_and_errors_reach_their_calls(void **state)
{
        struct hadoop_rpc_session *s = session_open(HADOOP_RPC_SIMPLE, false);
        struct hadoop_rpc_event e;
        Firesteel__Hadoop__UserInformation answer = FIRESTEEL__HADOOP__USER_INFORMATION__INIT;
        answer.effective_user = "bob";
        expect_event(s, HADOOP_RPC_READY, &e);
        server_send(s, 8, 1, "java.io.IOException", "no room\n\tat a.b.C(D.java:1)\n\tat e", NULL);
        server_send(s, 7, 0, NULL, NULL, &answer.base);
        expect_event(s, HADOOP_RPC_ERROR, &e);
        assert_int_equal(e.call_id, 8);
        assert_string_equal(e.exception, "java.io.IOException");
        assert_string_equal(e.message, "no room");
        expect_event(s, HADOOP_RPC_ANSWER, &e);
        assert_int_equal(e.call_id, 7);
        assert_memory_equal(e.body,
                            "\x0a\x03"
                            "bob",
                            e.len);
        server_send(s, -1, 2, "org.apache.hadoop.security.AccessControlException", "SIMPLE is off", NULL);
        expect_event(s, HADOOP_RPC_BROKEN, &e);
        assert_string_equal(e.message, "SIMPLE is off");
        server_send(s, 9, 0, NULL, NULL, &answer.base);
        assert_false(hadoop_rpc_session_next(s, &e)); /* nothing after the end */
        hadoop_rpc_session_free(s);
}

static void md5(const void *data, size_t len, unsigned char out[16])
{
        assert_int_equal(EVP_Digest(data, len, out, NULL, EVP_md5(), NULL), 1);
}

static void append_hex(struct buf *out, const unsigned char digest[16])
{
        for (int i = 0; i < 16; i++)
                buf_printf(out, "%02x", digest[i]);
}

/* The value of @name in a digest response; the caller owns it. */
static char *digest_field(const char *response, const char *name)
{
        _cleanup_free_ char *key = mem_printf("%s=", name);
        const char *at = response;
        while ((at = strstr(at, key)) && at != response && at[-1] != ',')
                at += strlen(key);
        assert_non_null(at);
        at += strlen(key);
        return *at == '"' ? mem_strndup(at + 1, strcspn(at + 1, "\"")) : mem_strndup(at, strcspn(at, ","));
}

/* RFC 2831: what a client (@a2 "AUTHENTICATE:/default") or the server (":/default") proves. @qop: "auth". */
static char *digest_response(const char *cnonce, const char *qop, const char *a2)
{
        unsigned char secret[16], digest[16];
        struct buf text = BUF_INIT, user = BUF_INIT, password = BUF_INIT;
        base64_put(&user, "identifier", 10);
        base64_put(&password, "password", 8);
        buf_printf(&text, "%s:default:%s", buf_text(&user), buf_text(&password));
        md5(text.data, text.len, secret);
        buf_reset(&text);
        buf_append(&text, secret, 16);
        buf_printf(&text, ":nonce:%s", cnonce);
        md5(text.data, text.len, digest);
        buf_reset(&text);
        append_hex(&text, digest);
        buf_printf(&text, ":nonce:00000001:%s:%s:", cnonce, qop);
        md5(a2, strlen(a2), digest);
        append_hex(&text, digest);
        md5(text.data, text.len, digest);
        buf_reset(&text);
        append_hex(&text, digest);
        buf_deinit(&user);
        buf_deinit(&password);
        return buf_steal(&text);
}

static Firesteel__Hadoop__SaslAuth token_offer(void)
{
        static char challenge[] = "realm=\"default\",nonce=\"nonce\",qop=\"auth\",charset=utf-8,algorithm=md5-sess";
        Firesteel__Hadoop__SaslAuth auth = FIRESTEEL__HADOOP__SASL_AUTH__INIT;
        auth.method = "TOKEN";
        auth.mechanism = "DIGEST-MD5";
        auth.protocol = "";
        auth.server_id = "default";
        auth.has_challenge = true;
        auth.challenge = (ProtobufCBinaryData){.data = (uint8_t *)challenge, .len = strlen(challenge)};
        return auth;
}

static void a_token_proves_the_client_and_the_server(void **state)
{
        struct hadoop_rpc_session *s = session_open(HADOOP_RPC_TOKEN, false);
        Firesteel__Hadoop__SaslAuth offer = token_offer();
        struct hadoop_rpc_event e;
        struct buf body = BUF_INIT;
        skip_hello(s, "hrpc\x09\x00\xdf");
        Firesteel__Hadoop__SaslMessage *m = client_sasl(s);
        assert_int_equal(m->state, 1);
        firesteel__hadoop__sasl_message__free_unpacked(m, NULL);
        hadoop_rpc_session_call(s, 0, 0, "early", NULL, 0);
        assert_int_equal(hadoop_rpc_session_output(s)->len, 0); /* waits for the server's consent */
        server_send_sasl(s, 1, NULL, &offer);
        m = client_sasl(s);
        assert_int_equal(m->state, 2);
        assert_string_equal(m->auths[0]->mechanism, "DIGEST-MD5");
        assert_false(m->auths[0]->has_challenge);
        _cleanup_free_ char *response = mem_strndup((const char *)m->token.data, m->token.len);
        firesteel__hadoop__sasl_message__free_unpacked(m, NULL);
        _cleanup_free_ char *cnonce = digest_field(response, "cnonce"), *proof = digest_field(response, "response");
        _cleanup_free_ char *expected = digest_response(cnonce, "auth", "AUTHENTICATE:/default");
        _cleanup_free_ char *server = digest_response(cnonce, "auth", ":/default");
        _cleanup_free_ char *rspauth = mem_printf("rspauth=%s", server);
        assert_string_equal(proof, expected);
        server_send_sasl(s, 0, rspauth, NULL);
        expect_event(s, HADOOP_RPC_READY, &e);
        Firesteel__Hadoop__RpcRequestHeader *h = client_frame(s, &body);
        assert_int_equal(h->call_id, -3);
        assert_memory_equal(body.data, "\x18\x1a\x16" PROTOCOL, body.len); /* the server knows the user */
        firesteel__hadoop__rpc_request_header__free_unpacked(h, NULL);
        h = client_frame(s, &body);
        assert_int_equal(h->call_id, 0);
        firesteel__hadoop__rpc_request_header__free_unpacked(h, NULL);
        buf_deinit(&body);
        hadoop_rpc_session_free(s);
}

static void a_protected_session_takes_protected_answers_alone(void **state)
{
        static char challenge[] = "realm=\"default\",nonce=\"nonce\",qop=\"auth-int\",charset=utf-8,algorithm=md5-sess";
        struct hadoop_rpc_session *s = session_open(HADOOP_RPC_TOKEN, false);
        Firesteel__Hadoop__SaslAuth offer = token_offer();
        Firesteel__Hadoop__UserInformation answer = FIRESTEEL__HADOOP__USER_INFORMATION__INIT;
        struct hadoop_rpc_event e;
        skip_hello(s, "hrpc\x09\x00\xdf");
        firesteel__hadoop__sasl_message__free_unpacked(client_sasl(s), NULL);
        offer.challenge = (ProtobufCBinaryData){.data = (uint8_t *)challenge, .len = strlen(challenge)};
        server_send_sasl(s, 1, NULL, &offer);
        Firesteel__Hadoop__SaslMessage *m = client_sasl(s);
        _cleanup_free_ char *response = mem_strndup((const char *)m->token.data, m->token.len);
        firesteel__hadoop__sasl_message__free_unpacked(m, NULL);
        _cleanup_free_ char *cnonce = digest_field(response, "cnonce"), *most = digest_field(response, "maxbuf");
        assert_string_equal(most, "16777215"); /* Hadoop's servers do not split answers */
        _cleanup_free_ char *server = digest_response(cnonce, "auth-int", ":/default:00000000000000000000000000000000");
        _cleanup_free_ char *rspauth = mem_printf("rspauth=%s", server);
        server_send_sasl(s, 0, rspauth, NULL);
        expect_event(s, HADOOP_RPC_READY, &e);
        m = client_sasl(s); /* the context is wrapped */
        assert_int_equal(m->state, 5);
        firesteel__hadoop__sasl_message__free_unpacked(m, NULL);
        server_send(s, 0, 0, NULL, NULL, &answer.base);
        expect_event(s, HADOOP_RPC_BROKEN, &e);
        assert_string_equal(e.message, "the server sent an answer outside of SASL's protection");
        hadoop_rpc_session_free(s);
}

static void a_server_that_does_not_know_the_password_is_refused(void **state)
{
        struct hadoop_rpc_session *s = session_open(HADOOP_RPC_TOKEN, false);
        Firesteel__Hadoop__SaslAuth offer = token_offer();
        struct hadoop_rpc_event e;
        server_send_sasl(s, 1, NULL, &offer);
        server_send_sasl(s, 0, "rspauth=00000000000000000000000000000000", NULL);
        expect_event(s, HADOOP_RPC_BROKEN, &e);
        assert_true(e.message[0] != '\0');
        assert_string_equal(e.exception, "javax.security.sasl.SaslException"); /* another attempt would end alike */
        hadoop_rpc_session_free(s);
}

static void a_server_that_proves_nothing_is_refused(void **state)
{
        struct hadoop_rpc_session *s = session_open(HADOOP_RPC_TOKEN, false);
        Firesteel__Hadoop__SaslAuth offer = token_offer();
        struct hadoop_rpc_event e;
        server_send_sasl(s, 1, NULL, &offer);
        server_send_sasl(s, 0, NULL, NULL);
        expect_event(s, HADOOP_RPC_BROKEN, &e);
        assert_non_null(strstr(e.message, "before it proved itself"));
        hadoop_rpc_session_free(s);
}

static void offers_without_ours_are_named(void **state)
{
        struct hadoop_rpc_session *s = session_open(HADOOP_RPC_TOKEN, false);
        Firesteel__Hadoop__SaslAuth offer = token_offer();
        struct hadoop_rpc_event e;
        offer.method = "KERBEROS";
        server_send_sasl(s, 1, NULL, &offer);
        expect_event(s, HADOOP_RPC_BROKEN, &e);
        assert_string_equal(e.message, "Client cannot authenticate via:[TOKEN]. The server offers:[KERBEROS]");
        hadoop_rpc_session_free(s);
}

static void a_password_is_not_sent_by_a_mechanism_of_the_servers_choice(void **state)
{
        struct hadoop_rpc_session *s = session_open(HADOOP_RPC_TOKEN, false);
        Firesteel__Hadoop__SaslAuth offer = token_offer();
        struct hadoop_rpc_event e;
        skip_hello(s, "hrpc\x09\x00\xdf");
        firesteel__hadoop__sasl_message__free_unpacked(client_sasl(s), NULL);
        offer.mechanism = "PLAIN";
        offer.has_challenge = false;
        server_send_sasl(s, 1, NULL, &offer);
        assert_int_equal(hadoop_rpc_session_output(s)->len, 0);
        expect_event(s, HADOOP_RPC_BROKEN, &e);
        assert_non_null(strstr(e.message, "The server offers:[TOKEN with PLAIN]"));
        hadoop_rpc_session_free(s);
}

static void a_server_without_security_needs_leave_to_be_trusted(void **state)
{
        struct hadoop_rpc_event e;
        struct hadoop_rpc_session *s = session_open(HADOOP_RPC_KERBEROS, false);
        server_send_sasl(s, 0, NULL, NULL);
        expect_event(s, HADOOP_RPC_BROKEN, &e);
        assert_non_null(strstr(e.message, "ipc.client.fallback-to-simple-auth-allowed"));
        assert_string_equal(e.exception, "org.apache.hadoop.security.AccessControlException");
        hadoop_rpc_session_free(s);
        s = session_open(HADOOP_RPC_KERBEROS, true);
        server_send_sasl(s, 0, NULL, NULL);
        expect_event(s, HADOOP_RPC_READY, &e);
        hadoop_rpc_session_free(s);
}

static void a_server_with_another_principal_is_refused(void **state)
{
        static const struct {
                const char *expected, *protocol, *server, *message; /* NULL: it is accepted */
        } cases[] = {
                {"rm/_HOST@R", "rm", "h1.example.com", NULL},
                {"rm/h1.example.com@R", "rm", "h1.example.com", NULL},
                {"*/*.example.com", "rm", "h1.example.com", NULL},
                {"rm/_HOST@R", "rm", "h2.example.com",
                 "Server has invalid Kerberos principal: rm/h2.example.com, expecting: rm/h1.example.com (from "
                 "rm.principal)"},
                {"rm/_HOST@R", "nm", "h1.example.com",
                 "Server has invalid Kerberos principal: nm/h1.example.com, expecting: rm/h1.example.com (from "
                 "rm.principal)"},
                {NULL, "rm", "h1.example.com", "Failed to specify server's Kerberos principal name (set rm.principal)"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                server_principal = cases[i].expected;
                struct hadoop_rpc_session *s = session_open(HADOOP_RPC_KERBEROS, false);
                Firesteel__Hadoop__SaslAuth offer = token_offer();
                struct hadoop_rpc_event e;
                hadoop_rpc_session_set_host(s, "H1.example.com");
                offer.method = "KERBEROS";
                offer.mechanism = "GSSAPI";
                offer.protocol = (char *)cases[i].protocol;
                offer.server_id = (char *)cases[i].server;
                offer.has_challenge = false;
                server_send_sasl(s, 1, NULL, &offer);
                expect_event(s, HADOOP_RPC_BROKEN, &e); /* there is no ticket, and no server to give it to */
                assert_string_equal(e.exception, "javax.security.sasl.SaslException");
                if (cases[i].message)
                        assert_string_equal(e.message, cases[i].message);
                else
                        assert_non_null(strstr(e.message, "GSS initiate failed"));
                hadoop_rpc_session_free(s);
        }
        server_principal = NULL;
}

static void damaged_input_breaks_the_session(void **state)
{
        static const struct {
                const char *label, *bytes;
                size_t len;
                const char *message;
        } rows[] = {
                {"HTTP", "HTTP/1.1 404 Not Found\r\n", 24, "speaks HTTP"},
                {"a frame of 4 GB", "\xff\xff\xff\xff", 4, "4294967295 bytes"},
                {"an empty frame", "\0\0\0\0", 4, "damaged frame"},
                {"a header beyond its frame", "\0\0\0\1\x05", 5, "damaged frame"},
                {"a header that is not protobuf", "\0\0\0\3\2\xff\xff", 7, "damaged frame"},
                {"an answer without body", "\0\0\0\5\4\x08\1\x10\0", 9, "damaged answer"},
                {"SASL in a simple session", "\0\0\0\x0c\x08\x08\xdf\xff\xff\xff\x0f\x10\0\2\x10\0", 16,
                 "out of order"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                struct hadoop_rpc_session *s = session_open(HADOOP_RPC_SIMPLE, false);
                struct hadoop_rpc_event e;
                expect_event(s, HADOOP_RPC_READY, &e);
                hadoop_rpc_session_input(s, rows[i].bytes, rows[i].len);
                if (!hadoop_rpc_session_next(s, &e) || e.type != HADOOP_RPC_BROKEN ||
                    !strstr(e.message, rows[i].message))
                        fail_msg("%s: type %d, \"%s\"", rows[i].label, e.type, e.message);
                hadoop_rpc_session_free(s);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(simple_session_sends_hello_context_and_call),
                cmocka_unit_test(answers_and_errors_reach_their_calls),
                cmocka_unit_test(a_token_proves_the_client_and_the_server),
                cmocka_unit_test(a_protected_session_takes_protected_answers_alone),
                cmocka_unit_test(a_server_that_does_not_know_the_password_is_refused),
                cmocka_unit_test(a_server_that_proves_nothing_is_refused),
                cmocka_unit_test(offers_without_ours_are_named),
                cmocka_unit_test(a_password_is_not_sent_by_a_mechanism_of_the_servers_choice),
                cmocka_unit_test(a_server_without_security_needs_leave_to_be_trusted),
                cmocka_unit_test(a_server_with_another_principal_is_refused),
                cmocka_unit_test(damaged_input_breaks_the_session),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
