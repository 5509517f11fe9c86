/*
 * What a daemon of a standalone cluster (master, worker, shuffle service) is configured by, in Spark's order: its
 * options' environment variables, then the file with properties.
 *
 *      SPARK_DAEMON_JAVA_OPTS, SPARK_WORKER_OPTS    "-Dspark.worker.timeout=30 -Dspark.x='two words'"; the latter wins
 *      --properties-file FILE                       else conf/spark-defaults.conf, where those say nothing
 */
#pragma once

struct fst_conf;
struct fst_error;

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
