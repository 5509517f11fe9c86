/*
 * spark-shell, pyspark, sparkR, spark-sql, run-example: starts these programs of Spark as Spark's scripts do. They need
 * Scala, Python, R or Java, so without SPARK_HOME the command prints one line and fails. Examples in C need no Spark.
 *
 * Each script is described by the words that it passes to spark-submit and the environment that it sets.
 */
#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "cmd/command.h"
#include "cmd/run_example.h"
#include "pyspark_driver/python_shell.h"
#include "submit/jvm/java_command.h"
#include "submit/jvm/java_launcher.h"
#include "conf/conf.h"
#include "launch/spark_home.h"

#include <stdio.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

struct shell {
        const char *name, *usage;
        const char *words[5];                    /* precede those of the command line */
        int (*prepare)(struct fst_error *error); /* sets additional environment variables; may be NULL */
        bool keeps_terminal;                     /* restores the terminal after the end */
};

static bool shell_is_set(const char *name)
{
        const char *value = getenv(name);
        return value && value[0];
}

/* Prepends @more to the variable's value. */
static void shell_prepend(const char *name, const char *more, const char *between)
{
        const char *now = getenv(name);
        _cleanup_free_ char *value = mem_printf("%s%s%s", more, between, now ? now : "");
        setenv(name, value, 1);
}

static int shell_prepare_scala(struct fst_error *error)
{
        const char *now = getenv("SPARK_SUBMIT_OPTS");
        _cleanup_free_ char *options = mem_printf("%s -Dscala.usejavacp=true", now ? now : "");
        (void)error;
        setenv("SPARK_SUBMIT_OPTS", options, 1);
        setenv("SPARK_SCALA_SHELL", "1", 1);
        return 0;
}

static int shell_prepare_classic(struct fst_error *error)
{
        (void)error;
        setenv("SPARK_CONNECT_MODE", "0", 1);
        return 0;
}

/* Sets the path where Python finds pyspark, and py4j, whose archive contains its version in the name. */
static void shell_set_python_path(const char *home)
{
        _cleanup_(option_words_deinit) struct option_words files = {0};
        _cleanup_free_ char *library = mem_printf("%s/python/lib", home), *python = mem_printf("%s/python/", home);
        shell_prepend("PYTHONPATH", python, ":");
        spark_home_list(library, &files);
        for (size_t i = 0; i < files.len; i++) {
                const char *name = strrchr(files.data[i], '/') + 1;
                size_t n = strlen(name);
                if (strncmp(name, "py4j-", 5) == 0 && n > 8 && strcmp(name + n - 8, "-src.zip") == 0)
                        shell_prepend("PYTHONPATH", files.data[i], ":");
        }
}

/* Python's package pyspark_connect makes Connect the default. Only Python knows whether it is installed. */
static void shell_find_connect_mode(void)
{
        char answer[8] = "";
        if (!getenv("SPARK_CONNECT_MODE")) {
                FILE *python = popen("exec \"$PYSPARK_DRIVER_PYTHON\" -c 'from importlib.util import find_spec; "
                                     "print(1 if find_spec(\"pyspark_connect\") else 0)'",
                                     "re");
                if (python && !fgets(answer, sizeof(answer), python))
                        answer[0] = 0;
                if (python)
                        pclose(python);
                answer[strcspn(answer, "\n")] = 0;
        } else {
                snprintf(answer, sizeof(answer), "%s", getenv("SPARK_CONNECT_MODE"));
        }
        setenv("SPARK_CONNECT_MODE", answer, 1);
        if (strcmp(answer, "0") == 0 || strcmp(answer, "1") == 0)
                return;
        printf("The environment variable SPARK_CONNECT_MODE has unknown value or pyspark.util package is not available: "
               "%s\n",
               answer);
        unsetenv("SPARK_CONNECT_MODE");
}

static int shell_prepare_python(struct fst_error *error)
{
        const char *home = getenv("SPARK_HOME"), *startup = getenv("PYTHONSTARTUP");
        if (shell_is_set("IPYTHON") || shell_is_set("IPYTHON_OPTS"))
                return error_set(
                        error, -EINVAL,
                        "IPYTHON and IPYTHON_OPTS are removed in Spark 2.0+. Remove these from the environment "
                        "and set PYSPARK_DRIVER_PYTHON and PYSPARK_DRIVER_PYTHON_OPTS instead.");
        if (!shell_is_set("PYSPARK_PYTHON"))
                setenv("PYSPARK_PYTHON", "python3", 1);
        if (!shell_is_set("PYSPARK_DRIVER_PYTHON"))
                setenv("PYSPARK_DRIVER_PYTHON", getenv("PYSPARK_PYTHON"), 1);
        setenv("PYSPARK_DRIVER_PYTHON_OPTS", "", 0);
        shell_set_python_path(home);
        setenv("OLD_PYTHONSTARTUP", startup ? startup : "", 1);
        _cleanup_free_ char *shell = mem_printf("%s/python/pyspark/shell.py", home);
        setenv("PYTHONSTARTUP", shell, 1);
        shell_find_connect_mode();
        return 0;
}

static const struct shell shells[] = {
        {"spark-shell",
         "Usage: ./bin/spark-shell [options]\n\nScala REPL options, Spark Classic only:\n"
         "  -I <file>                   preload <file>, enforcing line-by-line interpretation",
         {"--class", "org.apache.spark.repl.Main", "--name", "Spark shell", NULL},
         shell_prepare_scala,
         true},
        {"pyspark",
         "Usage: ./bin/pyspark [options]",
         {"pyspark-shell-main", "--name", "PySparkShell", NULL},
         shell_prepare_python,
         false},
        {"sparkR", "Usage: ./bin/sparkR [options]", {"sparkr-shell-main", NULL}, shell_prepare_classic, false},
        {"spark-sql",
         "Usage: ./bin/spark-sql [options] [cli option]",
         {"--class", "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver", NULL},
         shell_prepare_classic,
         false},
        {"run-example",
         "Usage: ./bin/run-example [options] example-class [example args]",
         {"run-example", NULL},
         NULL,
         false},
};

static int shell_launch(const struct shell *shell, int n, char **words, struct fst_error *error)
{
        VEC(char *) all = {0};
        int status = 1;
        for (size_t i = 0; shell->words[i]; i++)
                vec_push(&all, (char *)shell->words[i]);
        for (int i = 0; i < n; i++)
                vec_push(&all, words[i]);
        java_launch(JAVA_CLASS_SUBMIT, (int)all.len, all.data, false, &status, error);
        vec_deinit(&all);
        return status;
}

/* Runs the program in a child and restores the terminal afterwards, because a killed JVM leaves it without echo. */
static int shell_launch_and_restore(const struct shell *shell, int n, char **words, struct fst_error *error)
{
        struct termios before;
        if (tcgetattr(STDIN_FILENO, &before) < 0)
                return shell_launch(shell, n, words, error);
        fflush(NULL);
        pid_t child = fork();
        if (child < 0) {
                error_errno(error, "%s", shell->name);
                return 1;
        }
        if (child == 0) {
                int failed = shell_launch(shell, n, words, error);
                fprintf(stderr, "Error: %s\n", error_message(error));
                _exit(failed);
        }
        int status = 0;
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
                ;
        tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* R's shell on Firesteel: submits it like a program. */
static int shell_run_r(int argc, char **argv)
{
        VEC(char *) all = {0};
        vec_push(&all, (char *)"sparkR");
        for (int i = 1; i < argc; i++)
                vec_push(&all, argv[i]);
        vec_push(&all, (char *)"sparkr-shell");
        int n = (int)all.len;
        vec_push(&all, NULL);
        int status = command_submit(n, all.data);
        vec_deinit(&all);
        return status;
}

static bool shell_asks_for_help(int argc, char **argv)
{
        return argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
}

/* Without Spark's jars, Python runs on Firesteel. */
static int shell_run_python_shell(int n, char **words)
{
        struct fst_error error = FST_ERROR_INIT;
        int status = 1;
        if (python_shell_run(n, words, &status, &error) < 0)
                fprintf(stderr, "Error: %s\n", error_message(&error));
        error_deinit(&error);
        return status;
}

int command_shell(const char *name, int argc, char **argv)
{
        struct fst_error error = FST_ERROR_INIT;
        const struct shell *shell = shells;
        while (strcmp(shell->name, name) != 0)
                shell++;
        if (strcmp(name, "run-example") == 0 && run_example_is_native(argc - 1, argv + 1)) {
                setenv("_SPARK_CMD_USAGE", shell->usage, 1);
                return run_example(argc - 1, argv + 1);
        }
        if (strcmp(name, "sparkR") == 0 && !spark_home_has_jvm(conf_environment))
                return shell_run_r(argc, argv);
        if (strcmp(name, "pyspark") == 0 && !spark_home_has_jvm(conf_environment) && !shell_asks_for_help(argc, argv))
                return shell_run_python_shell(argc - 1, argv + 1);
        int status = 1, r = java_launcher_check(name, &error);
        if (r == 0) {
                setenv("_SPARK_CMD_USAGE", shell->usage, 1);
                setenv("PYTHONHASHSEED", "0", 1);
                r = shell->prepare ? shell->prepare(&error) : 0;
        }
        if (r == 0)
                status = shell->keeps_terminal ? shell_launch_and_restore(shell, argc - 1, argv + 1, &error)
                                               : shell_launch(shell, argc - 1, argv + 1, &error);
        if (error.message)
                fprintf(stderr, "Error: %s\n", error.message);
        error_deinit(&error);
        return status;
}

bool command_is_shell(const char *name)
{
        for (size_t i = 0; i < ARRAY_SIZE(shells); i++) {
                if (strcmp(shells[i].name, name) == 0)
                        return true;
        }
        return false;
}
