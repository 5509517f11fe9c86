/* See restart.h. */
#include "driver/resume/restart.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "driver/resume/resume_internal.h"
#include "io/fs/file_systems.h"
#include "journal/frame.h"
#include "journal/place.h"
#include "text/shell_words.h"

#include <stdio.h>
#include <unistd.h>

static int restart_add_record(void *context, uint8_t kind, const void *content, size_t size)
{
        struct resume_application *app = context;
        return kind == RESUME_APPLICATION && !app->id ? resume_application_read(content, size, app) : 0;
}

/* Reads the application's record, which is in the first epoch that got that far. */
static int restart_read(struct journal_place *place, struct resume_application *app, struct fst_error *error)
{
        struct journal_extent extent;
        int newest = journal_place_newest(place, error), r = MIN(newest, 0);
        for (int epoch = 1; epoch <= newest && r == 0 && !app->id; epoch++) {
                _cleanup_(buf_deinit) struct buf bytes = BUF_INIT;
                r = journal_place_read(place, epoch, &bytes, error);
                if (r == -ENOENT) { /* a fold has replaced it */
                        error_deinit(error);
                        r = 0;
                } else if (r == 0)
                        r = journal_read_frames(bytes.data, bytes.len, journal_place_path(place), restart_add_record,
                                                app, &extent, error);
        }
        if (r == 0 && !app->id)
                r = error_set(error, -ENOENT, "%s is empty: the driver died before it began. Run the application again",
                              journal_place_path(place));
        return r;
}

static void restart_put_word(struct buf *line, const char *before, const char *word)
{
        _cleanup_free_ char *quoted = option_string_quote(word);
        buf_puts(line, before);
        buf_puts(line, quoted);
}

/* Prints a line for bash, with the first driver's name of the program. It does not replace the shell that reads it. */
static void restart_print(const struct resume_application *app, const char *id)
{
        _cleanup_(buf_deinit) struct buf line = BUF_INIT;
        restart_put_word(&line, "(cd ", app->directory);
        restart_put_word(&line, " && " RESUME_VARIABLE "=", id);
        restart_put_word(&line, " exec -a ", app->words.data[0]);
        restart_put_word(&line, " ", app->program);
        for (size_t i = 1; i < app->words.len; i++)
                restart_put_word(&line, " ", app->words.data[i]);
        buf_puts(&line, ")");
        puts(buf_text(&line));
}

static int restart_exec(struct resume_application *app, const char *id, struct fst_error *error)
{
        if (chdir(app->directory) < 0)
                return error_errno(error, "cannot go to %s, the working directory of the driver", app->directory);
        setenv(RESUME_VARIABLE, id, 1);
        vec_push(&app->words, NULL);
        execv(app->program, app->words.data);
        return error_errno(error, "cannot start %s", app->program);
}

int resume_restart(const char *directory, const char *id, bool only_print, struct fst_error *error)
{
        _cleanup_(resume_application_deinit) struct resume_application app = {0};
        struct journal_place *place = NULL;
        struct strmap none = STRMAP_INIT; /* Hadoop's files and AWS_* describe remote file systems */
        file_systems_use(&app, &none);
        int r = journal_place_find(directory, id, &place, error);
        if (r == 0)
                r = restart_read(place, &app, error);
        if (r == 0 && app.words.len > 0 && strcmp(app.words.data[app.words.len - 1], "pyspark-shell") == 0)
                r = error_set(error, -ENOTSUP,
                              "Python started the driver of %s: run the Python program again with "
                              "spark.firesteel.resume.id=%s",
                              id, id);
        if (r == 0 && app.words.len == 0)
                r = error_set(
                        error, -ENOKEY,
                        "the arguments of %s are not in its journal, because one of them is a secret: run its command "
                        "again, and add --conf spark.firesteel.resume.id=%s. For `firesteel resume`, give secrets in a "
                        "file (--properties-file, or spark.authenticate.secret.file)",
                        id, id);
        if (r == 0 && only_print)
                restart_print(&app, id);
        else if (r == 0)
                r = restart_exec(&app, id, error);
        journal_place_free(place);
        file_systems_leave(&app);
        return r;
}
