/*
 * A site of /api/v1; see api_site.h.
 */
#include "cmd/api_site.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "net/http/http.h"
#include "text/percent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define API_MAX_ANSWER (512u << 20)

bool api_site_is_url(const char *text)
{
        return text_starts_with(text, "http://") || text_starts_with(text, "https://");
}

void api_site_deinit(struct api_site *site)
{
        http_client_free(site->client);
        free(site->root);
        free(site->id);
        free(site->attempt);
}

/* Takes "ID" or "ID/ATTEMPT" of a path: ends at a third part. */
static void api_site_set_application(struct api_site *site, const char *text)
{
        size_t n = strcspn(text, "/"), m = text[n] ? strcspn(text + n + 1, "/") : 0;
        free(site->id);
        free(site->attempt);
        site->id = mem_strndup(text, n);
        site->attempt = m ? mem_strndup(text + n + 1, m) : NULL;
}

/* Returns whether a word of a path is one of the pages of an application, or "api". */
static bool api_site_is_page(const char *word)
{
        static const char *const pages[] = {"jobs", "stages", "storage", "environment", "executors", "driver", "api"};
        size_t n = strcspn(word, "/");
        for (size_t i = 0; i < ARRAY_SIZE(pages); i++)
                if (strlen(pages[i]) == n && strncmp(word, pages[i], n) == 0)
                        return true;
        return false;
}

int api_site_parse(struct api_site *site, const char *url, const char *application, struct fst_error *error)
{
        const char *host = strstr(url, "://") + 3;
        const char *path = host + strcspn(host, "/?#");
        if (path == host)
                return error_set(error, -EINVAL, "'%s' names no host: use http://HOST:PORT", url);
        size_t n = strcspn(path, "?#");
        _cleanup_free_ char *rest = mem_strndup(path, n);
        char *end = strstr(rest, "/history/");
        if (end && end[9])
                api_site_set_application(site, end + 9);
        for (char *at = end ? NULL : strchr(rest, '/'); at && !end; at = strchr(at + 1, '/'))
                if (api_site_is_page(at + 1))
                        end = at;
        if (site->attempt && api_site_is_page(site->attempt)) {
                free(site->attempt);
                site->attempt = NULL;
        }
        if (end)
                *end = '\0';
        for (n = strlen(rest); n > 0 && rest[n - 1] == '/'; n--)
                rest[n - 1] = '\0';
        site->root = mem_printf("%.*s%s", (int)(path - url), url, rest);
        if (application)
                api_site_set_application(site, application);
        if (site->id && !*site->id)
                return error_set(error, -EINVAL, "the application id is empty");
        return 0;
}

/* Returns the first line of an answer, without markup. The caller owns it. */
static char *api_answer_reason(const struct http_answer *answer)
{
        const char *text = buf_text(&answer->body);
        size_t n = strcspn(text, "\r\n");
        if (!n || *text == '<')
                return mem_strdup("");
        char *reason = mem_printf(": %.*s", (int)MIN(n, (size_t)200), text);
        for (char *c = reason; *c; c++)
                if ((unsigned char)*c < ' ' || *c == 127)
                        *c = ' ';
        return reason;
}

/* Reports an answer that is not 200. */
static int api_site_refuse(const struct api_site *site, const char *printable, const struct http_answer *answer,
                           struct fst_error *error)
{
        _cleanup_free_ char *reason = api_answer_reason(answer);
        switch (answer->status) {
        case 401:
                return error_set(error, -EACCES,
                                 "%s asks for a login (HTTP status 401): name it in the URL, http://NAME:PASSWORD@HOST",
                                 printable);
        case 403:
                return error_set(error, -EACCES,
                                 "%s refuses access (HTTP status 403%s): spark.ui.view.acls of the application, or "
                                 "the server's administrators, must name you",
                                 printable, reason);
        case 404:
                /* Texts of the API: "unknown app: X", "no such app: X". Another server answers with a page. */
                if (site->id && strstr(buf_text(&answer->body), " app"))
                        return error_set(error, -ENOENT,
                                         "%s has no application '%s%s%s': `firesteel applications %s` lists them",
                                         printable, site->id, site->attempt ? "/" : "",
                                         site->attempt ? site->attempt : "", printable);
                break;
        case 503:
                return error_set(error, -EAGAIN, "%s cannot answer now (HTTP status 503%s): try again", printable,
                                 reason);
        default:
                break;
        }
        return error_set(error, -EPROTO,
                         "%s does not answer as a driver or a history server (HTTP status %d%s): use the address that "
                         "their log names",
                         printable, answer->status, reason);
}

/* Asks for a resource: a list, or an object. */
static int api_site_ask(struct api_site *site, const char *resource, bool is_list, json_t **out,
                        struct fst_error *error)
{
        _cleanup_free_ char *url = mem_printf("%s/api/v1/%s", site->root, resource);
        _cleanup_free_ char *printable = http_printable_url(site->root);
        struct http_answer answer = HTTP_ANSWER_INIT;
        json_t *tree = NULL;
        int r = site->client ? 0 : http_client_new(&site->client, error);
        if (r == 0)
                r = http_perform(site->client,
                                 &(struct http_request){.url = url, .follow = true, .max_answer = API_MAX_ANSWER},
                                 &answer, error);
        if (r == -ECONNREFUSED)
                r = error_wrap(
                        error, r,
                        "nothing listens at %s: has the application ended? A history server shows it. If the port "
                        "was taken, the driver has one of the next 16: `firesteel applications` looks at them",
                        printable);
        if (r == 0 && answer.status != 200)
                r = api_site_refuse(site, printable, &answer, error);
        if (r == 0) {
                tree = json_loadb(answer.body.data, answer.body.len, 0, NULL);
                if (!tree || !(is_list ? json_is_array(tree) : json_is_object(tree)))
                        r = error_set(error, -EPROTO,
                                      "%s does not answer as a driver or a history server (no JSON at /api/v1): use "
                                      "the address that their log names",
                                      printable);
        }
        http_answer_deinit(&answer);
        if (r < 0)
                json_decref(tree);
        else
                *out = tree;
        return r;
}

/* ------------------------------------------------------------------------------------------------ values */

int64_t api_date_at(const json_t *tree, const char *path)
{
        const char *text = json_text_or_empty(tree, path);
        struct tm parts = {0};
        const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &parts);
        return end ? (int64_t)timegm(&parts) * 1000 + (*end == '.' ? strtol(end + 1, NULL, 10) % 1000 : 0) : 0;
}

int64_t api_elapsed(const struct api_site *site, const json_t *tree, const char *from, const char *to)
{
        int64_t begin = api_date_at(tree, from), end = api_date_at(tree, to);
        return begin <= 0 ? -1 : MAX((end > 0 ? end : site->now_ms) - begin, (int64_t)0);
}

int64_t api_attempt_now(const json_t *attempt)
{
        /* A live driver knows no time of a change: it sends the start. */
        int64_t updated = json_int_at(attempt, "lastUpdatedEpoch"), start = json_int_at(attempt, "startTimeEpoch");
        return updated > start ? updated : time_of_day_ms();
}

/* Finds the application among those of the site, its latest attempt, and until when what runs has lasted. */
static int api_site_choose(struct api_site *site, const json_t *apps, struct fst_error *error)
{
        _cleanup_free_ char *printable = http_printable_url(site->root);
        const json_t *app = json_array_get(apps, 0), *attempt = NULL, *at;
        size_t i;
        if (!app)
                return error_set(error, -ENOENT, "%s has no application", printable);
        if (!site->id && json_array_size(apps) > 1)
                return error_set(
                        error, -EINVAL,
                        "%s serves %zu applications: name one, as in %s/history/ID; `firesteel applications %s` "
                        "lists them",
                        printable, json_array_size(apps), printable, printable);
        if (!site->id)
                site->id = mem_strdup(json_text_or_empty(app, "id"));
        json_array_foreach(json_at(app, "attempts"), i, at) {
                const char *id = json_text_at(at, "attemptId");
                if (!attempt && (!site->attempt || (id && strcmp(id, site->attempt) == 0)))
                        attempt = at;
        }
        if (site->attempt && !attempt)
                return error_set(error, -ENOENT, "%s has no attempt '%s' of the application '%s'", printable,
                                 site->attempt, site->id);
        if (!site->attempt && json_text_at(attempt, "attemptId"))
                site->attempt = mem_strdup(json_text_at(attempt, "attemptId"));
        site->now_ms = api_attempt_now(attempt);
        return 0;
}

/* Returns "applications/ID", escaped. The caller owns it. */
static char *api_site_path(const struct api_site *site, bool with_attempt)
{
        struct buf path = BUF_INIT;
        buf_puts(&path, "applications/");
        percent_encode(&path, site->id, "");
        if (with_attempt && site->attempt) {
                buf_puts(&path, "/");
                percent_encode(&path, site->attempt, "");
        }
        return buf_steal(&path);
}

/* Asks for the applications: all, or the one that is named, in a list. */
static int api_site_list(struct api_site *site, json_t **out, struct fst_error *error)
{
        json_t *app = NULL;
        if (!site->id)
                return api_site_ask(site, "applications", true, out, error);
        _cleanup_free_ char *path = api_site_path(site, false);
        int r = api_site_ask(site, path, false, &app, error);
        if (r == 0) {
                *out = json_array();
                json_array_append_new(*out, app);
        }
        return r;
}

int api_site_open(struct api_site *site, const char *url, const char *application, bool one, json_t **apps,
                  struct fst_error *error)
{
        int r = api_site_parse(site, url, application, error);
        if (r == 0)
                r = api_site_list(site, apps, error);
        if (r == 0 && (one || site->id))
                r = api_site_choose(site, *apps, error);
        return r;
}

int api_site_get(struct api_site *site, const char *resource, json_t **out, struct fst_error *error)
{
        _cleanup_free_ char *path = api_site_path(site, true);
        _cleanup_free_ char *whole = mem_printf("%s/%s", path, resource);
        return api_site_ask(site, whole, true, out, error);
}
