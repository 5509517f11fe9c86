/*
 * See registry.h. A registry that needs authentication replies 401 with a challenge. The client then sends name and
 * password (Basic), or exchanges them for a token at the named address (Bearer), and repeats the request once.
 */
#include "image/registry.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "io/fs/uri.h"
#include "net/http/http.h"
#include "text/json.h"
#include "text/percent.h"

#include <jansson.h>

struct registry {
        struct http_client *http;
        struct http_answer answer;
        char *host, *base, *repository, *login; /* base: "https://registry-1.docker.io" */
        char *token;                            /* NULL: none yet */
        bool basic;                             /* send name and password with each request */
};

static bool registry_is_this_machine(const char *host)
{
        size_t n = strcspn(host, ":");
        return text_starts_with(host, "127.") || text_starts_with(host, "[::1]") ||
               (n == 9 && memcmp(host, "localhost", 9) == 0);
}

int registry_open(const struct registry_options *o, struct registry **out, struct fst_error *error)
{
        struct http_client *http;
        int result = http_client_new(&http, error);
        if (result < 0)
                return result;
        struct registry *r = new0(struct registry);
        bool hub = strcmp(o->host, "docker.io") == 0;
        r->http = http;
        r->host = mem_strdup(o->host);
        r->repository = mem_strdup(o->repository);
        r->login = o->login ? mem_strdup(o->login) : NULL;
        r->base = mem_printf("http%s://%s", o->plain_http || registry_is_this_machine(o->host) ? "" : "s",
                             hub ? "registry-1.docker.io" : o->host);
        *out = r;
        return 0;
}

void registry_close(struct registry *r)
{
        if (!r)
                return;
        http_client_free(r->http);
        http_answer_deinit(&r->answer);
        free(r->host);
        free(r->base);
        free(r->repository);
        free(r->login);
        free(r->token);
        free(r);
}

/* --------------------------------------------------------------------------------------------------- authentication */

/* The value of @name in "Bearer realm="…",service="…"", owned by the caller, or NULL. */
static char *registry_parameter(const char *challenge, const char *name)
{
        size_t n = strlen(name);
        for (const char *at = challenge; (at = strstr(at, name)); at += n)
                if (at > challenge && (at[-1] == ' ' || at[-1] == ',') && at[n] == '=' && at[n + 1] == '"')
                        return mem_strndup(at + n + 2, strcspn(at + n + 2, "\""));
        return NULL;
}

static int registry_fetch_token(struct registry *r, const char *challenge, struct fst_error *error)
{
        _cleanup_free_ char *realm = registry_parameter(challenge, "realm"),
                            *service = registry_parameter(challenge, "service");
        _cleanup_(http_answer_deinit) struct http_answer answer = HTTP_ANSWER_INIT;
        _cleanup_(buf_deinit) struct buf url = BUF_INIT;
        if (!realm || (text_starts_with(r->base, "https:") && !text_starts_with(realm, "https:")))
                return error_set(error, -EPROTO, "%s names no trusted address for a token: the address must use https",
                                 r->host);
        buf_printf(&url, "%s%cscope=repository:", realm, strchr(realm, '?') ? '&' : '?');
        percent_encode(&url, r->repository, "/");
        buf_puts(&url, ":pull,push");
        if (service) {
                buf_puts(&url, "&service=");
                percent_encode(&url, service, "");
        }
        int result = http_perform(
                r->http, &(struct http_request){.url = buf_text(&url), .user_password = r->login, .follow = !r->login},
                &answer, error);
        if (result < 0)
                return error_wrap(error, result, "cannot get a token for %s", r->host);
        json_t *root = json_loadb(buf_text(&answer.body), answer.body.len, 0, NULL);
        const char *token = json_text_at(root, "token");
        token = token ? token : json_text_at(root, "access_token");
        free(steal(r->token));
        r->token = token && answer.status == 200 ? mem_strdup(token) : NULL;
        json_decref(root);
        return 0;
}

/* Returns 1 if the request should be repeated with credentials, 0 if there is nothing left to try. */
static int registry_answer_challenge(struct registry *r, struct fst_error *error)
{
        _cleanup_free_ char *challenge = http_answer_header(&r->answer, "WWW-Authenticate");
        if (challenge && text_starts_with(challenge, "Bearer ")) {
                int result = registry_fetch_token(r, challenge, error);
                return result < 0 ? result : r->token != NULL;
        }
        bool again = r->login && !r->basic;
        r->basic = r->login != NULL;
        return again;
}

/* --------------------------------------------------------------------------------------------------------- requests */

/* Sends the request and sets r->answer for any status. Renews a missing or expired token once. */
static int registry_request(struct registry *r, const struct http_request *what, struct fst_error *error)
{
        for (int attempt = 0;; attempt++) {
                struct http_request request = *what;
                bool ours = text_starts_with(request.url, r->base) && request.url[strlen(r->base)] == '/';
                request.bearer = ours ? r->token : NULL;
                request.user_password = ours && !r->token && r->basic ? r->login : NULL;
                int result = http_perform(r->http, &request, &r->answer, error);
                if (result < 0 || r->answer.status != 401 || attempt == 1)
                        return result;
                result = registry_answer_challenge(r, error);
                if (result <= 0)
                        return result;
        }
}

static int registry_refused(struct registry *r, const char *what, struct fst_error *error)
{
        json_t *root = json_loadb(buf_text(&r->answer.body), r->answer.body.len, 0, NULL);
        json_t *first = json_array_get(json_object_get(root, "errors"), 0);
        const char *message = json_text_at(first, "message");
        int status = r->answer.status, code = status == 401 || status == 403 ? -EACCES : -EIO;
        if (code == -EACCES)
                error_set(error, code,
                          "%s does not let %s push %s%s%s: log in with 'docker login %s' or 'podman login %s'%s",
                          r->host, r->login ? "this user" : "anonymous users", r->repository, message ? ": " : "",
                          message ? message : "", r->host, r->host,
                          r->login ? " as a user with the right, or create the repository first" : "");
        else
                error_set(error, code, "%s rejects %s of %s with status %d%s%s", r->host, what, r->repository, status,
                          message ? ": " : "", message ? message : "");
        json_decref(root);
        return code;
}

int registry_has_blob(struct registry *r, const char *digest, struct fst_error *error)
{
        _cleanup_free_ char *url = mem_printf("%s/v2/%s/blobs/%s", r->base, r->repository, digest);
        int result = registry_request(r, &(struct http_request){.url = url, .method = "HEAD", .follow = true}, error);
        if (result < 0)
                return result;
        if (r->answer.status != 200 && r->answer.status != 404)
                return registry_refused(r, "a question", error);
        return r->answer.status == 200;
}

/* The URL at which an upload continues, with the digest in its query. */
static char *registry_upload_url(const struct registry *r, const char *location, const char *digest)
{
        const char *base = *location == '/' ? r->base : "";
        return mem_printf("%s%s%cdigest=%s", base, location, strchr(location, '?') ? '&' : '?', digest);
}

int registry_put_blob(struct registry *r, const char *digest, const void *data, size_t n, struct fst_error *error)
{
        _cleanup_free_ char *start = mem_printf("%s/v2/%s/blobs/uploads/", r->base, r->repository);
        int result = registry_request(r, &(struct http_request){.url = start, .method = "POST"}, error);
        if (result < 0)
                return result;
        _cleanup_free_ char *location = http_answer_header(&r->answer, "Location");
        if (r->answer.status != 202)
                return registry_refused(r, "a layer", error);
        if (!location || (*location != '/' && !text_starts_with(location, "http")))
                return error_set(error, -EPROTO,
                                 "%s returns no upload address for a layer: check that it is a registry", r->host);
        _cleanup_free_ char *url = registry_upload_url(r, location, digest);
        result = registry_request(r, &(struct http_request){.url = url, .method = "PUT", .body = data, .body_len = n},
                                  error);
        return result < 0 ? result : r->answer.status == 201 ? 0 : registry_refused(r, "a layer", error);
}

int registry_put_manifest(struct registry *r, const char *tag, const char *type, const void *data, size_t n,
                          struct fst_error *error)
{
        _cleanup_free_ char *url = mem_printf("%s/v2/%s/manifests/%s", r->base, r->repository, tag);
        _cleanup_free_ char *typed = mem_printf("Content-Type: %s", type);
        const char *headers[] = {typed, NULL};
        int result = registry_request(
                r, &(struct http_request){.url = url, .method = "PUT", .headers = headers, .body = data, .body_len = n},
                error);
        return result < 0 ? result : r->answer.status / 100 == 2 ? 0 : registry_refused(r, "the manifest", error);
}
