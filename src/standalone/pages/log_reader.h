/* Reads a range of bytes of an executor's or driver's log over all its files: rolled ones
 * ("stdout--2026-11-22--05-41", ….gz) in the order of their names, then the current one.
 *
 * Names come from untrusted clients, and applications write the directories: neither ".." nor symbolic links lead out
 * of the work directory, and only regular files are read.
 */
#pragma once

#include "base/buf.h"

#include <stdint.h>

struct fst_error;

#define MAX_LOG_VIEW (1 << 20) /* bytes per request */

struct log_range {
        struct buf text;
        int64_t start, end, total;
};

#define LOG_RANGE_INIT ((struct log_range){0})

void log_range_deinit(struct log_range *r);

/* Returns true for "stdout", "stderr" and "out". */
bool log_view_is_type(const char *type);

/* Returns the name, in @directory, of the daemon's own log: the file that is this process's standard output, else the
 * first whose name ends with ".out"; NULL: none. The caller owns it.
 */
char *log_view_own(const char *directory);

/* Reads from *@offset or, if @offset is NULL, the last bytes; at most @bytes and MAX_LOG_VIEW. @parts: the nested
 * directories below @work_dir. Returns 0; -ENOENT, with @error unset, if there is no such directory; or negative with
 * @error. Blocks: run it on a pool thread.
 */
int log_view_read(const char *work_dir, const char *const *parts, int n_parts, const char *type, const int64_t *offset,
                  int64_t bytes, struct log_range *out, struct fst_error *error);
