/*
 * Configuration and context.
 *
 * A context is one application: its configuration, its scheduler, its executors. A process has one context at a time.
 * As in Spark (SPARK-2243), a second one is refused until fst_context_stop has ended the first. You may call these
 * functions from several threads. Actions that several threads call run at the same time, in pools
 * (fst_set_local_property "spark.scheduler.pool").
 */
#pragma once

#include <firesteel/types.h>

FST_BEGIN_DECLS

typedef struct fst_conf fst_conf;

/* A configuration with the settings of spark-submit for this process, and Spark's defaults. The context frees it. */
FST_API fst_conf *fst_conf_new(void);

/*
 * Set @key, or remove it if @value is NULL. The text is copied. fst_context_new_conf reports an invalid value with
 * its key and unit.
 */
FST_API void fst_conf_set(fst_conf *conf, const char *key, const char *value);

/* Free a configuration that was not given to a context. NULL is allowed. */
FST_API void fst_conf_free(fst_conf *conf);

/* The value of @key, or its default, or NULL. Borrowed until the key is set again. */
FST_API const char *fst_conf_get(const fst_conf *conf, const char *key);

/*
 * fst_context *fst_context_new(const char *name)
 * fst_context *fst_context_new_conf(fst_conf *conf)
 *
 * Create a context with this application name and the configuration of spark-submit (or the environment). As in Spark,
 * settings of the program override the command line. Pass NULL to let --name choose the name. Never returns NULL: if
 * the context could not start, the reason has been logged, and all actions and fst_context_stop return that status. The
 * second form takes over a configuration.
 */
#define fst_context_new(name) fst_context_new_at((name), FST_HERE("context_new"))
#define fst_context_new_conf(conf) fst_context_new_conf_at((conf), FST_HERE("context_new_conf"))
FST_API fst_context *fst_context_new_at(const char *name, fst_site site);
FST_API fst_context *fst_context_new_conf_at(fst_conf *conf, fst_site site);

/*
 * Stop the context: cancel running jobs, release files and memory, close the event log. Returns 0, or the status of the
 * first action that failed, or -EINVAL after a call with an invalid argument. Do not use a handle of this context
 * afterwards: such a call logs an error. If `main` returns a negative status, spark-submit exits with 1.
 *
 * A context that runs when `main` returns, or when the application calls exit(), is stopped too, as in Spark. If it has
 * a failed action, an exit status 0 then becomes 1.
 */
FST_API int fst_context_stop(fst_context *sc);

/* The application id, such as "local-1700000000000". Borrowed from the context. */
FST_API const char *fst_context_app_id(const fst_context *sc);

/* The start time in milliseconds since 1970, and the user: SPARK_USER, or the owner of the process. Borrowed. */
FST_API int64_t fst_context_start_time(const fst_context *sc);
FST_API const char *fst_context_user(const fst_context *sc);

/* The version of this library, such as "0.1.0". Compare FST_VERSION_MAJOR of the header. */
FST_API const char *fst_version(void);

/* The effective value of @key, or its default, or NULL. */
FST_API const char *fst_context_conf(const fst_context *sc, const char *key);

/* spark.default.parallelism: the default number of partitions of parallelize and range. */
FST_API int fst_context_default_parallelism(const fst_context *sc);

/* The least number of partitions of text_file and other files: 2, or 1 if spark.default.parallelism is 1. */
FST_API int fst_context_default_min_partitions(const fst_context *sc);

/*
 * The addresses of a custom resource of the driver (spark.driver.resource.gpu.amount: "gpu"). Writes the first @max of
 * them to @addresses, valid until the context stops. Returns their number; 0 if there are none; -EINVAL without a name.
 */
FST_API int fst_context_resource(const fst_context *sc, const char *name, const char **addresses, size_t max);

/* Override the configured log level: "ERROR", "WARN", "INFO", "DEBUG", "TRACE", "OFF", …. -EINVAL if unknown. */
FST_API int fst_context_set_log_level(fst_context *sc, const char *level);

/*
 * Set a property of the jobs that this thread starts: "spark.scheduler.pool", "spark.jobGroup.id",
 * "spark.job.description". NULL removes it.
 */
FST_API void fst_set_local_property(fst_context *sc, const char *key, const char *value);

/* This thread's value of @key, or NULL. Borrowed until it is set again. */
FST_API const char *fst_local_property(fst_context *sc, const char *key);

/*
 * Put the jobs that this thread starts from now on into @group, by which you can cancel and find them (status.h). Logs
 * and pages show @description (NULL: none). With @interrupt, cancelling also interrupts functions that do not check
 * fst_task_interrupted; see fst_set_interrupt_on_cancel. fst_clear_job_group undoes all of this.
 */
FST_API void fst_set_job_group(fst_context *sc, const char *group, const char *description, bool interrupt);
FST_API void fst_clear_job_group(fst_context *sc);

/* Set the description alone; NULL removes it. */
FST_API void fst_set_job_description(fst_context *sc, const char *description);

/*
 * Add, remove or clear tags of the jobs that this thread starts. Jobs of several threads and groups can share a tag. A
 * tag is a word without commas. Returns 0, or -EINVAL, logged, for an invalid tag. fst_job_tags returns the tags with
 * commas between them ("" for none), borrowed until the next change.
 */
FST_API int fst_add_job_tag(fst_context *sc, const char *tag);
FST_API int fst_remove_job_tag(fst_context *sc, const char *tag);
FST_API void fst_clear_job_tags(fst_context *sc);
FST_API const char *fst_job_tags(fst_context *sc);

/*
 * Choose whether cancelling this thread's jobs also interrupts functions that do not check fst_task_interrupted, where
 * tasks run in processes of their own. The default is false.
 */
FST_API void fst_set_interrupt_on_cancel(fst_context *sc, bool interrupt);

/* Cancel jobs; their actions return a status. You may call these from any thread, but not from a signal handler. */
FST_API void fst_cancel_jobs_with_tag(fst_context *sc, const char *tag);
FST_API void fst_cancel_job_group(fst_context *sc, const char *group);
FST_API void fst_cancel_all_jobs(fst_context *sc);

/* Cancel a job, or the jobs that need a stage, by id (status.h, fst_future_job). An unknown id is ignored. */
FST_API void fst_cancel_job(fst_context *sc, int job);
FST_API void fst_cancel_stage(fst_context *sc, int stage);

/*
 * Ask the cluster manager for @executors in all, or for @more than were requested or are running. Dynamic allocation
 * replaces the request when it makes its own. Executors start later, when there is room. None is ended because fewer
 * are requested. Returns 0; -EINVAL for a negative number; -ENOTSUP with a local master; -EAGAIN if the cluster manager
 * cannot take a request now. These are Spark's requestTotalExecutors and requestExecutors.
 */
FST_API int fst_request_total_executors(fst_context *sc, int executors);
FST_API int fst_request_executors(fst_context *sc, int more);

/*
 * End @n executors by their ids, and request as many fewer. Their tasks run elsewhere. Returns the number of ids that
 * were found, or -ENOTSUP with a local master or dynamic allocation. This is Spark's killExecutors.
 */
FST_API int fst_kill_executors(fst_context *sc, const char *const *ids, size_t n);

FST_END_DECLS
