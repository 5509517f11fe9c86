/*
 * The levels that a log4j2.properties (or the log4j.properties of older Sparks) sets.
 *
 *      rootLogger.level = info                         log4j.rootCategory = INFO, console
 *      logger.tsm.name = org.apache.spark.scheduler    log4j.logger.org.apache.spark.scheduler = DEBUG
 *      logger.tsm.level = debug
 *
 * Levels are honoured, also in log4j2's short form `logger.tsm = debug, console`. What says the same as this log
 * does anyway (a console appender on standard error with Spark's pattern) is passed over; everything else gets one
 * warning, which names the first such key.
 */
#pragma once

#include <stddef.h>

struct fst_conf;
struct fst_error;

/*
 * Apply the file at @path, or the @length bytes at @text that @name names in messages. 0, or as properties_load;
 * -EINVAL for a level that there is not. Nothing is applied unless all of it can be.
 */
int log4j2_load(const char *path, struct fst_error *error);
int log4j2_apply(const char *name, const char *text, size_t length, struct fst_error *error);

/*
 * Set the log up as Spark would for an application: INFO, then log4j2.properties (else log4j.properties) of
 * @conf_dir if it is there, then spark.log.level and spark.log.structuredLogging.enabled of @conf. @conf_dir may be
 * NULL. 0, or a negative errno with @error.
 */
int log4j2_configure(const struct fst_conf *conf, const char *conf_dir, struct fst_error *error);
