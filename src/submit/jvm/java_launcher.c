/* spark-class; see java_launcher.h. Matches bin/spark-class and bin/load-spark-env.sh of Spark. */
#include "submit/jvm/java_launcher.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "launch/environment.h"
#include "submit/jvm/java_command.h"
#include "launch/spark_home.h"

#include <stdio.h>
#include <stdlib.h>

static bool java_launcher_is_set(const char *name)
{
        const char *value = getenv(name);
        return value && value[0];
}

int java_launcher_check(const char *what, struct fst_error *error)
{
        if (java_launcher_is_set("SPARK_HOME"))
                return 0;
        return error_set(error, -ENOENT,
                         "%s needs Spark itself: set SPARK_HOME to where Spark is installed. Without it Firesteel runs "
                         "native applications, a shared object (.so) or one C file (.c)",
                         what);
}

/* Checks that Spark's jars exist, and sets SPARK_SCALA_VERSION for the programs that use them. */
static int java_launcher_check_home(bool needs_jars, struct fst_error *error)
{
        struct spark_home home = {0};
        int r = spark_home_find(&home, conf_environment, error);
        if (r < 0)
                return r;
        if (home.scala)
                setenv("SPARK_SCALA_VERSION", home.scala, 0);
        if (needs_jars && !home.jars && !java_launcher_is_set("SPARK_TESTING") &&
            !java_launcher_is_set("SPARK_SQL_TESTING"))
                r = error_set(error, -ENOENT,
                              "Failed to find Spark jars directory (%s).\n"
                              "You need to build Spark with the target \"package\" before running this program.",
                              home.jars_wanted);
        spark_home_deinit(&home);
        return r;
}

static int java_launcher_load_environment(struct fst_error *error)
{
        _cleanup_free_ char *conf_dir = submit_conf_dir();
        int r = submit_load_spark_env(conf_dir, error);
        if (r < 0)
                return r;
        if (!java_launcher_is_set("SPARK_CONF_DIR") && conf_dir)
                setenv("SPARK_CONF_DIR", conf_dir, 1);
        setenv("SPARK_ENV_LOADED", "1", 1);
        if (java_launcher_is_set("SPARK_TESTING")) {
                unsetenv("YARN_CONF_DIR");
                unsetenv("HADOOP_CONF_DIR");
        }
        return 0;
}

static void java_launcher_tell(const struct java_command *c, int r)
{
        for (size_t i = 0; i < c->messages.len; i++)
                fprintf(stderr, "%s\n", c->messages.data[i]);
        if (r == 0 && java_launcher_is_set("SPARK_PRINT_LAUNCH_COMMAND"))
                java_command_tell(c, stderr);
}

int java_launch(const char *class, int n, char *const *words, bool print, int *status, struct fst_error *error)
{
        _cleanup_(java_command_deinit) struct java_command c = JAVA_COMMAND_INIT;
        *status = 1;
        int r = java_launcher_check(class, error);
        if (r == 0)
                r = java_launcher_load_environment(error);
        if (r == 0)
                r = java_launcher_check_home(!print, error);
        if (r < 0)
                return r;
        r = java_command_build(&c, class, n, words, conf_environment, error);
        *status = c.status;
        java_launcher_tell(&c, r);
        if (r < 0)
                return r;
        if (print) {
                java_command_write(&c, stdout);
                return 0;
        }
        r = java_command_exec(&c, error);
        *status = r == -ENOENT ? 127 : 126;
        return r;
}
