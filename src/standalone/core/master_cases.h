/* The cases of the master core share its settings, workers, applications, and a record of its messages. */
#pragma once

#include "standalone/core/master_fixture.h"

#define MS(n) ((n)*NS_PER_MS)

static const struct master_config by_id = {
        .spread_out_apps = true,
        .selection = WORKER_BY_ID,
        .default_cores = INT32_MAX,
        .max_drivers = INT32_MAX,
        .max_executor_retries = 10,
        .retained_apps = 20,
        .retained_drivers = 20,
        .worker_timeout = 60 * NS_PER_SECOND,
        .reaper_iterations = 2,
        .app_id_pattern = "app-%s-%04d",
        .driver_id_pattern = "driver-%s-%04d",
        .log_level = LOG_INFO,
};

static struct recorder rec;

static inline struct master *start_master(const struct master_config *config)
{
        struct master *m = recorded_master(&rec, config);

        buf_reset(recorder_update(&rec, &rec.said));
        buf_reset(recorder_update(&rec, &rec.stored));
        buf_reset(recorder_update(&rec, &rec.logged));
        assert_int_equal(master_config_check(config, NULL), 0);
        master_elected(m, NULL, 0, NULL, 0, NULL, 0, 1);
        assert_int_equal(m->status, MASTER_ALIVE);
        return m;
}

static inline void free_master(struct master *m)
{
        master_free(m);
        recorder_deinit(&rec);
}

static inline struct worker_spec worker_spec(const char *id, int number, int cores, int64_t memory)
{
        return (struct worker_spec){.id = id, .host = "host", .port = 7000 + number, .cores = cores, .memory = memory};
}

static inline void add_worker(struct master *m, const char *id, int number, int cores, int64_t memory)
{
        struct worker_spec spec = worker_spec(id, number, cores, memory);

        master_register_worker(m, (uint64_t)number, &spec, 1);
}

static inline struct app_spec app_spec(const char *name, int64_t memory, int cores, int max)
{
        return (struct app_spec){.name = name,
                                 .address = name,
                                 .max_cores = max,
                                 .initial_executors = -1,
                                 .profile = {.cores = cores, .memory = memory}};
}

/* Registers an application over connection 100, without placing executors. */
static inline struct master_app *add_app(struct master *m, const struct app_spec *spec)
{
        master_register_app(m, 100, spec, 1);
        return m->apps.last;
}

static inline struct master_reply submit_driver(struct master *m, const char *class, int cores, bool supervise)
{
        struct driver_spec spec = {.main_class = class, .cores = cores, .memory = 1024, .supervise = supervise};

        return master_submit_driver(m, &spec, 1);
}
