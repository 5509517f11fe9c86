/* See application_objects.h. */
#include "operator/render/application_objects.h"

#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "kubernetes/api/kube_names.h"
#include "launch/environment.h"
#include "operator/render/pod_patch.h"
#include "operator/render/spec_changes.h"
#include "operator/render/spec_edit.h"
#include "operator/render/submission_words.h"
#include "submit/options/arguments.h"
#include "submit/prepare/submission.h"
#include "text/json.h"

#include <ctype.h>
#include <stdio.h>
#include <unistd.h>
#include <xxhash.h>

/*
 * The unique parts of names follow from the submission's id, so that a submission which is repeated after a crash has
 * the same objects.
 */
static void objects_name(const char *submission_id, struct fresh_names *names)
{
        XXH128_hash_t a = XXH3_128bits(submission_id, strlen(submission_id));
        XXH128_hash_t b = XXH3_128bits_withSeed(submission_id, strlen(submission_id), 1);
        snprintf(names->app_id, sizeof(names->app_id), "spark-%016llx%016llx", (unsigned long long)a.high64,
                 (unsigned long long)a.low64);
        snprintf(names->unique, sizeof(names->unique), "%06llx%011llx", (unsigned long long)(b.high64 & 0xffffff),
                 (unsigned long long)(b.low64 & 0xfffffffffff));
        snprintf(names->uuid, sizeof(names->uuid), "%.36s", submission_id);
}

static int objects_prepare(const struct spark_application *app, const struct render_options *o,
                           struct submit_arguments *a, struct submission *s, struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list words = {0};
        _cleanup_free_ char *conf_dir = submit_conf_dir();
        _cleanup_free_ char *defaults = conf_dir ? mem_printf("%s/spark-defaults.conf", conf_dir) : NULL;
        int r = submission_words_make(app, o, &words, error);
        if (r == 0)
                r = submit_arguments_parse(a, (int)words.len, string_list_argv(&words), error);
        if (r == 0 && a->action != SUBMIT_ACTION_SUBMIT)
                r = error_set(error, -EINVAL, "spec.mainApplicationFile: \"%s\" is an option of spark-submit",
                              app->spec.main_application_file);
        if (r == 0)
                r = submit_arguments_complete(a, defaults && access(defaults, F_OK) == 0 ? defaults : NULL,
                                              conf_environment, error);
        if (r == 0)
                r = submit_arguments_validate(a, conf_environment, error);
        s->driver_resolves_packages = true; /* also those of sparkConf */
        return r == 0 ? submission_prepare(a, s, error) : r;
}

/* Settings that stand for fields, but not among the words: the genuine operator has its webhook for them. */
static void objects_add_conf(const struct spark_application *app, struct strmap *conf)
{
        const struct field_int *grace = &app->spec.executor.pod.termination_grace_period_seconds;
        submission_packages(app, conf);
        if (!grace->set)
                return;
        _cleanup_free_ char *text = mem_printf("%llds", (long long)grace->value);
        strmap_set_if_missing(conf, "spark.kubernetes.executor.terminationGracePeriodSeconds", text);
}

static int objects_make_templates(const struct spark_application *app, struct application_objects *out, json_t **driver,
                                  json_t **executor, struct fst_error *error)
{
        *driver = pod_patch_template(app, true);
        *executor = pod_patch_template(app, false);
        int r = pod_patch_apply(app, false, *executor, &out->warnings, error);
        if (!json_object_get(*executor, "apiVersion")) {
                json_object_set_new(*executor, "apiVersion", json_string("v1"));
                json_object_set_new(*executor, "kind", json_string("Pod"));
        }
        return r;
}

/* The core compares the hash with that of the object after a restart of the operator. */
static void objects_mark_pod(json_t *pod, uint64_t hash)
{
        _cleanup_free_ char *text = mem_printf("%016llx", (unsigned long long)hash);
        kube_put(kube_child(kube_child(pod, "metadata"), "annotations"), ANNOTATION_SPEC_HASH, text);
}

/* Whether the API server takes @text as the value of a label. */
static bool objects_is_label(const char *text)
{
        size_t n = strlen(text);
        for (size_t i = 0; i < n; i++)
                if (!isalnum((unsigned char)text[i]) && (i == 0 || i + 1 == n || !strchr("-_.", text[i])))
                        return false;
        return n > 0 && n <= MAX_KUBE_LABEL;
}

void application_objects_set_version(json_t *objects, const char *version)
{
        static const char *const places[] = {"metadata.labels", "spec.selector"};
        json_t *object;
        size_t i;
        if (!version || !objects_is_label(version))
                return;
        json_array_foreach(objects, i, object) {
                for (size_t k = 0; k < ARRAY_SIZE(places); k++) {
                        json_t *labels = json_at(object, places[k]);
                        if (json_object_get(labels, "spark-version"))
                                kube_put(labels, "spark-version", version);
                }
        }
}

/* Spark's policy admits only pods of the application to executors: Prometheus is none. */
static void objects_admit_prometheus(const struct spark_application *app, json_t *objects)
{
        const struct monitoring_fields *m = &app->spec.monitoring;
        json_t *object;
        size_t i;
        if (m->expose_executor_metrics != FIELD_TRUE || !m->prometheus.json)
                return;
        json_int_t port = m->prometheus.port.set ? (json_int_t)m->prometheus.port.value : PROMETHEUS_PORT;
        json_array_foreach(objects, i, object) {
                if (strcmp(json_text_or_empty(object, "kind"), "NetworkPolicy") == 0)
                        json_array_append_new(json_at(object, "spec.ingress"),
                                              json_pack("{s:[{s:I,s:s}]}", "ports", "port", port, "protocol", "TCP"));
        }
}

static int objects_plan(const struct spark_application *app, const struct render_options *o, const struct submission *s,
                        struct application_objects *out, struct fst_error *error)
{
        struct fresh_names names = {0};
        json_t *driver = NULL, *executor = NULL;
        objects_name(o->submission_id, &names);
        int r = objects_make_templates(app, out, &driver, &executor, error);
        if (r == 0)
                r = driver_plan_read_named(&out->plan, s, &names, error);
        if (r == 0) {
                out->plan.k.conf.driver_template = driver;
                out->plan.k.conf.executor_template = executor;
                if (o->show)
                        out->plan.k.conf.files.upload = NULL;
                r = driver_plan_make_objects(&out->plan, error);
        }
        out->plan.k.conf.driver_template = out->plan.k.conf.executor_template = NULL;
        json_decref(driver);
        json_decref(executor);
        return r;
}

int application_objects_make(struct spark_application *app, const struct render_options *o,
                             struct application_objects *out, struct fst_error *error)
{
        _cleanup_(submission_deinit) struct submission s = SUBMISSION_INIT;
        struct submit_arguments a;
        uint64_t hash = app->spec_hash;
        *out = (struct application_objects){.before = json_array(), .plan = DRIVER_PLAN_INIT};
        submit_arguments_init(&a);
        int r = spec_changes_make(app, o, out->before, error);
        if (r == 0)
                r = objects_prepare(app, o, &a, &s, error);
        if (r == 0) {
                objects_add_conf(app, &s.conf);
                r = objects_plan(app, o, &s, out, error);
        }
        if (r == 0) {
                json_t *pod = json_array_get(out->plan.objects, out->plan.pod_at);
                objects_mark_pod(pod, hash);
                application_objects_set_version(out->plan.objects, app->spec.spark_version);
                objects_admit_prometheus(app, out->plan.objects);
                r = pod_patch_apply(app, true, pod, &out->warnings, error);
        }
        submit_arguments_deinit(&a);
        return r;
}

void application_objects_deinit(struct application_objects *objects)
{
        json_decref(objects->before);
        driver_plan_deinit(&objects->plan);
        field_problems_deinit(&objects->warnings);
        *objects = (struct application_objects){0};
}
