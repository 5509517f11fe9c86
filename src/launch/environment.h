/*
 * Where a submission's surroundings come from: the folder with the configuration, and spark-env.sh.
 */
#pragma once

struct fst_error;

/* $SPARK_CONF_DIR, else $SPARK_HOME/conf, else conf in Firesteel's home; NULL for none. The caller owns it. */
char *submit_conf_dir(void);

/*
 * Take over what spark-env.sh in @conf_dir sets, unless SPARK_ENV_LOADED says that it was read before. A shell is
 * started only if the file is there. Before any thread is started: it changes the environment. Negative with @error
 * when the shell cannot be started or the script ends it.
 */
int submit_load_spark_env(const char *conf_dir, struct fst_error *error);
