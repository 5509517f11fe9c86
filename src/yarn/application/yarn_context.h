/*
 * Builds the ApplicationSubmissionContext of a submission, its message to the ResourceManager. Pure.
 *
 *      _cleanup_(arena_deinit) struct arena arena = …;
 *      yarn_context_build(&request, &arena, &context);
 *      r = yarn_rm_submit(rm, &context, error);
 *
 * Follows Client.createApplicationSubmissionContext of Spark 4.3.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "yarn/protocol/yarn.pb-c.h"
#include "yarn/protocol/yarn_ids.h"

struct yarn_settings;

struct yarn_context_request {
        struct yarn_application_id id;
        const struct yarn_settings *settings;
        Firesteel__Yarn__ContainerLaunchContext *am; /* NULL: the ApplicationMaster gets no container (unmanaged) */
        const char *view_acl, *modify_acl;           /* NULL: as the cluster is set up */
        const struct buf *tokens;                    /* of an unmanaged application; NULL: those of @am */
        bool keep_containers;                        /* of executors, for the next attempt */
        const Firesteel__Yarn__Resource *maximum;    /* its resource types are those that the cluster knows */
};

/*
 * Fills @out, whose parts lie in @arena or are borrowed from @q, and adds the ACLs to @q->am. Resource types that the
 * cluster does not know are left out with Spark's warning.
 */
void yarn_context_build(const struct yarn_context_request *q, struct arena *arena,
                        Firesteel__Yarn__ApplicationSubmissionContext *out);
