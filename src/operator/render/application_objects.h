/*
 * All objects of a SparkApplication, from the object alone. Used by submission and by `firesteel operator render`.
 *
 *      struct spark_application app;                              spark_application_read
 *      struct application_objects objects;
 *      r = application_objects_make(&app, &options, &objects, error);
 *      create objects.before, then driver_launch_begin(client, &objects.plan, …)
 *      application_objects_deinit(&objects);
 *      …
 *      r = application_exposure_make(&app, &options, &exposure, error);      create exposure.objects
 *      application_exposure_deinit(&exposure);
 *
 * The words of spark-submit are those of the genuine operator. What its webhook would patch into pods is in the
 * driver's pod and in the template of the executors, so no webhook need be reachable.
 *
 * Any thread. application_objects_make blocks if the application has files of this machine to upload, or remote
 * templates.
 */
#pragma once

#include "operator/resources/spark_application.h"
#include "submit/kubernetes/driver_plan.h"

struct render_options {
        const char *master;                                  /* "k8s://https://10.0.0.1:443" */
        const char *submission_id;                           /* a UUID: names of objects follow from it */
        bool ui_service;                                     /* --enable-ui-service */
        const char *ingress_url_format, *ingress_class_name; /* NULL: none */
        const json_t *ingress_tls, *ingress_annotations;     /* defaults for all applications; NULL: none */
        bool driver_disruption_budget;                       /* --enable-driver-pdb */
        bool batch_scheduler;                                /* --enable-batch-scheduler */
        const char *default_batch_scheduler;                 /* NULL: none */
        const char *kube_scheduler_names;                    /* of scheduler-plugins, comma list; NULL: none */
        bool load_spark_defaults;                            /* gate LoadSparkDefaults */
        bool show;                                           /* upload nothing */
};

struct application_objects {
        json_t *before; /* array: objects that the SparkApplication owns, to apply before the driver's pod */
        /* plan.objects, plan.pod_at, plan.namespace and plan.container are set, plan.server is not. */
        struct driver_plan plan;
        struct field_problems warnings; /* fields that could not take effect */
};

/*
 * @app receives the changes of the spec that UI, monitoring and batch schedulers need: call this once for each reading
 * of an application. Returns 0, or negative with @error for settings that Spark refuses.
 */
int application_objects_make(struct spark_application *app, const struct render_options *o,
                             struct application_objects *out, struct fst_error *error);
void application_objects_deinit(struct application_objects *objects);

/*
 * Sets the label spark-version of @objects, and the selectors by it, to @version. The builder's label is the version of
 * this program's Spark, which the image does not have to contain. Does nothing if no label may have @version, or NULL.
 */
void application_objects_set_version(json_t *objects, const char *version);

/* Objects that expose a submitted driver. They belong to the SparkApplication. */
struct application_exposure {
        json_t *objects;                       /* array: services, ingresses, a disruption budget */
        char *ui_service;                      /* the name of the first of them that is the UI's service, or NULL */
        char *ui_ingress, *ui_ingress_address; /* or NULL */
        int32_t ui_port;
};

/* @application_id: spark-app-selector of the driver's pod for {{$appId}}, or NULL. */
int application_exposure_make(const struct spark_application *app, const struct render_options *o,
                              const char *application_id, struct application_exposure *out, struct fst_error *error);
void application_exposure_deinit(struct application_exposure *e);

/*
 * Returns {name, kind, apiVersion} objects that APPLICATION_CLEAN_UP deletes: the batch scheduler's group. The caller
 * owns the array.
 */
json_t *application_leftovers(const struct spark_application *app, const struct render_options *o);
