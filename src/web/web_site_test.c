/* Common to every page: view and modify rights, security headers, malformed requests. */
#include "web/web_site.h"

#include "conf/conf.h"
#include "net/crypto.h"
#include "web/filters.h"
#include "web/web_site_fixture.h"
#include "unit/cases.h"
#include "unit/temp_dir.h"

static struct {
        struct site_fixture f;
        struct fst_conf conf;
        struct web_site *site;
        int changed;
} t;

static void serve(void *owner, struct web_request *q)
{
        struct buf b = BUF_INIT;
        if (web_is(q, "/change")) {
                if (!web_require_modify(q))
                        return;
                t.changed++;
                return web_redirect(q, "/");
        }
        if (!web_is(q, "/"))
                return web_not_found(q);
        buf_printf(&b, "user=%s x=%s", q->user ? q->user : "?",
                   form_get(&q->form, "x") ? form_get(&q->form, "x") : "?");
        web_answer_text(q, 200, &b);
}

static int begin(void **state)
{
        memset(&t, 0, sizeof(t));
        site_fixture_begin(&t.f);
        conf_init(&t.conf);
        return 0;
}

static int end(void **state)
{
        web_site_free(t.site);
        site_fixture_end(&t.f);
        conf_deinit(&t.conf);
        return 0;
}

static void start(void)
{
        struct fst_error error = FST_ERROR_INIT;
        struct web_site_options o = {
                .loop = &t.f.loop, .conf = &t.conf, .name = "TestUI", .host = "127.0.0.1", .serve = serve};
        web_site_free(t.site);
        t.site = NULL;
        if (web_site_new(&o, &t.site, &error) < 0)
                fail_msg("%s", error_message(&error));
}

static void refused_to_start(const char *why)
{
        struct fst_error error = FST_ERROR_INIT;
        struct web_site_options o = {
                .loop = &t.f.loop, .conf = &t.conf, .name = "TestUI", .host = "127.0.0.1", .serve = serve};
        struct web_site *site = NULL;
        assert_true(web_site_new(&o, &site, &error) < 0);
        if (!strstr(error_message(&error), why))
                fail_msg("%s", error_message(&error));
        error_deinit(&error);
}

static void get(const char *target, const char *headers)
{
        _cleanup_free_ char *head = mem_printf("GET %s HTTP/1.1\r\nHost: h:1\r\n%s", target, headers);
        fixture_post(&t.f, web_site_port(t.site), head, NULL);
}

static void change(const char *headers)
{
        _cleanup_free_ char *head = mem_printf("POST /change/ HTTP/1.1\r\nHost: h:1\r\n%s", headers);
        fixture_post(&t.f, web_site_port(t.site), head, "id=1&terminate=true");
}

static void sends_security_headers(void **state)
{
        start();
        get("/?x=a+b", "");
        assert_int_equal(t.f.status, 200);
        assert_string_equal(t.f.body, "user=? x=a b");
        assert_non_null(strstr(t.f.head, "X-Frame-Options: SAMEORIGIN"));
        assert_non_null(strstr(t.f.head, "X-Content-Type-Options: nosniff"));
        assert_non_null(strstr(t.f.head, "X-XSS-Protection: 0"));
        assert_non_null(strstr(t.f.head, "Content-Security-Policy: default-src 'none'; style-src 'self';"));
        assert_non_null(strstr(t.f.head, "Cache-Control: no-cache, no-store, must-revalidate"));
        assert_null(strstr(t.f.head, "Strict-Transport"));
        get("/static/firesteel.css", "");
        assert_non_null(strstr(t.f.head, "Content-Type: text/css"));
        assert_non_null(strstr(t.f.head, "Cache-Control: no-cache, no-store, must-revalidate"));
        get("/static/firesteel.css?v=0123456789abcdef", "");
        assert_non_null(strstr(t.f.head, "Cache-Control: private, max-age=31536000, immutable"));
        assert_null(strstr(t.f.head, "no-store"));
        get("/nothing?v=1", "");
        assert_non_null(strstr(t.f.head, "Cache-Control: no-cache, no-store, must-revalidate"));
        get("/nothing/%3Cscript%3E", "");
        assert_int_equal(t.f.status, 404);
        assert_true(fixture_says(&t.f, "/nothing/&lt;script&gt;"));
        get("/%00", "");
        assert_int_equal(t.f.status, 400);
        fixture_post(&t.f, web_site_port(t.site), "TRACE / HTTP/1.1\r\nHost: h\r\n", NULL);
        assert_int_equal(t.f.status, 405);
        conf_set(&t.conf, "spark.ui.allowFramingFrom", "https://portal.example");
        start();
        get("/", "");
        assert_non_null(strstr(t.f.head, "X-Frame-Options: ALLOW-FROM https://portal.example"));
        assert_non_null(strstr(t.f.head, "frame-ancestors 'self' https://portal.example"));
}

static void rejects_forms_of_other_sites(void **state)
{
        start();
        get("/change/", "");
        assert_int_equal(t.f.status, 405);
        change("Sec-Fetch-Site: cross-site\r\n");
        assert_int_equal(t.f.status, 403);
        change("Sec-Fetch-Site: same-site\r\n");
        assert_int_equal(t.f.status, 403);
        change("Origin: http://evil.example\r\n");
        assert_int_equal(t.f.status, 403);
        change("Origin: null\r\n");
        assert_int_equal(t.f.status, 403);
        assert_int_equal(t.changed, 0);
        change("Sec-Fetch-Site: same-origin\r\n");
        assert_int_equal(t.f.status, 302);
        assert_non_null(strstr(t.f.head, "Location: /"));
        change("Origin: http://h:1\r\n");
        change("");
        assert_int_equal(t.changed, 3);
}

#define AM_IP "org.apache.hadoop.yarn.server.webproxy.amfilter.AmIpFilter"

static void serves_only_the_proxy_of_yarn(void **state)
{
        conf_set(&t.conf, "spark.ui.filters", AM_IP);
        conf_set(&t.conf, "spark." AM_IP ".param.PROXY_HOSTS", "127.0.0.1");
        conf_set(&t.conf, "spark." AM_IP ".param.PROXY_URI_BASES", "http://rm:8088/proxy/app");
        conf_set(&t.conf, "spark.ui.proxyBase", "/proxy/app");
        start();
        get("/?x=1", "Cookie: proxy-user=alice\r\n");
        assert_int_equal(t.f.status, 200);
        assert_string_equal(t.f.body, "user=alice x=1");
        get("/proxy/app/?x=1", ""); /* a redirect that the proxy has followed */
        assert_int_equal(t.f.status, 200);
        assert_string_equal(t.f.body, "user=? x=1");
        get("/proxy/application/", "");
        assert_int_equal(t.f.status, 404);

        conf_set(&t.conf, "spark." AM_IP ".param.PROXY_HOSTS", "127.0.0.9");
        start();
        get("/jobs/?x=1", "Cookie: proxy-user=alice\r\n");
        assert_int_equal(t.f.status, 302);
        assert_non_null(strstr(t.f.head, "Location: http://rm:8088/proxy/app/jobs/?x=1"));
        change("Cookie: proxy-user=alice\r\n");
        assert_int_equal(t.f.status, 302);
        assert_int_equal(t.changed, 0);
}

static void reads_its_proxy_again(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        start();
        conf_set(&t.conf, "spark.ui.filters", AM_IP);
        assert_int_equal(web_site_read_proxy(t.site, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "PROXY_HOSTS"));
        error_deinit(&error);
        conf_set(&t.conf, "spark." AM_IP ".params", "PROXY_HOSTS=127.0.0.9,PROXY_URI_BASES=http://rm/p");
        assert_int_equal(web_site_read_proxy(t.site, NULL), 0);
        get("/", "");
        assert_int_equal(t.f.status, 302);
        assert_non_null(strstr(t.f.head, "Location: http://rm/p/"));
}

static void checks_acls(void **state)
{
        conf_set(&t.conf, "spark.acls.enable", "true");
        conf_set(&t.conf, "spark.ui.view.acls", "viewer,changer");
        conf_set(&t.conf, "spark.modify.acls", "changer");
        conf_set(&t.conf, "spark.admin.acls", "boss");
        conf_set(&t.conf, "spark.ui.filters", "firesteel.RemoteUserFilter");
        start();
        static const struct {
                const char *user;
                int view, modify;
        } cases[] = {
                {"viewer", 200, 403},   {"changer", 200, 302}, {"boss", 200, 302},
                {"stranger", 403, 403}, {"", 403, 403},        {"viewer,boss", 403, 403},
        };
        int changed = 0;
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%zu of cases: user \"%s\", view %d, modify %d", i, cases[i].user ? cases[i].user : "(none)",
                           cases[i].view, cases[i].modify);
                _cleanup_free_ char *header = mem_printf("X-Remote-User: %s\r\n", cases[i].user);
                get("/", header);
                assert_int_equal(t.f.status, cases[i].view);
                change(header);
                assert_int_equal(t.f.status, cases[i].modify);
                changed += cases[i].modify == 302;
                assert_int_equal(t.changed, changed);
        }
        get("/", "X-Remote-User: stranger\r\n");
        assert_true(fixture_says(&t.f, "User stranger is not authorized to access this page."));
        get("/", "");
        assert_int_equal(t.f.status, 403);
        get("/static/firesteel.css", "X-Remote-User: stranger\r\n");
        assert_int_equal(t.f.status, 403);
        /* Impersonation, for administrators only. */
        get("/?doAs=viewer", "X-Remote-User: boss\r\n");
        assert_string_equal(t.f.body, "user=viewer x=?");
        get("/?doAs=stranger", "X-Remote-User: boss\r\n");
        assert_int_equal(t.f.status, 403);
        get("/?doAs=boss", "X-Remote-User: viewer\r\n");
        assert_true(fixture_says(&t.f, "User viewer is not allowed to impersonate others."));
        /* The header counts only from a trusted proxy. */
        conf_set(&t.conf, "spark.firesteel.RemoteUserFilter.param.proxies", "192.0.2.1");
        start();
        get("/", "X-Remote-User: boss\r\n");
        assert_int_equal(t.f.status, 403);
        conf_set(&t.conf, "spark.ui.view.acls", "*");
        start();
        get("/", "");
        assert_int_equal(t.f.status, 200);
        change("");
        assert_int_equal(t.f.status, 403);
}

/* "test" eighteen times. */
#define KEY "dGVzdHRlc3R0ZXN0dGVzdHRlc3R0ZXN0dGVzdHRlc3R0ZXN0dGVzdHRlc3R0ZXN0dGVzdHRlc3R0ZXN0dGVzdHRlc3R0ZXN0"

static void put_base64url(struct buf *b, const void *data, size_t n)
{
        static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        const unsigned char *p = data;
        for (size_t i = 0; i < n; i += 3) {
                unsigned v =
                        (unsigned)p[i] << 16 | (i + 1 < n ? (unsigned)p[i + 1] << 8 : 0) | (i + 2 < n ? p[i + 2] : 0);
                for (size_t k = 0; k < (n - i >= 3 ? 4 : n - i + 1); k++)
                        buf_putc(b, digits[v >> (18 - 6 * k) & 63]);
        }
}

/* A token with @claims. Computes the HMAC independently, after the RFC. */
static char *token(const char *header, const char *claims)
{
        const struct crypto_ops *crypto;
        struct buf b = BUF_INIT;
        _cleanup_(buf_deinit) struct buf inner = BUF_INIT;
        unsigned char pad[64], digest[DIGEST_MAX];
        size_t n;
        char key[72];
        for (int i = 0; i < 18; i++)
                memcpy(key + 4 * i, "test", 4);
        assert_int_equal(crypto_load(&crypto, NULL), 0);
        put_base64url(&b, header, strlen(header));
        buf_putc(&b, '.');
        put_base64url(&b, claims, strlen(claims));
        unsigned char hashed[DIGEST_MAX] = {0};
        crypto->digest("sha256", key, 72, hashed, &n); /* longer than a block */
        for (int i = 0; i < 64; i++)
                pad[i] = (unsigned char)((i < 32 ? hashed[i] : 0) ^ 0x36);
        buf_append(&inner, pad, 64);
        buf_append(&inner, b.data, b.len);
        crypto->digest("sha256", inner.data, inner.len, digest, &n);
        for (int i = 0; i < 64; i++)
                pad[i] ^= 0x36 ^ 0x5c;
        buf_reset(&inner);
        buf_append(&inner, pad, 64);
        buf_append(&inner, digest, 32);
        crypto->digest("sha256", inner.data, inner.len, digest, &n);
        buf_putc(&b, '.');
        put_base64url(&b, digest, 32);
        return buf_steal(&b);
}

static int pass(const char *start_of, const char *header, const char *claims)
{
        _cleanup_free_ char *made = token(header, claims);
        _cleanup_free_ char *line = mem_printf("Authorization: %s%s\r\n", start_of, made);
        get("/", line);
        return t.f.status;
}

static void verifies_tokens(void **state)
{
        static const char hs256[] = "{\"alg\":\"HS256\"}";
        conf_set(&t.conf, "spark.ui.filters", "org.apache.spark.ui.JWSFilter");
        refused_to_start("secretKey");
        conf_set(&t.conf, "spark.org.apache.spark.ui.JWSFilter.param.secretKey", KEY);
        start();
        get("/", "");
        assert_int_equal(t.f.status, 403);
        assert_true(fixture_says(&t.f, "Authorization header is missing."));
        assert_int_equal(pass("Bearer ", hs256, "{\"sub\":\"ann\"}"), 200);
        assert_string_equal(t.f.body, "user=ann x=?");
        assert_int_equal(pass("Bearer ", hs256, "{\"sub\":\"ann\",\"exp\":99999999999}"), 200);
        assert_int_equal(pass("Bearer ", hs256, "{\"sub\":\"ann\",\"exp\":1}"), 403);
        assert_int_equal(pass("Bearer ", hs256, "{\"sub\":\"ann\",\"nbf\":99999999999}"), 403);
        assert_int_equal(pass("Bearer ", hs256, "{\"exp\":\"never\"}"), 403);
        assert_int_equal(pass("Basic ", hs256, "{}"), 403);
        assert_true(fixture_says(&t.f, "Malformed Authorization header."));
        assert_int_equal(pass("Bearer ", "{\"alg\":\"none\"}", "{}"), 403);
        assert_int_equal(pass("Bearer ", "{\"alg\":\"HS512\"}", "{}"), 403); /* signed with another key */
        assert_int_equal(pass("Bearer ", "[]", "{}"), 403);
        assert_int_equal(pass("Bearer x", hs256, "{}"), 403);
        get("/", "Authorization: Bearer eyJhbGciOiJub25lIn0.e30.\r\n");
        assert_int_equal(t.f.status, 403);
        get("/", "Authorization: Bearer ..\r\n");
        assert_int_equal(t.f.status, 403);
        conf_set(&t.conf, "spark.org.apache.spark.ui.JWSFilter.param.requireExpiration", "true");
        start();
        assert_int_equal(pass("Bearer ", hs256, "{\"sub\":\"ann\"}"), 403);
        assert_int_equal(pass("Bearer ", hs256, "{\"sub\":\"ann\",\"exp\":99999999999}"), 200);
}

static void rejects_unknown_filters(void **state)
{
        conf_set(&t.conf, "spark.ui.filters", "com.example.KerberosFilter");
        refused_to_start("com.example.KerberosFilter is a JVM class");
        conf_set(&t.conf, "spark.ui.filters", "");
        conf_set(&t.conf, "spark.acls.enable", "true");
        conf_set(&t.conf, "spark.user.groups.mapping", "com.example.Groups");
        refused_to_start("spark.user.groups.mapping");
        conf_set(&t.conf, "spark.acls.enable", "false");
        conf_set(&t.conf, "spark.ssl.standalone.enabled", "true");
        refused_to_start("but no certificate is configured");
        conf_set(&t.conf, "spark.ssl.keyStore", "/nonexistent/store.p12");
        refused_to_start("/nonexistent/store.p12");
}

static void redirects_plain_port_to_tls(void **state)
{
        char command[700], location[80];
        _cleanup_free_ char *key = temp_dir_path("key.pem"), *chain = temp_dir_path("cert.pem");
        snprintf(
                command, sizeof(command),
                "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout %s -out %s -days 2 -subj "
                "/CN=localhost 2>/dev/null",
                key, chain);
        if (system(command) == 0) {
                conf_set(&t.conf, "spark.ssl.enabled", "true");
                conf_set(&t.conf, "spark.ssl.standalone.privateKey", key);
                conf_set(&t.conf, "spark.ssl.standalone.certChain", chain);
                start();
                assert_true(web_site_is_secure(t.site));
        }
        if (!t.site)
                skip(); /* no openssl program */
        fixture_post(&t.f, web_site_plain_port(t.site), "GET /a/?b=c HTTP/1.1\r\nHost: h:1\r\n", NULL);
        snprintf(location, sizeof(location), "Location: https://h:%d/a/?b=c", web_site_port(t.site));
        assert_int_equal(t.f.status, 302);
        assert_non_null(strstr(t.f.head, location));
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)
        const struct CMUnitTest tests[] = {
                CASE(sends_security_headers),
                CASE(rejects_forms_of_other_sites),
                CASE(serves_only_the_proxy_of_yarn),
                CASE(reads_its_proxy_again),
                CASE(checks_acls),
                CASE(verifies_tokens),
                CASE(rejects_unknown_filters),
                CASE(redirects_plain_port_to_tls),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
