/*
 * The applications of a site: the one of a driver, or those of a history server. A site asks its source for the list,
 * and opens one application at a time.
 */
#pragma once

#include "base/arena.h"
#include "base/vec.h"
#include "ui/app_view.h"
#include "ui/ui_stream.h"

struct fst_error;

/* An attempt as lists show it. Texts live in the arena of the list. Times are ms since 1970. */
struct app_attempt {
        const char *id; /* NULL: the only one */
        int64_t start_ms;
        int64_t end_ms; /* -1: it runs */
        int64_t updated_ms, duration_ms;
        const char *user, *spark_version;
        bool completed;
        int exit_code;                    /* -1: unknown */
        const char *log_source, *log_dir; /* name and path of the directory where the log was found; NULL: none */
};

struct app_summary {
        const char *id, *name;
        struct app_attempt *attempts; /* the newest first */
        size_t n_attempts;
};

struct app_list {
        struct arena texts; /* holds all that the summaries refer to */
        VEC(struct app_summary) apps;
};

static inline void app_list_deinit(struct app_list *list)
{
        vec_deinit(&list->apps);
        arena_deinit(&list->texts);
}

struct app_source;

/* Any thread calls these, also at the same time. They may block for a short time. */
struct app_source_class {
        /* Appends all applications, in the order of the list page. With @id only that one, if it is known. */
        void (*list)(struct app_source *source, const char *id, struct app_list *out);
        /* Returns a number other than 0 that changes whenever the list does. NULL: the list is short. */
        uint64_t (*version)(struct app_source *source);
        /*
         * Opens an attempt (@attempt NULL: the only one, or the latest as the source decides). Returns 0 and *@out,
         * which the caller releases; -ENOENT without @error for an unknown one; -EAGAIN without @error while it is
         * loaded, if there is an on_loaded function; or another negative code with @error.
         */
        int (*open)(struct app_source *source, const char *id, const char *attempt, struct app_view **out,
                    struct fst_error *error);
        void (*release)(struct app_source *source, struct app_view *view);
        /*
         * Sets what is called, in any thread, whenever an application was loaded, could not be, or may be asked for
         * now. It must not call the source. With NULL opening waits for the application. After the return nothing
         * calls an earlier function any more. NULL: applications are always loaded.
         */
        void (*set_on_loaded)(struct app_source *source, void (*on_loaded)(void *owner), void *owner);
        /*
         * Begins a zip archive of the event logs of an application. Returns 0 and *@out, which the caller frees, or
         * negative. NULL: there are none, the archive is empty.
         */
        int (*archive_logs)(struct app_source *source, const char *id, const char *attempt, struct ui_stream **out,
                            struct fst_error *error);
};

struct app_source {
        const struct app_source_class *class;
        bool is_history;
        const char *app_id; /* of a driver: its application, which has the paths /jobs/ and so on */
};
