/* Loading of the module, and the examples of the standards. */
#include "net/crypto.h"

#include "base/error.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

static const struct crypto_ops *crypto;

static int load(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        const struct crypto_ops *again = NULL;
        int r = crypto_load(&crypto, &error);
        if (r < 0)
                print_message("%s\n", error_message(&error));
        error_deinit(&error);
        return r < 0 || crypto_load(&again, NULL) < 0 || again != crypto;
}

static void from_hex(const char *hex, uint8_t *out)
{
        for (; *hex; hex += 2, out++)
                assert_int_equal(sscanf(hex, "%2hhx", out), 1);
}

static void aes_256_ctr(void **state) /* NIST SP 800-38A, F.5.5 */
{
        uint8_t key[32], iv[16], plain[64], cipher[64], out[64];
        from_hex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4", key);
        from_hex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", iv);
        from_hex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
                 "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
                 plain);
        from_hex("601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
                 "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6",
                 cipher);
        struct aes_ctr *a = crypto->aes_ctr_new(key, iv);
        assert_non_null(a);
        for (size_t from = 0; from <= 64; from++) /* any part separately */
                for (size_t len = 0; from + len <= 64; len++) {
                        assert_int_equal(crypto->aes_ctr_crypt(a, from, plain + from, out, len), 0);
                        assert_memory_equal(out, cipher + from, len);
                        assert_int_equal(crypto->aes_ctr_crypt(a, from, out, out, len), 0); /* in place */
                        assert_memory_equal(out, plain + from, len);
                }
        /* carries of the counter: blocks of one stream around 2^32 are consistent */
        uint8_t whole[96] = {0}, part[40] = {0};
        assert_int_equal(crypto->aes_ctr_crypt(a, (16ull << 32) - 48, whole, whole, 96), 0);
        assert_int_equal(crypto->aes_ctr_crypt(a, (16ull << 32) - 48 + 41, part, part, 40), 0);
        assert_memory_equal(part, whole + 41, 40);
        crypto->aes_ctr_free(a);
        crypto->aes_ctr_free(NULL);
}

static void hkdf_of_rfc_5869(void **state)
{
        uint8_t secret[22], salt[13], info[10], want[42], out[42];
        memset(secret, 0x0b, sizeof(secret));
        from_hex("000102030405060708090a0b0c", salt);
        from_hex("f0f1f2f3f4f5f6f7f8f9", info);
        from_hex("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865", want);
        assert_int_equal(crypto->hkdf(secret, 22, salt, 13, info, 10, out, 42), 0);
        assert_memory_equal(out, want, 42);
}

static void random_differs(void **state)
{
        uint8_t a[32] = {0}, b[32] = {0};
        assert_int_equal(crypto->random(a, 32), 0);
        assert_int_equal(crypto->random(b, 32), 0);
        assert_memory_not_equal(a, b, 32);
}

static void certificates_sign_themselves(void **state)
{
        static const char *const names[] = {"hook.ns.svc", "hook.ns.svc.cluster.local", NULL};
        char *key, *certificate, *other_key, *other;
        int64_t expires = 0, now = time(NULL);
        assert_int_equal(crypto->certificate_make("hook.ns.svc", names, 86400, &key, &certificate), 0);
        assert_int_equal(crypto->certificate_make("hook.ns.svc", names, 60, &other_key, &other), 0);
        assert_string_not_equal(certificate, other);
        assert_int_equal(crypto->certificate_inspect(certificate, key, "hook.ns.svc.cluster.local", &expires), 0);
        assert_in_range(expires, now + 86400, now + 86400 + 60);
        assert_int_equal(crypto->certificate_inspect(certificate, NULL, NULL, &expires), 0);
        assert_int_equal(crypto->certificate_inspect(certificate, other_key, NULL, &expires), -EKEYREJECTED);
        assert_int_equal(crypto->certificate_inspect(certificate, key, "other.ns.svc", &expires), -ENOENT);
        assert_int_equal(crypto->certificate_inspect("no certificate", key, NULL, &expires), -EBADMSG);
        assert_int_equal(crypto->certificate_inspect(certificate, "no key", NULL, &expires), -EBADMSG);
        free(key);
        free(certificate);
        free(other_key);
        free(other);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(aes_256_ctr),
                cmocka_unit_test(hkdf_of_rfc_5869),
                cmocka_unit_test(random_differs),
                cmocka_unit_test(certificates_sign_themselves),
        };
        return cmocka_run_group_tests(tests, load, NULL);
}
