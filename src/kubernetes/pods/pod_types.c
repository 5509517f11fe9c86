/* Converts the scalars of a pod template. */
#include "kubernetes/pods/pod_types.h"

#include "base/error.h"
#include "base/mem.h"

enum member_type { TEXT, WHOLE, FLAG };

struct pod_member {
        const char *name;
        enum member_type kind;
};

static const struct pod_member metadata_members[] = {
        {"generateName", TEXT},
        {"name", TEXT},
        {"namespace", TEXT},
        {NULL},
};

static const struct pod_member spec_members[] = {
        {"activeDeadlineSeconds", WHOLE},
        {"automountServiceAccountToken", FLAG},
        {"dnsPolicy", TEXT},
        {"enableServiceLinks", FLAG},
        {"hostIPC", FLAG},
        {"hostNetwork", FLAG},
        {"hostPID", FLAG},
        {"hostUsers", FLAG},
        {"hostname", TEXT},
        {"nodeName", TEXT},
        {"preemptionPolicy", TEXT},
        {"priority", WHOLE},
        {"priorityClassName", TEXT},
        {"restartPolicy", TEXT},
        {"runtimeClassName", TEXT},
        {"schedulerName", TEXT},
        {"serviceAccount", TEXT},
        {"serviceAccountName", TEXT},
        {"setHostnameAsFQDN", FLAG},
        {"shareProcessNamespace", FLAG},
        {"subdomain", TEXT},
        {"terminationGracePeriodSeconds", WHOLE},
        {NULL},
};

static const struct pod_member container_members[] = {
        {"image", TEXT},      {"imagePullPolicy", TEXT},
        {"name", TEXT},       {"stdin", FLAG},
        {"stdinOnce", FLAG},  {"terminationMessagePath", TEXT},
        {"tty", FLAG},        {"terminationMessagePolicy", TEXT},
        {"workingDir", TEXT}, {NULL},
};

static const struct pod_member volume_members[] = {{"name", TEXT}, {NULL}};

/* Returns @value as a text (new reference), or NULL for an array or object. */
static json_t *as_text(json_t *value)
{
        if (json_is_string(value) || json_is_null(value))
                return json_incref(value);
        char *text = json_is_object(value) || json_is_array(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY);
        json_t *string = text ? json_string(text) : NULL;
        free(text);
        return string;
}

static json_t *as_whole(json_t *value)
{
        const char *text = json_string_value(value);
        if (json_is_integer(value) || json_is_null(value))
                return json_incref(value);
        const char *digits = text ? text + (*text == '-') : "";
        return *digits && !digits[strspn(digits, "0123456789")] ? json_integer(strtoll(text, NULL, 10)) : NULL;
}

static json_t *as_flag(json_t *value)
{
        const char *text = json_string_value(value);
        if (json_is_boolean(value) || json_is_null(value))
                return json_incref(value);
        if (text && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0))
                return json_boolean(text[0] == 't');
        return NULL;
}

static json_t *pod_types_convert(json_t *value, enum member_type kind)
{
        return kind == TEXT ? as_text(value) : kind == WHOLE ? as_whole(value) : as_flag(value);
}

static int convert_member(json_t *object, const struct pod_member *members, struct fst_error *error)
{
        static const char *const names[] = {[TEXT] = "text", [WHOLE] = "a whole number", [FLAG] = "true or false"};
        for (const struct pod_member *m = members; m->name; m++) {
                json_t *value = json_object_get(object, m->name);
                json_t *converted = value ? pod_types_convert(value, m->kind) : NULL;
                if (value && !converted)
                        return error_set(error, -EINVAL, "%s should be %s", m->name, names[m->kind]);
                if (converted)
                        json_object_set_new(object, m->name, converted);
        }
        return 0;
}

/* Converts all members to text: labels, quantities. */
static int convert_map(json_t *object, const char *name, struct fst_error *error)
{
        json_t *map = json_object_get(object, name), *value;
        const char *key;
        void *next;
        if (map && !json_is_object(map) && !json_is_null(map))
                return error_set(error, -EINVAL, "%s should be a map", name);
        json_object_foreach_safe(map, next, key, value)
        {
                json_t *text = as_text(value);
                if (!text)
                        return error_set(error, -EINVAL, "%s: %s should be text", name, key);
                json_object_set_new(map, key, text);
        }
        return 0;
}

static int convert_list(json_t *object, const char *name, struct fst_error *error)
{
        json_t *list = json_object_get(object, name), *value;
        size_t i;
        if (list && !json_is_array(list) && !json_is_null(list))
                return error_set(error, -EINVAL, "%s should be a list", name);
        json_array_foreach(list, i, value) {
                json_t *text = as_text(value);
                if (!text)
                        return error_set(error, -EINVAL, "%s should hold text", name);
                json_array_set_new(list, i, text);
        }
        return 0;
}

static int convert_environment(json_t *container, struct fst_error *error)
{
        static const struct pod_member variable[] = {{"name", TEXT}, {"value", TEXT}, {NULL}};
        json_t *one;
        size_t i;
        json_array_foreach(json_object_get(container, "env"), i, one) {
                int r = convert_member(one, variable, error);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int convert_container(json_t *container, struct fst_error *error)
{
        json_t *resources = json_object_get(container, "resources");
        int r = convert_member(container, container_members, error);
        if (r == 0)
                r = convert_map(resources, "limits", error);
        if (r == 0)
                r = convert_map(resources, "requests", error);
        if (r == 0)
                r = convert_list(container, "args", error);
        if (r == 0)
                r = convert_list(container, "command", error);
        return r < 0 ? r : convert_environment(container, error);
}

static int convert_containers(json_t *spec, const char *name, struct fst_error *error)
{
        json_t *container;
        size_t i;
        json_array_foreach(json_object_get(spec, name), i, container) {
                int r = convert_container(container, error);
                if (r < 0)
                        return error_wrap(error, r, "%s", name);
        }
        return 0;
}

static int convert_volumes(json_t *spec, struct fst_error *error)
{
        json_t *volume;
        size_t i;
        json_array_foreach(json_object_get(spec, "volumes"), i, volume) {
                int r = convert_member(volume, volume_members, error);
                if (r < 0)
                        return error_wrap(error, r, "volumes");
        }
        return 0;
}

int pod_types_convert_pod(json_t *pod, struct fst_error *error)
{
        json_t *metadata = json_object_get(pod, "metadata"), *spec = json_object_get(pod, "spec");
        int r = convert_member(metadata, metadata_members, error);
        if (r == 0)
                r = convert_map(metadata, "labels", error);
        if (r == 0)
                r = convert_map(metadata, "annotations", error);
        if (r == 0)
                r = convert_member(spec, spec_members, error);
        if (r == 0)
                r = convert_map(spec, "nodeSelector", error);
        if (r == 0)
                r = convert_containers(spec, "containers", error);
        if (r == 0)
                r = convert_containers(spec, "initContainers", error);
        return r < 0 ? r : convert_volumes(spec, error);
}
