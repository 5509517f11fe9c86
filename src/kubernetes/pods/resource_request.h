/* Custom resources of drivers and executors: spark.driver.resource.gpu.amount, …, and their vendors. */
#pragma once

#include "base/strmap.h"

struct fst_error;
struct kube_conf;

/*
 * Adds "nvidia.com/gpu" -> "2" for each resource below @prefix ("spark.driver.resource."). Returns -EINVAL with Spark's
 * message for a missing amount or vendor.
 */
int resource_requests_read(const struct kube_conf *c, const char *prefix, struct strmap *out, struct fst_error *error);

/* As above, for one resource. */
int resource_request_put(const char *name, long long amount, const char *vendor, struct strmap *out,
                         struct fst_error *error);
