/*
 * What a daemon of a standalone cluster (master, worker, shuffle service) is configured by, in Spark's order: its
 * options' environment variables, then the file with properties.
 *
 *      SPARK_DAEMON_JAVA_OPTS, SPARK_WORKER_OPTS    "-Dspark.worker.timeout=30 -Dspark.x='two words'"; the latter wins
 *      --properties-file FILE                       else conf/spark-defaults.conf, where those say nothing
 */
#pragma once

#include <stddef.h>

struct fst_conf;
struct fst_error;

enum {
        DAEMON_WORDS_E_HELP = 1, /* --help was asked for */
        DAEMON_WORDS_E_USAGE,    /* a word of the command line is not understood */
};

/* An option that has a value: "--host", "-h" (NULL: it has one name), and where the value goes. */
struct daemon_option {
        const char *name, *other, **value;
};

/*
 * Read the words of a daemon's command line; @argv[0] is passed over. What is no option goes to @operand, which takes
 * one (errors call it @what and say @form, how several are written); @operand NULL: none is taken. Values are borrowed
 * from @argv. 0; DAEMON_WORDS_E_HELP; or DAEMON_WORDS_E_USAGE with @error.
 */
int daemon_words_read(const struct daemon_option *options, size_t n, int argc, char *const *argv, const char **operand,
                      const char *what, const char *form, struct fst_error *error);

/*
 * spark-env.sh of the configuration's folder, unless SPARK_ENV_LOADED says that it was read. First of all, before any
 * thread: it changes the environment. Negative with @error.
 */
int daemon_environment(struct fst_error *error);

/*
 * Read all of it into @conf, where what is set stays, and set up the log (log4j2.properties, spark.log.level).
 * @options_variable is "SPARK_WORKER_OPTS"; @properties_file NULL: spark-defaults.conf if it is there. Options that are
 * for a JVM ("-Xmx1g") are passed over. Negative with @error, which names the file or variable.
 */
int daemon_conf_load(struct fst_conf *conf, const char *options_variable, const char *properties_file,
                     struct fst_error *error);

/* The value of an environment variable; NULL if it is not set, or empty. */
const char *daemon_variable(const char *name);

/*
 * Where a daemon listens, and what it tells people to look at: @host without the brackets of an IPv6 address, or (NULL)
 * this machine's; SPARK_PUBLIC_DNS, or the same. Both are the caller's. -EINVAL with @error for no host, or one with a
 * port.
 */
int daemon_host(const char *host, char **out, char **public_host, struct fst_error *error);
