/* Peers with the secret or the certificate are accepted. Others get only an alert. */
#include "net/security.h"

#include "base/base64.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "net/channel.h"
#include "net/crypto.h"
#include "net/key_store_fixture.h"
#include "unit/temp_dir.h"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND 1000000000L
#define MUCH ((size_t)3 << 20)
#define SECRET "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0"

/* Two unrelated self-signed certificates, valid for a hundred years. */
static const char one_pem[] = "-----BEGIN CERTIFICATE-----\n"
                              "MIIBkTCCATegAwIBAgIUM9Vj5CL5aDsbNXIoSfDK/l5ksNwwCgYIKoZIzj0EAwIw\n"
                              "HTEbMBkGA1UEAwwSZmlyZXN0ZWVsIHRlc3Qgb25lMCAXDTI2MTEyMTA0NTMxMloY\n"
                              "DzIxMjYxMDI4MDQ1MzEyWjAdMRswGQYDVQQDDBJmaXJlc3RlZWwgdGVzdCBvbmUw\n"
                              "WTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASh5DUQs9R61/qi/Wfic4hJGGtCpj/t\n"
                              "Ayau/nL+rkhuwTCp83yvIhYjddeXDplG4+xSUkV2rQpeQbe0RVfmdliVo1MwUTAd\n"
                              "BgNVHQ4EFgQUyUGhrLImiHkblEuK94HriWVkUhgwHwYDVR0jBBgwFoAUyUGhrLIm\n"
                              "iHkblEuK94HriWVkUhgwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBF\n"
                              "AiAhO0Ok0+B3pARjCyIe5Nzr6bbflT1Iq854O7UTK/oZIgIhAOpqp346eV4U4+xM\n"
                              "wYLGPrRj8cJn6o7oel7W8VvfAurX\n"
                              "-----END CERTIFICATE-----\n";
static const char one_key[] = "-----BEGIN PRIVATE KEY-----\n"
                              "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgOAgYEOObBIDxT/3s\n"
                              "G8yhdve3fCVwz/Kfpq5BIKSH5sChRANCAASh5DUQs9R61/qi/Wfic4hJGGtCpj/t\n"
                              "Ayau/nL+rkhuwTCp83yvIhYjddeXDplG4+xSUkV2rQpeQbe0RVfmdliV\n"
                              "-----END PRIVATE KEY-----\n";
static const char two_pem[] = "-----BEGIN CERTIFICATE-----\n"
                              "MIIBkTCCATegAwIBAgIUAqHjH8iPNiN7JQjvV33mKm4to8UwCgYIKoZIzj0EAwIw\n"
                              "HTEbMBkGA1UEAwwSZmlyZXN0ZWVsIHRlc3QgdHdvMCAXDTI2MTEyMTA0NTMxMloY\n"
                              "DzIxMjYxMDI4MDQ1MzEyWjAdMRswGQYDVQQDDBJmaXJlc3RlZWwgdGVzdCB0d28w\n"
                              "WTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAS/KwptaeqFj8+DyKWNkhWTKAagyibe\n"
                              "Lqw65pI13Heau4YWpk8lJ+SnvAhFTjFKuK+BeMhYAsQBvFx0XJDu01+Jo1MwUTAd\n"
                              "BgNVHQ4EFgQUbGy3XXTnxDJuQg1V4gLzwI21ncIwHwYDVR0jBBgwFoAUbGy3XXTn\n"
                              "xDJuQg1V4gLzwI21ncIwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBF\n"
                              "AiEAyI8D91KvCBkdLDhqyJOstfe7n5JWS/zWO5JeWEbRf98CIFhtEJnHc4BKeyAM\n"
                              "/xalm+vdrdB8g21iSyqaIseboOGH\n"
                              "-----END CERTIFICATE-----\n";
static const char two_key[] = "-----BEGIN PRIVATE KEY-----\n"
                              "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgrxGFXiD9BToQXXga\n"
                              "grlK/kHwOmFMe8fNZiWqJEsRR4KhRANCAAS/KwptaeqFj8+DyKWNkhWTKAagyibe\n"
                              "Lqw65pI13Heau4YWpk8lJ+SnvAhFTjFKuK+BeMhYAsQBvFx0XJDu01+J\n"
                              "-----END PRIVATE KEY-----\n";

static char *write_file(const char *name, const char *text)
{
        char *path = mem_printf("%s/%s", temp_dir, name);
        FILE *f = fopen(path, "we");
        assert_non_null(f);
        fputs(text, f);
        fclose(f);
        return path;
}

static int make_folder(void **state)
{
        unsetenv("_SPARK_AUTH_SECRET");
        log_set_level(LOG_OFF);
        return temp_dir_make(state);
}

static int remove_folder(void **state)
{
        static const char *const names[] = {"one.pem", "one.key", "two.pem",          "two.key",
                                            "secret",  "jks",     "two_passwords.p12"};
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                _cleanup_free_ char *path = mem_printf("%s/%s", temp_dir, names[i]);
                unlink(path);
        }
        return rmdir(temp_dir);
}

/* Creates a security from settings (key, value, …, NULL). Returns NULL with @error set if they are invalid. */
static struct security *make(const char *app_id, enum security_role role, struct fst_error *error, ...)
{
        struct fst_conf conf;
        struct security *s = NULL;
        va_list args;
        conf_init(&conf);
        va_start(args, error);
        for (const char *key; (key = va_arg(args, const char *));)
                conf_set(&conf, key, va_arg(args, const char *));
        va_end(args);
        int r = security_new(&conf, app_id, role, &s, error);
        assert_true(r == 0 || (r < 0 && !s));
        conf_deinit(&conf);
        return s;
}

static struct security *with_secret(const char *app_id, const char *secret)
{
        struct security *s = make(app_id, SECURITY_DRIVER, NULL, "spark.authenticate", "true",
                                  "spark.authenticate.secret", secret, NULL);
        assert_non_null(s);
        return s;
}

struct end {
        struct channel *ch;
        int result;
        struct fst_error error;
        uint8_t *data;
};

static void *shake(void *arg)
{
        struct end *e = arg;
        e->result = channel_handshake(e->ch, 5 * SECOND, NULL, &e->error);
        return NULL;
}

/* Both ends of a connection and the results of their handshakes. */
static void meet(const struct security *client, const struct security *server, struct end *a, struct end *b)
{
        int ends[2];
        pthread_t thread;
        *a = *b = (struct end){0};
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        assert_int_equal(channel_new(ends[0], client, CHANNEL_CLIENT, &a->ch, NULL), 0);
        assert_int_equal(channel_new(ends[1], server, CHANNEL_SERVER, &b->ch, NULL), 0);
        assert_int_equal(pthread_create(&thread, NULL, shake, a), 0);
        shake(b);
        if (b->result < 0)
                channel_free(steal(b->ch)); /* as a server does, so that the client does not wait */
        pthread_join(thread, NULL);
}

static void part(struct end *a, struct end *b)
{
        channel_free(a->ch);
        channel_free(b->ch);
        error_deinit(&a->error);
        error_deinit(&b->error);
}

static void *write_much(void *arg)
{
        struct end *e = arg;
        struct iovec iov[] = {{e->data, 1}, {e->data + 1, 100}, {e->data + 101, 0}, {e->data + 101, MUCH - 101}};
        e->result = channel_writev_all(e->ch, iov, 4, 10 * SECOND, NULL, &e->error);
        return NULL;
}

/* Checks that bytes arrive in both directions. */
static void talk(struct end *a, struct end *b)
{
        struct end *ends[] = {a, b, a};
        _cleanup_free_ uint8_t *data = mem_alloc(MUCH);
        _cleanup_free_ uint8_t *back = mem_alloc(MUCH);
        for (size_t i = 0; i < MUCH; i++)
                data[i] = (uint8_t)(i * 11 >> 2);
        for (int i = 0; i < 2; i++) {
                pthread_t thread;
                ends[i]->data = data;
                assert_int_equal(pthread_create(&thread, NULL, write_much, ends[i]), 0);
                assert_int_equal(channel_read_all(ends[i + 1]->ch, back, MUCH, 10 * SECOND, NULL, NULL), 0);
                pthread_join(thread, NULL);
                assert_int_equal(ends[i]->result, 0);
                assert_memory_equal(data, back, MUCH);
        }
}

static void let_in(const struct security *client, const struct security *server)
{
        struct end a, b;
        meet(client, server, &a, &b);
        if (a.result < 0 || b.result < 0)
                fail_msg("%s / %s", error_message(&a.error), error_message(&b.error));
        assert_true(channel_ready(a.ch));
        assert_true(channel_ready(b.ch));
        talk(&a, &b);
        channel_free(steal(a.ch));
        assert_int_equal(channel_read_some(b.ch, &(char){0}, 1, SECOND, NULL, NULL),
                         0); /* the peer sent close_notify */
        part(&a, &b);
}

/* Checks that the server refuses with @says in its message, and that the client gets no data. */
static void keep_out(const struct security *client, const struct security *server, const char *says)
{
        struct end a, b;
        char byte;
        meet(client, server, &a, &b);
        assert_true(b.result < 0);
        if (!strstr(error_message(&b.error), says))
                fail_msg("\"%s\" does not say \"%s\"", error_message(&b.error), says);
        assert_true(a.result < 0 || channel_read_some(a.ch, &byte, 1, SECOND, NULL, NULL) <= 0);
        part(&a, &b);
}

static void nothing_is_asked(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        assert_null(make("app", SECURITY_DRIVER, &error, NULL));
        assert_null(error.message);
        assert_string_equal(security_name(NULL), "none");
        struct security *none = (struct security *)&error;
        assert_int_equal(security_for(NULL, "rpc", &none, NULL), 0);
        assert_null(none);
        security_free(NULL);
}

static void the_same_secret(void **state)
{
        struct security *driver = with_secret("app-1", SECRET), *executor = with_secret("app-1", SECRET), *a, *b;
        assert_string_equal(security_name(driver), "pre-shared key");
        let_in(executor, driver);
        assert_int_equal(security_for(executor, "rpc", &a, NULL), 0);
        assert_int_equal(security_for(driver, "rpc", &b, NULL), 0);
        let_in(a, b);
        keep_out(a, driver, "of another application");
        security_free(a);
        security_free(b);
        security_free(driver);
        security_free(executor);
}

static void strangers(void **state)
{
        struct security *driver = with_secret("app-1", SECRET);
        struct security *other_secret = with_secret("app-1", SECRET "0"), *other_app = with_secret("app-2", SECRET);
        struct end a, b;
        keep_out(other_secret, driver, "its secret is not this application's");
        keep_out(other_app, driver, "that of another application");
        /* a client also trusts no other peer */
        meet(driver, other_app, &a, &b);
        assert_true(a.result < 0);
        assert_non_null(strstr(error_message(&a.error), "spark.authenticate.secret"));
        part(&a, &b);
        security_free(driver);
        security_free(other_secret);
        security_free(other_app);
}

static void who_speaks_no_tls(void **state)
{
        struct security *driver = with_secret("app-1", SECRET);
        static const char words[][64] = {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "FSRP\1\1aaaaaaaaaaaaaaaaaaaaaaaaaa",
                                         "\x16\x03\x01\x02\x00\x01zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"};
        for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
                int ends[2];
                struct end b = {0};
                char reply[512];
                assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
                assert_int_equal(channel_new(ends[1], driver, CHANNEL_SERVER, &b.ch, NULL), 0);
                assert_true(write(ends[0], words[i], 33) > 0);
                shutdown(ends[0], SHUT_WR);
                shake(&b);
                assert_true(b.result < 0);
                assert_true(strlen(error_message(&b.error)) > 10);
                channel_free(b.ch);
                ssize_t n = read(ends[0], reply, sizeof(reply)); /* at most an alert of seven bytes */
                assert_true(n <= 7);
                close(ends[0]);
                error_deinit(&b.error);
        }
        security_free(driver);
}

/* A peer that only connects uses no memory of OpenSSL. Another protocol is refused at its first byte. */
static void who_says_nothing(void **state)
{
        enum { N = 64, MOST = 2048 };
        struct security *driver = with_secret("app-1", SECRET);
        struct channel *held[N];
        int ends[N][2];
        char byte;
        size_t before = mallinfo2().uordblks;
        for (int i = 0; i < N; i++) {
                assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]), 0);
                assert_int_equal(channel_new(ends[i][1], driver, CHANNEL_SERVER, &held[i], NULL), 0);
                assert_int_equal(channel_read(held[i], &byte, 1), -EAGAIN);
                assert_int_equal(channel_events(held[i]), POLLIN);
                assert_false(channel_ready(held[i]));
        }
        assert_true(mallinfo2().uordblks <= before + N * MOST);
        assert_int_equal(write(ends[0][0], "G", 1), 1);
        assert_int_equal(channel_read(held[0], &byte, 1), -EPROTO);
        assert_non_null(strstr(channel_error(held[0]), "does not speak TLS"));
        close(ends[1][0]);
        assert_int_equal(channel_read(held[1], &byte, 1), -ECONNRESET);
        assert_non_null(strstr(channel_error(held[1]), "in the middle of the handshake"));
        for (int i = 0; i < N; i++) {
                channel_free(held[i]);
                if (i != 1)
                        close(ends[i][0]);
        }
        security_free(driver);
}

static void where_secrets_come_from(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        struct security *driver = with_secret("app", SECRET), *s;
        assert_null(make("app", SECURITY_DRIVER, &error, "spark.authenticate", "true", NULL));
        assert_non_null(strstr(error_message(&error), "spark.authenticate.secret.file"));
        _cleanup_free_ char *path = write_file("secret", SECRET);
        s = make("app", SECURITY_EXECUTOR, &error, "spark.authenticate", "true", "spark.authenticate.secret.file", path,
                 NULL);
        assert_non_null(s);
        let_in(s, driver);
        security_free(s);
        assert_null(make("app", SECURITY_EXECUTOR, &error, "spark.authenticate", "true",
                         "spark.authenticate.secret.driver.file", path, NULL));
        assert_non_null(strstr(error_message(&error), "only one of them"));
        assert_null(make("app", SECURITY_EXECUTOR, &error, "spark.authenticate", "true",
                         "spark.authenticate.secret.file", "/no/such/file", NULL));
        assert_non_null(strstr(error_message(&error), "/no/such/file"));
        setenv("_SPARK_AUTH_SECRET", SECRET, 1);
        s = make("app", SECURITY_EXECUTOR, &error, "spark.authenticate", "true", "spark.authenticate.secret", "another",
                 NULL);
        unsetenv("_SPARK_AUTH_SECRET");
        assert_non_null(s);
        let_in(s, driver);
        security_free(s);
        security_free(driver);
        struct fst_conf conf;
        char *made = NULL, *again = NULL;
        conf_init(&conf);
        assert_int_equal(security_make_secret(&conf, &made, &error), 0);
        assert_int_equal(security_make_secret(&conf, &again, &error), 0);
        assert_int_equal(strlen(made), 64);
        assert_string_not_equal(made, again);
        free(made);
        free(again);
        conf_set(&conf, "spark.authenticate.secretBitLength", "8");
        assert_int_equal(security_make_secret(&conf, &made, &error), -EINVAL);
        conf_deinit(&conf);
        error_deinit(&error);
}

static void derives_a_secret_for_each_purpose(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        uint8_t first[SECURITY_DERIVED_SIZE], again[sizeof(first)], purpose[sizeof(first)], secret[sizeof(first)];
        struct fst_conf conf;
        conf_init(&conf);
        assert_int_equal(security_derive(&conf, SECURITY_DRIVER, "one", first, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "spark.authenticate.secret"));
        conf_set(&conf, "spark.authenticate.secret", SECRET);
        assert_int_equal(security_derive(&conf, SECURITY_DRIVER, "one", first, &error), 0);
        assert_int_equal(security_derive(&conf, SECURITY_DRIVER, "one", again, &error), 0);
        assert_int_equal(security_derive(&conf, SECURITY_DRIVER, "two", purpose, &error), 0);
        conf_set(&conf, "spark.authenticate.secret", SECRET "0");
        assert_int_equal(security_derive(&conf, SECURITY_DRIVER, "one", secret, &error), 0);
        assert_memory_equal(first, again, sizeof(first));
        assert_memory_not_equal(first, purpose, sizeof(first));
        assert_memory_not_equal(first, secret, sizeof(first));
        conf_deinit(&conf);
        error_deinit(&error);
}

/* Returns whether the log mentions a secret, and checks that it does not contain the secret. */
static bool warns(const char *secret)
{
        int saved = dup(2), pipes[2];
        char text[600];
        assert_int_equal(pipe2(pipes, O_NONBLOCK | O_CLOEXEC), 0);
        fflush(stderr);
        dup2(pipes[1], 2);
        log_set_level(LOG_WARN);
        security_free(with_secret("app", secret));
        log_set_level(LOG_OFF);
        dup2(saved, 2);
        close(saved);
        close(pipes[1]);
        ssize_t n = read(pipes[0], text, sizeof(text) - 1);
        close(pipes[0]);
        text[MAX(n, 0)] = '\0';
        assert_null(n > 0 ? strstr(text, secret) : NULL);
        return n > 0;
}

static void weak_secrets(void **state)
{
        assert_true(warns("hunter2"));
        assert_true(warns("correct horse"));
        assert_true(warns("0123456789abcdef0123456789abcde")); /* 124 bits */
        assert_true(warns("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
        assert_false(warns("0123456789abcdef0123456789abcdef"));
        assert_false(warns("Zm9vYmFyIGJheiBxdXV4Cg=="));
}

static void certificates(void **state)
{
        _cleanup_free_ char *cert1 = write_file("one.pem", one_pem);
        _cleanup_free_ char *key1 = write_file("one.key", one_key);
        _cleanup_free_ char *cert2 = write_file("two.pem", two_pem);
        _cleanup_free_ char *key2 = write_file("two.key", two_key);
        _cleanup_free_ char *jks = write_file("jks", "\xfe\xed\xfe\xed then");
        struct fst_error error = FST_ERROR_INIT;
        struct security *one = make("app", SECURITY_DRIVER, &error, "spark.ssl.rpc.enabled", "true",
                                    "spark.ssl.rpc.privateKey", key1, "spark.ssl.certChain", cert1, NULL);
        assert_non_null(one);
        assert_string_equal(security_name(one), "certificates");
        let_in(one, one);
        struct security *rpc;
        assert_int_equal(security_for(one, "rpc", &rpc, NULL), 0);
        let_in(rpc, one);
        security_free(rpc);
        struct security *two = make("app", SECURITY_DRIVER, &error, "spark.ssl.rpc.enabled", "true",
                                    "spark.ssl.rpc.privateKey", key2, "spark.ssl.rpc.certChain", cert2, NULL);
        struct end a, b;
        meet(two, one, &a, &b); /* the client does not trust the server */
        assert_true(a.result < 0);
        assert_non_null(strstr(error_message(&a.error), "not trusted"));
        part(&a, &b);
        struct security *two_trusts =
                make("app", SECURITY_DRIVER, &error, "spark.ssl.rpc.enabled", "true", "spark.ssl.rpc.privateKey", key2,
                     "spark.ssl.rpc.certChain", cert2, "spark.ssl.rpc.trustStore", cert1, NULL);
        let_in(two_trusts, one);
        struct security *strict =
                make("app", SECURITY_DRIVER, &error, "spark.ssl.rpc.enabled", "true", "spark.ssl.rpc.privateKey", key1,
                     "spark.ssl.rpc.certChain", cert1, "spark.ssl.rpc.needClientAuth", "true", NULL);
        keep_out(two_trusts, strict, "not trusted");
        let_in(one, strict);
        struct security *secret = with_secret("app", SECRET);
        meet(secret, one, &a, &b);
        assert_true(a.result < 0);
        part(&a, &b);
        security_free(one);
        security_free(two);
        security_free(two_trusts);
        security_free(strict);
        security_free(secret);

        assert_null(make("app", SECURITY_DRIVER, &error, "spark.ssl.rpc.enabled", "true", NULL));
        assert_non_null(strstr(error_message(&error), "spark.ssl.rpc.privateKey"));
        assert_null(make("app", SECURITY_DRIVER, &error, "spark.ssl.rpc.enabled", "true", "spark.ssl.rpc.privateKey",
                         key2, "spark.ssl.rpc.certChain", cert1, NULL));
        assert_non_null(strstr(error_message(&error), "two.key"));
        assert_null(make("app", SECURITY_DRIVER, &error, "spark.ssl.rpc.enabled", "true", "spark.ssl.rpc.privateKey",
                         key1, "spark.ssl.rpc.certChain", cert1, "spark.ssl.rpc.trustStore", jks, NULL));
        assert_non_null(strstr(error_message(&error), "PKCS12"));
        assert_null(make("app", SECURITY_DRIVER, &error, "spark.ssl.rpc.enabled", "true", "spark.ssl.rpc.privateKey",
                         key1, "spark.ssl.rpc.certChain", cert1, "spark.ssl.rpc.enabledAlgorithms", "TLS_RSA_X", NULL));
        assert_non_null(strstr(error_message(&error), "TLS_AES_256_GCM_SHA384"));
        error_deinit(&error);
}

static char *write_store(void)
{
        _cleanup_(buf_deinit) struct buf store = BUF_INIT;
        assert_true(base64_decode(two_passwords_store, strlen(two_passwords_store), &store));
        char *path = mem_printf("%s/two_passwords.p12", temp_dir);
        FILE *f = fopen(path, "we");
        assert_non_null(f);
        assert_int_equal(fwrite(store.data, 1, store.len, f), store.len);
        fclose(f);
        return path;
}

static void test_key_of_a_store_has_its_own_password(void **state)
{
        static const struct {
                const char *label, *key, *password;
                bool opens;
        } cases[] = {
                {"its password", "spark.ssl.rpc.keyPassword", TWO_PASSWORDS_KEY, true},
                {"inherited password", "spark.ssl.keyPassword", TWO_PASSWORDS_KEY, true},
                {"wrong password", "spark.ssl.rpc.keyPassword", "other", false},
                {"password of the store", "spark.ssl.rpc.keyPassword", TWO_PASSWORDS_STORE, false},
                {"no password", "spark.ssl.rpc.keyPassword", "", false},
        };
        _cleanup_free_ char *store = write_store();
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct fst_error error = FST_ERROR_INIT;
                struct security *s = make("app", SECURITY_DRIVER, &error, "spark.ssl.rpc.enabled", "true",
                                          "spark.ssl.rpc.keyStore", store, "spark.ssl.rpc.keyStorePassword",
                                          TWO_PASSWORDS_STORE, cases[i].key, cases[i].password, NULL);
                if ((s != NULL) != cases[i].opens)
                        fail_msg("%s: %s", cases[i].label, s ? "opened" : error_message(&error));
                if (s)
                        let_in(s, s); /* trusts the certificate of its store */
                else
                        assert_non_null(strstr(error_message(&error), "two_passwords.p12"));
                security_free(s);
                error_deinit(&error);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(nothing_is_asked),
                cmocka_unit_test(the_same_secret),
                cmocka_unit_test(strangers),
                cmocka_unit_test(who_speaks_no_tls),
                cmocka_unit_test(who_says_nothing),
                cmocka_unit_test(where_secrets_come_from),
                cmocka_unit_test(derives_a_secret_for_each_purpose),
                cmocka_unit_test(weak_secrets),
                cmocka_unit_test(certificates),
                cmocka_unit_test(test_key_of_a_store_has_its_own_password),
        };
        return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
