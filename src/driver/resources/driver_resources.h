/* The driver's custom resources (GPUs, …): spark.driver.resource.* and spark.driver.resourcesFile. */
#pragma once

struct fst_context;
struct fst_error;

/*
 * Read the file, run the discovery scripts for resources it lacks, and log the result. The context owns the resources.
 * Returns 0, or a negative status with @error: -EINVAL names the key, file or script; others mean that the file cannot
 * be read.
 */
int driver_resources_discover(struct fst_context *sc, struct fst_error *error);
