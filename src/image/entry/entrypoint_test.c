/* Commands for the arguments and environments of pods. */
#include "image/entry/entrypoint.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define DRIVER                                                                                                         \
        "spark-submit --conf spark.driver.bindAddress=10.0.0.7 --conf spark.executorEnv.SPARK_DRIVER_POD_IP=10.0.0.7 " \
        "--deploy-mode client "

/* The words of the command for @words and @environment, or "error: …". */
static void expect(const char *const *words, const char *const *environment, const char *expected)
{
        _cleanup_(string_list_deinit) struct string_list out = {0};
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        struct fst_error error = FST_ERROR_INIT;
        int n = 0;
        while (words[n])
                n++;
        if (entrypoint_command(n, (char *const *)words, (char *const *)environment, &out, &error) < 0)
                buf_printf(&text, "error: %s", error_message(&error));
        else
                for (size_t i = 0; i < out.len; i++)
                        buf_printf(&text, "%s%s", i ? " " : "", out.data[i]);
        assert_string_equal(buf_text(&text), expected);
        error_deinit(&error);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void driver_submits_in_client_mode(void **state)
{
        expect(WORDS("driver", "--properties-file", "/opt/spark/conf/spark.properties", "--class", "main",
                     "local:///a.so", "7"),
               WORDS("SPARK_DRIVER_BIND_ADDRESS=10.0.0.7", "SPARK_DRIVER_CLASS=x"),
               DRIVER "--properties-file /opt/spark/conf/spark.properties --class main local:///a.so 7");
        expect(WORDS("driver", "a.so"), WORDS("PATH=/bin"),
               "error: SPARK_DRIVER_BIND_ADDRESS is not set: set it to the pod's address");
        expect(WORDS("driver"), WORDS("SPARK_DRIVER_BIND_ADDRESS=10.0.0.7"),
               "error: the driver has no application: give arguments or set SPARK_DRIVER_CLASS");
}

static void executor_reads_environment(void **state)
{
        const char *const environment[] = {"SPARK_JAVA_OPT_10=-Dspark.ten=10",
                                           "SPARK_DRIVER_URL=spark://CoarseGrainedScheduler@d:7078",
                                           "SPARK_EXECUTOR_CORES=2",
                                           "SPARK_JAVA_OPT_2=-Dspark.two=a b",
                                           "SPARK_JAVA_OPT_3=-XX:+UseG1GC",
                                           "SPARK_EXECUTOR_MEMORY=1g",
                                           "SPARK_APPLICATION_ID=spark-1",
                                           "SPARK_EXECUTOR_ID=4",
                                           "SPARK_RESOURCE_PROFILE_ID=0",
                                           "SPARK_EXECUTOR_POD_IP=10.0.0.9",
                                           NULL};
        expect(WORDS("executor"), environment,
               "firesteel executor --driver-url spark://CoarseGrainedScheduler@d:7078 --executor-id 4 --cores 2 --app-id "
               "spark-1 --hostname 10.0.0.9 --resourceProfileId 0 --conf spark.two=a b --conf spark.ten=10");
        expect(WORDS("executor"), environment + 2,
               "error: SPARK_DRIVER_URL is not set: an executor needs it in its environment");
}

static void spark_2_3_driver_reads_environment(void **state)
{
        char folder[TEMP_DIR_SIZE];
        temp_dir_new(folder);
        const char *const names[] = {"readme.txt", "b.so", "a.so"};
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                _cleanup_free_ char *path = mem_printf("%s/%s", folder, names[i]);
                FILE *f = fopen(path, "w");
                assert_non_null(f);
                fclose(f);
        }
        _cleanup_free_ char *jars = mem_printf("SPARK_MOUNTED_CLASSPATH=/nowhere/*:%s/*:/later.so", folder);
        _cleanup_free_ char *expected = mem_printf(
                DRIVER "--conf spark.app.name=pi --class main --driver-memory 1g %s/a.so 10 two words", folder);
        expect(WORDS("driver"),
               WORDS("SPARK_DRIVER_BIND_ADDRESS=10.0.0.7", "SPARK_DRIVER_CLASS=main", "SPARK_DRIVER_MEMORY=1g",
                     "SPARK_DRIVER_ARGS=10 'two words'", "SPARK_JAVA_OPT_0=-Dspark.app.name=pi", jars),
               expected);
        expect(WORDS("driver"),
               WORDS("SPARK_DRIVER_BIND_ADDRESS=10.0.0.7", "SPARK_DRIVER_CLASS=main", "SPARK_MOUNTED_CLASSPATH=/x/*"),
               "error: no application found: SPARK_MOUNTED_CLASSPATH (/x/*) must name a shared object");
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                _cleanup_free_ char *path = mem_printf("%s/%s", folder, names[i]);
                unlink(path);
        }
        assert_int_equal(rmdir(folder), 0);
}

static void runs_other_words_as_command(void **state)
{
        expect(WORDS("firesteel", "master", "--port", "7077"), WORDS("A=b"), "firesteel master --port 7077");
        assert_int_equal(entrypoint_role_of("init"), ENTRYPOINT_INIT);
        assert_int_equal(entrypoint_role_of("driver-py"), ENTRYPOINT_DRIVER);
        assert_int_equal(entrypoint_role_of("drivers"), ENTRYPOINT_COMMAND);
        struct fst_error error = FST_ERROR_INIT;
        struct string_list out = {0};
        assert_int_equal(entrypoint_command(0, NULL, (char *[]){NULL}, &out, &error), -EINVAL);
        error_deinit(&error);
}

static void init_container_downloads_listed_files(void **state)
{
        char folder[TEMP_DIR_SIZE];
        temp_dir_new(folder);
        _cleanup_free_ char *path = mem_printf("%s/init.properties", folder);
        struct fst_error error = FST_ERROR_INIT;
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fprintf(f,
                "spark.kubernetes.initContainer.remoteJars=gopher://x/a.so\n"
                "spark.kubernetes.mountDependencies.jarsDownloadDir=%s/jars\n",
                folder);
        fclose(f);
        assert_true(entrypoint_download(path, &error) < 0);
        assert_non_null(strstr(error_message(&error), "spark.kubernetes.initContainer.remoteJars"));
        error_deinit(&error);
        assert_int_equal(truncate(path, 0), 0);
        assert_int_equal(entrypoint_download(path, &error), 0);
        assert_int_equal(entrypoint_download("/nowhere", &error), -ENOENT);
        error_deinit(&error);
        _cleanup_free_ char *jars = mem_printf("%s/jars", folder);
        rmdir(jars);
        unlink(path);
        assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(driver_submits_in_client_mode),         cmocka_unit_test(executor_reads_environment),
                cmocka_unit_test(spark_2_3_driver_reads_environment),    cmocka_unit_test(runs_other_words_as_command),
                cmocka_unit_test(init_container_downloads_listed_files),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
