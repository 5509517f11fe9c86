/*
 * What a container of ours, or a pod that was meant for a container of Spark's, is to run. The image's
 * /opt/entrypoint.sh is this program; its first word is a role, and the rest of the contract is in the environment:
 *
 *      driver [WORDS]   spark-submit in client mode with WORDS, bound to SPARK_DRIVER_BIND_ADDRESS. Without words, as
 *                       Spark 2.3 has it: SPARK_DRIVER_CLASS, SPARK_DRIVER_ARGS, SPARK_DRIVER_MEMORY, the application
 *                       from SPARK_MOUNTED_CLASSPATH, its configuration as -Dspark.KEY=VALUE in SPARK_JAVA_OPT_0, _1, …
 *      executor         SPARK_DRIVER_URL, SPARK_EXECUTOR_ID, SPARK_EXECUTOR_CORES, SPARK_APPLICATION_ID,
 *                       SPARK_EXECUTOR_POD_IP, and if they are set SPARK_RESOURCE_PROFILE_ID, SPARK_EXECUTOR_POD_NAME,
 *                       SPARK_JAVA_OPT_n; SPARK_MOUNTED_FILES_DIR (2.3) is copied into the working directory first
 *      init FILE        Spark 2.3's init container: downloads what the properties in FILE name
 *      anything else    that command
 */
#pragma once

#include "base/string_list.h"

struct fst_error;

enum entrypoint_role { ENTRYPOINT_DRIVER, ENTRYPOINT_EXECUTOR, ENTRYPOINT_INIT, ENTRYPOINT_COMMAND };

/* As the first word says; drivers of Spark 2.4 may be called driver-py and driver-r. */
enum entrypoint_role entrypoint_role_of(const char *word);

/*
 * The command of @argv (the words behind the program's name), @env being getenv's like and @environment all of it:
 * appended to @out, whose first word is "firesteel" or "spark-submit" for programs of ours. Not for ENTRYPOINT_INIT.
 * -EINVAL with @error, which names the variable, when one is missing or a word is; the folder of a class path that
 * cannot be read answers its errno.
 */
int entrypoint_command(int argc, char *const *argv, char *const *environment, struct string_list *out,
                       struct fst_error *error);

/*
 * Spark 2.3's SparkPodInitContainer: spark.kubernetes.initContainer.remoteJars and .remoteFiles of the properties in
 * @path go to spark.kubernetes.mountDependencies.jarsDownloadDir and .filesDownloadDir. Blocks. Negative with @error.
 */
int entrypoint_download(const char *path, struct fst_error *error);
