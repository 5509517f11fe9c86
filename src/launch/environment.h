/* The environment of a submission: the configuration directory and spark-env.sh. */
#pragma once

struct fst_error;

/* $SPARK_CONF_DIR, else $SPARK_HOME/conf, else conf in Firesteel's home, or NULL. Owned by the caller. */
char *submit_conf_dir(void);

/*
 * Sets the variables that spark-env.sh in @conf_dir sets, unless SPARK_ENV_LOADED says that it was read before. Starts
 * a shell only if the file exists. Changes the environment, so call it before threads start. Returns negative with
 * @error if the shell cannot be started or the script exits.
 */
int submit_load_spark_env(const char *conf_dir, struct fst_error *error);
