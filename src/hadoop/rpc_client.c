/* See rpc_client.h.
 *
 * A client has at most one connection (hadoop/rpc_connection.h). A call stays in `calls` until it has ended; with a new
 * connection all of them are sent again.
 */
#include "hadoop/rpc_client.h"

#include "hadoop/credentials.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "base/vec.h"
#include "hadoop/rpc_connection.h"
#include "net/socket.h"

#include <sys/random.h>

#define HADOOP_RPC_LOG "Client"
#define DEFAULT_CONNECT_TIMEOUT_MS 20000
#define DEFAULT_ANSWER_TIMEOUT_MS 120000
#define DEFAULT_RETRY_MS 1000
#define STOP_POLL_MS 100          /* between two looks at the flag `stopped` */
#define WARNING_INTERVAL_MS 10000 /* at least, between two warnings of a service that stays away */

struct pending_call {
        int32_t id, retries;
        int64_t deadline_ms; /* no attempt begins later; 0: one round */
        int64_t sent_ms;     /* on the present connection; 0: not sent */
        int64_t pause_ms;    /* until then it is not sent again */
        char *method;
        struct buf request; /* packed; it may hold secrets */
        struct hadoop_rpc_call call;
};

/* A call whose caller runs the loop. */
struct waiting_call {
        uv_loop_t *loop;
        bool done, interrupted;
        int status;
        ProtobufCMessage *answer;
        struct fst_error *error;
};

struct hadoop_rpc_client {
        uv_loop_t *loop;
        struct hadoop_rpc_options session;
        struct hadoop_token token; /* what session.token points to */
        struct string_list addresses;
        char *service;
        int64_t connect_timeout_ms, answer_timeout_ms, retry_ms, max_wait_ms;
        size_t address;     /* in use, or tried next */
        size_t failed;      /* addresses that failed since one last worked */
        char *last_message; /* why the last attempt failed */
        int last_status;
        struct hadoop_connection *connection;
        bool has_answered; /* on the connection */
        bool was_idle;     /* the connection's calls came after a time without any, and none of them is answered */
        VEC(struct pending_call *) calls;
        uint32_t last_id;
        uv_timer_t *timer;   /* a turn at the next deadline or attempt; freed when it is closed */
        int64_t retry_at_ms; /* 0: no wait */
        int64_t warned_ms;   /* when it last warned that no address works */
        const int *stopped;  /* atomic; NULL: never */
        bool freed;
};

static void client_turn(struct hadoop_rpc_client *client);

/* ------------------------------------------------------------------------------------------------------------ calls */

static void pending_call_free(struct pending_call *p)
{
        buf_deinit_secret(&p->request);
        free(p->method);
        free(p);
}

static void client_end_call(struct hadoop_rpc_client *client, size_t i, struct hadoop_rpc_result *result)
{
        struct pending_call *p = client->calls.data[i];
        client->calls.data[i] = client->calls.data[--client->calls.len];
        const struct hadoop_rpc_call call = p->call;
        pending_call_free(p);
        call.done(call.owner, result);
}

/* Ends the first @n calls. Calls that `done` makes come behind them and stay. */
static void client_end_calls(struct hadoop_rpc_client *client, size_t n, const struct hadoop_rpc_result *result)
{
        struct pending_call **ended = new_array(struct pending_call *, n + 1);
        for (size_t i = 0; i < n; i++)
                ended[i] = client->calls.data[i];
        vec_drop(&client->calls, n);
        for (size_t i = 0; i < n; i++) {
                const struct hadoop_rpc_call call = ended[i]->call;
                struct hadoop_rpc_result copy = *result;
                pending_call_free(ended[i]);
                if (!client->freed)
                        call.done(call.owner, &copy);
        }
        free(ended);
}

static struct pending_call *client_find_call(struct hadoop_rpc_client *client, int32_t id, size_t *place)
{
        for (*place = 0; *place < client->calls.len; (*place)++)
                if (client->calls.data[*place]->id == id)
                        return client->calls.data[*place];
        return NULL;
}

/* Wakes the client at once, or at its next deadline. */
static void on_client_timer(uv_timer_t *timer)
{
        client_turn(timer->data);
}

static void client_wake(struct hadoop_rpc_client *client, int64_t in_ms)
{
        const int64_t longest = client->stopped ? STOP_POLL_MS : INT64_MAX;
        uv_timer_start(client->timer, on_client_timer, (uint64_t)MAX(MIN(in_ms, longest), (int64_t)0), 0);
}

/* ------------------------------------------------------------------------------------------------- the connection */

/* Gives the connection up. All calls are sent again with the next one. */
static void client_drop_connection(struct hadoop_rpc_client *client)
{
        hadoop_connection_close(steal(client->connection));
        for (size_t i = 0; i < client->calls.len; i++) {
                struct pending_call *p = client->calls.data[i];
                p->retries += p->sent_ms != 0;
                p->sent_ms = 0;
        }
}

/* The address failed: remembers why, and tries the next one, after a pause when all have failed. */
static void client_failed(struct hadoop_rpc_client *client, int status, const char *message)
{
        free(client->last_message);
        client->last_message = mem_printf("%s", message);
        client->last_status = status;
        client_drop_connection(client);
        client->address = (client->address + 1) % client->addresses.len;
        client->failed++;
        client->retry_at_ms = client->failed % client->addresses.len == 0 ? now_ms() + client->retry_ms : 0;
        client_wake(client, 0);
}

/* When the last of the waiting calls ends without an answer; 0: with this round. */
static int64_t client_last_deadline_ms(const struct hadoop_rpc_client *client)
{
        int64_t last = 0;
        for (size_t i = 0; i < client->calls.len; i++)
                last = MAX(last, client->calls.data[i]->deadline_ms);
        return last;
}

/* Warns of the first address that fails, and now and then while none works. */
static void client_warn(struct hadoop_rpc_client *client, const char *text)
{
        const int64_t now = now_ms(), last = client_last_deadline_ms(client);
        const bool due = client->failed == 0 || now - client->warned_ms >= WARNING_INTERVAL_MS;
        if (due)
                client->warned_ms = now;
        const enum log_level level = due ? LOG_WARN : LOG_DEBUG;
        if (last == INT64_MAX)
                log_at(level, HADOOP_RPC_LOG, "%s. Trying again", text);
        else if (last > now)
                log_at(level, HADOOP_RPC_LOG, "%s. Trying again for %lld s", text,
                       (long long)(last - now + 999) / 1000);
        else
                log_at(level, HADOOP_RPC_LOG, "%s", text);
}

static void client_unreachable(struct hadoop_rpc_client *client, int status, const char *reason)
{
        _cleanup_free_ char *text = mem_printf("cannot reach the %s at %s: %s", client->service,
                                               client->addresses.data[client->address], reason);
        client_warn(client, text);
        client_failed(client, status, text);
}

static void client_on_unreachable(void *owner, int status, const char *reason)
{
        client_unreachable(owner, status, reason);
}

/* Servers close connections that are idle. A call that meets such a connection is sent again at once, to the same
 * address. */
static void client_on_broken(void *owner, int status, const char *reason)
{
        struct hadoop_rpc_client *client = owner;
        if (client->calls.len == 0) {
                hadoop_connection_close(steal(client->connection));
                return;
        }
        if (!client->was_idle) {
                client_unreachable(client, status, reason);
                return;
        }
        log_debug(HADOOP_RPC_LOG, "the idle connection to the %s at %s has ended (%s): connecting again",
                  client->service, client->addresses.data[client->address], reason);
        client_drop_connection(client);
        client->retry_at_ms = 0;
        client_wake(client, 0);
}

static void client_on_changed(void *owner)
{
        client_wake(owner, 0);
}

const char *hadoop_exception_name(const char *exception)
{
        const char *dot = strrchr(exception, '.');
        return dot ? dot + 1 : exception;
}

bool hadoop_exception_is(const char *exception, const char *name)
{
        return strcmp(hadoop_exception_name(exception), name) == 0;
}

ProtobufCMessage *hadoop_message_copy(const ProtobufCMessage *message)
{
        const size_t len = protobuf_c_message_get_packed_size(message);
        _cleanup_free_ uint8_t *bytes = mem_alloc(len + 1);
        protobuf_c_message_pack(message, bytes);
        return protobuf_c_message_unpack(message->descriptor, NULL, len, bytes);
}

static void client_take_answer(struct hadoop_rpc_client *client, const struct hadoop_rpc_event *e)
{
        size_t place;
        struct pending_call *p = client_find_call(client, e->call_id, &place);
        if (!p)
                return;
        struct hadoop_rpc_result result = {.exception = "", .message = ""};
        result.answer = protobuf_c_message_unpack(p->call.answer, NULL, e->len, e->body);
        if (!result.answer) {
                result.status = -EBADMSG;
                result.message = "a damaged answer";
        }
        client_end_call(client, place, &result);
}

static void client_take_exception(struct hadoop_rpc_client *client, const struct hadoop_rpc_event *e)
{
        size_t place;
        struct pending_call *p = client_find_call(client, e->call_id, &place);
        if (hadoop_exception_is(e->exception, "StandbyException") && client->addresses.len > 1) {
                client_unreachable(client, -EREMOTEIO, e->message);
                return;
        }
        if (!p)
                return;
        const int64_t again_ms = now_ms() + client->retry_ms;
        if (hadoop_exception_is(e->exception, "RetriableException") && again_ms < p->deadline_ms) {
                p->retries++;
                p->sent_ms = 0;
                p->pause_ms = again_ms;
                return;
        }
        struct hadoop_rpc_result result = {.status = -EREMOTEIO, .exception = e->exception, .message = e->message};
        client_end_call(client, place, &result);
}

/* A service that refuses the client does so at each attempt: all calls end. One on standby, or not ready yet, answers
 * so while it checks a token. */
static void client_take_break(struct hadoop_rpc_client *client, const struct hadoop_rpc_event *e)
{
        if (e->exception[0] == '\0' || hadoop_exception_is(e->exception, "StandbyException") ||
            hadoop_exception_is(e->exception, "RetriableException")) {
                client_unreachable(client, -EPROTO, e->message);
                return;
        }
        _cleanup_free_ char *exception = mem_strdup(e->exception), *message = mem_strdup(e->message);
        const struct hadoop_rpc_result result = {.status = -EACCES, .exception = exception, .message = message};
        hadoop_connection_close(steal(client->connection));
        client_end_calls(client, client->calls.len, &result);
}

static void client_on_event(void *owner, const struct hadoop_rpc_event *e)
{
        struct hadoop_rpc_client *client = owner;
        switch (e->type) {
        case HADOOP_RPC_READY:
                break;
        case HADOOP_RPC_ANSWER:
                client->failed = 0;
                client->has_answered = true;
                client->was_idle = false;
                client_take_answer(client, e);
                break;
        case HADOOP_RPC_ERROR:
                client_take_exception(client, e);
                break;
        case HADOOP_RPC_BROKEN:
                client_take_break(client, e);
                break;
        }
}

static const struct hadoop_connection_class client_connection_class = {
        .event = client_on_event,
        .unreachable = client_on_unreachable,
        .broken = client_on_broken,
        .changed = client_on_changed,
};

static void client_connect(struct hadoop_rpc_client *client)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        client->has_answered = client->was_idle = false;
        client->session.token = client->token.kind ? &client->token : NULL;
        int r = hadoop_connection_new(client->loop, client->addresses.data[client->address], &client->session,
                                      &client_connection_class, client, &client->connection, &error);
        if (r < 0)
                client_unreachable(client, r, error_message(&error));
        else
                hadoop_connection_start(client->connection);
}

/* ------------------------------------------------------------------------------------------------------- the client */

/* Ends calls that may not be tried again. */
static void client_expire_calls(struct hadoop_rpc_client *client, int64_t now)
{
        size_t n = 0;
        for (size_t i = 0; i < client->calls.len; i++) {
                struct pending_call *p = client->calls.data[i];
                if (p->sent_ms || client->failed < client->addresses.len || now < p->deadline_ms)
                        continue;
                client->calls.data[i] = client->calls.data[n];
                client->calls.data[n++] = p;
        }
        if (n == 0)
                return;
        _cleanup_free_ char *message = mem_strdup(client->last_message);
        const struct hadoop_rpc_result result = {.status = client->last_status, .exception = "", .message = message};
        client_end_calls(client, n, &result);
}

static void client_send_calls(struct hadoop_rpc_client *client, int64_t now)
{
        for (size_t i = 0; i < client->calls.len; i++) {
                struct pending_call *p = client->calls.data[i];
                if (p->sent_ms || now < p->pause_ms)
                        continue;
                p->sent_ms = now;
                hadoop_rpc_session_call(hadoop_connection_session(client->connection), p->id, p->retries, p->method,
                                        p->request.data, p->request.len);
        }
        hadoop_connection_flush(client->connection);
}

/* When the connection is given up if nothing happens; INT64_MAX: never. */
static int64_t client_deadline_ms(const struct hadoop_rpc_client *client)
{
        int64_t first = INT64_MAX;
        if (!hadoop_connection_is_connected(client->connection))
                return hadoop_connection_since_ms(client->connection) + client->connect_timeout_ms;
        for (size_t i = 0; i < client->calls.len; i++) {
                const struct pending_call *p = client->calls.data[i];
                if (p->sent_ms)
                        first = MIN(first, p->sent_ms + client->answer_timeout_ms);
        }
        return first;
}

/* When the next call may be sent again; INT64_MAX: none waits for that. */
static int64_t client_next_attempt_ms(const struct hadoop_rpc_client *client)
{
        int64_t first = INT64_MAX;
        for (size_t i = 0; i < client->calls.len; i++)
                if (!client->calls.data[i]->sent_ms)
                        first = MIN(first, client->calls.data[i]->pause_ms);
        return first;
}

/* When the first call that waits to be sent ends without an answer; INT64_MAX: never. */
static int64_t client_first_deadline_ms(const struct hadoop_rpc_client *client)
{
        int64_t first = INT64_MAX;
        for (size_t i = 0; i < client->calls.len; i++)
                if (!client->calls.data[i]->sent_ms)
                        first = MIN(first, client->calls.data[i]->deadline_ms);
        return first;
}

/* Does what is due: ends calls, connects, sends, gives up a connection that is silent. */
static void client_turn(struct hadoop_rpc_client *client)
{
        const int64_t now = now_ms();
        client_expire_calls(client, now);
        if (client->freed || client->calls.len == 0)
                return;
        if (!client->connection && now < client->retry_at_ms) {
                client_wake(client, MIN(client->retry_at_ms, client_first_deadline_ms(client)) - now);
                return;
        }
        if (!client->connection)
                client_connect(client);
        if (!client->connection)
                return; /* it failed at once, and set the timer */
        client_send_calls(client, now);
        if (!client->connection)
                return;
        const int64_t deadline = client_deadline_ms(client);
        if (deadline <= now) {
                const bool connected = hadoop_connection_is_connected(client->connection);
                if (connected || !hadoop_connection_try_next(client->connection))
                        client_unreachable(client, -ETIMEDOUT, connected ? "no answer" : "no connection");
                return;
        }
        const int64_t next = MIN(deadline, client_next_attempt_ms(client));
        if (next < INT64_MAX)
                client_wake(client, next - now);
}

static int64_t client_deadline_of_call(const struct hadoop_rpc_client *client)
{
        int64_t deadline_ms;
        if (client->max_wait_ms == 0)
                return 0;
        if (client->max_wait_ms < 0 || __builtin_add_overflow(now_ms(), client->max_wait_ms, &deadline_ms))
                return INT64_MAX;
        return deadline_ms;
}

/* @value, or @otherwise for none, limited to a year: times are added to it. */
static int64_t option_ms(int64_t value, int64_t otherwise)
{
        return value > 0 ? MIN(value, INT64_C(365) * 24 * 3600 * 1000) : otherwise;
}

void hadoop_rpc_client_call(struct hadoop_rpc_client *client, const struct hadoop_rpc_call *call,
                            const ProtobufCMessage *request)
{
        struct buf packed = BUF_INIT;
        hadoop_message_pack(request, &packed);
        hadoop_rpc_client_call_packed(client, call, &packed);
}

void hadoop_rpc_client_call_packed(struct hadoop_rpc_client *client, const struct hadoop_rpc_call *call,
                                   struct buf *request)
{
        struct pending_call *p = new0(struct pending_call);
        p->id = (int32_t)(client->last_id++ & INT32_MAX);
        p->call = *call;
        p->method = mem_strdup(call->method);
        p->deadline_ms = client_deadline_of_call(client);
        p->request = *request;
        *request = BUF_INIT;
        if (client->calls.len == 0 && !client->connection)
                client->failed = 0;
        if (client->calls.len == 0 && client->connection)
                client->was_idle = client->has_answered;
        vec_push(&client->calls, p);
        client_wake(client, 0);
}

int hadoop_rpc_result_error(const struct hadoop_rpc_result *result, struct fst_error *error)
{
        if (result->status == 0)
                return 0;
        return result->exception[0] ? error_set(error, result->status, "%s: %s",
                                                hadoop_exception_name(result->exception), result->message)
                                    : error_set(error, result->status, "%s", result->message);
}

void hadoop_rpc_client_cancel(struct hadoop_rpc_client *client)
{
        const struct hadoop_rpc_result result = {.status = -ECANCELED, .exception = "", .message = "canceled"};
        client_end_calls(client, client->calls.len, &result);
}

static bool client_is_stopped(const struct hadoop_rpc_client *client)
{
        return client->stopped && __atomic_load_n(client->stopped, __ATOMIC_RELAXED);
}

/* Ends the call of @w, which is still pending. */
static void client_interrupt(struct hadoop_rpc_client *client, struct waiting_call *w)
{
        w->interrupted = true;
        _cleanup_free_ char *message = mem_printf("interrupted while waiting for the %s at %s", client->service,
                                                  hadoop_rpc_client_address(client));
        for (size_t i = 0; i < client->calls.len; i++)
                if (client->calls.data[i]->call.owner == w) {
                        client_end_call(
                                client, i,
                                &(struct hadoop_rpc_result){.status = -EINTR, .exception = "", .message = message});
                        return;
                }
}

static void on_waiting_done(void *owner, struct hadoop_rpc_result *result)
{
        struct waiting_call *w = owner;
        w->done = true;
        if (!w->interrupted)      /* the loop does not run then */
                uv_stop(w->loop); /* a callback of a timer: uv_run would wait for I/O before it returns */
        w->status = hadoop_rpc_result_error(result, w->error);
        w->answer = result->answer;
}

static void client_run_until_done(struct hadoop_rpc_client *client, struct waiting_call *w)
{
        while (!w->done) {
                if (client_is_stopped(client))
                        client_interrupt(client, w);
                else
                        uv_run(client->loop, UV_RUN_ONCE);
        }
}

int hadoop_rpc_client_wait(struct hadoop_rpc_client *client, const struct hadoop_rpc_call *call,
                           const ProtobufCMessage *request, ProtobufCMessage **answer, struct fst_error *error)
{
        struct waiting_call w = {.loop = client->loop, .error = error};
        struct hadoop_rpc_call waiting = *call;
        waiting.done = on_waiting_done;
        waiting.owner = &w;
        hadoop_rpc_client_call(client, &waiting, request);
        client_run_until_done(client, &w);
        if (w.status == 0)
                *answer = w.answer;
        return w.status;
}

void hadoop_rpc_client_set_stopped(struct hadoop_rpc_client *client, const int *stopped)
{
        client->stopped = stopped;
}

void hadoop_rpc_client_limit_wait(struct hadoop_rpc_client *client, int64_t max_wait_ms)
{
        client->max_wait_ms = max_wait_ms;
}

const char *hadoop_rpc_client_address(const struct hadoop_rpc_client *client)
{
        return client->addresses.data[client->address];
}

void hadoop_rpc_client_set_token(struct hadoop_rpc_client *client, const struct hadoop_token *token)
{
        hadoop_token_deinit(&client->token);
        hadoop_token_copy(token, &client->token);
        client->session.auth = HADOOP_RPC_TOKEN;
}

int hadoop_rpc_client_new(uv_loop_t *loop, const struct hadoop_rpc_client_options *options,
                          struct hadoop_rpc_client **out, struct fst_error *error)
{
        struct host_port hp;
        int r = options->n_addresses ? 0 : error_set(error, -EINVAL, "no address of the %s", options->service);
        for (size_t i = 0; r == 0 && i < options->n_addresses; i++)
                r = host_port_parse(options->addresses[i], &hp, error);
        if (r == 0 && options->session.auth == HADOOP_RPC_TOKEN && !options->session.token)
                r = error_set(error, -EINVAL, "no token for the %s (is HADOOP_TOKEN_FILE_LOCATION set?)",
                              options->service);
        if (r < 0)
                return r;
        struct hadoop_rpc_client *client = new0(struct hadoop_rpc_client);
        client->loop = loop;
        client->session = options->session;
        client->session.protocol = mem_strdup(options->session.protocol);
        client->session.user = options->session.user ? mem_strdup(options->session.user) : NULL;
        client->session.real_user = options->session.real_user ? mem_strdup(options->session.real_user) : NULL;
        if (options->session.server_principal)
                client->session.server_principal = mem_strdup(options->session.server_principal);
        if (options->session.principal_key)
                client->session.principal_key = mem_strdup(options->session.principal_key);
        if (options->session.token)
                hadoop_token_copy(options->session.token, &client->token);
        if (getrandom(client->session.client_id, HADOOP_RPC_CLIENT_ID, 0) != HADOOP_RPC_CLIENT_ID)
                memset(client->session.client_id, 0, HADOOP_RPC_CLIENT_ID);
        for (size_t i = 0; i < options->n_addresses; i++)
                string_list_add(&client->addresses, options->addresses[i]);
        client->service = mem_strdup(options->service);
        client->connect_timeout_ms = option_ms(options->connect_timeout_ms, DEFAULT_CONNECT_TIMEOUT_MS);
        client->answer_timeout_ms = option_ms(options->answer_timeout_ms, DEFAULT_ANSWER_TIMEOUT_MS);
        client->retry_ms = option_ms(options->retry_ms, DEFAULT_RETRY_MS);
        client->max_wait_ms = options->max_wait_ms;
        client->timer = new0(uv_timer_t);
        uv_timer_init(loop, client->timer);
        client->timer->data = client;
        *out = client;
        return 0;
}

static void on_client_closed(uv_handle_t *handle)
{
        struct hadoop_rpc_client *client = handle->data;
        free((char *)client->session.protocol);
        free((char *)client->session.user);
        free((char *)client->session.real_user);
        free((char *)client->session.server_principal);
        free((char *)client->session.principal_key);
        hadoop_token_deinit(&client->token);
        string_list_deinit(&client->addresses);
        free(client->service);
        free(client->last_message);
        vec_deinit(&client->calls);
        free(client->timer);
        free(client);
}

void hadoop_rpc_client_free(struct hadoop_rpc_client *client)
{
        if (!client || client->freed)
                return;
        client->freed = true;
        for (size_t i = 0; i < client->calls.len; i++)
                pending_call_free(client->calls.data[i]);
        client->calls.len = 0;
        hadoop_connection_close(steal(client->connection));
        uv_close((uv_handle_t *)client->timer, on_client_closed);
}
