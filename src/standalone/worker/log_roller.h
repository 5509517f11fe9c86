/*
 * What an executor prints, in files that are rolled over (spark.executor.logs.rolling.*), as Spark's
 * RollingFileAppender does it: stdout, and beside it stdout--2026-11-22--10-15-30--0123 or, compressed, the same with
 * .gz. Without a strategy the executor writes its file itself, and nothing of this is needed.
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
        const char *suffix; /* of strftime, BY_TIME; static */
        int64_t size;       /* bytes, BY_SIZE */
        int retained;       /* rolled files that stay; 0 or less: all */
        bool compress;
};

/*
 * Read the keys. What Spark finds illegal is warned of in its words, and rolls never; what is too small becomes the
 * least that is allowed. Negative with @error for a number that is none.
 */
int log_rolling_read(const struct fst_conf *conf, struct log_rolling *out, struct fst_error *error);

/*
 * The file at @path, to which is appended what is written to *@fd: a pipe's end to give to a child, and to be closed
 * here. @rolling is copied. On the loop; negative with @error if the file cannot be opened.
 */
int log_roller_new(uv_loop_t *loop, const struct log_rolling *rolling, const char *path, struct log_roller **out,
                   int *fd, struct fst_error *error);

/* Nobody writes any more: take what is in the pipe, and close. It is freed when its files are in order. */
void log_roller_finish(struct log_roller *r);
