/* See apache_objects.h. */
#include "operator/apache/apache_objects.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "kubernetes/pods/driver_builder.h"
#include "kubernetes/pods/spark_pod.h"
#include "operator/render/submission_words.h"
#include "submit/options/application_kind.h"
#include "submit/options/arguments.h"
#include "submit/prepare/submission.h"
#include "text/json.h"

#include <stdio.h>
#include <xxhash.h>

#define KUBERNETES "spark.kubernetes."
#define VERSION_PLACE "{{SPARK_VERSION}}"
#define PYTHON_RUNNER "org.apache.spark.deploy.PythonRunner"

char *apache_image_of_version(const char *value, const char *version)
{
        struct buf out = BUF_INIT;
        for (const char *at; (at = strstr(value, VERSION_PLACE)); value = at + strlen(VERSION_PLACE))
                buf_printf(&out, "%.*s%s", (int)(at - value), value, version ? version : "UNKNOWN");
        buf_puts(&out, value);
        return buf_steal(&out);
}

/* ------------------------------------------------------------------------------------------------------------ words */

static void apache_words_option(struct string_list *words, const char *option, const char *value)
{
        if (!value || !*value)
                return;
        string_list_add(words, option);
        string_list_add(words, value);
}

static void apache_words_conf(struct string_list *words, const char *key, const char *value)
{
        string_list_add(words, "--conf");
        string_list_take(words, mem_printf("%s=%s", key, value));
}

/* Whether a setting of sparkConf does not reach the words: fields of the object decide it. */
static bool apache_words_skip(const struct apache_application *app, const char *key)
{
        return strcmp(key, "spark.master") == 0 || strcmp(key, "spark.app.name") == 0 ||
               (app->spec.driver.template && strcmp(key, KUBERNETES "driver.podTemplateFile") == 0) ||
               (app->spec.executor.template && strcmp(key, KUBERNETES "executor.podTemplateFile") == 0);
}

static void apache_words_spark_conf(const struct apache_application *app, struct string_list *words)
{
        const char *key, *version = app->spec.versions.spark;
        json_t *value;
        json_object_foreach((json_t *)app->spec.spark_conf, key, value) {
                const char *text = json_string_value(value) ? json_string_value(value) : "";
                bool is_image = text_starts_with(key, KUBERNETES) && text_ends_with(key, "container.image");
                _cleanup_free_ char *image = is_image ? apache_image_of_version(text, version) : NULL;
                if (!apache_words_skip(app, key))
                        apache_words_conf(words, key, image ? image : text);
        }
}

/* Executors that end with their driver need not be deleted one by one: Kubernetes does it. */
static bool apache_words_keep_executors(const struct apache_application *app)
{
        const char *dynamic = apache_application_conf(app, "spark.dynamicAllocation.enabled");
        const char *policy = app->spec.tolerations.restart.policy;
        return !(dynamic && strcasecmp(dynamic, "true") == 0) && (!policy || strcmp(policy, "Never") == 0);
}

static void apache_words_defaults(const struct apache_application *app, struct string_list *words)
{
        static const char *const defaults[] = {
                "spark.authenticate=true",
                "spark.io.encryption.enabled=true",
                KUBERNETES "driver.annotateExitException=true",
                KUBERNETES "executor.useDriverPodIP=true",
                KUBERNETES "executor.deleteOnTermination=false",
        };
        size_t n = ARRAY_SIZE(defaults) - !apache_words_keep_executors(app);
        for (size_t i = 0; i < n; i++) {
                _cleanup_free_ char *key = mem_strndup(defaults[i], strcspn(defaults[i], "="));
                if (apache_application_conf(app, key))
                        continue;
                string_list_add(words, "--conf");
                string_list_add(words, defaults[i]);
        }
}

static void apache_words_labels(const struct apache_application *app, struct string_list *words)
{
        static const char *const places[] = {"driver.label.", "driver.service.label.", "executor.label."};
        for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
                _cleanup_free_ char *operator= mem_printf(KUBERNETES "%s" APACHE_LABEL_OPERATOR, places[i]);
                _cleanup_free_ char *name = mem_printf(KUBERNETES "%s" APACHE_LABEL_APPLICATION, places[i]);
                apache_words_conf(words, operator, APACHE_OPERATOR_NAME);
                apache_words_conf(words, name, app->name);
        }
}

/*
 * Splits a comma list behind its first element. The caller owns both; *@rest is NULL without more.
 */
static void apache_words_split(const char *list, char **first, char **rest)
{
        const char *comma = strchr(list, ',');
        *first = comma ? mem_strndup(list, (size_t)(comma - list)) : mem_strdup(list);
        *rest = comma && comma[1] ? mem_strdup(comma + 1) : NULL;
}

/* Appends the application, and the options of the files beside it. */
static void apache_words_main(const struct apache_application *app, struct string_list *words)
{
        const struct apache_application_spec *s = &app->spec;
        _cleanup_free_ char *main = NULL, *rest = NULL;
        bool has_jars = s->jars && *s->jars, has_python = s->py_files && *s->py_files;
        bool python = has_python && (!has_jars || !s->main_class || strcmp(s->main_class, PYTHON_RUNNER) == 0);
        if (python)
                apache_words_split(s->py_files, &main, &rest);
        else if (has_jars)
                apache_words_split(s->jars, &main, &rest);
        else if (s->spark_r_files && *s->spark_r_files)
                main = mem_strdup(s->spark_r_files);
        apache_words_option(words, "--jars", python ? s->jars : has_jars ? rest : NULL);
        apache_words_option(words, "--py-files", python ? rest : s->py_files);
        if (main)
                string_list_add(words, main);
        else if (!submit_is_connect_server(s->main_class) && !submit_is_thrift_server(s->main_class) &&
                 !submit_is_sql_shell(s->main_class))     /* which imply it: all words are arguments */
                string_list_add(words, "spark-internal"); /* a class of Spark, such as its history server */
}

static void apache_words_make(const struct apache_application *app, const struct render_options *o,
                              struct string_list *words)
{
        const struct apache_application_spec *s = &app->spec;
        json_t *argument;
        size_t i;
        apache_words_option(words, "--master", o->master);
        apache_words_option(words, "--deploy-mode", "cluster");
        if (!s->main_class || strcmp(s->main_class, PYTHON_RUNNER) != 0)
                apache_words_option(words, "--class", s->main_class);
        apache_words_option(words, "--name", app->name);
        apache_words_option(words, "--proxy-user", s->proxy_user);
        apache_words_option(words, "--files", s->files);
        submission_words_journal(s->spark_conf, app->name, app->uid, words);
        apache_words_spark_conf(app, words);
        apache_words_defaults(app, words);
        apache_words_labels(app, words);
        apache_words_conf(words, KUBERNETES "namespace", app->namespace);
        apache_words_conf(words, KUBERNETES "submission.waitAppCompletion", "false");
        apache_words_main(app, words);
        json_array_foreach((json_t *)s->driver_args, i, argument)
                string_list_add(words, json_string_value(argument) ? json_string_value(argument) : "");
}

static int apache_objects_prepare(const struct apache_application *app, const struct render_options *o,
                                  struct submit_arguments *a, struct submission *s, struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list words = {0};
        const char *master = apache_application_conf(app, "spark.master");
        apache_words_make(app, o, &words);
        int r = submit_arguments_parse(a, (int)words.len, string_list_argv(&words), error);
        if (r == 0 && a->action != SUBMIT_ACTION_SUBMIT)
                r = error_set(error, -EINVAL, "the application \"%s\" is an option of spark-submit",
                              words.data[words.len - 1]);
        if (r == 0)
                r = submit_arguments_complete(a, NULL, conf_environment, error);
        if (r == 0)
                r = submit_arguments_validate(a, conf_environment, error);
        s->driver_resolves_packages = s->any_class = true; /* Apache's operator does not run spark-submit */
        if (r == 0)
                r = submission_prepare(a, s, error);
        if (r == 0 && master && *master) /* of the application in the driver's pod: "spark://…" */
                strmap_set(&s->conf, "spark.master", master);
        return r;
}

/* ---------------------------------------------------------------------------------------------------------- objects */

static void apache_objects_name(const struct apache_application *app, struct fresh_names *names)
{
        _cleanup_free_ char *id = apache_application_id(app), *prefix = apache_attempt_prefix(id);
        _cleanup_free_ char *seed = mem_printf("%s/%s/%s", app->namespace, app->uid, id);
        XXH128_hash_t hash = XXH3_128bits(seed, strlen(seed));
        snprintf(names->app_id, sizeof(names->app_id), "%s", id);
        snprintf(names->unique, sizeof(names->unique), "%s", id);
        snprintf(names->uuid, sizeof(names->uuid), "%08x-%04x-4%03x-8%03x-%012llx", (unsigned)(hash.high64 >> 32),
                 (unsigned)(hash.high64 >> 16 & 0xffff), (unsigned)(hash.high64 & 0xfff),
                 (unsigned)(hash.low64 >> 48 & 0xfff), (unsigned long long)(hash.low64 & 0xffffffffffff));
        snprintf(names->prefix, sizeof(names->prefix), "%s", prefix);
}

/* Returns the pod of a podTemplateSpec, which may lack a spec, or NULL. The caller owns it. */
static json_t *apache_objects_template(const struct apache_pod_fields *pod)
{
        if (!pod->template)
                return NULL;
        json_t *spec = json_object_get(pod->template, "spec");
        return json_pack("{s:s,s:s,s:O*,s:o}", "apiVersion", "v1", "kind", "Pod", "metadata",
                         json_object_get(pod->template, "metadata"), "spec",
                         json_is_object(spec) ? json_incref(spec) : json_object());
}

/* Adds the labels of the driver's pod to @object, and its namespace. */
static void apache_objects_mark(json_t *object, const json_t *pod, const char *namespace)
{
        json_t *metadata = kube_child(object, "metadata");
        json_object_update(kube_child(metadata, "labels"), json_at(pod, "metadata.labels"));
        json_object_set_new(metadata, "namespace", json_string(namespace));
}

/* Returns the reference to the application. The caller owns it. */
static json_t *apache_objects_owner(const struct apache_application *app)
{
        return json_pack("{s:s,s:s,s:s,s:s,s:b}", "apiVersion", APACHE_API, "kind", "SparkApplication", "name",
                         app->name, "uid", app->uid, "blockOwnerDeletion", 1);
}

/* It belongs to the application until the driver's pod exists, which then owns it. */
static json_t *apache_objects_config_map(const struct apache_application *app, const json_t *f)
{
        return json_pack("{s:s,s:s,s:{s:O,s:o*,s:O*,s:[o]},s:O*}", "apiVersion", "v1", "kind", "ConfigMap", "metadata",
                         "name", json_object_get(f, "name"), "labels", json_deep_copy(json_object_get(f, "labels")),
                         "annotations", json_object_get(f, "annotations"), "ownerReferences", apache_objects_owner(app),
                         "data", json_object_get(f, "data"));
}

static json_t *apache_objects_service(const struct apache_exposure_fields *f, const json_t *pod)
{
        json_t *service = json_pack("{s:s,s:s,s:o,s:o}", "apiVersion", "v1", "kind", "Service", "metadata",
                                    json_deep_copy(f->service_metadata), "spec", json_deep_copy(f->service_spec));
        json_t *spec = json_object_get(service, "spec");
        if (json_object_size(json_object_get(spec, "selector")) == 0)
                json_object_set_new(spec, "selector", json_deep_copy(json_at(pod, "metadata.labels")));
        return service;
}

enum apache_exposure { APACHE_INGRESS, APACHE_HTTP_ROUTE, APACHE_GRPC_ROUTE };

/* Returns the rule that leads everything to the service's first port, or NULL if it has no port. */
static json_t *apache_objects_rule(enum apache_exposure kind, const json_t *service)
{
        const json_t *port = json_object_get(json_array_get(json_at(service, "spec.ports"), 0), "port");
        json_t *name = json_at(service, "metadata.name");
        if (!json_is_integer(port))
                return NULL;
        json_int_t number = json_integer_value(port);
        if (kind == APACHE_INGRESS)
                return json_pack("{s:{s:[{s:s,s:s,s:{s:{s:O?,s:{s:I}}}}]}}", "http", "paths", "path", "/", "pathType",
                                 "ImplementationSpecific", "backend", "service", "name", name, "port", "number",
                                 number);
        json_t *backend = json_pack("{s:s,s:s,s:O?,s:I}", "group", "", "kind", "Service", "name", name, "port", number);
        return kind == APACHE_GRPC_ROUTE ? json_pack("{s:[o]}", "backendRefs", backend)
                                         : json_pack("{s:[{s:{s:s,s:s}}],s:[o]}", "matches", "path", "type",
                                                     "PathPrefix", "value", "/", "backendRefs", backend);
}

static void apache_objects_expose(json_t *objects, const json_t *list, enum apache_exposure kind, const json_t *pod,
                                  const char *namespace)
{
        static const struct {
                const struct field_table *table;
                const char *api, *kind;
        } kinds[] = {
                [APACHE_INGRESS] = {&apache_ingress_table, "networking.k8s.io/v1", "Ingress"},
                [APACHE_HTTP_ROUTE] = {&apache_http_route_table, "gateway.networking.k8s.io/v1", "HTTPRoute"},
                [APACHE_GRPC_ROUTE] = {&apache_grpc_route_table, "gateway.networking.k8s.io/v1", "GRPCRoute"},
        };
        json_t *element;
        size_t i;
        json_array_foreach((json_t *)list, i, element) {
                struct apache_exposure_fields f = {0};
                field_read(kinds[kind].table, element, &f);
                json_t *service = apache_objects_service(&f, pod);
                json_t *object = json_pack("{s:s,s:s,s:o,s:o}", "apiVersion", kinds[kind].api, "kind", kinds[kind].kind,
                                           "metadata", json_deep_copy(f.metadata), "spec",
                                           f.spec ? json_deep_copy(f.spec) : json_object());
                json_t *spec = json_object_get(object, "spec");
                json_t *rule = json_array_size(json_object_get(spec, "rules")) == 0 ? apache_objects_rule(kind, service)
                                                                                    : NULL;
                if (rule)
                        json_object_set_new(spec, "rules", json_pack("[o]", rule));
                apache_objects_mark(service, pod, namespace);
                apache_objects_mark(object, pod, namespace);
                json_array_append_new(objects, service);
                json_array_append_new(objects, object);
        }
}

static void apache_objects_secure(json_t *containers)
{
        json_t *container;
        size_t i;
        json_array_foreach(containers, i, container) {
                if (!json_is_object(container)) /* the API server refuses it */
                        continue;
                json_t *context = kube_child(container, "securityContext");
                const json_t *set = json_object_get(context, "allowPrivilegeEscalation");
                if (!set || json_is_null(set))
                        json_object_set_new(context, "allowPrivilegeEscalation", json_false());
        }
}

/* Adds what the application asks for beside the objects of a submission. */
static void apache_objects_complete(const struct apache_application *app, struct driver_plan *plan)
{
        const struct apache_application_spec *s = &app->spec;
        const char *container = apache_application_conf(app, KUBERNETES "driver.podTemplateContainerName");
        json_t *pod = json_array_get(plan->objects, plan->pod_at), *object;
        size_t i;
        application_objects_set_version(plan->objects, s->versions.spark);
        json_array_append_new(kube_children(kube_child(pod, "metadata"), "ownerReferences"), apache_objects_owner(app));
        kube_put(container ? kube_child(kube_child(pod, "metadata"), "annotations") : NULL, APACHE_ANNOTATION_CONTAINER,
                 container);
        apache_objects_secure(json_at(pod, "spec.initContainers"));
        apache_objects_secure(json_at(pod, "spec.containers"));
        json_array_foreach(plan->objects, i, object) {
                if (i != plan->pod_at)
                        apache_objects_mark(object, pod, app->namespace);
        }
        json_array_foreach((json_t *)s->config_maps, i, object) {
                json_t *map = apache_objects_config_map(app, object);
                apache_objects_mark(map, pod, app->namespace);
                json_array_insert_new(plan->objects, plan->pod_at++, map);
        }
        apache_objects_expose(plan->objects, s->ingresses, APACHE_INGRESS, pod, app->namespace);
        apache_objects_expose(plan->objects, s->http_routes, APACHE_HTTP_ROUTE, pod, app->namespace);
        apache_objects_expose(plan->objects, s->grpc_routes, APACHE_GRPC_ROUTE, pod, app->namespace);
}

int apache_objects_make(const struct apache_application *app, const struct render_options *o, struct driver_plan *plan,
                        struct fst_error *error)
{
        _cleanup_(submission_deinit) struct submission s = SUBMISSION_INIT;
        struct fresh_names names = {0};
        struct submit_arguments a;
        json_t *driver = apache_objects_template(&app->spec.driver);
        json_t *executor = apache_objects_template(&app->spec.executor);
        *plan = DRIVER_PLAN_INIT;
        submit_arguments_init(&a);
        apache_objects_name(app, &names);
        int r = apache_objects_prepare(app, o, &a, &s, error);
        if (r == 0)
                r = driver_plan_read_named(plan, &s, &names, error);
        if (r == 0) {
                plan->k.conf.driver_template = driver;
                plan->k.conf.executor_template = executor;
                if (o->show)
                        plan->k.conf.files.upload = NULL;
                r = driver_plan_make_objects(plan, error);
        }
        if (r == 0)
                apache_objects_complete(app, plan);
        plan->k.conf.driver_template = plan->k.conf.executor_template = NULL;
        submit_arguments_deinit(&a);
        json_decref(driver);
        json_decref(executor);
        return r;
}
