/*
 * Selects the command of a container, or of a pod that was made for Spark's image. The image's /opt/entrypoint.sh is
 * this program. Its first argument is a role, and the environment holds the rest:
 *
 *      driver [WORDS]   spark-submit in client mode with WORDS, bound to SPARK_DRIVER_BIND_ADDRESS. Without words, as
 *                       in Spark 2.3: SPARK_DRIVER_CLASS, SPARK_DRIVER_ARGS, SPARK_DRIVER_MEMORY, the application
 *                       from SPARK_MOUNTED_CLASSPATH, its configuration as -Dspark.KEY=VALUE in SPARK_JAVA_OPT_0, _1, …
 *      executor         SPARK_DRIVER_URL, SPARK_EXECUTOR_ID, SPARK_EXECUTOR_CORES, SPARK_APPLICATION_ID,
 *                       SPARK_EXECUTOR_POD_IP, and if they are set SPARK_RESOURCE_PROFILE_ID, SPARK_EXECUTOR_POD_NAME,
 *                       SPARK_JAVA_OPT_n. SPARK_MOUNTED_FILES_DIR (2.3) is copied into the working directory first.
 *      init FILE        Spark 2.3's init container: downloads the files that the properties in FILE name
 *      anything else    that command
 */
#pragma once

#include "base/string_list.h"

struct fst_error;

enum entrypoint_role { ENTRYPOINT_DRIVER, ENTRYPOINT_EXECUTOR, ENTRYPOINT_INIT, ENTRYPOINT_COMMAND };

/* The role of the first word. Drivers of Spark 2.4 may be called driver-py and driver-r. */
enum entrypoint_role entrypoint_role_of(const char *word);

/*
 * Appends the command for @argv (the words after the program's name) to @out. Its first word is "firesteel" or
 * "spark-submit" for Firesteel's own programs. @env works like getenv, and @environment is the whole environment. Not
 * for ENTRYPOINT_INIT. Returns -EINVAL with @error, which names a missing variable or argument, or the errno of a class
 * path directory that cannot be read.
 */
int entrypoint_command(int argc, char *const *argv, char *const *environment, struct string_list *out,
                       struct fst_error *error);

/*
 * Spark 2.3's SparkPodInitContainer: downloads spark.kubernetes.initContainer.remoteJars and .remoteFiles of the
 * properties in @path to spark.kubernetes.mountDependencies.jarsDownloadDir and .filesDownloadDir. Blocks. Returns
 * negative with @error.
 */
int entrypoint_download(const char *path, struct fst_error *error);
