/* Synchronous HTTP requests and their replies. http_module.c does the transfers. */
#include "net/http/http.h"

#include "base/error.h"
#include "base/mem.h"
#include "net/http/http_internal.h"
#include "net/http/http_plain_multi.h"
#include "base/module_loader.h"

#include <pthread.h>
#include <strings.h>

static struct {
        pthread_mutex_t lock;
        const struct http_ops *ops;
        bool replaced; /* by http_ops_replace */
} module = {PTHREAD_MUTEX_INITIALIZER, NULL, false};

static int load_locked(struct fst_error *error)
{
        on_demand_fn get;
        int r = on_demand_load("http", "libfiresteel-http.so", HTTP_MODULE_SYMBOL, &get, error);
        if (r < 0)
                return r;
        const struct http_ops *ops = get();
        if (!ops || ops->abi != HTTP_ABI)
                return error_set(error, -ELIBBAD,
                                 "libfiresteel-http.so is not of this version of firesteel, or its "
                                 "libcurl does not start; install it again");
        module.ops = ops;
        return 0;
}

int http_ops_load(const struct http_ops **ops, struct fst_error *error)
{
        pthread_mutex_lock(&module.lock);
        int r = module.ops ? 0 : load_locked(error);
        *ops = module.ops;
        pthread_mutex_unlock(&module.lock);
        return r;
}

int http_ops_plain(const struct http_ops **ops)
{
        pthread_mutex_lock(&module.lock);
        *ops = module.replaced ? module.ops : &http_plain_multi_ops;
        pthread_mutex_unlock(&module.lock);
        return 0;
}

void http_ops_replace(const struct http_ops *ops)
{
        pthread_mutex_lock(&module.lock);
        module.ops = ops;
        module.replaced = true;
        pthread_mutex_unlock(&module.lock);
}

int http_client_new(struct http_client **out, struct fst_error *error)
{
        const struct http_ops *ops;
        int r = http_ops_load(&ops, error);
        if (r < 0)
                return r;
        struct http_handle *handle = ops->handle_new();
        if (!handle)
                return error_set(error, -ENOMEM, "no memory for an http client");
        struct http_client *client = new0(struct http_client);
        *client = (struct http_client){.ops = ops, .handle = handle};
        *out = client;
        return 0;
}

void http_client_free(struct http_client *client)
{
        if (!client)
                return;
        client->ops->handle_free(client->handle);
        free(client);
}

void http_answer_deinit(struct http_answer *a)
{
        buf_deinit(&a->body);
        buf_deinit(&a->headers);
        free(steal(a->url));
        a->status = 0;
}

char *http_answer_header(const struct http_answer *a, const char *name)
{
        size_t n = strlen(name);
        for (const char *line = buf_text(&a->headers); *line; line += strcspn(line, "\n"), line += *line == '\n') {
                if (strncasecmp(line, name, n) != 0 || line[n] != ':')
                        continue;
                const char *value = line + n + 1;
                value += strspn(value, " \t");
                size_t len = strcspn(value, "\r\n");
                while (len > 0 && (value[len - 1] == ' ' || value[len - 1] == '\t'))
                        len--;
                return mem_strndup(value, len);
        }
        return NULL;
}

char *http_printable_url(const char *url)
{
        const char *start = strstr(url, "://");
        start = start ? start + 3 : url;
        size_t authority = strcspn(start, "/?#");
        const char *at = memrchr(start, '@', authority);
        const char *host = at ? at + 1 : start;
        return mem_printf("%.*s%.*s", (int)(start - url), url, (int)strcspn(host, "?#"), host);
}

char *http_printable_line(const char *line)
{
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        for (const char *slashes; (slashes = strstr(line, "://"));) {
                const char *start = slashes + 3;
                const char *at = memrchr(start, '@', strcspn(start, "/ \t\r\n\"'<>"));
                buf_append(&out, line, (size_t)(start - line));
                line = at ? at + 1 : start;
        }
        buf_puts(&out, line);
        return buf_steal(&out);
}

#define MAX_HEADERS (256u << 10)

int http_exchange_header(void *context, const char *line, size_t n)
{
        struct http_exchange *x = context;
        if (x->result < 0)
                return x->result;
        /* A reply begins with a status line. Discards earlier replies of redirections and of a proxy. */
        if (n >= 5 && memcmp(line, "HTTP/", 5) == 0)
                buf_reset(&x->answer->headers);
        if (n > MAX_HEADERS - x->answer->headers.len) {
                x->what = "headers are";
                x->limit = MAX_HEADERS;
                return x->result = -EFBIG;
        }
        buf_append(&x->answer->headers, line, n);
        return 0;
}

static int http_append_body(void *context, int status, const char *data, size_t n)
{
        struct http_exchange *x = context;
        if (x->result < 0)
                return x->result;
        if (x->request->sink && status >= 200 && status < 300) {
                int r = x->request->sink(x->request->context, data, n);
                if (r != 0 && x->result == 0)
                        x->result = r < 0 ? r : -ECANCELED;
                return x->result;
        }
        if (n > x->limit - x->answer->body.len)
                return x->result = -EFBIG;
        buf_append(&x->answer->body, data, n);
        return 0;
}

void http_exchange_init(struct http_exchange *x, const struct http_request *request, struct http_answer *answer)
{
        *x = (struct http_exchange){.request = request,
                                    .answer = answer,
                                    .what = "answer is",
                                    .limit = request->max_answer ? request->max_answer : HTTP_MAX_ANSWER};
        x->receiver = (struct http_receiver){.header = http_exchange_header, .body = http_append_body, .context = x};
        buf_reset(&answer->body);
        buf_reset(&answer->headers);
        free(steal(answer->url));
}

int http_exchange_finish(struct http_exchange *x, int r, const char *message, struct fst_error *error)
{
        if (r < 0) {
                const char *said = x->request->url;
                _cleanup_free_ char *url = http_printable_url(said && *said ? said : "(no URL)");
                if (x->result == -EFBIG)
                        return error_set(error, -EFBIG, "%s: the %s larger than %zu bytes", url, x->what, x->limit);
                if (x->result < 0)
                        return error_set(error, x->result, "%s: the transfer was ended: %s", url, strerror(-x->result));
                return error_set(error, r, "%s: %s", url, message);
        }
        x->answer->status = x->receiver.status;
        if (x->receiver.url[0])
                x->answer->url = mem_strdup(x->receiver.url);
        return 0;
}

int http_perform(struct http_client *client, const struct http_request *request, struct http_answer *answer,
                 struct fst_error *error)
{
        struct http_exchange x;
        char message[512] = "";
        http_exchange_init(&x, request, answer);
        int r = client->ops->perform(client->handle, request, &x.receiver, message, sizeof(message));
        return http_exchange_finish(&x, r, message, error);
}
