/*
 * See writer.h.
 *
 * Invariant: `appended` counts bytes that records have added, `durable` those that are on the disk, in the same order.
 * Two buffers take turns: records go into `pending` while the thread writes `writing`.
 */
#include "journal/writer.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "journal/frame.h"
#include "journal/place.h"

#include <pthread.h>
#include <time.h>

#define JOURNAL_LOG "DriverJournal"

struct journal_writer {
        struct journal_place *place;
        struct journal_writer_options options;
        pthread_t thread;
        pthread_mutex_t lock; /* guards the fields below */
        pthread_cond_t wake, written;
        struct buf pending;
        struct buf writing; /* the thread's */
        uint64_t appended, durable;
        uint64_t requested; /* `written` is called once this is durable; 0: nobody has asked */
        int64_t since;      /* when the first record of `pending` was added; ns */
        int waiting;        /* threads in journal_writer_sync */
        bool failed, stopping, folds, looks;

        pthread_mutex_t place_lock; /* guards `place` and the next two */
        bool superseded, removed;
        int64_t looked; /* when the place was last searched for a newer epoch; ns; atomic */
};

static void journal_writer_wait_until(struct journal_writer *w, int64_t ns)
{
        struct timespec until = timespec_of_ns(ns);
        pthread_cond_clockwait(&w->wake, &w->lock, CLOCK_MONOTONIC, &until);
}

bool journal_writer_check_epoch(struct journal_writer *w, int64_t fresh_ms)
{
        pthread_mutex_lock(&w->place_lock);
        int64_t now = now_ns();
        if (now - __atomic_load_n(&w->looked, __ATOMIC_RELAXED) >= ms_to_ns(fresh_ms)) {
                w->superseded = w->superseded || (!w->removed && journal_place_is_superseded(w->place));
                __atomic_store_n(&w->looked, now, __ATOMIC_RELAXED);
        }
        bool superseded = w->superseded;
        pthread_mutex_unlock(&w->place_lock);
        if (superseded && w->options.superseded)
                w->options.superseded(w->options.owner);
        return !superseded;
}

/* Writes w->writing as one frame. On the thread, without the lock. */
static bool journal_writer_write(struct journal_writer *w)
{
        struct fst_error error = FST_ERROR_INIT;
        unsigned char header[JOURNAL_FRAME_HEADER];
        int r = 0;
        if (w->writing.len > MAX_JOURNAL_FRAME) {
                r = error_set(&error, -E2BIG, "%zu bytes were to be written at once", w->writing.len);
        } else {
                journal_frame_header(w->writing.data, w->writing.len, header);
                pthread_mutex_lock(&w->place_lock);
                r = journal_place_append(w->place, header, sizeof(header), w->writing.data, w->writing.len, &error);
                pthread_mutex_unlock(&w->place_lock);
        }
        if (r)
                log_warn(
                        JOURNAL_LOG,
                        "The journal is incomplete from here on, and the application goes on without it: a driver that "
                        "resumes the application repeats what follows: %s",
                        error_message(&error));
        error_deinit(&error);
        return r == 0;
}

/* Waits until there is something to write. Returns false at the end. Under the lock. */
static bool journal_writer_wait(struct journal_writer *w)
{
        for (;;) {
                int64_t now = now_ns();
                if (w->pending.len && (w->waiting || w->stopping || w->requested > w->durable ||
                                       now >= w->since + ms_to_ns(w->options.interval_ms)))
                        return true;
                if (w->stopping)
                        return false;
                if (w->pending.len && !w->looks) {
                        journal_writer_wait_until(w, w->since + ms_to_ns(w->options.interval_ms));
                        continue;
                }
                int64_t until = __atomic_load_n(&w->looked, __ATOMIC_RELAXED) + ms_to_ns(w->options.watch_ms);
                if (now < until && !w->looks) {
                        journal_writer_wait_until(w, until);
                        continue;
                }
                w->looks = false;
                pthread_mutex_unlock(&w->lock);
                journal_writer_check_epoch(w, 0);
                pthread_mutex_lock(&w->lock);
        }
}

/* On the thread, after a write, without the lock. A failure leaves a journal that is only longer. */
static void journal_writer_fold_now(struct journal_writer *w)
{
        _cleanup_(buf_deinit) struct buf body = BUF_INIT;
        struct fst_error error = FST_ERROR_INIT;
        if (!w->options.fold || !w->options.fold(w->options.owner, &body) || body.len > MAX_JOURNAL_FRAME)
                return;
        pthread_mutex_lock(&w->place_lock);
        int r = w->removed ? 0 : journal_place_fold(w->place, body.data, body.len, &error);
        w->superseded = w->superseded || r == -EEXIST;
        pthread_mutex_unlock(&w->place_lock);
        if (r && r != -EEXIST)
                log_warn(JOURNAL_LOG, "The journal stays longer than necessary: %s", error_message(&error));
        error_deinit(&error);
        if (r)
                journal_writer_check_epoch(w, 0);
}

static void *journal_writer_main(void *arg)
{
        struct journal_writer *w = arg;
        pthread_setname_np(pthread_self(), "driver-journal");
        pthread_mutex_lock(&w->lock);
        while (journal_writer_wait(w)) {
                struct buf body = w->pending;
                w->pending = w->writing;
                w->writing = body;
                uint64_t upto = w->appended;
                bool failed = w->failed, requested = w->requested > w->durable;
                pthread_mutex_unlock(&w->lock);
                if (!failed && w->options.looks_first)
                        journal_writer_check_epoch(w, 0);
                if (!failed)
                        failed = !journal_writer_write(w);
                if (!failed || requested) /* a driver without a journal must not commit for another one, either */
                        journal_writer_check_epoch(w, 0);
                buf_reset(&w->writing);
                if (requested && w->options.written)
                        w->options.written(w->options.owner, upto);
                pthread_mutex_lock(&w->lock);
                w->durable = upto;
                w->failed = failed;
                pthread_cond_broadcast(&w->written);
                if (w->folds && !failed && !w->stopping) {
                        w->folds = false;
                        pthread_mutex_unlock(&w->lock);
                        journal_writer_fold_now(w);
                        pthread_mutex_lock(&w->lock);
                }
        }
        pthread_mutex_unlock(&w->lock);
        return NULL;
}

int journal_writer_start(struct journal_place *place, const struct journal_writer_options *options,
                         struct journal_writer **writer, struct fst_error *error)
{
        struct journal_writer *w = new0(struct journal_writer);
        w->place = place;
        w->options = *options;
        w->looked = now_ns();
        pthread_mutex_init(&w->lock, NULL);
        pthread_mutex_init(&w->place_lock, NULL);
        pthread_cond_init(&w->wake, NULL);
        pthread_cond_init(&w->written, NULL);
        int r = -pthread_create(&w->thread, NULL, journal_writer_main, w);
        if (r) {
                w->thread = 0;
                journal_writer_stop(w);
                return error_set(error, r, "cannot start the journal's thread: %s", strerror(-r));
        }
        *writer = w;
        return 0;
}

void journal_writer_remove(struct journal_writer *w)
{
        pthread_mutex_lock(&w->place_lock);
        w->removed = true;
        journal_place_remove(w->place);
        pthread_mutex_unlock(&w->place_lock);
}

void journal_writer_stop(struct journal_writer *w)
{
        if (!w)
                return;
        if (w->thread) {
                pthread_mutex_lock(&w->lock);
                w->stopping = true;
                pthread_cond_signal(&w->wake);
                pthread_mutex_unlock(&w->lock);
                pthread_join(w->thread, NULL);
        }
        pthread_cond_destroy(&w->wake);
        pthread_cond_destroy(&w->written);
        pthread_mutex_destroy(&w->lock);
        pthread_mutex_destroy(&w->place_lock);
        buf_deinit(&w->pending);
        buf_deinit(&w->writing);
        free(w);
}

struct buf *journal_writer_begin(struct journal_writer *w)
{
        pthread_mutex_lock(&w->lock);
        while (w->pending.len > w->options.max_backlog && !w->failed)
                pthread_cond_wait(&w->written, &w->lock);
        if (w->failed)
                buf_reset(&w->pending);
        if (w->pending.len == 0) {
                w->since = now_ns();
                pthread_cond_signal(&w->wake); /* it wakes up when the caller unlocks */
        }
        w->appended -= w->pending.len;
        return &w->pending;
}

void journal_writer_end(struct journal_writer *w)
{
        w->appended += w->pending.len;
        pthread_mutex_unlock(&w->lock);
}

uint64_t journal_writer_position(struct journal_writer *w)
{
        pthread_mutex_lock(&w->lock);
        uint64_t position = w->appended;
        pthread_mutex_unlock(&w->lock);
        return position;
}

void journal_writer_fold(struct journal_writer *w)
{
        pthread_mutex_lock(&w->lock);
        w->folds = true;
        pthread_mutex_unlock(&w->lock);
}

void journal_writer_look(struct journal_writer *w)
{
        pthread_mutex_lock(&w->lock);
        w->looks = true;
        pthread_cond_signal(&w->wake);
        pthread_mutex_unlock(&w->lock);
}

uint64_t journal_writer_request(struct journal_writer *w)
{
        pthread_mutex_lock(&w->lock);
        uint64_t upto = w->appended > w->durable ? w->appended : 0;
        if (upto) {
                w->requested = upto;
                pthread_cond_signal(&w->wake);
        }
        pthread_mutex_unlock(&w->lock);
        return upto;
}

bool journal_writer_sync(struct journal_writer *w)
{
        pthread_mutex_lock(&w->lock);
        const uint64_t upto = w->appended;
        w->waiting++;
        pthread_cond_signal(&w->wake);
        while (w->durable < upto && !w->failed)
                pthread_cond_wait(&w->written, &w->lock);
        w->waiting--;
        bool ok = !w->failed;
        pthread_mutex_unlock(&w->lock);
        return ok;
}
