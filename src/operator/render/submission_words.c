/*
 * See submission_words.h.
 *
 * A later --conf wins, so fields win over sparkConf, and labels of a pod over those of the application.
 */
#include "operator/render/submission_words.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "kubernetes/api/kube_names.h"
#include "text/json.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>

#define KUBERNETES "spark.kubernetes."
#define POD_NAME_KEY KUBERNETES "driver.pod.name"
#define RESUME "spark.firesteel.resume."

/* -------------------------------------------------------------------------------------------------------- appending */

static void words_option(struct string_list *words, const char *option, const char *value)
{
        if (!value)
                return;
        string_list_add(words, option);
        string_list_add(words, value);
}

/* Appends --conf KEY=@value unless @value is NULL. @format makes the key. */
__attribute__((format(printf, 3, 4))) static void words_conf(struct string_list *words, const char *value,
                                                             const char *format, ...)
{
        _cleanup_(buf_deinit) struct buf word = BUF_INIT;
        va_list args;
        if (!value)
                return;
        va_start(args, format);
        buf_vprintf(&word, format, args);
        va_end(args);
        buf_printf(&word, "=%s", value);
        string_list_add(words, "--conf");
        string_list_take(words, buf_steal(&word));
}

static void words_conf_int(struct string_list *words, const struct field_int *value, const char *key)
{
        _cleanup_free_ char *text = value->set ? mem_printf("%lld", (long long)value->value) : NULL;
        words_conf(words, text, "%s", key);
}

/* An empty text is absent. */
static void words_conf_filled(struct string_list *words, const char *value, const char *key)
{
        words_conf(words, value && *value ? value : NULL, "%s", key);
}

static void words_conf_bool(struct string_list *words, enum field_bool value, const char *key)
{
        words_conf(words, value == FIELD_UNSET ? NULL : value == FIELD_TRUE ? "true" : "false", "%s", key);
}

/* Appends --conf PREFIX+name=value for each member. */
static void words_conf_map(struct string_list *words, const json_t *map, const char *prefix, const char *role,
                           const char *kind)
{
        const char *name;
        json_t *value;
        json_object_foreach((json_t *)map, name, value)
                words_conf(words, json_string_value(value), "%s%s%s%s", prefix, role, kind, name);
}

/* Returns the elements with commas between them, or NULL without one. The caller owns it. */
static char *words_join(const json_t *list)
{
        struct buf out = BUF_INIT;
        json_t *element;
        size_t i;
        json_array_foreach((json_t *)list, i, element)
                buf_printf(&out, "%s%s", i > 0 ? "," : "",
                           json_string_value(element) ? json_string_value(element) : "");
        return json_array_size(list) > 0 ? buf_steal(&out) : NULL;
}

static void words_list(struct string_list *words, const char *option, const json_t *list)
{
        _cleanup_free_ char *joined = words_join(list);
        words_option(words, option, joined);
}

void submission_packages(const struct spark_application *app, struct strmap *conf)
{
        const struct {
                const json_t *list;
                const char *key;
        } lists[] = {
                {app->spec.deps.packages, "spark.jars.packages"},
                {app->spec.deps.exclude_packages, "spark.jars.excludes"},
                {app->spec.deps.repositories, "spark.jars.repositories"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
                _cleanup_free_ char *joined = words_join(lists[i].list);
                if (joined)
                        strmap_set(conf, lists[i].key, joined);
        }
}

/* ----------------------------------------------------------------------------------------------- both kinds of pods */

static bool words_needs_webhook(const struct spark_application_spec *s, const struct spark_pod_fields *pod)
{
        const char *version = s->spark_version ? s->spark_version : "";
        version += *version == 'v';
        return !pod->template || (isdigit((unsigned char)*version) && strtol(version, NULL, 10) < 3);
}

static void words_operator_labels(const struct spark_application *app, const struct render_options *o, bool driver,
                                  struct string_list *words)
{
        const struct spark_pod_fields *pod = driver ? &app->spec.driver.pod : &app->spec.executor.pod;
        const char *role = driver ? "driver" : "executor";
        words_conf(words, app->name, KUBERNETES "%s.label." LABEL_APP_NAME, role);
        words_conf(words, "true", KUBERNETES "%s.label." LABEL_LAUNCHED, role);
        if (words_needs_webhook(&app->spec, pod))
                words_conf(words, "true", KUBERNETES "%s.label." LABEL_MUTATED, role);
        words_conf(words, o->submission_id, KUBERNETES "%s.label." LABEL_SUBMISSION_ID, role);
}

static void words_image(const struct spark_application *app, bool driver, struct string_list *words)
{
        const char *own = driver ? app->spec.driver.pod.image : app->spec.executor.pod.image;
        const char *image = own && *own ? own : app->spec.image;
        words_conf(words, image && *image ? image : NULL, KUBERNETES "%s.container.image",
                   driver ? "driver" : "executor");
}

/* Kueue manages the application, not its pods: its labels are not copied. */
static void words_labels(const struct spark_application *app, const char *role, const struct spark_pod_fields *pod,
                         struct string_list *words)
{
        const char *name;
        json_t *value;
        json_object_foreach((json_t *)app->labels, name, value) {
                if (!text_starts_with(name, "kueue.x-k8s.io/"))
                        words_conf(words, json_string_value(value), KUBERNETES "%s.label.%s", role, name);
        }
        words_conf_map(words, pod->labels, KUBERNETES, role, ".label.");
        words_conf_map(words, pod->annotations, KUBERNETES, role, ".annotation.");
}

static void words_secret_keys(const char *role, const struct spark_pod_fields *pod, struct string_list *words)
{
        const char *name;
        json_t *value;
        json_object_foreach((json_t *)pod->env_secret_key_refs, name, value) {
                _cleanup_free_ char *reference =
                        mem_printf("%s:%s", json_text_or_empty(value, "name"), json_text_or_empty(value, "key"));
                words_conf(words, reference, KUBERNETES "%s.secretKeyRef.%s", role, name);
        }
}

static const char *words_env_prefix(bool driver)
{
        return driver ? KUBERNETES "driverEnv." : "spark.executorEnv.";
}

static void words_secrets(bool driver, const struct spark_pod_fields *pod, struct string_list *words)
{
        static const struct {
                const char *type, *variable, *file;
        } kinds[] = {
                {"GCPServiceAccount", "GOOGLE_APPLICATION_CREDENTIALS", "key.json"},
                {"HadoopDelegationToken", "HADOOP_TOKEN_FILE_LOCATION", "hadoop.token"},
        };
        json_t *json;
        size_t i;
        json_array_foreach((json_t *)pod->secrets, i, json) {
                struct secret_fields secret = {0};
                field_read(&secret_fields_table, json, &secret);
                if (!secret.name || !secret.path)
                        continue;
                words_conf(words, secret.path, KUBERNETES "%s.secrets.%s", driver ? "driver" : "executor", secret.name);
                size_t n = strlen(secret.path);
                for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
                        if (!text_equals(secret.secret_type, kinds[k].type))
                                continue;
                        _cleanup_free_ char *path =
                                mem_printf("%.*s/%s", (int)(n > 0 && secret.path[n - 1] == '/' ? n - 1 : n),
                                           secret.path, kinds[k].file);
                        words_conf(words, path, "%s%s", words_env_prefix(driver), kinds[k].variable);
                }
        }
}

/* ---------------------------------------------------------------------------------------------------- local volumes */

static const json_t *words_find_volume(const struct spark_application *app, const char *name)
{
        return json_find_named(app->spec.volumes, name);
}

/* Appends the options of a volume's source: those of Spark's volumes of that type. */
static void words_volume_options(struct string_list *words, const json_t *source, const char *prefix)
{
        static const char *const texts[] = {"sizeLimit", "medium", "path", "type", "server", "claimName"};
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                const json_t *value = json_object_get(source, texts[i]);
                _cleanup_free_ char *number =
                        json_is_integer(value) ? mem_printf("%lld", (long long)json_integer_value(value)) : NULL;
                const char *text = number ? number : json_string_value(value);
                words_conf(words, text && *text ? text : NULL, "%s.options.%s", prefix, texts[i]);
        }
        if (json_is_true(json_object_get(source, "readOnly")))
                words_conf(words, "true", "%s.options.readOnly", prefix);
}

static int words_local_volume(const struct spark_application *app, const char *role, const json_t *mount,
                              struct string_list *words, struct fst_error *error)
{
        static const char *const types[] = {"emptyDir", "hostPath", "nfs", "persistentVolumeClaim"};
        const char *name = json_text_or_empty(mount, "name"), *type = NULL;
        const json_t *volume = words_find_volume(app, name);
        if (!volume)
                return error_set(error, -EINVAL, "volume %s not found", name);
        for (size_t i = 0; !type && i < ARRAY_SIZE(types); i++)
                if (json_is_object(json_object_get(volume, types[i])))
                        type = types[i];
        if (!type)
                return error_set(error, -EINVAL, "volume %s: unsupported volume type", name);
        _cleanup_free_ char *prefix = mem_printf(KUBERNETES "%s.volumes.%s.%s", role, type, name);
        const char *path = json_text_at(mount, "mountPath"), *below = json_text_at(mount, "subPath");
        words_conf(words, path && *path ? path : NULL, "%s.mount.path", prefix);
        words_conf(words, below && *below ? below : NULL, "%s.mount.subPath", prefix);
        if (json_is_true(json_object_get(mount, "readOnly")))
                words_conf(words, "true", "%s.mount.readOnly", prefix);
        words_volume_options(words, json_object_get(volume, type), prefix);
        return 0;
}

static int words_local_volumes(const struct spark_application *app, bool driver, struct string_list *words,
                               struct fst_error *error)
{
        const struct spark_pod_fields *pod = driver ? &app->spec.driver.pod : &app->spec.executor.pod;
        json_t *mount;
        size_t i;
        json_array_foreach((json_t *)pod->volume_mounts, i, mount) {
                if (!text_starts_with(json_text_or_empty(mount, "name"), LOCAL_DIR_PREFIX))
                        continue;
                int r = words_local_volume(app, driver ? "driver" : "executor", mount, words, error);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* ------------------------------------------------------------------------------------------------- driver, executor */

static int words_driver(const struct spark_application *app, const struct render_options *o, struct string_list *words,
                        struct fst_error *error)
{
        const struct spark_driver_fields *d = &app->spec.driver;
        const struct spark_pod_fields *pod = &d->pod;
        _cleanup_free_ char *name = spark_application_driver_pod(app);
        words_conf(words, name, POD_NAME_KEY);
        words_operator_labels(app, o, true, words);
        words_image(app, true, words);
        words_conf_int(words, &pod->cores, "spark.driver.cores");
        words_conf(words, pod->core_request, KUBERNETES "driver.request.cores");
        words_conf(words, pod->core_limit, KUBERNETES "driver.limit.cores");
        words_conf(words, pod->memory, "spark.driver.memory");
        words_conf(words, pod->memory_overhead, "spark.driver.memoryOverhead");
        words_conf(words, pod->service_account, KUBERNETES "authenticate.driver.serviceAccountName");
        words_conf(words, pod->java_options, "spark.driver.extraJavaOptions");
        words_conf(words, d->kubernetes_master, KUBERNETES "driver.master");
        words_labels(app, "driver", pod, words);
        words_conf_map(words, d->service_labels, KUBERNETES, "driver", ".service.label.");
        words_conf_map(words, d->service_annotations, KUBERNETES, "driver", ".service.annotation.");
        words_secret_keys("driver", pod, words);
        words_conf_map(words, pod->env_vars, words_env_prefix(true), "", "");
        words_secrets(true, pod, words);
        return words_local_volumes(app, true, words, error);
}

static int words_executor(const struct spark_application *app, const struct render_options *o,
                          struct string_list *words, struct fst_error *error)
{
        const struct spark_executor_fields *e = &app->spec.executor;
        const struct spark_pod_fields *pod = &e->pod;
        words_operator_labels(app, o, false, words);
        words_conf_int(words, &e->instances, "spark.executor.instances");
        words_image(app, false, words);
        words_conf_int(words, &pod->cores, "spark.executor.cores");
        words_conf(words, pod->core_request, KUBERNETES "executor.request.cores");
        words_conf(words, pod->core_limit, KUBERNETES "executor.limit.cores");
        words_conf(words, pod->memory, "spark.executor.memory");
        words_conf(words, pod->memory_overhead, "spark.executor.memoryOverhead");
        words_conf(words, pod->service_account, KUBERNETES "authenticate.executor.serviceAccountName");
        words_conf_bool(words, e->delete_on_termination, KUBERNETES "executor.deleteOnTermination");
        words_labels(app, "executor", pod, words);
        words_secret_keys("executor", pod, words);
        words_conf(words, pod->java_options, "spark.executor.extraJavaOptions");
        words_conf_map(words, pod->env_vars, words_env_prefix(false), "", "");
        words_secrets(false, pod, words);
        return words_local_volumes(app, false, words, error);
}

/* ----------------------------------------------------------------------------------------------------------- others */

static void words_dynamic_allocation(const struct dynamic_allocation_fields *d, struct string_list *words)
{
        if (d->enabled != FIELD_TRUE)
                return;
        words_conf(words, "true", "spark.dynamicAllocation.enabled");
        words_conf_int(words, &d->initial_executors, "spark.dynamicAllocation.initialExecutors");
        words_conf_int(words, &d->min_executors, "spark.dynamicAllocation.minExecutors");
        words_conf_int(words, &d->max_executors, "spark.dynamicAllocation.maxExecutors");
        words_conf(words, d->shuffle_tracking_enabled == FIELD_FALSE ? "false" : "true",
                   "spark.dynamicAllocation.shuffleTracking.enabled");
        words_conf_int(words, &d->shuffle_tracking_timeout, "spark.dynamicAllocation.shuffleTracking.timeout");
}

void submission_words_journal(const json_t *spark_conf, const char *name, const char *uid, struct string_list *words)
{
        const char *enabled = json_string_value(json_object_get(spark_conf, RESUME "enabled"));
        _cleanup_free_ char *id = mem_printf("%s-%s", name, uid);
        if (enabled && strcasecmp(enabled, "true") == 0)
                words_conf(words, id, RESUME "id");
}

static void words_spark_conf(const struct spark_application_spec *s, struct string_list *words)
{
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)s->spark_conf, key, value) {
                if (strcmp(key, POD_NAME_KEY) != 0)
                        words_conf(words, json_string_value(value), "%s", key);
        }
        words_conf_map(words, s->hadoop_conf, "spark.hadoop.", "", "");
}

/* The words before those of driver and executor. */
static void words_application(const struct spark_application *app, const struct render_options *o,
                              struct string_list *words)
{
        const struct spark_application_spec *s = &app->spec;
        _cleanup_free_ char *pull_secrets = words_join(s->image_pull_secrets);
        words_option(words, "--master", o->master);
        words_option(words, "--deploy-mode", "cluster");
        words_option(words, "--class", s->main_class);
        words_option(words, "--name", app->name);
        if (o->load_spark_defaults)
                string_list_add(words, "--load-spark-defaults");
        words_list(words, "--jars", s->deps.jars);
        words_list(words, "--py-files", s->deps.py_files);
        words_list(words, "--files", s->deps.files);
        words_list(words, "--archives", s->deps.archives);
        words_conf(words, app->namespace, KUBERNETES "namespace");
        words_conf_filled(words, s->image, KUBERNETES "container.image");
        words_conf_filled(words, s->image_pull_policy, KUBERNETES "container.image.pullPolicy");
        words_conf(words, pull_secrets, KUBERNETES "container.image.pullSecrets");
        words_conf_filled(words, s->python_version, KUBERNETES "pyspark.pythonVersion");
        words_conf_filled(words, s->memory_overhead_factor, KUBERNETES "memoryOverheadFactor");
        words_conf(words, "false", KUBERNETES "submission.waitAppCompletion");
        submission_words_journal(s->spark_conf, app->name, app->uid, words);
        words_spark_conf(s, words);
}

int submission_words_make(const struct spark_application *app, const struct render_options *o,
                          struct string_list *words, struct fst_error *error)
{
        const struct spark_application_spec *s = &app->spec;
        json_t *argument;
        size_t i;
        if (!text_equals(s->mode, "cluster"))
                return error_set(error, -EINVAL,
                                 "spec.mode: \"%s\" would run the driver inside of the operator; use cluster",
                                 s->mode ? s->mode : "");
        words_application(app, o, words);
        int r = words_driver(app, o, words, error);
        if (r == 0)
                r = words_executor(app, o, words, error);
        if (r < 0)
                return r;
        words_conf_map(words, s->node_selector, KUBERNETES "node.selector.", "", "");
        words_dynamic_allocation(&s->dynamic_allocation, words);
        words_conf(words, "spark-kubernetes-driver", KUBERNETES "driver.podTemplateContainerName");
        words_conf(words, KUBE_EXECUTOR_CONTAINER, KUBERNETES "executor.podTemplateContainerName");
        words_option(words, "--proxy-user", s->proxy_user && *s->proxy_user ? s->proxy_user : NULL);
        if (!s->main_application_file || !*s->main_application_file)
                return error_set(error, -EINVAL, "spec.mainApplicationFile: it is required");
        string_list_add(words, s->main_application_file);
        json_array_foreach((json_t *)s->arguments, i, argument)
                string_list_add(words, json_string_value(argument) ? json_string_value(argument) : "");
        return 0;
}
