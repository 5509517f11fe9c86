/*
 * Hadoop's configuration files in the driver pod: those of HADOOP_CONF_DIR in a new config map, or an existing map.
 * HadoopConfDriverFeatureStep.
 */
#include "kubernetes/pods/feature_step.h"

#include "base/error.h"
#include "base/mem.h"
#include "kubernetes/pods/conf_files.h"
#include "kubernetes/pods/hadoop_files.h"
#include "kubernetes/conf/kube_settings.h"

#include <errno.h>

#define EXISTING "spark.kubernetes.hadoop.configMapName"
#define MOST ((size_t)16 << 20) /* bytes of a file */

static char *hadoop_conf_driver_map_name(const struct kube_conf *c)
{
        return mem_printf("%s-hadoop-config", c->prefix);
}

static int hadoop_conf_driver_check(const struct kube_conf *c, struct fst_error *error)
{
        _cleanup_free_ char *existing = NULL;
        int r = kube_string(c, EXISTING, &existing, error);
        if (r == 0 && existing && c->env("HADOOP_CONF_DIR"))
                r = error_set(error, -EINVAL,
                              "requirement failed: Do not specify both the `HADOOP_CONF_DIR` in your ENV and the "
                              "ConfigMap as the creation of an additional ConfigMap, when one is already specified is "
                              "extraneous");
        return r;
}

static int hadoop_conf_driver_configure(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error)
{
        _cleanup_free_ char *existing = NULL;
        _cleanup_free_ char *fresh = hadoop_conf_driver_map_name(c);
        const char *folder = c->env("HADOOP_CONF_DIR");
        int r = kube_string(c, EXISTING, &existing, error);
        if (r < 0 || (!folder && !existing))
                return r;
        json_t *volume = config_map_volume(HADOOP_FILES_VOLUME, folder ? fresh : existing);
        if (folder) {
                _cleanup_(string_list_deinit) struct string_list names = {0};
                folder_files(folder, &names);
                for (size_t i = 0; i < names.len; i++)
                        json_array_append_new(kube_children(kube_child(volume, "configMap"), "items"),
                                              key_to_path(names.data[i], names.data[i]));
        }
        hadoop_files_mount(pod, volume);
        return 0;
}

static int hadoop_conf_driver_properties(const struct kube_conf *c, struct strmap *out, struct fst_error *error)
{
        _cleanup_free_ char *existing = NULL;
        _cleanup_free_ char *fresh = hadoop_conf_driver_map_name(c);
        int r = kube_string(c, EXISTING, &existing, error);
        if (r == 0 && (existing || c->env("HADOOP_CONF_DIR")))
                strmap_set(out, HADOOP_FILES_MAP_KEY, existing ? existing : fresh);
        return r;
}

static int hadoop_conf_driver_resources(const struct kube_conf *c, json_t *out, struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list names = {0};
        _cleanup_free_ char *name = hadoop_conf_driver_map_name(c);
        const char *folder = c->env("HADOOP_CONF_DIR");
        int r = 0;
        if (!folder)
                return 0;
        json_t *map = kube_immutable("ConfigMap", name);
        json_array_append_new(out, map);
        folder_files(folder, &names);
        for (size_t i = 0; r == 0 && i < names.len; i++) {
                _cleanup_free_ char *path = mem_printf("%s/%s", folder, names.data[i]);
                r = file_content_put(kube_child(map, "data"), names.data[i], path, MOST, error);
        }
        return r;
}

const struct feature_step hadoop_conf_driver_step = {
        .class_name = "org.apache.spark.deploy.k8s.features.HadoopConfDriverFeatureStep",
        .check = hadoop_conf_driver_check,
        .configure = hadoop_conf_driver_configure,
        .properties = hadoop_conf_driver_properties,
        .resources = hadoop_conf_driver_resources,
};
