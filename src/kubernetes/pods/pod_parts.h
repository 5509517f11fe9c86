/* Parts of pods that driver and executor steps share. For this directory only. */
#pragma once

#include "kubernetes/conf/kube_conf.h"
#include "kubernetes/pods/spark_pod.h"

#include <stdint.h>

struct fst_error;

/* Sets name (unless a template has one), image, pull policy and security context of the Spark container. */
int pod_put_container(const struct kube_conf *c, struct spark_pod *pod, const char *name, struct fst_error *error);

/* Adds labels, annotations, node selectors, pull secrets and scheduler. */
int pod_put_common(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error);

/* Appends a port to the container. @protocol may be NULL. */
void pod_add_port(struct spark_pod *pod, const char *name, int64_t port, const char *protocol);

/* The ports of a driver. */
struct driver_ports {
        int64_t driver, block_manager, ui, connect;
};

int driver_ports_read(const struct kube_conf *c, struct driver_ports *out, struct fst_error *error);

/* default spark.kubernetes.memoryOverheadFactor of applications that do not run on a JVM */
#define KUBE_NATIVE_OVERHEAD "0.4"

/* Returns @factor times @memory MiB, truncated as in Java. */
int64_t overhead_part(double factor, int64_t memory);

/* Spark 2.3: the memory request, and the limit, which includes the overhead. */
struct classic_memory {
        int64_t mib, limit;
};

int classic_memory_read(const struct kube_conf *c, struct classic_memory *out, struct fst_error *error);

/* Sets requests and limits as Spark 2.3. @limit may be NULL. */
void classic_resources_put(struct spark_pod *pod, const char *cores, const char *limit,
                           const struct classic_memory *memory);
