/*
 * The REST client; see rest_client.h.
 *
 * It follows Spark 4.3's RestSubmissionClient: which master is asked when, when one counts as lost (a connection that
 * is refused, breaks before an answer, or is silent for ten seconds), and every line of its log, which is why some read
 * oddly ("Some(…)"). Two things differ, because they may start an application twice: a request that was sent is never
 * sent again over a new connection, and once a master has accepted a driver, losing it makes nobody fall back.
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
        char *url;    /* spark://host:port, as it is named in messages */
        char *prefix; /* of paths: "" or "/something" */
        struct http_plain *connection;
        bool lost;
        bool other; /* somebody took the connection, and it was no HTTP that came back, if anything */
};

struct rest_client {
        char *master; /* as it was given */
        struct rest_master *masters;
        size_t n_masters;
        struct http_reader reader;
        const int *stopped;
        char *authorization; /* a line of the header, or "" */
        bool quiet;          /* refusals are not logged: it is waiting */
};

static const char *after_scheme(const char *master)
{
        static const char *const schemes[] = {"spark://", "mesos://"};
        for (size_t i = 0; i < ARRAY_SIZE(schemes); i++)
                if (strncmp(master, schemes[i], strlen(schemes[i])) == 0)
                        return master + strlen(schemes[i]);
        return NULL;
}

bool rest_client_supports(const char *master)
{
        return after_scheme(master) != NULL;
}

/* "host:port", "host:port/", "host/prefix": the port of HTTP is what Java takes where none is said. */
static int add_master(struct rest_client *c, const char *scheme, const char *text, size_t n, struct fst_error *error)
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
                error_wrap(error, r, "the master %s cannot be asked", m.url);
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
        const char *list = after_scheme(master);
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
                        r = add_master(c, scheme, list, n, error);
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

/* ----------------------------------------------------------------------------------------------- one question */

struct question {
        const char *method, *action, *id; /* id NULL: none */
        const char *body;                 /* NULL: none */
};

#define REST_PORT "a master's REST server is at port 6066 unless its spark.master.rest.port says another"

/* A page for people: what the port of a master's pages answers. */
static bool is_page(const struct http_reader *h)
{
        return (h->status == 200 || h->status == 404 || h->status == 405) && strstr(h->content_type, "text/html");
}

/* What an answer of a status other than 200 becomes. */
static int refused(const struct rest_client *c, const struct rest_master *m, struct rest_answer *answer,
                   struct fst_error *error)
{
        const struct http_reader *h = &c->reader;
        _cleanup_free_ char *text = mem_strdup(buf_text(&h->body));
        size_t n = strlen(text);
        while (n && (text[n - 1] == '\n' || text[n - 1] == '\r'))
                text[--n] = '\0';
        if (is_page(h)) {
                free(text);
                text = mem_printf("It is a web page (HTTP status %d), so that %s is no REST server: " REST_PORT,
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

/* 0, FST_REST_E_NO_SERVER when the master counts as lost, or negative. */
static int ask(struct rest_client *c, struct rest_master *m, const struct question *q, struct rest_answer *answer,
               struct fst_error *error)
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
        case -EBADMSG: /* not HTTP: Java's client takes it for a connection that broke */
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
                return refused(c, m, answer, error);
        if (is_page(&c->reader))
                return error_set(
                        error, -EBADMSG,
                        "Malformed response received from server: it is a web page, so that %s is no REST server: " REST_PORT,
                        m->url);
        log_debug(COMPONENT, "Response from the server:\n%s", buf_text(&c->reader.body));
        r = rest_answer_parse(answer, buf_text(&c->reader.body), c->reader.body.len, error);
        if (r == 0 && answer->kind == REST_ERROR && !c->quiet)
                log_error(COMPONENT, "Server responded with error:\n%s", answer->message);
        return r;
}

static bool all_lost(const struct rest_client *c)
{
        for (size_t i = 0; i < c->n_masters; i++)
                if (!c->masters[i].lost)
                        return false;
        return true;
}

/* The end of it, when nobody answers. */
static int unable_to_connect(const struct rest_client *c, int r, struct fst_error *error)
{
        bool other = false;
        for (size_t i = 0; i < c->n_masters; i++)
                other |= c->masters[i].other;
        if (!other)
                return error_wrap(error, r, "Unable to connect to server");
        _cleanup_free_ char *why = mem_strdup(error_message(error));
        error_deinit(error);
        return error_set(error, r,
                         "Unable to connect to server: %s (if it is a master, it is no REST server: " REST_PORT ")",
                         why);
}

/*
 * Ask one master after the other until one gives an answer that @settles. The last answer is kept. Once every master
 * has been lost at some time, losing one again ends it.
 */
static int ask_all(struct rest_client *c, const struct question *q,
                   bool (*settles)(const struct rest_answer *answer, bool quiet), bool quiet,
                   struct rest_answer *answer, struct fst_error *error)
{
        for (size_t i = 0; i < c->n_masters; i++) {
                struct rest_master *m = &c->masters[i];
                struct rest_answer one = REST_ANSWER_INIT;
                int r = ask(c, m, q, &one, error);
                if (r < 0)
                        return r;
                if (r > 0) {
                        if (!m->lost)
                                log_warn(COMPONENT, "Unable to connect to server %s.", m->url);
                        m->lost = true;
                        if (all_lost(c))
                                return unable_to_connect(c, r, error);
                        continue;
                }
                rest_answer_deinit(answer);
                *answer = one;
                if (settles(answer, quiet))
                        return 0;
        }
        error_deinit(error); /* of a lost master, while another answered */
        return 0;
}

static void log_answer(const struct rest_answer *a)
{
        if (!log_enabled(LOG_INFO, COMPONENT))
                return;
        _cleanup_free_ char *json = rest_answer_json(a);
        log_info(COMPONENT, "Server responded with %s:\n%s", rest_answer_type(a), json);
}

static void log_unexpected(const struct rest_answer *a)
{
        log_error(COMPONENT, "Error: Server responded with message of unexpected type %s.", rest_answer_type(a));
}

/* A URL takes no blanks and the like; Java's URI says where. */
static int check_url(const struct rest_client *c, const char *action, const char *id, struct fst_error *error)
{
        static const char illegal[] = "\"<>\\^`{|}";
        _cleanup_free_ char *base = mem_strdup(after_scheme(c->masters[0].url));
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

/* --------------------------------------------------------------------------------------------------- requests */

static bool settles_create(const struct rest_answer *a, bool quiet)
{
        (void)quiet;
        if (a->kind != REST_CREATE)
                log_unexpected(a);
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
        r = check_url(c, q.action, "", error);
        return r < 0 ? r : ask_all(c, &q, settles_create, false, answer, error);
}

static bool settles_kill(const struct rest_answer *a, bool quiet)
{
        (void)quiet;
        if (a->kind != REST_KILL) {
                log_unexpected(a);
                return false;
        }
        if (rest_answer_from_backup(a))
                return false;
        log_answer(a);
        return true;
}

int rest_client_kill(struct rest_client *c, const char *id, struct rest_answer *answer, struct fst_error *error)
{
        struct question q = {"POST", "kill", id, NULL};
        log_info(COMPONENT, "Submitting a request to kill submission %s in %s.", id, c->master);
        int r = check_url(c, q.action, id, error);
        return r < 0 ? r : ask_all(c, &q, settles_kill, false, answer, error);
}

static bool settles_status(const struct rest_answer *a, bool quiet)
{
        if (a->kind != REST_STATUS || a->success != REST_TRUE) {
                log_unexpected(a);
                return false;
        }
        if (!quiet)
                log_answer(a);
        return true;
}

int rest_client_status(struct rest_client *c, const char *id, bool quiet, struct rest_answer *answer,
                       struct fst_error *error)
{
        struct question q = {"GET", "status", id, NULL};
        log_info(COMPONENT, "Submitting a request for the status of submission %s in %s.", id, c->master);
        int r = check_url(c, q.action, id, error);
        return r < 0 ? r : ask_all(c, &q, settles_status, quiet, answer, error);
}

/* ---------------------------------------------------------------------------------------------------- waiting */

static bool is_stopped(const struct rest_client *c)
{
        return c->stopped && __atomic_load_n(c->stopped, __ATOMIC_RELAXED);
}

/* A signal ends a slice at once, another thread's wish after it. */
static int pause_ms(const struct rest_client *c, int64_t ms, struct fst_error *error)
{
        int64_t end = now_ms() + ms, left;
        while (!is_stopped(c) && (left = end - now_ms()) > 0) {
                int64_t slice = c->stopped ? MIN(left, 200) : left;
                nanosleep(&(struct timespec){slice / 1000, slice % 1000 * 1000000}, NULL);
        }
        return is_stopped(c) ? error_set(error, -ECANCELED, "stopped") : 0;
}

static void report_state(const char *id, const struct rest_answer *a)
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
                        return 0; /* said already */
                if (a.success == REST_TRUE) {
                        report_state(id, &a);
                        return 0;
                }
                if ((r = pause_ms(c, REPORT_INTERVAL_MS, error)) < 0)
                        return r;
        }
        log_error(COMPONENT, "Error: Master did not recognize driver %s.", id);
        return 0;
}

static bool is_final(const char *state)
{
        static const char *const final[] = {"FINISHED", "FAILED", "KILLED", "ERROR"};
        for (size_t i = 0; i < ARRAY_SIZE(final); i++)
                if (strcmp(state, final[i]) == 0)
                        return true;
        return false;
}

/* What one look found. */
enum look { LOOK_KNOWN, LOOK_UNKNOWN, LOOK_AWAY };

/*
 * Ask all masters for the status: *@status is the answer of the one that knows. A server that answers nonsense while
 * it starts is as good as away.
 */
static int look(struct rest_client *c, const char *id, struct rest_answer *status, enum look *found,
                struct fst_error *error)
{
        struct question q = {"GET", "status", id, NULL};
        *found = LOOK_AWAY;
        c->quiet = true;
        for (size_t i = 0; i < c->n_masters && *found != LOOK_KNOWN; i++) {
                struct rest_answer one = REST_ANSWER_INIT;
                int r = ask(c, &c->masters[i], &q, &one, error);
                if (r == -ECANCELED) {
                        c->quiet = false;
                        return r;
                }
                if (r == 0 && one.kind == REST_STATUS && one.success == REST_TRUE && one.driver_state) {
                        *found = LOOK_KNOWN;
                        rest_answer_deinit(status);
                        *status = one;
                        one = REST_ANSWER_INIT;
                } else if (r == 0 && one.kind == REST_STATUS && !rest_answer_from_backup(&one)) {
                        *found = LOOK_UNKNOWN;
                }
                rest_answer_deinit(&one);
        }
        c->quiet = false;
        return 0;
}

/* The lines of Spark's ClientEndpoint, which is what waits in Spark. */
static void report_change(const char *id, const struct rest_answer *a)
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
        int r = check_url(c, "status", id, error);
        while (r == 0) {
                _cleanup_(rest_answer_deinit) struct rest_answer a = REST_ANSWER_INIT;
                enum look found;
                if ((r = look(c, id, &a, &found, error)) < 0)
                        break;
                if (found != LOOK_AWAY && away)
                        log_warn(COMPONENT, "The master %s is back.", c->master);
                if (found == LOOK_AWAY && !away)
                        log_warn(COMPONENT, "Lost contact with the master %s: %s; trying again.", c->master,
                                 error && error->message ? error->message : "it is no leader");
                away = found == LOOK_AWAY;
                seen = away ? seen : now_ms();
                unknown = found == LOOK_UNKNOWN ? unknown + 1 : 0;
                error_deinit(error);
                if (away && now_ms() - seen >= away_ms)
                        return error_set(error, FST_REST_E_NO_SERVER,
                                         "no master of %s has answered for %lld s: the driver %s is not watched any "
                                         "more",
                                         c->master, (long long)(away_ms / 1000), id);
                if (unknown >= REPORT_TRIES)
                        return error_set(error, -ENOENT, "Cluster master did not recognize %s", id);
                if (found == LOOK_KNOWN && (!last || strcmp(last, a.driver_state) != 0)) {
                        report_change(id, &a);
                        if (w->changed)
                                w->changed(w->context, &a);
                        free(last);
                        last = mem_strdup(a.driver_state);
                }
                if (found == LOOK_KNOWN && is_final(a.driver_state)) {
                        *state = steal(last);
                        return 0;
                }
                r = pause_ms(c, w->interval_ms ? w->interval_ms : REPORT_INTERVAL_MS, error);
        }
        return r;
}
