/* See log_printer.h. */
#include "logs/log_printer.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "io/fs/file_systems.h"
#include "io/fs/path.h"
#include "logs/log_store.h"
#include "text/json.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define FOLLOW_US 500000
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
        char *path; /* of the application */
        VEC(struct printed_position) positions;
        char *last; /* following: the log that was printed last */
        const struct stored_log *current;
        size_t count;
};

static bool log_printer_wants(const struct log_printer *p, const struct stored_log *log)
{
        char process[32];
        snprintf(process, sizeof(process), "executor-%d", p->o->executor);
        bool named = p->o->names.len == 0;
        for (size_t i = 0; i < p->o->names.len; i++)
                named = named || strcmp(p->o->names.data[i], log->output) == 0;
        return named && (p->o->executor < 0 || strcmp(process, log->process) == 0);
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
        const int r = log_store_read(p->fs, p->path, log, log_printer_position(p, log), log_printer_sink, p, error);
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

/* Whether the index of the driver, or of the wanted executor, has the time of its end. */
static bool log_printer_has_ended(const struct log_printer *p)
{
        char process[32] = "driver", text[MAX_INDEX];
        struct open_file file = OPEN_FILE_INIT;
        if (p->o->executor >= 0)
                snprintf(process, sizeof(process), "executor-%d", p->o->executor);
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

static int log_printer_follow(struct log_printer *p, struct fst_error *error)
{
        for (;;) {
                const bool ended = log_printer_has_ended(p);
                const int r = log_printer_round(p, error);
                if (r < 0 && r != -ENOENT)
                        return r;
                if (ended)
                        return 0;
                error_deinit(error);
                usleep(FOLLOW_US);
        }
}

/* The last applications that have a directory below @root, separated by commas; NULL if there is none. */
static char *log_printer_list_applications(const struct log_printer *p, const char *root)
{
        struct file_list list = {0};
        struct buf names = BUF_INIT;
        size_t left = 0;
        if (p->fs->list(p->fs, root, &list, NULL) < 0)
                list.len = 0;
        for (size_t i = 0; i < list.len; i++)
                left += list.data[i].directory;
        const size_t skipped = left > MAX_NAMED ? left - MAX_NAMED : 0;
        for (size_t i = 0, n = 0; i < list.len; i++)
                if (list.data[i].directory && n++ >= skipped)
                        buf_printf(&names, "%s%s", names.len ? ", " : "", path_name(list.data[i].path));
        if (skipped)
                buf_printf(&names, " and %zu older", skipped);
        file_list_deinit(&list);
        return names.len ? buf_steal(&names) : NULL;
}

/* Why no log was printed: other logs of this application exist, or only other applications, or none at all. */
static int log_printer_refuse(const struct log_printer *p, const char *root, const char *dir, struct fst_error *error)
{
        struct stored_logs logs = {0};
        _cleanup_(error_deinit) struct fst_error unused = FST_ERROR_INIT;
        const bool others = log_store_list(p->fs, p->path, &logs, &unused) == 0 && logs.list.len > 0;
        stored_logs_deinit(&logs);
        if (others)
                return error_set(error, -ENOENT,
                                 "%s has no such logs in spark.firesteel.logs.dir (%s): list them with --list, without "
                                 "--executor and --file",
                                 p->o->application, dir);
        _cleanup_free_ char *names = log_printer_list_applications(p, root);
        return names ? error_set(error, -ENOENT,
                                 "%s has no logs in spark.firesteel.logs.dir (%s), which has those of %s",
                                 p->o->application, dir, names)
                     : error_set(
                               error, -ENOENT,
                               "%s has no logs in spark.firesteel.logs.dir (%s): no application has stored logs there",
                               p->o->application, dir);
}

static int log_printer_run(struct log_printer *p, struct fst_error *error)
{
        _cleanup_free_ char *dir = NULL, *root = NULL;
        int r = conf_get_string(p->o->conf, "spark.firesteel.logs.dir", &dir, error);
        r = r < 0 ? r : file_system_resolve(dir, &root, &p->fs, error);
        if (r < 0)
                return r;
        p->path = path_join(root, p->o->application);
        r = p->o->follow ? log_printer_follow(p, error) : log_printer_round(p, error);
        if ((r == 0 && p->count == 0) || r == -ENOENT) {
                error_deinit(error);
                return log_printer_refuse(p, root, dir, error);
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
        free(p.path);
        return r;
}
