/*
 * Reads the levels of a log4j2.properties file (or log4j.properties of older versions of Spark).
 *
 *      rootLogger.level = info                         log4j.rootCategory = INFO, console
 *      logger.tsm.name = org.apache.spark.scheduler    log4j.logger.org.apache.spark.scheduler = DEBUG
 *      logger.tsm.level = debug
 *
 * Levels are applied, also in log4j2's short form `logger.tsm = debug, console`. Keys that describe this log's own
 * behaviour (a console appender on standard error with Spark's pattern) are ignored. All other keys get one warning,
 * which names the first of them.
 */
#pragma once

#include "base/log.h"

#include <stdbool.h>
#include <stddef.h>

struct fst_conf;
struct fst_error;

/*
 * Apply the file at @path, or the @length bytes at @text, with @name for messages. Returns 0, -EINVAL for an unknown
 * level, or as properties_load. On an error no level changes.
 */
int log4j2_load(const char *path, struct fst_error *error);
int log4j2_apply(const char *name, const char *text, size_t length, struct fst_error *error); /* for tests */

/*
 * Set up the log as Spark would for an application: the default level, then log4j2.properties (else log4j.properties)
 * of @conf_dir if it exists, then spark.log.level and spark.log.structuredLogging.enabled of @conf. @conf_dir may be
 * NULL. Returns 0, or a negative errno with @error.
 */
int log4j2_configure(const struct fst_conf *conf, const char *conf_dir, struct fst_error *error);

/*
 * Set the default level of log4j2_configure, which is INFO at first. Interactive programs choose WARN, as in Spark.
 * Call it before other threads start.
 */
void log4j2_set_default(enum log_level level);

/* Whether spark.log.level of @conf or a file in @conf_dir (or NULL) sets levels. */
bool log4j2_is_configured(const struct fst_conf *conf, const char *conf_dir);
