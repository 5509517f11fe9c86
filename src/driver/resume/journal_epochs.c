/* See journal_epochs.h. */
#include "driver/resume/journal_epochs.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "journal/fields.h"
#include "journal/frame.h"
#include "journal/place.h"

#include <inttypes.h>

#define LOG "DriverResume"

void journal_epochs_deinit(struct journal_epochs *epochs)
{
        for (size_t i = 0; i < epochs->len; i++)
                buf_deinit(&epochs->data[i].bytes);
        vec_deinit(epochs);
}

static int journal_epochs_read_files(struct journal_epochs *epochs, struct journal_place *place, int newest,
                                     struct fst_error *error)
{
        for (int e = 1; e <= newest; e++) {
                struct journal_epoch one = {.epoch = e, .bytes = BUF_INIT};
                int r = journal_place_read(place, e, &one.bytes, error);
                if (r && r != -ENOENT) {
                        buf_deinit(&one.bytes);
                        return r;
                }
                if (r)
                        error_deinit(error);
                vec_push(epochs, one);
        }
        return 0;
}

struct epochs_limits {
        uint64_t *limits; /* bytes of each epoch that count, by epoch - 1 */
        int epoch;        /* the one that is read */
};

/* Takes what the driver of an epoch has read of the earlier ones. */
static int epochs_read_limit(void *context, uint8_t kind, const void *content, size_t size)
{
        struct epochs_limits *of = context;
        if (kind != RESUME_EARLIER)
                return 0;
        struct field_reader f = fields_of(content, size);
        uint64_t epoch = fields_take_number(&f), bytes = fields_take_number(&f);
        if (!fields_are_complete(&f) || epoch < 1 || epoch >= (uint64_t)of->epoch)
                return -EBADMSG;
        of->limits[epoch - 1] = MIN(of->limits[epoch - 1], bytes);
        return 0;
}

/* Sets *@context if the first record is that of a fold, and ends the reading. */
static int epochs_read_fold(void *context, uint8_t kind, const void *content, size_t size)
{
        *(bool *)context = kind == RESUME_FOLD;
        return -ECANCELED;
}

static int epochs_read_record(void *context, uint8_t kind, const void *content, size_t size)
{
        return history_add(context, kind, content, size);
}

/* The index of the epoch from which on records count: the last one that begins with a fold. */
static size_t journal_epochs_base(const struct journal_epochs *epochs, const uint64_t *limits)
{
        struct journal_extent extent;
        bool folded = false;
        size_t i = epochs->len;
        while (i > 0 && !folded) {
                const struct buf *bytes = &epochs->data[--i].bytes;
                journal_read_frames(bytes->data, (size_t)MIN(bytes->len, limits[i]), "", epochs_read_fold, &folded,
                                    &extent, NULL);
        }
        return i;
}

int journal_epochs_read(struct journal_place *place, int newest, struct journal_epochs *epochs, struct history *history,
                        struct fst_error *error)
{
        const size_t n = (size_t)newest;
        _cleanup_free_ uint64_t *limits = new_array(uint64_t, n + 1);
        struct epochs_limits of = {.limits = limits};
        struct journal_extent extent;
        int r = journal_epochs_read_files(epochs, place, newest, error);
        for (size_t i = 0; i < n && r == 0; i++) {
                _cleanup_free_ char *name = mem_printf("%s/epoch-%06zu", journal_place_path(place), i + 1);
                of.epoch = (int)i + 1;
                limits[i] = UINT64_MAX;
                r = journal_read_frames(epochs->data[i].bytes.data, epochs->data[i].bytes.len, name, epochs_read_limit,
                                        &of, &extent, error);
        }
        for (size_t i = r ? n : journal_epochs_base(epochs, limits); i < n && r == 0; i++) {
                struct journal_epoch *one = &epochs->data[i];
                r = journal_read_frames(one->bytes.data, (size_t)MIN(one->bytes.len, limits[i]), "", epochs_read_record,
                                        history, &extent, error);
                one->good = extent.good;
                if (r == 0 && extent.end == JOURNAL_DAMAGED)
                        log_warn(LOG,
                                 "%s/epoch-%06zu is damaged behind byte %" PRIu64 ": what followed is computed again",
                                 journal_place_path(place), i + 1, extent.good);
        }
        return r;
}
