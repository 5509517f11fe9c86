/*
 * Requests over HTTP(S) and FTP(S). Only a module, libfiresteel-http.so, links to libcurl; the first client loads it
 * (some 7 ms and 1.3 MB of private memory; a request on a kept connection then costs some 0.15 ms).
 *
 *      struct http_client *client;
 *      struct http_answer answer = HTTP_ANSWER_INIT;
 *      r = http_client_new(&client, error);
 *      r = http_perform(client, &(struct http_request){.url = url}, &answer, error);
 *      if (r == 0 && answer.status == 200) use(buf_text(&answer.body));
 *      http_answer_deinit(&answer);
 *      http_client_free(client);
 *
 * Otherwise the defaults of libcurl and the program curl apply: http_proxy, https_proxy, all_proxy and
 * no_proxy of the environment (never for 127.*, ::1 and localhost), certificates are verified with the system's store
 * or CURL_CA_BUNDLE / SSL_CERT_FILE. Redirections may lead from http to http or https, from https to https only.
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct fst_error;
struct http_client;
struct iovec;

#define HTTP_CONNECT_TIMEOUT_MS 60000
#define HTTP_STALL_TIMEOUT_MS 120000
#define HTTP_MAX_ANSWER (64u << 20)

/* Everything is borrowed for the call. Zero or NULL means not set. */
struct http_request {
        const char *url;            /* http, https, ftp or ftps; a name and password in it are used */
        const char *method;         /* GET without, POST with a body */
        const char *const *headers; /* "Name: value", the last NULL */
        const void *body;
        size_t body_len;
        const struct iovec *pieces; /* the body in place of `body`, body_len bytes in all; only for http_perform */
        size_t n_pieces;

        int64_t connect_timeout_ms; /* HTTP_CONNECT_TIMEOUT_MS */
        int64_t timeout_ms;         /* of the whole request: none, but a stalled one ends: */
        int64_t stall_timeout_ms;   /* HTTP_STALL_TIMEOUT_MS, in whole seconds; negative: no limit */
        size_t max_answer;          /* limit of the body in memory: HTTP_MAX_ANSWER */

        const char *user_password; /* "name:password": basic authentication, or the key of aws_sigv4 */
        const char *bearer;        /* token */
        const char *aws_sigv4;     /* "aws:amz:REGION:SERVICE": user_password signs the request */
        bool negotiate;            /* Kerberos (SPNEGO) with the ticket of this user */

        bool follow;             /* redirections, at most 20; name and password go to the first host only */
        bool fresh;              /* use a new connection */
        bool direct;             /* no proxy, even if the environment sets one */
        const char *proxy;       /* use this one instead of the environment's */
        const char *unix_socket; /* connect to this path in place of the URL's host and port */

        bool insecure;                              /* accept any certificate */
        const char *ca_file, *cert_file, *key_file; /* PEM */
        const char *ca_data, *cert_data, *key_data; /* the same as texts; they take precedence */
        bool ca_only;                               /* trust only ca_file and ca_data, not the system */
        const char *tls_name;                       /* required in the certificate, in place of the URL's host */

        /* Receives the body of a 2xx answer as it arrives, instead of answer.body (which still gets that of others).
         * Nonzero ends the request, which returns that value if negative, otherwise -ECANCELED.
         */
        int (*sink)(void *context, const char *data, size_t n);
        /* Called at least once a second; @total 0: unknown. Nonzero ends the request with -ECANCELED. */
        int (*progress)(void *context, int64_t done, int64_t total);
        void *context;
};

struct http_answer {
        int status;         /* as in HTTP; 200 for a successful FTP request */
        struct buf body;    /* ends with a NUL that is not counted */
        struct buf headers; /* lines of the last answer, unchanged: see http_answer_header */
        char *url;          /* the last URL after redirections; NULL if there were none */
};

#define HTTP_ANSWER_INIT ((struct http_answer){0})

void http_answer_deinit(struct http_answer *a);

/* The value of the first header @name, ignoring case, or NULL. The caller owns it. */
char *http_answer_header(const struct http_answer *a, const char *name);

/* A client keeps its connections between requests. One thread at a time. Returns -ENOENT or -ELIBBAD with @error when
 * the module is missing.
 */
int http_client_new(struct http_client **out, struct fst_error *error);
void http_client_free(struct http_client *client); /* NULL is allowed */

/* Sends the request and waits for the answer. Returns 0 for an answer of any status, in @answer, which may be reused.
 * Negative with @error (which names the URL without name, password and query) without an answer:
 *   -EHOSTUNREACH unknown host name of the server or proxy; -ECONNREFUSED and other errors of connect(2);
 *   -ETIMEDOUT; -EPROTO TLS, the certificate, another protocol, or a redirection to one; -EFBIG larger
 *   than max_answer; -ENOENT no such file (FTP); -EACCES FTP's login; -EINVAL not a URL, or an unsupported
 *   protocol; -ECANCELED sink or progress ended it; -EIO any other error, such as a broken connection.
 */
int http_perform(struct http_client *client, const struct http_request *request, struct http_answer *answer,
                 struct fst_error *error);

/* "http://name:password@host/path?query" without name, password and query, for messages. The caller owns it. */
char *http_printable_url(const char *url);

/* Removes names and passwords from the URLs in a line of text. The caller owns the result. */
char *http_printable_line(const char *line);
