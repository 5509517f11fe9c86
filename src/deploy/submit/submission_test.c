/*
 * Restates the part of Spark's SparkSubmitSuite that is about preparing a submission: each case is a command line and
 * what it comes to. Expected values were asked of Spark 4.3 (3.5 and 2.4 where the case says so).
 */
#include "deploy/submit/submission.h"

#include "base/buf.h"
#include "base/error.h"
#include "deploy/submit/arguments.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

struct expected {
        const char *line;  /* words between blanks; '' is an empty word */
        const char *error; /* then nothing else is asked */
        const char *main_class;
        const char *arguments; /* one blank between them; NULL: none */
        const char *classpath; /* likewise */
        const char *conf;      /* key=value; a key alone must not be there */
};

static const char *no_environment(const char *name)
{
        return strcmp(name, "HADOOP_CONF_DIR") == 0 ? "/nonexistent" : NULL;
}

static int split(char *line, char **words)
{
        int n = 0;
        for (char *word, *rest = line; (word = strsep(&rest, " "));)
                words[n++] = strcmp(word, "''") == 0 ? word + 2 : word;
        return n;
}

static int understand(struct submit_arguments *a, const char *line, struct submission *s, struct fst_error *error)
{
        _cleanup_free_ char *copy = mem_strdup(line);
        char *words[60];
        int n = split(copy, words);
        submit_arguments_init(a);
        int r = submit_arguments_parse(a, n, words, error);
        if (r == 0)
                r = submit_arguments_complete(a, NULL, no_environment, error);
        if (r == 0)
                r = submit_arguments_validate(a, no_environment, error);
        return r < 0 ? r : submission_prepare(a, s, error);
}

static char *join(char *const *words, size_t n)
{
        struct buf out = BUF_INIT;
        for (size_t i = 0; i < n; i++)
                buf_printf(&out, "%s%s", i ? " " : "", !words[i] ? "null" : words[i][0] ? words[i] : "''");
        return buf_steal(&out);
}

static void check_conf(const struct expected *e, const struct strmap *conf)
{
        _cleanup_free_ char *copy = mem_strdup(e->conf ? e->conf : "");
        char *words[40];
        int n = e->conf ? split(copy, words) : 0;
        for (int i = 0; i < n; i++) {
                char *equals = strchr(words[i], '=');
                if (equals)
                        *equals = 0;
                const char *value = strmap_get(conf, words[i]);
                if (equals && (!value || strcmp(value, equals + 1) != 0))
                        fail_msg("%s: %s is %s and not %s", e->line, words[i], value, equals + 1);
                if (!equals && value)
                        fail_msg("%s: %s is %s and should not be there", e->line, words[i], value);
        }
}

static void check(const struct expected *e)
{
        struct submit_arguments a;
        struct submission s = SUBMISSION_INIT;
        struct fst_error error = FST_ERROR_INIT;
        int r = understand(&a, e->line, &s, &error);
        if (e->error && r == 0)
                fail_msg("%s: was taken", e->line);
        if (!e->error && r < 0)
                fail_msg("%s: %s", e->line, error.message);
        if (e->error) {
                assert_string_equal(error.message, e->error);
        } else {
                _cleanup_free_ char *arguments = join(s.arguments.data, s.arguments.len);
                _cleanup_free_ char *classpath = join(s.classpath.data, s.classpath.len);
                assert_string_equal(s.main_class, e->main_class);
                assert_string_equal(arguments, e->arguments ? e->arguments : "");
                assert_string_equal(classpath, e->classpath ? e->classpath : "");
                check_conf(e, &s.conf);
        }
        error_deinit(&error);
        submission_deinit(&s);
        submit_arguments_deinit(&a);
}

static void check_all(const struct expected *cases, size_t n)
{
        for (size_t i = 0; i < n; i++)
                check(&cases[i]);
}

/* clang-format off */
static void masters_and_modes(void **state)
{
        static const struct expected cases[] = {
                {.line = "--master nope --class C /n/a.jar",
                 .error = "Master must either be yarn or start with spark, k8s, or local"},
                {.line = "--master mesos://h --class C /n/a.jar",
                 .error = "Master must either be yarn or start with spark, k8s, or local"},
                {.line = "--master k8s:h --class C /n/a.jar",
                 .error = "Master must either be yarn or start with spark, k8s, or local"},
                {.line = "--master yarn-client --class C /n/a.jar",
                 .error = "Master must either be yarn or start with spark, k8s, or local"},
                {.line = "--conf spark.submit.deployMode=foo --class C /n/a.jar",
                 .error = "Deploy mode must be either client or cluster"},
                {.line = "--master k8s://ftp://h:1 --class C /n/a.jar",
                 .error = "Invalid Kubernetes master scheme: ftp found in URL: ftp://h:1"},
                {.line = "--master k8s://://x --class C /n/a.jar", .error = "Expected scheme name at index 0: ://x"},
                {.line = "--master spark://h --deploy-mode cluster /n/x.py",
                 .error = "Cluster deploy mode is currently not supported for python applications on standalone "
                          "clusters."},
                {.line = "--master spark://h --deploy-mode cluster /n/x.R",
                 .error = "Cluster deploy mode is currently not supported for R applications on standalone clusters."},
                {.line = "--master local --deploy-mode cluster --class C /n/a.jar",
                 .error = "Cluster deploy mode is not compatible with master \"local\""},
                {.line = "--master yarn --deploy-mode cluster spark-shell",
                 .error = "Cluster deploy mode is not applicable to Spark shells."},
                {.line = "--master yarn --deploy-mode cluster pyspark-shell",
                 .error = "Cluster deploy mode is not applicable to Spark shells."},
                {.line = "--master yarn --deploy-mode cluster --class "
                         "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver spark-internal",
                 .error = "Cluster deploy mode is not applicable to Spark SQL shell."},
                {.line = "--master yarn --deploy-mode cluster --class "
                         "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2 spark-internal",
                 .error = "Cluster deploy mode is not applicable to Spark Thrift server."},
                {.line = "--master k8s://h --deploy-mode cluster --class "
                         "org.apache.spark.sql.connect.service.SparkConnectServer spark-internal",
                 .error = "Launching Spark Connect server in cluster deploy mode is supported only for YARN"},
                {.line = "--conf spark.firesteel.compat=1.6 --class C /n/a.jar",
                 .error = "spark.firesteel.compat is '1.6', but may be 2.4, 3.5 or 4.3"},
                {.line = "--conf spark.master.rest.enabled=maybe --class C /n/a.jar",
                 .error = "For input string: \"maybe\""},
        };
        check_all(cases, ARRAY_SIZE(cases));
}

static void kubernetes_urls(void **state)
{
        static const struct expected cases[] = {
                {.line = "--master k8s://h:1 --class C /n/a.jar", .main_class = "C", .classpath = "file:/n/a.jar",
                 .conf = "spark.master=k8s://https://h:1"},
                {.line = "--master k8s://https://h:1 --class C /n/a.jar", .main_class = "C",
                 .classpath = "file:/n/a.jar", .conf = "spark.master=k8s://https://h:1"},
                {.line = "--master k8s://http://h:1 --class C /n/a.jar", .main_class = "C",
                 .classpath = "file:/n/a.jar", .conf = "spark.master=k8s://http://h:1"},
                {.line = "--master k8s://HTTP://h:1 --class C /n/a.jar", .main_class = "C",
                 .classpath = "file:/n/a.jar", .conf = "spark.master=k8s://HTTP://h:1"},
                {.line = "--master k8s://[fe80::1]:6443 --class C /n/a.jar", .main_class = "C",
                 .classpath = "file:/n/a.jar", .conf = "spark.master=k8s://https://[fe80::1]:6443"},
        };
        check_all(cases, ARRAY_SIZE(cases));
}

static void client_mode(void **state)
{
        static const struct expected cases[] = {
                {.line = "--master local --class C --jars /n/1.jar,/n/2.jar /n/a.jar x --master y",
                 .main_class = "C", .arguments = "x --master y",
                 .classpath = "file:/n/a.jar file:/n/1.jar file:/n/2.jar",
                 .conf = "spark.master=local spark.submit.deployMode=client spark.app.name=C "
                         "spark.jars=file:/n/1.jar,file:/n/2.jar,file:/n/a.jar spark.submit.pyFiles= "
                         "spark.repl.local.jars=file:/n/1.jar,file:/n/2.jar spark.driver.supervise"},
                {.line = "--class C spark-internal", .main_class = "C", .conf = "spark.jars= spark.master=local[*]"},
                {.line = "--master local --class C --driver-memory 2g --driver-cores 2 --total-executor-cores 3 "
                         "--executor-cores 2 --num-executors 4 --executor-memory 1g --queue q /n/a.jar",
                 .main_class = "C", .classpath = "file:/n/a.jar",
                 .conf = "spark.driver.memory=2g spark.driver.cores spark.cores.max spark.executor.cores "
                         "spark.executor.instances spark.executor.memory spark.yarn.queue"},
                {.line = "--master yarn --class C --executor-memory 5g --executor-cores 5 --queue thequeue "
                         "--jars /n/1.jar --files /n/f --archives /n/z#y --num-executors 6 --name beauty "
                         "--conf spark.ui.enabled=false /n/a.jar a1 a2",
                 .main_class = "C", .arguments = "a1 a2", .classpath = "file:/n/a.jar file:/n/1.jar",
                 .conf = "spark.app.name=beauty spark.executor.memory=5g spark.executor.cores=5 "
                         "spark.yarn.queue=thequeue spark.executor.instances=6 spark.yarn.dist.jars=file:/n/1.jar "
                         "spark.yarn.dist.files=file:/n/f spark.yarn.dist.archives=file:/n/z#y "
                         "spark.jars=file:/n/a.jar spark.ui.enabled=false"},
                {.line = "--master spark://h:1 --class C --total-executor-cores 5 --executor-memory 5g "
                         "--driver-memory 4g --supervise /n/a.jar a1",
                 .main_class = "C", .arguments = "a1", .classpath = "file:/n/a.jar",
                 .conf = "spark.cores.max=5 spark.executor.memory=5g spark.driver.memory=4g spark.driver.supervise"},
                {.line = "--remote sc://h --class C /n/a.jar", .main_class = "C", .classpath = "file:/n/a.jar",
                 .conf = "spark.remote=sc://h spark.master"},
                {.line = "--class org.apache.spark.repl.Main spark-shell", .main_class = "org.apache.spark.repl.Main",
                 .conf = "spark.ui.showConsoleProgress=true spark.jars="},
                {.line = "--class org.apache.spark.repl.Main --conf spark.ui.showConsoleProgress=false spark-shell",
                 .main_class = "org.apache.spark.repl.Main", .conf = "spark.ui.showConsoleProgress=false"},
                {.line = "--verbose --class org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver spark-internal",
                 .main_class = "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver", .arguments = "--verbose"},
        };
        check_all(cases, ARRAY_SIZE(cases));
}

static void cluster_mode(void **state)
{
        static const struct expected cases[] = {
                {.line = "--master yarn --deploy-mode cluster --class C --driver-memory 4g --driver-cores 2 "
                         "--jars /n/1.jar --proxy-user u --conf spark.driver.host=h /n/a.jar a1 a2",
                 .main_class = "org.apache.spark.deploy.yarn.YarnClusterApplication",
                 .arguments = "--jar file:/n/a.jar --class C --arg a1 --arg a2",
                 .conf = "spark.driver.memory=4g spark.driver.cores=2 spark.driver.host spark.jars "
                         "spark.yarn.dist.jars=file:/n/1.jar spark.master=yarn"},
                {.line = "--master yarn --deploy-mode cluster --class C --jars /n/1.jar /n/a.jar",
                 .main_class = "org.apache.spark.deploy.yarn.YarnClusterApplication",
                 .arguments = "--jar file:/n/a.jar --class C", .classpath = "file:/n/a.jar file:/n/1.jar"},
                {.line = "--master yarn --deploy-mode cluster --proxy-user u --jars /n/1.jar --class C --conf "
                         "spark.submit.proxyUser.allowCustomClasspathInClusterMode=true /n/a.jar",
                 .main_class = "org.apache.spark.deploy.yarn.YarnClusterApplication",
                 .arguments = "--jar file:/n/a.jar --class C", .classpath = "file:/n/a.jar file:/n/1.jar"},
                {.line = "--master yarn --deploy-mode cluster --py-files /n/l.zip /n/x.py a",
                 .main_class = "org.apache.spark.deploy.yarn.YarnClusterApplication",
                 .arguments = "--primary-py-file file:/n/x.py --class org.apache.spark.deploy.PythonRunner --arg a",
                 .conf = "spark.yarn.isPython=true spark.yarn.dist.pyFiles=file:/n/l.zip "
                         "spark.submit.pyFiles=file:/n/l.zip spark.files"},
                {.line = "--master spark://h:1 --deploy-mode cluster --supervise --driver-memory 4g --driver-cores 5 "
                         "--class C /n/a.jar a1",
                 .main_class = "org.apache.spark.deploy.ClientApp",
                 .arguments = "--supervise --memory 4g --cores 5 launch spark://h:1 file:/n/a.jar C a1",
                 .conf = "spark.driver.supervise=true spark.driver.memory=4g spark.jars=file:/n/a.jar"},
                {.line = "--master spark://h:1 --deploy-mode cluster --conf spark.master.rest.enabled=true "
                         "--packages a:b:1 --repositories http://r --exclude-packages x:y --class C /n/a.jar a1",
                 .main_class = "org.apache.spark.deploy.rest.RestSubmissionClientApp", .arguments = "file:/n/a.jar C a1",
                 .conf = "spark.driver.supervise=false spark.jars.packages=a:b:1 spark.jars.repositories=http://r "
                         "spark.jars.excludes=x:y"},
                {.line = "--master k8s://h --deploy-mode cluster --class C --proxy-user u --num-executors 3 "
                         "--total-executor-cores 9 /n/a.jar a1",
                 .main_class = "org.apache.spark.deploy.k8s.submit.KubernetesClientApplication",
                 .arguments = "--primary-java-resource file:/n/a.jar --main-class C --arg a1 --proxy-user u",
                 .conf = "spark.executor.instances=3 spark.cores.max spark.jars=file:/n/a.jar"},
                {.line = "--master k8s://h --deploy-mode cluster --class C spark-internal",
                 .main_class = "org.apache.spark.deploy.k8s.submit.KubernetesClientApplication",
                 .arguments = "--main-class C"},
                {.line = "--master k8s://h --deploy-mode cluster /n/x.py a",
                 .main_class = "org.apache.spark.deploy.k8s.submit.KubernetesClientApplication",
                 .arguments = "--primary-py-file file:/n/x.py --main-class org.apache.spark.deploy.PythonRunner "
                              "--arg a"},
                {.line = "--master k8s://h --deploy-mode cluster /n/x.R a",
                 .main_class = "org.apache.spark.deploy.k8s.submit.KubernetesClientApplication",
                 .arguments = "--primary-r-file file:/n/x.R --main-class org.apache.spark.deploy.RRunner --arg a"},
                {.line = "--master yarn --deploy-mode cluster --class "
                         "org.apache.spark.sql.connect.service.SparkConnectServer spark-internal",
                 .main_class = "org.apache.spark.deploy.yarn.YarnClusterApplication",
                 .arguments = "--class org.apache.spark.sql.connect.service.SparkConnectServer"},
        };
        check_all(cases, ARRAY_SIZE(cases));
}
/* clang-format on */

static void both_forms_are_printed(void **state)
{
        struct submit_arguments a;
        struct submission s = SUBMISSION_INIT;
        assert_int_equal(understand(&a,
                                    "--master local --class C --conf spark.app.submitTime=1 --conf spark.my.password=x "
                                    "/n/a.jar say \"hi\"",
                                    &s, NULL),
                         0);
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        submission_print(&s, out);
        fclose(out);
        assert_string_equal(text, "Main class:\nC\nArguments:\nsay\n\"hi\"\nSpark config:\n(spark.app.name,C)\n"
                                  "(spark.app.submitTime,1)\n(spark.jars,file:/n/a.jar)\n(spark.master,local)\n"
                                  "(spark.my.password,*********(redacted))\n(spark.submit.deployMode,client)\n"
                                  "(spark.submit.pyFiles,)\nClasspath elements:\nfile:/n/a.jar\n\n\n");
        free(text);
        _cleanup_free_ char *json = submission_json(&s);
        assert_string_equal(json, "{\"mainClass\":\"C\",\"arguments\":[\"say\",\"\\\"hi\\\"\"],\"conf\":{"
                                  "\"spark.app.submitTime\":\"1\",\"spark.my.password\":\"x\",\"spark.master\":"
                                  "\"local\",\"spark.submit.deployMode\":\"client\",\"spark.app.name\":\"C\","
                                  "\"spark.jars\":\"file:/n/a.jar\",\"spark.submit.pyFiles\":\"\"},\"classpath\":["
                                  "\"file:/n/a.jar\"]}");
        _cleanup_free_ char *broken = submission_json_error("a \"b\"\n");
        assert_string_equal(broken, "{\"error\":\"a \\\"b\\\"\\n\"}");
        submission_deinit(&s);
        submit_arguments_deinit(&a);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(masters_and_modes), cmocka_unit_test(kubernetes_urls),
                cmocka_unit_test(client_mode),       cmocka_unit_test(cluster_mode),
                cmocka_unit_test(both_forms_are_printed),
        };
        unsetenv("SPARK_HOME");
        return cmocka_run_group_tests(tests, NULL, NULL);
}
