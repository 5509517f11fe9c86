/*
 * Accepts the Kubernetes keys of Spark 2.1 and 2.2 (apache-spark-on-k8s), such as spark.kubernetes.driver.docker.image
 * and spark.kubernetes.driver.labels=a=b,c=d. A warning names today's key.
 */
#pragma once

#include "base/strmap.h"

/* Replaces old keys by today's. If both are set, today's value wins. */
void older_spellings_replace(struct strmap *conf);
