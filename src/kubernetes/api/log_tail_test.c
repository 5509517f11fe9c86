/* Keeps the end of a log that arrives in pieces. */
#include "kubernetes/api/log_tail.h"

#include "base/mem.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void keeps_last_bytes(void **state)
{
        static const struct {
                const char *label, *pieces[4], *text;
        } rows[] = {
                {"nothing", {NULL}, ""},
                {"less than the limit", {"ab", "c"}, "abc"},
                {"a piece above the limit", {"0123456789"}, "6789"},
                {"pieces that pass the limit", {"0123", "4567", "89"}, "6789"},
                {"newlines at the end", {"ab\n", "\n"}, "ab"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                CASE_LABEL("%zu of rows: label \"%s\", text \"%s\"", i, rows[i].label ? rows[i].label : "(none)",
                           rows[i].text ? rows[i].text : "(none)");
                struct log_tail tail = {.max_bytes = 4};
                for (size_t k = 0; k < ARRAY_SIZE(rows[i].pieces) && rows[i].pieces[k]; k++)
                        log_tail_append(&tail, rows[i].pieces[k], strlen(rows[i].pieces[k]));
                if (strcmp(log_tail_text(&tail), rows[i].text) != 0)
                        fail_msg("%s: '%s'", rows[i].label, log_tail_text(&tail));
                log_tail_deinit(&tail);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(keeps_last_bytes)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
