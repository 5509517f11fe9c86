/* Names and labels of Spark's objects in Kubernetes. For this directory only. */
#pragma once

#include "base/buf.h"
#include "base/mem.h"

#include <string.h>

#define MAX_KUBE_LABEL 63 /* maximum length of a DNS label and of a label's value */

#define KUBE_LABEL_APP_ID "spark-app-selector"
#define KUBE_LABEL_EXECUTOR_ID "spark-exec-id"
#define KUBE_LABEL_PROFILE_ID "spark-exec-resourceprofile-id"
#define KUBE_LABEL_ROLE "spark-role"
#define KUBE_LABEL_INACTIVE "spark-exec-inactive" /* "true": the pod has ended and is kept for inspection */

#define KUBE_EXECUTOR_CONTAINER "spark-kubernetes-executor"

#define KUBE_SERVICE_SUFFIX "-driver-svc"

#define KUBE_CONF_DIR "/opt/spark/conf"
#define KUBE_CONF_FILE "spark.properties"

#define KUBE_DRIVER_PORT 7078
#define KUBE_BLOCK_MANAGER_PORT 7079
#define KUBE_CONNECT_PORT 15002

/* Replaces each @from in @text with @to. The caller owns the result. */
static inline char *kube_replace(const char *text, const char *from, const char *to)
{
        struct buf out = BUF_INIT;
        for (const char *at; (at = strstr(text, from)); text = at + strlen(from)) {
                buf_append(&out, text, (size_t)(at - text));
                buf_puts(&out, to);
        }
        buf_puts(&out, text);
        return buf_steal(&out);
}
