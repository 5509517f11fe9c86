/* The driver's Hadoop configuration in executor pods. HadoopConfExecutorFeatureStep. */
#include "kubernetes/pods/feature_step.h"

#include "conf/conf.h"
#include "kubernetes/pods/hadoop_files.h"

static int hadoop_conf_executor_configure(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error)
{
        const char *map = conf_get_raw(c->conf, HADOOP_FILES_MAP_KEY);
        if (map)
                hadoop_files_mount(pod, config_map_volume(HADOOP_FILES_VOLUME, map));
        return 0;
}

const struct feature_step hadoop_conf_executor_step = {
        .class_name = "org.apache.spark.deploy.k8s.features.HadoopConfExecutorFeatureStep",
        .configure = hadoop_conf_executor_configure,
};
