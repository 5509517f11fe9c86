/* Mounts Hadoop's configuration into driver and executor pods. For this directory only. */
#pragma once

#include "kubernetes/pods/spark_pod.h"

#define HADOOP_FILES_VOLUME "hadoop-properties"
#define HADOOP_FILES_MAP_KEY "spark.kubernetes.executor.hadoopConfigMapName" /* tells executors the name of the map */

/* Mounts @volume, which it steals, and sets HADOOP_CONF_DIR. */
static inline void hadoop_files_mount(struct spark_pod *pod, json_t *volume)
{
        pod_add_volume(pod, volume);
        pod_add_mount(pod, HADOOP_FILES_VOLUME, "/opt/hadoop/conf");
        pod_add_env(pod, "HADOOP_CONF_DIR", "/opt/hadoop/conf");
}
