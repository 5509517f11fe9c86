/* Manifests, and jars with and without one. java.util.jar (JDK 17) printed the expected values. */
#include "launch/jar_manifest.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#define NO_MANIFEST                                                                                                    \
        "Cannot invoke \"java.util.jar.Manifest.getMainAttributes()\" because the return value of "                    \
        "\"java.util.jar.JarInputStream.getManifest()\" is null"

static void main_section(void **state)
{
        static const struct {
                const char *text, *value;
        } cases[] = {
                {"Main-Class: a.B\n", "a.B"},
                {"Manifest-Version: 1.0\nMain-Class: a.B\n C\n\nName: x\nMain-Class: no\n", "a.BC"},
                {"main-class:   y \n", "  y "},
                {"Main-Class: a\r\n b\r\n", "ab"},
                {"Main-Class: a\rX: b\r", "a"},
                {"Main-Class: a\nMain-Class: b\n", "b"},
                {"Main-Class: a.B", NULL}, /* the line has no end */
                {"", NULL},
                {"Other: a\n", NULL},
                {"Other: a\n\nName: x\nMain-Class: no\n", NULL},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%zu of cases: text \"%s\", value \"%s\"", i, cases[i].text ? cases[i].text : "(none)",
                           cases[i].value ? cases[i].value : "(none)");
                char *value = mem_strdup("before");
                char *kept = value;
                assert_int_equal(manifest_attribute(cases[i].text, strlen(cases[i].text), "Main-Class", &value, NULL),
                                 0);
                if (cases[i].value)
                        assert_string_equal(value, cases[i].value);
                else
                        assert_null(value);
                free(value);
                free(kept);
        }
}

static void refused(void **state)
{
        static const struct {
                const char *text, *message;
        } cases[] = {
                {"nonsense\n", "invalid header field (line 1)"},
                {"X: y\nA:b\n", "invalid header field (line 2)"},
                {"A b: c\n", "invalid header field name: A b (line 1)"},
                {": b\n", "invalid header field name:  (line 1)"},
                {" x\n", "misplaced continuation line (line 1)"},
                {"\nMain-Class: a\n", "invalid manifest format (line 2)"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%zu of cases: text \"%s\", message \"%s\"", i, cases[i].text ? cases[i].text : "(none)",
                           cases[i].message ? cases[i].message : "(none)");
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                char *value = NULL;
                assert_int_equal(manifest_attribute(cases[i].text, strlen(cases[i].text), "Main-Class", &value, &error),
                                 -EINVAL);
                assert_string_equal(error_message(&error), cases[i].message);
        }
}

static void long_lines(void **state)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        _cleanup_free_ char *value = NULL;
        buf_puts(&text, "Main-Class: ");
        while (text.len < 511)
                buf_putc(&text, 'x');
        buf_putc(&text, '\n');
        assert_int_equal(manifest_attribute(text.data, text.len, "Main-Class", &value, NULL), 0);
        assert_int_equal(strlen(value), 499);
        text.data[511] = 'x';
        buf_putc(&text, '\n');
        assert_int_equal(manifest_attribute(text.data, text.len, "Main-Class", &value, &error), -EINVAL);
        assert_string_equal(error_message(&error), "line too long (line 1)");
}

static uint32_t crc32_of(const char *data, size_t n)
{
        uint32_t crc = ~0u;
        for (size_t i = 0; i < n; i++) {
                crc ^= (unsigned char)data[i];
                for (int k = 0; k < 8; k++)
                        crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
        }
        return ~crc;
}

static void put(struct buf *out, uint32_t value, int bytes)
{
        for (int i = 0; i < bytes; i++)
                buf_putc(out, (char)(value >> 8 * i));
}

/* Writes stored entries, pairs of name and content, as a jar into a new file. */
static char *make_jar(const char *const *entries)
{
        _cleanup_(buf_deinit) struct buf jar = BUF_INIT;
        _cleanup_(buf_deinit) struct buf directory = BUF_INIT;
        char path[] = "/tmp/firesteel-jar-XXXXXX";
        int n = 0;
        for (; entries[2 * n]; n++) {
                const char *name = entries[2 * n], *data = entries[2 * n + 1];
                uint32_t at = (uint32_t)jar.len, crc = crc32_of(data, strlen(data)), size = (uint32_t)strlen(data);
                for (int central = 0; central < 2; central++) {
                        struct buf *out = central ? &directory : &jar;
                        put(out, central ? 0x02014b50 : 0x04034b50, 4);
                        put(out, 20, central ? 2 : 0);
                        put(out, 20, 2); /* version, flags, method, time, date */
                        put(out, 0, 4);
                        put(out, 0, 4);
                        put(out, crc, 4);
                        put(out, size, 4);
                        put(out, size, 4);
                        put(out, (uint32_t)strlen(name), 2);
                        put(out, 0, 2);
                        for (int i = 0; central && i < 5; i++)
                                put(out, 0, 2);
                        put(out, at, central ? 4 : 0);
                        buf_puts(out, name);
                }
                buf_puts(&jar, data);
        }
        uint32_t start = (uint32_t)jar.len;
        buf_append(&jar, directory.data, directory.len);
        put(&jar, 0x06054b50, 4);
        put(&jar, 0, 4);
        put(&jar, (uint32_t)n, 2);
        put(&jar, (uint32_t)n, 2);
        put(&jar, (uint32_t)directory.len, 4);
        put(&jar, start, 4);
        put(&jar, 0, 2);
        int fd = mkstemp(path);
        assert_true(fd >= 0);
        assert_int_equal(write(fd, jar.data, jar.len), jar.len);
        close(fd);
        return mem_strdup(path);
}

static int ask(const char *const *entries, bool streamed, char **value, struct fst_error *error)
{
        _cleanup_free_ char *path = make_jar(entries);
        int r = jar_manifest_attribute(path, "Main-Class", streamed, value, error);
        unlink(path);
        return r;
}

static void jars(void **state)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        const char *const first[] = {"META-INF/MANIFEST.MF", "Main-Class: a.B\n", NULL};
        const char *const second[] = {"META-INF/", "", "meta-inf/manifest.mf", "Main-Class: c.D\n", NULL};
        const char *const late[] = {"x", "y", "META-INF/MANIFEST.MF", "Main-Class: e.F\n", NULL};
        const char *const none[] = {"x", "y", NULL};
        char *value = NULL;
        assert_int_equal(ask(first, true, &value, &error), 0);
        assert_string_equal(value, "a.B");
        free(value);
        assert_int_equal(ask(second, true, &value, &error), 0);
        assert_string_equal(value, "c.D");
        free(value);
        assert_int_equal(ask(late, true, &value, &error), -ENODATA);
        assert_string_equal(error_message(&error), NO_MANIFEST);
        assert_int_equal(ask(late, false, &value, &error), 0);
        assert_string_equal(value, "e.F");
        free(value);
        assert_int_equal(ask(none, false, &value, &error), -ENODATA);
        assert_int_equal(jar_manifest_attribute("/nowhere/x.jar", "Main-Class", true, &value, &error), -ENOENT);
        assert_string_equal(error_message(&error), "File file:/nowhere/x.jar does not exist");
        /* A file that is not a jar has no manifest. */
        char text[] = "/tmp/firesteel-jar-XXXXXX";
        int fd = mkstemp(text);
        assert_int_equal(write(fd, "hello", 5), 5);
        close(fd);
        assert_int_equal(jar_manifest_attribute(text, "Main-Class", true, &value, &error), -ENODATA);
        unlink(text);
}

static void finds_main_class_as_spark_2_4(void **state)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        const char *const entries[] = {"x", "y", "META-INF/MANIFEST.MF", "Main-Class: e.F\n", NULL};
        _cleanup_free_ char *path = make_jar(entries);
        _cleanup_free_ char *uri = mem_printf("file:%s", path);
        _cleanup_free_ char *class = NULL;
        assert_int_equal(jar_main_class_2_4(uri, &class, &error), 0);
        assert_string_equal(class, "e.F");
        unlink(path);
        assert_int_equal(jar_main_class_2_4("file:/nowhere/x.jar", &class, &error), -ENOENT);
        assert_string_equal(error_message(&error), "Cannot load main class from JAR file:/nowhere/x.jar");
        assert_int_equal(jar_main_class_2_4("spark-shell", &class, &error), -EINVAL);
        assert_string_equal(error_message(&error), "Cannot load main class from JAR spark-shell with URI null. Please "
                                                   "specify a class through --class.");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(main_section),
                cmocka_unit_test(refused),
                cmocka_unit_test(long_lines),
                cmocka_unit_test(jars),
                cmocka_unit_test(finds_main_class_as_spark_2_4),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
