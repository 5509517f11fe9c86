/*
 * The http module: libcurl behind net/http/http.h. It is a separate shared object and uses no function of the core.
 *
 * This file translates a request's fields to libcurl, and runs one request at a time, with one easy handle for a
 * client. Connections, names and TLS sessions are kept between requests, options are not. http_multi.c runs many
 * requests at once, and http_upload_module.c sends bodies piece by piece.
 */
#include "net/http/http_module_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/uio.h>

#define NETWORK "http,https,ftp,ftps"
/* One system call, and often one switch to the server, moves so much of a body; libcurl's defaults are 16 and 64 KiB. */
#define RECEIVE_BUFFER (256L << 10)
#define SEND_BUFFER (512L << 10)

static struct http_handle *handle_new(void)
{
        struct http_handle *h = calloc(1, sizeof(*h));
        if (h && !(h->curl = curl_easy_init())) {
                free(h);
                h = NULL;
        }
        return h;
}

static void handle_free(struct http_handle *h)
{
        http_sending_free(h->sending);
        curl_easy_cleanup(h->curl);
        free(h);
}

static bool is_ftp(const char *url)
{
        return strncasecmp(url, "ftp", 3) == 0;
}

static size_t on_header(char *line, size_t size, size_t n, void *context)
{
        struct http_handle *h = context;
        return h->receiver->header(h->receiver->context, line, size * n) == 0 ? size * n : 0;
}

static size_t on_body(char *data, size_t size, size_t n, void *context)
{
        struct http_handle *h = context;
        long status = 200;
        if (!is_ftp(h->request->url))
                curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &status);
        return h->receiver->body(h->receiver->context, (int)status, data, size * n) == 0 ? size * n : 0;
}

/* Copies the next bytes of a body in pieces. */
static size_t on_read(char *data, size_t size, size_t n, void *context)
{
        struct http_handle *h = context;
        size_t room = size * n, got = 0;
        while (got < room && h->piece < h->request->n_pieces) {
                const struct iovec *p = &h->request->pieces[h->piece];
                size_t part = p->iov_len - h->piece_at < room - got ? p->iov_len - h->piece_at : room - got;
                memcpy(data + got, (const char *)p->iov_base + h->piece_at, part);
                got += part;
                h->piece_at += part;
                if (h->piece_at == p->iov_len) {
                        h->piece++;
                        h->piece_at = 0;
                }
        }
        return got;
}

/* A body in pieces is sent again from the start, on another connection. */
static int on_seek(void *context, curl_off_t offset, int origin)
{
        struct http_handle *h = context;
        if (offset != 0 || origin != SEEK_SET)
                return CURL_SEEKFUNC_CANTSEEK;
        h->piece = h->piece_at = 0;
        return CURL_SEEKFUNC_OK;
}

static int on_progress(void *context, curl_off_t total, curl_off_t done, curl_off_t up_total, curl_off_t up)
{
        struct http_handle *h = context;
        return h->request->progress(h->request->context, (int64_t)done, (int64_t)total) != 0;
}

/* Returns whether the host is this machine, which needs no proxy. */
static bool http_module_is_loopback(const char *url)
{
        static const char *const hosts[] = {"127.", "localhost", "[::1]"};
        const char *host = strstr(url, "://");
        host = host ? host + 3 : url;
        size_t n = strcspn(host, "/?#");
        const char *at = memchr(host, '@', n);
        for (; at; at = memchr(host, '@', n)) {
                n -= (size_t)(at + 1 - host);
                host = at + 1;
        }
        if (strncmp(host, hosts[0], strlen(hosts[0])) == 0)
                return true;
        for (size_t i = 1; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
                size_t len = strlen(hosts[i]);
                if (strncasecmp(host, hosts[i], len) == 0 && (len == n || host[len] == ':'))
                        return true;
        }
        return false;
}

int http_error_code(const struct http_handle *h, CURLcode code)
{
        long number = 0;
        switch (code) {
        case CURLE_UNSUPPORTED_PROTOCOL: /* also for a redirection, and for other protocols */
                curl_easy_getinfo(h->curl, CURLINFO_REQUEST_SIZE, &number);
                return number > 0 ? -EPROTO : -EINVAL;
        case CURLE_URL_MALFORMAT:
                return -EINVAL;
        case CURLE_COULDNT_RESOLVE_HOST:
        case CURLE_COULDNT_RESOLVE_PROXY:
                return -EHOSTUNREACH;
        case CURLE_COULDNT_CONNECT:
                curl_easy_getinfo(h->curl, CURLINFO_OS_ERRNO, &number);
                return number > 0 ? -(int)number : -ECONNREFUSED;
        case CURLE_OPERATION_TIMEDOUT:
                return -ETIMEDOUT;
        case CURLE_OUT_OF_MEMORY:
                return -ENOMEM;
        case CURLE_ABORTED_BY_CALLBACK:
        case CURLE_WRITE_ERROR:
                return -ECANCELED;
        case CURLE_REMOTE_FILE_NOT_FOUND:
        case CURLE_FTP_COULDNT_RETR_FILE:
        case CURLE_REMOTE_ACCESS_DENIED:
                return -ENOENT;
        case CURLE_LOGIN_DENIED:
                return -EACCES;
        case CURLE_SSL_CONNECT_ERROR:
        case CURLE_SSL_ENGINE_NOTFOUND:
        case CURLE_SSL_CERTPROBLEM:
        case CURLE_SSL_CIPHER:
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_USE_SSL_FAILED:
        case CURLE_SSL_CACERT_BADFILE:
        case CURLE_SSL_ISSUER_ERROR:
        case CURLE_WEIRD_SERVER_REPLY:
        case CURLE_TOO_MANY_REDIRECTS:
                return -EPROTO;
        default:
                return -EIO;
        }
}

/* Sets the trusted certificates. By default they come from the environment variables of the program curl, which its
 * library ignores. */
static const char *http_module_trusted(const char *said)
{
        const char *file = said;
        if (!file || !*file)
                file = getenv("CURL_CA_BUNDLE");
        if (!file || !*file)
                file = getenv("SSL_CERT_FILE");
        return file && *file ? file : NULL;
}

static void http_module_set_pieces(struct http_handle *h, const struct http_request *q)
{
        h->piece = h->piece_at = 0;
        curl_easy_setopt(h->curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)q->body_len);
        curl_easy_setopt(h->curl, CURLOPT_READFUNCTION, on_read);
        curl_easy_setopt(h->curl, CURLOPT_READDATA, h);
        curl_easy_setopt(h->curl, CURLOPT_SEEKFUNCTION, on_seek);
        curl_easy_setopt(h->curl, CURLOPT_SEEKDATA, h);
}

static void set_method(CURL *curl, const struct http_request *q, bool uploads)
{
        if (uploads) {
                curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
                if (q->method && strcmp(q->method, "PUT") != 0)
                        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, q->method);
                return;
        }
        bool body = q->body || q->body_len;
        if (body) {
                curl_easy_setopt(curl, CURLOPT_POST, 1L);
                curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->body_len);
                curl_easy_setopt(curl, CURLOPT_POSTFIELDS, q->body ? q->body : "");
        }
        if (!q->method || (body && strcmp(q->method, "POST") == 0) || (!body && strcmp(q->method, "GET") == 0))
                return;
        if (strcmp(q->method, "HEAD") == 0)
                curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
        else if (strcmp(q->method, "POST") == 0) {
                curl_easy_setopt(curl, CURLOPT_POST, 1L);
                curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)0);
                curl_easy_setopt(curl, CURLOPT_POSTFIELDS, "");
        } else
                curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, q->method);
}

static void set_identity(CURL *curl, const struct http_request *q)
{
        if (q->user_password)
                curl_easy_setopt(curl, CURLOPT_USERPWD, q->user_password);
        if (q->aws_sigv4)
                curl_easy_setopt(curl, CURLOPT_AWS_SIGV4, q->aws_sigv4);
        if (q->bearer) {
                curl_easy_setopt(curl, CURLOPT_XOAUTH2_BEARER, q->bearer);
                curl_easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
        }
        if (q->negotiate) {
                curl_easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_NEGOTIATE);
                curl_easy_setopt(curl, CURLOPT_USERPWD, ":");
        }
}

/* Sets a file, or a text that lives as long as the request. */
static void http_module_set_pem(CURL *curl, CURLoption file_option, const char *file, CURLoption data_option,
                                const char *data)
{
        if (data) {
                struct curl_blob blob = {(void *)data, strlen(data), CURL_BLOB_NOCOPY};
                curl_easy_setopt(curl, data_option, &blob);
        } else if (file) {
                curl_easy_setopt(curl, file_option, file);
        }
}

static void set_trust(CURL *curl, const struct http_request *q)
{
        bool said = q->ca_file || q->ca_data;
        http_module_set_pem(curl, CURLOPT_CAINFO, http_module_trusted(q->ca_file), CURLOPT_CAINFO_BLOB, q->ca_data);
        if (said && q->ca_only)
                curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
        http_module_set_pem(curl, CURLOPT_SSLCERT, q->cert_file, CURLOPT_SSLCERT_BLOB, q->cert_data);
        http_module_set_pem(curl, CURLOPT_SSLKEY, q->key_file, CURLOPT_SSLKEY_BLOB, q->key_data);
        if (q->insecure) {
                curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
                curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
        }
}

static void set_limits(CURL *curl, const struct http_request *q)
{
        curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, NETWORK);
        curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR,
                         strncasecmp(q->url, "https:", 6) == 0 ? "https" : "http,https");
        curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
        if (q->fresh)
                curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, 1L);
        curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
                         (long)(q->connect_timeout_ms > 0 ? q->connect_timeout_ms : HTTP_CONNECT_TIMEOUT_MS));
        if (q->timeout_ms > 0)
                curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)q->timeout_ms);
        if (q->stall_timeout_ms >= 0) {
                int64_t stall = q->stall_timeout_ms > 0 ? q->stall_timeout_ms : HTTP_STALL_TIMEOUT_MS;
                curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
                curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)((stall + 999) / 1000));
        }
        curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, q->follow ? 1L : 0L);
        curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 20L);
        if (q->unix_socket)
                curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, q->unix_socket);
        if (q->proxy)
                curl_easy_setopt(curl, CURLOPT_PROXY, q->proxy);
        else if (q->direct || http_module_is_loopback(q->url))
                curl_easy_setopt(curl, CURLOPT_PROXY, "");
}

/* Sets the request's headers, and removes curl's own. */
static int make_headers(const struct http_request *q, bool uploads, struct curl_slist **out)
{
        bool body = q->body || q->body_len || uploads;
        struct curl_slist *list = NULL, *next;
        bool typed = false;
        for (size_t i = 0; q->headers && q->headers[i]; i++) {
                if (!(next = curl_slist_append(list, q->headers[i])))
                        goto no_memory;
                list = next;
                typed = typed || strncasecmp(q->headers[i], "Content-Type:", 13) == 0;
        }
        /* libcurl would wait for the reply to "Expect: 100-continue". */
        if ((q->body_len > 0 || uploads) && !(next = curl_slist_append(list, "Expect:")))
                goto no_memory;
        else if (q->body_len > 0 || uploads)
                list = next;
        if (body && !typed) {
                if (!(next = curl_slist_append(list, "Content-Type: application/octet-stream")))
                        goto no_memory;
                list = next;
        }
        *out = list;
        return 0;
no_memory:
        curl_slist_free_all(list);
        return -ENOMEM;
}

void http_finish(struct http_handle *h)
{
        long status = 0, redirects = 0;
        const char *url = NULL;
        curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &status);
        curl_easy_getinfo(h->curl, CURLINFO_REDIRECT_COUNT, &redirects);
        h->receiver->status = is_ftp(h->request->url) ? 200 : (int)status;
        if (redirects > 0 && curl_easy_getinfo(h->curl, CURLINFO_EFFECTIVE_URL, &url) == CURLE_OK && url &&
            strlen(url) < sizeof(h->receiver->url))
                strcpy(h->receiver->url, url);
}

/*
 * libcurl takes the certificate's expected name from the URL. So the URL gets this name, an option sets the real
 * address, and a header sets the host.
 */
static int set_host(CURL *curl, const struct http_request *q, struct curl_slist **headers,
                    struct curl_slist **connect_to)
{
        if (!q->tls_name)
                return curl_easy_setopt(curl, CURLOPT_URL, q->url) == CURLE_OK ? 0 : -ENOMEM;
        char *host = NULL, *port = NULL, *url = NULL, *line = NULL, *to = NULL;
        struct curl_slist *next = NULL;
        int r = -ENOMEM;
        CURLU *u = curl_url();
        if (!u || curl_url_set(u, CURLUPART_URL, q->url, 0) != CURLUE_OK ||
            curl_url_get(u, CURLUPART_HOST, &host, 0) != CURLUE_OK ||
            curl_url_get(u, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) != CURLUE_OK ||
            curl_url_set(u, CURLUPART_HOST, q->tls_name, 0) != CURLUE_OK ||
            curl_url_get(u, CURLUPART_URL, &url, 0) != CURLUE_OK) {
                r = u ? -EINVAL : -ENOMEM;
                goto over;
        }
        if (asprintf(&to, "::%s:%s", host, port) < 0 || !(*connect_to = curl_slist_append(NULL, to)) ||
            asprintf(&line, "Host: %s:%s", host, port) < 0 || !(next = curl_slist_append(*headers, line)))
                goto over;
        *headers = next;
        curl_easy_setopt(curl, CURLOPT_CONNECT_TO, *connect_to);
        r = curl_easy_setopt(curl, CURLOPT_URL, url) == CURLE_OK ? 0 : -ENOMEM;
over:
        curl_free(host);
        curl_free(port);
        curl_free(url);
        curl_url_cleanup(u);
        free(line);
        free(to);
        return r;
}

int http_configure(struct http_handle *h, const struct http_request *q, struct http_receiver *receiver,
                   char text[CURL_ERROR_SIZE], struct curl_slist **headers, struct curl_slist **connect_to,
                   char *message, size_t size)
{
        int r = q->url && *q->url ? make_headers(q, h->uploads, headers) : -EINVAL;
        if (r == 0)
                r = set_host(h->curl, q, headers, connect_to);
        if (r < 0) {
                snprintf(message, size, "%s",
                         r == -ENOMEM        ? "no memory"
                         : q->url && *q->url ? "this is not a URL"
                                             : "a request needs a URL");
                return r;
        }
        h->request = q;
        h->receiver = receiver;
        curl_easy_setopt(h->curl, CURLOPT_ERRORBUFFER, text);
        curl_easy_setopt(h->curl, CURLOPT_HEADERFUNCTION, on_header);
        curl_easy_setopt(h->curl, CURLOPT_HEADERDATA, h);
        curl_easy_setopt(h->curl, CURLOPT_WRITEFUNCTION, on_body);
        curl_easy_setopt(h->curl, CURLOPT_WRITEDATA, h);
        if (q->progress) {
                curl_easy_setopt(h->curl, CURLOPT_NOPROGRESS, 0L);
                curl_easy_setopt(h->curl, CURLOPT_XFERINFOFUNCTION, on_progress);
                curl_easy_setopt(h->curl, CURLOPT_XFERINFODATA, h);
        }
        if (*headers)
                curl_easy_setopt(h->curl, CURLOPT_HTTPHEADER, *headers);
        if (q->pieces)
                http_module_set_pieces(h, q);
        set_method(h->curl, q, h->uploads || q->pieces);
        set_identity(h->curl, q);
        set_trust(h->curl, q);
        set_limits(h->curl, q);
        return 0;
}

static int http_module_perform(struct http_handle *h, const struct http_request *q, struct http_receiver *receiver,
                               char *message, size_t size)
{
        char text[CURL_ERROR_SIZE] = "";
        struct curl_slist *headers = NULL, *connect_to = NULL;
        curl_easy_reset(h->curl); /* resets options, keeps connections */
        curl_easy_setopt(h->curl, CURLOPT_BUFFERSIZE, RECEIVE_BUFFER);
        curl_easy_setopt(h->curl, CURLOPT_UPLOAD_BUFFERSIZE, SEND_BUFFER);
        int r = http_configure(h, q, receiver, text, &headers, &connect_to, message, size);
        CURLcode code = r == 0 ? curl_easy_perform(h->curl) : CURLE_OK;
        curl_slist_free_all(headers);
        curl_slist_free_all(connect_to);
        if (r < 0)
                return r;
        if (code == CURLE_OK) {
                http_finish(h);
                return 0;
        }
        snprintf(message, size, "%s", text[0] ? text : curl_easy_strerror(code));
        return http_error_code(h, code);
}

static const struct http_ops ops = {
        .abi = HTTP_ABI,
        .handle_new = handle_new,
        .handle_free = handle_free,
        .perform = http_module_perform,
        .upload_begin = http_sending_begin,
        .upload_write = http_sending_write,
        .upload_end = http_sending_end,
        .multi_new = http_multi_new,
        .multi_free = http_multi_free,
        .multi_begin = http_multi_begin,
        .multi_end = http_multi_end,
        .multi_act = http_multi_act,
        .multi_next = http_multi_next,
        .tunnel_open = http_tunnel_module_open,
        .tunnel_read = http_tunnel_module_read,
        .tunnel_write = http_tunnel_module_write,
};

__attribute__((visibility("default"))) const struct http_ops *firesteel_http_module(void);
const struct http_ops *firesteel_http_module(void)
{
        return curl_global_init(CURL_GLOBAL_ALL) == CURLE_OK ? &ops : NULL;
}
