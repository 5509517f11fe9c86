/*
 * The log: lines as Spark writes them, to standard error.
 *
 *      26/11/21 10:15:00 INFO TaskSchedulerImpl: Adding task set 0.0 with 2 tasks resource profile 0
 *
 * or, with log_set_structured(true), one JSON object a line with "ts", "level", "msg", "context" (application,
 * stage and task ids of the calling thread) and "logger". Levels may be set for a component by name or for all;
 * a level that is off costs one comparison. Control characters are escaped, because peers choose parts of many
 * messages: a message has several lines only if its format has, or if log_multiline writes it. Safe from every thread;
 * a line is written by one write(2).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct fst_error;

enum log_level { LOG_OFF, LOG_FATAL, LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_TRACE };

/* The most talkative level that any component has: what the macros below look at first. Changed atomically. */
extern enum log_level log_threshold;

#define log_at(level, component, ...)                                                                                  \
        do {                                                                                                           \
                if ((level) <= __atomic_load_n(&log_threshold, __ATOMIC_RELAXED))                                      \
                        log_write((level), (component), __VA_ARGS__);                                                  \
        } while (0)
#define log_error(component, ...) log_at(LOG_ERROR, component, __VA_ARGS__)
#define log_warn(component, ...) log_at(LOG_WARN, component, __VA_ARGS__)
#define log_info(component, ...) log_at(LOG_INFO, component, __VA_ARGS__)
#define log_debug(component, ...) log_at(LOG_DEBUG, component, __VA_ARGS__)

/*
 * The same about a stage and, unless @task_ is negative, a task, although this thread works for all of them: structured
 * lines carry the two ids.
 */
#define log_about(level, stage_, task_, component, ...)                                                                \
        do {                                                                                                           \
                if ((level) <= __atomic_load_n(&log_threshold, __ATOMIC_RELAXED)) {                                    \
                        log_set_work((stage_), (task_));                                                               \
                        log_write((level), (component), __VA_ARGS__);                                                  \
                        log_set_work(-1, -1);                                                                          \
                }                                                                                                      \
        } while (0)

/*
 * The same with the line breaks of arguments kept: for reasons that have several lines in Spark's log, too, such as the
 * state of a pod. A line that looks like the beginning of another message is indented.
 */
#define log_multiline(level, component, ...)                                                                           \
        do {                                                                                                           \
                if ((level) <= __atomic_load_n(&log_threshold, __ATOMIC_RELAXED))                                      \
                        log_write_multiline((level), (component), __VA_ARGS__);                                        \
        } while (0)
#define log_multiline_about(level, stage_, task_, component, ...)                                                      \
        do {                                                                                                           \
                if ((level) <= __atomic_load_n(&log_threshold, __ATOMIC_RELAXED)) {                                    \
                        log_set_work((stage_), (task_));                                                               \
                        log_write_multiline((level), (component), __VA_ARGS__);                                        \
                        log_set_work(-1, -1);                                                                          \
                }                                                                                                      \
        } while (0)

/*
 * @component is the name Spark's users know: "SparkContext", "DAGScheduler", "TaskSetManager", … Does nothing if
 * @level is off for it. Keeps errno; what cannot be written is dropped.
 */
void log_write(enum log_level level, const char *component, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* log_write for log_multiline. */
void log_write_multiline(enum log_level level, const char *component, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* One line before it is composed. Borrowed while the listener runs. */
struct log_line {
        struct timespec time;
        enum log_level level;
        const char *component;
        const char *message; /* not terminated */
        size_t length;
};

/*
 * Call @fn with every line that is written, besides writing it: one listener at a time, NULL for none. It is called on
 * the threads that log, under the log's lock, and must not log itself. Does not return while the one before is called.
 */
typedef void log_listener_fn(void *owner, const struct log_line *line);
void log_set_listener(log_listener_fn *fn, void *owner);

/*
 * Drop this thread's lines: for threads that work in somebody else's program. Returns what held before.
 */
bool log_set_quiet(bool quiet);

/* Whether a line of @level would be written: for lines whose parts cost something to gather. */
bool log_enabled(enum log_level level, const char *component);

/*
 * "INFO", "warn", "ALL", …: 0, or -EINVAL with the names that there are. ALL is the same as TRACE.
 */
int log_level_parse(const char *name, enum log_level *level, struct fst_error *error);

/* "INFO", … */
const char *log_level_name(enum log_level level);

/* The level of everything that has none of its own. Starts as LOG_WARN until configured. */
void log_set_level(enum log_level level);

/*
 * The level of one logger and of all below it: a component ("TaskSetManager"), the name that it has in Spark
 * ("org.apache.spark.scheduler.TaskSetManager") or a package ("org.apache.spark.scheduler"). The longest name
 * that fits decides. At most 64 loggers have levels of their own: 0, or -ENOSPC.
 */
int log_set_logger_level(const char *logger, enum log_level level);

/* Forget all levels and set the root's: for tests and for reading a configuration again. */
void log_reset_levels(enum log_level root);

/*
 * The name that @component has in Spark: "org.apache.spark.scheduler.TaskSetManager"; @component itself if the
 * table of names does not have it. @text holds @size bytes and is what is returned.
 */
const char *log_logger_name(const char *component, char *text, size_t size);

void log_set_structured(bool json);

/* What this thread works on, for structured lines; -1 and NULL clear. @app_id is borrowed. */
void log_set_context(const char *app_id, int stage, int64_t task);

/* The same for stage and task alone. */
void log_set_work(int stage, int64_t task);

/*
 * A status line (the console progress bar) that log lines must not tear: @text is erased before a log line and
 * drawn again after it. NULL or "" removes it. Only for terminals, where nothing else than the log writes to
 * standard error meanwhile; copied, at most 511 bytes of it.
 */
void log_set_status_line(const char *text);
