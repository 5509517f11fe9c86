#include "history/history_settings.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"

#include <string.h>
#include <unistd.h>

static int history_settings_count(const struct fst_conf *conf, const char *key, size_t *out, struct fst_error *error)
{
        int64_t n = 0;
        int r = conf_get_int(conf, key, &n, error);
        if (r == 0 && n < 1)
                r = error_set(error, -EINVAL, "%s is %lld: write a number from 1 on", key, (long long)n);
        *out = n >= INT32_MAX ? 0 : (size_t)n; /* 0: no limit */
        return r;
}

static int history_settings_read_cleaners(struct history_settings *t, const struct fst_conf *conf,
                                          struct fst_error *error)
{
        int r = conf_get_bool(conf, "spark.history.fs.cleaner.enabled", &t->cleaner, error);
        if (r == 0)
                r = conf_get_ms(conf, "spark.history.fs.cleaner.interval", &t->cleaner_ms, error);
        if (r == 0)
                r = conf_get_ms(conf, "spark.history.fs.cleaner.maxAge", &t->listing.max_age_ms, error);
        if (r == 0)
                r = history_settings_count(conf, "spark.history.fs.cleaner.maxNum", &t->listing.max_logs, error);
        if (r == 0)
                r = conf_get_bool(conf, "spark.history.fs.driverlog.cleaner.enabled", &t->driver_log_cleaner, error);
        if (r == 0)
                r = conf_get_ms(conf, "spark.history.fs.driverlog.cleaner.interval", &t->driver_log_cleaner_ms, error);
        if (r == 0)
                r = conf_get_ms(conf, "spark.history.fs.driverlog.cleaner.maxAge", &t->driver_log_max_age_ms, error);
        if (r == 0)
                r = conf_get_string(conf, "spark.driver.log.dfsDir", &t->driver_log_dir, error);
        t->driver_log_cleaner = t->driver_log_cleaner && t->driver_log_dir && *t->driver_log_dir;
        return r;
}

static int history_settings_read_probe(struct history_settings *t, const struct fst_conf *conf, struct fst_error *error)
{
        int64_t line = 0, tail = 0;
        int r = conf_get_bytes(conf, "spark.history.fs.eventLog.maxLineLength", &line, error);
        if (r == 0)
                r = conf_get_bytes(conf, "spark.history.fs.endEventReparseChunkSize", &tail, error);
        if (r == 0)
                r = conf_get_bool(conf, "spark.history.fs.inProgressOptimization.enabled",
                                  &t->probe.is_fast_in_progress, error);
        t->max_line = line > 0 ? (size_t)line : (size_t)512 << 20; /* as in Spark */
        t->probe.max_line = t->max_line;
        t->probe.tail_bytes = (uint64_t)MAX(tail, (int64_t)0);
        return r;
}

static int history_settings_read_compactor(struct history_settings *t, const struct fst_conf *conf,
                                           struct fst_error *error)
{
        static const char threshold[] = "spark.history.fs.eventLog.rolling.compaction.score.threshold";
        struct history_compactor_options *o = &t->compactor;
        size_t threads = 1;
        int r = history_settings_count(conf, "spark.history.fs.eventLog.rolling.maxFilesToRetain", &o->max_files,
                                       error);
        if (r == 0)
                r = conf_get_double(conf, threshold, &o->threshold, error);
        if (r == 0 && !(o->threshold >= 0 && o->threshold <= 1))
                r = error_set(error, -EINVAL, "%s is %g: write a number from 0 to 1", threshold, o->threshold);
        if (r == 0)
                r = history_settings_count(conf, "spark.history.fs.numCompactThreads", &threads, error);
        o->max_line = t->max_line;
        t->n_compact_threads = (int)MIN(MAX(threads, (size_t)1), (size_t)64);
        t->listing.compactor = o;
        return r;
}

static int history_settings_read_demand(struct history_settings *t, const struct fst_conf *conf,
                                        struct fst_error *error)
{
        int r = conf_get_bool(conf, "spark.history.fs.eventLog.onDemandLoadEnabled", &t->demands_single, error);
        if (r == 0)
                r = conf_get_bool(conf, "spark.history.fs.eventLog.rolling.onDemandLoadEnabled", &t->demands_rolling,
                                  error);
        if (r == 0)
                r = conf_get_string(conf, "spark.history.fs.update.scanDisabledPathPatterns", &t->unscanned, error);
        return r;
}

int history_settings_read(struct history_settings *t, const struct fst_conf *conf, struct fst_error *error)
{
        int64_t threads = 0;
        _cleanup_free_ char *provider = NULL;
        int r = conf_get_string(conf, "spark.history.provider", &provider, error);
        if (r == 0 && strcmp(provider, "org.apache.spark.deploy.history.FsHistoryProvider") != 0)
                r = error_set(error, -EINVAL,
                              "spark.history.provider: %s is a JVM class, which Firesteel cannot load: use "
                              "org.apache.spark.deploy.history.FsHistoryProvider",
                              provider);
        if (r == 0)
                r = conf_get_ms(conf, "spark.history.fs.update.interval", &t->update_ms, error);
        if (r == 0)
                r = conf_get_string(conf, "spark.history.fs.logDirectory", &t->dirs, error);
        if (r == 0)
                r = conf_get_string(conf, "spark.history.fs.logDirectory.names", &t->names, error);
        if (r == 0)
                r = conf_get_string(conf, "spark.history.ui.title", &t->title, error);
        if (r == 0)
                r = history_settings_read_cleaners(t, conf, error);
        if (r == 0)
                r = history_settings_read_probe(t, conf, error);
        if (r == 0)
                r = history_settings_read_compactor(t, conf, error);
        if (r == 0)
                r = history_settings_read_demand(t, conf, error);
        if (r == 0)
                r = history_settings_count(conf, "spark.history.retainedApplications", &t->retained, error);
        if (r == 0)
                r = history_settings_count(conf, "spark.history.ui.maxApplications", &t->max_applications, error);
        if (r == 0)
                r = conf_get_string(conf, "spark.history.store.path", &t->store, error);
        if (r == 0)
                r = conf_get_string(conf, "spark.firesteel.logs.dir", &t->logs_dir, error);
        if (r == 0)
                r = conf_get_bytes(conf, "spark.history.store.maxDiskUsage", &t->max_store, error);
        if (r == 0 && conf_get_value(conf, "spark.history.fs.numReplayThreads"))
                r = conf_get_int(conf, "spark.history.fs.numReplayThreads", &threads, error);
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        t->retained = t->retained ? t->retained : SIZE_MAX;
        t->update_ms = MAX(t->update_ms, (int64_t)100);
        t->n_threads = threads > 0 ? (int)MIN(threads, (int64_t)64) : (int)MAX(2L, (cores + 3) / 4);
        return r;
}

void history_settings_deinit(struct history_settings *t)
{
        free(t->dirs);
        free(t->unscanned);
        free(t->names);
        free(t->title);
        free(t->logs_dir);
        free(t->store);
        free(t->driver_log_dir);
}
