/*
 * The event logs of a history server and the attempts of applications in them. It decides which logs must be read,
 * which have gone, and which are too old. Spark's FsHistoryProvider has the rules.
 *
 * Pure: scans of directories and results of reading come in, actions come out. The owner carries them out:
 *
 *      history_listing_begin_scan(l, dir);
 *      … history_listing_see(l, dir, &log, now_ms) for each log …
 *      history_listing_end_scan(l, dir);
 *      while (history_listing_next(l, &action))
 *              …
 *      history_listing_read(l, path, HISTORY_LOG_HAS_APPLICATION, &info);
 *
 * Times are ms since 1970. One thread at a time.
 */
#pragma once

#include "base/hash_table.h"
#include "base/vec.h"
#include "events/event_files.h"
#include "history/history_compactor.h"

/* The facts about an application that the head and the end of its log hold. Owned texts. */
struct history_info {
        char *app_id, *app_name, *user;
        char *attempt_id;                                          /* NULL: the only attempt */
        char *spark_version;                                       /* NULL: unknown */
        char *view_acls, *view_groups, *admin_acls, *admin_groups; /* lists of the application; NULL: none */
        int64_t start_ms, end_ms;
        bool has_ended;
        int exit_code; /* -1: unknown */
};

void history_info_deinit(struct history_info *info);
void history_info_copy(struct history_info *to, const struct history_info *from); /* a deep copy */

enum history_log_state {
        HISTORY_LOG_UNREAD,
        HISTORY_LOG_READING, /* an action to read it was given out */
        HISTORY_LOG_HAS_APPLICATION,
        HISTORY_LOG_IS_OTHER, /* no application starts in it, or it cannot be read; read again after a change */
};

struct history_log {
        struct event_log_info files;
        int dir; /* number of its directory */
        enum history_log_state state;
        bool is_seen;    /* in the present scan */
        bool is_changed; /* while it was read */
        bool is_gone;    /* while it was read */
        bool has_info;
        struct history_info info;
        int64_t updated_ms; /* when it was written, as far as scans tell */
        long evaluated;     /* the last file when compaction was tried; 0: never */
        bool is_compacting; /* an action to compact it was given out */
};

enum history_action_type {
        HISTORY_READ,    /* read head and end of a log; call history_listing_read */
        HISTORY_GREW,    /* a log that was read before has changed: what was loaded of it is old */
        HISTORY_FORGET,  /* a log has gone */
        HISTORY_DELETE,  /* remove the files of a log; it is no longer listed */
        HISTORY_COMPACT, /* compact a rolling log; call history_listing_compacted */
};

/* @path is valid until the next call. */
struct history_action {
        enum history_action_type type;
        int dir;
        char *path;
        bool is_rolling;
};

struct history_listing_options {
        int64_t max_age_ms;                                /* the cleaner's limits */
        size_t max_logs;                                   /* 0: none */
        const struct history_compactor_options *compactor; /* borrowed; NULL: logs are not compacted */
};

struct history_listing {
        struct history_listing_options options;
        VEC(struct history_log *) logs; /* in no order */
        uint64_t version;               /* of what history_listing_attempts gives; never 0 */

        /* Private. */
        struct object_table by_path;
        VEC(struct history_action) actions;
        size_t n_given; /* of actions */
        size_t n_reading;
};

void history_listing_init(struct history_listing *l, const struct history_listing_options *options);
void history_listing_deinit(struct history_listing *l);

/* A scan of one directory. A directory that cannot be listed has no scan: its logs stay. */
void history_listing_begin_scan(struct history_listing *l, int dir);
/* Takes the content of @log over. */
void history_listing_see(struct history_listing *l, int dir, struct event_log_info *log, int64_t now_ms);
void history_listing_end_scan(struct history_listing *l, int dir);

/* A log that was found outside a scan, and is read at once if it is new or has changed. Takes the content of @log over.
 */
void history_listing_demand(struct history_listing *l, int dir, struct event_log_info *log, int64_t now_ms);

/* Adds a log with what was known before a restart. Takes both over. The next scan reads it if it has
 * changed. */
void history_listing_restore(struct history_listing *l, int dir, struct event_log_info *log, struct history_info *info,
                             int64_t updated_ms);

/* The result of HISTORY_READ. Takes @info over, unless it is NULL. */
void history_listing_read(struct history_listing *l, const char *path, enum history_log_state state,
                          struct history_info *info);

/* The end of HISTORY_COMPACT, with any result. */
void history_listing_compacted(struct history_listing *l, const char *path);

/* Chooses what is to be deleted. */
void history_listing_clean(struct history_listing *l, int64_t now_ms);

/* Returns the next action, in the order of its urgency: newest logs first. */
bool history_listing_next(struct history_listing *l, struct history_action *out);

/* Returns true while logs wait to be read for the first time. */
bool history_listing_is_pending(const struct history_listing *l);

const struct history_log *history_listing_find(const struct history_listing *l, const char *path);

/*
 * Appends the logs of attempts in Spark's order: applications by their end, the latest first, running ones behind;
 * attempts of one application together, the newest first. With @app_id only those of one application. An attempt with
 * several logs has only one here: a complete one, or the one that changed last.
 */
struct history_log_list {
        const struct history_log **data;
        size_t len, cap;
};
void history_listing_attempts(const struct history_listing *l, const char *app_id, struct history_log_list *out);
