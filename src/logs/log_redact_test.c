/* Lines of output without their secrets. */
#include "logs/log_redact.h"

#include "base/buf.h"
#include "base/mem.h"
#include "conf/redact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void values_of_secret_keys_are_hidden(void **state)
{
        static const char *const rows[][2] = {
                {"plain = text", "plain = text"},
                {"spark.app.name=x y", "spark.app.name=x y"},
                {"my.secret=abc,b=1", "my.secret=" REDACTED ",b=1"},
                {"a --conf db.password='two words' c", "a --conf db.password='" REDACTED "' c"},
                {"token=\"x", "token=\"" REDACTED},
                {"secret=", "secret="},
                {"=x a==b", "=x a==b"},
                {"access.key=1 access.key=2\n", "access.key=" REDACTED " access.key=" REDACTED "\n"},
                {"", ""},
        };
        struct redactor r;
        redactor_init_lenient(&r, NULL);
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                _cleanup_(buf_deinit) struct buf out = BUF_INIT;
                log_redact_line(&r, rows[i][0], strlen(rows[i][0]), &out);
                assert_string_equal(buf_text(&out), rows[i][1]);
        }
        redactor_deinit(&r);
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(values_of_secret_keys_are_hidden)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
