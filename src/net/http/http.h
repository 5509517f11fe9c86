/*
 * Requests over HTTP(S) and FTP(S). All of it is libcurl's, which is linked only into a module of its own,
 * libfiresteel-http.so, loaded when the first client is made (some 7 ms and 1.3 MB of private memory; a request on a
 * kept connection then costs some 0.15 ms).
 *
 *      struct http_client *client;
 *      struct http_answer answer = HTTP_ANSWER_INIT;
 *      r = http_client_new(&client, error);
 *      r = http_perform(client, &(struct http_request){.url = url}, &answer, error);
 *      if (r == 0 && answer.status == 200) use(buf_text(&answer.body));
 *      http_answer_deinit(&answer);
 *      http_client_free(client);
 *
 * Where nothing is said, libcurl's defaults and those of the program curl hold: http_proxy, https_proxy, all_proxy and
 * no_proxy of the environment (never for 127.*, ::1 and localhost), certificates are checked against the system's
 * store or CURL_CA_BUNDLE / SSL_CERT_FILE. A redirection leads from http to http or https, from https to https only.
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct fst_error;
struct http_client;

#define HTTP_CONNECT_TIMEOUT_MS 60000
#define HTTP_STALL_TIMEOUT_MS 120000
#define HTTP_MAX_ANSWER (64u << 20)

/* Everything is borrowed for the call; what is zero or NULL was not said. */
struct http_request {
        const char *url;            /* http, https, ftp or ftps; a name and password in it are used */
        const char *method;         /* GET without, POST with a body */
        const char *const *headers; /* "Name: value", the last NULL */
        const void *body;
        size_t body_len;

        int64_t connect_timeout_ms; /* HTTP_CONNECT_TIMEOUT_MS */
        int64_t timeout_ms;         /* of the whole: none, but what stands still for too long ends: */
        int64_t stall_timeout_ms;   /* HTTP_STALL_TIMEOUT_MS, in whole seconds; negative: it may */
        size_t max_answer;          /* bytes of body taken into memory: HTTP_MAX_ANSWER */

        const char *user_password; /* "name:password": basic authentication, or the key of aws_sigv4 */
        const char *bearer;        /* token */
        const char *aws_sigv4;     /* "aws:amz:REGION:SERVICE": user_password signs the request */
        bool negotiate;            /* Kerberos (SPNEGO) with the ticket of this user */

        bool follow;       /* redirections, at most 20; name and password go to the first host only */
        bool fresh;        /* over a new connection */
        bool direct;       /* no proxy, whatever the environment says */
        const char *proxy; /* this one, whatever the environment says */

        bool insecure;                              /* take any certificate */
        const char *ca_file, *cert_file, *key_file; /* PEM */
        const char *ca_data, *cert_data, *key_data; /* the same as texts; they win */
        bool ca_only;                               /* ca_file and ca_data are all that is trusted, not the system */
        const char *tls_name;                       /* that the certificate must have, in place of the URL's host */

        /*
         * Called with the body of a 2xx answer as it comes, instead of answer.body (which still takes that of others).
         * Not 0 ends the request, which answers that if it is negative, else -ECANCELED.
         */
        int (*sink)(void *context, const char *data, size_t n);
        /* Called now and then, once a second at least; @total 0: unknown. Not 0 ends the request with -ECANCELED. */
        int (*progress)(void *context, int64_t done, int64_t total);
        void *context;
};

struct http_answer {
        int status;         /* as HTTP has it; 200 for what FTP did */
        struct buf body;    /* ends with a NUL that is not counted */
        struct buf headers; /* lines of the last answer, as they came: see http_answer_header */
        char *url;          /* where redirections led; NULL if there were none */
};

#define HTTP_ANSWER_INIT ((struct http_answer){0})

void http_answer_deinit(struct http_answer *a);

/* The value of the first header called @name, whatever its case, or NULL. The caller owns it. */
char *http_answer_header(const struct http_answer *a, const char *name);

/*
 * A client keeps its connections from request to request and is used by one thread at a time. -ENOENT or -ELIBBAD with
 * @error when the module is not there.
 */
int http_client_new(struct http_client **out, struct fst_error *error);
void http_client_free(struct http_client *client); /* NULL is allowed */

/*
 * Send the request and wait for its answer. 0: an answer came, of whatever status; @answer, which may be one that was
 * used before, holds it. Negative with @error (it names the URL without name, password and query) when none came:
 *   -EHOSTUNREACH the name of the host, or of its proxy, is not known; -ECONNREFUSED and other errors of connect(2);
 *   -ETIMEDOUT; -EPROTO TLS, the certificate, what speaks another protocol, or a redirection to one; -EFBIG larger
 *   than max_answer; -ENOENT no such file (FTP); -EACCES FTP's login; -EINVAL no URL, or a protocol that is none of
 *   ours; -ECANCELED sink or progress ended it; -EIO all else, such as a connection that broke.
 */
int http_perform(struct http_client *client, const struct http_request *request, struct http_answer *answer,
                 struct fst_error *error);

/* "http://name:password@host/path?query" without name, password and query, for messages. The caller owns it. */
char *http_printable_url(const char *url);

/* A line of text with URLs in it: names and passwords are taken out of them, the rest stays. The caller owns it. */
char *http_printable_line(const char *line);
