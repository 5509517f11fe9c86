/*
 * See yarn_web.h. A NodeManager sends a log between lines of its own. The line "LogLength:" says how long the log was
 * then, and so which range the answer holds, although the log grows.
 */
#include "yarn/application/yarn_web.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "net/http/http.h"
#include "text/json.h"
#include "text/percent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MORE 4096 /* that a log may grow between two requests */
#define MAX_BANNER 8192
#define CONTENTS "\nLogContents:\n"

int yarn_web_init(struct yarn_web *web, const struct yarn_conf *conf, struct fst_error *error)
{
        *web = (struct yarn_web){.conf = conf, .secure = yarn_conf_is_secure(conf)};
        int r = yarn_conf_addresses(conf, YARN_RM_WEB, &web->masters, error);
        r = r < 0 ? r : http_client_new(&web->http, error);
        if (r < 0)
                yarn_web_deinit(web);
        else
                web->user = hadoop_conf_user(&conf->hadoop);
        return r;
}

void yarn_web_deinit(struct yarn_web *web)
{
        http_client_free(web->http);
        string_list_deinit(&web->masters);
        free(web->user);
        *web = (struct yarn_web){0};
}

void web_application_deinit(struct web_application *application)
{
        free(application->user);
        application->user = NULL;
}

void container_places_deinit(struct container_places *places)
{
        for (size_t i = 0; i < places->len; i++) {
                free(places->data[i].container);
                free(places->data[i].node);
        }
        vec_deinit(places);
}

/* --------------------------------------------------------------------------------------------------------- requests */

/* "BASE/PATH?user.name=USER", with the user only where there is no security. */
static void yarn_web_url(const struct yarn_web *web, const char *base, const char *path, struct buf *url)
{
        buf_reset(url);
        buf_printf(url, "%s%s", base, path);
        if (web->secure)
                return;
        buf_puts(url, strchr(path, '?') ? "&user.name=" : "?user.name=");
        percent_encode(url, web->user, "");
}

static int yarn_web_answer_error(const char *base, const struct http_answer *answer, struct fst_error *error)
{
        if (answer->status == 401)
                return error_set(error, -EACCES, "%s asks for Kerberos (get a ticket with kinit)", base);
        const size_t n = strcspn(buf_text(&answer->body), "\n");
        return error_set(error, -EREMOTEIO, "%s answers with HTTP status %d: %.*s", base, answer->status,
                         (int)MIN(n, (size_t)300), buf_text(&answer->body));
}

/* A GET of @path at @base. Returns the JSON in *@out; YARN_WEB_E_NOT_FOUND; or negative. Status 503 is for a
 * NodeManager
 * (@of_node) that does not have the container. A ResourceManager sends it while none is active. */
static int yarn_web_get(struct yarn_web *web, const char *base, const char *path, bool of_node, json_t **out,
                        struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf url = BUF_INIT;
        static const char *const headers[] = {"Accept: application/json", NULL};
        struct http_answer answer = HTTP_ANSWER_INIT;
        json_error_t why;
        yarn_web_url(web, base, path, &url);
        int r = http_perform(
                web->http,
                &(struct http_request){
                        .url = buf_text(&url), .headers = headers, .follow = true, .negotiate = web->secure},
                &answer, error);
        if (r == 0 && (answer.status == 404 || (answer.status == 503 && of_node)))
                r = YARN_WEB_E_NOT_FOUND;
        else if (r == 0 && answer.status != 200)
                r = yarn_web_answer_error(base, &answer, error);
        if (r == 0) {
                *out = json_loadb(buf_text(&answer.body), answer.body.len, 0, &why);
                if (!*out)
                        r = error_set(error, -EBADMSG, "%s%s is not valid JSON: %s", base, path, why.text);
        }
        http_answer_deinit(&answer);
        return r;
}

/* Asks the ResourceManagers one after another, until one answers. */
static int yarn_web_ask(struct yarn_web *web, const char *path, json_t **out, struct fst_error *error)
{
        int r = -EHOSTUNREACH;
        for (size_t i = 0; i < web->masters.len; i++) {
                struct fst_error why = FST_ERROR_INIT;
                _cleanup_free_ char *base = mem_printf("%s%s", yarn_conf_http_scheme(web->conf), web->masters.data[i]);
                r = yarn_web_get(web, base, path, false, out, &why);
                if (r < 0)
                        error_set(error, r, "cannot ask the ResourceManager: %s", error_message(&why));
                error_deinit(&why);
                if (r >= 0)
                        return r;
        }
        return r;
}

/* ------------------------------------------------------------------------------------- applications and containers */

int yarn_web_application(struct yarn_web *web, const char *id, struct web_application *out, struct fst_error *error)
{
        _cleanup_free_ char *path = mem_printf("/ws/v1/cluster/apps/%s", id);
        json_t *answer;
        const int r = yarn_web_ask(web, path, &answer, error);
        if (r)
                return r;
        const char *state = json_text_or_empty(answer, "app.state");
        const char *user = json_text_at(answer, "app.user");
        out->user = user ? mem_strdup(user) : NULL;
        out->is_over = strcmp(state, "FINISHED") == 0 || strcmp(state, "FAILED") == 0 || strcmp(state, "KILLED") == 0;
        json_decref(answer);
        return 0;
}

/* @node is "host:port" or "http://host:port". */
static void container_places_add(const struct yarn_web *web, struct container_places *places, const char *container,
                                 const char *node)
{
        if (!text_starts_with(container, "container_") || !*node)
                return;
        for (size_t i = 0; i < places->len; i++)
                if (strcmp(places->data[i].container, container) == 0)
                        return;
        vec_push(places,
                 (struct container_place){
                         .container = mem_strdup(container),
                         .node = strstr(node, "://") ? mem_strdup(node)
                                                     : mem_printf("%s%s", yarn_conf_http_scheme(web->conf), node)});
}

/* Hadoop writes a list of one element as this element in some versions. */
static size_t list_size(const json_t *list)
{
        return json_is_array(list) ? json_array_size(list) : json_is_object(list);
}

static const json_t *list_get(const json_t *list, size_t i)
{
        return json_is_array(list) ? json_array_get(list, i) : list;
}

static int yarn_web_add_attempt(struct yarn_web *web, const char *id, const json_t *attempt,
                                struct container_places *places, struct fst_error *error)
{
        _cleanup_free_ char *path = mem_printf("/ws/v1/cluster/apps/%s/appattempts/%s/containers", id,
                                               json_text_or_empty(attempt, "appAttemptId"));
        json_t *answer;
        container_places_add(web, places, json_text_or_empty(attempt, "containerId"),
                             json_text_or_empty(attempt, "nodeHttpAddress"));
        const int r = yarn_web_ask(web, path, &answer, error);
        if (r)
                return r < 0 ? r : 0;
        const json_t *list = json_at(answer, "container");
        for (size_t i = 0; i < list_size(list); i++)
                container_places_add(web, places, json_text_or_empty(list_get(list, i), "containerId"),
                                     json_text_or_empty(list_get(list, i), "nodeHttpAddress"));
        json_decref(answer);
        return 0;
}

int yarn_web_containers(struct yarn_web *web, const char *id, struct container_places *places, struct fst_error *error)
{
        _cleanup_free_ char *path = mem_printf("/ws/v1/cluster/apps/%s/appattempts", id);
        json_t *answer;
        int r = yarn_web_ask(web, path, &answer, error);
        if (r)
                return r;
        const json_t *list = json_at(answer, "appAttempts.appAttempt");
        for (size_t i = 0; r == 0 && i < list_size(list); i++)
                r = yarn_web_add_attempt(web, id, list_get(list, i), places, error);
        json_decref(answer);
        return r;
}

int yarn_web_master_logs(struct yarn_web *web, const char *id, char **out, struct fst_error *error)
{
        _cleanup_free_ char *path = mem_printf("/ws/v1/cluster/apps/%s/appattempts", id);
        json_t *answer;
        *out = NULL;
        const int r = yarn_web_ask(web, path, &answer, error);
        if (r)
                return r < 0 ? r : 0;
        const json_t *list = json_at(answer, "appAttempts.appAttempt");
        const size_t n = list_size(list);
        const char *link = n ? json_text_or_empty(list_get(list, n - 1), "logsLink") : "";
        *out = *link ? mem_strdup(link) : NULL;
        json_decref(answer);
        return 0;
}

/* ------------------------------------------------------------------------------------------------------------- logs */

/* An answer with a log, as it arrives. */
struct log_answer {
        const struct aggregated_logs_ops *ops;
        void *owner;
        struct aggregated_log *log;
        uint64_t wanted, left; /* bytes asked for; of them not yet received */
        uint64_t known;        /* bytes from the log's beginning that are not wanted */
        struct buf banner;
        bool inside; /* after the banner */
};

/* Reads the length of the log from the banner, so the answer's range is known. */
static int log_answer_begin(struct log_answer *a)
{
        const char *text = buf_text(&a->banner), *length = strstr(text, "\nLogLength:");
        if (!length)
                return -EBADMSG;
        a->log->length = strtoull(length + strlen("\nLogLength:"), NULL, 10);
        a->left = MIN(a->wanted, a->log->length);
        a->log->offset = a->log->length - a->left;
        a->inside = true;
        return 0;
}

static int log_answer_pass(struct log_answer *a, const char *data, size_t n)
{
        n = (size_t)MIN((uint64_t)n, a->left);
        a->left -= n;
        const uint64_t skip = a->known > a->log->offset ? MIN(a->known - a->log->offset, (uint64_t)n) : 0;
        a->log->offset += n;
        return n > skip ? a->ops->data(a->owner, data + skip, n - (size_t)skip) : 0;
}

static int on_log_answer(void *context, const char *data, size_t n)
{
        struct log_answer *a = context;
        if (a->inside)
                return log_answer_pass(a, data, n);
        buf_append(&a->banner, data, n);
        const char *end = strstr(buf_text(&a->banner), CONTENTS);
        if (!end)
                return a->banner.len > MAX_BANNER ? -EBADMSG : 0;
        const size_t used = (size_t)(end - buf_text(&a->banner)) + strlen(CONTENTS);
        const int r = log_answer_begin(a);
        return r < 0 ? r : log_answer_pass(a, buf_text(&a->banner) + used, a->banner.len - used);
}

/* Reads @log from the byte `known` on. */
static int yarn_web_read_log(struct yarn_web *web, const struct container_place *place, struct log_answer *a,
                             struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf path = BUF_INIT, url = BUF_INIT;
        struct http_answer answer = HTTP_ANSWER_INIT;
        buf_printf(&path, "/ws/v1/node/containers/%s/logs/", place->container);
        percent_encode(&path, a->log->name, "");
        buf_printf(&path, "?size=-%llu", (unsigned long long)a->wanted);
        yarn_web_url(web, place->node, buf_text(&path), &url);
        int r = http_perform(web->http,
                             &(struct http_request){.url = buf_text(&url),
                                                    .follow = true,
                                                    .negotiate = web->secure,
                                                    .sink = on_log_answer,
                                                    .context = a},
                             &answer, error);
        if (r == 0 && (answer.status == 404 || answer.status == 503))
                r = YARN_WEB_E_NOT_FOUND;
        else if (r == 0 && answer.status != 200)
                r = yarn_web_answer_error(place->node, &answer, error);
        else if (r == 0 && !a->inside)
                r = error_set(error, -EBADMSG, "%s sent no length of the log %s", place->node, a->log->name);
        http_answer_deinit(&answer);
        return r;
}

static int yarn_web_pass_file(struct yarn_web *web, const struct container_place *place, const json_t *file,
                              const struct aggregated_logs_ops *ops,
                              uint64_t (*seen)(void *owner, const struct aggregated_log *log), void *owner,
                              struct fst_error *error)
{
        const json_t *size = json_at(file, "fileSize"); /* a number as text, or a number */
        struct aggregated_log log = {.container = place->container,
                                     .name = json_text_or_empty(file, "fileName"),
                                     .length = json_is_string(size)
                                                       ? strtoull(json_string_value(size), NULL, 10)
                                                       : (uint64_t)MAX(json_int_at(file, "fileSize"), (json_int_t)0)};
        if (!*log.name || !ops->begin(owner, &log))
                return 0;
        const uint64_t known = seen ? seen(owner, &log) : 0;
        struct log_answer a = {.ops = ops, .owner = owner, .log = &log, .known = known, .banner = BUF_INIT};
        int r = 0;
        if (log.length > known) {
                a.wanted = MIN(log.length - known, UINT64_MAX - MORE) + MORE;
                r = yarn_web_read_log(web, place, &a, error);
        }
        buf_deinit(&a.banner);
        return r ? r : ops->end(owner);
}

int yarn_web_read_logs(struct yarn_web *web, const struct container_place *place, const struct aggregated_logs_ops *ops,
                       uint64_t (*seen)(void *owner, const struct aggregated_log *log), void *owner,
                       struct fst_error *error)
{
        _cleanup_free_ char *path = mem_printf("/ws/v1/node/containers/%s/logs", place->container);
        json_t *answer;
        int r = yarn_web_get(web, place->node, path, true, &answer, error);
        if (r)
                return r;
        const json_t *all = json_at(answer, "containerLogsInfo");
        for (size_t i = 0; r == 0 && i < list_size(all); i++) {
                const json_t *files = json_at(list_get(all, i), "containerLogInfo");
                for (size_t k = 0; r == 0 && k < list_size(files); k++)
                        r = yarn_web_pass_file(web, place, list_get(files, k), ops, seen, owner, error);
        }
        json_decref(answer);
        return r;
}
