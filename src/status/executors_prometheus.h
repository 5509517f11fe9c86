/*
 * The text of /metrics/executors/prometheus, under Spark's names: what each active executor of an application has done,
 * and the peaks of its memory. Pure.
 */
#pragma once

#include "base/buf.h"

struct status;

/*
 * Appends one line for each number of each active executor, after "spark_info", which names @version and @revision of
 * the program. An executor without peaks has no lines of them. Seconds are numbers with a fraction, sizes are bytes.
 */
void executors_prometheus_put(const struct status *s, const char *version, const char *revision, struct buf *out);
