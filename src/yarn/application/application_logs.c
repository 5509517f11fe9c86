/*
 * See application_logs.h. Neither YARN nor the ResourceManager knows which container holds which executor. An executor
 * says in its first lines on stderr "Starting executor ID N on host", as Spark's do, so those lines are read first.
 *
 * Following asks each second for what is new. The number of bytes that were printed of each log is kept, so that the
 * rest can come from the aggregated file when the application has ended.
 */
#include "yarn/application/application_logs.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "io/fs/file_systems.h"
#include "io/fs/path.h"
#include "yarn/application/aggregated_logs.h"
#include "yarn/application/yarn_web.h"
#include "conf/conf_list.h"
#include "yarn/protocol/yarn_ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG "YarnLogs"
#define REMOTE_DIR "yarn.nodemanager.remote-app-log-dir"
#define DEFAULT_REMOTE_DIR "/tmp/logs"
#define CHECKSUM_SUFFIX "-checksum" /* of the file beside a file of IndexedFormat */
#define FOLLOW_US 500000
#define AGGREGATION_ROUNDS 60 /* of FOLLOW_US: until the file of an ended application is given up */
#define MAX_FIRST_LINES 65536 /* where an executor says its number */

/* How much of one log was printed. */
struct printed_log {
        char *container, *name;
        uint64_t bytes;
};

struct logs_printer {
        const struct application_logs_options *o;
        struct yarn_conf yarn;
        struct yarn_web web;
        bool has_web;
        char *user;
        char *container; /* the only one that is wanted; NULL: all */
        const char *node;
        const char *kind; /* "AGGREGATED", "LOCAL" */
        VEC(struct printed_log) printed;
        struct printed_log *current;
        uint64_t skip;    /* bytes of an aggregated log that were printed before */
        bool open;        /* its heading is printed */
        char *last;       /* following: container and name of the log that was printed last */
        size_t count;     /* of logs */
        struct buf first; /* looking for an executor: the first lines of a log */
        char *first_of;   /* … of this container */
};

/* -------------------------------------------------------------------------------------------------------- printing */

/* Whether the container is the only wanted one, or one of those that are wanted. */
static bool printer_wants_container(const struct logs_printer *p, const char *container)
{
        struct yarn_container_id id;
        if (p->o->driver && (yarn_container_parse(container, &id, NULL) < 0 || !yarn_container_is_master(id)))
                return false;
        return !p->container || strcmp(p->container, container) == 0;
}

static bool printer_wants(const struct logs_printer *p, const struct aggregated_log *log)
{
        bool named = p->o->names.len == 0;
        for (size_t i = 0; i < p->o->names.len; i++)
                named = named || strcmp(p->o->names.data[i], log->name) == 0;
        return named && printer_wants_container(p, log->container);
}

static struct printed_log *printer_find(struct logs_printer *p, const struct aggregated_log *log)
{
        for (size_t i = 0; i < p->printed.len; i++)
                if (strcmp(p->printed.data[i].container, log->container) == 0 &&
                    strcmp(p->printed.data[i].name, log->name) == 0)
                        return &p->printed.data[i];
        vec_push(&p->printed,
                 (struct printed_log){.container = mem_strdup(log->container), .name = mem_strdup(log->name)});
        return &p->printed.data[p->printed.len - 1];
}

static void printer_put_heading(struct logs_printer *p, const struct aggregated_log *log)
{
        fprintf(p->o->out,
                "Container: %s on %s\nLogAggregationType: %s\n%s\nLogType:%s\nLogLength:%llu\nLogContents:\n",
                log->container, p->node, p->kind,
                "====================================================================", log->name,
                (unsigned long long)log->length);
}

static bool printer_begin(void *owner, const struct aggregated_log *log)
{
        struct logs_printer *p = owner;
        if (!printer_wants(p, log))
                return false;
        p->count++;
        if (p->o->list) {
                fprintf(p->o->out, "%s\t%s\t%s\t%llu\n", log->container, p->node, log->name,
                        (unsigned long long)log->length);
                return false;
        }
        p->current = printer_find(p, log);
        p->skip = p->current->bytes;
        p->open = false;
        if (!p->o->follow) {
                printer_put_heading(p, log);
                p->open = true;
        }
        return true;
}

/* Following: a line says whose bytes come, when it is another log than before. */
static void printer_put_line_of(struct logs_printer *p)
{
        _cleanup_free_ char *which = mem_printf("%s %s", p->current->container, p->current->name);
        if (!p->last || strcmp(p->last, which) != 0)
                fprintf(p->o->out, "==> %s <==\n", which);
        free(p->last);
        p->last = steal(which);
        p->open = true;
}

static int printer_write(struct logs_printer *p, const char *data, size_t n)
{
        if (!p->open)
                printer_put_line_of(p);
        p->current->bytes += n;
        return fwrite(data, 1, n, p->o->out) < n ? -EIO : 0;
}

static int printer_data(void *owner, const char *data, size_t n)
{
        struct logs_printer *p = owner;
        return printer_write(p, data, n);
}

/* From an aggregated file, which is read from its beginning. */
static int printer_data_from_file(void *owner, const char *data, size_t n)
{
        struct logs_printer *p = owner;
        const size_t skip = (size_t)MIN(p->skip, (uint64_t)n);
        p->skip -= skip;
        return n > skip ? printer_write(p, data + skip, n - skip) : 0;
}

static int printer_end(void *owner)
{
        struct logs_printer *p = owner;
        if (!p->o->follow)
                fprintf(p->o->out, "\nEnd of LogType:%s\n%s\n\n", p->current->name,
                        "***********************************************************************");
        return fflush(p->o->out) != 0 ? -EIO : 0;
}

static uint64_t printer_seen(void *owner, const struct aggregated_log *log)
{
        struct logs_printer *p = owner;
        return printer_find(p, log)->bytes;
}

static const struct aggregated_logs_ops printer_ops = {
        .begin = printer_begin, .data = printer_data, .end = printer_end};
static const struct aggregated_logs_ops printer_file_ops = {
        .begin = printer_begin, .data = printer_data_from_file, .end = printer_end};

/* -------------------------------------------------------------------------------------------- looking for executors */

static bool finder_begin(void *owner, const struct aggregated_log *log)
{
        struct logs_printer *p = owner;
        if (p->container || strcmp(log->name, "stderr") != 0)
                return false;
        buf_reset(&p->first);
        free(p->first_of);
        p->first_of = mem_strdup(log->container);
        return true;
}

static void finder_look(struct logs_printer *p)
{
        char words[64];
        snprintf(words, sizeof(words), "Starting executor ID %d on ", p->o->executor);
        if (!p->container && p->first.len && strstr(buf_text(&p->first), words))
                p->container = mem_strdup(p->first_of);
}

static int finder_data(void *owner, const char *data, size_t n)
{
        struct logs_printer *p = owner;
        if (p->first.len < MAX_FIRST_LINES)
                buf_append(&p->first, data, MIN(n, MAX_FIRST_LINES - p->first.len));
        return 0;
}

static int finder_end(void *owner)
{
        finder_look(owner);
        return 0;
}

static const struct aggregated_logs_ops finder_ops = {.begin = finder_begin, .data = finder_data, .end = finder_end};

/* ------------------------------------------------------------------------------------------------ aggregated files */

/*
 * Where a file of IndexedFormat ends that the NodeManager has not finished: a file of 8 bytes beside it says so.
 * Returns 0 with *@out lowered, or negative.
 */
static int file_read_checksum(const struct file_system *fs, const char *path, uint64_t *out, struct fst_error *error)
{
        _cleanup_free_ char *beside = mem_printf("%s" CHECKSUM_SUFFIX, path);
        struct open_file file = OPEN_FILE_INIT;
        _cleanup_(error_deinit) struct fst_error why = FST_ERROR_INIT;
        unsigned char bytes[8];
        uint64_t end = 0;
        int r = fs->open(fs, beside, &file, &why);
        if (r == -ENOENT)
                return 0;
        if (r < 0)
                return error_set(error, r, "%s", error_message(&why));
        const ssize_t n = fs->read_at(&file, bytes, sizeof(bytes), 0, error);
        r = fs->close(&file, n < 0 ? NULL : error);
        if (n < 0 || r < 0)
                return n < 0 ? (int)n : r;
        for (ssize_t i = 0; i < n; i++)
                end = end << 8 | bytes[i];
        *out = n == (ssize_t)sizeof(bytes) ? MIN(*out, end) : *out;
        return 0;
}

static int printer_read_file(struct logs_printer *p, const struct file_system *fs, const char *path,
                             const struct aggregated_logs_ops *ops, struct fst_error *error)
{
        struct open_file file = OPEN_FILE_INIT;
        int r = fs->open(fs, path, &file, error);
        if (r < 0)
                return r;
        p->node = path_name(path);
        p->kind = "AGGREGATED";
        r = file_read_checksum(fs, path, &file.size, error);
        r = r < 0 || file.size == 0 ? r : aggregated_logs_read(&file, ops, p, error);
        const int closed = fs->close(&file, r ? NULL : error);
        return r ? r : closed;
}

/* The files of the application in @directory: one for each node. Returns their number, or negative. */
static int printer_read_directory(struct logs_printer *p, const struct file_system *fs, const char *directory,
                                  const struct aggregated_logs_ops *ops, struct fst_error *error)
{
        struct file_list list = {0};
        int r = fs->list(fs, directory, &list, error), n = 0;
        for (size_t i = 0; r == 0 && i < list.len; i++) {
                const char *name = path_name(list.data[i].path);
                if (list.data[i].directory || *name == '.' || text_ends_with(name, ".tmp") ||
                    text_ends_with(name, CHECKSUM_SUFFIX))
                        continue;
                r = printer_read_file(p, fs, list.data[i].path, ops, error);
                n++;
        }
        file_list_deinit(&list);
        return r < 0 ? r : n;
}

/* 1 if the directory exists, 0 if not, or negative. */
static int directory_exists(const struct file_system *fs, const char *path, struct fst_error *error)
{
        struct file_status status = {0};
        struct fst_error why = FST_ERROR_INIT;
        const int r = fs->stat(fs, path, &status, &why);
        if (r < 0 && r != -ENOENT)
                error_set(error, r, "%s", error_message(&why));
        error_deinit(&why);
        file_status_deinit(&status);
        return r == 0 ? 1 : r == -ENOENT ? 0 : r;
}

/*
 * Reads what is below DIR/USER: "bucket-logs-tfile/0001/APPLICATION" or "bucket-logs-ifile/…" since Hadoop 3.3,
 * "logs/APPLICATION" before. Returns the number of files.
 */
static int printer_read_user(struct logs_printer *p, const struct file_system *fs, const char *root,
                             const struct aggregated_logs_ops *ops, struct fst_error *error)
{
        struct yarn_application_id id;
        struct file_list list = {0};
        int r = yarn_application_parse(p->o->application, &id, error), n = 0;
        _cleanup_free_ char *user = path_join(root, p->user);
        r = r < 0 ? r : directory_exists(fs, user, error);
        r = r > 0 ? fs->list(fs, user, &list, error) : r;
        for (size_t i = 0; r >= 0 && i < list.len; i++) {
                _cleanup_free_ char *plain = mem_printf("%s/%s", list.data[i].path, p->o->application);
                _cleanup_free_ char *bucket =
                        mem_printf("%s/%04d/%s", list.data[i].path, id.id % 10000, p->o->application);
                const char *const candidates[] = {plain, bucket};
                for (size_t k = 0; r >= 0 && k < ARRAY_SIZE(candidates) && list.data[i].directory; k++) {
                        r = directory_exists(fs, candidates[k], error);
                        r = r > 0 ? printer_read_directory(p, fs, candidates[k], ops, error) : r;
                        n += r > 0 ? r : 0;
                }
        }
        file_list_deinit(&list);
        return r < 0 ? r : n;
}

/* The directories of log aggregation: each format may have one of its own. */
static void printer_list_roots(const struct logs_printer *p, struct string_list *out)
{
        _cleanup_(string_list_deinit) struct string_list formats = {0};
        _cleanup_free_ char *names = yarn_conf_get(&p->yarn, "yarn.log-aggregation.file-formats", "TFile");
        conf_list_split(names, &formats);
        for (size_t i = 0; i < formats.len; i++) {
                _cleanup_free_ char *key = mem_printf("yarn.log-aggregation.%s.remote-app-log-dir", formats.data[i]);
                _cleanup_free_ char *usual = yarn_conf_get(&p->yarn, REMOTE_DIR, DEFAULT_REMOTE_DIR);
                char *root = yarn_conf_get(&p->yarn, key, usual);
                bool is_new = true;
                for (size_t k = 0; k < out->len; k++)
                        is_new = is_new && strcmp(out->data[k], root) != 0;
                if (is_new)
                        string_list_take(out, root);
                else
                        free(root);
        }
}

/* Returns the number of files that were read, or negative. */
static int printer_read_aggregated(struct logs_printer *p, const struct aggregated_logs_ops *ops,
                                   struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list roots = {0};
        int r = 0, n = 0;
        printer_list_roots(p, &roots);
        for (size_t i = 0; i < roots.len && r >= 0; i++) {
                const struct file_system *fs;
                _cleanup_free_ char *path = NULL;
                r = file_system_resolve(roots.data[i], &path, &fs, error);
                r = r < 0 ? r : printer_read_user(p, fs, path, ops, error);
                n += r > 0 ? r : 0;
        }
        return r < 0 ? r : n;
}

/* ----------------------------------------------------------------------------------------------- running containers */

static int printer_read_running(struct logs_printer *p, const struct container_places *places,
                                const struct aggregated_logs_ops *ops, struct fst_error *error)
{
        int r = 0;
        for (size_t i = 0; r >= 0 && i < places->len; i++) {
                const struct container_place *place = &places->data[i];
                const char *scheme = strstr(place->node, "://");
                if (!printer_wants_container(p, place->container))
                        continue;
                struct fst_error why = FST_ERROR_INIT;
                p->node = scheme ? scheme + 3 : place->node;
                p->kind = "LOCAL";
                r = yarn_web_read_logs(&p->web, place, ops, p->o->follow ? printer_seen : NULL, p, &why);
                if (r < 0 && r != -EIO) { /* its node may be lost: the others go on */
                        log_warn(LOG, "The logs of %s cannot be read: %s", place->container, error_message(&why));
                        r = 0;
                } else if (r < 0) {
                        error_set(error, r, "%s", error_message(&why));
                }
                error_deinit(&why);
        }
        return r < 0 ? r : 0;
}

static int printer_find_executor(struct logs_printer *p, const struct container_places *places, struct fst_error *error)
{
        if (p->o->executor < 0 || p->container)
                return 0;
        const int r = places ? printer_read_running(p, places, &finder_ops, error)
                             : printer_read_aggregated(p, &finder_ops, error);
        return r < 0 ? r : 0;
}

/* ------------------------------------------------------------------------------------------------------ the command */

static int printer_fail_without_logs(const struct logs_printer *p, struct fst_error *error)
{
        _cleanup_free_ char *root = yarn_conf_get(&p->yarn, REMOTE_DIR, DEFAULT_REMOTE_DIR);
        if (p->o->executor >= 0 && !p->container)
                return error_set(error, -ENOENT,
                                 "no log of %s begins with \"Starting executor ID %d\": list its logs with --list",
                                 p->o->application, p->o->executor);
        return error_set(error, -ENOENT,
                         "%s has no such logs: the NodeManagers have none, and there are none below %s/%s (is "
                         "yarn.log-aggregation-enable true, and is %s the application's owner? --user names another)",
                         p->o->application, root, p->user, p->user);
}

static int printer_print_aggregated(struct logs_printer *p, struct fst_error *error)
{
        int r = printer_find_executor(p, NULL, error);
        if (r < 0 || (p->o->executor >= 0 && !p->container))
                return r < 0 ? r : printer_fail_without_logs(p, error);
        r = printer_read_aggregated(p, &printer_file_ops, error);
        return r < 0 ? r : p->count ? 0 : printer_fail_without_logs(p, error);
}

/* Prints what is new, until the application has ended; then the rest, once it is aggregated. */
static int printer_follow(struct logs_printer *p, struct container_places *places, struct fst_error *error)
{
        for (int rounds = 0; rounds < AGGREGATION_ROUNDS;) {
                struct web_application application = {0};
                int r = yarn_web_application(&p->web, p->o->application, &application, error);
                if (r < 0 && ++rounds < AGGREGATION_ROUNDS) { /* another ResourceManager may take over */
                        error_deinit(error);
                        usleep(FOLLOW_US);
                        continue;
                }
                const bool over = r == YARN_WEB_E_NOT_FOUND || application.is_over;
                web_application_deinit(&application);
                r = r < 0 || over ? r : yarn_web_containers(&p->web, p->o->application, places, error);
                r = r < 0 ? r : printer_find_executor(p, places, error);
                if (r >= 0 && (p->o->executor < 0 || p->container))
                        r = printer_read_running(p, places, &printer_ops, error);
                if (r < 0)
                        return r;
                if (over) {
                        r = printer_read_aggregated(p, &printer_file_ops, error);
                        if (r != 0)
                                return r < 0 ? r : 0;
                        rounds++;
                }
                usleep(FOLLOW_US);
        }
        return p->count ? 0 : printer_fail_without_logs(p, error);
}

static int printer_print_running(struct logs_printer *p, struct fst_error *error)
{
        struct container_places places = {0};
        int r = 0;
        if (p->o->follow) {
                r = printer_follow(p, &places, error);
        } else {
                r = yarn_web_containers(&p->web, p->o->application, &places, error);
                r = r < 0 ? r : printer_find_executor(p, &places, error);
                if (r >= 0 && (p->o->executor < 0 || p->container))
                        r = printer_read_running(p, &places, &printer_ops, error);
                if (r >= 0 && p->count == 0) /* of a container that has ended, for instance */
                        r = printer_print_aggregated(p, error);
        }
        container_places_deinit(&places);
        return r < 0 ? r : 0;
}

/* Asks the ResourceManager for the owner and the state. One that does not answer or does not know is no error. */
static int printer_print(struct logs_printer *p, struct fst_error *error)
{
        struct web_application application = {0};
        _cleanup_(error_deinit) struct fst_error why = FST_ERROR_INIT;
        int r = yarn_web_init(&p->web, &p->yarn, &why);
        p->has_web = r == 0;
        r = r < 0 ? r : yarn_web_application(&p->web, p->o->application, &application, &why);
        if (r < 0)
                log_warn(LOG, "%s. Looking for aggregated logs only", error_message(&why));
        p->user = p->o->user         ? mem_strdup(p->o->user)
                  : application.user ? mem_strdup(application.user)
                                     : hadoop_conf_user(&p->yarn.hadoop);
        const bool runs = r == 0 && !application.is_over;
        web_application_deinit(&application);
        return runs ? printer_print_running(p, error) : printer_print_aggregated(p, error);
}

static void printer_deinit(struct logs_printer *p)
{
        for (size_t i = 0; i < p->printed.len; i++) {
                free(p->printed.data[i].container);
                free(p->printed.data[i].name);
        }
        vec_deinit(&p->printed);
        if (p->has_web)
                yarn_web_deinit(&p->web);
        yarn_conf_deinit(&p->yarn);
        buf_deinit(&p->first);
        free(p->first_of);
        free(p->last);
        free(p->container);
        free(p->user);
}

int application_logs_print(const struct application_logs_options *options, struct fst_error *error)
{
        struct logs_printer p = {.o = options};
        struct yarn_application_id id;
        struct yarn_container_id container;
        p.container = options->container ? mem_strdup(options->container) : NULL;
        int r = yarn_application_parse(options->application, &id, error);
        r = r < 0 || !p.container ? r : yarn_container_parse(p.container, &container, error);
        r = r < 0 ? r : yarn_conf_load(&p.yarn, &options->conf->set, conf_environment, error);
        if (r == 0) {
                file_systems_use(&p, &options->conf->set);
                r = printer_print(&p, error);
                file_systems_leave(&p);
        }
        printer_deinit(&p);
        return r;
}
