/* See celeborn_auth.h. Celeborn's servers and clients are Java's SASL with no protocol and the server name "default".
 */
#include "celeborn/protocol/celeborn_auth.h"

#include "base/base64.h"
#include "base/error.h"
#include "base/mem.h"
#include "celeborn/protocol/celeborn.pb-c.h"
#include "celeborn/protocol/celeborn_frame.h"
#include "celeborn/protocol/celeborn_message.h"
#include "hadoop/sasl.h"
#include "rpc/wire_memory.h"

#include <string.h>

#define VERSION "1.0"
#define ANONYMOUS "ANONYMOUS"
#define DIGEST "DIGEST-MD5"
#define PROTOCOL "null"  /* Java's text of no protocol */
#define SERVER "default" /* also the realm */
#define MAX_REFUSAL 1000 /* bytes of the server's text */
#define SASL_MESSAGE_SIZE 256

enum celeborn_auth_type { AUTH_OF_APPLICATION = 1, AUTH_OF_CONNECTION = 2 };

/* The request without an answer. */
enum celeborn_auth_state { AUTH_INITIATION, AUTH_ANONYMOUS, AUTH_REGISTRATION, AUTH_DIGEST };

struct celeborn_auth {
        enum celeborn_auth_state state;
        int64_t request;
        char *app_id, *secret;
        const struct sasl_ops *sasl;
        struct sasl_client *client;
};

static void auth_put(struct celeborn_auth *a, int type, const ProtobufCMessage *message, struct buf *out)
{
        celeborn_put_data_request(out, ++a->request, type, message);
}

/* ------------------------------------------------------------------------------------------------------- requests */

static void auth_put_initiation(struct celeborn_auth *a, struct buf *out)
{
        int32_t types[] = {AUTH_OF_APPLICATION, AUTH_OF_CONNECTION};
        Celeborn__SaslMechanism anonymous = CELEBORN__SASL_MECHANISM__INIT, digest = CELEBORN__SASL_MECHANISM__INIT;
        Celeborn__SaslMechanism *mechanisms[] = {&anonymous, &digest};
        Celeborn__AuthenticationInitiation message = CELEBORN__AUTHENTICATION_INITIATION__INIT;
        anonymous.mechanism = (char *)ANONYMOUS;
        anonymous.auth_types = &types[0];
        digest.mechanism = (char *)DIGEST;
        digest.auth_types = &types[1];
        anonymous.n_auth_types = digest.n_auth_types = 1;
        message.version = (char *)VERSION;
        message.auth_enabled = true;
        message.sasl_mechanisms = mechanisms;
        message.n_sasl_mechanisms = 2;
        auth_put(a, CELEBORN_AUTHENTICATION_INITIATION, &message.base, out);
}

static void auth_put_sasl(struct celeborn_auth *a, const char *method, enum celeborn_auth_type type,
                          const void *payload, size_t len, struct buf *out)
{
        Celeborn__SaslRequest message = CELEBORN__SASL_REQUEST__INIT;
        message.method = (char *)method;
        message.auth_type = type;
        message.payload = (ProtobufCBinaryData){.len = len, .data = (uint8_t *)payload};
        auth_put(a, CELEBORN_SASL_REQUEST, &message.base, out);
}

static void auth_put_registration(struct celeborn_auth *a, struct buf *out)
{
        Celeborn__RegisterApplicationRequest message = CELEBORN__REGISTER_APPLICATION_REQUEST__INIT;
        message.id = a->app_id;
        message.secret = a->secret;
        auth_put(a, CELEBORN_REGISTER_APPLICATION, &message.base, out);
}

static int auth_open_digest(struct celeborn_auth *a, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf user = BUF_INIT;
        _cleanup_(buf_deinit_secret) struct buf password = BUF_INIT;
        char message[SASL_MESSAGE_SIZE];
        int r = sasl_load(&a->sasl, error);
        if (r < 0)
                return error_wrap(error, r, "spark.celeborn.auth.enabled");
        base64_put(&user, a->app_id, strlen(a->app_id));
        base64_put(&password, a->secret, strlen(a->secret));
        const struct sasl_client_options options = {
                .mechanism = DIGEST, .service = PROTOCOL, .host = SERVER, .user = user.data, .password = password.data};
        r = a->sasl->open(&options, &a->client, message, sizeof(message));
        return r < 0 ? error_set(error, -EACCES, "spark.celeborn.auth.enabled: %s", message) : 0;
}

int celeborn_auth_new(enum celeborn_auth_kind kind, const char *app_id, const char *secret, struct celeborn_auth **auth,
                      struct buf *out, struct fst_error *error)
{
        struct celeborn_auth *a = new0(struct celeborn_auth);
        a->app_id = mem_strdup(app_id);
        a->secret = mem_strdup(secret);
        if (kind == CELEBORN_AUTH_REGISTER) {
                a->state = AUTH_INITIATION;
                auth_put_initiation(a, out);
        } else {
                a->state = AUTH_DIGEST;
                int r = auth_open_digest(a, error);
                if (r) {
                        celeborn_auth_free(a);
                        return r;
                }
                auth_put_sasl(a, DIGEST, AUTH_OF_CONNECTION, NULL, 0, out);
        }
        *auth = a;
        return 0;
}

void celeborn_auth_free(struct celeborn_auth *a)
{
        if (!a)
                return;
        if (a->client)
                a->sasl->close(a->client);
        explicit_bzero(a->secret, strlen(a->secret));
        free(a->secret);
        free(a->app_id);
        free(a);
}

/* -------------------------------------------------------------------------------------------------------- answers */

/* The server's text is a stack trace of Java: its first line, or all if it names the leading master. */
static int auth_refused(const struct celeborn_auth *a, const struct celeborn_frame *frame, struct fst_error *error)
{
        static const char trace[] = "\n\tat ";
        const char *text = "";
        size_t len = 0;
        celeborn_frame_failure(frame, &text, &len);
        if (!memmem(text, len, "Suggested leader", strlen("Suggested leader"))) {
                const char *end = memmem(text, len, trace, sizeof(trace) - 1);
                len = end ? (size_t)(end - text) : len;
        }
        return error_set(error, -EACCES, "Celeborn refuses %s of application %s: %.*s",
                         a->state == AUTH_DIGEST ? "the secret" : "the registration", a->app_id,
                         (int)MIN(len, (size_t)MAX_REFUSAL), text);
}

static bool auth_message(const struct celeborn_frame *frame, int type, struct celeborn_message *message)
{
        return celeborn_data_message_parse(frame->body, frame->body_len, message, NULL) == 0 && message->type == type;
}

static bool auth_initiation_matches(const struct celeborn_frame *frame)
{
        struct celeborn_message message;
        if (!auth_message(frame, CELEBORN_AUTHENTICATION_INITIATION_RESPONSE, &message))
                return false;
        struct wire_memory memory = wire_memory_for(message.len);
        ProtobufCAllocator allocator = wire_memory_allocator(&memory);
        const Celeborn__AuthenticationInitiation *m =
                celeborn__authentication_initiation__unpack(&allocator, message.len, message.body);
        bool anonymous = false, digest = false;
        for (size_t i = 0; m && i < m->n_sasl_mechanisms; i++)
                for (size_t j = 0; j < m->sasl_mechanisms[i]->n_auth_types; j++) {
                        const Celeborn__SaslMechanism *s = m->sasl_mechanisms[i];
                        anonymous |= s->auth_types[j] == AUTH_OF_APPLICATION && strcmp(s->mechanism, ANONYMOUS) == 0;
                        digest |= s->auth_types[j] == AUTH_OF_CONNECTION && strcmp(s->mechanism, DIGEST) == 0;
                }
        const bool matches = m && strcmp(m->version, VERSION) == 0 && anonymous && digest;
        arena_deinit(&memory.arena);
        return matches;
}

static bool auth_registration_succeeded(const struct celeborn_frame *frame)
{
        struct celeborn_message message;
        if (!auth_message(frame, CELEBORN_REGISTER_APPLICATION_RESPONSE, &message))
                return false;
        struct wire_memory memory = wire_memory_for(message.len);
        ProtobufCAllocator allocator = wire_memory_allocator(&memory);
        const Celeborn__RegisterApplicationResponse *m =
                celeborn__register_application_response__unpack(&allocator, message.len, message.body);
        const bool status = m && m->status;
        arena_deinit(&memory.arena);
        return status;
}

static int auth_on_challenge(struct celeborn_auth *a, const struct celeborn_frame *frame, struct buf *out,
                             struct fst_error *error)
{
        const void *answer;
        size_t len;
        char message[SASL_MESSAGE_SIZE];
        if (a->sasl->step(a->client, frame->body, frame->body_len, &answer, &len, message, sizeof(message)) < 0)
                return error_set(error, -EACCES, "Celeborn does not prove the secret of application %s: %s", a->app_id,
                                 message);
        if (a->sasl->is_complete(a->client))
                return FST_CELEBORN_E_AUTHENTICATED;
        auth_put_sasl(a, "", AUTH_OF_CONNECTION, answer, len, out);
        return 0;
}

int celeborn_auth_on_frame(struct celeborn_auth *a, const struct celeborn_frame *frame, struct buf *out,
                           struct fst_error *error)
{
        int64_t request;
        if (frame->type == CELEBORN_HEARTBEAT)
                return 0;
        if (!celeborn_frame_request_id(frame, &request) || request != a->request ||
            (frame->type != CELEBORN_RPC_RESPONSE && frame->type != CELEBORN_RPC_FAILURE))
                return error_set(error, -EPROTO,
                                 "Celeborn sent a frame of type %u before the connection is authenticated",
                                 frame->type);
        if (frame->type == CELEBORN_RPC_FAILURE)
                return auth_refused(a, frame, error);
        switch (a->state) {
        case AUTH_INITIATION:
                if (!auth_initiation_matches(frame))
                        return error_set(error, -EPROTO,
                                         "Celeborn does not offer version " VERSION " of authentication with " ANONYMOUS
                                         " and " DIGEST);
                a->state = AUTH_ANONYMOUS;
                auth_put_sasl(a, ANONYMOUS, AUTH_OF_APPLICATION, NULL, 0, out);
                return 0;
        case AUTH_ANONYMOUS: /* one request is all of it */
                a->state = AUTH_REGISTRATION;
                auth_put_registration(a, out);
                return 0;
        case AUTH_REGISTRATION:
                return auth_registration_succeeded(frame)
                               ? FST_CELEBORN_E_AUTHENTICATED
                               : error_set(error, -EACCES, "Celeborn refuses the registration of application %s",
                                           a->app_id);
        case AUTH_DIGEST:
                return auth_on_challenge(a, frame, out, error);
        }
        return -EPROTO;
}
