/*
 * The command that starts a class of Spark in a JVM: equal to the output of Spark's own launcher
 * (org.apache.spark.launcher.Main), but computed without a JVM.
 *
 *      struct java_command c = JAVA_COMMAND_INIT;
 *      if (java_command_build(&c, JAVA_CLASS_SUBMIT, n, words, env, &error) == 0)
 *              java_command_exec(&c, &error);
 *      java_command_deinit(&c);
 *
 * For SparkSubmit the words are those of spark-submit, or begin with pyspark-shell-main, sparkr-shell-main or
 * run-example, as Spark's bin/pyspark and similar scripts pass them. The result is then Python's or R's shell. The
 * rules are those of version 4.3, or those of 3.x where SPARK_HOME holds a 3.x.
 */
#pragma once

#include "base/strmap.h"
#include "text/shell_words.h"

#include <stdbool.h>
#include <stdio.h>

struct fst_error;

#define JAVA_CLASS_SUBMIT "org.apache.spark.deploy.SparkSubmit"

/* The command line is wrong: the messages explain it, and the command prints the usage and exits with 1. */
#define JAVA_COMMAND_E_USAGE 1

struct java_command {
        struct option_words words;    /* the program, then its arguments */
        struct strmap environment;    /* set in addition to the caller's environment, in order */
        struct option_words messages; /* lines for standard error, also if building failed */
        int status;                   /* exit status if building failed */
};

#define JAVA_COMMAND_INIT ((struct java_command){.status = 1})

/*
 * Builds the command for @class with its @n arguments. @env is getenv. Returns 0, JAVA_COMMAND_E_USAGE, or negative
 * with Spark's message in @error: SPARK_HOME is unset, jars are missing, options cannot be parsed. Reads
 * spark-defaults.conf (or the named file) and java-opts in the configuration directory. Finds java in JAVA_HOME, else
 * in PATH.
 */
int java_command_build(struct java_command *c, const char *class, int n, char *const *arguments,
                       const char *(*env)(const char *name), struct fst_error *error);
void java_command_deinit(struct java_command *c);

/*
 * Appends the module options that Spark gives every JVM: those of the Spark in SPARK_HOME, or of the newest if it is
 * unset. Returns 0, or negative with @error.
 */
int java_command_module_options(const char *(*env)(const char *name), struct option_words *out,
                                struct fst_error *error);

/* Whether @word, the first word of spark-submit, selects a shell or an example: pyspark-shell-main, … */
bool java_command_is_special(const char *word);

/* Writes what Spark's launcher prints for bin/spark-class: a NUL and a newline, then each word and a NUL. */
void java_command_write(const struct java_command *c, FILE *out);

/*
 * Writes the lines of SPARK_PRINT_LAUNCH_COMMAND: "Spark Command: …" with secrets of -D options redacted, and a ruler.
 */
void java_command_tell(const struct java_command *c, FILE *out);

/* Execs the command. Returns only if it fails: -errno with @error. */
int java_command_exec(const struct java_command *c, struct fst_error *error);
