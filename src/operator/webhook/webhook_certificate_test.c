/* The webhook's Secret: when it needs a new certificate, and what clients trust after a renewal. */
#include "operator/resources/operator_fixture.h"
#include "operator/webhook/webhook_certificate.h"

#include "text/json.h"

#include <time.h>

static const char *const names[] = {"hook.ns.svc", "hook.ns", NULL};

static json_t *make(const json_t *old)
{
        struct fst_error error = FST_ERROR_INIT;
        json_t *secret = NULL;
        if (webhook_certificate_make(old, "ns", "certs", names, time(NULL), &secret, &error) < 0)
                fail_msg("%s", error_message(&error));
        return secret;
}

static void assert_needs_new(const json_t *secret, const char *name, int64_t now, const char *why)
{
        struct fst_error error = FST_ERROR_INIT;
        struct webhook_certificate c = {0};
        assert_true(webhook_certificate_read(secret, name, now, &c, &error) < 0);
        assert_string_equal(error_message(&error), why);
        assert_null(c.key);
        error_deinit(&error);
}

static void test_first_certificate(void **state)
{
        (void)state;
        struct fst_error error = FST_ERROR_INIT;
        struct webhook_certificate c;
        assert_needs_new(NULL, names[0], time(NULL), "there is none");
        json_t *secret = make(NULL);
        assert_string_equal(json_text_at(secret, "metadata.namespace"), "ns");
        assert_string_equal(json_text_at(secret, "metadata.name"), "certs");
        assert_string_equal(json_text_at(secret, "type"), "kubernetes.io/tls");
        assert_int_equal(webhook_certificate_read(secret, names[0], time(NULL), &c, &error), 0);
        assert_string_equal(c.trust, c.chain);
        assert_non_null(strstr(c.key, "PRIVATE KEY"));
        webhook_certificate_deinit(&c);
        json_decref(secret);
}

static void test_reasons_for_a_new_one(void **state)
{
        (void)state;
        json_t *secret = make(NULL), *other = make(NULL);
        const int64_t now = time(NULL);
        assert_needs_new(secret, "other.ns.svc", now, "it is not for other.ns.svc");
        assert_needs_new(secret, names[0], now + WEBHOOK_VALID_S - WEBHOOK_RENEW_BEFORE_S + 100,
                         "it ends in less than 30 days");
        json_object_set(json_object_get(secret, "data"), "tls.key",
                        json_object_get(json_object_get(other, "data"), "tls.key"));
        assert_needs_new(secret, names[0], now, "it is invalid");
        json_object_set_new(json_object_get(secret, "data"), "tls.key", json_string("AAAA"));
        assert_needs_new(secret, names[0], now, "there is none"); /* it has a NUL */
        json_object_set_new(json_object_get(secret, "data"), "tls.crt", json_string("?"));
        assert_needs_new(secret, names[0], now, "there is none");
        json_object_del(secret, "data");
        assert_needs_new(secret, names[0], now, "there is none");
        json_decref(secret);
        json_decref(other);
}

static void test_renewal_keeps_the_old_one_trusted(void **state)
{
        (void)state;
        struct fst_error error = FST_ERROR_INIT;
        struct webhook_certificate first, second;
        json_t *old = make(NULL);
        json_object_set_new(old, "type", json_string("Opaque")); /* cannot be changed */
        json_object_set_new(json_object_get(old, "metadata"), "resourceVersion", json_string("7"));
        json_t *fresh = make(old);
        assert_string_equal(json_text_at(fresh, "type"), "Opaque");
        assert_string_equal(json_text_at(fresh, "metadata.resourceVersion"), "7");
        assert_int_equal(webhook_certificate_read(old, names[0], time(NULL), &first, &error), 0);
        assert_int_equal(webhook_certificate_read(fresh, names[0], time(NULL), &second, &error), 0);
        _cleanup_free_ char *both = mem_printf("%s%s", second.chain, first.chain);
        assert_string_equal(second.trust, both);
        webhook_certificate_deinit(&first);
        webhook_certificate_deinit(&second);
        json_decref(old);
        json_decref(fresh);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_first_certificate),
                cmocka_unit_test(test_reasons_for_a_new_one),
                cmocka_unit_test(test_renewal_keeps_the_old_one_trusted),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
