/* See api_run.h. */
#include "cmd/api_run.h"

#include "cmd/api_site.h"

#include "base/mem.h"

#include <string.h>

/* Adds what "diagnosis=true" yields. */
static void run_stage_set_diagnosis(struct run_stage *stage, const json_t *tree)
{
        const char *limit = json_text_or_empty(tree, "limit");
        for (int i = 0; i < DIAGNOSIS_LIMITS; i++)
                if (strcmp(diagnosis_limit_name((enum diagnosis_limit)i), limit) == 0)
                        stage->diagnosis.limit = (enum diagnosis_limit)i;
        for (int i = 0; i < DIAGNOSIS_PARTS; i++)
                stage->diagnosis.parts_ms[i] =
                        json_integer_value(json_object_get(json_at(tree, "wallClock"), diagnosis_part_name(i)));
}

static void run_summary_add_stage(struct run_summary *run, const struct api_site *site, const json_t *tree)
{
        static const struct {
                enum run_total total;
                const char *member;
                int64_t divisor;
        } members[] = {{RUN_TASKS, "numCompleteTasks", 1},
                       {RUN_FAILED_TASKS, "numFailedTasks", 1},
                       {RUN_CPU_MS, "executorCpuTime", 1000000},
                       {RUN_GC_MS, "jvmGcTime", 1},
                       {RUN_FETCH_WAIT_MS, "shuffleFetchWaitTime", 1},
                       {RUN_INPUT, "inputBytes", 1},
                       {RUN_OUTPUT, "outputBytes", 1},
                       {RUN_SHUFFLE_READ, "shuffleReadBytes", 1},
                       {RUN_SHUFFLE_WRITE, "shuffleWriteBytes", 1},
                       {RUN_SPILL, "diskBytesSpilled", 1}};
        const char *state = json_text_or_empty(tree, "status");
        if (strcmp(state, "PENDING") == 0 || strcmp(state, "SKIPPED") == 0)
                return;
        run->totals[RUN_STAGES]++;
        /* Spark has no sum of the durations without the tasks: their run time is near. */
        run->totals[RUN_TASK_MS] += json_int_at(tree, json_at(tree, "taskTime") ? "taskTime" : "executorRunTime");
        for (size_t i = 0; i < ARRAY_SIZE(members); i++)
                run->totals[members[i].total] += json_int_at(tree, members[i].member) / members[i].divisor;
        struct run_stage stage = {.id = (int)json_int_at(tree, "stageId"),
                                  .attempt = (int)json_int_at(tree, "attemptId"),
                                  .tasks = (int)json_int_at(tree, "numTasks"),
                                  .name = mem_strdup(json_text_or_empty(tree, "name")),
                                  .line = mem_strdup(json_text_or_empty(tree, "limitedBy")),
                                  .wall_ms =
                                          MAX(api_elapsed(site, tree, "submissionTime", "completionTime"), (int64_t)0),
                                  .read_bytes = json_int_at(tree, "inputBytes") + json_int_at(tree, "shuffleReadBytes"),
                                  .spilled_bytes = json_int_at(tree, "diskBytesSpilled")};
        for (size_t i = 0; i < run->stages.len; i++)
                stage.nth += strcmp(run->stages.data[i].name, stage.name) == 0;
        run_stage_set_diagnosis(&stage, tree);
        vec_push(&run->stages, stage);
}

/* Returns how long the chosen attempt has lasted. */
static int64_t api_run_wall(const struct api_site *site, const json_t *apps)
{
        const json_t *attempt, *chosen = NULL;
        size_t i;
        json_array_foreach(json_at(json_array_get(apps, 0), "attempts"), i, attempt) {
                const char *id = json_text_at(attempt, "attemptId");
                if (!chosen && (!site->attempt || (id && strcmp(id, site->attempt) == 0)))
                        chosen = attempt;
        }
        if (json_is_true(json_at(chosen, "completed")))
                return json_int_at(chosen, "duration");
        int64_t start = json_int_at(chosen, "startTimeEpoch");
        return start > 0 ? MAX(site->now_ms - start, (int64_t)0) : 0;
}

int api_run_summary(const char *url, struct run_summary *run, struct fst_error *error)
{
        struct api_site site = {0};
        json_t *apps = NULL, *jobs = NULL, *stages = NULL;
        int r = api_site_open(&site, url, NULL, true, &apps, error);
        if (r == 0)
                r = api_site_get(&site, "jobs", &jobs, error);
        if (r == 0)
                r = api_site_get(&site, "stages?details=false&diagnosis=true", &stages, error);
        if (r == 0) {
                const json_t *app = json_array_get(apps, 0);
                *run = (struct run_summary){.id = mem_strdup(json_text_or_empty(app, "id")),
                                            .name = mem_strdup(json_text_or_empty(app, "name"))};
                run->totals[RUN_WALL_MS] = api_run_wall(&site, apps);
                run->totals[RUN_JOBS] = (int64_t)json_array_size(jobs);
                for (size_t i = json_array_size(stages); i-- > 0;) /* the newest is first */
                        run_summary_add_stage(run, &site, json_array_get(stages, i));
        }
        json_decref(apps);
        json_decref(jobs);
        json_decref(stages);
        api_site_deinit(&site);
        return r;
}
