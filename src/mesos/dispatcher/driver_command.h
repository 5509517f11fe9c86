/*
 * What the task of a driver runs, and the files that its agent fetches first: as Spark's MesosClusterScheduler makes
 * them from a submission. Pure.
 *
 *      <home>/bin/spark-submit --name … --master mesos://… --driver-cores 1 --driver-memory 1408M --class … \
 *              --conf key=value …  ./app.jar arguments
 *
 * With an image (spark.mesos.executor.docker.image) the program is ./bin/spark-submit of the image, and files are in
 * $MESOS_SANDBOX. With spark.executor.uri it is bin/spark-submit of the unpacked archive, and files are in "..".
 *
 * Differs from Spark:
 *   - A whole number of cores has no fraction: spark-submit refuses "--driver-cores 1.0".
 *   - The values of spark.mesos.driver.secret.values are not in the command.
 *   - $MESOS_SANDBOX in --py-files is expanded.
 */
#pragma once

#include "base/strmap.h"
#include "base/string_list.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct fst_conf;
struct fst_error;
struct rest_request;

/* What the dispatcher knows. Borrowed. */
struct driver_command {
        const struct rest_request *request;
        const struct fst_conf *conf; /* the dispatcher's */
        const char *master;          /* the URL of Mesos without its first mesos:// */
        const char *home;            /* of Spark or Firesteel on agents, unless the submission names another */
        const char *framework_id;    /* the dispatcher's */
        const char *task_id;         /* of the driver's task */
        int64_t memory;              /* MiB of --driver-memory */
        double cores;
};

/* Appends the command for a shell. */
void driver_command_put(const struct driver_command *c, struct buf *out);

/* Appends the URIs that the agent fetches, in order. */
void driver_command_uris(const struct driver_command *c, struct string_list *out);

/* Whether agents may keep the files in their cache. -EINVAL with @error for a value that is neither true nor false. */
int driver_command_cache(const struct driver_command *c, bool *cache, struct fst_error *error);

/* Adds the variables of the task's environment. */
void driver_command_environment(const struct driver_command *c, struct strmap *out);

/* The archive of spark.executor.uri or SPARK_EXECUTOR_URI. NULL: none. Borrowed from the request. */
const char *driver_command_archive(const struct driver_command *c);

/*
 * Appends @word as one word of a shell, as Spark does: a word in quotes stays as it is, and one with special characters
 * is put in double quotes.
 */
void driver_command_put_word(struct buf *out, const char *word);
