/*
 * Takes over the executor pods of an earlier driver of the application, which has another id, perhaps another pod.
 *
 * With a journal (driver/resume/) each executor pod has a label for it. The next driver gives the pods of the executors
 * that it expects the labels and the owner of its own ones, and deletes the others.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fst_conf;
struct fst_error;
struct kube_client;
struct kube_conf;

/* An executor that may still run. */
struct expected_pod {
        int32_t id, profile;
        bool found; /* set by pod_adoption_run */
};

struct pod_adoption {
        struct kube_client *client;
        const char *namespace;
        const struct kube_conf *conf; /* of an executor, without id */
        const char *journal;          /* the label's value */
        bool delete_others;
        struct expected_pod *expected;
        size_t n;
};

/* Sets the label in @settings of executor pods: a hash of the journal's place. The caller owns the value. */
char *pod_adoption_mark(struct fst_conf *settings, const char *directory, const char *journal);

/*
 * Runs the client's loop until the API server has answered. Sets `found` of the executors whose pods run and belong to
 * this driver now. Returns 0, or a negative status with @error if the pods cannot be listed.
 */
int pod_adoption_run(const struct pod_adoption *adoption, struct fst_error *error);
