/* See admission.h. */
#include "operator/webhook/admission.h"

#include "base/error.h"
#include "base/mem.h"
#include "operator/apache/apache_application.h"
#include "operator/apache/apache_cluster.h"
#include "operator/resources/spark_application.h"
#include "operator/schedule/cron.h"
#include "operator/webhook/resource_quota.h"
#include "text/json.h"

#define ADMISSION_API "admission.k8s.io/v1"

/* The API server passes on 4 KiB of warnings, and cuts each at 256 bytes. */
enum { MAX_WARNINGS = 15, MAX_WARNING = 250, FORBIDDEN = 403 };

struct admission {
        const json_t *object;
        json_t *warnings;
        struct fst_error refusal; /* set if the object is refused */
};

static void admission_warn(struct admission *a, const struct field_problems *problems)
{
        for (size_t i = 0; i < problems->list.len && json_array_size(a->warnings) < MAX_WARNINGS; i++) {
                const struct field_problem *p = &problems->list.data[i];
                if (p->kind != FIELD_UNKNOWN && p->kind != FIELD_INEFFECTIVE)
                        continue;
                size_t n = MIN(strlen(p->message), (size_t)MAX_WARNING);
                while (n > 0 && ((unsigned char)p->message[n] & 0xc0) == 0x80)
                        n--; /* not inside a character */
                json_array_append_new(a->warnings, json_stringn(p->message, n));
        }
}

static int admission_refuse_fatal(struct admission *a, const struct field_problems *problems)
{
        const struct field_problem *fatal = field_problems_fatal(problems);
        return fatal ? error_set(&a->refusal, -EINVAL, "%s", fatal->message) : 0;
}

static int admission_check_application(struct admission *a, const json_t *object, struct field_problems *problems)
{
        struct spark_application app;
        int r = spark_application_read(object, &app, problems, &a->refusal);
        if (r == 0)
                r = spark_application_validate(&app, &a->refusal);
        spark_application_deinit(&app);
        return r;
}

static int admission_check_schedule(struct admission *a, struct field_problems *problems)
{
        const json_t *spec = json_object_get(a->object, "spec");
        const char *version = json_text_or_empty(a->object, "apiVersion");
        field_check(&scheduled_application_fields, "spec", spec, strcmp(version, OPERATOR_GROUP "/v1beta1") == 0,
                    problems);
        int r = admission_refuse_fatal(a, problems);
        if (r < 0)
                return r;
        struct cron *cron = NULL;
        const char *zone = json_text_at(spec, "timeZone");
        r = cron_parse(json_text_or_empty(spec, "schedule"), zone ? zone : "Local", &cron, &a->refusal);
        cron_free(cron);
        if (r < 0)
                return error_wrap(&a->refusal, r, "spec.schedule");
        json_t *template = json_object_get(spec, "template");
        json_t *app = json_pack("{s:s, s:s, s:O, s:O}", "apiVersion", version, "kind", "SparkApplication", "metadata",
                                json_object_get(a->object, "metadata"), "spec", template);
        r = app ? admission_check_application(a, app, NULL)
                : error_set(&a->refusal, -EINVAL, "spec.template is missing");
        json_decref(app);
        return r;
}

static int admission_check_apache_application(struct admission *a, struct field_problems *problems)
{
        struct apache_application app;
        int r = apache_application_read(a->object, &app, problems, &a->refusal);
        if (r == 0)
                r = apache_application_validate(&app, &a->refusal);
        apache_application_deinit(&app);
        return r;
}

static int admission_check_cluster(struct admission *a, struct field_problems *problems)
{
        struct apache_cluster cluster;
        int r = apache_cluster_read(a->object, &cluster, problems, &a->refusal);
        if (r == 0)
                r = apache_cluster_validate(&cluster, &a->refusal);
        apache_cluster_deinit(&cluster);
        return r;
}

static int admission_check_kind(struct admission *a, const char *group, const char *kind,
                                struct field_problems *problems)
{
        bool apache = strcmp(group, APACHE_GROUP) == 0;
        if (apache && strcmp(kind, "SparkApplication") == 0)
                return admission_check_apache_application(a, problems);
        if (apache && strcmp(kind, "SparkCluster") == 0)
                return admission_check_cluster(a, problems);
        if (!apache && strcmp(kind, "SparkApplication") == 0)
                return admission_check_application(a, a->object, problems);
        if (!apache && strcmp(kind, "ScheduledSparkApplication") == 0)
                return admission_check_schedule(a, problems);
        return 0;
}

/* Returns 0, or negative with a->refusal. */
static int admission_check(struct admission *a, const json_t *request)
{
        const char *operation = json_text_or_empty(request, "operation");
        const char *group = json_text_or_empty(request, "kind.group"), *kind = json_text_or_empty(a->object, "kind");
        const json_t *old = json_object_get(request, "oldObject");
        const bool update = strcmp(operation, "UPDATE") == 0;
        if (!update && strcmp(operation, "CREATE") != 0)
                return 0;
        if ((strcmp(group, OPERATOR_GROUP) != 0 && strcmp(group, APACHE_GROUP) != 0) ||
            json_at(a->object, "metadata.deletionTimestamp"))
                return 0;
        if (update && json_is_object(old) &&
            json_equal(json_object_get(a->object, "spec"), json_object_get(old, "spec")))
                return 0;
        struct field_problems problems = {0};
        int r = admission_check_kind(a, group, kind, &problems);
        if (r == 0)
                admission_warn(a, &problems);
        field_problems_deinit(&problems);
        return r;
}

json_t *admission_review(const json_t *review, const json_t *quotas, struct fst_error *error)
{
        const json_t *request = json_object_get(review, "request");
        const char *uid = json_text_at(request, "uid"), *version = json_text_or_empty(review, "apiVersion");
        if (strcmp(json_text_or_empty(review, "kind"), "AdmissionReview") != 0 || !uid) {
                error_set(error, -EINVAL, "the body is no AdmissionReview with a request");
                return NULL;
        }
        if (strcmp(version, ADMISSION_API) != 0) {
                error_set(error, -EINVAL, "the AdmissionReview is of %s, not of " ADMISSION_API, version);
                return NULL;
        }
        struct admission a = {
                .object = json_object_get(request, "object"), .warnings = json_array(), .refusal = FST_ERROR_INIT};
        int r = admission_check(&a, request);
        if (r == 0 && quotas && resource_quota_concerns(request))
                r = resource_quota_check(request, quotas, &a.refusal);
        const bool refused = r < 0;
        json_t *response = json_pack("{s:s, s:b}", "uid", uid, "allowed", !refused);
        if (refused)
                json_object_set_new(response, "status",
                                    json_pack("{s:i, s:s, s:s}", "code", FORBIDDEN, "reason", "Forbidden", "message",
                                              error_message(&a.refusal)));
        if (json_array_size(a.warnings) > 0)
                json_object_set(response, "warnings", a.warnings);
        json_decref(a.warnings);
        error_deinit(&a.refusal);
        return json_pack("{s:s, s:s, s:o}", "apiVersion", ADMISSION_API, "kind", "AdmissionReview", "response",
                         response);
}
