/* See driver_log.h. The log writes lines under its lock. The copying thread reads them back from the file. */
#include "driver/events/driver_log.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "io/fs/file_systems.h"

#include <ctype.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define COMPONENT "DriverLogger"
#define DEFAULT_LAYOUT "%d{yy/MM/dd HH:mm:ss.SSS} %t %p %c{1}: %m%n%ex"
#define CHUNK ((size_t)1 << 20)
#define COPY_INTERVAL_S 5

struct driver_log {
        char *layout, *path;
        char *own_directory; /* removed at the end; NULL: the user named the directory */
        int fd;

        /* The copy. */
        bool copies, copy_failed;
        char *copy_path;
        struct open_file copy;
        uint64_t copied;
        pthread_t thread;
        pthread_mutex_t lock;
        pthread_cond_t changed;
        bool stopping;
};

/* ---------------------------------------------------------------------------------------------------- layout */

/* Appends one run of a letter of Java's date patterns. */
static int date_put_part(struct buf *out, const char *run, size_t n, const struct log_line *line, const struct tm *tm,
                         struct fst_error *error)
{
        const struct {
                const char *run;
                int value, width;
        } parts[] = {
                {"yyyy", tm->tm_year + 1900, 4}, {"yy", tm->tm_year % 100, 2},
                {"MM", tm->tm_mon + 1, 2},       {"dd", tm->tm_mday, 2},
                {"HH", tm->tm_hour, 2},          {"mm", tm->tm_min, 2},
                {"ss", tm->tm_sec, 2},           {"SSS", (int)(line->time.tv_nsec / 1000000), 3},
        };
        for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
                if (strlen(parts[i].run) == n && strncmp(parts[i].run, run, n) == 0) {
                        buf_printf(out, "%0*d", parts[i].width, parts[i].value);
                        return 0;
                }
        return error_set(error, -EINVAL, "%%d{…}: \"%.*s\" is not known (yyyy, yy, MM, dd, HH, mm, ss, SSS are)",
                         (int)n, run);
}

static int date_put(struct buf *out, const char *pattern, size_t n, const struct log_line *line,
                    struct fst_error *error)
{
        struct tm tm;
        localtime_r(&line->time.tv_sec, &tm);
        for (size_t i = 0; i < n;) {
                size_t run = 1;
                if (pattern[i] == '\'') {
                        for (i++; i < n && pattern[i] != '\''; i++)
                                buf_append(out, &pattern[i], 1);
                        i++;
                        continue;
                }
                if (!isalpha((unsigned char)pattern[i])) {
                        buf_append(out, &pattern[i++], 1);
                        continue;
                }
                while (i + run < n && pattern[i + run] == pattern[i])
                        run++;
                int r = date_put_part(out, pattern + i, run, line, &tm, error);
                if (r)
                        return r;
                i += run;
        }
        return 0;
}

static int conversion_put_date(struct buf *out, const char *option, size_t n, const struct log_line *line,
                               struct fst_error *error)
{
        static const char iso[] = "yyyy-MM-dd'T'HH:mm:ss,SSS", usual[] = "yyyy-MM-dd HH:mm:ss,SSS";
        if (n == 7 && strncmp(option, "ISO8601", 7) == 0)
                return date_put(out, iso, strlen(iso), line, error);
        if (n == 0 || (n == 7 && strncmp(option, "DEFAULT", 7) == 0))
                return date_put(out, usual, strlen(usual), line, error);
        return date_put(out, option, n, line, error);
}

static void conversion_put_logger(struct buf *out, const char *option, size_t n, const struct log_line *line)
{
        char name[128];
        if (n == 1 && *option == '1')
                buf_puts(out, line->component);
        else
                buf_puts(out, log_logger_name(line->component, name, sizeof(name)));
}

static void conversion_put_thread(struct buf *out)
{
        char name[32] = "main";
        if (getpid() != gettid())
                pthread_getname_np(pthread_self(), name, sizeof(name));
        buf_puts(out, name);
}

static bool conversion_is(const char *word, size_t n, const char *a, const char *b, const char *c)
{
        const char *const names[] = {a, b, c};
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                if (names[i] && strlen(names[i]) == n && strncmp(word, names[i], n) == 0)
                        return true;
        return false;
}

/* Appends one conversion without its width. @word is its name, @option the text in braces behind it. */
static int conversion_put(struct buf *out, const char *word, size_t n, const char *option, size_t n_option,
                          const struct log_line *line, struct fst_error *error)
{
        if (conversion_is(word, n, "d", "date", NULL))
                return conversion_put_date(out, option, n_option, line, error);
        if (conversion_is(word, n, "t", "thread", "tn"))
                conversion_put_thread(out);
        else if (conversion_is(word, n, "p", "level", NULL))
                buf_puts(out, log_level_name(line->level));
        else if (conversion_is(word, n, "c", "logger", NULL))
                conversion_put_logger(out, option, n_option, line);
        else if (conversion_is(word, n, "m", "msg", "message"))
                buf_append(out, line->message, line->length);
        else if (conversion_is(word, n, "n", NULL, NULL))
                buf_puts(out, "\n");
        else if (!conversion_is(word, n, "ex", "exception", "throwable")) /* exceptions have no stacks here */
                return error_set(error, -EINVAL, "%%%.*s is not known (d, t, p, c, m, n, ex are)", (int)n, word);
        return 0;
}

/* Pads for %5p and %-5p: blanks on the left, or on the right. */
static void driver_log_pad(struct buf *out, const char *text, size_t n, int width)
{
        int blanks = abs(width) - (int)MIN(n, (size_t)INT32_MAX);
        if (blanks > 0 && width > 0)
                buf_printf(out, "%*s", blanks, "");
        buf_append(out, text, n);
        if (blanks > 0 && width < 0)
                buf_printf(out, "%*s", blanks, "");
}

/* Returns the length of the longest name that begins at @at, as in log4j: "msg", not "m". */
static size_t conversion_name_length(const char *at)
{
        static const char *const words[] = {"exception", "throwable", "message", "thread", "logger",
                                            "level",     "date",      "msg",     "ex",     "tn"};
        for (size_t i = 0; i < ARRAY_SIZE(words); i++)
                if (strncmp(at, words[i], strlen(words[i])) == 0)
                        return strlen(words[i]);
        return isalpha((unsigned char)*at) ? 1 : 0;
}

int driver_log_format(struct buf *out, const char *layout, const struct log_line *line, struct fst_error *error)
{
        for (const char *at = layout; *at;) {
                size_t n = strcspn(at, "%"), n_option = 0;
                buf_append(out, at, n);
                at += n;
                if (!*at)
                        break;
                if (*++at == '%') {
                        buf_append(out, at++, 1);
                        continue;
                }
                char *end = (char *)at;
                int width = *at == '-' || isdigit((unsigned char)*at) ? (int)strtol(at, &end, 10) : 0;
                if (abs(width) > 1000)
                        return error_set(error, -EINVAL, "%%%d… is too wide", width);
                const char *word = end, *option = NULL;
                size_t length = conversion_name_length(word);
                at = word + length;
                if (*at == '{' && strchr(at, '}')) {
                        option = at + 1;
                        n_option = strcspn(option, "}");
                        at = option + n_option + 1;
                }
                _cleanup_(buf_deinit) struct buf text = BUF_INIT;
                int r = conversion_put(&text, word, length, option, n_option, line, error);
                if (r)
                        return r;
                driver_log_pad(out, buf_text(&text), text.len, width);
        }
        return 0;
}

/* ----------------------------------------------------------------------------------------------------- lines */

static void driver_log_on_line(void *owner, const struct log_line *line)
{
        struct driver_log *log = owner;
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        if (driver_log_format(&text, log->layout, line, NULL) == 0)
                write_all(log->fd, buf_text(&text), text.len);
}

static int driver_log_check_layout(const char *layout, struct fst_error *error)
{
        const struct log_line line = {.level = LOG_INFO, .component = COMPONENT, .message = "", .length = 0};
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        int r = driver_log_format(&text, layout, &line, error);
        return r ? error_wrap(error, r, "spark.driver.log.layout") : 0;
}

/* Creates a directory for the application below the first one of spark.local.dir. */
static int driver_log_make_directory(const struct fst_conf *conf, char **root, char **dir, struct fst_error *error)
{
        _cleanup_free_ char *local = NULL;
        int r = conf_get_string(conf, "spark.local.dir", &local, error);
        if (r)
                return r;
        local[strcspn(local, ",")] = '\0';
        _cleanup_free_ char *name = mem_printf("%s/spark-XXXXXX", local);
        if (!mkdtemp(name))
                return error_errno(error, "cannot make a directory in %s", local);
        *dir = mem_printf("%s/__driver_logs__", name);
        *root = steal(name);
        return 0;
}

static int driver_log_open(struct driver_log *log, const struct fst_conf *conf, struct fst_error *error)
{
        _cleanup_free_ char *dir = NULL;
        int r = conf_get_string(conf, "spark.driver.log.layout", &log->layout, error);
        if (r == 0 && !log->layout)
                log->layout = mem_strdup(DEFAULT_LAYOUT);
        if (r == 0)
                r = driver_log_check_layout(log->layout, error);
        if (r == 0)
                r = conf_get_string(conf, "spark.driver.log.localDir", &dir, error);
        if (r == 0 && !dir)
                r = driver_log_make_directory(conf, &log->own_directory, &dir, error);
        if (r)
                return r;
        if ((r = make_dirs(dir, 0777)) < 0)
                return error_set(error, r, "cannot make the directory %s: %s", dir, strerror(-r));
        log->path = mem_printf("%s/driver.log", dir);
        log->fd = open(log->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        return log->fd < 0 ? error_errno(error, "cannot write %s", log->path) : 0;
}

static bool driver_log_is_enabled(const struct fst_conf *conf)
{
        bool persists = false, local = conf_get_value(conf, "spark.driver.log.localDir") != NULL;
        const char *mode = conf_get_value(conf, "spark.submit.deployMode");
        struct fst_error error = FST_ERROR_INIT;
        if (conf_get_bool(conf, "spark.driver.log.persistToDfs.enabled", &persists, &error)) {
                log_error(COMPONENT, "Could not add driver logger: %s", error_message(&error));
                error_deinit(&error);
        }
        if (local || !persists || strcmp(mode, "client") != 0)
                return local;
        if (conf_get_value(conf, "spark.driver.log.dfsDir"))
                return true;
        log_warn(COMPONENT, "Driver logs are not persisted because spark.driver.log.dfsDir is not configured");
        return false;
}

struct driver_log *driver_log_start(const struct fst_conf *conf)
{
        if (!driver_log_is_enabled(conf))
                return NULL;
        struct fst_error error = FST_ERROR_INIT;
        struct driver_log *log = new0(struct driver_log);
        log->fd = -1;
        pthread_mutex_init(&log->lock, NULL);
        pthread_cond_init(&log->changed, NULL);
        if (driver_log_open(log, conf, &error)) {
                log_error(COMPONENT, "Could not add driver logger: %s", error_message(&error));
                error_deinit(&error);
                driver_log_free(log);
                return NULL;
        }
        log_set_listener(driver_log_on_line, log);
        log_info(COMPONENT, "Added a local log appender at: %s", log->path);
        return log;
}

/* ---------------------------------------------------------------------------------------------------- copying */

/* Append the new lines. On the copying thread. */
static int driver_log_copy_rest(struct driver_log *log, char *chunk, struct fst_error *error)
{
        for (;;) {
                ssize_t n = pread(log->fd, chunk, CHUNK, (off_t)log->copied);
                if (n < 0)
                        return error_errno(error, "cannot read %s", log->path);
                if (n == 0)
                        return 0;
                int r = log->copy.fs->write(&log->copy, chunk, (size_t)n, error);
                if (r < 0)
                        return r;
                log->copied += (uint64_t)n;
        }
}

static void driver_log_copy_once(struct driver_log *log, char *chunk)
{
        struct fst_error error = FST_ERROR_INIT;
        if (log->copy_failed || driver_log_copy_rest(log, chunk, &error) == 0)
                return;
        log->copy_failed = true;
        log_error(COMPONENT, "Failed writing driver logs to dfs: %s. No more lines are copied", error_message(&error));
        error_deinit(&error);
}

static void *driver_log_copy_thread(void *owner)
{
        struct driver_log *log = owner;
        char *chunk = mem_alloc(CHUNK);
        struct fst_error error = FST_ERROR_INIT;
        pthread_mutex_lock(&log->lock);
        while (!log->stopping) {
                struct timespec until;
                clock_gettime(CLOCK_MONOTONIC, &until);
                until.tv_sec += COPY_INTERVAL_S;
                if (pthread_cond_clockwait(&log->changed, &log->lock, CLOCK_MONOTONIC, &until) == 0)
                        continue;
                pthread_mutex_unlock(&log->lock);
                driver_log_copy_once(log, chunk);
                pthread_mutex_lock(&log->lock);
        }
        pthread_mutex_unlock(&log->lock);
        driver_log_copy_once(log, chunk);
        if (log->copy.fs->close(&log->copy, &error) < 0) {
                log_error(COMPONENT, "Error in closing driver log input/output stream: %s", error_message(&error));
                error_deinit(&error);
        }
        free(chunk);
        return NULL;
}

static int driver_log_copy_begin(struct driver_log *log, const struct fst_conf *conf, struct fst_error *error)
{
        _cleanup_free_ char *name = NULL, *dir = NULL;
        const char *id = conf_get_value(conf, "spark.app.id");
        const struct file_system *fs;
        struct file_status status = {0};
        int r = conf_get_string(conf, "spark.driver.log.dfsDir", &name, error);
        if (r == 0)
                r = file_system_resolve(name, &dir, &fs, error);
        if (r == 0)
                r = fs->stat(fs, dir, &status, error);
        file_status_deinit(&status);
        if (r == -ENOENT)
                return error_set(error, r, "%s does not exist. Please create this dir in order to persist driver logs",
                                 dir);
        if (r)
                return r;
        log->copy_path = mem_printf("%s/%s_driver.log", dir, id);
        log->copy = OPEN_FILE_INIT;
        return fs->create(fs, log->copy_path, &log->copy, error);
}

void driver_log_persist(struct driver_log *log, const struct fst_conf *conf)
{
        struct fst_error error = FST_ERROR_INIT;
        bool persists = false;
        const char *mode = conf_get_value(conf, "spark.submit.deployMode");
        if (!log || conf_get_bool(conf, "spark.driver.log.persistToDfs.enabled", &persists, NULL) || !persists ||
            strcmp(mode, "client") != 0 || !conf_get_value(conf, "spark.driver.log.dfsDir"))
                return;
        int r = driver_log_copy_begin(log, conf, &error);
        if (r == 0 && pthread_create(&log->thread, NULL, driver_log_copy_thread, log) == 0) {
                log->copies = true;
                log_info(COMPONENT, "Persisting driver logs to dfs at: %s", log->copy_path);
                return;
        }
        log_error(COMPONENT, "Could not persist driver logs to dfs: %s",
                  r ? error_message(&error) : "no thread can be started");
        error_deinit(&error);
}

void driver_log_free(struct driver_log *log)
{
        if (!log)
                return;
        if (log->fd >= 0)
                log_set_listener(NULL, NULL);
        if (log->copies) {
                pthread_mutex_lock(&log->lock);
                log->stopping = true;
                pthread_cond_signal(&log->changed);
                pthread_mutex_unlock(&log->lock);
                pthread_join(log->thread, NULL);
        }
        if (log->fd >= 0)
                close(log->fd);
        remove_tree(log->own_directory);
        pthread_mutex_destroy(&log->lock);
        pthread_cond_destroy(&log->changed);
        free(log->own_directory);
        free(log->copy_path);
        free(log->layout);
        free(log->path);
        free(log);
}
