/* Rolls an executor's output files (spark.executor.logs.rolling.*) as Spark's RollingFileAppender does: stdout, and
 * beside it stdout--2026-11-22--10-15-30--0123 or, compressed, the same with .gz. Without a strategy the executor
 * writes its file directly and no roller exists.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct fst_conf;
struct fst_error;
struct log_roller;

enum log_rolling_strategy { ROLL_NEVER, ROLL_BY_TIME, ROLL_BY_SIZE };

struct log_rolling {
        enum log_rolling_strategy strategy;
        int64_t interval;   /* ms, BY_TIME */
        const char *suffix; /* format of strftime, BY_TIME; static */
        int64_t size;       /* bytes, BY_SIZE */
        int retained;       /* rolled files to keep; 0 or less: all */
        bool compress;
};

/* Reads the keys. A value that Spark rejects gives Spark's warning and no rolling. One that is too small becomes the
 * minimum. Negative with @error for an invalid number.
 */
int log_rolling_read(const struct fst_conf *conf, struct log_rolling *out, struct fst_error *error);

/* Opens a roller that appends to the file at @path everything written to *@fd, a pipe end for the child, which the
 * caller closes. @rolling is copied. Runs on the loop; negative with @error if the file cannot be opened.
 */
int log_roller_new(uv_loop_t *loop, const struct log_rolling *rolling, const char *path, struct log_roller **out,
                   int *fd, struct fst_error *error);

/* No process writes any more: reads the rest of the pipe and closes. Frees the roller when its files are complete. */
void log_roller_finish(struct log_roller *r);
