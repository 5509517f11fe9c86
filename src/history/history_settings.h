/* The configuration of a history server: the keys spark.history.*. */
#pragma once

#include "history/history_compactor.h"
#include "history/history_listing.h"
#include "history/history_probe.h"

struct fst_conf;
struct fst_error;

/* Times in ms, sizes in bytes. Texts are owned. */
struct history_settings {
        int64_t update_ms, cleaner_ms, driver_log_cleaner_ms, driver_log_max_age_ms;
        bool cleaner, driver_log_cleaner;
        struct history_listing_options listing;
        struct history_probe_options probe;
        struct history_compactor_options compactor;
        size_t retained, max_applications, max_line;
        int n_threads, n_compact_threads;
        bool demands_single, demands_rolling; /* logs that are not listed are looked for by id */
        char *unscanned;                      /* regular expressions of directories, separated by commas */
        int64_t max_store;
        char *store, *dirs, *names, *title, *driver_log_dir, *logs_dir;
};

/*
 * Fills @t, which is all zero. Returns 0, or -EINVAL with @error. In either case the caller calls
 * history_settings_deinit.
 */
int history_settings_read(struct history_settings *t, const struct fst_conf *conf, struct fst_error *error);
void history_settings_deinit(struct history_settings *t);
