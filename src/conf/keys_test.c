/* Tests the table of keys: its order, and that every default parses as the key's type. */
#include "conf/keys.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "conf/deprecated.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

static void finds_names_in_ascending_order(void **state)
{
        struct key key, found;
        char before[128] = "";
        assert_true(key_count() > 400);
        for (size_t i = 0; i < key_count(); i++) {
                key_at(i, &key);
                if (strcmp(before, key.name) >= 0)
                        fail_msg("%s must stand before %s", key.name, before);
                assert_true(strlen(key.name) < sizeof(before));
                memcpy(before, key.name, strlen(key.name) + 1);
                assert_true(key_find(key.name, &found));
                assert_ptr_equal(found.name, key.name);
        }
        assert_false(key_find("spark.no.such.key", &found));
        assert_false(key_find("", &found));
        assert_false(key_find("spark.ui.enabled ", &found));
        assert_false(key_find("zzz", &found));
}

static int read_as(const struct fst_conf *conf, const struct key *key, struct fst_error *error)
{
        int64_t number;
        double fraction;
        bool yes;
        switch (key->type) {
        case KEY_BOOL:
                return conf_get_bool(conf, key->name, &yes, error);
        case KEY_INT:
        case KEY_LONG:
                return conf_get_int(conf, key->name, &number, error);
        case KEY_DOUBLE:
                return conf_get_double(conf, key->name, &fraction, error);
        case KEY_BYTES:
                return conf_get_bytes(conf, key->name, &number, error);
        case KEY_TIME:
                return conf_get_ms(conf, key->name, &number, error);
        default:
                return 0;
        }
}

static void parses_every_default(void **state)
{
        struct fst_conf conf;
        conf_init(&conf);
        for (size_t i = 0; i < key_count(); i++) {
                struct key key, other;
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                key_at(i, &key);
                assert_true(*key.doc);
                assert_true(*key.since);
                assert_true(*key_type_name(key.type));
                assert_true((key.unit != UNIT_NONE) == (key.type == KEY_BYTES || key.type == KEY_TIME));
                assert_true(!key.value || !key.same_as);
                if (key.same_as && (!key_find(key.same_as, &other) || other.type != key.type))
                        fail_msg("%s follows %s", key.name, key.same_as);
                for (int depth = 0; key.same_as && key_find(key.same_as, &key); depth++)
                        assert_true(depth < 8); /* not circular */
                key_at(i, &key);
                if (conf_get_value(&conf, key.name) && read_as(&conf, &key, &error) < 0)
                        fail_msg("%s", error_message(&error));
        }
        conf_deinit(&conf);
}

static void older_spellings_are_deprecated(void **state)
{
        for (size_t i = 0; i < key_count(); i++) {
                struct key key, row;
                struct deprecated found;
                char old[128];
                key_at(i, &key);
                for (const char *p = key.old; *p;) {
                        size_t n = strcspn(p, " ");
                        assert_true(n > 0);
                        assert_true(n < sizeof(old));
                        memcpy(old, p, n);
                        old[n] = '\0';
                        p += n + (p[n] == ' ');
                        assert_false(key_find(old, &row));
                        if (deprecated_find(old, &found) && (!found.instead || strcmp(found.instead, key.name) != 0))
                                fail_msg("%s should point to %s", old, key.name);
                }
        }
}

static void only_keys_without_effect_have_reasons(void **state)
{
        struct key key;
        for (size_t i = 0; i < key_count(); i++) {
                key_at(i, &key);
                if ((key.status == KEY_NOT_IMPLEMENTED) != (*key.reason != '\0'))
                        fail_msg("%s has the status %d and the reason \"%s\"", key.name, key.status, key.reason);
                if (strchr(key.reason, '\n'))
                        fail_msg("%s: a reason is one line", key.name);
        }
        assert_true(key_find("spark.serializer", &key));
        assert_true(key.status == KEY_JVM_ONLY);
        assert_true(key_find("spark.shuffle.push.enabled", &key));
        assert_true(key.status == KEY_NOT_IMPLEMENTED);
        assert_true(key_find("spark.local.dir", &key));
        assert_true(key.status == KEY_USED);
}

/* Runs @warn for each of @keys with stderr in a file. Returns the logged text, which the caller frees. */
static char *logged_warnings(void (*warn)(const char *key), const char *const *keys, size_t n)
{
        FILE *file = tmpfile();
        char text[4096] = "";
        fflush(stderr);
        int saved = dup(STDERR_FILENO);
        assert_true(file);
        assert_true(saved >= 0);
        assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
        for (size_t i = 0; i < n; i++)
                warn(keys[i]);
        fflush(stderr);
        dup2(saved, STDERR_FILENO);
        close(saved);
        rewind(file);
        text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
        fclose(file);
        return mem_strdup(text);
}

static size_t occurrences(const char *text, const char *what)
{
        size_t n = 0;
        for (const char *p = text; (p = strstr(p, what)); p++)
                n++;
        return n;
}

static void warns_once_for_each_key_without_effect(void **state)
{
        static const char *const keys[] = {
                "spark.serializer",     "spark.shuffle.push.enabled", "spark.shuffle.push.enabled",
                "spark.local.dir",      "spark.of.somebody.else",     "spark.shuffle.file.buffer.kb",
                "spark.python.profile",
        };
        _cleanup_free_ char *text = logged_warnings(key_warn_unused, keys, ARRAY_SIZE(keys));
        assert_non_null(strstr(text, "WARN SparkConf: spark.serializer has no effect: it configures a JVM"));
        assert_non_null(strstr(text, "spark.shuffle.push.enabled has no effect: map outputs are not pushed"));
        assert_non_null(strstr(text, "spark.shuffle.file.buffer.kb has no effect: "));
        assert_int_equal(occurrences(text, "has no effect"), 3);
        _cleanup_free_ char *again = logged_warnings(key_warn_unused, keys, ARRAY_SIZE(keys));
        assert_string_equal(again, "");
}

static void suggests_key_that_misspelled_one_means(void **state)
{
        static const struct {
                const char *name, *meant; /* NULL: no suggestion */
        } cases[] = {
                {"spark.executor.memmory", "spark.executor.memory"},
                {"spark.executor.mem", NULL},
                {"spark.exectuor.memory", "spark.executor.memory"},
                {"spark.executor.Memory", "spark.executor.memory"},
                {"spark.executor.memory ", "spark.executor.memory"},
                {"spark.executor.memory", NULL},
                {"spark.default.paralellism", "spark.default.parallelism"},
                {"spark.master", NULL},
                {"spark.mastr", "spark.master"},
                {"spark.mater2", NULL}, /* two edits in a short name */
                {"spark.foo.memory", NULL},
                {"spark.foo", NULL},
                {"spark.", NULL},
                {"spark", NULL},
                {"", NULL},
                {"executor.memory", NULL},
                {"spark.yarn.jar", NULL},               /* deprecated */
                {"spark.shuffle.file.buffer.kb", NULL}, /* an older spelling */
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                const char *found = key_suggestion(cases[i].name);
                if (!cases[i].meant != !found || (found && strcmp(found, cases[i].meant) != 0))
                        fail_msg("%s suggests %s", cases[i].name, found ? found : "nothing");
        }
}

static void warns_once_for_each_misspelled_key(void **state)
{
        static const char *const keys[] = {"spark.executor.memmory", "spark.executor.memmory", "spark.foo.memory",
                                           "spark.executr.memory"};
        _cleanup_free_ char *text = logged_warnings(key_warn_misspelled, keys, ARRAY_SIZE(keys));
        assert_non_null(strstr(text, "WARN SparkConf: spark.executor.memmory is not a known key. "
                                     "Did you mean spark.executor.memory?"));
        assert_int_equal(occurrences(text, "Did you mean"), 2);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(finds_names_in_ascending_order),
                cmocka_unit_test(parses_every_default),
                cmocka_unit_test(older_spellings_are_deprecated),
                cmocka_unit_test(only_keys_without_effect_have_reasons),
                cmocka_unit_test(warns_once_for_each_key_without_effect),
                cmocka_unit_test(suggests_key_that_misspelled_one_means),
                cmocka_unit_test(warns_once_for_each_misspelled_key),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
