/*
 * Answers the API server's question whether an object may be stored: AdmissionReview of admission.k8s.io/v1, for
 * SparkApplications and ScheduledSparkApplications of sparkoperator.k8s.io. Pure.
 *
 *      json_t *answer = admission_review(review, NULL, &error);      NULL: no review
 *
 * Refused is what the genuine operator's validating webhook refuses, with its sentences; also fields of a wrong type,
 * which a definition that is older than this program lets pass, and schedules whose expression or time zone does not
 * exist. Unknown fields and fields without effect become warnings, which kubectl prints. An update is looked at only if
 * it changes the spec. Other kinds, operations and objects that are being deleted are allowed.
 */
#pragma once

#include <jansson.h>

struct fst_error;

/*
 * Returns the review to answer with, which the caller owns, or NULL with @error if @review is not one. @quotas: the
 * items of a ResourceQuotaList, which the application must not exceed (resource_quota.h), or NULL.
 */
json_t *admission_review(const json_t *review, const json_t *quotas, struct fst_error *error);
