/*
 * Configuration and context.
 *
 * A context is one application: its configuration, its scheduler, its executors. A process has one at a time: a second
 * one is refused, as in Spark (SPARK-2243), until fst_context_stop has ended the first. Its functions may be called
 * from several threads; actions called from several threads run at the same time, in pools (fst_set_local_property
 * "spark.scheduler.pool").
 */
#pragma once

#include <firesteel/types.h>

FST_BEGIN_DECLS

typedef struct fst_conf fst_conf;

/* Spark's keys with Spark's defaults, as `spark-submit` prepared them for this process. Freed by the context. */
FST_API fst_conf *fst_conf_new(void);

/*
 * Text is copied. NULL for @value removes the setting. A value that the key cannot have is reported by
 * fst_context_new_conf, with key and unit.
 */
FST_API void fst_conf_set(fst_conf *conf, const char *key, const char *value);

/* Release a configuration that was not given to a context. NULL is allowed. */
FST_API void fst_conf_free(fst_conf *conf);

/* The value set for @key, or its default, or NULL. Borrowed until the key is set again. */
FST_API const char *fst_conf_get(const fst_conf *conf, const char *key);

/*
 * fst_context *fst_context_new(const char *name)
 * fst_context *fst_context_new_conf(fst_conf *conf)
 *
 * A context with the given application name and what spark-submit (or the environment) configured. As in Spark,
 * what the program sets goes before what the command line sets: for a name that --name may choose, pass NULL.
 * Never NULL: a context that could not start has reported why, and all of its actions and fst_context_stop
 * return that status. The second form takes a configuration over.
 */
#define fst_context_new(name) fst_context_new_at((name), FST_HERE("context_new"))
#define fst_context_new_conf(conf) fst_context_new_conf_at((conf), FST_HERE("context_new_conf"))
FST_API fst_context *fst_context_new_at(const char *name, fst_site site);
FST_API fst_context *fst_context_new_conf_at(fst_conf *conf, fst_site site);

/*
 * Stop: running jobs are cancelled, files and memory released, the event log closed. Returns 0, or the status
 * of the first action that failed, or -EINVAL after a call with an invalid argument. No handle of this context may be
 * used afterwards: a call with one logs an error. Returned from `main`, a
 * negative status makes spark-submit exit with 1.
 */
FST_API int fst_context_stop(fst_context *sc);

/* "local-1700000000000": borrowed, as long as the context. */
FST_API const char *fst_context_app_id(const fst_context *sc);

/* When it began, in milliseconds since 1970; and whose it is: SPARK_USER, or who runs this process. Borrowed. */
FST_API int64_t fst_context_start_time(const fst_context *sc);
FST_API const char *fst_context_user(const fst_context *sc);

/* "0.1.0": of this library. */
FST_API const char *fst_version(void);

/* The value in force for a key, its default, or NULL. */
FST_API const char *fst_context_conf(const fst_context *sc, const char *key);

/* spark.default.parallelism: partitions of parallelize and range unless given. */
FST_API int fst_context_default_parallelism(const fst_context *sc);

/* Partitions of text_file and its like, at least: 2, or spark.default.parallelism where that is 1. */
FST_API int fst_context_default_min_partitions(const fst_context *sc);

/* "ERROR", "WARN", "INFO", "DEBUG", "TRACE", "OFF", …: overrides what the user configured. -EINVAL if unknown. */
FST_API int fst_context_set_log_level(fst_context *sc, const char *level);

/*
 * Properties that the jobs of this thread carry: "spark.scheduler.pool", "spark.jobGroup.id",
 * "spark.job.description". NULL removes one.
 */
FST_API void fst_set_local_property(fst_context *sc, const char *key, const char *value);

/* This thread's value for @key, or NULL; borrowed until it is set again. */
FST_API const char *fst_local_property(fst_context *sc, const char *key);

/*
 * The jobs that this thread starts from now on are of @group, by which they can be cancelled and found (status.h), and
 * are described by @description in logs and pages (NULL: not at all). With @interrupt, cancelling them breaks into
 * functions that do not look up, as fst_set_interrupt_on_cancel says. fst_clear_job_group undoes all of it.
 */
FST_API void fst_set_job_group(fst_context *sc, const char *group, const char *description, bool interrupt);
FST_API void fst_clear_job_group(fst_context *sc);

/* A description alone; NULL: none. */
FST_API void fst_set_job_description(fst_context *sc, const char *description);

/*
 * Tags of this thread's jobs, until they are removed or cleared: jobs of several threads and groups can share one. A
 * tag is a word without commas. 0; -EINVAL, logged, for another one. fst_job_tags is the comma list of them, "" for
 * none, borrowed until the next change.
 */
FST_API int fst_add_job_tag(fst_context *sc, const char *tag);
FST_API int fst_remove_job_tag(fst_context *sc, const char *tag);
FST_API void fst_clear_job_tags(fst_context *sc);
FST_API const char *fst_job_tags(fst_context *sc);

/*
 * Whether cancelling this thread's jobs also breaks into functions that do not look up (fst_task_interrupted), where
 * tasks run in processes of their own. Not by default.
 */
FST_API void fst_set_interrupt_on_cancel(fst_context *sc, bool interrupt);

/* Cancel jobs; their actions return a status. May be called from any thread, and from a signal's thread. */
FST_API void fst_cancel_jobs_with_tag(fst_context *sc, const char *tag);
FST_API void fst_cancel_job_group(fst_context *sc, const char *group);
FST_API void fst_cancel_all_jobs(fst_context *sc);

/* The same by the id of a job, or of a stage that jobs need (status.h, fst_future_job). Nothing if there is none. */
FST_API void fst_cancel_job(fst_context *sc, int job);
FST_API void fst_cancel_stage(fst_context *sc, int stage);

/*
 * How many executors the application has, where they are processes that come and go: in all, or so many more than were
 * asked for or are there. With dynamic allocation this holds until it asks for another number. Executors come later, as
 * there is room for them; none ends because fewer are asked for. 0; -EINVAL for a negative number; -ENOTSUP with a
 * local master; -EAGAIN if the cluster manager cannot be asked now. Spark's requestTotalExecutors and requestExecutors.
 */
FST_API int fst_request_total_executors(fst_context *sc, int executors);
FST_API int fst_request_executors(fst_context *sc, int more);

/*
 * End executors, by their ids, and ask for as many fewer; their tasks run elsewhere. How many of them there were, or
 * -ENOTSUP with a local master or dynamic allocation. Spark's killExecutors.
 */
FST_API int fst_kill_executors(fst_context *sc, const char *const *ids, size_t n);

FST_END_DECLS
