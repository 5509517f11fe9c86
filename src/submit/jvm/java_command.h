/*
 * The command that starts a class of Spark in a JVM: what Spark's own launcher (org.apache.spark.launcher.Main) would
 * print, made without starting a JVM for it.
 *
 *      struct java_command c = JAVA_COMMAND_INIT;
 *      if (java_command_build(&c, JAVA_CLASS_SUBMIT, n, words, env, &error) == 0)
 *              java_command_exec(&c, &error);
 *      java_command_deinit(&c);
 *
 * For SparkSubmit the words are those of spark-submit, or begin with pyspark-shell-main, sparkr-shell-main or
 * run-example, as bin/pyspark and the others of Spark pass them; the result is then Python's or R's shell. It follows
 * version 4.3; where SPARK_HOME holds a 3.x, what that does differently.
 */
#pragma once

#include "base/strmap.h"
#include "text/shell_words.h"

#include <stdbool.h>
#include <stdio.h>

struct fst_error;

#define JAVA_CLASS_SUBMIT "org.apache.spark.deploy.SparkSubmit"

/* The command line is wrong: messages say how, and the command is one that prints the usage and exits with 1. */
#define JAVA_COMMAND_E_USAGE 1

struct java_command {
        struct option_words words;    /* the program, then its arguments */
        struct strmap environment;    /* what is set besides the caller's, in order */
        struct option_words messages; /* for standard error, one line each; also when building failed */
        int status;                   /* when building failed: what to exit with */
};

#define JAVA_COMMAND_INIT ((struct java_command){.status = 1})

/*
 * Build the command for @class with its @n arguments; @env is getenv. 0; JAVA_COMMAND_E_USAGE; or negative with
 * @error, Spark's sentence: no SPARK_HOME, no jars, options that cannot be read. Reads spark-defaults.conf (or the
 * file that is named) and java-opts in the configuration folder; finds java in JAVA_HOME, else in PATH.
 */
int java_command_build(struct java_command *c, const char *class, int n, char *const *arguments,
                       const char *(*env)(const char *name), struct fst_error *error);
void java_command_deinit(struct java_command *c);

/* Whether the first word of spark-submit says that the rest is for a shell or an example: pyspark-shell-main, … */
bool java_command_is_special(const char *word);

/* As Spark's launcher prints it for bin/spark-class: a NUL and a newline, then each word and a NUL. */
void java_command_write(const struct java_command *c, FILE *out);

/* As SPARK_PRINT_LAUNCH_COMMAND has it: "Spark Command: …" with secrets of -D options redacted, and a line below. */
void java_command_tell(const struct java_command *c, FILE *out);

/* Become the command. Returns only to fail: -errno with @error. */
int java_command_exec(const struct java_command *c, struct fst_error *error);
