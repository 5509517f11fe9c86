/*
 * TLS 1.3 with OpenSSL, part of the crypto module (net/crypto.h).
 *
 * With a pre-shared key: one identity, one cipher suite, always an (EC)DHE exchange, no early data, no tickets. A
 * client trusts no certificate, and refuses a handshake without the key. A server has no certificate, so a client that
 * does not offer the key fails before any secret is computed.
 * With certificates: those of the files. Without a trust store, only the own certificate chain is trusted.
 *
 * OpenSSL's reasons are for developers, so errors that a user can cause get messages that name the settings.
 */
#include "net/crypto_module.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pkcs12.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define PSK_SIZE 32
#define READ_BUFFER (64 << 10) /* four records a system call */

static const unsigned char psk_suite[2] = {0x13, 0x01}; /* TLS_AES_128_GCM_SHA256 */
#define PSK_SUITE_NAME "TLS_AES_128_GCM_SHA256"

struct tls_context {
        SSL_CTX *ctx;
        bool server, with_psk;
        unsigned char psk[PSK_SIZE];
        char identity[512];
};

struct tls {
        SSL *ssl;
        const struct tls_context *context;
        int wants;
        bool failed; /* no more data may be sent */
        char message[256];
};

/* -------------------------------------------------------------------------------------- the socket below a TLS */

static int socket_write(BIO *bio, const char *data, int len)
{
        ssize_t r = send((int)(intptr_t)BIO_get_data(bio), data, (size_t)len, MSG_NOSIGNAL);
        BIO_clear_retry_flags(bio);
        if (r < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
                BIO_set_retry_write(bio);
        return (int)r;
}

static int socket_read(BIO *bio, char *data, int len)
{
        ssize_t r = recv((int)(intptr_t)BIO_get_data(bio), data, (size_t)len, 0);
        BIO_clear_retry_flags(bio);
        if (r < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
                BIO_set_retry_read(bio);
        else if (r == 0)
                BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
        return (int)r;
}

static long socket_ctrl(BIO *bio, int what, long number, void *pointer)
{
        if (what == BIO_CTRL_EOF)
                return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
        return what == BIO_CTRL_FLUSH || what == BIO_CTRL_DUP;
}

/* Created once. Each connection takes the lock once. */
static BIO_METHOD *socket_method(void)
{
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        static BIO_METHOD *method;
        pthread_mutex_lock(&lock);
        if (!method && (method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "channel"))) {
                BIO_meth_set_write(method, socket_write);
                BIO_meth_set_read(method, socket_read);
                BIO_meth_set_ctrl(method, socket_ctrl);
        }
        pthread_mutex_unlock(&lock);
        return method;
}

/* ---------------------------------------------------------------------------------------------- pre-shared keys */

static SSL_SESSION *psk_session(SSL *ssl, const struct tls_context *context)
{
        SSL_SESSION *session = SSL_SESSION_new();
        if (session && SSL_SESSION_set1_master_key(session, context->psk, PSK_SIZE) &&
            SSL_SESSION_set_cipher(session, SSL_CIPHER_find(ssl, psk_suite)) &&
            SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION))
                return session;
        SSL_SESSION_free(session);
        return NULL;
}

static int offer_psk(SSL *ssl, const EVP_MD *md, const unsigned char **id, size_t *id_len, SSL_SESSION **session)
{
        const struct tls_context *context = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
        *session = NULL;
        if (md && EVP_MD_get_type(md) != NID_sha256)
                return 1; /* the server selected another suite: continue without the key, and fail */
        *session = psk_session(ssl, context);
        *id = (const unsigned char *)context->identity;
        *id_len = strlen(context->identity);
        return *session != NULL;
}

static int find_psk(SSL *ssl, const unsigned char *id, size_t id_len, SSL_SESSION **session)
{
        const struct tls_context *context = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
        *session = NULL;
        if (id_len != strlen(context->identity) || memcmp(id, context->identity, id_len) != 0)
                return 1;
        *session = psk_session(ssl, context);
        return *session != NULL;
}

static int use_psk(struct tls_context *c, const struct tls_options *o)
{
        c->with_psk = true;
        memcpy(c->psk, o->psk, PSK_SIZE);
        snprintf(c->identity, sizeof(c->identity), "%s", o->identity);
        if (!SSL_CTX_set_ciphersuites(c->ctx, PSK_SUITE_NAME))
                return -EINVAL;
        if (o->server)
                SSL_CTX_set_psk_find_session_callback(c->ctx, find_psk);
        else
                SSL_CTX_set_psk_use_session_callback(c->ctx, offer_psk);
        if (!o->server)
                SSL_CTX_set_verify(c->ctx, SSL_VERIFY_PEER, NULL); /* and no certificate is trusted */
        return 0;
}

/* ------------------------------------------------------------------------------------------------ certificates */

enum file_kind { FILE_UNREADABLE, FILE_PEM, FILE_DER, FILE_JKS };

static enum file_kind crypto_tls_kind_of(const char *path, char *message, size_t size)
{
        unsigned char head[4] = {0};
        FILE *f = fopen(path, "re");
        if (!f) {
                snprintf(message, size, "cannot read %s: %s", path, strerror(errno));
                return FILE_UNREADABLE;
        }
        size_t n = fread(head, 1, sizeof(head), f);
        fclose(f);
        if (n == 4 && head[0] == 0xfe && head[1] == 0xed && head[2] == 0xfe && head[3] == 0xed) {
                snprintf(message, size,
                         "%s is a Java key store (JKS): convert it (keytool -importkeystore -deststoretype PKCS12), "
                         "or name PEM files",
                         path);
                return FILE_JKS;
        }
        return n == 4 && head[0] == 0x30 ? FILE_DER : FILE_PEM;
}

static int crypto_tls_refuse(char *message, size_t size, const char *what, const char *path)
{
        unsigned long code = ERR_peek_last_error();
        const char *reason = code ? ERR_reason_error_string(code) : NULL;
        snprintf(message, size, "%s %s: %s", what, path, reason ? reason : "OpenSSL reports no reason");
        ERR_clear_error();
        return -EINVAL;
}

static PKCS12 *read_pkcs12(const char *path)
{
        BIO *file = BIO_new_file(path, "r");
        PKCS12 *p = file ? d2i_PKCS12_bio(file, NULL) : NULL;
        BIO_free(file);
        return p;
}

/* Reads a bag of a PKCS#12 store: the key, or one more certificate. Returns false if the password is wrong. */
static bool pkcs12_bag_read(PKCS12_SAFEBAG *bag, const char *key_password, EVP_PKEY **key, STACK_OF(X509) * certs)
{
        PKCS8_PRIV_KEY_INFO *plain = NULL;
        X509 *cert = NULL;
        switch (PKCS12_SAFEBAG_get_nid(bag)) {
        case NID_keyBag:
                if (!*key)
                        *key = EVP_PKCS82PKEY(PKCS12_SAFEBAG_get0_p8inf(bag));
                return *key != NULL;
        case NID_pkcs8ShroudedKeyBag:
                plain = *key ? NULL : PKCS12_decrypt_skey(bag, key_password, (int)strlen(key_password));
                if (plain)
                        *key = EVP_PKCS82PKEY(plain);
                PKCS8_PRIV_KEY_INFO_free(plain);
                return *key != NULL;
        case NID_certBag:
                cert = PKCS12_SAFEBAG_get1_cert(bag);
                if (cert && sk_X509_push(certs, cert) > 0)
                        return true;
                X509_free(cert);
                return false;
        default:
                return true;
        }
}

static bool pkcs12_safe_read(PKCS7 *safe, const char *password, const char *key_password, EVP_PKEY **key,
                             STACK_OF(X509) * certs)
{
        STACK_OF(PKCS12_SAFEBAG) *bags = PKCS7_type_is_encrypted(safe)
                                                 ? PKCS12_unpack_p7encdata(safe, password, (int)strlen(password))
                                                 : PKCS12_unpack_p7data(safe);
        bool read = bags != NULL;
        for (int i = 0; read && i < sk_PKCS12_SAFEBAG_num(bags); i++)
                read = pkcs12_bag_read(sk_PKCS12_SAFEBAG_value(bags, i), key_password, key, certs);
        sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free);
        return read;
}

/* Like PKCS12_parse, for a store whose key has its own password, as Java's key stores may have. */
static bool pkcs12_parse_key_apart(PKCS12 *p, const char *password, const char *key_password, EVP_PKEY **key,
                                   X509 **cert, STACK_OF(X509) * *others)
{
        STACK_OF(PKCS7) *safes = NULL;
        bool read = PKCS12_verify_mac(p, password, (int)strlen(password)) && (safes = PKCS12_unpack_authsafes(p)) &&
                    (*others = sk_X509_new_null());
        for (int i = 0; read && i < sk_PKCS7_num(safes); i++)
                read = pkcs12_safe_read(sk_PKCS7_value(safes, i), password, key_password, key, *others);
        sk_PKCS7_pop_free(safes, PKCS7_free);
        for (int i = 0; read && *key && !*cert && i < sk_X509_num(*others); i++)
                if (X509_check_private_key(sk_X509_value(*others, i), *key))
                        *cert = sk_X509_delete(*others, i);
        ERR_clear_error();
        return read;
}

static bool pkcs12_parse(PKCS12 *p, const char *password, const char *key_password, EVP_PKEY **key, X509 **cert,
                         STACK_OF(X509) * *others)
{
        password = password ? password : "";
        if (key_password && strcmp(key_password, password) != 0)
                return pkcs12_parse_key_apart(p, password, key_password, key, cert, others);
        return PKCS12_parse(p, password, key, cert, others);
}

/* Adds a PKCS#12 store as trust store or as own key. @key_password is the key's, NULL if it equals the store's. */
static int use_pkcs12(SSL_CTX *ctx, const char *path, const char *password, const char *key_password, bool own,
                      char *message, size_t size)
{
        PKCS12 *p = read_pkcs12(path);
        EVP_PKEY *key = NULL;
        X509 *cert = NULL;
        STACK_OF(X509) *others = NULL;
        int r = -EINVAL;
        if (!p || !pkcs12_parse(p, password, key_password, &key, &cert, &others)) {
                crypto_tls_refuse(message, size,
                                  key_password
                                          ? "cannot open the key store (are its password and that of its key right?)"
                                          : "cannot open the key store (is its password right?)",
                                  path);
        } else if (own) {
                r = cert && key && SSL_CTX_use_cert_and_key(ctx, cert, key, others, 1)
                            ? 0
                            : crypto_tls_refuse(message, size, "no key with its certificate in the key store", path);
        } else {
                X509_STORE *store = SSL_CTX_get_cert_store(ctx);
                int added = cert ? X509_STORE_add_cert(store, cert) : 0;
                for (int i = 0; i < sk_X509_num(others); i++)
                        added += X509_STORE_add_cert(store, sk_X509_value(others, i));
                r = added > 0 ? 0 : crypto_tls_refuse(message, size, "no certificate in the trust store", path);
        }
        sk_X509_pop_free(others, X509_free);
        X509_free(cert);
        EVP_PKEY_free(key);
        PKCS12_free(p);
        return r;
}

static int copy_password(char *out, int size, int writing, void *password)
{
        int len = password ? (int)strlen(password) : 0;
        if (len > size)
                return -1;
        if (len > 0)
                memcpy(out, password, (size_t)len);
        return len;
}

static int use_own(SSL_CTX *ctx, const struct tls_options *o, char *message, size_t size)
{
        if (o->store_file) {
                enum file_kind kind = crypto_tls_kind_of(o->store_file, message, size);
                if (kind == FILE_UNREADABLE || kind == FILE_JKS)
                        return -EINVAL;
                return use_pkcs12(ctx, o->store_file, o->store_password, o->store_key_password, true, message, size);
        }
        enum file_kind chain = crypto_tls_kind_of(o->chain_file, message, size);
        enum file_kind key = chain == FILE_UNREADABLE ? chain : crypto_tls_kind_of(o->key_file, message, size);
        if (key == FILE_UNREADABLE)
                return -EINVAL;
        SSL_CTX_set_default_passwd_cb(ctx, copy_password);
        SSL_CTX_set_default_passwd_cb_userdata(ctx, (void *)o->key_password);
        if (!SSL_CTX_use_certificate_chain_file(ctx, o->chain_file))
                return crypto_tls_refuse(message, size, "cannot use the certificate chain", o->chain_file);
        if (!SSL_CTX_use_PrivateKey_file(ctx, o->key_file, SSL_FILETYPE_PEM))
                return crypto_tls_refuse(message, size, "cannot use the private key (is its password right?)",
                                         o->key_file);
        SSL_CTX_set_default_passwd_cb_userdata(ctx, NULL);
        if (!SSL_CTX_check_private_key(ctx))
                return crypto_tls_refuse(message, size, "the certificate does not match the private key", o->key_file);
        return 0;
}

static int use_trust(SSL_CTX *ctx, const struct tls_options *o, char *message, size_t size)
{
        const char *path = o->trust_file, *password = o->trust_password, *key_password = NULL;
        if (!path) { /* trust peers with this process's certificate, or with one that it signed */
                path = o->store_file ? o->store_file : o->chain_file;
                password = o->store_password;
                key_password = o->store_key_password;
                if (!path) {
                        snprintf(message, size, "no trusted certificates: set spark.ssl.rpc.trustStore");
                        return -EINVAL;
                }
        }
        X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(ctx), X509_V_FLAG_PARTIAL_CHAIN);
        enum file_kind kind = crypto_tls_kind_of(path, message, size);
        if (kind == FILE_UNREADABLE || kind == FILE_JKS)
                return -EINVAL;
        if (kind == FILE_DER)
                return use_pkcs12(ctx, path, password, key_password, false, message, size);
        return SSL_CTX_load_verify_file(ctx, path)
                       ? 0
                       : crypto_tls_refuse(message, size, "cannot use the trust store", path);
}

static int use_certificates(struct tls_context *c, const struct tls_options *o, char *message, size_t size)
{
        bool own = o->store_file || (o->chain_file && o->key_file);
        if (o->server && !own) {
                snprintf(message, size,
                         "spark.ssl.rpc.enabled needs spark.ssl.rpc.privateKey and .certChain, or "
                         ".keyStore");
                return -EINVAL;
        }
        int r = own ? use_own(c->ctx, o, message, size) : 0;
        if (r == 0 && o->suites && !SSL_CTX_set_ciphersuites(c->ctx, o->suites))
                r = crypto_tls_refuse(message, size, "spark.ssl.rpc.enabledAlgorithms:", o->suites);
        if (r == 0 && (!o->server || o->need_client)) {
                SSL_CTX_set_verify(c->ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
                r = use_trust(c->ctx, o, message, size);
        }
        return r;
}

/* --------------------------------------------------------------------------------------------------- contexts */

void crypto_tls_context_free(struct tls_context *c)
{
        if (!c)
                return;
        SSL_CTX_free(c->ctx);
        OPENSSL_cleanse(c->psk, sizeof(c->psk));
        free(c);
}

int crypto_tls_context_new(const struct tls_options *o, struct tls_context **out, char *message, size_t size)
{
        struct tls_context *c = calloc(1, sizeof(*c));
        ERR_clear_error();
        snprintf(message, size, "OpenSSL cannot be set up for TLS 1.3");
        if (c)
                c->ctx = SSL_CTX_new(o->server ? TLS_server_method() : TLS_client_method());
        if (!c || !c->ctx || !SSL_CTX_set_min_proto_version(c->ctx, TLS1_3_VERSION)) {
                crypto_tls_context_free(c);
                return -ENOMEM;
        }
        c->server = o->server;
        SSL_CTX_set_app_data(c->ctx, c);
        SSL_CTX_set_mode(c->ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                         SSL_MODE_RELEASE_BUFFERS);
        SSL_CTX_set_read_ahead(c->ctx, 1);
        SSL_CTX_set_default_read_buffer_len(c->ctx, READ_BUFFER);
        SSL_CTX_set_session_cache_mode(c->ctx, SSL_SESS_CACHE_OFF);
        SSL_CTX_set_num_tickets(c->ctx, 0);
        SSL_CTX_set_max_early_data(c->ctx, 0);
        SSL_CTX_set1_groups_list(c->ctx, "X25519:P-256:P-384");
        int r = o->psk ? use_psk(c, o) : use_certificates(c, o, message, size);
        if (r < 0) {
                crypto_tls_context_free(c);
                return r;
        }
        *out = c;
        return 0;
}

/* ------------------------------------------------------------------------------------------------- connections */

struct tls *crypto_tls_new(struct tls_context *context, int fd)
{
        BIO_METHOD *method = socket_method();
        struct tls *t = calloc(1, sizeof(*t));
        BIO *bio = t && method ? BIO_new(method) : NULL;
        if (!bio || !(t->ssl = SSL_new(context->ctx))) {
                BIO_free(bio);
                free(t);
                return NULL;
        }
        t->context = context;
        BIO_set_data(bio, (void *)(intptr_t)fd);
        BIO_set_init(bio, 1);
        SSL_set_bio(t->ssl, bio, bio);
        if (context->server)
                SSL_set_accept_state(t->ssl);
        else
                SSL_set_connect_state(t->ssl);
        return t;
}

void crypto_tls_free(struct tls *t)
{
        if (!t)
                return;
        ERR_clear_error();
        if (!t->failed && SSL_is_init_finished(t->ssl))
                SSL_shutdown(t->ssl);
        SSL_free(t->ssl);
        ERR_clear_error();
        free(t);
}

/* Returns OpenSSL's reason in terms of the settings of driver and executors. */
static const char *plain_words(const struct tls *t, unsigned long code)
{
        bool psk = t->context->with_psk, server = t->context->server;
        switch (ERR_GET_REASON(code)) {
        case SSL_R_WRONG_VERSION_NUMBER:
        case SSL_R_HTTP_REQUEST:
        case SSL_R_HTTPS_PROXY_REQUEST:
        case SSL_R_PACKET_LENGTH_TOO_LONG:
        case SSL_R_BAD_RECORD_TYPE:
        case SSL_R_UNEXPECTED_MESSAGE:
                return TLS_NOT_SPOKEN;
        case SSL_R_UNSUPPORTED_PROTOCOL:
        case SSL_R_NO_PROTOCOLS_AVAILABLE:
        case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
                return "it does not speak TLS 1.3";
        case SSL_R_BINDER_DOES_NOT_VERIFY:
                return "its secret is not this application's (spark.authenticate.secret)";
        case SSL_R_NO_SHARED_CIPHER:
        case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
        case SSL_R_NO_SUITABLE_KEY_SHARE:
        case SSL_R_NO_CERTIFICATE_SET:
                return psk && server ? "it has no secret, or that of another application (spark.authenticate.secret)"
                                     : NULL;
        case SSL_R_SSLV3_ALERT_ILLEGAL_PARAMETER:
        case SSL_R_TLSV1_ALERT_DECRYPT_ERROR:
        case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
                return psk && !server ? "the other side does not accept this application's secret "
                                        "(spark.authenticate.secret)"
                                      : NULL;
        case SSL_R_CERTIFICATE_VERIFY_FAILED:
                return psk ? "it did not prove that it knows the secret" : NULL;
        case SSL_R_UNEXPECTED_EOF_WHILE_READING:
                return SSL_is_init_finished(t->ssl) ? "the other side closed the connection without a reason"
                                                    : TLS_ENDED_EARLY;
        case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
                return "it has no certificate, and spark.ssl.rpc.needClientAuth asks for one";
        default:
                return NULL;
        }
}

static int crypto_tls_explain(struct tls *t)
{
        unsigned long code = ERR_peek_error();
        const char *words = plain_words(t, code), *reason = ERR_reason_error_string(code);
        long verified = SSL_get_verify_result(t->ssl);
        if (words)
                snprintf(t->message, sizeof(t->message), "%s", words);
        else if (ERR_GET_REASON(code) == SSL_R_CERTIFICATE_VERIFY_FAILED)
                snprintf(t->message, sizeof(t->message), "its certificate is not trusted: %s",
                         X509_verify_cert_error_string(verified));
        else
                snprintf(t->message, sizeof(t->message), "TLS: %s", reason ? reason : "it failed");
        return ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING ? -ECONNRESET : -EPROTO;
}

/* Converts the result of a failed call. */
static ssize_t crypto_tls_outcome(struct tls *t, int r)
{
        int saved = errno;
        switch (SSL_get_error(t->ssl, r)) {
        case SSL_ERROR_WANT_READ:
                t->wants = POLLIN;
                return -EAGAIN;
        case SSL_ERROR_WANT_WRITE:
                t->wants = POLLOUT;
                return -EAGAIN;
        case SSL_ERROR_ZERO_RETURN:
                return 0;
        case SSL_ERROR_SYSCALL:
                t->failed = true;
                if (ERR_peek_error() == 0) {
                        snprintf(t->message, sizeof(t->message), "%s", strerror(saved ? saved : ECONNRESET));
                        return saved ? -saved : -ECONNRESET;
                }
                return crypto_tls_explain(t);
        default:
                t->failed = true;
                return crypto_tls_explain(t);
        }
}

int crypto_tls_handshake(struct tls *t)
{
        ERR_clear_error();
        int r = SSL_do_handshake(t->ssl);
        if (r <= 0) {
                ssize_t o = crypto_tls_outcome(t, r);
                if (o == 0) {
                        snprintf(t->message, sizeof(t->message), "%s", TLS_ENDED_EARLY);
                        return -ECONNRESET;
                }
                return (int)o;
        }
        if (t->context->with_psk && !SSL_session_reused(t->ssl)) {
                t->failed = true;
                snprintf(t->message, sizeof(t->message), "it did not prove that it knows the secret");
                return -EPROTO;
        }
        return 0;
}

ssize_t crypto_tls_read(struct tls *t, void *buf, size_t n)
{
        size_t got = 0;
        ERR_clear_error();
        errno = 0;
        int r = SSL_read_ex(t->ssl, buf, n, &got);
        return r > 0 ? (ssize_t)got : crypto_tls_outcome(t, r);
}

ssize_t crypto_tls_write(struct tls *t, const void *buf, size_t n)
{
        size_t put = 0;
        ERR_clear_error();
        errno = 0;
        int r = SSL_write_ex(t->ssl, buf, n, &put);
        if (r > 0)
                return (ssize_t)put;
        ssize_t o = crypto_tls_outcome(t, r);
        if (o == 0) {
                snprintf(t->message, sizeof(t->message), "the other side ended it");
                return -EPIPE;
        }
        return o;
}

bool crypto_tls_pending(const struct tls *t)
{
        return SSL_has_pending(t->ssl);
}

int crypto_tls_wants(const struct tls *t)
{
        return t->wants;
}

const char *crypto_tls_message(const struct tls *t)
{
        return t->message;
}
