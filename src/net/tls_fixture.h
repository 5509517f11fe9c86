/*
 * For tests: a TLS proxy on loopback, with its own certificate, in front of a plain HTTP server.
 *
 *      struct tls_fixture tls;
 *      tls_fixture_start(&tls, &(struct tls_fixture_options){.http1_port = server.port});
 *      request.url = "https://127.0.0.1:PORT/…" of tls.port, request.ca_data = tls.ca;
 *      tls_fixture_stop(&tls);        // before the server's
 *
 * Decrypted data goes to http1_port, or to http2_port if set and the client offers HTTP/2 (ALPN). Each connection has
 * its own thread.
 */
#pragma once

#include "base/buf.h"
#include "base/mem.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

struct tls_fixture_options {
        int http1_port, http2_port; /* 0: not supported */
        bool need_client;           /* clients must have a certificate signed as tls.client_cert */
        const char *name;           /* of the certificate, besides 127.0.0.1; "localhost" */
};

struct tls_fixture {
        struct tls_fixture_options options;
        int port, listening, handshakes, connections;
        char *ca;                       /* PEM */
        char *client_cert, *client_key; /* PEM */
        pthread_mutex_t lock;
        char server_name[256]; /* requested by the last client; under lock */
        SSL_CTX *context;
        pthread_t thread;
        struct tls_fixture_connection {
                struct tls_fixture *tls;
                int fd;
                pthread_t thread;
        } connection[64];
};

static inline void tls_fixture_must(bool ok, const char *what)
{
        if (!ok) {
                fprintf(stderr, "tls fixture: %s\n", what);
                ERR_print_errors_fp(stderr);
                abort();
        }
}

static inline char *tls_fixture_text(BIO *bio)
{
        char *data;
        long n = BIO_get_mem_data(bio, &data);
        char *text = mem_strndup(data, (size_t)n);
        BIO_free(bio);
        return text;
}

static inline char *tls_fixture_pem(X509 *cert)
{
        BIO *bio = BIO_new(BIO_s_mem());
        tls_fixture_must(PEM_write_bio_X509(bio, cert) == 1, "PEM");
        return tls_fixture_text(bio);
}

static inline char *tls_fixture_key_pem(EVP_PKEY *key)
{
        BIO *bio = BIO_new(BIO_s_mem());
        tls_fixture_must(PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL) == 1, "PEM");
        return tls_fixture_text(bio);
}

static inline X509 *tls_fixture_cert(EVP_PKEY *key, const char *subject, const char *names, X509 *issuer,
                                     EVP_PKEY *issuer_key)
{
        static long serial = 1;
        X509 *cert = X509_new();
        X509_set_version(cert, 2);
        ASN1_INTEGER_set(X509_get_serialNumber(cert), serial++);
        X509_gmtime_adj(X509_getm_notBefore(cert), -3600);
        X509_gmtime_adj(X509_getm_notAfter(cert), 86400);
        X509_set_pubkey(cert, key);
        X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_ASC, (const unsigned char *)subject, -1,
                                   -1, 0);
        X509_set_issuer_name(cert, X509_get_subject_name(issuer ? issuer : cert));
        X509V3_CTX context;
        X509V3_set_ctx(&context, issuer ? issuer : cert, cert, NULL, NULL, 0);
        X509_EXTENSION *extension =
                X509V3_EXT_conf_nid(NULL, &context, names ? NID_subject_alt_name : NID_basic_constraints,
                                    names ? names : "critical,CA:TRUE");
        tls_fixture_must(extension != NULL, "extension");
        X509_add_ext(cert, extension, -1);
        X509_EXTENSION_free(extension);
        tls_fixture_must(X509_sign(cert, issuer ? issuer_key : key, EVP_sha256()) > 0, "signature");
        return cert;
}

static inline int tls_fixture_alpn(SSL *ssl, const unsigned char **out, unsigned char *out_len, const unsigned char *in,
                                   unsigned in_len, void *argument)
{
        static const unsigned char h2[] = "\x02h2\x08http/1.1", h1[] = "\x08http/1.1", only_h2[] = "\x02h2";
        const struct tls_fixture *tls = argument;
        const unsigned char *ours = !tls->options.http2_port ? h1 : tls->options.http1_port ? h2 : only_h2;
        unsigned n = (unsigned)strlen((const char *)ours);
        return SSL_select_next_proto((unsigned char **)out, out_len, ours, n, in, in_len) == OPENSSL_NPN_NEGOTIATED
                       ? SSL_TLSEXT_ERR_OK
                       : SSL_TLSEXT_ERR_NOACK;
}

static inline int tls_fixture_connect(int port)
{
        struct sockaddr_in address = {
                .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
                return fd;
        if (fd >= 0)
                close(fd);
        return -1;
}

static inline bool tls_fixture_write_all(int fd, const char *data, size_t n)
{
        while (n > 0) {
                ssize_t w = send(fd, data, n, MSG_NOSIGNAL);
                if (w <= 0)
                        return false;
                data += w;
                n -= (size_t)w;
        }
        return true;
}

/* Copies bytes both ways until one end closes. */
static inline void tls_fixture_pump(SSL *ssl, int fd, int plain)
{
        char piece[16384];
        for (;;) {
                struct pollfd fds[2] = {{.fd = fd, .events = POLLIN}, {.fd = plain, .events = POLLIN}};
                if (SSL_pending(ssl) == 0 && poll(fds, 2, -1) < 0)
                        return;
                if (SSL_pending(ssl) > 0 || fds[0].revents) {
                        int n = SSL_read(ssl, piece, sizeof(piece));
                        if (n <= 0 || !tls_fixture_write_all(plain, piece, (size_t)n))
                                return;
                }
                if (fds[1].revents) {
                        ssize_t n = recv(plain, piece, sizeof(piece), MSG_DONTWAIT);
                        if (n < 0 && errno == EAGAIN)
                                continue;
                        if (n <= 0 || SSL_write(ssl, piece, (int)n) <= 0)
                                return;
                }
        }
}

static inline void *tls_fixture_connection_main(void *argument)
{
        struct tls_fixture_connection *c = argument;
        struct tls_fixture *tls = c->tls;
        SSL *ssl = SSL_new(tls->context);
        SSL_set_fd(ssl, c->fd);
        if (SSL_accept(ssl) == 1) {
                const unsigned char *protocol;
                unsigned len;
                SSL_get0_alpn_selected(ssl, &protocol, &len);
                const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
                pthread_mutex_lock(&tls->lock);
                snprintf(tls->server_name, sizeof(tls->server_name), "%s", name ? name : "");
                pthread_mutex_unlock(&tls->lock);
                __atomic_add_fetch(&tls->handshakes, 1, __ATOMIC_SEQ_CST);
                bool h2 = len == 2 && tls->options.http2_port;
                int plain = tls_fixture_connect(h2 ? tls->options.http2_port : tls->options.http1_port);
                if (plain >= 0) {
                        tls_fixture_pump(ssl, c->fd, plain);
                        close(plain);
                }
                SSL_shutdown(ssl);
        }
        ERR_clear_error();
        SSL_free(ssl);
        shutdown(c->fd, SHUT_RDWR); /* closed when the fixture stops */
        return NULL;
}

static inline void *tls_fixture_main(void *argument)
{
        struct tls_fixture *tls = argument;
        int fd;
        while (tls->connections < (int)ARRAY_SIZE(tls->connection) &&
               (fd = accept4(tls->listening, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
                struct tls_fixture_connection *c = &tls->connection[tls->connections];
                *c = (struct tls_fixture_connection){.tls = tls, .fd = fd};
                tls_fixture_must(pthread_create(&c->thread, NULL, tls_fixture_connection_main, c) == 0, "thread");
                __atomic_add_fetch(&tls->connections, 1, __ATOMIC_SEQ_CST);
        }
        return NULL;
}

static inline void tls_fixture_start(struct tls_fixture *tls, const struct tls_fixture_options *options)
{
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t len = sizeof(address);
        char names[256];
        *tls = (struct tls_fixture){.options = *options};
        pthread_mutex_init(&tls->lock, NULL);
        signal(SIGPIPE, SIG_IGN); /* OpenSSL writes to closed connections */
        EVP_PKEY *ca_key = EVP_EC_gen("P-256"), *key = EVP_EC_gen("P-256"), *client_key = EVP_EC_gen("P-256");
        tls_fixture_must(ca_key && key && client_key, "keys");
        X509 *ca = tls_fixture_cert(ca_key, "fixture CA", NULL, NULL, NULL);
        snprintf(names, sizeof(names), "IP:127.0.0.1,DNS:%s", options->name ? options->name : "localhost");
        X509 *cert = tls_fixture_cert(key, "server", names, ca, ca_key);
        X509 *client = tls_fixture_cert(client_key, "client", "DNS:client", ca, ca_key);
        tls->ca = tls_fixture_pem(ca);
        tls->client_cert = tls_fixture_pem(client);
        tls->client_key = tls_fixture_key_pem(client_key);
        tls->context = SSL_CTX_new(TLS_server_method());
        tls_fixture_must(SSL_CTX_use_certificate(tls->context, cert) == 1 &&
                                 SSL_CTX_use_PrivateKey(tls->context, key) == 1,
                         "certificate");
        SSL_CTX_set_alpn_select_cb(tls->context, tls_fixture_alpn, tls);
        SSL_CTX_set_session_id_context(tls->context, (const unsigned char *)"fixture", 7);
        if (options->need_client) {
                X509_STORE_add_cert(SSL_CTX_get_cert_store(tls->context), ca);
                SSL_CTX_set_verify(tls->context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
        }
        X509_free(ca);
        X509_free(cert);
        X509_free(client);
        EVP_PKEY_free(ca_key);
        EVP_PKEY_free(key);
        EVP_PKEY_free(client_key);
        tls->listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        tls_fixture_must(tls->listening >= 0 && bind(tls->listening, (struct sockaddr *)&address, len) == 0 &&
                                 listen(tls->listening, 16) == 0 &&
                                 getsockname(tls->listening, (struct sockaddr *)&address, &len) == 0 &&
                                 pthread_create(&tls->thread, NULL, tls_fixture_main, tls) == 0,
                         "listening");
        tls->port = ntohs(address.sin_port);
}

static inline void tls_fixture_stop(struct tls_fixture *tls)
{
        shutdown(tls->listening, SHUT_RDWR); /* ends accept */
        pthread_join(tls->thread, NULL);
        close(tls->listening);
        for (int i = 0; i < tls->connections; i++) {
                shutdown(tls->connection[i].fd, SHUT_RDWR);
                pthread_join(tls->connection[i].thread, NULL);
                close(tls->connection[i].fd);
        }
        pthread_mutex_destroy(&tls->lock);
        SSL_CTX_free(tls->context);
        free(tls->ca);
        free(tls->client_cert);
        free(tls->client_key);
}
