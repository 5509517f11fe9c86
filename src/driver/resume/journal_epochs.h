/*
 * Reads a journal: the files of its epochs, from the last fold on, into a history.
 *
 * Of each epoch only the bytes count that the driver of a later one has read: an earlier driver that is stuck and wakes
 * up may have added to its file. If several later drivers have read it, the fewest bytes count.
 */
#pragma once

#include "base/buf.h"
#include "driver/resume/history.h"

struct fst_error;
struct journal_place;

struct journal_epochs {
        struct journal_epoch {
                int epoch;
                struct buf bytes;
                uint64_t good; /* how many count, up to the end of a frame */
        } * data;
        size_t len, cap;
};

/*
 * Reads the epochs up to @newest of @place, and adds their records to @history, which borrows from @epochs. An epoch
 * that does not exist is empty. Returns 0, or negative with @error if the journal cannot be read; then the history has
 * a part.
 */
int journal_epochs_read(struct journal_place *place, int newest, struct journal_epochs *epochs, struct history *history,
                        struct fst_error *error);
void journal_epochs_deinit(struct journal_epochs *epochs);
