/* Precedence of daemon configuration: keys already set, the daemon's own options, the options of all daemons, the
 * file.
 */
#include "standalone/wire/daemon_conf.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/fs.h"
#include "conf/conf.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <stdio.h>

static int make_folder(void **state)
{
        (void)state;
        return temp_dir_make(NULL) == 0 ? setenv("SPARK_CONF_DIR", temp_dir, 1) : -1;
}

static int remove_folder(void **state)
{
        (void)state;
        temp_dir_remove(NULL);
        return 0;
}

static void write_file(const char *name, const char *text)
{
        _cleanup_free_ char *path = mem_printf("%s/%s", temp_dir, name);
        FILE *f = fopen(path, "we");
        assert_non_null(f);
        fputs(text, f);
        assert_int_equal(fclose(f), 0);
}

static int read_these(const char *line, const char **host, const char **operand, struct fst_error *error)
{
        static char words[256];
        char *argv[16] = {words}, *rest = words;
        int argc = 0;
        const struct daemon_option options[] = {{"--host", "-h", host}};
        snprintf(words, sizeof(words), "%s", line);
        while ((argv[argc] = strsep(&rest, " ")))
                argc++;
        return daemon_words_read(options, 1, argc, argv, operand, "master", "a,b", error);
}

static void test_words(void **state)
{
        const char *host = NULL, *master = NULL;
        struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(read_these("worker -h a m1 --host b", &host, &master, &error), 0);
        assert_string_equal(host, "b");
        assert_string_equal(master, "m1");
        assert_int_equal(read_these("worker m --host b --help --no", &host, NULL, &error), DAEMON_WORDS_E_USAGE);
        assert_string_equal(error_message(&error), "Unrecognized option: m");
        master = NULL;
        assert_int_equal(read_these("worker m -h b --help --no", &host, &master, &error), DAEMON_WORDS_E_HELP);
        master = NULL;
        assert_int_equal(read_these("worker m --host", &host, &master, &error), DAEMON_WORDS_E_USAGE);
        assert_string_equal(error_message(&error), "--host needs a value");
        master = NULL;
        assert_int_equal(read_these("worker m -x", &host, &master, &error), DAEMON_WORDS_E_USAGE);
        assert_string_equal(error_message(&error), "Unrecognized option: -x");
        master = NULL;
        assert_int_equal(read_these("worker m n", &host, &master, &error), DAEMON_WORDS_E_USAGE);
        assert_string_equal(error_message(&error), "more than one master, m and n: write a,b");
        error_deinit(&error);
}

static void test_order(void **state)
{
        (void)state;
        struct fst_error error = FST_ERROR_INIT;
        _cleanup_(conf_deinit) struct fst_conf conf;
        conf_init(&conf);
        conf_set(&conf, "spark.a", "given");
        setenv("SPARK_DAEMON_JAVA_OPTS", "-Xmx1g -Dspark.a=1 -Dspark.b=1 -Dspark.c=1 -Dother=1", 1);
        setenv("SPARK_WORKER_OPTS", "-Dspark.b='two words' -Dspark.noValue", 1);
        write_file("spark-defaults.conf", "spark.a 2\nspark.b 2\nspark.c 2\nspark.d 2\nother.e 2\n");
        assert_int_equal(daemon_conf_load(&conf, "SPARK_WORKER_OPTS", NULL, &error), 0);
        assert_string_equal(conf_get_raw(&conf, "spark.a"), "given");
        assert_string_equal(conf_get_raw(&conf, "spark.b"), "two words");
        assert_string_equal(conf_get_raw(&conf, "spark.c"), "1");
        assert_string_equal(conf_get_raw(&conf, "spark.d"), "2");
        assert_false(conf_contains(&conf, "other.e"));
        assert_false(conf_contains(&conf, "other"));
}

/* A properties file given by name replaces spark-defaults.conf and must exist. */
static void test_properties_file(void **state)
{
        (void)state;
        struct fst_error error = FST_ERROR_INIT;
        _cleanup_(conf_deinit) struct fst_conf conf;
        conf_init(&conf);
        unsetenv("SPARK_DAEMON_JAVA_OPTS");
        unsetenv("SPARK_WORKER_OPTS");
        write_file("spark-defaults.conf", "spark.a 1\nspark.b 1\n");
        write_file("mine.conf", "spark.a 2\n");
        _cleanup_free_ char *mine = mem_printf("%s/mine.conf", temp_dir), *none = mem_printf("%s/none.conf", temp_dir);
        assert_int_equal(daemon_conf_load(&conf, "SPARK_WORKER_OPTS", mine, &error), 0);
        assert_string_equal(conf_get_raw(&conf, "spark.a"), "2");
        assert_false(conf_contains(&conf, "spark.b"));
        assert_true(daemon_conf_load(&conf, "SPARK_WORKER_OPTS", none, &error) < 0);
        assert_non_null(strstr(error_message(&error), "none.conf"));
        error_deinit(&error);
}

static void test_open_quote(void **state)
{
        (void)state;
        struct fst_error error = FST_ERROR_INIT;
        _cleanup_(conf_deinit) struct fst_conf conf;
        conf_init(&conf);
        setenv("SPARK_WORKER_OPTS", "-Dspark.a='1", 1);
        assert_int_equal(daemon_conf_load(&conf, "SPARK_WORKER_OPTS", NULL, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "SPARK_WORKER_OPTS"));
        error_deinit(&error);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_words),
                cmocka_unit_test(test_order),
                cmocka_unit_test(test_properties_file),
                cmocka_unit_test(test_open_quote),
        };
        return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
