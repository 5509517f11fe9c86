/*
 * Asks /api/v1 and fills tables; see api_tables.h. The columns are those that event_log_tables.c prints of a log.
 *
 * Medians and longest tasks are those of the summaries of successful tasks. What limited a stage comes only from
 * Firesteel's servers ("diagnosis=true"): Spark's ignore the parameter.
 */
#include "cmd/api_tables.h"

#include "cmd/api_site.h"

#include "base/error.h"
#include "base/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* @url: of the driver, for a table that has it; NULL: the table has not. */
static void api_fill_attempt(struct text_table *t, const json_t *app, const json_t *attempt, const char *url)
{
        bool completed = json_is_true(json_at(attempt, "completed"));
        const int64_t updated = json_int_at(attempt, "lastUpdatedEpoch");
        int64_t start = json_int_at(attempt, "startTimeEpoch");
        const json_t *code = json_at(attempt, "exitCode");
        text_table_add_text(t, json_text_at(app, "id"));
        text_table_add_text(t, json_text_at(attempt, "attemptId"));
        text_table_add_text(t, json_text_at(app, "name"));
        text_table_add_text(t, json_text_at(attempt, "sparkUser"));
        text_table_add_time(t, start);
        text_table_add_duration(t, completed   ? json_int_at(attempt, "duration")
                                   : start > 0 ? MAX(api_attempt_now(attempt) - start, (int64_t)0)
                                               : -1);
        if (!completed)
                text_table_add_running(t, updated > start ? updated : 0);
        else if (json_is_integer(code))
                text_table_add(t, mem_printf("ENDED (exit status %d)", (int)json_integer_value(code)));
        else
                text_table_add_text(t, "ENDED");
        if (url)
                text_table_add_text(t, url);
}

static void api_fill_applications(struct text_table *t, const struct api_site *site, const json_t *list)
{
        static const char *const names[] = {"ID", "ATTEMPT", "NAME", "USER", "STARTED", "DURATION", "STATE"};
        const json_t *app, *attempt;
        size_t i, k;
        text_table_add_heading(t, names, ARRAY_SIZE(names));
        json_array_foreach((json_t *)list, i, app) {
                json_array_foreach(json_at(app, "attempts"), k, attempt) {
                        const char *id = json_text_at(attempt, "attemptId");
                        if (!site->attempt || (id && strcmp(id, site->attempt) == 0))
                                api_fill_attempt(t, app, attempt, NULL);
                }
        }
}

static void api_fill_jobs(struct text_table *t, const struct api_site *site, const json_t *list)
{
        static const char *const names[] = {"JOB",   "STATE",  "STARTED", "DURATION", "STAGES",
                                            "TASKS", "FAILED", "NAME",    "FAILURE"};
        const json_t *j;
        size_t i;
        text_table_add_heading(t, names, ARRAY_SIZE(names));
        json_array_foreach((json_t *)list, i, j) {
                int64_t stages = (int64_t)json_array_size(json_at(j, "stageIds")) - json_int_at(j, "numSkippedStages");
                const char *description = json_text_at(j, "description");
                text_table_add_number(t, json_int_at(j, "jobId"));
                text_table_add_text(t, json_text_at(j, "status"));
                text_table_add_time(t, api_date_at(j, "submissionTime"));
                text_table_add_duration(t, api_elapsed(site, j, "submissionTime", "completionTime"));
                text_table_add(
                        t, mem_printf("%" PRId64 "/%" PRId64, (int64_t)json_int_at(j, "numCompletedStages"), stages));
                text_table_add(t,
                               mem_printf("%" PRId64 "/%" PRId64, (int64_t)json_int_at(j, "numCompletedIndices"),
                                          (int64_t)(json_int_at(j, "numTasks") - json_int_at(j, "numSkippedTasks"))));
                text_table_add_number(t, json_int_at(j, "numFailedTasks"));
                text_table_add_text(t, description ? description : json_text_at(j, "name"));
                text_table_add_error(t, json_text_at(j, "failureReason"));
        }
}

static void api_fill_stages(struct text_table *t, const struct api_site *site, const json_t *list)
{
        static const char *const names[] = {
                "STAGE", "ATTEMPT", "STATE",        "DURATION",      "TASKS", "FAILED", "MEDIAN",  "LONGEST",
                "INPUT", "OUTPUT",  "SHUFFLE READ", "SHUFFLE WRITE", "SPILL", "NAME",   "FAILURE", "LIMITED BY"};
        static const char *const sizes[] = {"inputBytes", "outputBytes", "shuffleReadBytes", "shuffleWriteBytes",
                                            "diskBytesSpilled"};
        const json_t *g;
        size_t i;
        text_table_add_heading(t, names, ARRAY_SIZE(names));
        json_array_foreach((json_t *)list, i, g) {
                const char *state = json_text_or_empty(g, "status");
                const json_t *durations = json_at(g, "taskMetricsDistributions.duration");
                bool has_run = strcmp(state, "SKIPPED") != 0 && strcmp(state, "PENDING") != 0;
                text_table_add_number(t, json_int_at(g, "stageId"));
                text_table_add_number(t, json_int_at(g, "attemptId"));
                text_table_add_text(t, state);
                text_table_add_duration(t, has_run ? api_elapsed(site, g, "submissionTime", "completionTime") : -1);
                text_table_add(t, mem_printf("%" PRId64 "/%" PRId64, (int64_t)json_int_at(g, "numCompletedIndices"),
                                             (int64_t)json_int_at(g, "numTasks")));
                text_table_add_number(t, json_int_at(g, "numFailedTasks"));
                for (size_t k = 0; k < 2; k++) {
                        const json_t *value = json_array_get(durations, k);
                        text_table_add_duration(t, json_is_number(value) ? (int64_t)json_number_value(value) : -1);
                }
                for (size_t k = 0; k < ARRAY_SIZE(sizes); k++)
                        text_table_add_bytes(t, json_int_at(g, sizes[k]));
                text_table_add_text(t, json_text_at(g, "name"));
                text_table_add_error(t, json_text_at(g, "failureReason"));
                text_table_add_text(t, json_text_at(g, "limitedBy"));
        }
}

static void api_fill_executors(struct text_table *t, const struct api_site *site, const json_t *list)
{
        static const char *const names[] = {"EXECUTOR", "ADDRESS",      "STATE",         "CORES",
                                            "ACTIVE",   "FAILED",       "COMPLETED",     "TASK TIME",
                                            "INPUT",    "SHUFFLE READ", "SHUFFLE WRITE", "REASON"};
        static const char *const counts[] = {"totalCores", "activeTasks", "failedTasks", "completedTasks"};
        static const char *const sizes[] = {"totalInputBytes", "totalShuffleRead", "totalShuffleWrite"};
        const json_t *x;
        size_t i;
        (void)site;
        text_table_add_heading(t, names, ARRAY_SIZE(names));
        json_array_foreach((json_t *)list, i, x) {
                bool excluded = json_is_true(json_at(x, "isExcluded")) || json_is_true(json_at(x, "isBlacklisted"));
                text_table_add_text(t, json_text_at(x, "id"));
                text_table_add_text(t, json_text_at(x, "hostPort"));
                text_table_add_text(t, !json_is_true(json_at(x, "isActive")) ? "REMOVED"
                                       : excluded                            ? "EXCLUDED"
                                                                             : "ACTIVE");
                for (size_t k = 0; k < ARRAY_SIZE(counts); k++)
                        text_table_add_number(t, json_int_at(x, counts[k]));
                text_table_add_duration(t, json_int_at(x, "totalDuration"));
                for (size_t k = 0; k < ARRAY_SIZE(sizes); k++)
                        text_table_add_bytes(t, json_int_at(x, sizes[k]));
                text_table_add_text(t, json_text_at(x, "removeReason"));
        }
}

int api_tables_fill(struct text_table *table, enum api_table kind, const char *url, const char *application,
                    struct fst_error *error)
{
        static const struct {
                const char *resource;
                void (*fill)(struct text_table *t, const struct api_site *site, const json_t *list);
        } kinds[] = {
                [API_APPLICATIONS] = {NULL, api_fill_applications},
                [API_JOBS] = {"jobs?diagnosis=true", api_fill_jobs},
                [API_STAGES] = {"stages?details=false&withSummaries=true&quantiles=0.5,1.0&diagnosis=true",
                                api_fill_stages},
                [API_EXECUTORS] = {"allexecutors", api_fill_executors},
        };
        struct api_site site = {0};
        json_t *apps = NULL, *list = NULL;
        int r = api_site_open(&site, url, application, kind != API_APPLICATIONS, &apps, error);
        if (r == 0 && kinds[kind].resource)
                r = api_site_get(&site, kinds[kind].resource, &list, error);
        if (r == 0)
                kinds[kind].fill(table, &site, list ? list : apps);
        json_decref(apps);
        json_decref(list);
        api_site_deinit(&site);
        return r;
}

/* The ports of drivers: spark.ui.port, and the next ones while that is taken (spark.port.maxRetries). */
enum { FIRST_PORT = 4040, LAST_PORT = FIRST_PORT + 16 };

int api_tables_fill_local(struct text_table *table, struct fst_error *error)
{
        static const char *const names[] = {"ID", "ATTEMPT", "NAME", "USER", "STARTED", "DURATION", "STATE", "URL"};
        size_t n = 0;
        for (int port = FIRST_PORT; port <= LAST_PORT; port++) {
                struct fst_error problem = FST_ERROR_INIT;
                struct api_site site = {0};
                json_t *apps = NULL;
                _cleanup_free_ char *url = mem_printf("http://localhost:%d", port);
                if (api_site_open(&site, url, NULL, true, &apps, &problem) == 0) {
                        const json_t *app = json_array_get(apps, 0);
                        if (n++ == 0)
                                text_table_add_heading(table, names, ARRAY_SIZE(names));
                        api_fill_attempt(table, app, json_array_get(json_at(app, "attempts"), 0), url);
                }
                json_decref(apps);
                api_site_deinit(&site);
                error_deinit(&problem);
        }
        if (n)
                return 0;
        return error_set(error, -ENOENT,
                         "no driver answers at the ports %d to %d of this host: name the URL that its log names, or an "
                         "event log",
                         FIRST_PORT, LAST_PORT);
}
