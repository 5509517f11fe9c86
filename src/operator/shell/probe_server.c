/* Answers probes and scrapes on http_server. */
#include "operator/shell/probe_server.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/http/http_server.h"

struct probe_server {
        struct http_server *http;
        const struct probe_server_ops *ops;
        void *owner;
        char *metrics_path;
};

static void probe_server_serve(void *owner, struct http_call *call)
{
        struct probe_server *s = owner;
        bool probe = !s->metrics_path;
        if (strcmp(call->method, "GET") != 0) {
                http_call_answer_text(call, 405, "text/plain", "only GET\n");
        } else if (probe && strcmp(call->path, "/healthz") == 0) {
                http_call_answer_text(call, 200, "text/plain", "ok");
        } else if (probe && strcmp(call->path, "/readyz") == 0) {
                bool ready = s->ops->ready(s->owner);
                http_call_answer_text(call, ready ? 200 : 500, "text/plain",
                                      ready ? "ok" : "the lists of objects are not complete yet\n");
        } else if (!probe && strcmp(call->path, s->metrics_path) == 0) {
                struct buf text = BUF_INIT;
                s->ops->metrics(s->owner, &text);
                http_call_answer(call, 200, "text/plain; version=0.0.4; charset=utf-8", &text);
        } else {
                http_call_answer_text(call, 404, "text/plain", "404 page not found\n");
        }
}

int probe_server_new(uv_loop_t *loop, const char *address, const char *metrics_path, const struct probe_server_ops *ops,
                     void *owner, struct probe_server **out, struct fst_error *error)
{
        const char *colon = strrchr(address, ':');
        *out = NULL;
        if (!*address || strcmp(address, "0") == 0)
                return 0;
        char *end = NULL;
        long port = colon && colon[1] ? strtol(colon + 1, &end, 10) : -1;
        if (port < 0 || port > 65535 || *end)
                return error_set(error, -EINVAL, "'%s' is not an address to listen on (write :8080, or 0 for none)",
                                 address);
        size_t n = (size_t)(colon - address);
        bool brackets = n >= 2 && address[0] == '[' && address[n - 1] == ']';
        _cleanup_free_ char *host = mem_strndup(address + brackets, n - (brackets ? 2 : 0));
        struct probe_server *s = new0(struct probe_server);
        s->ops = ops;
        s->owner = owner;
        s->metrics_path = mem_strdup_if(metrics_path);
        struct http_server_options options = {.loop = loop,
                                              .service = metrics_path ? "Metrics" : "HealthProbe",
                                              .host = *host ? host : NULL,
                                              .port = (int)port,
                                              .max_connections = 32,
                                              .max_body = 1024,
                                              .handle = probe_server_serve,
                                              .owner = s};
        int r = http_server_new(&options, &s->http, error);
        if (r < 0) {
                free(s->metrics_path);
                free(s);
                return r;
        }
        log_info(options.service, "Listening on port %d.", http_server_port(s->http));
        *out = s;
        return 0;
}

void probe_server_free(struct probe_server *s)
{
        if (!s)
                return;
        http_server_free(s->http);
        free(s->metrics_path);
        free(s);
}
