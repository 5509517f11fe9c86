/*
 * metrics.properties: which sinks an instance has, by Spark's rules.
 *
 *      *.sink.console.class=org.apache.spark.metrics.sink.ConsoleSink
 *      driver.sink.console.period=20
 *
 * A line is [instance|*].(sink|source).NAME.OPTION=value. An instance takes from `*` the options that it lacks. The
 * configuration's keys spark.metrics.conf.LINE override lines of the file.
 */
#pragma once

#include "base/strmap.h"
#include "base/vec.h"

struct fst_conf;
struct fst_error;

/* One sink or source of an instance. */
struct metrics_part {
        char *name; /* "console"; may contain dots */
        struct strmap options;
        struct strmap keys; /* of each option: its line's key */
};

typedef VEC(struct metrics_part) metrics_part_list;

struct metrics_conf {
        metrics_part_list sinks, sources;
};

/* Adds the lines to @lines, with those that exist without a file, and those of @conf. */
void metrics_conf_read_lines(struct strmap *lines, const struct fst_conf *conf, const char *conf_dir);

/*
 * Reads the parts of @instance ("driver", "executor", "master", …) from the file of spark.metrics.conf, else from
 * metrics.properties in @conf_dir (may be NULL) if it exists, and from @conf. As in Spark, a file that cannot be read
 * is an error in the log, and the application runs. Without a file there are the JSON servlet and its path. Warns of
 * lines whose instance or kind is unknown.
 */
void metrics_conf_read(struct metrics_conf *out, const char *instance, const struct fst_conf *conf,
                       const char *conf_dir);
void metrics_conf_deinit(struct metrics_conf *m);

/*
 * The period of @sink with its options period and unit, in ms. Returns 0, or -EINVAL with Spark's message if it is
 * less than a second or not a number, or with a message of our own if the unit is not one of Java's TimeUnit.
 */
int metrics_conf_period(const struct metrics_part *sink, int64_t *period_ms, struct fst_error *error);

/*
 * Sets *@out, which the caller owns, to the prefix of the metrics of a driver or executor: spark.metrics.namespace, or
 * the application's id, and the executor's id. Returns negative with @error if the namespace refers to an unknown key.
 */
int metrics_conf_prefix(const struct fst_conf *conf, const char *app_id, const char *executor_id, char **out,
                        struct fst_error *error);
