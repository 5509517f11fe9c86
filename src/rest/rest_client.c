/*
 * The REST client; see rest_client.h.
 *
 * It follows Spark 4.3's RestSubmissionClient: the order of masters, the definition of a lost master (it refuses the
 * connection, closes it before a reply, or is silent for ten seconds), and every log line, so some read oddly
 * ("Some(…)"). It differs in two points that could start an application twice: a request that was sent is never
 * repeated on a new connection, and after a master has accepted a driver, losing that master causes no fallback.
 */
#include "rest/rest_client.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "net/http/http_plain.h"
#include "net/http/http_reader.h"
#include "net/socket.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define COMPONENT "RestSubmissionClient"
#define ANSWER_TIMEOUT_NS (10 * INT64_C(1000000000))
#define MAX_ANSWER (16u << 20)
#define REPORT_TRIES 10
#define REPORT_INTERVAL_MS 1000
#define AWAY_MS (15 * 60 * 1000)
#define UNKNOWN_PROTOCOL 468

struct rest_master {
        char *url;    /* spark://host:port, as messages show it */
        char *prefix; /* prefix of paths: "" or "/something" */
        struct http_plain *connection;
        bool lost;
        bool other; /* accepted the connection, but did not reply with HTTP */
};

struct rest_client {
        char *master; /* as given */
        struct rest_master *masters;
        size_t n_masters;
        struct http_reader reader;
        const int *stopped;
        char *authorization; /* a header line, or "" */
        bool quiet;          /* do not log refusals while waiting */
};

static const char *rest_client_after_scheme(const char *master)
{
        static const char *const schemes[] = {"spark://", "mesos://"};
        for (size_t i = 0; i < ARRAY_SIZE(schemes); i++)
                if (strncmp(master, schemes[i], strlen(schemes[i])) == 0)
                        return master + strlen(schemes[i]);
        return NULL;
}

/* Parses "host:port", "host:port/" or "host/prefix". Without a port, uses HTTP's, as Java does. */
static int rest_client_add_master(struct rest_client *c, const char *scheme, const char *text, size_t n,
                                  struct fst_error *error)
{
        struct rest_master m = {.url = mem_printf("%s%.*s", scheme, (int)n, text)};
        _cleanup_free_ char *host = mem_strndup(text, n);
        char *slash = strchr(host, '/');
        m.prefix = mem_strdup(slash ? slash : "");
        if (*m.prefix && m.prefix[strlen(m.prefix) - 1] == '/')
                m.prefix[strlen(m.prefix) - 1] = '\0';
        if (slash)
                *slash = '\0';
        const char *bracket = strrchr(host, ']'), *colon = strrchr(host, ':');
        bool with_port = colon && (!bracket || colon > bracket);
        _cleanup_free_ char *full = with_port ? mem_strdup(host) : mem_printf("%s:80", host);
        struct host_port at;
        int r = host_port_parse(full, &at, error);
        if (r < 0) {
                error_wrap(error, r, "cannot send a request to the master %s", m.url);
                free(m.url);
                free(m.prefix);
                return r;
        }
        m.connection = http_plain_new(at.host, at.port);
        c->masters = mem_grow(c->masters, (c->n_masters + 1) * sizeof(m));
        c->masters[c->n_masters++] = m;
        return 0;
}

int rest_client_new(const char *master, struct rest_client **out, struct fst_error *error)
{
        const char *list = rest_client_after_scheme(master);
        if (!list)
                return error_set(error, -EINVAL,
                                 "This REST client only supports master URLs that start with one of the following: "
                                 "spark://,mesos://");
        _cleanup_free_ char *scheme = mem_strndup(master, (size_t)(list - master));
        struct rest_client *c = new0(struct rest_client);
        c->master = mem_strdup(master);
        bool many = strcmp(scheme, "spark://") == 0;
        int r = 0;
        do {
                size_t n = many ? strcspn(list, ",") : strlen(list);
                if (n || !list[n])
                        r = rest_client_add_master(c, scheme, list, n, error);
                list += n + (list[n] == ',');
        } while (r == 0 && *list);
        if (r < 0) {
                rest_client_free(c);
                return r;
        }
        *out = c;
        return 0;
}

static void rest_client_forget_token(struct rest_client *c)
{
        if (c->authorization)
                explicit_bzero(c->authorization, strlen(c->authorization));
        free(steal(c->authorization));
}

int rest_client_set_token(struct rest_client *c, const char *token, struct fst_error *error)
{
        int r = token ? rest_token_check(token, error) : 0;
        if (r < 0)
                return r;
        rest_client_forget_token(c);
        c->authorization = token ? mem_printf("Authorization: Bearer %s\r\n", token) : NULL;
        return 0;
}

void rest_client_free(struct rest_client *c)
{
        if (!c)
                return;
        for (size_t i = 0; i < c->n_masters; i++) {
                http_plain_free(c->masters[i].connection);
                free(c->masters[i].url);
                free(c->masters[i].prefix);
        }
        free(c->masters);
        rest_client_forget_token(c);
        free(c->master);
        http_reader_deinit(&c->reader);
        free(c);
}

void rest_client_set_stopped(struct rest_client *c, const int *stopped)
{
        c->stopped = stopped;
}

/* ------------------------------------------------------------------------------------------------------ one request */

struct question {
        const char *method, *action, *id; /* NULL: none */
        const char *body;                 /* NULL: none */
};

#define REST_PORT "a master's REST server is at port 6066, or at its spark.master.rest.port"

/* Whether the reply is an HTML page, as the port of a master's pages returns. */
static bool rest_client_is_page(const struct http_reader *h)
{
        return (h->status == 200 || h->status == 404 || h->status == 405) && strstr(h->content_type, "text/html");
}

/* Turns a reply with a status other than 200 into an error. */
static int rest_client_refused(const struct rest_client *c, const struct rest_master *m, struct rest_answer *answer,
                               struct fst_error *error)
{
        const struct http_reader *h = &c->reader;
        _cleanup_free_ char *text = mem_strdup(buf_text(&h->body));
        size_t n = strlen(text);
        while (n && (text[n - 1] == '\n' || text[n - 1] == '\r'))
                text[--n] = '\0';
        if (rest_client_is_page(h)) {
                free(text);
                text = mem_printf("The reply is a web page (HTTP status %d), so %s is not a REST server: " REST_PORT,
                                  h->status, m->url);
        }
        if (h->status < 400 || (h->status == 500 && !*h->content_type))
                return error_set(error, -EBADMSG, "Exception while waiting for response: the HTTP status is %d",
                                 h->status);
        if (h->status == 500 && !strstr(h->content_type, "application/json"))
                return error_set(error, -EBADMSG,
                                 "Malformed response received from server: Server responded with exception:\n"
                                 "Some(%.4000s)",
                                 text);
        if (!c->quiet)
                log_error(COMPONENT, "Server responded with error:\nSome(%s)", text);
        answer->kind = REST_ERROR;
        answer->message = steal(text);
        if (h->status == UNKNOWN_PROTOCOL)
                answer->highest_protocol_version = mem_strdup(REST_PROTOCOL_VERSION);
        return 0;
}

/* Returns 0, FST_REST_E_NO_SERVER if the master is lost, or negative. */
static int rest_client_request(struct rest_client *c, struct rest_master *m, const struct question *q,
                               struct rest_answer *answer, struct fst_error *error)
{
        _cleanup_free_ char *path = mem_printf("%s/" REST_PROTOCOL_VERSION "/submissions/%s%s%s", m->prefix, q->action,
                                               q->id ? "/" : "", q->id ? q->id : "");
        _cleanup_free_ char *headers =
                mem_printf("%s%s", q->body ? "Content-Type: application/json\r\ncharset: utf-8\r\n" : "",
                           c->authorization ? c->authorization : "");
        struct http_plain_request request = {
                .method = q->method,
                .path = path,
                .headers = headers,
                .body = q->body,
                .body_len = q->body ? strlen(q->body) : 0,
                .max_answer = MAX_ANSWER,
                .timeout_ns = ANSWER_TIMEOUT_NS,
                .stopped = c->stopped,
        };
        log_debug(COMPONENT, "Sending %s request to server at %s%s.", q->method, m->url, path);
        int r = http_plain_ask(m->connection, &request, &c->reader, error);
        m->other = r == -EBADMSG || r == -ECONNRESET;
        switch (r) {
        case 0:
                break;
        case -EBADMSG: /* not HTTP: Java's client treats it as a broken connection */
                return FST_REST_E_NO_SERVER;
        case -EMSGSIZE:
                return error_wrap(error, r, "Exception while waiting for response");
        case -ENODATA:
                return error_wrap(error, r, "Malformed response received from server");
        case -ECANCELED:
                return r;
        default:
                return FST_REST_E_NO_SERVER;
        }
        if (c->reader.status != 200)
                return rest_client_refused(c, m, answer, error);
        if (rest_client_is_page(&c->reader))
                return error_set(
                        error, -EBADMSG,
                        "Malformed response received from server: the reply is a web page, so %s is not a REST server: " REST_PORT,
                        m->url);
        log_debug(COMPONENT, "Response from the server:\n%s", buf_text(&c->reader.body));
        r = rest_answer_parse(answer, buf_text(&c->reader.body), c->reader.body.len, error);
        if (r == 0 && answer->kind == REST_ERROR && !c->quiet)
                log_error(COMPONENT, "Server responded with error:\n%s", answer->message);
        return r;
}

static bool rest_client_all_lost(const struct rest_client *c)
{
        for (size_t i = 0; i < c->n_masters; i++)
                if (!c->masters[i].lost)
                        return false;
        return true;
}

/* Ends a request to which no master replied. */
static int rest_client_unable_to_connect(const struct rest_client *c, int r, struct fst_error *error)
{
        bool other = false;
        for (size_t i = 0; i < c->n_masters; i++)
                other |= c->masters[i].other;
        if (!other)
                return error_wrap(error, r, "Unable to connect to server");
        _cleanup_free_ char *why = mem_strdup(error_message(error));
        error_deinit(error);
        return error_set(
                error, r,
                "Unable to connect to server: %s (if it is a master, this is not its REST server: " REST_PORT ")", why);
}

/*
 * Sends the request to one master after the other until a reply @settles it. Keeps the last reply. Once every master
 * has been lost at some time, the next loss ends the request.
 */
static int rest_client_request_all(struct rest_client *c, const struct question *q,
                                   bool (*settles)(const struct rest_answer *answer, bool quiet), bool quiet,
                                   struct rest_answer *answer, struct fst_error *error)
{
        for (size_t i = 0; i < c->n_masters; i++) {
                struct rest_master *m = &c->masters[i];
                struct rest_answer one = REST_ANSWER_INIT;
                int r = rest_client_request(c, m, q, &one, error);
                if (r < 0)
                        return r;
                if (r > 0) {
                        if (!m->lost)
                                log_warn(COMPONENT, "Unable to connect to server %s.", m->url);
                        m->lost = true;
                        if (rest_client_all_lost(c))
                                return rest_client_unable_to_connect(c, r, error);
                        continue;
                }
                rest_answer_deinit(answer);
                *answer = one;
                if (settles(answer, quiet))
                        return 0;
        }
        error_deinit(error); /* of a lost master, while another one replied */
        return 0;
}

static void rest_client_log_answer(const struct rest_answer *a)
{
        if (!log_enabled(LOG_INFO, COMPONENT))
                return;
        _cleanup_free_ char *json = rest_answer_json(a);
        log_info(COMPONENT, "Server responded with %s:\n%s", rest_answer_type(a), json);
}

/* An error has been logged with its message. */
static void rest_client_log_unexpected(const struct rest_answer *a)
{
        if (a->kind == REST_ERROR)
                return;
        log_error(COMPONENT, "Error: Server responded with message of unexpected type %s.", rest_answer_type(a));
}

/* A URL contains no blanks and similar characters. Reports the position as Java's URI does. */
static int rest_client_check_url(const struct rest_client *c, const char *action, const char *id,
                                 struct fst_error *error)
{
        static const char illegal[] = "\"<>\\^`{|}";
        _cleanup_free_ char *base = mem_strdup(rest_client_after_scheme(c->masters[0].url));
        size_t n = strlen(base);
        if (n && base[n - 1] == '/')
                base[n - 1] = '\0';
        _cleanup_free_ char *url =
                mem_printf("http://%s/" REST_PROTOCOL_VERSION "/submissions/%s/%s", base, action, id);
        for (const char *p = url; *p; p++)
                if ((unsigned char)*p <= ' ' || *p == 0x7f || strchr(illegal, *p))
                        return error_set(error, -EINVAL, "Illegal character in path at index %zu: %s",
                                         (size_t)(p - url), url);
        return 0;
}

/* --------------------------------------------------------------------------------------------------------- requests */

static bool rest_client_settles_create(const struct rest_answer *a, bool quiet)
{
        (void)quiet;
        if (a->kind != REST_CREATE)
                rest_client_log_unexpected(a);
        return a->kind == REST_CREATE && a->success == REST_TRUE;
}

int rest_client_create(struct rest_client *c, const struct rest_create *request, struct rest_answer *answer,
                       struct fst_error *error)
{
        int r = rest_create_validate(request, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *body = rest_create_json(request);
        struct question q = {"POST", "create", NULL, body};
        log_info(COMPONENT, "Submitting a request to launch an application in %s.", c->master);
        r = rest_client_check_url(c, q.action, "", error);
        return r < 0 ? r : rest_client_request_all(c, &q, rest_client_settles_create, false, answer, error);
}

static bool rest_client_settles_kill(const struct rest_answer *a, bool quiet)
{
        (void)quiet;
        if (a->kind != REST_KILL) {
                rest_client_log_unexpected(a);
                return false;
        }
        if (rest_answer_from_backup(a))
                return false;
        rest_client_log_answer(a);
        return true;
}

int rest_client_kill(struct rest_client *c, const char *id, struct rest_answer *answer, struct fst_error *error)
{
        struct question q = {"POST", "kill", id, NULL};
        log_info(COMPONENT, "Submitting a request to kill submission %s in %s.", id, c->master);
        int r = rest_client_check_url(c, q.action, id, error);
        return r < 0 ? r : rest_client_request_all(c, &q, rest_client_settles_kill, false, answer, error);
}

static bool rest_client_settles_status(const struct rest_answer *a, bool quiet)
{
        if (a->kind != REST_STATUS || a->success != REST_TRUE) {
                rest_client_log_unexpected(a);
                return false;
        }
        if (!quiet)
                rest_client_log_answer(a);
        return true;
}

int rest_client_status(struct rest_client *c, const char *id, bool quiet, struct rest_answer *answer,
                       struct fst_error *error)
{
        struct question q = {"GET", "status", id, NULL};
        log_info(COMPONENT, "Submitting a request for the status of submission %s in %s.", id, c->master);
        int r = rest_client_check_url(c, q.action, id, error);
        return r < 0 ? r : rest_client_request_all(c, &q, rest_client_settles_status, quiet, answer, error);
}

/* ---------------------------------------------------------------------------------------------------------- waiting */

static bool rest_client_is_stopped(const struct rest_client *c)
{
        return c->stopped && __atomic_load_n(c->stopped, __ATOMIC_RELAXED);
}

/* A signal ends the slice at once, and *@stopped at its end. */
static int rest_client_pause_ms(const struct rest_client *c, int64_t ms, struct fst_error *error)
{
        int64_t end = now_ms() + ms, left;
        while (!rest_client_is_stopped(c) && (left = end - now_ms()) > 0) {
                int64_t slice = c->stopped ? MIN(left, 200) : left;
                nanosleep(&(struct timespec){slice / 1000, slice % 1000 * 1000000}, NULL);
        }
        return rest_client_is_stopped(c) ? error_set(error, -ECANCELED, "stopped") : 0;
}

static void rest_client_report_state(const char *id, const struct rest_answer *a)
{
        if (a->driver_state)
                log_info(COMPONENT, "State of driver %s is now %s.", id, a->driver_state);
        else
                log_error(COMPONENT, "State of driver %s was not found!", id);
        if (a->worker_id && a->worker_host_port)
                log_info(COMPONENT, "Driver is running on worker %s at %s.", a->worker_id, a->worker_host_port);
        if (a->message)
                log_error(COMPONENT, "%s", a->message);
}

int rest_client_report(struct rest_client *c, const char *id, struct fst_error *error)
{
        for (int i = 0; i < REPORT_TRIES; i++) {
                _cleanup_(rest_answer_deinit) struct rest_answer a = REST_ANSWER_INIT;
                int r = rest_client_status(c, id, true, &a, error);
                if (r != 0)
                        return r;
                if (a.kind != REST_STATUS)
                        return 0; /* logged already */
                if (a.success == REST_TRUE) {
                        rest_client_report_state(id, &a);
                        return 0;
                }
                if ((r = rest_client_pause_ms(c, REPORT_INTERVAL_MS, error)) < 0)
                        return r;
        }
        log_error(COMPONENT, "Error: Master did not recognize driver %s.", id);
        return 0;
}

static bool rest_client_is_final(const char *state)
{
        static const char *const final[] = {"FINISHED", "FAILED", "KILLED", "ERROR"};
        for (size_t i = 0; i < ARRAY_SIZE(final); i++)
                if (strcmp(state, final[i]) == 0)
                        return true;
        return false;
}

/* The result of one poll. */
enum rest_poll { POLL_KNOWN, POLL_UNKNOWN, POLL_UNAVAILABLE };

/*
 * Polls all masters: *@status is the reply of the one that knows the driver. An invalid reply of a starting server
 * counts as no reply.
 */
static int rest_client_poll(struct rest_client *c, const char *id, struct rest_answer *status, enum rest_poll *found,
                            struct fst_error *error)
{
        struct question q = {"GET", "status", id, NULL};
        *found = POLL_UNAVAILABLE;
        c->quiet = true;
        for (size_t i = 0; i < c->n_masters && *found != POLL_KNOWN; i++) {
                struct rest_answer one = REST_ANSWER_INIT;
                int r = rest_client_request(c, &c->masters[i], &q, &one, error);
                if (r == -ECANCELED) {
                        c->quiet = false;
                        return r;
                }
                if (r == 0 && one.kind == REST_STATUS && one.success == REST_TRUE && one.driver_state) {
                        *found = POLL_KNOWN;
                        rest_answer_deinit(status);
                        *status = one;
                        one = REST_ANSWER_INIT;
                } else if (r == 0 && one.kind == REST_STATUS && !rest_answer_from_backup(&one)) {
                        *found = POLL_UNKNOWN;
                }
                rest_answer_deinit(&one);
        }
        c->quiet = false;
        return 0;
}

/* Logs the lines of Spark's ClientEndpoint, the class that waits in Spark. */
static void rest_client_report_change(const char *id, const struct rest_answer *a)
{
        log_info(COMPONENT, "State of %s is %s", id, a->driver_state);
        if (a->worker_id && a->worker_host_port && strcmp(a->driver_state, "RUNNING") == 0)
                log_info(COMPONENT, "Driver running on %s (%s)", a->worker_host_port, a->worker_id);
        if (a->message)
                log_error(COMPONENT, "%s", a->message);
}

int rest_client_wait(struct rest_client *c, const char *id, const struct rest_waiting *w, char **state,
                     struct fst_error *error)
{
        _cleanup_free_ char *last = NULL;
        int64_t seen = now_ms(), away_ms = w->away_ms ? w->away_ms : AWAY_MS;
        int unknown = 0;
        bool away = false;
        int r = rest_client_check_url(c, "status", id, error);
        while (r == 0) {
                _cleanup_(rest_answer_deinit) struct rest_answer a = REST_ANSWER_INIT;
                enum rest_poll found;
                if ((r = rest_client_poll(c, id, &a, &found, error)) < 0)
                        break;
                if (found != POLL_UNAVAILABLE && away)
                        log_warn(COMPONENT, "The master %s is back.", c->master);
                if (found == POLL_UNAVAILABLE && !away)
                        log_warn(COMPONENT, "Lost contact with the master %s: %s; trying again.", c->master,
                                 error && error->message ? error->message : "it is not the leader");
                away = found == POLL_UNAVAILABLE;
                seen = away ? seen : now_ms();
                unknown = found == POLL_UNKNOWN ? unknown + 1 : 0;
                error_deinit(error);
                if (away && now_ms() - seen >= away_ms)
                        return error_set(
                                error, FST_REST_E_NO_SERVER,
                                "no master of %s has replied for %lld s: spark-submit no longer watches the driver %s "
                                "more",
                                c->master, (long long)(away_ms / 1000), id);
                if (unknown >= REPORT_TRIES)
                        return error_set(error, -ENOENT, "Cluster master did not recognize %s", id);
                if (found == POLL_KNOWN && (!last || strcmp(last, a.driver_state) != 0)) {
                        rest_client_report_change(id, &a);
                        if (w->changed)
                                w->changed(w->context, &a);
                        free(last);
                        last = mem_strdup(a.driver_state);
                }
                if (found == POLL_KNOWN && rest_client_is_final(a.driver_state)) {
                        *state = steal(last);
                        return 0;
                }
                r = rest_client_pause_ms(c, w->interval_ms ? w->interval_ms : REPORT_INTERVAL_MS, error);
        }
        return r;
}
