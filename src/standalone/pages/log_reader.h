/*
 * A range of bytes of the log of an executor or driver, over all its files: those that were rolled over
 * ("stdout--2026-11-22--05-41", ….gz) in the order of their names, then the one that is written.
 *
 * Names come from strangers, and what lies in the directory from applications: neither leads out of the work directory,
 * not by "..", not by symbolic links, and only ordinary files are read.
 */
#pragma once

#include "base/buf.h"

#include <stdint.h>

struct fst_error;

#define MAX_LOG_VIEW (1 << 20) /* bytes at a time */

struct log_range {
        struct buf text;
        int64_t start, end, total;
};

#define LOG_RANGE_INIT ((struct log_range){0})

void log_range_deinit(struct log_range *r);

/* "stdout", "stderr" or "out". */
bool log_view_is_type(const char *type);

/*
 * The name, in @directory, of the file that is a daemon's own log: our standard output if that is one of its files,
 * else the first whose name ends with ".out"; NULL: there is none. The caller owns it.
 */
char *log_view_own(const char *directory);

/*
 * The bytes from *@offset, or, @offset NULL, the last ones; at most @bytes of them, and MAX_LOG_VIEW. @parts: the
 * directories below @work_dir, one after another. 0; -ENOENT, without a word in @error, if there is no such directory;
 * or negative with @error. Blocks: for a thread of its own.
 */
int log_view_read(const char *work_dir, const char *const *parts, int n_parts, const char *type, const int64_t *offset,
                  int64_t bytes, struct log_range *out, struct fst_error *error);
