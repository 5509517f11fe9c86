/* Configuration of a standalone daemon (master, worker, shuffle service), in Spark's order: the environment variables
 * with its options, then the properties file.
 *
 *      SPARK_DAEMON_JAVA_OPTS, SPARK_WORKER_OPTS    "-Dspark.worker.timeout=30 -Dspark.x='two words'"; the latter wins
 *      --properties-file FILE                       or conf/spark-defaults.conf, for keys that those do not set
 */
#pragma once

#include <stddef.h>

struct fst_conf;
struct fst_error;

enum {
        DAEMON_WORDS_E_HELP = 1, /* --help was given */
        DAEMON_WORDS_E_USAGE,    /* the command line is invalid */
};

/* An option with a value: "--host", "-h" (NULL: no short name), and where the value goes. */
struct daemon_option {
        const char *name, *other, **value;
};

/* Reads a daemon's command line; skips @argv[0]. The only argument that is not an option goes to @operand (errors
 * call it @what and show @form for several); with @operand NULL none is accepted. Values are borrowed from @argv.
 * Returns 0, DAEMON_WORDS_E_HELP, or DAEMON_WORDS_E_USAGE with @error.
 */
int daemon_words_read(const struct daemon_option *options, size_t n, int argc, char *const *argv, const char **operand,
                      const char *what, const char *form, struct fst_error *error);

/* Runs spark-env.sh of the configuration directory unless SPARK_ENV_LOADED is set. It changes the environment: call
 * it first, before any thread starts. Negative with @error.
 */
int daemon_environment(struct fst_error *error);

/* Reads the configuration into @conf, where keys already set stay, and sets up the log (log4j2.properties,
 * spark.log.level). @options_variable is "SPARK_WORKER_OPTS"; @properties_file NULL: spark-defaults.conf if it
 * exists. Skips options for a JVM ("-Xmx1g"). Warns of keys that are probably misspelled. Negative with @error, which
 * names the file or variable.
 */
int daemon_conf_load(struct fst_conf *conf, const char *options_variable, const char *properties_file,
                     struct fst_error *error);

/* Returns the value of an environment variable, or NULL if it is unset or empty. */
const char *daemon_variable(const char *name);

/* The host that a daemon listens on and the public host in its URLs: @host without the brackets of an IPv6 address,
 * or (NULL) this machine's name; SPARK_PUBLIC_DNS, or the same. The caller owns both. -EINVAL with @error for an
 * empty host or one with a port.
 */
int daemon_host(const char *host, char **out, char **public_host, struct fst_error *error);
