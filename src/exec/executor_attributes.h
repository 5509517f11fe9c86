/*
 * Reads log URLs and attributes of an executor or a driver from the environment, for the driver's events and pages.
 * SPARK_LOG_URL_STDOUT=… is the log URL "stdout"; SPARK_EXECUTOR_ATTRIBUTE_CONTAINER_ID=… is the attribute
 * "CONTAINER_ID". Prefixes and the case of names are Spark's, except that of a driver's attributes.
 */
#pragma once

#include "rpc/control.pb-c.h"

struct strmap;

struct executor_attributes {
        Firesteel__Property **list; /* owned, with the strings of each */
        size_t n;
};

/* Reads the log URLs in @environment (NULL-terminated, as environ). */
void executor_log_urls(char *const *environment, struct executor_attributes *urls);

/* Reads the attributes in @environment. */
void executor_attributes_read(char *const *environment, struct executor_attributes *attributes);

void executor_attributes_deinit(struct executor_attributes *labels);

/* Those of a driver, SPARK_DRIVER_LOG_URL_* and SPARK_DRIVER_ATTRIBUTE_*, which its cluster manager has set. */
void driver_links_read(char *const *environment, struct strmap *urls, struct strmap *attributes);
