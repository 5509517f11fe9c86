/* See rpc_session.h. */
#include "hadoop/rpc_session.h"

#include "hadoop/credentials.h"
#include "hadoop/hadoop_rpc.pb-c.h"
#include "hadoop/sasl.h"

#include "base/base64.h"
#include "base/error.h"
#include "base/mem.h"
#include "hadoop/secret_buf.h"
#include "base/queue.h"
#include "net/byte_order.h"

#include <ctype.h>
#include <fnmatch.h>

#define RPC_VERSION 9
#define RPC_SERVICE_CLASS 0
#define RPC_AUTH_NONE 0
#define RPC_AUTH_SASL 0xdf /* -33 */

#define RPC_KIND_PROTOCOL_BUFFER 2
#define RPC_FINAL_PACKET 0
#define RPC_PROTOCOL_VERSION 1

/* Call ids of frames that are not calls. */
#define RPC_CALL_CONTEXT (-3)
#define RPC_CALL_SASL (-33)
#define RPC_RETRY_NONE (-1)

/* Names of Java's exceptions for what a client finds itself. */
#define ACCESS_CONTROL_EXCEPTION "org.apache.hadoop.security.AccessControlException"
#define SASL_EXCEPTION "javax.security.sasl.SaslException"
#define RPC_EXCEPTION "org.apache.hadoop.ipc.RpcException"

enum rpc_status { RPC_SUCCESS, RPC_ERROR, RPC_FATAL };
enum sasl_state {
        SASL_STATE_SUCCESS,
        SASL_STATE_NEGOTIATE,
        SASL_STATE_INITIATE,
        SASL_STATE_CHALLENGE,
        SASL_STATE_RESPONSE,
        SASL_STATE_WRAP,
};

enum session_phase { SESSION_AUTHENTICATING, SESSION_READY, SESSION_BROKEN };

/* An event with what it owns. */
struct session_event {
        enum hadoop_rpc_event_type type;
        int32_t call_id;
        struct buf body;
        char *exception, *message;
};

struct hadoop_rpc_session {
        enum session_phase phase;
        enum hadoop_rpc_auth auth;
        char *protocol, *user, *real_user;
        char *server_principal, *principal_key, *host; /* or NULL */
        char *token_user, *token_password;             /* base64 of the token's parts */
        bool allow_fallback;
        unsigned char client_id[HADOOP_RPC_CLIENT_ID];
        const struct sasl_ops *sasl;
        struct sasl_client *sasl_client;
        size_t encode_limit; /* 0: frames are not protected */
        struct buf in;       /* bytes from the server that no frame has used yet */
        struct buf plain;    /* the same, out of SASL's protection */
        struct buf out;
        struct buf waiting; /* frames of calls made before the session was ready */
        QUEUE(struct session_event) events;
        struct session_event current; /* what the last event borrows from */
};

/* ----------------------------------------------------------------------------------------------------------- events */

static void session_event_deinit(struct session_event *e)
{
        buf_deinit(&e->body);
        free(e->exception);
        free(e->message);
        *e = (struct session_event){0};
}

/* @exception and @message are copied. Later input is ignored. */
static void session_break(struct hadoop_rpc_session *s, const char *exception, const char *message)
{
        if (s->phase == SESSION_BROKEN)
                return;
        s->phase = SESSION_BROKEN;
        queue_push(&s->events, (struct session_event){.type = HADOOP_RPC_BROKEN,
                                                      .call_id = -1,
                                                      .exception = mem_strdup(exception),
                                                      .message = mem_strdup(message)});
}

/* Java appends its stack to the message. */
static char *message_without_stack(const char *text)
{
        const char *stack = text ? strstr(text, "\n\tat ") : NULL;
        size_t len = stack ? (size_t)(stack - text) : text ? strlen(text) : 0;
        while (len && text[len - 1] == '\n')
                len--;
        return mem_strndup(text ? text : "", len);
}

/* --------------------------------------------------------------------------------------------------- frames to send */

static void append_length(struct buf *out, size_t len)
{
        const unsigned char bytes[4] = {(unsigned char)(len >> 24), (unsigned char)(len >> 16),
                                        (unsigned char)(len >> 8), (unsigned char)len};
        buf_append(out, bytes, sizeof(bytes));
}

void hadoop_message_pack(const ProtobufCMessage *message, struct buf *out)
{
        const size_t len = protobuf_c_message_get_packed_size(message);
        buf_reserve(out, len);
        protobuf_c_message_pack(message, (uint8_t *)out->data + out->len);
        out->len += len;
        out->data[out->len] = '\0';
}

static void append_delimited(struct buf *out, const ProtobufCMessage *message)
{
        buf_put_varint(out, protobuf_c_message_get_packed_size(message));
        hadoop_message_pack(message, out);
}

/* Appends a frame of a header, the message @first and, unless it is NULL, the packed message @second of @len bytes. */
static void session_append_frame(struct hadoop_rpc_session *s, struct buf *out, int32_t call_id, int32_t retry,
                                 const ProtobufCMessage *first, const void *second, size_t len)
{
        Firesteel__Hadoop__RpcRequestHeader header = FIRESTEEL__HADOOP__RPC_REQUEST_HEADER__INIT;
        header.rpc_kind = RPC_KIND_PROTOCOL_BUFFER;
        header.rpc_op = RPC_FINAL_PACKET;
        header.call_id = call_id;
        header.has_retry_count = true;
        header.retry_count = retry;
        if (call_id != RPC_CALL_SASL)
                header.client_id = (ProtobufCBinaryData){.data = s->client_id, .len = sizeof(s->client_id)};
        _cleanup_(buf_deinit) struct buf frame = BUF_INIT;
        append_delimited(&frame, &header.base);
        append_delimited(&frame, first);
        if (second)
                buf_put_varint(&frame, len);
        append_length(out, frame.len + len);
        buf_append(out, frame.data, frame.len);
        if (second)
                secret_buf_append(out, second, len);
}

static void session_send_sasl(struct hadoop_rpc_session *s, enum sasl_state state, const void *token, size_t len,
                              const Firesteel__Hadoop__SaslAuth *chosen)
{
        Firesteel__Hadoop__SaslMessage m = FIRESTEEL__HADOOP__SASL_MESSAGE__INIT;
        Firesteel__Hadoop__SaslAuth auth = FIRESTEEL__HADOOP__SASL_AUTH__INIT, *auths[] = {&auth};
        m.has_version = true;
        m.state = state;
        m.has_token = state != SASL_STATE_NEGOTIATE;
        m.token = (ProtobufCBinaryData){.data = (uint8_t *)token, .len = len};
        if (chosen) {
                auth.method = chosen->method;
                auth.mechanism = chosen->mechanism;
                auth.protocol = chosen->protocol;
                auth.server_id = chosen->server_id;
                m.n_auths = 1;
                m.auths = auths;
        }
        session_append_frame(s, &s->out, RPC_CALL_SASL, RPC_RETRY_NONE, &m.base, NULL, 0);
}

/* Sends whole frames, inside SASL's protection if there is one. */
static void session_send_frames(struct hadoop_rpc_session *s, const void *frames, size_t len)
{
        char message[512];
        if (!s->encode_limit) {
                secret_buf_append(&s->out, frames, len);
                return;
        }
        for (size_t sent = 0; sent < len;) {
                const size_t piece = MIN(len - sent, s->encode_limit);
                const void *protected_bytes;
                size_t n;
                if (s->sasl->encode(s->sasl_client, (const char *)frames + sent, piece, &protected_bytes, &n, message,
                                    sizeof(message)) < 0) {
                        session_break(s, "", message);
                        return;
                }
                session_send_sasl(s, SASL_STATE_WRAP, protected_bytes, n, NULL);
                sent += piece;
        }
}

static void session_become_ready(struct hadoop_rpc_session *s)
{
        Firesteel__Hadoop__ConnectionContext context = FIRESTEEL__HADOOP__CONNECTION_CONTEXT__INIT;
        Firesteel__Hadoop__UserInformation user = FIRESTEEL__HADOOP__USER_INFORMATION__INIT;
        context.protocol = s->protocol;
        user.effective_user = s->user;
        user.real_user = s->real_user;
        if (s->user && s->auth != HADOOP_RPC_TOKEN) /* with a token, the server knows the user and refuses another */
                context.user = &user;
        _cleanup_(buf_deinit) struct buf frame = BUF_INIT;
        session_append_frame(s, &frame, RPC_CALL_CONTEXT, RPC_RETRY_NONE, &context.base, NULL, 0);
        s->phase = SESSION_READY;
        session_send_frames(s, frame.data, frame.len);
        session_send_frames(s, s->waiting.data, s->waiting.len);
        buf_deinit_secret(&s->waiting);
        queue_push(&s->events, (struct session_event){.type = HADOOP_RPC_READY, .call_id = -1});
}

void hadoop_rpc_session_set_host(struct hadoop_rpc_session *s, const char *host)
{
        free(s->host);
        s->host = mem_strdup(host);
}

void hadoop_rpc_session_call(struct hadoop_rpc_session *s, int32_t call_id, int32_t retry, const char *method,
                             const void *request, size_t len)
{
        Firesteel__Hadoop__CallHeader call = FIRESTEEL__HADOOP__CALL_HEADER__INIT;
        call.method = (char *)method;
        call.protocol = s->protocol;
        call.protocol_version = RPC_PROTOCOL_VERSION;
        _cleanup_(buf_deinit_secret) struct buf frame = BUF_INIT;
        session_append_frame(s, &frame, call_id, retry, &call.base, len ? request : "", len);
        if (s->phase == SESSION_READY)
                session_send_frames(s, frame.data, frame.len);
        else if (s->phase == SESSION_AUTHENTICATING)
                secret_buf_append(&s->waiting, frame.data, frame.len);
}

/* --------------------------------------------------------------------------------------------------- authentication */

/* Another attempt would end alike, so it has the name of Java's exception. */
static void session_fail_authentication(struct hadoop_rpc_session *s, const char *message)
{
        const bool kerberos = s->auth == HADOOP_RPC_KERBEROS;
        _cleanup_free_ char *text =
                mem_printf("%s%s%s", kerberos ? "GSS initiate failed: " : "DIGEST-MD5 failed: ", message,
                           kerberos ? " (get a ticket with kinit, or set --principal and --keytab)" : "");
        session_break(s, SASL_EXCEPTION, text);
}

/* One step with the server's @challenge (NULL: none); sends the result in a frame of @state. False: broken. */
static bool session_step(struct hadoop_rpc_session *s, const ProtobufCBinaryData *challenge, enum sasl_state state,
                         const Firesteel__Hadoop__SaslAuth *chosen)
{
        char message[512] = "";
        const void *answer = NULL;
        size_t len = 0;
        if (s->sasl->step(s->sasl_client, challenge ? challenge->data : NULL, challenge ? challenge->len : 0, &answer,
                          &len, message, sizeof(message)) < 0) {
                session_fail_authentication(s, message);
                return false;
        }
        if (state != SASL_STATE_SUCCESS)
                session_send_sasl(s, state, answer, len, chosen);
        return true;
}

/* A mechanism of the server's choice, such as PLAIN, would send it the password. */
static const Firesteel__Hadoop__SaslAuth *session_choose(const struct hadoop_rpc_session *s,
                                                         const Firesteel__Hadoop__SaslMessage *m)
{
        const char *method = s->auth == HADOOP_RPC_TOKEN ? "TOKEN" : "KERBEROS";
        const char *mechanism = s->auth == HADOOP_RPC_TOKEN ? "DIGEST-MD5" : "GSSAPI";
        for (size_t i = 0; i < m->n_auths; i++)
                if (strcmp(m->auths[i]->method, method) == 0 && strcmp(m->auths[i]->mechanism, mechanism) == 0)
                        return m->auths[i];
        return NULL;
}

static void session_refuse_offers(struct hadoop_rpc_session *s, const Firesteel__Hadoop__SaslMessage *m)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        const char *method = s->auth == HADOOP_RPC_TOKEN ? "TOKEN" : "KERBEROS";
        buf_printf(&text, "Client cannot authenticate via:[%s]. The server offers:[", method);
        for (size_t i = 0; i < m->n_auths; i++) {
                buf_printf(&text, "%s%s", i ? ", " : "", m->auths[i]->method);
                if (strcmp(m->auths[i]->method, method) == 0) /* the mechanism is what differs */
                        buf_printf(&text, " with %s", m->auths[i]->mechanism);
        }
        buf_puts(&text, "]");
        session_break(s, ACCESS_CONTROL_EXCEPTION, buf_text(&text));
}

/* "rm/h1.example.com" for "rm/_HOST@REALM". GSSAPI chooses the realm, so it is not compared. Owned. */
static char *session_expected_server(const struct hadoop_rpc_session *s)
{
        const char *name = s->server_principal, *host = strstr(name, "/_HOST");
        const size_t len = strcspn(name, "@");
        if (!host || (size_t)(host - name) > len || !s->host)
                return mem_strndup(name, len);
        char *text = mem_printf("%.*s/%s", (int)(host - name), name, s->host);
        for (char *p = text + (host - name); *p; p++)
                *p = (char)tolower((unsigned char)*p);
        return text;
}

/* Another service of the realm could take the place of the one that is meant. False: broken. */
static bool session_check_server(struct hadoop_rpc_session *s, const Firesteel__Hadoop__SaslAuth *chosen)
{
        if (s->auth != HADOOP_RPC_KERBEROS)
                return true;
        if (!s->server_principal) {
                _cleanup_free_ char *text = mem_printf("Failed to specify server's Kerberos principal name (set %s)",
                                                       s->principal_key ? s->principal_key : "the service's principal");
                session_break(s, SASL_EXCEPTION, text);
                return false;
        }
        _cleanup_free_ char *expected = session_expected_server(s);
        _cleanup_free_ char *offered = mem_printf("%s/%s", chosen->protocol ? chosen->protocol : "",
                                                  chosen->server_id ? chosen->server_id : "");
        if (fnmatch(expected, offered, 0) == 0)
                return true;
        _cleanup_free_ char *text =
                mem_printf("Server has invalid Kerberos principal: %s, expecting: %s (from %s)", offered, expected,
                           s->principal_key ? s->principal_key : "the configuration");
        session_break(s, SASL_EXCEPTION, text);
        return false;
}

static void session_negotiate(struct hadoop_rpc_session *s, const Firesteel__Hadoop__SaslMessage *m)
{
        const Firesteel__Hadoop__SaslAuth *chosen = session_choose(s, m);
        char message[512] = "";
        if (!chosen) {
                session_refuse_offers(s, m);
                return;
        }
        if (!session_check_server(s, chosen))
                return;
        const struct sasl_client_options options = {.mechanism = chosen->mechanism,
                                                    .service = chosen->protocol ? chosen->protocol : "",
                                                    .host = chosen->server_id ? chosen->server_id : "",
                                                    .user = s->token_user,
                                                    .password = s->token_password};
        if (s->sasl->open(&options, &s->sasl_client, message, sizeof(message)) < 0) {
                session_fail_authentication(s, message);
                return;
        }
        session_step(s, chosen->has_challenge ? &chosen->challenge : NULL, SASL_STATE_INITIATE, chosen);
}

static void session_succeed(struct hadoop_rpc_session *s, const Firesteel__Hadoop__SaslMessage *m)
{
        if (!s->sasl_client) { /* a server without security accepts everybody */
                if (!s->allow_fallback) {
                        session_break(s, ACCESS_CONTROL_EXCEPTION,
                                      "Server asks us to fall back to SIMPLE auth, but this client is configured to "
                                      "only allow secure connections (ipc.client.fallback-to-simple-auth-allowed)");
                        return;
                }
                s->auth = HADOOP_RPC_SIMPLE;
        } else {
                if (m->has_token && m->token.len && !session_step(s, &m->token, SASL_STATE_SUCCESS, NULL))
                        return;
                if (!s->sasl->is_complete(s->sasl_client)) {
                        session_fail_authentication(s, "the server ended the authentication before it proved itself");
                        return;
                }
                s->encode_limit = s->sasl->encode_limit(s->sasl_client);
        }
        session_become_ready(s);
}

static void session_unwrap(struct hadoop_rpc_session *s, const ProtobufCBinaryData *token)
{
        char message[512] = "";
        const void *plain;
        size_t len;
        if (s->sasl->decode(s->sasl_client, token->data, token->len, &plain, &len, message, sizeof(message)) < 0)
                session_break(s, "", message);
        else
                buf_append(&s->plain, plain, len);
}

static void session_take_sasl(struct hadoop_rpc_session *s, const Firesteel__Hadoop__SaslMessage *m)
{
        const bool authenticating = s->phase == SESSION_AUTHENTICATING && s->auth != HADOOP_RPC_SIMPLE;
        if (m->state == SASL_STATE_NEGOTIATE && authenticating && !s->sasl_client)
                session_negotiate(s, m);
        else if (m->state == SASL_STATE_CHALLENGE && authenticating && s->sasl_client)
                session_step(s, &m->token, SASL_STATE_RESPONSE, NULL);
        else if (m->state == SASL_STATE_SUCCESS && authenticating)
                session_succeed(s, m);
        else if (m->state == SASL_STATE_WRAP && s->encode_limit && m->has_token)
                session_unwrap(s, &m->token);
        else
                session_break(s, "", "the server sent a SASL message out of order");
}

/* -------------------------------------------------------------------------------------------------- frames received */

/* Reads the length of a delimited message, which must lie within what follows. Returns NULL when it does not. */
static const uint8_t *delimited_start(const uint8_t *p, const uint8_t *end, size_t *len)
{
        size_t value = 0;
        for (int shift = 0; p < end && shift < 35; shift += 7) {
                const uint8_t byte = *p++;
                value |= (size_t)(byte & 0x7f) << shift;
                if (!(byte & 0x80)) {
                        *len = value;
                        return value <= (size_t)(end - p) ? p : NULL;
                }
        }
        return NULL;
}

static void session_take_answer(struct hadoop_rpc_session *s, const Firesteel__Hadoop__RpcResponseHeader *header,
                                const uint8_t *p, const uint8_t *end)
{
        const int32_t id = (int32_t)header->call_id;
        const char *exception = header->exception_class ? header->exception_class : "";
        size_t len;
        if (header->status != RPC_SUCCESS) {
                _cleanup_free_ char *message = message_without_stack(header->error_message);
                if (header->status != RPC_ERROR)
                        session_break(s, exception, message);
                else
                        queue_push(&s->events, (struct session_event){.type = HADOOP_RPC_ERROR,
                                                                      .call_id = id,
                                                                      .exception = mem_strdup(exception),
                                                                      .message = steal(message)});
                return;
        }
        p = delimited_start(p, end, &len);
        if (!p) {
                session_break(s, "", "the server sent a damaged answer");
                return;
        }
        if (id == RPC_CALL_SASL) {
                Firesteel__Hadoop__SaslMessage *m = firesteel__hadoop__sasl_message__unpack(NULL, len, p);
                if (m)
                        session_take_sasl(s, m);
                else
                        session_break(s, "", "the server sent a damaged SASL message");
                firesteel__hadoop__sasl_message__free_unpacked(m, NULL);
                return;
        }
        struct session_event e = {.type = HADOOP_RPC_ANSWER, .call_id = id};
        buf_append(&e.body, p, len);
        queue_push(&s->events, e);
}

/* @protected: the frame came out of SASL's protection. */
static void session_take_frame(struct hadoop_rpc_session *s, const uint8_t *p, size_t len, bool protected)
{
        const uint8_t *end = p + len;
        size_t header_len;
        const uint8_t *start = delimited_start(p, end, &header_len);
        Firesteel__Hadoop__RpcResponseHeader *header =
                start ? firesteel__hadoop__rpc_response_header__unpack(NULL, header_len, start) : NULL;
        if (!header) {
                session_break(s, "", "the server sent a damaged frame");
                return;
        }
        if (s->encode_limit && protected == ((int32_t)header->call_id == RPC_CALL_SASL))
                session_break(s, "",
                              protected ? "the server sent SASL inside SASL's protection"
                                        : "the server sent an answer outside of SASL's protection");
        else
                session_take_answer(s, header, start + header_len, end);
        firesteel__hadoop__rpc_response_header__free_unpacked(header, NULL);
}

static void session_refuse_length(struct hadoop_rpc_session *s, const uint8_t *p, size_t len)
{
        if (memcmp(p, "HTTP", 4) == 0) {
                session_break(s, RPC_EXCEPTION,
                              "the port speaks HTTP, not Hadoop's RPC (is it the port of the web interface?)");
                return;
        }
        _cleanup_free_ char *text = mem_printf("the server sent a frame of %zu bytes, and at most %zu are allowed", len,
                                               HADOOP_RPC_MAX_FRAME);
        session_break(s, "", text);
}

/* Takes the whole frames of @from. A frame that changes the protection leaves the rest for the next look. */
static void session_take_frames(struct hadoop_rpc_session *s, struct buf *from)
{
        size_t used = 0;
        while (s->phase != SESSION_BROKEN && from->len - used >= 4) {
                const uint8_t *p = (const uint8_t *)from->data + used;
                const size_t len = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
                if (len > HADOOP_RPC_MAX_FRAME) {
                        session_refuse_length(s, p, len);
                        break;
                }
                if (from->len - used - 4 < len)
                        break;
                session_take_frame(s, p + 4, len, from == &s->plain);
                used += 4 + len;
        }
        if (used)
                memmove(from->data, from->data + used, from->len - used);
        if (from->data)
                buf_truncate(from, from->len - used);
}

void hadoop_rpc_session_input(struct hadoop_rpc_session *s, const void *data, size_t len)
{
        if (s->phase == SESSION_BROKEN)
                return;
        if (!buf_try_reserve(&s->in, len)) {
                session_break(s, "", "no memory for an answer of the server");
                return;
        }
        buf_append(&s->in, data, len);
        session_take_frames(s, &s->in);
        session_take_frames(s, &s->plain);
}

bool hadoop_rpc_session_next(struct hadoop_rpc_session *s, struct hadoop_rpc_event *out)
{
        session_event_deinit(&s->current);
        if (!queue_pop(&s->events, &s->current))
                return false;
        *out = (struct hadoop_rpc_event){.type = s->current.type,
                                         .call_id = s->current.call_id,
                                         .body = buf_text(&s->current.body),
                                         .len = s->current.body.len,
                                         .exception = s->current.exception ? s->current.exception : "",
                                         .message = s->current.message ? s->current.message : ""};
        return true;
}

struct buf *hadoop_rpc_session_output(struct hadoop_rpc_session *s)
{
        return &s->out;
}

/* ---------------------------------------------------------------------------------------------------- start and end */

static char *bytes_as_base64(const struct buf *bytes)
{
        struct buf text = BUF_INIT;
        buf_reserve(&text, 2 * bytes->len + 4);
        base64_put(&text, bytes->data, bytes->len);
        return buf_steal(&text);
}

int hadoop_rpc_session_new(const struct hadoop_rpc_options *options, struct hadoop_rpc_session **out,
                           struct fst_error *error)
{
        const struct sasl_ops *sasl = NULL;
        int r = options->auth == HADOOP_RPC_SIMPLE ? 0 : sasl_load(&sasl, error);
        if (r < 0)
                return r;
        struct hadoop_rpc_session *s = new0(struct hadoop_rpc_session);
        s->auth = options->auth;
        s->sasl = sasl;
        s->protocol = mem_strdup(options->protocol);
        s->user = options->user ? mem_strdup(options->user) : NULL;
        s->real_user = options->real_user ? mem_strdup(options->real_user) : NULL;
        s->server_principal = options->server_principal ? mem_strdup(options->server_principal) : NULL;
        s->principal_key = options->principal_key ? mem_strdup(options->principal_key) : NULL;
        s->allow_fallback = options->allow_fallback;
        memcpy(s->client_id, options->client_id, sizeof(s->client_id));
        if (options->auth == HADOOP_RPC_TOKEN) {
                s->token_user = bytes_as_base64(&options->token->identifier);
                s->token_password = bytes_as_base64(&options->token->password);
        }
        const unsigned char hello[] = {
                'h', 'r', 'p', 'c', RPC_VERSION, RPC_SERVICE_CLASS, sasl ? RPC_AUTH_SASL : RPC_AUTH_NONE};
        buf_append(&s->out, hello, sizeof(hello));
        if (sasl)
                session_send_sasl(s, SASL_STATE_NEGOTIATE, NULL, 0, NULL);
        else
                session_become_ready(s);
        *out = s;
        return 0;
}

void hadoop_rpc_session_free(struct hadoop_rpc_session *s)
{
        if (!s)
                return;
        if (s->sasl_client)
                s->sasl->close(s->sasl_client);
        if (s->token_password)
                explicit_bzero(s->token_password, strlen(s->token_password));
        free(s->protocol);
        free(s->user);
        free(s->real_user);
        free(s->server_principal);
        free(s->principal_key);
        free(s->host);
        free(s->token_user);
        free(s->token_password);
        buf_deinit(&s->in);
        buf_deinit(&s->plain);
        buf_deinit_secret(&s->out);
        buf_deinit_secret(&s->waiting);
        for (struct session_event e; queue_pop(&s->events, &e);)
                session_event_deinit(&e);
        queue_deinit(&s->events);
        session_event_deinit(&s->current);
        free(s);
}
