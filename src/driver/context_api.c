/*
 * The public functions of a running context: what it is, local properties, cancellation. See context.h.
 */
#include "driver/context.h"
#include "driver/context_handles.h"

#include "base/log.h"
#include "driver/backend/cluster_manager.h"
#include "driver/job_runner.h"
#include "driver/local_properties.h"
#include "driver/resume/resume.h"
#include "process/failure_reason.h"
#include "rdd/rdd.h"

#include <firesteel/frames.h>
#include <firesteel/resume.h>

FST_API const char *fst_context_app_id(const fst_context *sc)
{
        sc = context_given(sc, rdd_site("context_app_id"));
        return sc->app_id ? sc->app_id : "";
}

FST_API bool fst_is_resumed(const fst_context *sc)
{
        sc = context_given(sc, rdd_site("is_resumed"));
        return resume_is_resumed(sc->resume);
}

FST_API int64_t fst_context_start_time(const fst_context *sc)
{
        sc = context_given(sc, rdd_site("context_start_time"));
        return sc->started_ms;
}

FST_API const char *fst_context_user(const fst_context *sc)
{
        sc = context_given(sc, rdd_site("context_user"));
        return sc->user ? sc->user : "";
}

FST_API const char *fst_last_failure(void)
{
        return failure_reason_of_thread();
}

FST_API const char *fst_version(void)
{
        return FIRESTEEL_VERSION;
}

FST_API const char *fst_context_conf(const fst_context *sc, const char *key)
{
        sc = context_given(sc, rdd_site("context_conf"));
        if (context_missing(key, "context_conf", "a key"))
                return NULL;
        return conf_get_value(sc->conf, key);
}

FST_API int fst_context_default_parallelism(const fst_context *sc)
{
        sc = context_given(sc, rdd_site("context_default_parallelism"));
        int64_t set;
        /* The context start has already refused an invalid value. */
        if (conf_get_int(sc->conf, "spark.default.parallelism", &set, NULL) == 0 && set > 0)
                return (int)set;
        if (!sc->manager) /* it failed to start */
                return 2;
        if (sc->manager->in_process)
                return MAX(sc->master.threads, 1);
        if (sc->manager->total_cores)
                return MAX(sc->manager->total_cores(&sc->master), 2);
        return MAX(__atomic_load_n(&sc->registered_cores, __ATOMIC_RELAXED), 2); /* as in Spark, a snapshot */
}

FST_API int fst_context_default_min_partitions(const fst_context *sc)
{
        return MIN(fst_context_default_parallelism(sc), 2);
}

FST_API int fst_context_set_log_level(fst_context *sc, const char *level)
{
        struct fst_error error = FST_ERROR_INIT;
        enum log_level parsed;
        sc = context_given(sc, rdd_site("context_set_log_level"));
        if (context_is_refused(sc) || context_missing(level, "context_set_log_level", "a level"))
                return -EINVAL;
        int r = log_level_parse(level, &parsed, &error);
        if (r)
                log_error("SparkContext", "%s", error_message(&error));
        else
                log_set_level(parsed);
        error_deinit(&error);
        return r;
}

FST_API void fst_set_local_property(fst_context *sc, const char *key, const char *value)
{
        sc = context_given(sc, rdd_site("set_local_property"));
        if (context_missing(key, "set_local_property", "a key"))
                return;
        struct strmap *local = local_properties(sc, true);
        if (value)
                strmap_set(local, key, value);
        else
                strmap_remove(local, key);
}

FST_API const char *fst_local_property(fst_context *sc, const char *key)
{
        sc = context_given(sc, rdd_site("local_property"));
        if (context_missing(key, "local_property", "a key"))
                return NULL;
        const struct strmap *local = local_properties(sc, false);
        return local ? strmap_get(local, key) : NULL;
}

FST_API void fst_set_job_description(fst_context *sc, const char *description)
{
        fst_set_local_property(sc, "spark.job.description", description);
}

FST_API void fst_set_job_group(fst_context *sc, const char *group, const char *description, bool interrupt)
{
        fst_set_local_property(sc, "spark.jobGroup.id", group);
        fst_set_job_description(sc, description);
        fst_set_interrupt_on_cancel(sc, interrupt);
}

FST_API void fst_clear_job_group(fst_context *sc)
{
        fst_set_job_group(sc, NULL, NULL, false);
}

/* Checks @sc, and a name that @function takes (@what, or NULL). Returns where to cancel jobs, or NULL: nowhere. */
static struct job_runner *context_cancel_runner(fst_context *sc, const char *function, const void *name,
                                                const char *what)
{
        sc = context_given(sc, rdd_site(function));
        return what && context_missing(name, function, what) ? NULL : sc->runner;
}

FST_API void fst_cancel_job(fst_context *sc, int job)
{
        struct job_runner *runner = context_cancel_runner(sc, "cancel_job", NULL, NULL);
        if (runner)
                job_runner_cancel_job(runner, job);
}

FST_API void fst_cancel_stage(fst_context *sc, int stage)
{
        struct job_runner *runner = context_cancel_runner(sc, "cancel_stage", NULL, NULL);
        if (runner)
                job_runner_cancel_stage(runner, stage);
}

FST_API void fst_cancel_job_group(fst_context *sc, const char *group)
{
        struct job_runner *runner = context_cancel_runner(sc, "cancel_job_group", group, "a group");
        if (runner)
                job_runner_cancel(runner, group);
}

FST_API void fst_cancel_jobs_with_tag(fst_context *sc, const char *tag)
{
        struct job_runner *runner = context_cancel_runner(sc, "cancel_jobs_with_tag", tag, "a tag");
        if (runner)
                job_runner_cancel_tag(runner, tag);
}

FST_API void fst_cancel_all_jobs(fst_context *sc)
{
        struct job_runner *runner = context_cancel_runner(sc, "cancel_all_jobs", NULL, NULL);
        if (runner)
                job_runner_cancel(runner, NULL);
}
