/*
 * The user's volumes and new claims for them: MountVolumesFeatureStep. A claim named OnDemand gets a name of its own.
 * With a storage class and a size it is created with the pod.
 */
#include "kubernetes/pods/feature_step.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "kubernetes/api/kube_names.h"
#include "kubernetes/conf/kube_settings.h"
#include "kubernetes/api/quantity.h"
#include "kubernetes/conf/volume_spec.h"

#include <errno.h>

static int read_specs(const struct kube_conf *c, struct volume_specs *out, struct fst_error *error)
{
        _cleanup_free_ char *prefix = mem_printf("spark.kubernetes.%s.volumes.", kube_role_name(c));
        return volume_specs_read(c, prefix, out, error);
}

static int check_paths(const struct volume_specs *specs, struct fst_error *error)
{
        _cleanup_(strmap_deinit) struct strmap seen = STRMAP_INIT, twice = STRMAP_INIT;
        _cleanup_(buf_deinit) struct buf all = BUF_INIT;
        for (size_t i = 0; i < specs->len; i++)
                if (!strmap_set_if_missing(&seen, specs->data[i].mount_path, ""))
                        strmap_set(&twice, specs->data[i].mount_path, "");
        for (struct strmap_entry *e = NULL; (e = strmap_next(&twice, e));)
                buf_printf(&all, "%s'%s'", all.len ? ", " : "", e->key);
        return all.len ? error_set(error, -EINVAL, "requirement failed: Found duplicated mountPath: %s", buf_text(&all))
                       : 0;
}

/* Returns the claim name of volume @i. */
static char *claim_name(const struct kube_conf *c, const struct volume_spec *v, size_t i)
{
        bool executor = c->role == KUBE_EXECUTOR;
        _cleanup_free_ char *fresh = mem_printf("%s-%s%s-pvc-%zu", c->prefix, executor ? "exec-" : "driver",
                                                executor ? c->executor_id : "", i);
        char *name = kube_replace(v->claim, "OnDemand", fresh);
        if (!executor)
                return name;
        char *with_id = kube_replace(name, "SPARK_EXECUTOR_ID", c->executor_id);
        free(name);
        return with_id;
}

static void add_mount(const struct volume_spec *v, struct spark_pod *pod)
{
        json_array_append_new(kube_children(pod->container, "volumeMounts"),
                              json_pack("{s:o,s:b,s:o,s:o,s:o}", "mountPath", kube_text(v->mount_path), "readOnly",
                                        v->read_only, "subPath", kube_text(v->sub_path), "subPathExpr",
                                        kube_text(v->sub_path_expr), "name", kube_text(v->name)));
}

static json_t *make_source(const struct kube_conf *c, const struct volume_spec *v, size_t i)
{
        switch (v->type) {
        case VOLUME_HOST_PATH:
                return json_pack("{s:o,s:o}", "path", kube_text(v->path), "type", kube_text(v->host_type));
        case VOLUME_NFS:
                return json_pack("{s:o,s:o}", "path", kube_text(v->path), "server", kube_text(v->server));
        case VOLUME_CLAIM: {
                _cleanup_free_ char *name = claim_name(c, v, i);
                return json_pack("{s:o,s:b}", "claimName", kube_text(name), "readOnly", v->read_only);
        }
        default: {
                json_t *source = json_pack("{s:o}", "medium", kube_text(v->medium ? v->medium : ""));
                kube_put(source, "sizeLimit", v->size);
                return source;
        }
        }
}

static int mount_volumes_configure(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error)
{
        static const char *const sources[] = {
                [VOLUME_HOST_PATH] = "hostPath",
                [VOLUME_CLAIM] = "persistentVolumeClaim",
                [VOLUME_EMPTY_DIR] = "emptyDir",
                [VOLUME_NFS] = "nfs",
        };
        _cleanup_(volume_specs_deinit) struct volume_specs specs = {0};
        int r = read_specs(c, &specs, error);
        if (r == 0)
                r = check_paths(&specs, error);
        for (size_t i = 0; r == 0 && i < specs.len; i++) {
                const struct volume_spec *v = &specs.data[i];
                bool sized = v->size && (v->type == VOLUME_EMPTY_DIR || (v->type == VOLUME_CLAIM && v->storage_class));
                r = sized ? quantity_check(v->size, error) : 0;
                if (r < 0)
                        break;
                add_mount(v, pod);
                pod_add_volume(pod, json_pack("{s:o,s:o}", "name", kube_text(v->name), sources[v->type],
                                              make_source(c, v, i)));
        }
        return r;
}

static json_t *make_claim(const struct kube_conf *c, const struct volume_spec *v, size_t i, bool legacy)
{
        _cleanup_free_ char *name = claim_name(c, v, i);
        json_t *claim =
                json_pack("{s:s,s:s,s:{s:o},s:{s:o,s:[s],s:{s:{s:o}}}}", "apiVersion", "v1", "kind",
                          "PersistentVolumeClaim", "metadata", "name", kube_text(name), "spec", "storageClassName",
                          kube_text(v->storage_class), "accessModes", legacy ? "ReadWriteOnce" : "ReadWriteOncePod",
                          "resources", "requests", "storage", kube_text(v->size));
        json_t *metadata = kube_child(claim, "metadata"), *labels = kube_child(metadata, "labels");
        kube_put_all(labels, &v->labels);
        kube_put(labels, KUBE_LABEL_APP_ID, c->app_id);
        kube_put_below(metadata, "annotations", &v->annotations);
        return claim;
}

static int mount_volumes_resources(const struct kube_conf *c, json_t *out, struct fst_error *error)
{
        _cleanup_(volume_specs_deinit) struct volume_specs specs = {0};
        bool legacy;
        int r = kube_bool(c, "spark.kubernetes.legacy.useReadWriteOnceAccessMode", &legacy, error);
        if (r == 0)
                r = read_specs(c, &specs, error);
        for (size_t i = 0; r == 0 && i < specs.len; i++) {
                const struct volume_spec *v = &specs.data[i];
                if (v->type == VOLUME_CLAIM && v->storage_class && v->size)
                        json_array_append_new(out, make_claim(c, v, i, legacy));
        }
        return r;
}

static int mount_volumes_check(const struct kube_conf *c, struct fst_error *error)
{
        bool legacy;
        return kube_bool(c, "spark.kubernetes.legacy.useReadWriteOnceAccessMode", &legacy, error);
}

const struct feature_step mount_volumes_step = {
        .class_name = "org.apache.spark.deploy.k8s.features.MountVolumesFeatureStep",
        .check = mount_volumes_check,
        .configure = mount_volumes_configure,
        .resources = mount_volumes_resources,
};
