/*
 * Formats and writes log lines.
 *
 * A line is formatted in a buffer on the caller's stack (on the heap beyond 2 KiB) and written by one write(2). Each
 * thread renders the time stamp once per second. A mutex around the write keeps the status line intact. It is taken
 * after formatting, so that threads do not wait for each other's formatting.
 *
 * The plain form is Spark's default pattern, `%d{yy/MM/dd HH:mm:ss} %p %c{1}: %m%n`. The structured form has the fields
 * of Spark's JSON layout, with UTC times and context values as strings. It omits an empty "context".
 *
 * Levels: the root's, and a short list of loggers with their own. `log_threshold` is the highest of all. Lists are
 * small and change rarely, so readers take the mutex only if the list is not empty.
 */
#include "base/log.h"

#include "base/error.h"
#include "base/mem.h"

#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#define MAX_LOGGERS 64
#define MAX_STATUS 511

enum log_level log_threshold = LOG_WARN;

static const char level_names[][6] = {
        [LOG_OFF] = "OFF",   [LOG_FATAL] = "FATAL", [LOG_ERROR] = "ERROR", [LOG_WARN] = "WARN",
        [LOG_INFO] = "INFO", [LOG_DEBUG] = "DEBUG", [LOG_TRACE] = "TRACE",
};

/* Spark's packages of the components, below org.apache.spark. A component that is not listed keeps its own name. */
static const char spark_names[][48] = {
        "SparkConf",
        "SparkContext",
        "SparkEnv",
        "MapOutputTracker",
        "MapOutputTrackerMaster",
        "HeartbeatReceiver",
        "SecurityManager",
        "ContextCleaner",
        "BarrierCoordinator",
        "ExecutorAllocationManager",
        "scheduler.DAGScheduler",
        "scheduler.TaskSchedulerImpl",
        "scheduler.TaskSetManager",
        "scheduler.Pool",
        "scheduler.FIFOSchedulableBuilder",
        "scheduler.FairSchedulableBuilder",
        "scheduler.ResultTask",
        "scheduler.ShuffleMapTask",
        "scheduler.ShuffleMapStage",
        "scheduler.ResultStage",
        "scheduler.HealthTracker",
        "scheduler.TaskResultGetter",
        "scheduler.OutputCommitCoordinator",
        "scheduler.AsyncEventQueue",
        "scheduler.LiveListenerBus",
        "scheduler.EventLoggingListener",
        "scheduler.StatsReportListener",
        "scheduler.TaskSetExcludelist",
        "scheduler.dynalloc.ExecutorMonitor",
        "scheduler.cluster.StandaloneSchedulerBackend",
        "scheduler.cluster.CoarseGrainedSchedulerBackend",
        "scheduler.local.LocalSchedulerBackend",
        "scheduler.local.LocalEndpoint",
        "executor.Executor",
        "executor.CoarseGrainedExecutorBackend",
        "executor.ExecutorMetricsPoller",
        "memory.MemoryStore",
        "memory.TaskMemoryManager",
        "memory.UnifiedMemoryManager",
        "storage.BlockManager",
        "storage.BlockManagerInfo",
        "storage.BlockManagerMaster",
        "storage.BlockManagerMasterEndpoint",
        "storage.DiskBlockManager",
        "storage.DiskStore",
        "storage.ShuffleBlockFetcherIterator",
        "storage.memory.MemoryStore",
        "broadcast.TorrentBroadcast",
        "shuffle.IndexShuffleBlockResolver",
        "shuffle.sort.SortShuffleManager",
        "rdd.HadoopRDD",
        "rdd.NewHadoopRDD",
        "rdd.MapPartitionsRDD",
        "internal.io.SparkHadoopWriter",
        "internal.io.HadoopMapRedCommitProtocol",
        "internal.io.FileOutputCommitter",
        "util.ShutdownHookManager",
        "util.SignalUtils",
        "util.Utils",
        "util.collection.ExternalSorter",
        "util.collection.ExternalAppendOnlyMap",
        "ui.ConsoleProgressBar",
        "ui.SparkUI",
        "metrics.MetricsSystem",
        "metrics.MetricsConfig",
        "resource.ResourceUtils",
        "resource.ResourceProfile",
        "resource.ResourceProfileManager",
        "deploy.SparkSubmit",
        "deploy.rest.RestSubmissionClient",
        "deploy.master.Master",
        "deploy.worker.Worker",
        "deploy.worker.ExecutorRunner",
        "deploy.worker.DriverRunner",
        "deploy.history.HistoryServer",
        "deploy.history.FsHistoryProvider",
        "deploy.history.SingleEventLogFileWriter",
        "deploy.history.RollingEventLogFilesWriter",
        "deploy.client.StandaloneAppClient",
        "network.client.TransportClientFactory",
        "network.netty.NettyBlockTransferService",
};

struct logger {
        char name[112];
        enum log_level level;
};

static pthread_mutex_t levels_lock = PTHREAD_MUTEX_INITIALIZER;
static enum log_level root_level = LOG_WARN;
static struct logger loggers[MAX_LOGGERS];
static size_t n_loggers; /* changed atomically, under levels_lock */

static bool structured;

static pthread_mutex_t write_lock = PTHREAD_MUTEX_INITIALIZER;
static char status_line[MAX_STATUS + 1]; /* guarded by write_lock, as is its length */
static size_t status_length;

static _Thread_local struct {
        const char *app_id;
        int stage;
        int64_t task;
} context = {NULL, -1, -1};

static _Thread_local struct {
        time_t second;
        bool utc;
        char text[24];
} stamp_cache;

/* ---- levels ---- */

const char *log_level_name(enum log_level level)
{
        return level_names[level];
}

int log_level_parse(const char *name, enum log_level *level, struct fst_error *error)
{
        if (strcasecmp(name, "ALL") == 0) {
                *level = LOG_TRACE;
                return 0;
        }
        for (size_t i = 0; i < ARRAY_SIZE(level_names); i++)
                if (strcasecmp(name, level_names[i]) == 0) {
                        *level = (enum log_level)i;
                        return 0;
                }
        return error_set(error, -EINVAL,
                         "unknown log level '%s': use one of ALL, TRACE, DEBUG, INFO, WARN, ERROR, FATAL, OFF", name);
}

/* Call it under levels_lock. */
static void renew_threshold(void)
{
        enum log_level highest = root_level;
        for (size_t i = 0; i < n_loggers; i++)
                highest = MAX(highest, loggers[i].level);
        __atomic_store_n(&log_threshold, highest, __ATOMIC_RELAXED);
}

void log_set_level(enum log_level level)
{
        pthread_mutex_lock(&levels_lock);
        __atomic_store_n(&root_level, level, __ATOMIC_RELAXED);
        renew_threshold();
        pthread_mutex_unlock(&levels_lock);
}

void log_reset_levels(enum log_level root)
{
        pthread_mutex_lock(&levels_lock);
        __atomic_store_n(&root_level, root, __ATOMIC_RELAXED);
        __atomic_store_n(&n_loggers, 0, __ATOMIC_RELAXED);
        renew_threshold();
        pthread_mutex_unlock(&levels_lock);
}

const char *log_logger_name(const char *component, char *text, size_t size)
{
        for (size_t i = 0; i < ARRAY_SIZE(spark_names); i++) {
                const char *dot = strrchr(spark_names[i], '.');
                if (strcmp(dot ? dot + 1 : spark_names[i], component) == 0) {
                        snprintf(text, size, "org.apache.spark.%s", spark_names[i]);
                        return text;
                }
        }
        snprintf(text, size, "%s", component);
        return text;
}

int log_set_logger_level(const char *logger, enum log_level level)
{
        char name[sizeof(loggers[0].name)];
        log_logger_name(logger, name, sizeof(name));
        int r = 0;
        pthread_mutex_lock(&levels_lock);
        size_t i = 0;
        while (i < n_loggers && strcmp(loggers[i].name, name) != 0)
                i++;
        if (i < MAX_LOGGERS) {
                memcpy(loggers[i].name, name, sizeof(name));
                loggers[i].level = level;
                if (i == n_loggers)
                        __atomic_store_n(&n_loggers, i + 1, __ATOMIC_RELAXED);
                renew_threshold();
        } else {
                r = -ENOSPC;
        }
        pthread_mutex_unlock(&levels_lock);
        return r;
}

/*
 * Whether @name is @logger (a package or class) or above it. A component that Spark does not have counts as part of
 * org.apache.spark.
 */
static bool logger_covers(const char *logger, const char *name)
{
        size_t n = strlen(logger);
        if (strncmp(name, logger, n) == 0 && (name[n] == '\0' || name[n] == '.' || name[n] == '$'))
                return true;
        return !strchr(name, '.') && n <= strlen("org.apache.spark") && strncmp("org.apache.spark", logger, n) == 0;
}

static _Thread_local bool quiet;

bool log_set_quiet(bool now)
{
        bool before = quiet;
        quiet = now;
        return before;
}

bool log_enabled(enum log_level level, const char *component)
{
        if (quiet)
                return false;
        if (level > __atomic_load_n(&log_threshold, __ATOMIC_RELAXED) || level == LOG_OFF)
                return false;
        if (__atomic_load_n(&n_loggers, __ATOMIC_RELAXED) == 0)
                return level <= __atomic_load_n(&root_level, __ATOMIC_RELAXED);
        char name[sizeof(loggers[0].name)];
        log_logger_name(component, name, sizeof(name));
        pthread_mutex_lock(&levels_lock);
        enum log_level limit = root_level;
        size_t longest = 0;
        for (size_t i = 0; i < n_loggers; i++) {
                size_t n = strlen(loggers[i].name);
                if (n > longest && logger_covers(loggers[i].name, name)) {
                        longest = n;
                        limit = loggers[i].level;
                }
        }
        pthread_mutex_unlock(&levels_lock);
        return level <= limit;
}

/* ---- formatting ---- */

/* A line: on the caller's stack first, on the heap when that is full. */
struct line {
        char *data;
        size_t len, cap;
        bool on_heap;
        char first[2048];
};

static void line_reserve(struct line *l, size_t more)
{
        if (l->cap - l->len >= more)
                return;
        size_t cap = MAX(l->cap * 2, l->len + more);
        if (l->on_heap) {
                l->data = mem_grow(l->data, cap);
        } else {
                char *heap = mem_alloc(cap);
                memcpy(heap, l->data, l->len);
                l->data = heap;
                l->on_heap = true;
        }
        l->cap = cap;
}

static void line_put(struct line *l, const char *text, size_t n)
{
        line_reserve(l, n);
        memcpy(l->data + l->len, text, n);
        l->len += n;
}

static void line_puts(struct line *l, const char *text)
{
        line_put(l, text, strlen(text));
}

static void line_vprintf(struct line *l, const char *format, va_list args)
{
        va_list again;
        va_copy(again, args);
        int n = vsnprintf(l->data + l->len, l->cap - l->len, format, args);
        if (n > 0 && (size_t)n >= l->cap - l->len) {
                line_reserve(l, (size_t)n + 1);
                n = vsnprintf(l->data + l->len, l->cap - l->len, format, again);
        }
        va_end(again);
        if (n > 0)
                l->len += (size_t)n;
}

static void line_deinit(struct line *l)
{
        if (l->on_heap)
                free(l->data);
}

/* Returns the length of the UTF-8 character at @s, or 0 if its @n bytes do not begin with one. */
static size_t utf8_length(const unsigned char *s, size_t n)
{
        size_t length = s[0] < 0x80                   ? 1
                        : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                        : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                        : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                                      : 0;
        if (length == 0 || length > n)
                return 0;
        for (size_t i = 1; i < length; i++)
                if ((s[i] & 0xc0) != 0x80)
                        return 0;
        if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
            (s[0] == 0xf4 && s[1] > 0x8f))
                return 0;
        return length;
}

/* Appends a JSON string. Invalid UTF-8 becomes U+FFFD. */
static void line_put_json(struct line *l, const char *text, size_t n)
{
        static const char escapes[] = "\bb\ff\nn\rr\tt\"\"\\\\";
        const unsigned char *s = (const unsigned char *)text;
        line_put(l, "\"", 1);
        for (size_t i = 0; i < n;) {
                size_t plain = i;
                while (plain < n && s[plain] >= 0x20 && s[plain] < 0x7f && s[plain] != '"' && s[plain] != '\\')
                        plain++;
                line_put(l, text + i, plain - i);
                if ((i = plain) == n)
                        break;
                const char *escape = s[i] ? strchr(escapes, s[i]) : NULL;
                size_t length = utf8_length(s + i, n - i);
                if (length == 1 && escape) {
                        line_put(l, (char[]){'\\', escape[1]}, 2);
                } else if (length == 1) {
                        char code[8];
                        line_put(l, code, (size_t)snprintf(code, sizeof(code), "\\u%04X", s[i]));
                } else if (length) {
                        line_put(l, text + i, length);
                } else {
                        line_puts(l, "\xef\xbf\xbd");
                        length = 1;
                }
                i += length;
        }
        line_put(l, "\"", 1);
}

/* Whether a line starts with a time stamp like "26/11/21 10:15:00 ". */
static bool is_stamp(const char *s, size_t n)
{
        static const char form[] = "00/00/00 00:00:00 ";
        for (size_t i = 0; i < sizeof(form) - 1; i++)
                if (i >= n || (form[i] == '0' ? s[i] < '0' || s[i] > '9' : s[i] != form[i]))
                        return false;
        return true;
}

/*
 * Returns the length of the control character at @s (ASCII, or U+0080 to U+009F), or 0 if its @n bytes do not begin
 * with one.
 */
static size_t control_length(const unsigned char *s, size_t n)
{
        if (s[0] == 0xc2 && n > 1 && s[1] >= 0x80 && s[1] < 0xa0)
                return 2;
        return (s[0] < 0x20 && s[0] != '\t') || s[0] == 0x7f;
}

static void line_put_control(struct line *l, const unsigned char *s, size_t n)
{
        char code[8];
        if (*s == '\n' || *s == '\r')
                line_put(l, *s == '\n' ? "\\n" : "\\r", 2);
        else
                line_put(l, code, (size_t)snprintf(code, sizeof(code), "\\x%02x", s[n - 1]));
}

/*
 * Escapes the control characters of the message that starts at @from. With @breaks it keeps line breaks and indents a
 * line that looks like the start of a log message.
 */
static void line_escape(struct line *l, size_t from, bool breaks)
{
        size_t at = from, n = 0;
        while (at < l->len && !(n = control_length((unsigned char *)l->data + at, l->len - at)))
                at++;
        if (at == l->len)
                return;
        size_t len = l->len - at;
        char *rest = mem_alloc(len);
        memcpy(rest, l->data + at, len);
        l->len = at;
        for (size_t i = 0; i < len; i += n) {
                const unsigned char *s = (unsigned char *)rest + i;
                n = control_length(s, len - i);
                if (n && *s == '\n' && breaks)
                        line_puts(l, is_stamp(rest + i + 1, len - i - 1) ? "\n\t" : "\n");
                else if (n)
                        line_put_control(l, s, n);
                else
                        line_put(l, rest + i, n = 1);
        }
        free(rest);
}

/* Returns the text of the present second in local time or UTC. Renders it once per second. */
static const char *stamp_of(time_t second, bool utc)
{
        if (stamp_cache.second != second || stamp_cache.utc != utc || !stamp_cache.text[0]) {
                struct tm tm;
                if (utc)
                        strftime(stamp_cache.text, sizeof(stamp_cache.text), "%Y-%m-%dT%H:%M:%S",
                                 gmtime_r(&second, &tm));
                else
                        strftime(stamp_cache.text, sizeof(stamp_cache.text), "%y/%m/%d %H:%M:%S",
                                 localtime_r(&second, &tm));
                stamp_cache.second = second;
                stamp_cache.utc = utc;
        }
        return stamp_cache.text;
}

static void compose_plain(struct line *l, enum log_level level, const char *component, bool breaks, const char *format,
                          va_list args)
{
        struct timespec now;
        clock_gettime(CLOCK_REALTIME_COARSE, &now);
        line_puts(l, stamp_of(now.tv_sec, false));
        line_put(l, " ", 1);
        line_puts(l, level_names[level]);
        line_put(l, " ", 1);
        line_puts(l, component);
        line_put(l, ": ", 2);
        size_t from = l->len;
        line_vprintf(l, format, args);
        line_escape(l, from, breaks);
        line_put(l, "\n", 1);
}

static void compose_json(struct line *l, enum log_level level, const char *component, const char *format, va_list args)
{
        struct timespec now;
        char text[64];
        clock_gettime(CLOCK_REALTIME, &now);
        line_puts(l, "{\"ts\":\"");
        line_puts(l, stamp_of(now.tv_sec, true));
        line_put(l, text, (size_t)snprintf(text, sizeof(text), ".%03dZ\",\"level\":\"", (int)(now.tv_nsec / 1000000)));
        line_puts(l, level_names[level]);
        line_puts(l, "\",\"msg\":");

        struct line msg = {.data = msg.first, .cap = sizeof(msg.first)};
        line_vprintf(&msg, format, args);
        line_put_json(l, msg.data, msg.len);
        line_deinit(&msg);

        const char *before = ",\"context\":{";
        if (context.app_id) {
                line_puts(l, before);
                line_puts(l, "\"app_id\":");
                line_put_json(l, context.app_id, strlen(context.app_id));
                before = ",";
        }
        if (context.stage >= 0) {
                line_puts(l, before);
                line_put(l, text, (size_t)snprintf(text, sizeof(text), "\"stage_id\":\"%d\"", context.stage));
                before = ",";
        }
        if (context.task >= 0) {
                line_puts(l, before);
                line_put(l, text,
                         (size_t)snprintf(text, sizeof(text), "\"task_id\":\"%lld\"", (long long)context.task));
                before = ",";
        }
        if (before[1] == '\0')
                line_put(l, "}", 1);
        line_puts(l, ",\"logger\":");
        line_put_json(l, component, strlen(component));
        line_put(l, "}\n", 2);
}

/* ---- writing ---- */

/* Writes all bytes, in one write(2) unless the kernel takes fewer. Drops the rest if a pipe stays full for a second. */
static void log_write_out(const char *data, size_t n)
{
        while (n) {
                ssize_t done = write(STDERR_FILENO, data, n);
                if (done >= 0) {
                        data += done;
                        n -= (size_t)done;
                        continue;
                }
                struct pollfd full = {.fd = STDERR_FILENO, .events = POLLOUT};
                if (errno != EINTR && (errno != EAGAIN || poll(&full, 1, 1000) <= 0))
                        return;
        }
}

static log_listener_fn *listener; /* changed atomically under write_lock, as is its owner */
static void *listener_owner;

void log_set_listener(log_listener_fn *fn, void *owner)
{
        pthread_mutex_lock(&write_lock);
        listener_owner = owner;
        __atomic_store_n(&listener, fn, __ATOMIC_RELAXED);
        pthread_mutex_unlock(&write_lock);
}

static void call_listener(enum log_level level, const char *component, const char *format, va_list args)
{
        struct line message = {.data = message.first, .cap = sizeof(message.first)};
        struct log_line line = {.level = level, .component = component};
        line_vprintf(&message, format, args);
        clock_gettime(CLOCK_REALTIME, &line.time);
        line.message = message.data;
        line.length = message.len;
        pthread_mutex_lock(&write_lock);
        if (listener)
                listener(listener_owner, &line);
        pthread_mutex_unlock(&write_lock);
        line_deinit(&message);
}

#define ERASE_LINE "\r\033[K"

static void log_vwrite(enum log_level level, const char *component, bool breaks, const char *format, va_list args)
{
        if (!log_enabled(level, component))
                return;
        int saved = errno;
        va_list again; /* for the listener */
        va_copy(again, args);
        struct line line;
        line.data = line.first;
        line.len = 0;
        line.cap = sizeof(line.first);
        line.on_heap = false;
        /* Reserves room for erasing the status line. The line is written without it if no status line is set. */
        line_puts(&line, ERASE_LINE);
        size_t skip = line.len;
        errno = saved; /* for %m */
        if (__atomic_load_n(&structured, __ATOMIC_RELAXED))
                compose_json(&line, level, component, format, args);
        else
                compose_plain(&line, level, component, breaks, format, args);

        pthread_mutex_lock(&write_lock);
        if (status_length) {
                line_put(&line, status_line, status_length);
                skip = 0;
        }
        log_write_out(line.data + skip, line.len - skip);
        pthread_mutex_unlock(&write_lock);
        line_deinit(&line);
        if (__atomic_load_n(&listener, __ATOMIC_RELAXED)) {
                errno = saved;
                call_listener(level, component, format, again);
        }
        va_end(again);
        errno = saved;
}

void log_write(enum log_level level, const char *component, const char *format, ...)
{
        va_list args;
        va_start(args, format);
        log_vwrite(level, component, strchr(format, '\n') != NULL, format, args);
        va_end(args);
}

void log_write_multiline(enum log_level level, const char *component, const char *format, ...)
{
        va_list args;
        va_start(args, format);
        log_vwrite(level, component, true, format, args);
        va_end(args);
}

void log_set_structured(bool json)
{
        __atomic_store_n(&structured, json, __ATOMIC_RELAXED);
}

void log_set_context(const char *app_id, int stage, int64_t task)
{
        context.app_id = app_id;
        log_set_work(stage, task);
}

void log_set_work(int stage, int64_t task)
{
        context.stage = stage;
        context.task = task;
}

void log_set_status_line(const char *text)
{
        char out[sizeof(ERASE_LINE) + MAX_STATUS];
        size_t erase = strlen(ERASE_LINE);
        size_t n = text ? strnlen(text, MAX_STATUS) : 0;
        memcpy(out, ERASE_LINE, erase);
        memcpy(out + erase, text ? text : "", n);
        pthread_mutex_lock(&write_lock);
        if (n || status_length)
                log_write_out(out, erase + n);
        memcpy(status_line, out + erase, n);
        status_length = n;
        pthread_mutex_unlock(&write_lock);
}
