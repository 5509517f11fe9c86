/*
 * The store of a history server on disk, an SQLite database in spark.history.store.path: what the list shows of each
 * log, and the status cores of applications that were loaded. After a restart no log that did not change is read again.
 *
 * Every change is a transaction: a server that is killed leaves the store as it was before or after a change. The store
 * is a cache. A damaged one, or that of another version, is replaced by an empty one. A failed write is logged.
 *
 * Any thread.
 */
#pragma once

#include "history/history_listing.h"

struct fst_error;
struct history_store;

/*
 * Opens or creates the store in @dir, which is created if missing. @max_bytes limits the status cores. @limits stands
 * for settings that shape them (spark.ui.retained*): those of others are not used. Returns 0, -EBUSY if another server
 * uses the store, or another negative code with @error.
 */
int history_store_open(const char *dir, int64_t max_bytes, const char *limits, struct history_store **out,
                       struct fst_error *error);
void history_store_close(struct history_store *s); /* NULL is allowed */

/* Calls @log for each log, with @dir, the directory that it was found in. It takes over the content of @files and
 * @info. */
void history_store_each(struct history_store *s,
                        void (*log)(void *owner, const char *dir, struct event_log_info *files,
                                    struct history_info *info, int64_t updated_ms),
                        void *owner);

void history_store_put_log(struct history_store *s, const char *dir, const struct event_log_info *files,
                           const struct history_info *info, int64_t updated_ms);
/* Removes a log and its status core, or only the core. */
void history_store_forget(struct history_store *s, const char *path);
void history_store_forget_snapshot(struct history_store *s, const char *path);

/*
 * Writes the status core of a complete log, or of what lies before @position in one that grows, as the pieces that
 * status_snapshot.h makes, @bytes in all. @position is NULL for a complete log. Between begin and end the store writes
 * only for this caller. begin returns false if the core has no room or on failure, and then end must not be called. end
 * with @is_whole false leaves the store as it was before.
 */
bool history_store_begin_snapshot(struct history_store *s, const struct event_log_info *files,
                                  const struct event_log_position *position, uint64_t bytes);
bool history_store_put_piece(void *store, const void *piece, size_t size);
void history_store_end_snapshot(struct history_store *s, bool is_whole);

/* Sets the position up to which the core of a log that grows has been stored last. Returns false if there is none. */
bool history_store_find_position(struct history_store *s, const struct event_log_info *files,
                                 struct event_log_position *out);

/* Reads the core back, from @piece on, counted from 0. open returns false if there is none for the log as it is now,
 * and then leave must not be called. Others who read wait until leave. A piece is there until the next call. */
bool history_store_open_snapshot(struct history_store *s, const struct event_log_info *files,
                                 const struct event_log_position *position, uint64_t piece);
const void *history_store_get_piece(void *store, size_t *size); /* NULL at the end or on failure */
void history_store_leave_snapshot(struct history_store *s);
