/*
 * What an application tells YARN about itself when it is submitted, from the keys spark.yarn.*: name, type, queue,
 * tags, priority, attempts, node label, patterns of rolled logs, and the size of the ApplicationMaster of client mode.
 */
#pragma once

#include "base/string_list.h"
#include "yarn/conf/container_resources.h"
#include "yarn/protocol/yarn.pb-c.h"
#include "yarn/protocol/yarn_ids.h"

struct fst_conf;
struct fst_error;

struct submission_settings {
        Firesteel__Yarn__ApplicationSubmissionContext context; /* without am_container_spec; borrows from below */
        Firesteel__Yarn__ApplicationId id;
        Firesteel__Yarn__Resource resource;
        Firesteel__Yarn__ResourceRequest request, *requests;
        Firesteel__Yarn__Priority priority, am_priority;
        Firesteel__Yarn__LogAggregationContext logs;
        VEC(Firesteel__Yarn__ResourceValue *) values;
        struct container_resources resources;
        struct string_list tags;
        char *name, *type, *queue, *label, *rolled_include, *rolled_exclude;
        int64_t memory_mb, overhead_mb; /* of the ApplicationMaster */
};

/* Returns 0, or -EINVAL with @error. @out is zeroed; deinit it in either case, and do not move it. */
int submission_settings_read(const struct fst_conf *conf, struct yarn_application_id id,
                             struct submission_settings *out, struct fst_error *error);
void submission_settings_deinit(struct submission_settings *s);

/* Whether the ApplicationMaster fits into the largest container of the cluster: 0, or -EINVAL with Spark's message. */
int submission_settings_check(const struct submission_settings *s, int64_t most_mb, struct fst_error *error);
