/* Loads and runs feature steps from shared objects. */
#include "kubernetes/pods/native_feature_step.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "kubernetes/conf/kube_conf.h"
#include "kubernetes/pods/spark_pod.h"

#include <firesteel/pod_step.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

struct step_run {
        struct fst_pod_step step; /* first member: the module gets a pointer to it */
        const struct kube_conf *c;
        const char *name;
        struct spark_pod *pod;
        struct strmap *properties;
        json_t *before, *after;
        int result; /* the first failure and its message: */
        struct fst_error *error;
};

static const char *native_feature_step_path_of(const char *name)
{
        static const char *const schemes[] = {"local://", "file://", "file:"};
        for (size_t i = 0; i < ARRAY_SIZE(schemes); i++)
                if (text_starts_with(name, schemes[i]))
                        return name + strlen(schemes[i]);
        return name;
}

bool native_step_is_named(const char *name)
{
        return text_ends_with(name, ".so");
}

int native_step_load(const char *name, native_step_fn **out, struct fst_error *error)
{
        const char *path = native_feature_step_path_of(name);
        if (*path != '/')
                return error_set(error, -EINVAL,
                                 "Failed to initialize feature step: %s must be the absolute path of a shared object",
                                 name);
        void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (!handle)
                return error_set(error, -EINVAL, "Failed to initialize feature step: %s", dlerror());
        void *found = dlsym(handle, "fst_pod_step");
        dlclose(handle);
        if (!found)
                return error_set(error, -EINVAL,
                                 "Failed to initialize feature step: %s has no function fst_pod_step "
                                 "(firesteel/pod_step.h)",
                                 name);
        *out = (native_step_fn *)found;
        return 0;
}

static int native_feature_step_failed(struct step_run *run, int r, const char *why)
{
        if (run->result == 0)
                run->result = error_set(run->error, r, "feature step %s: %s", run->name, why);
        return r;
}

static const char *native_feature_step_setting(struct fst_pod_step *step, const char *key)
{
        return conf_get_raw(((struct step_run *)step)->c->conf, key);
}

static json_t *object_of(struct step_run *run, const char *what, const char *text)
{
        json_error_t at;
        json_t *value = text ? json_loads(text, 0, &at) : NULL;
        if (json_is_object(value))
                return value;
        json_decref(value);
        _cleanup_free_ char *why = !text   ? mem_printf("the %s is NULL", what)
                                   : value ? mem_printf("the %s is not a JSON object", what)
                                           : mem_printf("the %s is not valid JSON: %s in line %d, column %d", what,
                                                        at.text, at.line, at.column);
        native_feature_step_failed(run, -EINVAL, why);
        return NULL;
}

static int native_feature_step_replace(struct step_run *run, json_t **place, const char *what, const char *text)
{
        json_t *value = object_of(run, what, text);
        if (!value)
                return -EINVAL;
        json_decref(*place);
        *place = value;
        return 0;
}

static int set_pod(struct fst_pod_step *step, const char *json)
{
        struct step_run *run = (struct step_run *)step;
        return native_feature_step_replace(run, &run->pod->pod, "pod", json);
}

static int set_container(struct fst_pod_step *step, const char *json)
{
        struct step_run *run = (struct step_run *)step;
        return native_feature_step_replace(run, &run->pod->container, "container", json);
}

static int native_feature_step_append(struct step_run *run, json_t *list, const char *text)
{
        json_t *value = object_of(run, "object", text);
        if (!value)
                return -EINVAL;
        json_array_append_new(list, value);
        return 0;
}

static int add_before(struct fst_pod_step *step, const char *json)
{
        struct step_run *run = (struct step_run *)step;
        return run->before ? native_feature_step_append(run, run->before, json)
                           : native_feature_step_failed(run, -ENOTSUP,
                                                        "an executor's step cannot create objects before the pod");
}

static int add_after(struct fst_pod_step *step, const char *json)
{
        struct step_run *run = (struct step_run *)step;
        return native_feature_step_append(run, run->after, json);
}

static int native_feature_step_set_property(struct fst_pod_step *step, const char *key, const char *value)
{
        struct step_run *run = (struct step_run *)step;
        if (!run->properties)
                return native_feature_step_failed(run, -ENOTSUP,
                                                  "an executor's step cannot change settings, which are the driver's");
        if (!key || !*key || !value)
                return native_feature_step_failed(run, -EINVAL, "a setting needs a name and a value");
        strmap_set(run->properties, key, value);
        return 0;
}

static int native_feature_step_refuse(struct fst_pod_step *step, const char *why)
{
        return native_feature_step_failed((struct step_run *)step, -EINVAL, why ? why : "it has failed");
}

int native_step_run(native_step_fn *step, const char *name, const struct kube_conf *c, struct spark_pod *pod,
                    struct strmap *properties, json_t *before, json_t *after, struct fst_error *error)
{
        char *pod_text = json_dumps(pod->pod, JSON_COMPACT), *container = json_dumps(pod->container, JSON_COMPACT);
        struct step_run run = {
                .step = {.version = FST_POD_STEP_VERSION,
                         .role = kube_role_name(c),
                         .application_id = c->app_id,
                         .executor_id = c->role == KUBE_EXECUTOR ? c->executor_id : NULL,
                         .pod = pod_text,
                         .container = container,
                         .setting = native_feature_step_setting,
                         .set_pod = set_pod,
                         .set_container = set_container,
                         .add_before = add_before,
                         .add_after = add_after,
                         .set_property = native_feature_step_set_property,
                         .refuse = native_feature_step_refuse},
                .c = c,
                .name = name,
                .pod = pod,
                .properties = properties,
                .before = before,
                .after = after,
                .error = error,
        };
        int r = step(&run.step);
        if (r != 0 && run.result == 0)
                native_feature_step_failed(&run, -EINVAL, "it has failed");
        free(pod_text);
        free(container);
        return run.result < 0 ? -EINVAL : 0;
}
