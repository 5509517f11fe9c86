/*
 * Whether a SparkApplication fits into the ResourceQuotas of its namespace: --enable-resource-quota-enforcement. Pure.
 *
 *      if (resource_quota_concerns(request))                   of an AdmissionReview
 *              … read the quotas of the namespace …
 *              r = resource_quota_check(request, quotas, &error);
 *
 * What the namespace uses and the application requests (application_demand.h) must not exceed a quota on cpu,
 * requests.cpu, limits.cpu, memory, requests.memory, limits.memory, pods or count/pods. Quotas with scopes are ignored,
 * as the genuine webhook does. An update counts what it adds to an application that runs.
 *
 * Differs from the genuine webhook, which counts memory twice, ignores coreRequest, sparkConf, limits.memory and the
 * number of pods, and counts an application that runs twice when its spec changes.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

struct fst_error;

/* Whether @request creates a SparkApplication that is not suspended, or changes its spec. */
bool resource_quota_concerns(const json_t *request);

/*
 * Checks the request against @quotas, the items of a ResourceQuotaList. Returns 0, or -EDQUOT with @error, which begins
 * with the genuine sentence, or -EINVAL for an object whose demand cannot be read.
 */
int resource_quota_check(const json_t *request, const json_t *quotas, struct fst_error *error);
