/*
 * The log: lines as Spark writes them, to standard error.
 *
 *      26/11/21 10:15:00 INFO TaskSchedulerImpl: Adding task set 0.0 with 2 tasks resource profile 0
 *
 * or, with log_set_structured(true), one JSON object a line with "ts", "level", "msg", "context" (application,
 * stage and task ids of the calling thread) and "logger". Levels may be set for a component by name or for all;
 * a level that is off costs one comparison. Safe from every thread; a line is written by one write(2).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fst_error;

enum log_level { LOG_OFF, LOG_FATAL, LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_TRACE };

/* The most talkative level that any component has: what the macros below look at first. */
extern enum log_level log_threshold;

#define log_at(level, component, ...)                                                                                  \
        do {                                                                                                           \
                if ((level) <= log_threshold)                                                                          \
                        log_write((level), (component), __VA_ARGS__);                                                  \
        } while (0)
#define log_error(component, ...) log_at(LOG_ERROR, component, __VA_ARGS__)
#define log_warn(component, ...) log_at(LOG_WARN, component, __VA_ARGS__)
#define log_info(component, ...) log_at(LOG_INFO, component, __VA_ARGS__)
#define log_debug(component, ...) log_at(LOG_DEBUG, component, __VA_ARGS__)

/* @component is the name Spark's users know: "SparkContext", "DAGScheduler", "TaskSetManager", … */
void log_write(enum log_level level, const char *component, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* "INFO", "warn", …; 0, or -EINVAL with the names that there are. */
int log_level_parse(const char *name, enum log_level *level, struct fst_error *error);

/* The level of everything that has none of its own. Starts as LOG_WARN until configured. */
void log_set_level(enum log_level level);
void log_set_structured(bool json);

/* What this thread works on, for structured lines; -1 and NULL clear. @app_id is borrowed. */
void log_set_context(const char *app_id, int stage, int64_t task);

/*
 * A status line (the console progress bar) that log lines must not tear: @text is erased before a log line and
 * drawn again after it. NULL or "" removes it. Only for terminals; copied.
 */
void log_set_status_line(const char *text);
