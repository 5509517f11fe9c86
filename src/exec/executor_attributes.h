/*
 * What whoever starts an executor tells of it in the environment, for the driver's events and pages: where its logs are
 * (SPARK_LOG_URL_STDOUT=… is the log URL "stdout") and what it is (SPARK_EXECUTOR_ATTRIBUTE_CONTAINER_ID=… is the
 * attribute "CONTAINER_ID"). The prefixes and the case of the names are Spark's.
 */
#pragma once

#include "rpc/control.pb-c.h"

struct executor_labels {
        Firesteel__Property **list; /* each with its strings; owned */
        size_t n;
};

/* The variables of @environment (NULL-ended, as environ) that are log URLs. */
void executor_log_urls(char *const *environment, struct executor_labels *urls);

/* Those that are attributes. */
void executor_attributes(char *const *environment, struct executor_labels *attributes);

void executor_labels_deinit(struct executor_labels *labels);
