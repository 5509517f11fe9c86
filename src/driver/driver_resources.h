/* The driver's custom resources (GPUs, …): spark.driver.resource.* and spark.driver.resourcesFile. */
#pragma once

struct fst_context;
struct fst_error;

/*
 * Read the file, run the discovery scripts for what it lacks, and log what the driver has. The context owns the
 * resources. 0, or -EINVAL with @error, which names key, file or script; negative if the file cannot be read.
 */
int driver_resources_discover(struct fst_context *sc, struct fst_error *error);
