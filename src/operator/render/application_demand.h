/*
 * Requests of the pods of a SparkApplication when it starts: cores, memory, their number. Read from its fields, and
 * where they are unset from sparkConf and Spark's defaults.
 */
#pragma once

#include "operator/resources/spark_application.h"

struct application_demand {
        int64_t milli_cores, milli_core_limit, bytes; /* of all pods together */
        int64_t pods;
};

/*
 * Adds up the driver and the executors that it requests first. Returns 0, or -EINVAL with @error, which names the
 * field, for a value that is not an amount, and for sums of more than 64 bits.
 */
int application_demand_read(const struct spark_application *app, struct application_demand *out,
                            struct fst_error *error);

/* Returns the number of executors that the driver requests when it starts. */
int64_t application_initial_executors(const struct spark_application_spec *spec);

/*
 * Reads an amount of memory in Java's or Kubernetes' notation, in bytes. A bare number is in MiB, as in Spark. Returns
 * 0, or -EINVAL with @error, which names @field.
 */
int application_memory_read(const char *memory, const char *field, int64_t *out, struct fst_error *error);

/* Return "2" or "500m", "384Mi" or bytes. The caller owns it. */
char *quantity_of_cores(int64_t milli_cores);
char *quantity_of_bytes(int64_t bytes);
