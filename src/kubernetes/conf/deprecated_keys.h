/*
 * Settings of Kubernetes as Spark's first releases for it spelled them, 2.1 and 2.2 of apache-spark-on-k8s:
 * spark.kubernetes.driver.docker.image, spark.kubernetes.driver.labels=a=b,c=d. They are understood, with a warning
 * that names today's.
 */
#pragma once

#include "base/strmap.h"

/* Today's spellings in the place of older ones; what is set under both keeps today's value. */
void older_spellings_replace(struct strmap *conf);
