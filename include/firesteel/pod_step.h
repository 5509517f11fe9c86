/*
 * Custom feature steps: a shared object that changes the pods of drivers and executors in Kubernetes before they are
 * created, and may add objects of its own. This is the counterpart of a class in Spark's
 * spark.kubernetes.driver.pod.featureSteps.
 *
 *      #include <firesteel/pod_step.h>
 *
 *      int fst_pod_step(struct fst_pod_step *step)
 *      {
 *              const char *team = step->setting(step, "spark.example.team");
 *              if (!team)
 *                      return step->refuse(step, "set spark.example.team to the team that owns these pods");
 *              … parse step->pod, add to it …
 *              step->set_pod(step, text);
 *              return 0;
 *      }
 *
 *      cc -shared -fPIC -o team.so team.c
 *      spark-submit … --conf spark.kubernetes.driver.pod.featureSteps=/opt/steps/team.so
 *                     --conf spark.kubernetes.executor.pod.featureSteps=local:///opt/steps/team.so …
 *
 * The value is a list of absolute paths that end in .so, with or without local:// or file://, and of names of
 * built-in steps. A driver's step is loaded where the application is submitted, an executor's where the driver runs:
 * in cluster mode it must be in the driver's image. Steps run in their order, after all built-in steps.
 * spark.kubernetes.*.pod.excludedFeatureSteps excludes a step by the text that named it.
 *
 * A step links no library. Texts are JSON in UTF-8, in the form of the Kubernetes API. A step is called once for each
 * pod, from one thread at a time. It must not end the process or keep pointers: everything here is valid until it
 * returns. Equal input should give an equal result.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* New members are added at the end only, with a new version. */
#define FST_POD_STEP_VERSION 1

struct fst_pod_step {
        unsigned version; /* FST_POD_STEP_VERSION of the caller */

        const char *role;           /* "driver" or "executor" */
        const char *application_id; /* "spark-…" */
        const char *executor_id;    /* "1", …; NULL for a driver's pod */

        /* The pod after the earlier steps, without Spark's container in spec.containers; and Spark's container. */
        const char *pod;
        const char *container;

        /* The application's setting of @key as it was given, or NULL. Valid until the step returns. */
        const char *(*setting)(struct fst_pod_step *step, const char *key);

        /*
         * Replace the pod, or the container. Returns 0, or -EINVAL (and the submission fails) if @json is not an
         * object. The texts in @step do not change.
         */
        int (*set_pod)(struct fst_pod_step *step, const char *json);
        int (*set_container)(struct fst_pod_step *step, const char *json);

        /*
         * Add an object to create before the pod, if the pod cannot start without it, or after it. A driver's objects
         * belong to its pod and are deleted with it. Returns -EINVAL as above; for executors add_before returns
         * -ENOTSUP.
         */
        int (*add_before)(struct fst_pod_step *step, const char *json);
        int (*add_after)(struct fst_pod_step *step, const char *json);

        /* Set a property of the driver. It overrides the user's. For an executor: -ENOTSUP. */
        int (*set_property)(struct fst_pod_step *step, const char *key, const char *value);

        /* Refuse, with a message for the user. Returns -EINVAL, which the step should return. */
        int (*refuse)(struct fst_pod_step *step, const char *why);
};

/* The module exports this function. Returns 0; with another value no pod is created. */
__attribute__((visibility("default"))) int fst_pod_step(struct fst_pod_step *step);

#ifdef __cplusplus
}
#endif
