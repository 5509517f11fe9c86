/*
 * The log: writes lines in Spark's format to standard error.
 *
 *      26/11/21 10:15:00 INFO TaskSchedulerImpl: Adding task set 0.0 with 2 tasks resource profile 0
 *
 * With log_set_structured(true) each line is a JSON object with "ts", "level", "msg", "context" (application, stage and
 * task ids of the calling thread) and "logger". Levels are set for one component by name or for all. A disabled level
 * costs one comparison. Control characters are escaped, because peers choose parts of many messages. A message has
 * several lines only if its format has, or if log_multiline writes it. Any thread. Each line is one write(2).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct fst_error;

enum log_level { LOG_OFF, LOG_FATAL, LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_TRACE };

/* The lowest threshold of all components, which the macros below check first. Changed atomically. */
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
 * As the macro above, for a stage and, unless @task_ is negative, a task: structured lines carry these two ids instead
 * of the calling thread's.
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
 * As the macro above, but keeps line breaks in arguments: for text that has several lines in Spark's log as well, such
 * as the state of a pod. A line that looks like the start of a log message is indented.
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
 * @component is the name that Spark's users know: "SparkContext", "DAGScheduler", "TaskSetManager", … Does nothing if
 * @level is disabled for it. Keeps errno. Ignores write errors.
 */
void log_write(enum log_level level, const char *component, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* log_write for log_multiline. */
void log_write_multiline(enum log_level level, const char *component, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* One line before it is formatted. Borrowed for the call of the listener. */
struct log_line {
        struct timespec time;
        enum log_level level;
        const char *component;
        const char *message; /* without a NUL */
        size_t length;
};

/*
 * Calls @fn with every line that is written. There is one listener at a time. NULL removes it. @fn runs on the thread
 * that logs, under the log's lock, and must not log. Returns after a running call of the previous listener has
 * returned.
 */
typedef void log_listener_fn(void *owner, const struct log_line *line);
void log_set_listener(log_listener_fn *fn, void *owner);

/*
 * Drops or restores the lines of this thread: for threads inside another program. Returns the previous setting.
 */
bool log_set_quiet(bool quiet);

/* Whether a line of @level would be written. Check it before you collect costly arguments. */
bool log_enabled(enum log_level level, const char *component);

/* Parses "INFO", "warn", "ALL", … Returns 0, or -EINVAL with the valid names in @error. ALL equals TRACE. */
int log_level_parse(const char *name, enum log_level *level, struct fst_error *error);

/* Returns "INFO", … */
const char *log_level_name(enum log_level level);

/* Sets the level of all components without their own level. It is LOG_WARN at first. */
void log_set_level(enum log_level level);

/*
 * Sets the level of a logger and of all below it. @logger is a component ("TaskSetManager"), Spark's name for it
 * ("org.apache.spark.scheduler.TaskSetManager") or a package ("org.apache.spark.scheduler"). The longest matching name
 * wins. Returns 0, or -ENOSPC beyond 64 loggers.
 */
int log_set_logger_level(const char *logger, enum log_level level);

/* Removes all levels and sets the root's: for tests and before the configuration is read again. */
void log_reset_levels(enum log_level root);

/*
 * Returns Spark's name of @component ("org.apache.spark.scheduler.TaskSetManager"), or @component itself if the table
 * does not list it. Writes it to @text, which holds @size bytes, and returns @text.
 */
const char *log_logger_name(const char *component, char *text, size_t size);

void log_set_structured(bool json);

/* Sets the ids of this thread's work, for structured lines. -1 and NULL clear them. @app_id is borrowed. */
void log_set_context(const char *app_id, int stage, int64_t task);

/* As above, for stage and task only. */
void log_set_work(int stage, int64_t task);

/*
 * Sets a status line (the console progress bar). It is erased before each log line and redrawn after it. NULL or ""
 * removes it. At most 511 bytes of @text are copied. Only for terminals on which the log alone writes to standard
 * error.
 */
void log_set_status_line(const char *text);
