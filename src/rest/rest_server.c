/* See rest_server.h. Paths are matched as Spark's servlets are: /v1/submissions/kill/ID/anything kills ID. */
#include "rest/rest_server.h"

#include "base/error.h"
#include "base/list.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "conf/redact.h"
#include "net/http/http_server.h"
#include "net/secret.h"
#include "net/socket.h"
#include "rest/rest_request.h"
#include "web/filters.h"
#include "web/form.h"

#include <stdio.h>
#include <strings.h>

#define PATTERNS_KEY "spark.master.rest.allowedAppResourcePatterns"
#define BODY_KEY "spark.master.rest.maxRequestBodySize"
#define UNKNOWN_PROTOCOL 468
#define BASE "/" REST_PROTOCOL_VERSION "/submissions"

/* A valid request, until its answer. */
struct rest_exchange {
        struct rest_server *server;
        struct rest_exchange *prev, *next;
        enum rest_kind kind;
        char *id; /* NULL unless the path has one */
        struct rest_request request;
        rest_answered *answered;
        void *context;
};

struct rest_server {
        const struct fst_conf *conf;
        const struct rest_service *service;
        void *owner;
        int port;
        int64_t max_body;
        VEC(regex_t) allowed;
        LIST(struct rest_exchange) exchanges;
        struct http_server *http;
        struct filters *filters;
        char *token;  /* NULL if none is required */
        char *origin; /* of this server, once it listens */
        char *too_large;
};

/* --------------------------------------------------------------------------------------------------- answers */

static char *error_json(const char *message, const char *highest)
{
        struct rest_answer a = {.kind = REST_ERROR,
                                .message = mem_strdup(message),
                                .server_spark_version = mem_strdup(REST_SPARK_VERSION),
                                .highest_protocol_version = highest ? mem_strdup(highest) : NULL};
        char *json = rest_answer_json(&a);
        rest_answer_deinit(&a);
        return json;
}

static void rest_server_refuse(rest_answered *answered, void *context, int status, const char *message)
{
        answered(context, status, error_json(message, NULL), NULL);
}

static void exchange_free(struct rest_exchange *x)
{
        list_remove(&x->server->exchanges, x);
        rest_request_deinit(&x->request);
        free(x->id);
        free(x);
}

static struct rest_exchange *exchange_new(struct rest_server *s, enum rest_kind kind, const char *id,
                                          rest_answered *answered, void *context)
{
        struct rest_exchange *x = new0(struct rest_exchange);
        x->server = s;
        x->kind = kind;
        x->id = id ? mem_strdup(id) : NULL;
        x->answered = answered;
        x->context = context;
        list_prepend(&s->exchanges, x);
        return x;
}

void rest_exchange_answer(struct rest_exchange *x, struct rest_answer *a)
{
        a->kind = x->kind;
        if (!a->submission_id)
                a->submission_id = mem_strdup_if(x->id);
        for (size_t i = 0; i < x->request.unknown.len; i++) {
                a->has_unknown_fields = true;
                vec_push(&a->unknown_fields, mem_strdup(x->request.unknown.data[i]));
        }
        a->server_spark_version = mem_strdup(REST_SPARK_VERSION);
        x->answered(x->context, 200, rest_answer_json(a), NULL);
        rest_answer_deinit(a);
        exchange_free(x);
}

void rest_exchange_refuse(struct rest_exchange *x, int status, const char *message)
{
        rest_server_refuse(x->answered, x->context, status, message);
        exchange_free(x);
}

void rest_exchange_refuse_create(struct rest_exchange *x, int r, const struct fst_error *error)
{
        _cleanup_free_ char *text = mem_printf("Malformed request: %s", error_message(error));
        if (r == -ENOTSUP)
                log_warn(x->server->service->log_name, "A submission was refused: %s", error_message(error));
        rest_exchange_refuse(x, 400, r == -ENOMSG || r == -ENOTSUP ? error_message(error) : text);
}

/* --------------------------------------------------------------------------------------------------- requests */

static bool is_allowed(const struct rest_server *s, const char *resource)
{
        for (size_t i = 0; i < s->allowed.len; i++) {
                regmatch_t whole;
                if (regexec(&s->allowed.data[i], resource, 1, &whole, 0) == 0 && whole.rm_so == 0 &&
                    resource[whole.rm_eo] == '\0')
                        return true;
        }
        return s->allowed.len == 0;
}

static void handle_create(struct rest_server *s, struct rest_exchange *x, const struct rest_call *call)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        int r = rest_request_parse(&x->request, call->body, call->body_len, &error);
        if (r == 0 && !is_allowed(s, x->request.app_resource))
                r = error_set(
                        &error, -EBADMSG,
                        "org.apache.spark.deploy.rest.SubmitRestMissingFieldException: Valid application jar path "
                        "is required");
        if (r < 0)
                return rest_exchange_refuse_create(x, r, &error);
        s->service->create(s->owner, x, &x->request);
}

static void handle_kill(struct rest_server *s, struct rest_exchange *x, const struct rest_call *call)
{
        if (!*x->id)
                return rest_exchange_refuse(x, 400, "Submission ID is missing in kill request.");
        s->service->kill(s->owner, x, x->id);
}

static void handle_kill_all(struct rest_server *s, struct rest_exchange *x, const struct rest_call *call)
{
        s->service->kill_all(s->owner, x);
}

static void handle_clear(struct rest_server *s, struct rest_exchange *x, const struct rest_call *call)
{
        s->service->clear(s->owner, x);
}

static void handle_status(struct rest_server *s, struct rest_exchange *x, const struct rest_call *call)
{
        if (!*x->id)
                return rest_exchange_refuse(x, 400, "Submission ID is missing in status request.");
        s->service->status(s->owner, x, x->id);
}

static void handle_readyz(struct rest_server *s, struct rest_exchange *x, const struct rest_call *call)
{
        s->service->readyz(s->owner, x);
}

/* Answers a request outside the protocol. */
static void handle_other(const struct rest_server *s, const char *path, rest_answered *answered, void *context)
{
        static const char where[] = "Please submit requests through http://[host]:[port]" BASE "/...";
        const char *version = path + strspn(path, "/");
        size_t n = strcspn(version, "/");
        const char *rest = version + n + strspn(version + n, "/");
        size_t m = strcspn(rest, "/");
        _cleanup_free_ char *message = NULL;
        const char *highest = NULL;
        if (n == 0) {
                message = mem_printf("Missing protocol version. %s", where);
        } else if (n == strlen(REST_PROTOCOL_VERSION) && strncmp(version, REST_PROTOCOL_VERSION, n) == 0 && m == 0) {
                message = mem_printf("Missing the /submissions prefix. %s", where);
        } else if (n == strlen(REST_PROTOCOL_VERSION) && strncmp(version, REST_PROTOCOL_VERSION, n) == 0 &&
                   m == strlen("submissions") && strncmp(rest, "submissions", m) == 0) {
                message = mem_printf("Missing an action: please specify one of %s. %s", s->service->actions, where);
        } else {
                message = mem_printf("Unknown protocol version '%.*s'. %s", (int)n, version, where);
                highest = REST_PROTOCOL_VERSION;
        }
        answered(context, highest ? UNKNOWN_PROTOCOL : 400, error_json(message, highest), NULL);
}

static const struct rest_action {
        const char *path, *method;
        enum rest_kind kind;
        bool has_id; /* the path goes on with the id of a driver */
        void (*handle)(struct rest_server *s, struct rest_exchange *x, const struct rest_call *call);
} actions[] = {
        {BASE "/create", "POST", REST_CREATE, false, handle_create},
        {BASE "/kill", "POST", REST_KILL, true, handle_kill},
        {BASE "/killall", "POST", REST_KILL_ALL, false, handle_kill_all},
        {BASE "/clear", "POST", REST_CLEAR, false, handle_clear},
        {BASE "/status", "GET", REST_STATUS, true, handle_status},
        {BASE "/readyz", "GET", REST_READYZ, false, handle_readyz},
};

static bool rest_server_has_action(const struct rest_server *s, enum rest_kind kind)
{
        const struct rest_service *v = s->service;
        return kind == REST_KILL_ALL ? v->kill_all != NULL
               : kind == REST_CLEAR  ? v->clear != NULL
               : kind == REST_READYZ ? v->readyz != NULL
                                     : true;
}

/* @rest: what follows the action's path. */
static void rest_server_act(struct rest_server *s, const struct rest_action *action, const struct rest_call *call,
                            const char *rest, rest_answered *answered, void *context)
{
        if (strcmp(call->method, action->method) != 0) {
                _cleanup_free_ char *message =
                        mem_printf("HTTP method %.20s is not supported by this URL", call->method);
                return answered(context, 405, error_json(message, NULL), action->method);
        }
        rest += *rest == '/';
        _cleanup_free_ char *id = action->has_id ? mem_strndup(rest, strcspn(rest, "/")) : NULL;
        action->handle(s, exchange_new(s, action->kind, id, answered, context), call);
}

static bool has_token(const struct rest_server *s, const struct rest_call *call)
{
        static const char scheme[] = "Bearer ";
        if (!call->authorization || strncasecmp(call->authorization, scheme, strlen(scheme)) != 0)
                return false;
        const char *given = call->authorization + strlen(scheme);
        given += strspn(given, " ");
        return secret_equals(given, strlen(given), s->token);
}

/* Accepts parameters, as in "application/json; charset=utf-8". */
static bool is_json(const char *content_type)
{
        static const char json[] = "application/json";
        size_t n = strlen(json);
        return strncasecmp(content_type, json, n) == 0 && strchr("; \t", content_type[n]);
}

/* Browsers send forms and scripts of any page to any address. They add the page's origin to each POST to another one,
 * and send JSON only after a preflight request, which this server does not answer. Java's client sends no type with
 * an empty body.
 */
static int check_post(const struct rest_server *s, const struct rest_call *call, const char **refusal)
{
        if (call->origin && (!s->origin || strcasecmp(call->origin, s->origin) != 0)) {
                *refusal = "The request comes from a page of another origin.";
                return 403;
        }
        if (call->content_type ? !is_json(call->content_type) : call->body_len != 0) {
                *refusal = "The content type must be application/json.";
                return 415;
        }
        return 0;
}

static int check_call(const struct rest_server *s, const struct rest_call *call, const char **refusal)
{
        if (s->token && strcmp(call->path, BASE "/readyz") != 0 && !has_token(s, call)) {
                *refusal = "The request has no valid token: set " REST_TOKEN_KEY " to the token of this master.";
                return 401;
        }
        return strcmp(call->method, "POST") == 0 ? check_post(s, call, refusal) : 0;
}

void rest_server_handle(struct rest_server *s, const struct rest_call *call, rest_answered *answered, void *context)
{
        const char *refusal = NULL;
        int status = check_call(s, call, &refusal);
        if (status)
                return rest_server_refuse(answered, context, status, refusal);
        _cleanup_(buf_deinit) struct buf path = BUF_INIT;
        if (!form_put_decoded(&path, call->path, strlen(call->path)) || strcasestr(call->path, "%2f") ||
            form_has_controls(buf_text(&path)))
                return rest_server_refuse(answered, context, 400,
                                          "The path contains control characters or an encoded slash.");
        for (size_t i = 0; i < ARRAY_SIZE(actions); i++) {
                size_t n = strlen(actions[i].path);
                const char *rest = buf_text(&path) + n;
                if (!text_starts_with(buf_text(&path), actions[i].path) || (*rest && *rest != '/'))
                        continue;
                if (rest_server_has_action(s, actions[i].kind))
                        return rest_server_act(s, &actions[i], call, rest, answered, context);
        }
        handle_other(s, buf_text(&path), answered, context);
}

/* ---------------------------------------------------------------------------------------------------- lifetime */

static int read_patterns(struct rest_server *s, struct fst_error *error)
{
        _cleanup_free_ char *text = NULL;
        int r = conf_get_string(s->conf, PATTERNS_KEY, &text, error);
        for (char *at = text, *word; r == 0 && (word = strsep(&at, ","));) {
                regex_t pattern;
                word += strspn(word, " ");
                if (!*word)
                        continue;
                _cleanup_free_ char *whole = mem_printf("(%s)", word);
                r = redact_compile(&pattern, PATTERNS_KEY, whole, error);
                if (r == 0)
                        vec_push(&s->allowed, pattern);
        }
        return r;
}

/* JWSFilter reads the same header. */
static int read_token(struct rest_server *s, struct fst_error *error)
{
        int r = conf_get_string(s->conf, REST_TOKEN_KEY, &s->token, error);
        if (r == 0 && s->token)
                r = rest_token_check(s->token, error);
        if (r == 0 && s->token && filters_ask_for_token(s->filters))
                r = error_set(error, -EINVAL,
                              REST_TOKEN_KEY
                              " and a JWSFilter in spark.master.rest.filters both read the header Authorization: set "
                              "only one of them");
        return r;
}

static int read_conf(struct rest_server *s, struct fst_error *error)
{
        int r = conf_get_bytes(s->conf, BODY_KEY, &s->max_body, error);
        if (r == 0 && s->max_body <= 0)
                r = error_set(error, -EINVAL, BODY_KEY ": The max request body size must be positive.");
        if (r == 0)
                r = filters_new(s->conf, "spark.master.rest.filters", &s->filters, error);
        if (r == 0)
                r = read_token(s, error);
        return r < 0 ? r : read_patterns(s, error);
}

int rest_server_new(const struct fst_conf *conf, const struct rest_service *service, void *owner, int port,
                    struct rest_server **out, struct fst_error *error)
{
        struct rest_server *s = new0(struct rest_server);
        s->conf = conf;
        s->service = service;
        s->owner = owner;
        s->port = port;
        int r = read_conf(s, error);
        if (r < 0) {
                rest_server_free(s);
                return r;
        }
        _cleanup_free_ char *message =
                mem_printf("The request body exceeds the maximum allowed size (%lld bytes). Adjust " BODY_KEY
                           " to change the limit.",
                           (long long)s->max_body);
        s->too_large = error_json(message, NULL);
        *out = s;
        return 0;
}

void rest_server_free(struct rest_server *s)
{
        if (!s)
                return;
        http_server_free(s->http);
        while (s->exchanges.first)
                exchange_free(s->exchanges.first);
        for (size_t i = 0; i < s->allowed.len; i++)
                regfree(&s->allowed.data[i]);
        vec_deinit(&s->allowed);
        filters_free(s->filters);
        if (s->token)
                explicit_bzero(s->token, strlen(s->token));
        free(s->token);
        free(s->origin);
        free(s->too_large);
        free(s);
}

static void on_answered(void *context, int status, char *json, const char *allow)
{
        struct http_call *call = context;
        struct buf body = BUF_INIT;
        if (allow)
                http_call_set_header(call, "Allow", allow);
        if (status == 401)
                http_call_set_header(call, "WWW-Authenticate", "Bearer");
        buf_puts(&body, json);
        free(json);
        http_call_answer(call, status, "application/json;charset=utf-8", &body);
}

static void on_call(void *owner, struct http_call *call)
{
        struct rest_server *s = owner;
        _cleanup_free_ char *user = NULL;
        const char *refusal = NULL;
        int status = filters_pass_call(s->filters, call, &user, &refusal);
        if (status)
                return on_answered(call, status, error_json(refusal, NULL), NULL);
        struct rest_call c = {
                .method = call->method,
                .path = call->path,
                .body = call->body,
                .body_len = call->body_len,
                .authorization = http_call_header(call, "Authorization"),
                .content_type = http_call_header(call, "Content-Type"),
                .origin = http_call_header(call, "Origin"),
        };
        rest_server_handle(s, &c, on_answered, call);
}

static void warn_if_open(const struct rest_server *s)
{
        bool authenticate = false;
        if (s->token || filters_ask_for_token(s->filters) ||
            conf_get_bool(s->conf, "spark.authenticate", &authenticate, NULL) < 0 || !authenticate)
                return;
        log_warn(s->service->log_name,
                 "The REST server does not check spark.authenticate.secret: anyone who can connect can run drivers. "
                 "Set " REST_TOKEN_KEY " here and for the clients, or spark.master.rest.filters%s%s.",
                 *s->service->remedy ? ", or " : "", s->service->remedy);
}

int rest_server_listen(struct rest_server *s, uv_loop_t *loop, const char *host, struct fst_error *error)
{
        _cleanup_free_ char *own_host = NULL;
        int64_t retries = 0;
        int r = conf_get_string(s->conf, "spark.master.rest.host", &own_host, error);
        if (r == 0)
                r = conf_get_int(s->conf, "spark.port.maxRetries", &retries, error);
        if (r < 0)
                return r;
        struct http_server_options o = {
                .loop = loop,
                .service = "REST server",
                .host = own_host ? own_host : host,
                .port = s->port,
                .max_retries = (int)retries,
                .max_body = (size_t)s->max_body,
                .max_all_bodies = MAX((size_t)s->max_body, (size_t)64 << 20),
                .too_large = s->too_large,
                .too_large_type = "application/json;charset=utf-8",
                .handle = on_call,
                .owner = s,
        };
        r = http_server_new(&o, &s->http, error);
        if (r < 0)
                return r;
        s->port = http_server_port(s->http);
        char address[300];
        s->origin = mem_printf("http://%s", host_port_text(o.host, s->port, address, sizeof(address)));
        warn_if_open(s);
        log_info(s->service->log_name, "Started REST server for submitting applications on %s with port %d", o.host,
                 s->port);
        return 0;
}

int rest_server_port(const struct rest_server *s)
{
        return s->port;
}
