/* See log_printer.h. */
#include "logs/log_printer.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "io/fs/file_systems.h"
#include "io/fs/path.h"
#include "logs/log_store.h"
#include "text/edit_distance.h"
#include "text/json.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define FOLLOW_US 500000
#define NOTICE_MS 2000 /* following an application without logs: until a line says what is awaited */
#define REFUSE_MS 5000 /* ... until an id is taken for a wrong one, because other applications have logs */
#define MAX_INDEX 65536
#define MAX_NAMED 10 /* applications in a message */

/* How far one log was printed. */
struct printed_position {
        char *process, *output;
        uint64_t at;
};

struct log_printer {
        const struct log_printer_options *o;
        const struct file_system *fs;
        char *dir, *root, *path; /* as configured; resolved; of the application */
        VEC(struct printed_position) positions;
        char *last; /* following: the log that was printed last */
        const struct stored_log *current;
        size_t count;
};

static bool log_printer_wants(const struct log_printer *p, const struct stored_log *log)
{
        char process[32] = "driver";
        if (!p->o->driver)
                snprintf(process, sizeof(process), "executor-%d", p->o->executor);
        bool named = p->o->names.len == 0;
        for (size_t i = 0; i < p->o->names.len; i++)
                named = named || strcmp(p->o->names.data[i], log->output) == 0;
        return named && ((p->o->executor < 0 && !p->o->driver) || strcmp(process, log->process) == 0);
}

static uint64_t *log_printer_position(struct log_printer *p, const struct stored_log *log)
{
        for (size_t i = 0; i < p->positions.len; i++)
                if (strcmp(p->positions.data[i].process, log->process) == 0 &&
                    strcmp(p->positions.data[i].output, log->output) == 0)
                        return &p->positions.data[i].at;
        vec_push(&p->positions,
                 (struct printed_position){.process = mem_strdup(log->process), .output = mem_strdup(log->output)});
        return &p->positions.data[p->positions.len - 1].at;
}

static int log_printer_sink(void *owner, const char *data, size_t n)
{
        struct log_printer *p = owner;
        if (p->o->follow) {
                _cleanup_free_ char *name = mem_printf("%s %s", p->current->process, p->current->output);
                if (!p->last || strcmp(p->last, name) != 0)
                        fprintf(p->o->out, "==> %s <==\n", name);
                free(p->last);
                p->last = steal(name);
        }
        return fwrite(data, 1, n, p->o->out) == n ? 0 : -EIO;
}

static uint64_t stored_log_end(const struct stored_log *log)
{
        uint64_t end = 0;
        for (size_t i = 0; i < log->pieces.len; i++)
                end = MAX(end, log->pieces.data[i].end);
        return end;
}

static int log_printer_print_log(struct log_printer *p, const struct stored_log *log, struct fst_error *error)
{
        p->count++;
        p->current = log;
        if (p->o->list)
                return fprintf(p->o->out, "%s\t%s\t%llu\n", log->process, log->output,
                               (unsigned long long)stored_log_end(log)) < 0
                               ? -EIO
                               : 0;
        if (!p->o->follow)
                fprintf(p->o->out, "Process: %s\nLogType:%s\nLogContents:\n", log->process, log->output);
        const int r = log_store_read(p->fs, p->path, log, log_printer_position(p, log), UINT64_MAX, log_printer_sink, p,
                                     error);
        if (r == 0 && !p->o->follow)
                fprintf(p->o->out, "\nEnd of LogType:%s\n\n", log->output);
        return r;
}

static int log_printer_round(struct log_printer *p, struct fst_error *error)
{
        struct stored_logs logs = {0};
        int r = log_store_list(p->fs, p->path, &logs, error);
        for (size_t i = 0; i < logs.list.len && r == 0; i++)
                if (log_printer_wants(p, &logs.list.data[i]))
                        r = log_printer_print_log(p, &logs.list.data[i], error);
        stored_logs_deinit(&logs);
        return r < 0 || fflush(p->o->out) == 0 ? r : -EIO;
}

/* Whether the index of @process has the time of its end. */
static bool log_printer_process_ended(const struct log_printer *p, const char *process)
{
        char text[MAX_INDEX];
        struct open_file file = OPEN_FILE_INIT;
        _cleanup_free_ char *directory = path_join(p->path, process);
        _cleanup_free_ char *path = path_join(directory, LOG_STORE_INDEX);
        if (p->fs->open(p->fs, path, &file, NULL) < 0)
                return false;
        const ssize_t n = p->fs->read_at(&file, text, sizeof(text), 0, NULL);
        p->fs->close(&file, NULL);
        json_t *index = n > 0 ? json_loadb(text, (size_t)n, 0, NULL) : NULL;
        const bool ended = json_is_integer(json_object_get(index, "endMs"));
        json_decref(index);
        return ended;
}

/* ------------------------------------------------------------------------------------------------- unknown names */

/*
 * The last applications that have a directory below the root, separated by commas; NULL if there is none. Sets
 * *@nearest to the one whose id is most like the wanted one, if it is like it. The caller frees both.
 */
static char *log_printer_list_applications(const struct log_printer *p, char **nearest)
{
        struct file_list list = {0};
        struct buf names = BUF_INIT;
        size_t left = 0;
        int best = edit_distance_limit(strlen(p->o->application));
        if (p->fs->list(p->fs, p->root, &list, NULL) < 0)
                list.len = 0;
        for (size_t i = 0; i < list.len; i++)
                left += list.data[i].directory;
        const size_t skipped = left > MAX_NAMED ? left - MAX_NAMED : 0;
        for (size_t i = 0, n = 0; i < list.len; i++) {
                const char *name = path_name(list.data[i].path);
                if (!list.data[i].directory)
                        continue;
                if (n++ >= skipped)
                        buf_printf(&names, "%s%s", names.len ? ", " : "", name);
                const int distance =
                        edit_distance(name, strlen(name), p->o->application, strlen(p->o->application), best);
                if (distance > best || (distance == best && *nearest))
                        continue;
                best = distance;
                free(*nearest);
                *nearest = mem_strdup(name);
        }
        if (skipped)
                buf_printf(&names, " and %zu older", skipped);
        file_list_deinit(&list);
        return names.len ? buf_steal(&names) : NULL;
}

/* Whether the application has logs, of any process. */
static bool log_printer_knows_application(const struct log_printer *p)
{
        struct stored_logs logs = {0};
        _cleanup_(error_deinit) struct fst_error unused = FST_ERROR_INIT;
        const bool known = log_store_list(p->fs, p->path, &logs, &unused) == 0 && logs.list.len > 0;
        stored_logs_deinit(&logs);
        return known;
}

/* Why no log was printed: other logs of this application exist, or only other applications, or none at all. */
static int log_printer_refuse(const struct log_printer *p, struct fst_error *error)
{
        if (log_printer_knows_application(p))
                return error_set(error, -ENOENT,
                                 "%s has no such logs in spark.firesteel.logs.dir (%s): list them with --list, without "
                                 "--executor and --file",
                                 p->o->application, p->dir);
        _cleanup_free_ char *nearest = NULL, *names = log_printer_list_applications(p, &nearest);
        if (!names)
                return error_set(
                        error, -ENOENT,
                        "%s has no logs in spark.firesteel.logs.dir (%s): no application has stored logs there",
                        p->o->application, p->dir);
        return error_set(error, -ENOENT,
                         "%s has no logs in spark.firesteel.logs.dir (%s), which has those of %s%s%s%s%s",
                         p->o->application, p->dir, names, nearest ? ". Did you mean " : "", nearest ? nearest : "",
                         nearest ? "?" : "", p->o->follow ? " (--wait waits for an application to come)" : "");
}

/* ------------------------------------------------------------------------------------------------------- following */

/* Whether applications have directories, but not this one. It has one before it has logs. */
static bool log_printer_has_only_others(const struct log_printer *p)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct file_status status = {0};
        const int r = p->fs->stat(p->fs, p->path, &status, &error);
        file_status_deinit(&status);
        _cleanup_free_ char *nearest = NULL, *names = log_printer_list_applications(p, &nearest);
        return r == -ENOENT && names;
}

/*
 * Nothing was printed since @since, by now_ns. Says once what is awaited. Returns 0 to wait on, or -ENOENT: the wanted
 * logs will not come, or the id is most likely wrong.
 */
static int log_printer_check_wait(struct log_printer *p, int64_t since, bool *has_told, struct fst_error *error)
{
        const int64_t waited = now_ns() - since;
        if (p->o->executor >= 0 && log_printer_process_ended(p, "driver"))
                return log_printer_refuse(p, error);
        if (waited < ms_to_ns(NOTICE_MS))
                return 0;
        if (!*has_told)
                fprintf(stderr, "Waiting for logs of %s in spark.firesteel.logs.dir (%s)\n", p->o->application, p->dir);
        *has_told = true;
        return !p->o->wait && waited >= ms_to_ns(REFUSE_MS) && log_printer_has_only_others(p)
                       ? log_printer_refuse(p, error)
                       : 0;
}

static int log_printer_follow(struct log_printer *p, struct fst_error *error)
{
        char process[32] = "driver";
        const int64_t since = now_ns();
        bool has_told = false;
        if (p->o->executor >= 0)
                snprintf(process, sizeof(process), "executor-%d", p->o->executor);
        for (;;) {
                const bool ended = log_printer_process_ended(p, process);
                int r = log_printer_round(p, error);
                if (r < 0 && r != -ENOENT)
                        return r;
                if (ended)
                        return 0;
                error_deinit(error);
                r = p->count ? 0 : log_printer_check_wait(p, since, &has_told, error);
                if (r < 0)
                        return r;
                usleep(FOLLOW_US);
        }
}

static int log_printer_run(struct log_printer *p, struct fst_error *error)
{
        int r = conf_get_string(p->o->conf, "spark.firesteel.logs.dir", &p->dir, error);
        r = r < 0 ? r : file_system_resolve(p->dir, &p->root, &p->fs, error);
        if (r < 0)
                return r;
        p->path = path_join(p->root, p->o->application);
        if (p->o->follow) {
                r = log_printer_follow(p, error);
                return r == 0 && p->count == 0 ? log_printer_refuse(p, error) : r;
        }
        r = log_printer_round(p, error);
        if ((r == 0 && p->count == 0) || r == -ENOENT) {
                error_deinit(error);
                return log_printer_refuse(p, error);
        }
        return r;
}

int log_printer_print(const struct log_printer_options *options, struct fst_error *error)
{
        struct log_printer p = {.o = options};
        if (strchr(options->application, '/') || strcmp(options->application, "..") == 0)
                return error_set(error, -EINVAL, "\"%s\" is not an application's id", options->application);
        file_systems_use(&p, &options->conf->set);
        const int r = log_printer_run(&p, error);
        file_systems_leave(&p);
        for (size_t i = 0; i < p.positions.len; i++) {
                free(p.positions.data[i].process);
                free(p.positions.data[i].output);
        }
        vec_deinit(&p.positions);
        free(p.last);
        free(p.dir);
        free(p.root);
        free(p.path);
        return r;
}
