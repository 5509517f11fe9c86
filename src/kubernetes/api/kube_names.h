/* Names that Spark's objects in Kubernetes have, and what they are made with. For this folder only. */
#pragma once

#include "base/buf.h"
#include "base/mem.h"

#include <string.h>

#define MAX_KUBE_LABEL 63 /* characters of a DNS label, and of a label's value */

#define KUBE_LABEL_APP_ID "spark-app-selector"
#define KUBE_LABEL_EXECUTOR_ID "spark-exec-id"
#define KUBE_LABEL_PROFILE_ID "spark-exec-resourceprofile-id"
#define KUBE_LABEL_ROLE "spark-role"
#define KUBE_LABEL_INACTIVE "spark-exec-inactive" /* "true": it has ended, and is left for people to look at */

#define KUBE_EXECUTOR_CONTAINER "spark-kubernetes-executor"

#define KUBE_SERVICE_SUFFIX "-driver-svc"

#define KUBE_CONF_DIR "/opt/spark/conf"
#define KUBE_CONF_FILE "spark.properties"

#define KUBE_DRIVER_PORT 7078
#define KUBE_BLOCK_MANAGER_PORT 7079
#define KUBE_CONNECT_PORT 15002

/* @text with each @from as @to. The caller owns it. */
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
