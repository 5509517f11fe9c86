/*
 * The module libfiresteel-http-server.so: libmicrohttpd without threads, driven by its epoll descriptor, which the
 * loop watches. It has no listener and no timeouts: the caller passes connections to it, and closes slow ones. It reads
 * PKCS#12 with GnuTLS, which libmicrohttpd uses for TLS.
 */
#include "net/http/http_server_module.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/pkcs12.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define HEADER_POOL (32u << 10)  /* of a connection: request line, headers, buffers */
#define STREAM_BLOCK (16u << 10) /* buffer of a streamed body */
#define TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

struct http_daemon {
        struct MHD_Daemon *mhd;
        struct http_server_events events;
        void *owner;
        char *key, *chain; /* made from a PKCS#12 store */
        bool need_client;
        char said[256];
};

/* ---------------------------------------------------------------------------------------------------- events */

static void *http_server_module_connection_of(struct MHD_Connection *c)
{
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
        return info ? info->socket_context : NULL;
}

static void http_server_module_on_connection(void *cls, struct MHD_Connection *c, void **context,
                                             enum MHD_ConnectionNotificationCode code)
{
        struct http_daemon *d = cls;
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
        if (code == MHD_CONNECTION_NOTIFY_STARTED)
                *context = d->events.opened(d->owner, info ? info->connect_fd : -1);
        else if (*context)
                d->events.closed(d->owner, *context);
}

static void *on_target(void *cls, const char *target, struct MHD_Connection *c)
{
        struct http_daemon *d = cls;
        return d->events.began(d->owner, http_server_module_connection_of(c), c, target);
}

/* libmicrohttpd requests a certificate and accepts any. */
static bool client_is_known(struct MHD_Connection *c)
{
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_GNUTLS_SESSION);
        unsigned int status = 0;
        return info && gnutls_certificate_verify_peers2(info->tls_session, &status) == 0 && status == 0;
}

static enum MHD_Result on_access(void *cls, struct MHD_Connection *c, const char *url, const char *method,
                                 const char *version, const char *data, size_t *size, void **call)
{
        struct http_daemon *d = cls;
        size_t n = *size;
        *size = 0; /* all bytes are consumed */
        if (d->need_client && !client_is_known(c))
                return MHD_NO;
        switch (d->events.step(d->owner, *call, method, n ? data : NULL, n)) {
        case HTTP_STEP_SUSPEND:
                MHD_suspend_connection(c);
                return MHD_YES;
        case HTTP_STEP_CLOSE:
                return MHD_NO;
        case HTTP_STEP_ON:
        case HTTP_STEP_ANSWERED:
                break;
        }
        return MHD_YES;
}

static void http_server_module_on_ended(void *cls, struct MHD_Connection *c, void **call,
                                        enum MHD_RequestTerminationCode code)
{
        struct http_daemon *d = cls;
        if (*call)
                d->events.ended(d->owner, *call);
        *call = NULL;
}

/* Keeps escapes in targets, which libmicrohttpd would decode in place. The handler decodes them. */
static size_t keep_escapes(void *cls, struct MHD_Connection *c, char *text)
{
        return strlen(text);
}

/* A message at the start is the reason of its failure. Later messages concern clients. */
static void on_daemon_message(void *cls, const char *format, va_list args)
{
        struct http_daemon *d = cls;
        if (!d->mhd && !d->said[0])
                vsnprintf(d->said, sizeof(d->said), format, args);
        d->said[strcspn(d->said, "\n")] = '\0';
}

/* --------------------------------------------------------------------------------------------------- the store */

static char *http_server_module_exported(int r, gnutls_datum_t *datum, char *before)
{
        size_t kept = before ? strlen(before) : 0;
        char *all = r < 0 ? NULL : realloc(before, kept + datum->size + 1);
        if (all) {
                memcpy(all + kept, datum->data, datum->size);
                all[kept + datum->size] = '\0';
        } else {
                free(before);
        }
        if (r >= 0)
                gnutls_free(datum->data);
        return all;
}

/* Reads one bag: the key, if there is none yet, and certificates, which are appended to @chain. */
static int bag_read(gnutls_pkcs12_bag_t bag, const char *key_password, gnutls_x509_privkey_t *key,
                    gnutls_x509_crt_t **chain, unsigned int *n)
{
        int count = gnutls_pkcs12_bag_get_count(bag), r = count < 0 ? count : 0;
        for (unsigned int i = 0; r >= 0 && i < (unsigned int)count; i++) {
                gnutls_datum_t data;
                int type = gnutls_pkcs12_bag_get_type(bag, i);
                bool is_key = type == GNUTLS_BAG_PKCS8_KEY || type == GNUTLS_BAG_PKCS8_ENCRYPTED_KEY;
                if ((!is_key || *key) && type != GNUTLS_BAG_CERTIFICATE)
                        continue;
                if ((r = gnutls_pkcs12_bag_get_data(bag, i, &data)) < 0)
                        break;
                if (is_key) {
                        if ((r = gnutls_x509_privkey_init(key)) >= 0)
                                r = gnutls_x509_privkey_import_pkcs8(*key, &data, GNUTLS_X509_FMT_DER, key_password,
                                                                     type == GNUTLS_BAG_PKCS8_KEY ? GNUTLS_PKCS_PLAIN
                                                                                                  : 0);
                        continue;
                }
                gnutls_x509_crt_t *more = gnutls_realloc(*chain, (*n + 1) * sizeof(*more));
                if (!more || gnutls_x509_crt_init(&more[*n]) < 0)
                        return GNUTLS_E_MEMORY_ERROR;
                *chain = more;
                r = gnutls_x509_crt_import(more[(*n)++], &data, GNUTLS_X509_FMT_DER);
        }
        return r;
}

/* Like gnutls_pkcs12_simple_parse, for a store whose key has its own password, as Java's key stores may have. */
static int store_parse_key_apart(gnutls_pkcs12_t store, const char *password, const char *key_password,
                                 gnutls_x509_privkey_t *key, gnutls_x509_crt_t **chain, unsigned int *n)
{
        int r = gnutls_pkcs12_verify_mac(store, password);
        for (int i = 0; r >= 0; i++) {
                gnutls_pkcs12_bag_t bag;
                if ((r = gnutls_pkcs12_bag_init(&bag)) < 0)
                        return r;
                r = gnutls_pkcs12_get_bag(store, i, bag);
                if (r >= 0 && gnutls_pkcs12_bag_get_type(bag, 0) == GNUTLS_BAG_ENCRYPTED)
                        r = gnutls_pkcs12_bag_decrypt(bag, password);
                if (r >= 0)
                        r = bag_read(bag, key_password, key, chain, n);
                gnutls_pkcs12_bag_deinit(bag);
        }
        return r == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE ? 0 : r;
}

static int store_parse(gnutls_pkcs12_t store, const struct http_server_tls *tls, gnutls_x509_privkey_t *key,
                       gnutls_x509_crt_t **chain, unsigned int *n)
{
        const char *password = tls->store_password ? tls->store_password : "";
        if (tls->store_key_password && strcmp(tls->store_key_password, password) != 0)
                return store_parse_key_apart(store, password, tls->store_key_password, key, chain, n);
        return gnutls_pkcs12_simple_parse(store, password, key, chain, n, NULL, NULL, NULL, 0);
}

static int read_store(struct http_daemon *d, const struct http_server_tls *tls, char *message, size_t size)
{
        gnutls_pkcs12_t store = NULL;
        gnutls_x509_privkey_t key = NULL;
        gnutls_x509_crt_t *chain = NULL;
        unsigned int n = 0;
        gnutls_datum_t in = {(void *)tls->store, (unsigned int)tls->store_size}, out;
        int r = gnutls_pkcs12_init(&store);
        if (r >= 0)
                r = gnutls_pkcs12_import(store, &in, GNUTLS_X509_FMT_DER, 0);
        if (r < 0) {
                snprintf(message, size,
                         "the key store is not a PKCS#12 file: %s (keytool -importkeystore -deststoretype "
                         "PKCS12 makes one of a JKS file)",
                         gnutls_strerror(r));
        } else if ((r = store_parse(store, tls, &key, &chain, &n)) < 0 || !key || n == 0) {
                bool is_password = r == GNUTLS_E_MAC_VERIFY_FAILED || r == GNUTLS_E_DECRYPTION_FAILED;
                snprintf(message, size, "the key store cannot be read: %s%s",
                         r < 0 ? gnutls_strerror(r) : "it has no key with a certificate",
                         is_password ? " (is keyStorePassword, or keyPassword of the key, right?)" : "");
                r = -1;
        } else {
                d->key = http_server_module_exported(
                        gnutls_x509_privkey_export2_pkcs8(key, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN, &out),
                        &out, NULL);
                for (unsigned int i = 0; i < n; i++)
                        d->chain = http_server_module_exported(
                                gnutls_x509_crt_export2(chain[i], GNUTLS_X509_FMT_PEM, &out), &out, d->chain);
                if (!d->key || !d->chain) {
                        snprintf(message, size, "the key of the key store cannot be written as PEM");
                        r = -1;
                }
        }
        for (unsigned int i = 0; i < n; i++)
                gnutls_x509_crt_deinit(chain[i]);
        gnutls_free(chain);
        if (key)
                gnutls_x509_privkey_deinit(key);
        if (store)
                gnutls_pkcs12_deinit(store);
        return r < 0 ? -EINVAL : 0;
}

/* ------------------------------------------------------------------------------------------------- operations */

static void daemon_free(struct http_daemon *d)
{
        if (d->key)
                explicit_bzero(d->key, strlen(d->key));
        free(d->key);
        free(d->chain);
        free(d);
}

static size_t tls_items(struct http_daemon *d, const struct http_server_tls *tls, struct MHD_OptionItem *items)
{
        size_t n = 0;
        const char *priorities = tls->priorities ? tls->priorities : TLS_PRIORITIES;
        items[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)priorities};
        items[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(d->key ? d->key : tls->key)};
        items[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(d->chain ? d->chain : tls->chain)};
        if (tls->key_password && !d->key)
                items[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_KEY_PASSWORD, 0, (void *)tls->key_password};
        if (tls->need_client && tls->trust)
                items[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_TRUST, 0, (void *)tls->trust};
        return n;
}

static int http_server_module_start(const struct http_daemon_options *o, struct http_daemon **out, char *message,
                                    size_t size)
{
        struct http_daemon *d = calloc(1, sizeof(*d));
        struct MHD_OptionItem items[8];
        size_t n = 0;
        unsigned int flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME;
        if (!d) {
                snprintf(message, size, "no memory");
                return -ENOMEM;
        }
        d->events = *o->events;
        d->owner = o->owner;
        if (o->tls) {
                int r = o->tls->store ? read_store(d, o->tls, message, size) : 0;
                if (r < 0) {
                        daemon_free(d);
                        return r;
                }
                flags |= MHD_USE_TLS;
                d->need_client = o->tls->need_client;
                n = tls_items(d, o->tls, items);
        }
        items[n] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
        /* The logger comes first, because libmicrohttpd uses it while it reads the others. */
        d->mhd = MHD_start_daemon(
                flags, 0, NULL, NULL, on_access, d, MHD_OPTION_EXTERNAL_LOGGER, on_daemon_message, d, MHD_OPTION_ARRAY,
                items, MHD_OPTION_CONNECTION_LIMIT, (unsigned int)o->max_connections, MHD_OPTION_CONNECTION_TIMEOUT, 0u,
                MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_POOL, MHD_OPTION_STRICT_FOR_CLIENT, 1,
                MHD_OPTION_NOTIFY_CONNECTION, http_server_module_on_connection, d, MHD_OPTION_URI_LOG_CALLBACK,
                on_target, d, MHD_OPTION_NOTIFY_COMPLETED, http_server_module_on_ended, d, MHD_OPTION_UNESCAPE_CALLBACK,
                keep_escapes, NULL, MHD_OPTION_END);
        if (!d->mhd) {
                snprintf(message, size, "libmicrohttpd does not start%s%s%s",
                         o->tls ? " with this key and certificate" : "", d->said[0] ? ": " : "", d->said);
                daemon_free(d);
                return -EINVAL;
        }
        *out = d;
        return 0;
}

static void http_server_module_stop(struct http_daemon *d)
{
        MHD_stop_daemon(d->mhd);
        daemon_free(d);
}

static int http_server_module_descriptor(const struct http_daemon *d)
{
        const union MHD_DaemonInfo *info = MHD_get_daemon_info(d->mhd, MHD_DAEMON_INFO_EPOLL_FD);
        return info ? info->epoll_fd : -1;
}

static int http_server_module_add(struct http_daemon *d, int fd, const struct sockaddr *address, socklen_t length)
{
        return MHD_add_connection(d->mhd, fd, address, length) == MHD_YES ? 0 : -ECONNABORTED;
}

static int64_t http_server_module_run(struct http_daemon *d)
{
        MHD_UNSIGNED_LONG_LONG ms;
        MHD_run(d->mhd);
        return MHD_get_timeout(d->mhd, &ms) == MHD_YES ? (int64_t)ms : -1;
}

static void http_server_module_resume(void *handle)
{
        MHD_resume_connection(handle);
}

static const char *http_server_module_header(void *handle, const char *name)
{
        return MHD_lookup_connection_value(handle, MHD_HEADER_KIND, name);
}

struct framing {
        int lengths, encodings;
        bool invalid;
};

static enum MHD_Result framing_add_header(void *cls, enum MHD_ValueKind kind, const char *name, const char *value)
{
        struct framing *f = cls;
        f->lengths += strcasecmp(name, "Content-Length") == 0;
        if (strcasecmp(name, "Transfer-Encoding") == 0) {
                f->encodings++;
                f->invalid |= !value || strcasecmp(value, "chunked") != 0;
        }
        f->invalid |= name[strcspn(name, " \t")] != '\0';
        return MHD_YES;
}

static bool has_clear_framing(void *handle)
{
        struct framing f = {0};
        MHD_get_connection_values(handle, MHD_HEADER_KIND, framing_add_header, &f);
        return !f.invalid && f.lengths + f.encodings <= 1;
}

static int http_server_module_queue(void *handle, int status, const struct http_header *headers, size_t n_headers,
                                    struct MHD_Response *response)
{
        for (size_t i = 0; i < n_headers; i++)
                MHD_add_response_header(response, headers[i].name, headers[i].value);
        int r = MHD_queue_response(handle, (unsigned int)status, response) == MHD_YES ? 0 : -EINVAL;
        MHD_destroy_response(response);
        return r;
}

static int http_server_module_answer(void *handle, int status, const struct http_header *headers, size_t n_headers,
                                     char *body, size_t size)
{
        struct MHD_Response *response =
                MHD_create_response_from_buffer(size, body, body ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
        if (!response) {
                free(body);
                return -ENOMEM;
        }
        return http_server_module_queue(handle, status, headers, n_headers, response);
}

/* A streamed body. */
struct module_stream {
        struct http_daemon *daemon;
        struct MHD_Connection *connection;
        void *call;
};

static ssize_t on_fill(void *cls, uint64_t position, char *out, size_t size)
{
        struct module_stream *s = cls;
        ssize_t n = s->daemon->events.fill(s->daemon->owner, s->call, out, size);
        if (n == 0)
                MHD_suspend_connection(s->connection);
        if (n >= 0)
                return n;
        return n == HTTP_FILL_END ? MHD_CONTENT_READER_END_OF_STREAM : MHD_CONTENT_READER_END_WITH_ERROR;
}

static int http_server_module_answer_stream(struct http_daemon *d, void *handle, void *call, int status,
                                            const struct http_header *headers, size_t n_headers)
{
        struct module_stream *s = calloc(1, sizeof(*s));
        if (!s)
                return -ENOMEM;
        *s = (struct module_stream){.daemon = d, .connection = handle, .call = call};
        struct MHD_Response *response =
                MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK, on_fill, s, free);
        if (!response) {
                free(s);
                return -ENOMEM;
        }
        return http_server_module_queue(handle, status, headers, n_headers, response);
}

static const struct http_server_ops ops = {
        .abi = HTTP_SERVER_ABI,
        .start = http_server_module_start,
        .stop = http_server_module_stop,
        .descriptor = http_server_module_descriptor,
        .add = http_server_module_add,
        .run = http_server_module_run,
        .resume = http_server_module_resume,
        .header = http_server_module_header,
        .has_clear_framing = has_clear_framing,
        .answer = http_server_module_answer,
        .answer_stream = http_server_module_answer_stream,
};

__attribute__((visibility("default"))) const struct http_server_ops *firesteel_http_server_module(void);
const struct http_server_ops *firesteel_http_server_module(void)
{
        return &ops;
}
