/*
 * The URLs of executors' logs by a pattern, spark.history.custom.executor.log.url: {{NAME}} is an attribute of the
 * executor.
 * {{FILE_NAME}} is each file that the attribute LOG_FILES lists, which gives several URLs. Spark's
 * ExecutorLogUrlHandler has the rules. Pure.
 */
#pragma once

#include "base/strmap.h"

/*
 * Sets @out, which is empty, to the URLs by the names of files, or to one named "log". Returns false and sets nothing
 * if the executor lacks an attribute.
 */
bool history_log_urls_apply(const char *pattern, const struct strmap *attributes, struct strmap *out);
