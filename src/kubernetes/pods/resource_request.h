/* Custom resources that a driver or executors ask for: spark.driver.resource.gpu.amount, …, and their vendors. */
#pragma once

#include "base/strmap.h"

struct fst_error;
struct kube_conf;

/*
 * Add "nvidia.com/gpu" -> "2" for each resource below @prefix ("spark.driver.resource."). -EINVAL with Spark's
 * sentence: an amount or a vendor that is missing.
 */
int resource_requests_read(const struct kube_conf *c, const char *prefix, struct strmap *out, struct fst_error *error);

/* The same for one resource. */
int resource_request_put(const char *name, long long amount, const char *vendor, struct strmap *out,
                         struct fst_error *error);
