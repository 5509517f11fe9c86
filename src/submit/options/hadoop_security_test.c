/* The principal of a credential cache, and short names. */
#include "submit/options/hadoop_security.h"

#include "base/mem.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* Written by kinit of MIT Kerberos for alice/admin@EXAMPLE.ORG, up to the first credential. */
static const unsigned char cache[] = {5,   4,   0,   12,  0,   1,   0,   8,   0,   0,   0,   0,  0,  0,   0,
                                      0,   0,   0,   0,   1,   0,   0,   0,   2,   0,   0,   0,  11, 'E', 'X',
                                      'A', 'M', 'P', 'L', 'E', '.', 'O', 'R', 'G', 0,   0,   0,  5,  'a', 'l',
                                      'i', 'c', 'e', 0,   0,   0,   5,   'a', 'd', 'm', 'i', 'n'};

static void reads_principal_of_credential_cache(void **state)
{
        _cleanup_free_ char *principal = kerberos_cache_principal(cache, sizeof(cache));
        assert_string_equal(principal, "alice/admin@EXAMPLE.ORG");
        for (unsigned long n = 0; n < sizeof(cache); n++)
                assert_null(kerberos_cache_principal(cache, n));
        unsigned char other[sizeof(cache)];
        memcpy(other, cache, sizeof(cache));
        other[1] = 2; /* an older format */
        assert_null(kerberos_cache_principal(other, sizeof(other)));
        memcpy(other, cache, sizeof(cache));
        other[20] = 0xff; /* fewer components than announced */
        assert_null(kerberos_cache_principal(other, sizeof(other)));
        memcpy(other, cache, sizeof(cache));
        other[45] = 0; /* a NUL in a name */
        assert_null(kerberos_cache_principal(other, sizeof(other)));
}

static void short_names(void **state)
{
        static const struct {
                const char *principal, *name;
        } cases[] = {{"alice", "alice"}, {"alice@R", "alice"}, {"hdfs/host@R", "hdfs"}, {"", ""}};
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%zu of cases: principal \"%s\", name \"%s\"", i,
                           cases[i].principal ? cases[i].principal : "(none)",
                           cases[i].name ? cases[i].name : "(none)");
                _cleanup_free_ char *name = kerberos_short_name(cases[i].principal);
                assert_string_equal(name, cases[i].name);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reads_principal_of_credential_cache),
                cmocka_unit_test(short_names),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
