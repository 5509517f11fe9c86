/* Parts of pods that the steps of drivers and executors share. For this folder only. */
#pragma once

#include "kubernetes/conf/kube_conf.h"
#include "kubernetes/pods/spark_pod.h"

#include <stdint.h>

struct fst_error;

/* Name (unless a template gave one), image, pull policy and security of the Spark container. */
int pod_put_container(const struct kube_conf *c, struct spark_pod *pod, const char *name, struct fst_error *error);

/* Labels, annotations, node selectors, pull secrets, scheduler. */
int pod_put_common(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error);

/* Append a port of the container; @protocol may be NULL. */
void pod_add_port(struct spark_pod *pod, const char *name, int64_t port, const char *protocol);

/* The ports of a driver. */
struct driver_ports {
        int64_t driver, block_manager, ui, connect;
};

int driver_ports_read(const struct kube_conf *c, struct driver_ports *out, struct fst_error *error);

/* spark.kubernetes.memoryOverheadFactor of applications that are no JVM's, unless it is set. */
#define KUBE_NATIVE_OVERHEAD "0.4"

/* @factor of @memory MiB, as Java cuts it off. */
int64_t overhead_part(double factor, int64_t memory);

/* Spark 2.3: what is requested, and the limit, which has the overhead. */
struct classic_memory {
        int64_t mib, limit;
};

int classic_memory_read(const struct kube_conf *c, struct classic_memory *out, struct fst_error *error);

/* Requests and limits as 2.3 has them; @limit may be NULL. */
void classic_resources_put(struct spark_pod *pod, const char *cores, const char *limit,
                           const struct classic_memory *memory);
