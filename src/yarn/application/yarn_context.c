/* See yarn_context.h. */
#include "yarn/application/yarn_context.h"

#include "yarn/application/application_acl.h"
#include "yarn/application/yarn_settings.h"

#include "base/log.h"
#include "base/mem.h"

#include <stdio.h>

#define NEW(arena, type, INIT)                                                                                         \
        ({                                                                                                             \
                type *new_ = arena_alloc((arena), sizeof(type));                                                       \
                *new_ = (type)INIT;                                                                                    \
                new_;                                                                                                  \
        })

/* An array of @n pointers, or NULL for none. */
static void *yarn_context_array(struct arena *arena, size_t n)
{
        return n ? arena_alloc(arena, n * sizeof(void *)) : NULL;
}

/* ------------------------------------------------------------------------------------------------------ container */

/*
 * The ResourceManager refuses an application without a container, so an unmanaged one has an empty one. Its tokens are
 * those that the ResourceManager renews.
 */
static Firesteel__Yarn__ContainerLaunchContext *yarn_context_container(const struct yarn_context_request *q,
                                                                       struct arena *arena)
{
        Firesteel__Yarn__ContainerLaunchContext *am = q->am ? q->am
                                                            : NEW(arena, Firesteel__Yarn__ContainerLaunchContext,
                                                                  FIRESTEEL__YARN__CONTAINER_LAUNCH_CONTEXT__INIT);
        if (q->view_acl)
                application_acl_attach((char *)q->view_acl, (char *)q->modify_acl, arena, am);
        if (q->tokens && q->tokens->len) {
                am->has_tokens = true;
                am->tokens = (ProtobufCBinaryData){.data = (uint8_t *)q->tokens->data, .len = q->tokens->len};
        }
        return am;
}

/* ---------------------------------------------------------------------------------------------------- application */

static bool yarn_context_knows(const Firesteel__Yarn__Resource *maximum, const char *type)
{
        for (size_t i = 0; i < maximum->n_values; i++)
                if (strcmp(maximum->values[i]->key, type) == 0)
                        return true;
        return false;
}

static Firesteel__Yarn__Resource *yarn_context_capability(const struct yarn_context_request *q, struct arena *arena)
{
        const struct yarn_settings *s = q->settings;
        Firesteel__Yarn__Resource *r = NEW(arena, Firesteel__Yarn__Resource, FIRESTEEL__YARN__RESOURCE__INIT);
        r->has_memory = r->has_virtual_cores = true;
        r->memory = s->memory + s->overhead;
        r->virtual_cores = (int32_t)s->cores;
        r->values = yarn_context_array(arena, s->resources.list.len);
        for (size_t i = 0; i < s->resources.list.len; i++) {
                const struct container_resource *amount = &s->resources.list.data[i];
                if (!yarn_context_knows(q->maximum, amount->name)) {
                        log_warn("ResourceRequestHelper",
                                 "YARN doesn't know about resource %s, your resource discovery has to handle properly "
                                 "discovering and isolating the resource! Error: Unknown resource '%s'. The cluster "
                                 "lists its resource types in resource-types.xml.",
                                 amount->name, amount->name);
                        continue;
                }
                Firesteel__Yarn__ResourceValue *v =
                        NEW(arena, Firesteel__Yarn__ResourceValue, FIRESTEEL__YARN__RESOURCE_VALUE__INIT);
                v->key = amount->name;
                v->has_value = v->has_type = true;
                v->value = amount->amount;
                v->units = amount->units;
                r->values[r->n_values++] = v;
        }
        return r;
}

static Firesteel__Yarn__Priority *yarn_context_priority(struct arena *arena, int32_t priority)
{
        Firesteel__Yarn__Priority *p = NEW(arena, Firesteel__Yarn__Priority, FIRESTEEL__YARN__PRIORITY__INIT);
        p->has_priority = true;
        p->priority = priority;
        return p;
}

/* With labels, the container is requested explicitly. */
static void yarn_context_put_request(const struct yarn_context_request *q, struct arena *arena,
                                     Firesteel__Yarn__ApplicationSubmissionContext *out)
{
        Firesteel__Yarn__Resource *capability = yarn_context_capability(q, arena);
        if (!q->settings->node_label) {
                out->resource = capability;
                return;
        }
        Firesteel__Yarn__ResourceRequest *request =
                NEW(arena, Firesteel__Yarn__ResourceRequest, FIRESTEEL__YARN__RESOURCE_REQUEST__INIT);
        request->priority = yarn_context_priority(arena, 0);
        request->resource_name = "*";
        request->capability = capability;
        request->has_num_containers = true;
        request->num_containers = 1;
        request->node_label_expression = q->settings->node_label;
        out->am_resource_requests = yarn_context_array(arena, 1);
        out->am_resource_requests[out->n_am_resource_requests++] = request;
}

void yarn_context_build(const struct yarn_context_request *q, struct arena *arena,
                        Firesteel__Yarn__ApplicationSubmissionContext *out)
{
        const struct yarn_settings *s = q->settings;
        *out = (Firesteel__Yarn__ApplicationSubmissionContext)FIRESTEEL__YARN__APPLICATION_SUBMISSION_CONTEXT__INIT;
        out->application_id = NEW(arena, Firesteel__Yarn__ApplicationId, FIRESTEEL__YARN__APPLICATION_ID__INIT);
        out->application_id->has_id = out->application_id->has_cluster_timestamp = true;
        out->application_id->id = q->id.id;
        out->application_id->cluster_timestamp = q->id.cluster_timestamp;
        out->application_name = s->name;
        out->queue = s->queue;
        out->application_type = s->type;
        out->am_container_spec = yarn_context_container(q, arena);
        if (q->keep_containers)
                out->has_keep_containers_across_attempts = out->keep_containers_across_attempts = true;
        out->has_unmanaged_am = true;
        out->unmanaged_am = !q->am;
        out->application_tags = yarn_context_array(arena, s->tags.len);
        for (size_t i = 0; i < s->tags.len; i++) {
                size_t k = 0;
                while (k < out->n_application_tags && strcmp(out->application_tags[k], s->tags.data[i]) != 0)
                        k++;
                if (k == out->n_application_tags)
                        out->application_tags[out->n_application_tags++] = s->tags.data[i];
        }
        if (s->max_attempts >= 0) {
                out->has_max_app_attempts = true;
                out->max_app_attempts = (int32_t)s->max_attempts;
        }
        if (s->validity_ms >= 0) {
                out->has_attempt_failures_validity_interval = true;
                out->attempt_failures_validity_interval = s->validity_ms;
        }
        if (s->has_priority)
                out->priority = yarn_context_priority(arena, (int32_t)s->priority);
        yarn_context_put_request(q, arena, out);
        if (s->rolled_include) {
                Firesteel__Yarn__LogAggregationContext *logs = NEW(arena, Firesteel__Yarn__LogAggregationContext,
                                                                   FIRESTEEL__YARN__LOG_AGGREGATION_CONTEXT__INIT);
                logs->rolled_include_pattern = s->rolled_include;
                logs->rolled_exclude_pattern = s->rolled_exclude;
                out->log_aggregation_context = logs;
        }
}
