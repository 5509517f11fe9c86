/*
 * The basic executor pod: name, labels, image, memory and cores, the driver's URL, the configuration files, and the
 * command that runs before it stops. Spark's BasicExecutorFeatureStep.
 */
#include "kubernetes/pods/feature_step.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "kubernetes/pods/conf_files.h"
#include "kubernetes/pods/driver_builder.h"
#include "kubernetes/pods/executor_resources.h"
#include "kubernetes/pods/java_options.h"
#include "kubernetes/api/kube_names.h"
#include "kubernetes/conf/kube_settings.h"
#include "kubernetes/pods/pod_parts.h"
#include "kubernetes/api/quantity.h"
#include "text/json.h"

#include <errno.h>
#include <math.h>

#define VOLUME "spark-conf-volume-exec"
#define EXECUTOR "spark.kubernetes.executor."

static bool has_default_profile(const struct kube_conf *c)
{
        return !c->profile || c->profile->id == 0;
}

static char *pod_name(const struct kube_conf *c)
{
        return mem_printf("%s-exec-%s", c->prefix, c->executor_id);
}

static int read_block_port(const struct kube_conf *c, int64_t *port, struct fst_error *error)
{
        int r = kube_number(c, "spark.blockManager.port", KUBE_BLOCK_MANAGER_PORT, port, error);
        if (r == 0 && *port != 0 && (*port < 1024 || *port > 65535))
                r = error_set(error, -EINVAL, "requirement failed: port number must be 0 or in [1024, 65535]");
        return r;
}

static int basic_executor_driver_url(const struct kube_conf *c, char **out, struct fst_error *error)
{
        _cleanup_free_ char *host = NULL;
        int64_t port;
        bool by_address;
        int r = kube_bool(c, EXECUTOR "useDriverPodIP", &by_address, error);
        if (r == 0)
                r = kube_string(c, by_address ? "spark.driver.bindAddress" : "spark.driver.host", &host, error);
        if (r == 0)
                r = kube_number(c, "spark.driver.port", KUBE_DRIVER_PORT, &port, error);
        if (r == 0 && !host)
                r = error_set(error, -EINVAL,
                              "spark.driver.host is not set: executors do not know where the driver is");
        if (r == 0)
                *out = mem_printf(strchr(host, ':') && host[0] != '[' ? "spark://CoarseGrainedScheduler@[%s]:%lld"
                                                                      : "spark://CoarseGrainedScheduler@%s:%lld",
                                  host, (long long)port);
        return r;
}

static int basic_executor_check(const struct kube_conf *c, struct fst_error *error)
{
        _cleanup_(executor_size_deinit) struct executor_size size = {0};
        _cleanup_free_ char *image = NULL;
        _cleanup_free_ char *url = NULL;
        int64_t port;
        bool flag;
        int r = kube_image(c, &image, error);
        if (r == 0)
                r = kube_bool(c, EXECUTOR "securityContext.allowPrivilegeEscalation", &flag, error);
        if (r == 0)
                r = read_block_port(c, &port, error);
        if (r == 0)
                r = basic_executor_driver_url(c, &url, error);
        if (r == 0)
                r = kube_bool(c, EXECUTOR "disableConfigMap", &flag, error);
        return r < 0 ? r : executor_size_read(c, &size, error);
}

/* Returns the cores that tasks may use: one task's cores while the application recovers from out-of-memory failures. */
static int cores_to_use(const struct kube_conf *c, const struct executor_size *size, char **out,
                        struct fst_error *error)
{
        bool recovery = false;
        int r = kube_is_set(c, "spark.kubernetes.allocation.recoveryMode.enabled")
                        ? kube_bool(c, "spark.kubernetes.allocation.recoveryMode.enabled", &recovery, error)
                        : 0;
        if (r < 0)
                return r;
        const char *set = conf_get_raw(c->conf, "spark.task.cpus");
        double cpus = ceil(set ? strtod(set, NULL) : 1);
        *out = mem_printf("%lld", recovery ? (long long)MAX(cpus, 1.0) : (long long)size->cores);
        return 0;
}

/* Adds the user's variables, with application and executor ids filled in. */
static void add_user_environment(const struct kube_conf *c, struct spark_pod *pod)
{
        _cleanup_(strmap_deinit) struct strmap environment = STRMAP_INIT;
        kube_environment(c, &environment);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&environment, e));) {
                if (strcmp(e->key, "SPARK_EXECUTOR_DIRS") != 0) {
                        pod_add_env(pod, e->key, e->value);
                        continue;
                }
                _cleanup_free_ char *with_app = kube_replace(e->value, "SPARK_APPLICATION_ID", c->app_id);
                _cleanup_free_ char *directories = kube_replace(with_app, "SPARK_EXECUTOR_ID", c->executor_id);
                pod_add_env(pod, e->key, directories);
        }
}

static int add_java_environment(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list options = {0};
        _cleanup_free_ char *class_path = NULL;
        _cleanup_free_ char *library_path = NULL;
        int r = value_with_default(c, "spark.executor.defaultExtraClassPath", "spark.executor.extraClassPath", ":",
                                   &class_path, error);
        if (r == 0)
                r = kube_string(c, "spark.executor.extraLibraryPath", &library_path, error);
        if (r == 0)
                r = java_options_read(c, &options, error);
        if (r < 0)
                return r;
        pod_add_env(pod, "SPARK_CLASSPATH", class_path);
        pod_add_env(pod, "SPARK_EXECUTOR_LIBRARY_PATH", library_path);
        java_options_put(&options, pod);
        return 0;
}

static int basic_executor_add_environment(const struct kube_conf *c, const struct executor_size *size,
                                          struct spark_pod *pod, struct fst_error *error)
{
        _cleanup_free_ char *url = NULL;
        _cleanup_free_ char *cores = NULL;
        _cleanup_free_ char *secret_file = NULL;
        _cleanup_free_ char *memory = mem_printf("%lldm", (long long)size->memory);
        _cleanup_free_ char *profile = mem_printf("%d", c->profile ? c->profile->id : 0);
        int r = basic_executor_driver_url(c, &url, error);
        if (r == 0)
                r = cores_to_use(c, size, &cores, error);
        if (r == 0)
                r = kube_string(c, "spark.authenticate.secret.executor.file", &secret_file, error);
        if (r < 0)
                return r;
        pod_add_env(pod, "SPARK_USER", c->user);
        pod_add_env(pod, "SPARK_DRIVER_URL", url);
        pod_add_env(pod, "SPARK_EXECUTOR_CORES", cores);
        pod_add_env(pod, "SPARK_EXECUTOR_MEMORY", memory);
        pod_add_env(pod, "SPARK_APPLICATION_ID", c->resumed_app_id ? c->resumed_app_id : c->app_id);
        pod_add_env(pod, "SPARK_CONF_DIR", KUBE_CONF_DIR);
        pod_add_env(pod, "SPARK_EXECUTOR_ID", c->executor_id);
        pod_add_env(pod, "SPARK_RESOURCE_PROFILE_ID", profile);
        if (kube_is_set(c, "spark.ui.custom.executor.log.url")) {
                pod_add_env(pod, "SPARK_EXECUTOR_ATTRIBUTE_APP_ID", c->app_id);
                pod_add_env(pod, "SPARK_EXECUTOR_ATTRIBUTE_EXECUTOR_ID", c->executor_id);
        }
        add_user_environment(c, pod);
        pod_add_env(pod, "_SPARK_AUTH_SECRET", secret_file ? NULL : c->secret);
        r = add_java_environment(c, pod, error);
        pod_add_field_env(pod, "SPARK_EXECUTOR_POD_IP", "status.podIP");
        pod_add_field_env(pod, "SPARK_EXECUTOR_POD_NAME", "metadata.name");
        return r;
}

/* Sets *@out to the cpu request. The caller owns it. */
static int request_cores(const struct kube_conf *c, const struct executor_size *size, char **out,
                         struct fst_error *error)
{
        char *request = NULL;
        int r = has_default_profile(c) ? kube_string(c, EXECUTOR "request.cores", &request, error) : 0;
        if (r == 0 && !request)
                request = mem_printf("%lld", (long long)size->cores);
        if (r == 0)
                r = quantity_check(request, error);
        if (r < 0)
                free(request);
        else
                *out = request;
        return r;
}

/* Sets *@out to the cpu limit, NULL for none. The caller owns it. */
static int limit_cores(const struct kube_conf *c, const char *request, char **out, struct fst_error *error)
{
        char *limit = NULL;
        int order = 0;
        int r = has_default_profile(c) ? kube_string(c, EXECUTOR "limit.cores", &limit, error) : 0;
        if (r == 0 && limit) {
                r = quantity_check(limit, error);
                if (r == 0)
                        r = quantity_compare(limit, request, &order, error);
                if (r == 0 && order < 0)
                        r = error_set(error, -EINVAL,
                                      "The executor cpu request (%s) should be less than or equal to cpu limit (%s)",
                                      request, limit);
        }
        if (r < 0)
                free(limit);
        else
                *out = limit;
        return r;
}

static void add_resize_policy(struct spark_pod *pod, const char *resource)
{
        json_array_append_new(kube_children(pod->container, "resizePolicy"),
                              json_pack("{s:s,s:s}", "resourceName", resource, "restartPolicy", "NotRequired"));
}

static int basic_executor_add_resources(const struct kube_conf *c, const struct executor_size *size,
                                        struct spark_pod *pod, struct fst_error *error)
{
        _cleanup_free_ char *request = NULL;
        _cleanup_free_ char *limit = NULL;
        _cleanup_free_ char *memory = mem_printf("%lldMi", (long long)size->total);
        int r = request_cores(c, size, &request, error);
        if (r == 0)
                r = limit_cores(c, request, &limit, error);
        if (r < 0)
                return r;
        if (!has_default_profile(c)) /* a template has the amounts of the default profile */
                json_object_del(pod->container, "resources");
        json_t *resources = kube_child(pod->container, "resources");
        json_t *requests = kube_child(resources, "requests"), *limits = kube_child(resources, "limits");
        kube_put(requests, "memory", memory);
        kube_put(limits, "memory", memory);
        kube_put(requests, "cpu", request);
        kube_put_all(limits, &size->custom);
        kube_put(limits, "cpu", limit);
        add_resize_policy(pod, "cpu");
        add_resize_policy(pod, "memory");
        return 0;
}

static int basic_executor_configure_container(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error)
{
        _cleanup_(executor_size_deinit) struct executor_size size = {0};
        _cleanup_free_ char *script = NULL;
        int64_t port;
        bool decommission;
        int r = executor_size_read(c, &size, error);
        if (r == 0)
                r = pod_put_container(c, pod, KUBE_EXECUTOR_CONTAINER, error);
        if (r == 0)
                r = basic_executor_add_environment(c, &size, pod, error);
        if (r == 0)
                r = read_block_port(c, &port, error);
        if (r == 0)
                r = basic_executor_add_resources(c, &size, pod, error);
        if (r == 0)
                r = kube_bool(c, "spark.decommission.enabled", &decommission, error);
        if (r == 0)
                r = kube_string(c, "spark.kubernetes.decommission.script", &script, error);
        if (r < 0)
                return r;
        if (port)
                pod_add_port(pod, "blockmanager", port, NULL);
        pod_add_argument(pod, "executor");
        if (decommission)
                json_object_set_new(pod->container, "lifecycle",
                                    json_pack("{s:{s:{s:[o]}}}", "preStop", "exec", "command", kube_text(script)));
        return 0;
}

static bool is_word(char c)
{
        return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Returns the end of the pod's name as a DNS label: drops invalid characters at the start, replaces others by "_". */
static char *host_name(const char *pod, bool lower)
{
        size_t n = strlen(pod);
        struct buf out = BUF_INIT;
        pod += n > MAX_KUBE_LABEL ? n - MAX_KUBE_LABEL : 0;
        while (*pod && !is_word(*pod))
                pod++;
        for (bool bad = false; *pod; pod++) {
                if (is_word(*pod) || *pod == '-')
                        buf_putc(&out, lower && *pod >= 'A' && *pod <= 'Z' ? (char)(*pod + 'a' - 'A') : *pod);
                else if (!bad)
                        buf_putc(&out, '_');
                bad = !is_word(*pod) && *pod != '-';
        }
        return buf_steal(&out);
}

static void add_owner(const struct kube_conf *c, struct spark_pod *pod)
{
        json_t *holder = json_object();
        kube_set_executors_owner(holder, c);
        if (json_object_size(holder))
                json_array_extend(kube_children(pod_metadata(pod), "ownerReferences"),
                                  json_at(holder, "metadata.ownerReferences"));
        json_decref(holder);
}

static int configure_pod(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error)
{
        _cleanup_free_ char *allocator = NULL;
        _cleanup_free_ char *name = pod_name(c);
        int64_t grace;
        int r = kube_string(c, "spark.kubernetes.allocation.pods.allocator", &allocator, error);
        if (r == 0)
                r = kube_seconds(c, EXECUTOR "terminationGracePeriodSeconds", &grace, error);
        if (r < 0)
                return r;
        bool deployment = strcmp(allocator, "deployment") == 0;
        bool restarts = deployment || strcmp(allocator, "statefulset") == 0;
        _cleanup_free_ char *host = host_name(name, deployment);
        kube_put(pod_metadata(pod), "name", name);
        add_owner(c, pod);
        kube_put(pod_spec(pod), "hostname", host);
        kube_put(pod_spec(pod), "restartPolicy", restarts ? "Always" : "Never");
        json_object_set_new(pod_spec(pod), "terminationGracePeriodSeconds", json_integer(grace));
        return pod_put_common(c, pod, error);
}

static int basic_executor_add_files(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error)
{
        json_t *files = NULL;
        bool disabled;
        int r = kube_bool(c, EXECUTOR "disableConfigMap", &disabled, error);
        if (r < 0 || disabled)
                return r;
        r = conf_files_read(c, NULL, &files, error);
        if (r < 0)
                return r;
        pod_add_mount(pod, VOLUME, KUBE_CONF_DIR);
        pod_add_volume(pod, conf_files_volume(c, VOLUME, files));
        json_decref(files);
        return 0;
}

static int basic_executor_configure(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error)
{
        int r = basic_executor_configure_container(c, pod, error);
        if (r == 0)
                r = configure_pod(c, pod, error);
        return r < 0 ? r : basic_executor_add_files(c, pod, error);
}

const struct feature_step basic_executor_step = {
        .class_name = "org.apache.spark.deploy.k8s.features.BasicExecutorFeatureStep",
        .check = basic_executor_check,
        .configure = basic_executor_configure,
};
