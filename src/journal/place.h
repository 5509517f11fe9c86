/*
 * Where the journal of an application lies: a directory with one file for each epoch.
 *
 *      DIR/APPLICATION/epoch-000001    the records of the first driver
 *      DIR/APPLICATION/epoch-000002    those of the driver that resumed it
 *
 * On HDFS and in an object store, which have no durable append, an epoch is a sequence of small files, one for each
 * write: epoch-000001-0000000, epoch-000001-0000001, …
 *
 * A driver takes an epoch by creating its file, which fails if the file exists. A driver may take further epochs.
 * Exactly one driver therefore has an epoch, and the newest epoch has the application. A driver reads the files of
 * earlier epochs only after it has taken its own, and looks for a newer epoch after each write: either its write comes
 * before that reading, or it notices the newer driver.
 *
 * Any thread, one at a time.
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct fst_error;
struct journal_place;

#define MAX_JOURNAL_EPOCH 999999

/* Returns 0 if @id can be the name of a journal's directory, or -EINVAL with an @error that states the rule. */
int journal_place_check_id(const char *id, struct fst_error *error);

/*
 * Opens the place of application @id below @directory (a path or URI of a file system) and creates the directories.
 * @id becomes the name of a directory. Returns -EINVAL for an id that is not a file name, or the errors of the file
 * system, with @error.
 */
int journal_place_open(const char *directory, const char *id, struct journal_place **place, struct fst_error *error);

/* The same for a place that exists: -ENOENT with @error if it does not. */
int journal_place_find(const char *directory, const char *id, struct journal_place **place, struct fst_error *error);

/* NULL is allowed. */
void journal_place_free(struct journal_place *place);

/* True if each look at the place and each write is a request to a server. */
bool journal_place_is_remote(const struct journal_place *place);

/* The directory, for messages. */
const char *journal_place_path(const struct journal_place *place);

/* The newest epoch, 0 if there is none, or negative with @error. */
int journal_place_newest(struct journal_place *place, struct fst_error *error);

/*
 * Takes @epoch and begins its file; a place that has one already gives it up. Returns -EEXIST with @error if another
 * driver has it, -ENOTSUP if the store creates files that exist.
 */
int journal_place_take(struct journal_place *place, int epoch, struct fst_error *error);

/* Appends the content of the file of @epoch to @out. Returns 0, -ENOENT, or another negative errno, with @error. May
 * run beside another call. */
int journal_place_read(struct journal_place *place, int epoch, struct buf *out, struct fst_error *error);

/* Appends a frame to the taken epoch. It is durable when this returns 0. */
int journal_place_append(struct journal_place *place, const void *header, size_t header_size, const void *body,
                         size_t size, struct fst_error *error);

/*
 * Writes and reads a small file NAME beside those of the epochs, readable by its owner only; writing replaces an earlier
 * one. Reading returns 0, -ENOENT, or another negative errno, with @error. NAME does not begin as an epoch's file does.
 */
int journal_place_put(struct journal_place *place, const char *name, const char *text, struct fst_error *error);
int journal_place_get(struct journal_place *place, const char *name, struct buf *out, struct fst_error *error);

/*
 * The address of the driver that has @epoch, for executors that look for it: the file driver-000002. Other processes
 * may read it while that driver runs. journal_place_find_driver finds the newest one above @after: it returns its epoch
 * and appends its address to @out, or returns 0 if there is none, or negative with @error.
 */
int journal_place_publish(struct journal_place *place, int epoch, const char *url, struct fst_error *error);
int journal_place_find_driver(struct journal_place *place, int after, struct buf *out, struct fst_error *error);

/*
 * True if a newer epoch than the taken one exists: another driver has the application. Also if the file of the taken
 * one is gone: that driver has ended the application and removed the journal.
 */
bool journal_place_is_superseded(struct journal_place *place);

/*
 * Replaces the journal by @body, the records that it comes to: takes the next epoch, writes them there as one frame,
 * and removes the files of earlier epochs. A driver that is killed meanwhile leaves the earlier epochs, or the new one
 * complete, or both: a reader prefers the new one, by its first record. Returns -EEXIST with @error if another driver
 * has the application, or another error: if the epoch was taken, records may be appended to it.
 */
int journal_place_fold(struct journal_place *place, const void *body, size_t size, struct fst_error *error);

/* The taken epoch. It grows when the journal is folded. */
int journal_place_epoch(const struct journal_place *place);

/*
 * Removes the journal. Renames its directory to PATH.removed first, so that a driver that is killed here leaves the
 * whole journal or none.
 */
void journal_place_remove(struct journal_place *place);
