/* The core's view of a pod of an application: a driver or an executor. */
#pragma once

#include "operator/resources/application_status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum pod_loss {
        POD_LOSS_NONE,
        POD_LOSS_EVICTED,   /* the node ran short, or a drain */
        POD_LOSS_PREEMPTED, /* for a pod of higher priority */
        POD_LOSS_NODE,      /* its node is gone or unreachable */
};

/* Texts are borrowed from the pod's JSON. Absent texts are NULL. */
struct pod_observation {
        const char *namespace, *name, *uid;
        const char *application;    /* the label app-name */
        const char *submission_id;  /* the label submission-id */
        const char *application_id; /* the label spark-app-selector */
        const char *owner_uid;      /* of the SparkApplication among its owners */
        bool is_driver, leaving;
        enum spark_pod_state phase; /* of the pod, or of its Spark container once that has terminated */
        bool terminated;            /* the Spark container has ended with exit_code */
        bool has_status;            /* the Spark container has a status */
        int exit_code;
        const char *reason;  /* of the terminated container, "OOMKilled" */
        const char *message; /* of the pod */
        enum pod_loss loss;
        const char *loss_message;
        const char *waiting, *waiting_message; /* "Unschedulable", "ImagePullBackOff" */
        uint64_t spec_hash;                    /* ANNOTATION_SPEC_HASH; 0: none */
        int64_t created_ms;
        uint64_t version; /* metadata.resourceVersion; 0: not a number */
};

/*
 * Reads a pod. Returns false if it belongs to no SparkApplication (it lacks the labels). The Spark container is
 * "spark-kubernetes-driver", "spark-kubernetes-executor" or "executor".
 */
bool pod_observation_read(const json_t *pod, struct pod_observation *out);
