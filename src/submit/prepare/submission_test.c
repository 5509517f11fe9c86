/*
 * The cases of Spark's SparkSubmitSuite about preparing a submission: each is a command line and its result. Spark 4.3
 * (or 3.5 or 2.4 where the case says so) printed the expected values.
 */
#include "submit/prepare/submission.h"

#include "base/buf.h"
#include "base/error.h"
#include "submit/options/arguments.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

struct expected {
        const char *line;  /* words between blanks; '' is an empty word */
        const char *error; /* then the other members are unused */
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
                {.line = "--class org.apache.spark.repl.Main", .main_class = "org.apache.spark.repl.Main",
                 .conf = "spark.ui.showConsoleProgress=true spark.jars="},
                {.line = "--class org.apache.spark.repl.Main --conf spark.ui.showConsoleProgress=false",
                 .main_class = "org.apache.spark.repl.Main", .conf = "spark.ui.showConsoleProgress=false"},
                {.line = "--verbose --class org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver",
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
                         "org.apache.spark.sql.connect.service.SparkConnectServer",
                 .main_class = "org.apache.spark.deploy.yarn.YarnClusterApplication",
                 .arguments = "--class org.apache.spark.sql.connect.service.SparkConnectServer"},
        };
        check_all(cases, ARRAY_SIZE(cases));
}
static void python_and_r(void **state)
{
        static const struct expected cases[] = {
                {.line = "--master local --py-files /n/l.zip,/n/m.py /n/x.py a b",
                 .main_class = "org.apache.spark.deploy.PythonRunner",
                 .arguments = "file:/n/x.py file:/n/l.zip,file:/n/m.py a b",
                 .conf = "spark.files=file:/n/l.zip,file:/n/m.py spark.submit.pyFiles=/n/l.zip,/n/m.py spark.jars "
                         "spark.app.name=x.py"},
                {.line = "--master local /n/x.py", .main_class = "org.apache.spark.deploy.PythonRunner",
                 .arguments = "file:/n/x.py null", .conf = "spark.submit.pyFiles= spark.files"},
                {.line = "--master yarn --py-files /n/l.zip --conf spark.yarn.dist.pyFiles=/n/o.zip /n/x.py",
                 .main_class = "org.apache.spark.deploy.PythonRunner", .arguments = "file:/n/x.py file:/n/l.zip",
                 .conf = "spark.yarn.dist.pyFiles=/n/o.zip,file:/n/l.zip spark.yarn.isPython=true spark.files "
                         "spark.submit.pyFiles=/n/l.zip"},
                {.line = "--master local pyspark-shell",
                 .main_class = "org.apache.spark.api.python.PythonGatewayServer",
                 .conf = "spark.ui.showConsoleProgress=true spark.app.name=pyspark-shell spark.jars"},
                {.line = "--master local --py-files /n/m.py --class C /n/a.jar", .main_class = "C",
                 .classpath = "file:/n/a.jar", .conf = "spark.files=file:/n/m.py spark.submit.pyFiles=/n/m.py"},
                {.line = "--master local --conf spark.submit.pyFiles=/n/a.py,local:/n/x.py --class C /n/a.jar",
                 .main_class = "C", .classpath = "file:/n/a.jar", .conf = "spark.submit.pyFiles=/n/a.py,/n/x.py"},
                {.line = "--master k8s://h --deploy-mode cluster --conf spark.submit.pyFiles=/n/a.py,local:/x.py "
                         "--class C /n/a.jar",
                 .main_class = "org.apache.spark.deploy.k8s.submit.KubernetesClientApplication",
                 .arguments = "--primary-java-resource file:/n/a.jar --main-class C",
                 .conf = "spark.submit.pyFiles=file:/n/a.py,local:/x.py"},
                {.line = "--master local --files /n/f /n/x.R a", .main_class = "org.apache.spark.deploy.RRunner",
                 .arguments = "file:/n/x.R a", .conf = "spark.files=file:/n/f,file:/n/x.R spark.jars"},
                {.line = "--master local sparkr-shell", .main_class = "org.apache.spark.api.r.RBackend",
                 .conf = "spark.ui.showConsoleProgress=true"},
                {.line = "--master yarn /n/x.R",
                 .error = "SPARK_HOME does not exist for R application in YARN mode."},
        };
        check_all(cases, ARRAY_SIZE(cases));
}

static void lists_are_merged_and_resolved(void **state)
{
        static const struct expected cases[] = {
                {.line = "--master yarn --class C --jars /n/1.jar --conf spark.yarn.dist.jars=/o/0.jar --files /n/f "
                         "--conf spark.yarn.dist.files=/o/g,,/o/h --archives /n/z#y "
                         "--conf spark.yarn.dist.archives=/o/z /n/a.jar",
                 .main_class = "C", .classpath = "file:/n/a.jar file:/n/1.jar",
                 .conf = "spark.yarn.dist.jars=file:/o/0.jar,file:/n/1.jar "
                         "spark.yarn.dist.files=file:/o/g,file:/o/h,file:/n/f "
                         "spark.yarn.dist.archives=file:/o/z,file:/n/z#y"},
                {.line = "--master local --class C --conf spark.jars=/n/1.jar --conf spark.files=/n/f "
                         "--conf spark.archives=/n/z --conf spark.yarn.dist.jars=/n/2.jar,hdfs://n/3.jar /n/a.jar",
                 .main_class = "C", .classpath = "file:/n/a.jar file:/n/1.jar",
                 .conf = "spark.jars=file:/n/1.jar,file:/n/a.jar spark.files=file:/n/f spark.archives=file:/n/z "
                         "spark.yarn.dist.jars=file:/n/2.jar,hdfs://n/3.jar"},
                {.line = "--master local --class C --jars /n/1.jar --conf spark.jars=/n/2.jar /n/a.jar",
                 .main_class = "C", .classpath = "file:/n/a.jar file:/n/1.jar",
                 .conf = "spark.jars=file:/n/1.jar,file:/n/a.jar"},
                {.line = "--master local --class C --jars , /n/a.jar", .main_class = "C",
                 .classpath = "file:/n/a.jar ''", .conf = "spark.jars=file:/n/a.jar spark.repl.local.jars="},
        };
        check_all(cases, ARRAY_SIZE(cases));
}

static void native_applications_are_jars_with_a_main(void **state)
{
        static const struct expected cases[] = {
                {.line = "--master local /n/app.so x", .main_class = "main", .arguments = "x",
                 .classpath = "file:/n/app.so", .conf = "spark.jars=file:/n/app.so spark.app.name=app.so"},
                {.line = "--master local --class other /n/app.c", .main_class = "other",
                 .classpath = "file:/n/app.c", .conf = "spark.jars=file:/n/app.c"},
                {.line = "--master k8s://h --deploy-mode cluster /n/app.so",
                 .main_class = "org.apache.spark.deploy.k8s.submit.KubernetesClientApplication",
                 .arguments = "--primary-java-resource file:/n/app.so --main-class main",
                 .conf = "spark.jars=file:/n/app.so"},
                {.line = "--master yarn --deploy-mode cluster local:/n/app.so",
                 .main_class = "org.apache.spark.deploy.yarn.YarnClusterApplication",
                 .arguments = "--jar local:/n/app.so --class main", .classpath = "local:/n/app.so"},
                {.line = "--master spark://h:1 --deploy-mode cluster local:/n/app.c",
                 .error = "local:/n/app.c cannot be compiled here, because it names a file on the cluster's machines: compile it with "
                          "firesteel compile"},
        };
        check_all(cases, ARRAY_SIZE(cases));
}

static void keytabs(void **state)
{
        static const struct expected cases[] = {
                {.line = "--master local --principal p --keytab /n/k --class C /n/a.jar",
                 .error = "requirement failed: Keytab file: /n/k does not exist"},
                {.line = "--master local --principal p --keytab local:/n/k --class C /n/a.jar",
                 .error = "requirement failed: Keytab file: /n/k does not exist"},
                {.line = "--master local --principal p --keytab local:/dev/null --class C /n/a.jar",
                 .main_class = "C", .classpath = "file:/n/a.jar",
                 .conf = "spark.kerberos.keytab=/dev/null spark.kerberos.principal=p"},
                {.line = "--master k8s://h --deploy-mode cluster --principal p --keytab local:/n/k --class C "
                         "/n/a.jar",
                 .main_class = "org.apache.spark.deploy.k8s.submit.KubernetesClientApplication",
                 .arguments = "--primary-java-resource file:/n/a.jar --main-class C",
                 .conf = "spark.kerberos.keytab=local:/n/k"},
                {.line = "--master spark://h --principal p --keytab /n/k --class C /n/a.jar", .main_class = "C",
                 .classpath = "file:/n/a.jar", .conf = "spark.kerberos.keytab=/n/k"},
        };
        check_all(cases, ARRAY_SIZE(cases));
}

static void submit_time(void **state)
{
        static const struct expected cases[] = {
                {.line = "--class C --conf spark.app.submitTime=5 spark-internal", .main_class = "C",
                 .conf = "spark.app.submitTime=5"},
                {.line = "--master k8s://h --conf spark.kubernetes.submitInDriver=true --conf "
                         "spark.kubernetes.setSubmitTimeInDriver=false --class C --conf spark.app.submitTime=5 "
                         "spark-internal",
                 .main_class = "C", .classpath = ".", .conf = "spark.app.submitTime=5 spark.jars"},
                {.line = "--master k8s://h --conf spark.kubernetes.submitInDriver=perhaps --class C /n/a.jar",
                 .error = "Illegal value for config key spark.kubernetes.submitInDriver: For input string: "
                          "\"perhaps\""},
                {.line = "--conf spark.submit.proxyUser.allowCustomClasspathInClusterMode=x --class C /n/a.jar",
                 .error = "[INVALID_CONF_VALUE.TYPE_MISMATCH] The value 'x' in the config "
                          "\"spark.submit.proxyUser.allowCustomClasspathInClusterMode\" is invalid. It should be a/an "
                          "'boolean' value. SQLSTATE: 22022"},
        };
        check_all(cases, ARRAY_SIZE(cases));
}

#define V35 "--conf spark.firesteel.compat=3.5 "
#define V24 "--conf spark.firesteel.compat=2.4 "

static void spark_3_5(void **state)
{
        static const struct expected cases[] = {
                {.line = V35 "--master nope --class C /n/a.jar",
                 .error = "Master must either be yarn or start with spark, mesos, k8s, or local"},
                {.line = V35 "--master k8s:foo --class C /n/a.jar",
                 .error = "requirement failed: Kubernetes master URL must start with k8s://."},
                {.line = V35 "--master mesos://h --deploy-mode cluster --class C /n/a.jar",
                 .error = "assertion failed: Mesos cluster mode is only supported through the REST submission API: set "
                          "spark.master.rest.enabled=true"},
                {.line = V35 "--master mesos://h --deploy-mode cluster --conf spark.master.rest.enabled=true "
                             "--supervise --driver-cores 2 --packages a:b:c --class C --jars /n/j /n/a.jar q",
                 .main_class = "org.apache.spark.deploy.rest.RestSubmissionClientApp",
                 .arguments = "file:/n/a.jar C q",
                 .conf = "spark.driver.supervise=true spark.driver.cores=2 spark.jars.packages=a:b:c "
                         "spark.jars=file:/n/j,file:/n/a.jar"},
                {.line = V35 "--master mesos://h --deploy-mode cluster --conf spark.master.rest.enabled=true "
                             "--py-files /n/a.py /n/x.py q",
                 .main_class = "org.apache.spark.deploy.rest.RestSubmissionClientApp",
                 .arguments = "file:/n/x.py '' q", .conf = "spark.submit.pyFiles=file:/n/a.py"},
                {.line = V35 "--master mesos://h --deploy-mode cluster --conf spark.master.rest.enabled=true /n/x.R",
                 .main_class = "org.apache.spark.deploy.rest.RestSubmissionClientApp",
                 .arguments = "file:/n/x.R ''"},
                {.line = V35 "--master mesos://h --total-executor-cores 3 --executor-memory 2g --class C /n/a.jar",
                 .main_class = "C", .classpath = "file:/n/a.jar",
                 .conf = "spark.cores.max=3 spark.executor.memory=2g"},
                {.line = V35 "--master yarn --deploy-mode cluster --class "
                             "org.apache.spark.sql.connect.service.SparkConnectServer",
                 .error = "Cluster deploy mode is not applicable to Spark Connect server."},
                {.line = V35 "--conf spark.local.connect=1 --remote local --class C /n/a.jar", .main_class = "C",
                 .classpath = "file:/n/a.jar", .conf = "spark.master=local[*] spark.remote"},
                {.line = V35 "--conf spark.submit.proxyUser.allowCustomClasspathInClusterMode=x --class C /n/a.jar",
                 .error = "spark.submit.proxyUser.allowCustomClasspathInClusterMode should be boolean, but was x"},
        };
        check_all(cases, ARRAY_SIZE(cases));
}

/* As in SparkSubmit.scala of 2.4. */
static void spark_2_4(void **state)
{
        static const struct expected cases[] = {
                {.line = V24 "--master yarn-client --class C /n/a.jar", .main_class = "C",
                 .classpath = "file:/n/a.jar", .conf = "spark.master=yarn spark.submit.deployMode=client"},
                {.line = V24 "--master yarn-cluster --class C /n/a.jar x",
                 .main_class = "org.apache.spark.deploy.yarn.YarnClusterApplication",
                 .arguments = "--jar file:/n/a.jar --class C --arg x", .classpath = "file:/n/a.jar",
                 .conf = "spark.master=yarn spark.submit.deployMode=cluster spark.app.submitTime"},
                {.line = V24 "--master yarn-cluster --deploy-mode client --class C /n/a.jar",
                 .error = "Client deploy mode is not compatible with master \"yarn-cluster\""},
                {.line = V24 "--master yarn-client --deploy-mode cluster --class C /n/a.jar",
                 .error = "Cluster deploy mode is not compatible with master \"yarn-client\""},
                {.line = V24 "--master yarn --class C --conf spark.yarn.dist.jars=/o.jar --jars /n/1.jar "
                             "--num-executors 3 --principal p --keytab /dev/null --py-files /n/m.py /n/a.jar",
                 .main_class = "C", .classpath = "file:/n/a.jar file:/n/1.jar",
                 .conf = "spark.yarn.dist.jars=file:/n/1.jar spark.executor.instances=3 spark.yarn.principal=p "
                         "spark.yarn.keytab=/dev/null spark.kerberos.principal spark.files"},
                {.line = V24 "--master k8s://h --deploy-mode cluster --num-executors 3 --py-files /n/m.py "
                             "--proxy-user u /n/x.py a",
                 .main_class = "org.apache.spark.deploy.k8s.submit.KubernetesClientApplication",
                 .arguments = "--primary-py-file file:/n/x.py --main-class org.apache.spark.deploy.PythonRunner "
                              "--other-py-files file:/n/m.py --arg a",
                 .conf = "spark.executor.instances spark.submit.pyFiles"},
                {.line = V24 "--master local --class C --archives /n/z --py-files /n/m.py /n/a.jar",
                 .main_class = "C", .classpath = "file:/n/a.jar",
                 .conf = "spark.archives spark.files spark.submit.pyFiles=/n/m.py"},
                {.line = V24 "--master mesos://h --principal p --keytab /dev/null --class C /n/a.jar", .main_class = "C",
                 .classpath = "file:/n/a.jar", .conf = "spark.yarn.principal=p spark.yarn.keytab=/dev/null"},
                {.line = V24 "--master local --principal p --keytab local:/dev/null --class C /n/a.jar",
                 .error = "requirement failed: Keytab file: local:/dev/null does not exist"},
                {.line = V24 "--master k8s://h --principal p --keytab /n/keytab --class C /n/a.jar", .main_class = "C",
                 .classpath = "file:/n/a.jar", .conf = "spark.yarn.principal spark.yarn.keytab"},
                {.line = V24 "--master k8s://ftp://h --class C /n/a.jar",
                 .error = "Invalid Kubernetes master scheme: ftp"},
                {.line = V24 "--master local --class org.apache.spark.sql.connect.service.SparkConnectServer "
                             "spark-internal -e x",
                 .main_class = "org.apache.spark.sql.connect.service.SparkConnectServer", .arguments = "-e x"},
                {.line = V24 "--master yarn --kill 1",
                 .error = "Killing submissions is only supported in standalone or Mesos mode!"},
                {.line = V24 "--master local --status 1",
                 .error = "Requesting submission statuses is only supported in standalone or Mesos mode!"},
                {.line = V24 "--master local --class C /n/x.r", .main_class = "C", .classpath = "file:/n/x.r"},
                {.line = V24 "--packages , --class C /n/a.jar", .main_class = "C", .classpath = "file:/n/a.jar"},
                {.line = "--packages , --class C /n/a.jar", .main_class = "C", .classpath = "file:/n/a.jar"},
                {.line = V24 "--class C foo://h/a.jar", .error = "No FileSystem for scheme: foo"},
                {.line = V24 "--class C --jars foo://h/b.jar /n/a.jar", .error = "No FileSystem for scheme: foo"},
                {.line = "--class C foo://h/a.jar", .error = "No FileSystem for scheme \"foo\""},
                {.line = V24 "--class C /n/./a/../b.jar", .main_class = "C", .classpath = "file:/n/./a/../b.jar"},
                {.line = "--class C /n/./a/../b.jar", .main_class = "C", .classpath = "file:/n/b.jar"},
                {.line = V24 "--conf spark.jars.ivySettings=s3://x//y.xml --packages g:a:1 --class C /n/a.jar",
                 .error = "requirement failed: Ivy settings file s3:/x/y.xml does not exist"},
                {.line = V24 "--master local /n/a.jar", .error = "Cannot load main class from JAR file:/n/a.jar"},
                {.line = V24 "--driver-memory 0 /n/a.jar", .error = "Cannot load main class from JAR file:/n/a.jar"},
                {.line = V24 "--master local hdfs://n/a.jar",
                 .error = "Cannot load main class from JAR hdfs://n/a.jar with URI hdfs. Please specify a class "
                          "through --class."},
        };
        check_all(cases, ARRAY_SIZE(cases));
}
/* clang-format on */

static void force_legacy_selects_gateway(void **state)
{
        struct submit_arguments a;
        struct submission s = {.force_legacy = true};
        assert_int_equal(understand(&a,
                                    "--master spark://h:1 --deploy-mode cluster --conf spark.master.rest.enabled=true "
                                    "--class C /n/a.jar",
                                    &s, NULL),
                         0);
        assert_string_equal(s.main_class, SUBMIT_CLASS_GATEWAY);
        assert_string_equal(strmap_get(&s.conf, "spark.master.rest.enabled"), "true");
        submission_deinit(&s);
        submit_arguments_deinit(&a);
}

static void warns_about_unwise_settings(void **state)
{
        static const struct {
                const char *line, *message;
        } cases[] = {
                {"--master yarn --deploy-mode cluster --class org.apache.spark.sql.connect.service.SparkConnectServer /n/a.jar",
                 "SparkConnectServer is starting in cluster deploy mode. Use `yarn application -kill` command or YARN "
                 "client API to stop the server."},
                {V24 "--master yarn-client --class C /n/a.jar",
                 "Warning: Master yarn-client is deprecated since 2.0. Please use master \"yarn\" with specified "
                 "deploy mode instead."},
                {"--master yarn --deploy-mode cluster --proxy-user u --jars /n/1.jar --class C /n/a.jar",
                 "Warning: Ignore classpath  with proxy user specified in Cluster mode "
                 "when spark.submit.proxyUser.allowCustomClasspathInClusterMode is disabled"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%zu of cases: line \"%s\", message \"%s\"", i, cases[i].line ? cases[i].line : "(none)",
                           cases[i].message ? cases[i].message : "(none)");
                struct submit_arguments a;
                struct submission s = SUBMISSION_INIT;
                assert_int_equal(understand(&a, cases[i].line, &s, NULL), 0);
                assert_int_equal(s.messages.len, 1);
                assert_string_equal(s.messages.data[0], cases[i].message);
                submission_deinit(&s);
                submit_arguments_deinit(&a);
        }
}

static void prints_text_and_json(void **state)
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
                cmocka_unit_test(masters_and_modes),
                cmocka_unit_test(kubernetes_urls),
                cmocka_unit_test(client_mode),
                cmocka_unit_test(cluster_mode),
                cmocka_unit_test(python_and_r),
                cmocka_unit_test(lists_are_merged_and_resolved),
                cmocka_unit_test(native_applications_are_jars_with_a_main),
                cmocka_unit_test(keytabs),
                cmocka_unit_test(submit_time),
                cmocka_unit_test(spark_3_5),
                cmocka_unit_test(spark_2_4),
                cmocka_unit_test(force_legacy_selects_gateway),
                cmocka_unit_test(warns_about_unwise_settings),
                cmocka_unit_test(prints_text_and_json),
        };
        static const char *const foreign[] = {"SPARK_HOME", "SPARK_CONF_DIR", "HADOOP_CONF_DIR", "YARN_CONF_DIR"};
        for (size_t i = 0; i < ARRAY_SIZE(foreign); i++)
                unsetenv(foreign[i]);
        return cmocka_run_group_tests(tests, NULL, NULL);
}
