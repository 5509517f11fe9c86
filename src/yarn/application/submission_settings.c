/* See submission_settings.h. */
#include "yarn/application/submission_settings.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "yarn/conf/conf_list.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_OVERHEAD_MB 384

void submission_settings_deinit(struct submission_settings *s)
{
        for (size_t i = 0; i < s->values.len; i++)
                free(s->values.data[i]);
        vec_deinit(&s->values);
        container_resources_deinit(&s->resources);
        string_list_deinit(&s->tags);
        free(s->name);
        free(s->type);
        free(s->queue);
        free(s->label);
        free(s->rolled_include);
        free(s->rolled_exclude);
}

static int submission_read_number(const struct fst_conf *conf, const char *key, int64_t least, int32_t *out,
                                  struct fst_error *error)
{
        int64_t value;
        const int r = conf_get_int(conf, key, &value, error);
        if (r < 0)
                return r;
        if (value < least || value > INT_MAX)
                return error_set(error, -EINVAL, "%s is %lld, but must be between %lld and %d", key, (long long)value,
                                 (long long)least, INT_MAX);
        *out = (int32_t)value;
        return 0;
}

static void submission_drop_doubles(struct string_list *list)
{
        size_t kept = 0;
        for (size_t i = 0; i < list->len; i++) {
                size_t k = 0;
                while (k < kept && strcmp(list->data[k], list->data[i]) != 0)
                        k++;
                if (k < kept)
                        free(list->data[i]);
                else
                        list->data[kept++] = list->data[i];
        }
        list->len = kept;
}

static int submission_read_texts(const struct fst_conf *conf, struct submission_settings *s, struct fst_error *error)
{
        _cleanup_free_ char *tags = NULL;
        int r;
        if ((r = conf_get_string(conf, "spark.app.name", &s->name, error)) ||
            (r = conf_get_string(conf, "spark.yarn.applicationType", &s->type, error)) ||
            (r = conf_get_string(conf, "spark.yarn.queue", &s->queue, error)) ||
            (r = conf_get_string(conf, "spark.yarn.am.nodeLabelExpression", &s->label, error)) ||
            (r = conf_get_string(conf, "spark.yarn.rolledLog.includePattern", &s->rolled_include, error)) ||
            (r = conf_get_string(conf, "spark.yarn.rolledLog.excludePattern", &s->rolled_exclude, error)) ||
            (r = conf_get_string(conf, "spark.yarn.tags", &tags, error)))
                return r;
        conf_list_split(tags, &s->tags);
        submission_drop_doubles(&s->tags);
        return 0;
}

static int submission_read_size(const struct fst_conf *conf, struct submission_settings *s, struct fst_error *error)
{
        int64_t bytes;
        int r = conf_get_bytes(conf, "spark.yarn.am.memory", &bytes, error);
        if (r < 0)
                return r;
        s->memory_mb = bytes >> 20;
        s->overhead_mb = MAX((int64_t)(0.1 * (double)s->memory_mb), (int64_t)LEAST_OVERHEAD_MB);
        if (conf_get_value(conf, "spark.yarn.am.memoryOverhead")) {
                r = conf_get_bytes(conf, "spark.yarn.am.memoryOverhead", &bytes, error);
                s->overhead_mb = r < 0 ? 0 : bytes >> 20;
        }
        r = r < 0 ? r : submission_read_number(conf, "spark.yarn.am.cores", 1, &s->resource.virtual_cores, error);
        r = r < 0 ? r : container_resources_read(conf, "am", NULL, &s->resources, error);
        s->resource.has_memory = s->resource.has_virtual_cores = true;
        s->resource.memory = s->memory_mb + s->overhead_mb;
        for (size_t i = 0; i < s->resources.list.len; i++) {
                const struct container_resource *from = &s->resources.list.data[i];
                Firesteel__Yarn__ResourceValue *value = new0(Firesteel__Yarn__ResourceValue);
                firesteel__yarn__resource_value__init(value);
                value->key = from->name;
                value->has_value = true;
                value->value = from->amount;
                value->units = from->units;
                vec_push(&s->values, value);
        }
        s->resource.n_values = s->values.len;
        s->resource.values = s->values.data;
        return r;
}

/* A node label needs a request of its own, instead of the plain size. */
static void submission_set_request(struct submission_settings *s)
{
        firesteel__yarn__resource_request__init(&s->request);
        firesteel__yarn__priority__init(&s->am_priority);
        s->am_priority.has_priority = true;
        s->request.priority = &s->am_priority;
        s->request.resource_name = (char *)"*";
        s->request.capability = &s->resource;
        s->request.has_num_containers = true;
        s->request.num_containers = 1;
        s->request.node_label_expression = s->label;
        s->requests = &s->request;
        s->context.n_am_resource_requests = 1;
        s->context.am_resource_requests = &s->requests;
}

static int submission_read_optional(const struct fst_conf *conf, struct submission_settings *s, struct fst_error *error)
{
        int r = 0;
        if (conf_get_value(conf, "spark.yarn.priority")) {
                r = submission_read_number(conf, "spark.yarn.priority", INT_MIN, &s->priority.priority, error);
                s->priority.has_priority = true;
                s->context.priority = &s->priority;
        }
        if (r == 0 && conf_get_value(conf, "spark.yarn.maxAppAttempts")) {
                r = submission_read_number(conf, "spark.yarn.maxAppAttempts", 1, &s->context.max_app_attempts, error);
                s->context.has_max_app_attempts = true;
        }
        if (r == 0 && conf_get_value(conf, "spark.yarn.am.attemptFailuresValidityInterval")) {
                r = conf_get_ms(conf, "spark.yarn.am.attemptFailuresValidityInterval",
                                &s->context.attempt_failures_validity_interval, error);
                s->context.has_attempt_failures_validity_interval = true;
        }
        return r;
}

int submission_settings_read(const struct fst_conf *conf, struct yarn_application_id id,
                             struct submission_settings *out, struct fst_error *error)
{
        firesteel__yarn__application_submission_context__init(&out->context);
        firesteel__yarn__application_id__init(&out->id);
        firesteel__yarn__resource__init(&out->resource);
        firesteel__yarn__priority__init(&out->priority);
        firesteel__yarn__log_aggregation_context__init(&out->logs);
        int r = submission_read_texts(conf, out, error);
        r = r < 0 ? r : submission_read_size(conf, out, error);
        r = r < 0 ? r : submission_read_optional(conf, out, error);
        if (r < 0)
                return r;
        out->id.has_id = out->id.has_cluster_timestamp = true;
        out->id.id = id.id;
        out->id.cluster_timestamp = id.cluster_timestamp;
        out->context.application_id = &out->id;
        out->context.application_name = out->name;
        out->context.application_type = out->type;
        out->context.queue = out->queue;
        out->context.application_tags = out->tags.data;
        out->context.n_application_tags = out->tags.len;
        if (out->label)
                submission_set_request(out);
        else
                out->context.resource = &out->resource;
        if (out->rolled_include) {
                out->logs.rolled_include_pattern = out->rolled_include;
                out->logs.rolled_exclude_pattern = out->rolled_exclude;
                out->context.log_aggregation_context = &out->logs;
        }
        return 0;
}

int submission_settings_check(const struct submission_settings *s, int64_t most_mb, struct fst_error *error)
{
        if (s->memory_mb + s->overhead_mb <= most_mb)
                return 0;
        return error_set(error, -EINVAL,
                         "Required AM memory (%lld+%lld MB) is above the max threshold (%lld MB) of this cluster! "
                         "Please check the values of 'yarn.scheduler.maximum-allocation-mb' and/or "
                         "'yarn.nodemanager.resource.memory-mb'.",
                         (long long)s->memory_mb, (long long)s->overhead_mb, (long long)most_mb);
}
