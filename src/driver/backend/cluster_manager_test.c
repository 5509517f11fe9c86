#include "driver/backend/cluster_manager.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/master_url.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static void finds_the_manager_of_each_version(void **state)
{
        static const struct {
                const char *master;
                const char *names[3]; /* with the rules of 2.4, 3.5 and 4.3; NULL: refused */
        } cases[] = {
                {"local", {"local", "local", "local"}},
                {"local[*,3]", {"local", "local", "local"}},
                {"local-cluster[2,1,1024]", {"local-cluster", "local-cluster", "local-cluster"}},
                {"spark://h:7077", {"standalone", "standalone", "standalone"}},
                {"spark", {"standalone", "standalone", "standalone"}},
                {"k8s://https://h:6443", {"kubernetes", "kubernetes", "kubernetes"}},
                {"k8s", {"kubernetes", "kubernetes", NULL}},
                {"mesos://h:5050", {"mesos", "mesos", NULL}},
                {"yarn", {"yarn", "yarn", "yarn"}},
                {"yarn-cluster", {"yarn", NULL, NULL}},
                {"yarn-client", {"yarn", NULL, NULL}},
                {"yarn-foo", {NULL, NULL, NULL}},
                {"http://h:1", {NULL, NULL, NULL}},
                {"", {NULL, NULL, NULL}},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%zu of cases: master \"%s\"", i, cases[i].master ? cases[i].master : "(none)");
                for (enum submit_compat v = COMPAT_2_4; v <= COMPAT_4_3; v++) {
                        const struct cluster_manager_class *c = NULL;
                        struct fst_error error = FST_ERROR_INIT;
                        int r = cluster_manager_find(cases[i].master, v, &c, &error);
                        const char *want = cases[i].names[v], *have = r == 0 ? c->name : NULL;
                        if ((want == NULL) != (have == NULL) || (want && strcmp(want, have) != 0))
                                fail_msg("'%s', version %d: %s, not %s", cases[i].master, v, have ? have : "refused",
                                         want ? want : "refused");
                        error_deinit(&error);
                }
        }
}

static void names_the_managers_of_each_version(void **state)
{
        static const char *const sentences[] = {
                [COMPAT_2_4] = "Master must either be yarn or start with spark, mesos, k8s, or local",
                [COMPAT_3_5] = "Master must either be yarn or start with spark, mesos, k8s, or local",
                [COMPAT_4_3] = "Master must either be yarn or start with spark, k8s, or local",
        };
        for (enum submit_compat v = COMPAT_2_4; v <= COMPAT_4_3; v++) {
                const struct cluster_manager_class *c = NULL;
                struct fst_error error = FST_ERROR_INIT;
                assert_int_equal(cluster_manager_find("foo", v, &c, &error), -EINVAL);
                assert_string_equal(error.message, sentences[v]);
                error_deinit(&error);
        }
}

static void parses_master_urls_of_drivers(void **state)
{
        static const struct {
                const char *master;
                enum submit_compat compat;
                int status;
                const char *text; /* the class, or a part of the error */
        } cases[] = {
                {"local[4]", COMPAT_4_3, 0, "local"},
                {"local-cluster[2,1,512]", COMPAT_4_3, 0, "local-cluster"},
                {"spark://h:1", COMPAT_4_3, 0, "standalone"},
                {"k8s://https://h:1", COMPAT_4_3, 0, "kubernetes"},
                {"yarn", COMPAT_4_3, 0, "yarn"},
                {"mesos://h:1", COMPAT_3_5, 0, "mesos"},
                {"mesos://h:1", COMPAT_4_3, 0, "mesos"},
                {"mesos://", COMPAT_4_3, -EINVAL, "Could not parse Master URL: 'mesos://' (as in mesos://host:port"},
                {"foo", COMPAT_4_3, -EINVAL, "master 'foo': Master must either be yarn"},
                {"localhost", COMPAT_4_3, -EINVAL, "Could not parse Master URL: 'localhost'"},
                {"local[0]", COMPAT_4_3, -EINVAL, "at least 1 is needed"},
                {"spark:127.0.0.1", COMPAT_4_3, -EINVAL,
                 "Could not parse Master URL: 'spark:127.0.0.1' (as in spark://"},
                {"spark://", COMPAT_4_3, -EINVAL, "Could not parse Master URL: 'spark://'"},
                {"k8s://", COMPAT_4_3, -EINVAL, "Could not parse Master URL: 'k8s://' (as in k8s://https://"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%zu of cases: master \"%s\", compat %d, status %d, text \"%s\"", i,
                           cases[i].master ? cases[i].master : "(none)", cases[i].compat, cases[i].status,
                           cases[i].text ? cases[i].text : "(none)");
                const struct cluster_manager_class *c = NULL;
                struct master_url url = {.threads = 77};
                struct fst_error error = FST_ERROR_INIT;
                int r = cluster_manager_read(cases[i].master, cases[i].compat, 4, &c, &url, &error);
                const char *have = r == 0 ? c->name : error_message(&error);
                if (r != cases[i].status || !strstr(have, cases[i].text) || (r < 0 && (c || url.threads != 77)))
                        fail_msg("'%s': %d, %s", cases[i].master, r, have);
                error_deinit(&error);
        }
}

static void finds_manager_for_kill_request(void **state)
{
        static const struct {
                const char *master, *name; /* NULL: refused */
        } cases[] = {
                {"spark://h:6066", "standalone"},
                {"mesos://h:1", "mesos"},
                {"k8s://h", "kubernetes"},
                {"spark:h", NULL},
                {"k8s", NULL},
                {"yarn", "yarn"},
                {"local", NULL},
                {"foo", NULL},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%zu of cases: master \"%s\", name \"%s\"", i, cases[i].master ? cases[i].master : "(none)",
                           cases[i].name ? cases[i].name : "(none)");
                struct fst_error error = FST_ERROR_INIT;
                const struct cluster_manager_class *c = cluster_manager_for_request(cases[i].master, &error);
                const char *have = c ? c->name : NULL;
                if ((have == NULL) != (cases[i].name == NULL) || (have && strcmp(have, cases[i].name) != 0))
                        fail_msg("'%s': %s", cases[i].master, have ? have : error_message(&error));
                error_deinit(&error);
        }
}

/* Checks each row for the slots that the contract requires. */
static void every_row_is_complete(void **state)
{
        for (const struct cluster_manager_class *const *at = cluster_managers; *at; at++) {
                const struct cluster_manager_class *c = *at;
                bool good = c->name && c->title && c->example && c->prefix && c->option_bit;
                good &= !c->scheme || strncmp(c->scheme, c->prefix, strlen(c->prefix)) == 0;
                good &= !c->in_process || !c->executor_manager_new;
                good &= !c->submit || c->prepare;
                good &= (c->kill == NULL) == (c->status == NULL);
                good &= !c->has_legacy_gateway || c->submit;
                good &= (c->submit || c->kill) == (c->submission != NULL);
                if (!good)
                        fail_msg("row %td (%s)", at - cluster_managers, c->name ? c->name : "no name");
                for (const struct cluster_manager_class *const *b = cluster_managers; b < at; b++)
                        if (strncmp(c->prefix, (*b)->prefix, strlen((*b)->prefix)) == 0)
                                fail_msg("%s hides %s", (*b)->name, c->name);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(finds_the_manager_of_each_version),
                cmocka_unit_test(names_the_managers_of_each_version),
                cmocka_unit_test(parses_master_urls_of_drivers),
                cmocka_unit_test(finds_manager_for_kill_request),
                cmocka_unit_test(every_row_is_complete),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
