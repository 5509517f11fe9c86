/* base64: the test vectors of RFC 4648. */
#include "base/base64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void vectors(void **state)
{
        static const char *const pairs[][2] = {
                {"", ""},
                {"f", "Zg=="},
                {"fo", "Zm8="},
                {"foo", "Zm9v"},
                {"foob", "Zm9vYg=="},
                {"fooba", "Zm9vYmE="},
                {"foobar", "Zm9vYmFy"},
                {"\xff\xfe\xfd", "//79"},
        };
        for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
                struct buf out = BUF_INIT;
                base64_put(&out, pairs[i][0], strlen(pairs[i][0]));
                assert_string_equal(buf_text(&out), pairs[i][1]);
                buf_reset(&out);
                assert_true(base64_decode(pairs[i][1], strlen(pairs[i][1]), &out));
                assert_string_equal(buf_text(&out), pairs[i][0]);
                buf_deinit(&out);
        }
        struct buf out = BUF_INIT;
        assert_true(base64_decode("__79Zg", 6, &out)); /* the other alphabet, without padding */
        assert_string_equal(buf_text(&out), "\xff\xfe\xfd"
                                            "f");
        buf_deinit(&out);
}

static void rejects_invalid_base64(void **state)
{
        static const char *const texts[] = {"Z", "Zm9v Zm9v", "Zm9v\n", "Zm9vZ", "Z=g=", "\xc3\xa9"};
        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
                struct buf out = BUF_INIT;
                assert_false(base64_decode(texts[i], strlen(texts[i]), &out));
                buf_deinit(&out);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(vectors), cmocka_unit_test(rejects_invalid_base64)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
