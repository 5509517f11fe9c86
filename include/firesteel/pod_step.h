/*
 * A feature step of one's own: a shared object that changes the pods of drivers and executors in Kubernetes before they
 * are created, and may bring objects of its own. What a class named in spark.kubernetes.driver.pod.featureSteps is for
 * genuine Spark.
 *
 *      #include <firesteel/pod_step.h>
 *
 *      int fst_pod_step(struct fst_pod_step *step)
 *      {
 *              const char *team = step->setting(step, "spark.example.team");
 *              if (!team)
 *                      return step->refuse(step, "spark.example.team must say whose pods these are");
 *              … parse step->pod, add to it …
 *              step->set_pod(step, text);
 *              return 0;
 *      }
 *
 *      cc -shared -fPIC -o team.so team.c
 *      spark-submit … --conf spark.kubernetes.driver.pod.featureSteps=/opt/steps/team.so
 *                     --conf spark.kubernetes.executor.pod.featureSteps=local:///opt/steps/team.so …
 *
 * The value is a list of absolute paths that end in .so (with local:// or file:// before them, or not), mixed with the
 * names of steps that are built in. A driver's step is loaded where the application is submitted, an executor's where
 * the driver runs: in cluster mode it must be in the driver's image. Steps run in their order, after all that are built
 * in; spark.kubernetes.*.pod.excludedFeatureSteps takes one away by the very text that named it.
 *
 * Nothing has to be linked; the texts are JSON, UTF-8, as the API of Kubernetes has them. A step is called once for
 * each pod, from one thread at a time, and must neither end the process nor keep pointers: everything here lives until
 * it returns. It should do the same whenever it is asked the same.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Members are only ever added, at the end, with another version. */
#define FST_POD_STEP_VERSION 1

struct fst_pod_step {
        unsigned version; /* FST_POD_STEP_VERSION of who calls */

        const char *role;           /* "driver" or "executor" */
        const char *application_id; /* "spark-…" */
        const char *executor_id;    /* "1", …; NULL: a driver's pod */

        /* The pod as the steps before have left it; spec.containers are the others. And the container of Spark. */
        const char *pod;
        const char *container;

        /* The application's setting of that name as it was given, or NULL. Valid until the step returns. */
        const char *(*setting)(struct fst_pod_step *step, const char *key);

        /*
         * Put another pod, or container, in the place of the one that is there. 0, or -EINVAL (and the submission
         * fails) if @json is no object. @step's texts stay as they were.
         */
        int (*set_pod)(struct fst_pod_step *step, const char *json);
        int (*set_container)(struct fst_pod_step *step, const char *json);

        /*
         * Have an object created: before the pod (what it cannot start without), or after it. A driver's objects belong
         * to its pod, and go with it. -EINVAL as above; of executors nothing can come before (-ENOTSUP).
         */
        int (*add_before)(struct fst_pod_step *step, const char *json);
        int (*add_after)(struct fst_pod_step *step, const char *json);

        /* Give the driver a setting, over the user's. Executors get what the driver has: -ENOTSUP there. */
        int (*set_property)(struct fst_pod_step *step, const char *key, const char *value);

        /* Refuse, with a sentence for the user. Returns -EINVAL, for the step to return. */
        int (*refuse)(struct fst_pod_step *step, const char *why);
};

/* What the module exports. 0, or something else: no pod is made. */
__attribute__((visibility("default"))) int fst_pod_step(struct fst_pod_step *step);

#ifdef __cplusplus
}
#endif
