/*
 * Calls, their attempts and their ends.
 *
 * A call is in one list from begin to end. It has a running transfer, waits for a time (due >= 0), or waits for
 * credentials from a program (due < 0). Every attempt ends in on_answer, which decides by the call's safety whether to
 * retry. Every call ends in finish.
 *
 * Safety. maybe_done records over all attempts whether one without a response may have been carried out. After that, a
 * creation that meets "already exists" fetches the object and compares it, and a deletion that meets "not found" counts
 * as successful.
 */
#include "base/list.h"
#include "kubernetes/api/kube_internal.h"

#include "base/error.h"
#include "base/mem.h"
#include "process/loop_wait.h"
#include "text/json.h"

#include <unistd.h>

#define FIRST_PAUSE_MS 100
#define LONGEST_PAUSE_MS 10000
#define RENEW_BEFORE_S 30

/* ----------------------------------------------------------------------------------------------------------- calls */

static void kube_list_free(struct kube_list_state *l)
{
        if (!l)
                return;
        free(l->path);
        free(l->base_query);
        free(l->token);
        json_items_deinit(&l->reader);
        free(l);
}

static void kube_call_unlink(struct kube_call *call)
{
        struct kube_client *c = call->client;
        list_remove(c, call);
        c->n--;
        c->unlinked++;
}

static void kube_call_free(struct kube_call *call)
{
        free(call->method);
        free(call->path);
        free(call->query);
        free(call->content_type);
        free(call->accept);
        free(call->body);
        json_decref(call->created);
        json_decref(call->object);
        error_deinit(&call->error);
        kube_list_free(call->list);
        free(call);
}

static void kube_client_set_timer(struct kube_client *c);
static void kube_call_attempt(struct kube_call *call);

/* @call is invalid afterwards. */
static void kube_call_finish(struct kube_call *call, int r, int status, json_t *object, const struct fst_error *error)
{
        kube_call_unlink(call);
        if (!call->done) {
                call->over = true;
                call->result = r;
                call->object = json_incref(object);
                if (r != 0)
                        error_set(&call->error, r, "%s", error_message(error));
                call->client = NULL;
                return;
        }
        const char *reason = json_text_at(object, "reason");
        struct kube_response answer = {.status = status,
                                       .object = object,
                                       .reason = r != 0 && reason ? reason : "",
                                       .error = r != 0 ? error : NULL,
                                       .retry_after_ms = call->retry_after_ms,
                                       .attempts = call->attempts,
                                       .throttled = call->throttled,
                                       .maybe_done = r != 0 && call->maybe_done};
        call->done(call->owner, call, r, &answer);
        kube_call_free(call);
}

/* ----------------------------------------------------------------------------------------------------- credentials */

struct kube_refresh {
        uv_work_t work;
        struct kube_client *client; /* NULL: freed meanwhile */
        struct kube_config config;  /* a copy, because the program may outlive the client */
        struct kube_credential credential;
        struct fst_error error;
        int result;
};

static void kube_refresh_run(uv_work_t *work)
{
        struct kube_refresh *f = work->data;
        f->result = kube_exec_run(&f->config, KUBE_EXEC_TIMEOUT_MS, &f->credential, &f->error);
}

/* Transfers may still point to the old certificate. */
static void replace_credential(struct kube_client *c, struct kube_credential *fresh)
{
        if (c->credential.cert_data) {
                c->old = mem_grow(c->old, (c->n_old + 1) * sizeof(*c->old));
                c->old[c->n_old++] = c->credential;
        } else {
                kube_credential_deinit(&c->credential);
        }
        c->credential = *fresh;
        *fresh = (struct kube_credential){0};
        c->has_credential = true;
}

/* The first call that waits for credentials, or NULL. Each attempt or end of a call may change the list. */
static struct kube_call *kube_client_next_unauthorized(const struct kube_client *c)
{
        struct kube_call *call = c->first;
        while (call && (call->transfer || call->due >= 0))
                call = call->next;
        return call;
}

static void kube_refresh_on_done(uv_work_t *work, int status)
{
        struct kube_refresh *f = work->data;
        struct kube_client *c = f->client;
        if (c) {
                c->refresh = NULL;
                if (f->result == 0)
                        replace_credential(c, &f->credential);
                for (struct kube_call *call; !c->dead && (call = kube_client_next_unauthorized(c));) {
                        call->due = 0;
                        if (f->result == 0)
                                kube_call_attempt(call);
                        else
                                kube_call_finish(call, f->result, 0, NULL, &f->error);
                }
        }
        kube_credential_deinit(&f->credential);
        kube_config_deinit(&f->config);
        error_deinit(&f->error);
        free(f);
}

/* Whether the call has its credentials. If not, starts the program. The call resumes when it ends. */
static bool has_credential(struct kube_call *call)
{
        struct kube_client *c = call->client;
        const struct kube_config *config = c->config;
        if (!config->exec || config->token || config->token_file)
                return true;
        if (c->has_credential && (c->credential.expires == 0 || c->credential.expires > time(NULL) + RENEW_BEFORE_S))
                return true;
        call->due = -1;
        if (c->refresh)
                return false;
        struct kube_refresh *f = new0(struct kube_refresh);
        f->work.data = f;
        f->client = c;
        kube_config_copy_exec(config, &f->config);
        c->refresh = f;
        uv_queue_work(c->loop, &f->work, kube_refresh_run, kube_refresh_on_done);
        return false;
}

/* -------------------------------------------------------------------------------------------------------- attempts */

/* An item, or NULL: the list restarts. */
static int kube_list_on_item(void *owner, json_t *item)
{
        struct kube_call *call = owner;
        int r = call->cancelled ? -ECANCELED : call->list->item(call->owner, item);
        return call->cancelled ? -ECANCELED : r;
}

static int kube_call_on_data(void *context, const char *data, size_t n)
{
        struct kube_call *call = context;
        int r;
        call->streamed += n;
        call->reading = true;
        if (call->list)
                r = call->list->item_result = json_items_feed(&call->list->reader, data, n, &call->error);
        else
                r = call->sink(call->owner, data, n);
        call->reading = false;
        if (!call->cancelled)
                return r;
        kube_call_free(call);
        return -ECANCELED;
}

static void kube_call_on_response(void *owner, struct http_transfer *transfer, int r, struct http_answer *answer,
                                  const struct fst_error *error);

static void kube_call_transfer(struct kube_call *call, const char *token)
{
        struct kube_client *c = call->client;
        const struct kube_config *config = c->config;
        const char *headers[32];
        size_t n = 0;
        bool compares = call->comparing;
        const char *query = compares ? NULL : call->query;
        const char *name = json_text_at(call->created, "name");
        _cleanup_free_ char *url = mem_printf("%s%s%s%s%s%s", config->server, call->path, compares ? "/" : "",
                                              compares ? name : "", query && *query ? "?" : "", query ? query : "");
        _cleanup_free_ char *agent = mem_printf("User-Agent: %s", c->user_agent);
        _cleanup_free_ char *accept = mem_printf("Accept: %s", call->accept ? call->accept : "application/json");
        _cleanup_free_ char *type =
                mem_printf("Content-Type: %s", call->content_type ? call->content_type : "application/json");
        headers[n++] = agent;
        headers[n++] = accept;
        if (call->body && !compares)
                headers[n++] = type;
        for (size_t i = 0; config->impersonate && config->impersonate[i] && n < ARRAY_SIZE(headers) - 1; i++)
                headers[n++] = config->impersonate[i];
        headers[n] = NULL;
        _cleanup_free_ char *password =
                !token && config->user ? mem_printf("%s:%s", config->user, config->password ? config->password : "")
                                       : NULL;
        bool stream = call->sink != NULL;
        struct http_request q = {
                .url = url,
                .method = compares ? "GET" : call->method,
                .headers = headers,
                .body = compares ? NULL : call->body,
                .body_len = compares ? 0 : call->body_len,
                .timeout_ms = call->timeout_ms > 0             ? call->timeout_ms
                              : stream || call->timeout_ms < 0 ? 0
                                                               : config->request_timeout_ms,
                .stall_timeout_ms = call->silence_ms > 0 ? call->silence_ms
                                    : stream             ? -1
                                                         : 0,
                .user_password = password,
                .bearer = token,
                .fresh = call->fresh,
                .sink = (call->sink || call->list) && !compares ? kube_call_on_data : NULL,
                .context = call,
        };
        kube_credential_set_connection(config, &c->credential, &q);
        call->fresh = false;
        call->transfer = http_async_send(c->http, &q, kube_call_on_response, call);
}

static void kube_call_attempt(struct kube_call *call)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        _cleanup_free_ char *token = NULL;
        if (call->given_up) {
                _cleanup_free_ char *deed = kube_deed(call->method, call->path);
                error_set(&error, -ECANCELED, "cannot %s: cancelled by the caller", deed);
                kube_call_finish(call, -ECANCELED, 0, NULL, &error);
                return;
        }
        if (!has_credential(call))
                return;
        int r = kube_credential_read_token(call->client->config, &call->client->credential, &token, &error);
        call->attempts++;
        if (r < 0) {
                kube_call_finish(call, r, 0, NULL, &error);
                return;
        }
        kube_call_transfer(call, token);
        if (token)
                explicit_bzero(token, strlen(token));
}

/* Sends the call when the timer next fires, never from within the function that began the call. */
static void kube_call_schedule(struct kube_call *call, int64_t ms)
{
        call->due = (int64_t)uv_now(call->client->loop) + ms;
        kube_client_set_timer(call->client);
}

static void kube_client_on_timer(uv_timer_t *timer)
{
        struct kube_client *c = timer->data;
        int64_t now = (int64_t)uv_now(c->loop);
        for (bool again = true; again && !c->dead;) {
                again = false;
                for (struct kube_call *call = c->first, *next; call && !c->dead; call = next) {
                        next = call->next;
                        if (call->transfer || call->due < 0 || call->due > now)
                                continue;
                        call->due = INT64_MAX;
                        const uint64_t unlinked = c->unlinked;
                        kube_call_attempt(call);
                        if (c->unlinked != unlinked) { /* the call ended at once, so the list has changed */
                                again = true;
                                break;
                        }
                }
        }
        if (!c->dead)
                kube_client_set_timer(c);
}

static void kube_client_set_timer(struct kube_client *c)
{
        int64_t first = INT64_MAX, now = (int64_t)uv_now(c->loop);
        for (struct kube_call *call = c->first; call; call = call->next)
                if (!call->transfer && call->due >= 0 && call->due < first)
                        first = call->due;
        if (first == INT64_MAX)
                uv_timer_stop(&c->timer);
        else
                uv_timer_start(&c->timer, kube_client_on_timer, first > now ? (uint64_t)(first - now) : 0, 0);
}

/* Returns a random pause between half and all of the backoff, so that callers that failed together spread out. */
static int64_t retry_pause(struct kube_call *call)
{
        struct kube_client *c = call->client;
        int64_t pause = c->first_pause;
        for (int i = 1; i < call->attempts && pause < c->longest_pause; i++)
                pause *= 2;
        if (pause > c->longest_pause)
                pause = c->longest_pause;
        return MAX(pause / 2 + (int64_t)(rand_r(&c->seed) / (RAND_MAX / (pause / 2 + 1) + 1)), call->retry_after_ms);
}

static int64_t retry_after(const struct http_answer *answer)
{
        _cleanup_free_ char *text = http_answer_header(answer, "Retry-After");
        char *end;
        long seconds = text ? strtol(text, &end, 10) : 0;
        return text && *text && !*end && seconds > 0 && seconds < 3600 ? seconds * 1000 : 0;
}

static bool connection_failed(int r)
{
        switch (r) {
        case -EPROTO: /* an untrusted certificate stays untrusted */
        case -EINVAL:
        case -EFBIG:
        case -ENOMEM:
        case -ECANCELED:
                return false;
        default:
                return true;
        }
}

/* Whether a retry may help and cannot act twice. @maybe: this attempt may have been carried out. */
static bool kube_call_can_retry(const struct kube_call *call, int r, int status, bool maybe)
{
        if (call->attempts >= call->attempts_most)
                return false;
        if (call->sink && call->streamed > 0)
                return false;
        if (r < 0 ? !connection_failed(r) : status != 429 && status != 408 && status < 500)
                return false;
        if (status == 501 || status == 505)
                return false;
        return call->safety != KUBE_ONCE || !maybe || status == 429;
}

/*
 * Whether labels, annotations and the data of a config map or secret equal those that were sent. An object without any
 * of them cannot be identified.
 */
static bool kube_call_created(const struct kube_call *call, const json_t *object)
{
        const json_t *metadata = json_object_get(object, "metadata");
        const struct {
                const char *name;
                const json_t *there;
        } maps[] = {{"labels", json_object_get(metadata, "labels")},
                    {"annotations", json_object_get(metadata, "annotations")},
                    {"data", json_object_get(object, "data")}};
        size_t n = 0;
        for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
                json_t *sent = json_object_get(call->created, maps[i].name), *value;
                const char *key;
                json_object_foreach(sent, key, value)
                        if (n++, !json_equal(json_object_get(maps[i].there, key), value))
                                return false;
        }
        return n > 0 && !json_object_get(metadata, "deletionTimestamp");
}

void kube_list_begin(struct kube_call *call)
{
        json_items_deinit(&call->list->reader);
        call->list->reader = (struct json_items){.item = kube_list_on_item, .owner = call};
}

static void kube_call_retry(struct kube_call *call, int64_t ms)
{
        struct kube_list_state *l = call->list;
        if (l) {
                kube_list_begin(call);
                error_deinit(&call->error);
        }
        if (l && l->restart) {
                l->restart = false;
                free(steal(l->token));
                free(call->query);
                call->query = mem_strdup_if(l->base_query);
                call->reading = true;
                kube_list_on_item(call, NULL);
                call->reading = false;
                if (call->cancelled) {
                        kube_call_free(call);
                        return;
                }
        }
        kube_call_schedule(call, ms);
}

/* A page is complete: requests the next one, or ends. */
static void kube_list_next_page(struct kube_call *call)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct kube_list_state *l = call->list;
        json_t *rest = NULL;
        int r = json_items_end(&l->reader, &rest, &error);
        const json_t *metadata = json_object_get(rest, "metadata");
        const char *token = json_text_at(metadata, "continue");
        if (r < 0 || !token || !*token) {
                kube_call_finish(call, r, 200, rest, &error);
                json_decref(rest);
                return;
        }
        free(l->token);
        l->token = mem_strdup(token);
        free(call->query);
        call->query = mem_strdup_if(l->base_query);
        kube_query_add(&call->query, "continue", token);
        kube_list_begin(call);
        call->attempts = 0;
        json_decref(rest);
        kube_call_schedule(call, 0);
}

static void kube_call_fetch_existing(struct kube_call *call)
{
        call->comparing = true;
        kube_call_schedule(call, 0);
}

/* Handles the response with the existing object. */
static void kube_call_on_existing(struct kube_call *call, int status, json_t *object)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        call->comparing = false;
        if (status == 200 && kube_call_created(call, object)) {
                kube_call_finish(call, 0, 201, object, NULL);
                return;
        }
        if (status != 200 && call->attempts < call->attempts_most) { /* deleted meanwhile, or unknown again */
                kube_call_schedule(call, retry_pause(call));
                return;
        }
        _cleanup_free_ char *deed = kube_deed("POST", call->path);
        const char *name = json_text_at(call->created, "name");
        int r = status == 200 ? FST_KUBE_E_ALREADY_EXISTS : FST_KUBE_E_UNAVAILABLE;
        if (status == 200)
                error_set(&error, r, "cannot %s: \"%s\" already exists and belongs to another owner", deed, name);
        else
                error_set(&error, r, "cannot %s: \"%s\" already exists, and its owner is unknown (HTTP %d)", deed, name,
                          status);
        kube_call_finish(call, r, status == 200 ? 409 : status, NULL, &error);
}

/* The attempt got no response. */
static void kube_call_on_failure(struct kube_call *call, int r, bool sent, const struct fst_error *why)
{
        struct kube_list_state *l = call->list;
        if (l && l->item_result != 0) { /* `item` ended the list, or the document is not a list */
                struct fst_error error = call->error;
                _cleanup_free_ char *deed = kube_deed(call->method, call->path);
                call->error = FST_ERROR_INIT;
                error_wrap(&error, r, "cannot %s", deed);
                kube_call_finish(call, l->item_result, 200, NULL, &error);
                error_deinit(&error);
                return;
        }
        if (l)
                l->restart = l->reader.count > 0;
        call->maybe_done = call->maybe_done || (sent && !call->comparing);
        if (kube_call_can_retry(call, r, 0, sent && !call->comparing)) {
                call->fresh = r == -ETIMEDOUT;
                kube_call_retry(call, retry_pause(call));
                return;
        }
        struct fst_error error = FST_ERROR_INIT;
        _cleanup_free_ char *deed = kube_deed(call->method, call->path);
        error_set(&error, r, "cannot %s: %s", deed, error_message(why));
        kube_call_finish(call, r, 0, NULL, &error);
        error_deinit(&error);
}

static void kube_call_on_response(void *owner, struct http_transfer *transfer, int r, struct http_answer *answer,
                                  const struct fst_error *why)
{
        struct kube_call *call = owner;
        struct kube_client *c = call->client;
        bool sent = http_async_was_sent(transfer);
        call->transfer = NULL;
        call->due = INT64_MAX;
        if (r < 0) {
                kube_call_on_failure(call, r, sent, why);
                return;
        }
        int status = answer->status;
        c->answers++;
        if (status == 429)
                call->throttled++;
        call->retry_after_ms = retry_after(answer);
        bool renewable = c->config->token_file || (c->config->exec && !c->config->token);
        if (status == 401 && renewable && !call->credential_renewed) {
                call->credential_renewed = true;
                c->has_credential = c->has_credential && c->config->token_file;
                kube_call_schedule(call, 0);
                return;
        }
        call->maybe_done = call->maybe_done || (status >= 500 && !call->comparing);
        if (kube_call_can_retry(call, 0, status, true)) {
                kube_call_retry(call, retry_pause(call));
                return;
        }
        if (call->list && status >= 200 && status < 300) {
                kube_list_next_page(call);
                return;
        }
        json_t *object = json_loadb(buf_text(&answer->body), answer->body.len, 0, NULL);
        if (call->comparing) {
                kube_call_on_existing(call, status, object);
                json_decref(object);
                return;
        }
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        int outcome = kube_outcome(call, status, object, buf_text(&answer->body), &error);
        if (outcome == FST_KUBE_E_GONE && call->list && call->list->token &&
            call->attempts < call->attempts_most) { /* the list expired between pages */
                call->list->restart = true;
                kube_call_retry(call, 0);
        } else if (outcome == FST_KUBE_E_CONFLICT && call->retries_conflicts && call->attempts < call->attempts_most) {
                kube_call_retry(call, retry_pause(call));
        } else if (outcome == FST_KUBE_E_ALREADY_EXISTS && call->safety == KUBE_CREATION && call->maybe_done) {
                kube_call_fetch_existing(call);
        } else if (outcome == FST_KUBE_E_NOT_FOUND && strcmp(call->method, "DELETE") == 0 && call->maybe_done) {
                kube_call_finish(call, 0, 200, NULL, NULL);
        } else {
                kube_call_finish(call, outcome, status, object, &error);
        }
        json_decref(object);
}

/* ------------------------------------------------------------------------------------------------------- interface */

static int kube_client_check_file(const char *path, const char *what, struct fst_error *error)
{
        return path && access(path, R_OK) != 0
                       ? error_errno(error, "cannot read the %s %s for the API server", what, path)
                       : 0;
}

int kube_client_new(uv_loop_t *loop, const struct kube_config *config, const char *user_agent, struct kube_client **out,
                    struct fst_error *error)
{
        struct http_async *http;
        int r = kube_client_check_file(config->ca_file, "certificate", error);
        if (r == 0)
                r = kube_client_check_file(config->cert_file, "client certificate", error);
        if (r == 0)
                r = kube_client_check_file(config->key_file, "client key", error);
        if (r == 0)
                r = http_async_new(loop, &(struct http_async_options){0}, &http, error);
        if (r < 0)
                return r;
        struct kube_client *c = new0(struct kube_client);
        *c = (struct kube_client){.loop = loop,
                                  .config = config,
                                  .http = http,
                                  .user_agent = mem_strdup(user_agent ? user_agent : "firesteel"),
                                  .first_pause = FIRST_PAUSE_MS,
                                  .longest_pause = LONGEST_PAUSE_MS,
                                  .seed = (unsigned)uv_hrtime() ^ (unsigned)getpid()};
        uv_timer_init(loop, &c->timer);
        c->timer.data = c;
        *out = c;
        return 0;
}

static void kube_client_on_closed(uv_handle_t *handle)
{
        struct kube_client *c = handle->data;
        kube_credential_deinit(&c->credential);
        for (size_t i = 0; i < c->n_old; i++)
                kube_credential_deinit(&c->old[i]);
        free(c->old);
        free(c->user_agent);
        free(c);
}

void kube_client_free(struct kube_client *c)
{
        if (!c)
                return;
        while (c->first)
                kube_cancel(c->first);
        c->dead = true;
        if (c->refresh)
                c->refresh->client = NULL; /* it ends by itself */
        http_async_free(c->http);
        uv_close((uv_handle_t *)&c->timer, kube_client_on_closed);
}

uv_loop_t *kube_client_loop(const struct kube_client *c)
{
        return c->loop;
}

const struct kube_config *kube_client_config(const struct kube_client *c)
{
        return c->config;
}

size_t kube_client_pending(const struct kube_client *c)
{
        return c->n;
}

void kube_client_set_pause(struct kube_client *c, int64_t first_ms, int64_t longest_ms)
{
        c->first_pause = first_ms;
        c->longest_pause = longest_ms;
}

uint64_t kube_client_answers(const struct kube_client *c)
{
        return c->answers;
}

struct kube_call *kube_begin(struct kube_client *c, const struct kube_request *q, enum kube_safety safety,
                             kube_done *done, void *owner)
{
        struct kube_call *call = new0(struct kube_call);
        call->client = c;
        call->done = done;
        call->owner = owner;
        call->method = mem_strdup(q->method ? q->method : "GET");
        call->path = mem_strdup(q->path);
        call->query = q->query ? mem_strdup(q->query) : NULL;
        call->content_type = q->content_type ? mem_strdup(q->content_type) : NULL;
        call->accept = q->accept ? mem_strdup(q->accept) : NULL;
        call->body = q->body ? json_dumps(q->body, JSON_COMPACT) : NULL;
        call->body_len = call->body ? strlen(call->body) : 0;
        call->timeout_ms = q->timeout_ms;
        call->silence_ms = q->silence_ms;
        call->sink = q->sink;
        call->attempts_most = q->attempts > 0 ? q->attempts : KUBE_ATTEMPTS;
        call->safety = safety;
        list_append(c, call);
        c->n++;
        call->due = (int64_t)uv_now(c->loop);
        if (!uv_is_active((uv_handle_t *)&c->timer) || uv_timer_get_due_in(&c->timer) > 0)
                uv_timer_start(&c->timer, kube_client_on_timer, 0, 0);
        return call;
}

struct kube_call *kube_send(struct kube_client *c, const struct kube_request *q, kube_done *done, void *owner)
{
        bool json_patch = q->content_type && strstr(q->content_type, "json-patch");
        bool post = q->method && strcmp(q->method, "POST") == 0;
        return kube_begin(c, q, post || json_patch ? KUBE_ONCE : KUBE_SAFE, done, owner);
}

void kube_cancel(struct kube_call *call)
{
        if (!call->client) { /* over, without a waiter */
                kube_call_free(call);
                return;
        }
        kube_call_unlink(call);
        if (call->transfer)
                http_async_cancel(call->transfer);
        call->cancelled = true;
        if (!call->reading)
                kube_call_free(call);
}

void kube_limit_attempts(struct kube_call *call, int n)
{
        call->attempts_most = MIN(call->attempts_most, n);
}

void kube_bear_conflicts(struct kube_call *call)
{
        call->retries_conflicts = true;
}

void kube_give_up(struct kube_call *call)
{
        if (!call->client)
                return;
        kube_limit_attempts(call, call->attempts > 0 ? call->attempts : 1);
        if (call->transfer && http_async_was_sent(call->transfer))
                return;
        if (call->transfer)
                http_async_cancel(steal(call->transfer));
        call->given_up = true;
        kube_call_schedule(call, 0);
}

int kube_wait(struct kube_client *c, struct kube_call *call, json_t **object, struct fst_error *error)
{
        loop_wait_for_flag(c->loop, &call->over);
        int r = call->result;
        if (r != 0)
                error_set(error, r, "%s", error_message(&call->error));
        if (r == 0 && object)
                *object = steal(call->object);
        kube_call_free(call);
        return r;
}
