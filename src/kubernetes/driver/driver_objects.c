/* Lists the objects of a submission. */
#include "kubernetes/driver/driver_objects.h"

#include "base/mem.h"
#include "kubernetes/pods/driver_builder.h"
#include "kubernetes/conf/kube_settings.h"

/* Appends copies of @objects, owned by @pod unless that is NULL. */
static void driver_objects_append(json_t *out, const json_t *objects, const json_t *pod)
{
        json_t *object;
        size_t i;
        json_array_foreach((json_t *)objects, i, object) {
                json_t *copy = json_deep_copy(object);
                if (pod)
                        kube_set_owner(copy, pod);
                json_array_append_new(out, copy);
        }
}

/* Replaces a template's namespace by the application's. */
static int put_namespace(const struct kube_conf *c, json_t *pod, struct fst_error *error)
{
        json_t *metadata = json_object_get(pod, "metadata");
        _cleanup_free_ char *namespace = NULL;
        int r = kube_string(c, "spark.kubernetes.namespace", &namespace, error);
        if (r == 0 && json_object_get(metadata, "namespace"))
                kube_put(metadata, "namespace", namespace);
        return r;
}

static int driver_objects_make_list(const struct kube_conf *c, const char *uid, json_t **out, size_t *pod_at,
                                    struct fst_error *error)
{
        _cleanup_(driver_spec_deinit) struct driver_pod_spec spec = {0};
        json_t *pod = NULL, *map = NULL;
        int r = driver_spec_build(c, &spec, error);
        if (r == 0)
                r = driver_spec_finish(c, &spec, &pod, &map, error);
        if (r < 0)
                return r;
        r = put_namespace(c, pod, error);
        if (r < 0) {
                json_decref(pod);
                json_decref(map);
                return r;
        }
        json_t *objects = json_array(), *owner = uid ? json_deep_copy(pod) : NULL;
        if (owner)
                kube_put(kube_child(owner, "metadata"), "uid", uid);
        driver_objects_append(objects, spec.pre_resources, NULL);
        if (pod_at)
                *pod_at = json_array_size(objects);
        json_array_append_new(objects, pod);
        if (uid)
                driver_objects_append(objects, spec.pre_resources, owner);
        if (map)
                json_array_append_new(spec.resources, map);
        driver_objects_append(objects, spec.resources, owner);
        json_decref(owner);
        *out = objects;
        return 0;
}

int driver_objects_make(const struct kube_conf *c, json_t **out, size_t *pod_at, struct fst_error *error)
{
        return driver_objects_make_list(c, NULL, out, pod_at, error);
}

int driver_objects_sent(const struct kube_conf *c, const char *uid, json_t **out, struct fst_error *error)
{
        return driver_objects_make_list(c, uid, out, NULL, error);
}
