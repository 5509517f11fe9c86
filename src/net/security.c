/*
 * Makes TLS contexts of the configuration.
 *
 * The key is derived from the secret with HKDF-SHA-256 in two steps. One binds the application, the other the purpose
 * of a channel. The identity, which is sent in clear, names only application and purpose. With both spark.authenticate
 * and spark.ssl.rpc.enabled the secret is used, because it authenticates both sides better than certificates.
 *
 * As in Spark, spark.ssl.rpc.enabled is not inherited from spark.ssl.enabled, but all other settings of spark.ssl.rpc
 * are, and passwords may also come from the environment.
 */
#include "net/security.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/log2_int.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "net/security_internal.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#define SECRET_ENV "_SPARK_AUTH_SECRET"
#define SECRET_LEAST_BITS 128
#define MAX_SECRET_FILE (1 << 20)
#define MAX_PURPOSE 64
#define MAX_APP_ID 256
#define SALT "firesteel secret 1"

static void security_wipe(void *data, size_t len)
{
        explicit_bzero(data, len);
}

static void buf_wipe(struct buf *b)
{
        if (b->data)
                security_wipe(b->data, b->cap);
        buf_deinit(b);
}

static void string_wipe(char **s)
{
        if (*s)
                security_wipe(*s, strlen(*s));
        free(*s);
}

/* ------------------------------------------------------------------------------------------------- the secret */

static int read_secret_file(const char *path, struct buf *out, struct fst_error *error)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return error_errno(error, "cannot read the secret from %s", path);
        ssize_t n;
        do {
                buf_reserve(out, 4096);
                n = read(fd, out->data + out->len, 4096);
                if (n > 0)
                        out->len += (size_t)n;
        } while (n > 0 && out->len <= MAX_SECRET_FILE);
        int r = n < 0 ? error_errno(error, "cannot read the secret from %s", path) : 0;
        close(fd);
        if (r == 0 && (out->len == 0 || out->len > MAX_SECRET_FILE))
                r = error_set(error, -EINVAL, "the secret file %s is %s", path, out->len ? "too large" : "empty");
        return r;
}

static int read_secret(const struct fst_conf *conf, enum security_role role, struct buf *out, struct fst_error *error)
{
        static const char *const files[] = {"spark.authenticate.secret.driver.file",
                                            "spark.authenticate.secret.executor.file"};
        const char *env = getenv(SECRET_ENV);
        if (env && *env) {
                buf_puts(out, env);
                return 0;
        }
        _cleanup_(string_wipe) char *secret = NULL;
        int r = conf_get_string(conf, "spark.authenticate.secret", &secret, error);
        if (r < 0)
                return r;
        if (secret && *secret) {
                buf_puts(out, secret);
                return 0;
        }
        _cleanup_free_ char *driver = NULL;
        _cleanup_free_ char *executor = NULL;
        r = conf_get_string(conf, files[0], &driver, error);
        if (r == 0)
                r = conf_get_string(conf, files[1], &executor, error);
        if (r < 0)
                return r;
        if (!driver != !executor)
                return error_set(error, -EINVAL,
                                 "set spark.authenticate.secret.file, or both %s and %s: only one of them is set",
                                 files[0], files[1]);
        if (!driver)
                return error_set(error, -EINVAL,
                                 "spark.authenticate is on without a secret: set spark.authenticate.secret, "
                                 "spark.authenticate.secret.file, or the environment's " SECRET_ENV);
        return read_secret_file(role == SECURITY_DRIVER ? driver : executor, out, error);
}

/* Estimates an upper bound of the entropy from the characters used. */
static double security_bits_of(const struct buf *secret)
{
        bool seen[256] = {false}, classes[4] = {false};
        int distinct = 0;
        double alphabet = 0;
        static const int sizes[4] = {10, 6, 46, 194}; /* digits, a-f, other letters (both cases), the rest */
        size_t len = secret->len;
        while (len > 0 && (secret->data[len - 1] == '\n' || secret->data[len - 1] == '\r'))
                len--;
        for (size_t i = 0; i < len; i++) {
                unsigned char c = (unsigned char)secret->data[i];
                distinct += !seen[c];
                seen[c] = true;
                bool letter = (c | 32) >= 'a' && (c | 32) <= 'z';
                classes[c >= '0' && c <= '9' ? 0 : c >= 'a' && c <= 'f' ? 1 : letter ? 2 : 3] = true;
        }
        for (int i = 0; i < 4; i++)
                alphabet += classes[i] ? sizes[i] : 0;
        if (distinct < 8 && alphabet > distinct)
                alphabet = distinct; /* "aaaaaaaa…" */
        return alphabet > 1 ? (double)len * natural_log(alphabet) / M_LN2 : 0;
}

/* ---------------------------------------------------------------------------------------------------- contexts */

static int make_contexts(struct security *s, struct tls_options *o, struct fst_error *error)
{
        char message[512] = "";
        o->server = true;
        int r = s->crypto->tls_context_new(o, &s->server, message, sizeof(message));
        if (r < 0)
                return error_set(error, r, "%s", message);
        o->server = false;
        r = s->crypto->tls_context_new(o, &s->client, message, sizeof(message));
        return r < 0 ? error_set(error, r, "%s", message) : 0;
}

static int make_psk_contexts(struct security *s, const char *purpose, struct fst_error *error)
{
        uint8_t key[SHA256_SIZE];
        _cleanup_free_ char *info = mem_printf("firesteel tls 1.3 external psk, purpose %s", purpose);
        _cleanup_free_ char *identity = mem_printf("%s %s", s->identity, purpose);
        int r = s->crypto->hkdf(s->secret, sizeof(s->secret), NULL, 0, info, strlen(info), key, sizeof(key));
        if (r < 0)
                return error_set(error, r, "no key can be derived from the secret");
        struct tls_options o = {.psk = key, .identity = identity};
        r = make_contexts(s, &o, error);
        security_wipe(key, sizeof(key));
        return r;
}

static int new_psk(struct security *s, const struct fst_conf *conf, const char *app_id, enum security_role role,
                   struct fst_error *error)
{
        _cleanup_(buf_wipe) struct buf secret = BUF_INIT;
        int r = read_secret(conf, role, &secret, error);
        if (r < 0)
                return r;
        double bits = security_bits_of(&secret);
        if (bits < SECRET_LEAST_BITS)
                log_warn("SecurityManager",
                         "The secret of this application can have %.0f bits at most. An eavesdropper may guess it: "
                         "use at least %d random bits (openssl rand -hex 32).",
                         bits, SECRET_LEAST_BITS);
        _cleanup_free_ char *info = mem_printf("application %s", app_id);
        s->kind = SECURITY_PSK;
        s->identity = mem_printf("firesteel 1 %s", app_id);
        r = s->crypto->hkdf(secret.data, secret.len, SALT, sizeof(SALT) - 1, info, strlen(info), s->secret,
                            sizeof(s->secret));
        if (r < 0)
                return error_set(error, r, "no key can be derived from the secret");
        return make_psk_contexts(s, "data", error);
}

/* Returns spark.ssl.rpc.@name, or the environment's value, or NULL. */
static int ssl_setting(const struct fst_conf *conf, const char *name, const char *env, char **out,
                       struct fst_error *error)
{
        _cleanup_free_ char *key = mem_printf("spark.ssl.rpc.%s", name);
        int r = conf_get_string(conf, key, out, error);
        if (r < 0)
                return r;
        const char *value = env ? getenv(env) : NULL;
        if (!*out && value && *value)
                *out = mem_strdup(value);
        if (*out && !**out)
                free(steal(*out));
        return 0;
}

/* Returns the TLS 1.3 suites of spark.ssl.rpc.enabledAlgorithms in OpenSSL's format, or NULL if it names none. */
static int read_suites(const struct fst_conf *conf, char **out, struct fst_error *error)
{
        _cleanup_free_ char *text = NULL;
        _cleanup_(buf_deinit) struct buf suites = BUF_INIT;
        int r = ssl_setting(conf, "enabledAlgorithms", NULL, &text, error);
        if (r < 0 || !text)
                return r;
        for (char *at = text, *word; (word = strsep(&at, ", "));)
                if (strncmp(word, "TLS_AES_", 8) == 0 || strncmp(word, "TLS_CHACHA20_", 13) == 0)
                        buf_printf(&suites, "%s%s", suites.len ? ":" : "", word);
        if (suites.len == 0)
                return error_set(error, -EINVAL,
                                 "spark.ssl.rpc.enabledAlgorithms has no suite of TLS 1.3 (TLS_AES_256_GCM_SHA384, "
                                 "TLS_AES_128_GCM_SHA256, TLS_CHACHA20_POLY1305_SHA256)");
        *out = buf_steal(&suites);
        return 0;
}

static int new_certificates(struct security *s, const struct fst_conf *conf, struct fst_error *error)
{
        char *text[8] = {NULL};
        static const char *const settings[8][2] = {
                {"privateKey", NULL},
                {"privateKeyPassword", "_SPARK_SSL_RPC_PRIVATE_KEY_PASSWORD"},
                {"certChain", NULL},
                {"keyStore", NULL},
                {"keyStorePassword", "_SPARK_SSL_RPC_KEY_STORE_PASSWORD"},
                {"trustStore", NULL},
                {"trustStorePassword", "_SPARK_SSL_RPC_TRUST_STORE_PASSWORD"},
                {"keyPassword", "_SPARK_SSL_RPC_KEY_PASSWORD"},
        };
        _cleanup_free_ char *suites = NULL;
        struct tls_options o = {0};
        s->kind = SECURITY_CERTIFICATES;
        int r = conf_get_bool(conf, "spark.ssl.rpc.needClientAuth", &o.need_client, error);
        if (r == 0)
                r = read_suites(conf, &suites, error);
        for (size_t i = 0; i < ARRAY_SIZE(text) && r == 0; i++)
                r = ssl_setting(conf, settings[i][0], settings[i][1], &text[i], error);
        if (r == 0) {
                bool pem = text[0] && text[2];
                o.key_file = text[0];
                o.key_password = text[1];
                o.chain_file = text[2];
                o.store_file = pem ? NULL : text[3];
                o.store_password = text[4];
                o.trust_file = text[5];
                o.trust_password = text[6];
                o.store_key_password = text[7];
                o.suites = suites;
                r = make_contexts(s, &o, error);
        }
        for (size_t i = 0; i < ARRAY_SIZE(text); i++)
                string_wipe(&text[i]);
        return r;
}

/* --------------------------------------------------------------------------------------------------- public */

int security_new(const struct fst_conf *conf, const char *app_id, enum security_role role, struct security **out,
                 struct fst_error *error)
{
        bool authenticate = false, ssl = false;
        int r = conf_get_bool(conf, "spark.authenticate", &authenticate, error);
        if (r == 0)
                r = conf_get_bool(conf, "spark.ssl.rpc.enabled", &ssl, error);
        if (r < 0)
                return r;
        if (!authenticate && !ssl) {
                *out = NULL;
                return 0;
        }
        if (strlen(app_id) > MAX_APP_ID)
                return error_set(error, -EINVAL, "the application's id is too long: \"%.64s…\"", app_id);
        struct security *s = new0(struct security);
        r = crypto_load(&s->crypto, error);
        if (r == 0 && authenticate && ssl)
                log_info("SecurityManager", "spark.authenticate encrypts with the secret; certificates are not used");
        if (r == 0)
                r = authenticate ? new_psk(s, conf, app_id, role, error) : new_certificates(s, conf, error);
        if (r < 0) {
                security_free(s);
                return r;
        }
        *out = s;
        return 0;
}

int security_for(const struct security *security, const char *purpose, struct security **out, struct fst_error *error)
{
        if (!security) {
                *out = NULL;
                return 0;
        }
        if (strlen(purpose) > MAX_PURPOSE)
                return error_set(error, -EINVAL, "the purpose of a channel must be a word: \"%.32s…\"", purpose);
        struct security *s = new0(struct security);
        s->kind = security->kind;
        s->crypto = security->crypto;
        if (security->kind == SECURITY_CERTIFICATES) {
                /* a certificate identifies its owner for every purpose */
                s->shared = security;
                s->client = security->client;
                s->server = security->server;
                *out = s;
                return 0;
        }
        memcpy(s->secret, security->secret, sizeof(s->secret));
        s->identity = mem_strdup(security->identity);
        int r = make_psk_contexts(s, purpose, error);
        if (r < 0) {
                security_free(s);
                return r;
        }
        *out = s;
        return 0;
}

void security_free(struct security *s)
{
        if (!s)
                return;
        int saved = errno;
        if (!s->shared && s->crypto) {
                s->crypto->tls_context_free(s->client);
                s->crypto->tls_context_free(s->server);
        }
        security_wipe(s->secret, sizeof(s->secret));
        free(s->identity);
        free(s);
        errno = saved;
}

const char *security_name(const struct security *s)
{
        return !s ? "none" : s->kind == SECURITY_PSK ? "pre-shared key" : "certificates";
}

int security_make_secret(const struct fst_conf *conf, char **out, struct fst_error *error)
{
        const struct crypto_ops *crypto;
        int64_t bits = 0;
        uint8_t bytes[512];
        int r = conf_get_int(conf, "spark.authenticate.secretBitLength", &bits, error);
        if (r == 0 && (bits < 64 || bits > (int64_t)sizeof(bytes) * 8))
                return error_set(error, -EINVAL, "spark.authenticate.secretBitLength: %lld is not from 64 to %zu",
                                 (long long)bits, sizeof(bytes) * 8);
        if (r == 0)
                r = crypto_load(&crypto, error);
        size_t n = (size_t)(bits + 7) / 8;
        if (r == 0 && crypto->random(bytes, n) < 0)
                r = error_set(error, -EIO, "OpenSSL has no random numbers");
        if (r)
                return r;
        char *text = mem_alloc(2 * n + 1);
        for (size_t i = 0; i < n; i++)
                sprintf(text + 2 * i, "%02x", bytes[i]);
        security_wipe(bytes, sizeof(bytes));
        *out = text;
        return 0;
}

int security_derive(const struct fst_conf *conf, enum security_role role, const char *purpose,
                    uint8_t out[static SECURITY_DERIVED_SIZE], struct fst_error *error)
{
        const struct crypto_ops *crypto;
        _cleanup_(buf_wipe) struct buf secret = BUF_INIT;
        int r = read_secret(conf, role, &secret, error);
        if (r == 0)
                r = crypto_load(&crypto, error);
        if (r)
                return r;
        _cleanup_free_ char *info = mem_printf("purpose %s", purpose);
        r = crypto->hkdf(secret.data, secret.len, SALT, sizeof(SALT) - 1, info, strlen(info), out,
                         SECURITY_DERIVED_SIZE);
        return r < 0 ? error_set(error, r, "no key can be derived from the secret") : 0;
}
