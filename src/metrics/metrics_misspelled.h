/* Warns of lines of metrics.properties without effect: unknown instances, kinds, options, sinks without a class. Once
 * in a process. */
#pragma once

#include <stddef.h>

struct strmap;

/* The instances of Spark's processes, each with a blank behind it. */
#define METRICS_INSTANCES "* driver executor master worker applications shuffleService applicationMaster mesos_cluster "
#define METRICS_KINDS "sink source "

/* Warns if the line of @key does not have the form INSTANCE.sink.NAME.OPTION or INSTANCE.source.NAME.OPTION. */
void metrics_warn_invalid_line(const char *key);

/*
 * Reports sinks without a class, which Spark ignores silently: the first line of each. A line of "*" may serve a class
 * of any instance. @lines: key to value.
 */
void metrics_report_missing_classes(const struct strmap *lines);

/*
 * Warns if @known, names with a blank behind each, lacks the @length bytes of @name. The warning has the @key of the
 * line, and the nearest known name, else all of them. @noun: "an option of sink …".
 */
void metrics_warn_unknown_name(const char *key, const char *noun, const char *name, size_t length, const char *known);
