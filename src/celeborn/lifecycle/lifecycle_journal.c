/* See lifecycle_journal.h. */
#include "celeborn/lifecycle/lifecycle_journal.h"

#include "base/error.h"
#include "celeborn/lifecycle/lifecycle_internal.h"
#include "journal/fields.h"

#define MAX_PAST_SHUFFLES (1 << 23)                       /* their places are below REMOTE_PLACES */
#define UNKNOWN_NUMBERS 256                               /* that a driver may have used without a durable record */
#define LAST_FIRST_NUMBER (MAX_PAST_SHUFFLES - (1 << 20)) /* so many are left for a driver's own shuffles */
#define MAX_PAST_COLUMN (1 << 24)                         /* maps, partitions */
#define MAX_PAST_COLUMNS (1 << 26) /* of all shuffles together: a record of some bytes asks for memory for them */

/* ------------------------------------------------------------------------------------------------------- writing */

static void lifecycle_record_begin(struct buf *out, enum lifecycle_record kind)
{
        buf_putc(out, (char)kind);
}

void lifecycle_record_application(struct buf *out, const char *app_id)
{
        lifecycle_record_begin(out, LIFECYCLE_RECORD_APPLICATION);
        fields_put_text(out, app_id);
}

void lifecycle_record_numbers(struct buf *out, int32_t first)
{
        lifecycle_record_begin(out, LIFECYCLE_RECORD_NUMBERS);
        fields_put_number(out, (uint64_t)first);
}

void lifecycle_record_shuffle(struct buf *out, const struct lifecycle_past_shuffle *shuffle)
{
        lifecycle_record_begin(out, LIFECYCLE_RECORD_SHUFFLE);
        fields_put_number(out, (uint64_t)shuffle->number);
        fields_put_number(out, (uint64_t)shuffle->shuffle);
        fields_put_number(out, (uint64_t)shuffle->maps);
        fields_put_number(out, (uint64_t)shuffle->partitions);
}

/* Steals @record. */
static void journal_push(struct lifecycle *l, struct buf *record, bool strict)
{
        queue_push(&l->actions,
                   (struct lifecycle_action){LIFECYCLE_JOURNAL, .journal = {.record = *record, .strict = strict}});
}

/* Begins a record about @s. Returns false if there is no journal. */
static bool journal_begin(const struct lifecycle *l, enum lifecycle_record kind, const struct lifecycle_shuffle *s,
                          struct buf *record)
{
        *record = BUF_INIT;
        if (!l->config.journaled)
                return false;
        lifecycle_record_begin(record, kind);
        fields_put_number(record, (uint64_t)s->id);
        return true;
}

static void journal_workers(struct lifecycle *l)
{
        for (; l->journaled_workers < l->workers.len; l->journaled_workers++) {
                const struct celeborn_worker *at = &l->workers.data[l->journaled_workers].at;
                struct buf record = BUF_INIT;
                lifecycle_record_begin(&record, LIFECYCLE_RECORD_WORKER);
                fields_put_text(&record, at->host);
                fields_put_number(&record, (uint64_t)at->rpc_port);
                fields_put_number(&record, (uint64_t)at->push_port);
                fields_put_number(&record, (uint64_t)at->fetch_port);
                fields_put_number(&record, (uint64_t)at->replicate_port);
                journal_push(l, &record, false);
        }
}

void journal_locations(struct lifecycle *l, struct lifecycle_shuffle *s)
{
        struct buf record = BUF_INIT;
        bool replaces = false;
        if (!l->config.journaled)
                return;
        for (int p = 0; p < s->partitions; p++) {
                struct lifecycle_location *at = s->newest[p] >= 0 ? &s->locations.data[s->newest[p]] : NULL;
                if (!at || at->journaled || !location_is_open(at))
                        continue;
                if (!record.len) {
                        journal_workers(l);
                        lifecycle_record_begin(&record, LIFECYCLE_RECORD_LOCATIONS);
                        fields_put_number(&record, (uint64_t)s->id);
                }
                at->journaled = true;
                replaces |= at->previous >= 0;
                fields_put_number(&record, (uint64_t)at->partition);
                fields_put_number(&record, (uint64_t)at->epoch);
                for (int mode = 0; mode < 2; mode++)
                        fields_put_number(&record, (uint64_t)(at->worker[mode] + 1));
        }
        if (record.len)
                journal_push(l, &record, replaces);
}

void journal_committing(struct lifecycle *l, const struct lifecycle_shuffle *s, const int32_t *attempts)
{
        struct buf record;
        if (!journal_begin(l, LIFECYCLE_RECORD_COMMITTING, s, &record))
                return;
        for (int m = 0; m < s->maps; m++)
                fields_put_number(&record, (uint64_t)((int64_t)attempts[m] + 1));
        journal_push(l, &record, true);
}

void journal_committed(struct lifecycle *l, const struct lifecycle_shuffle *s)
{
        struct buf record;
        if (!journal_begin(l, LIFECYCLE_RECORD_COMMITTED, s, &record))
                return;
        for (size_t i = 0; i < s->locations.len; i++) {
                const struct lifecycle_location *at = &s->locations.data[i];
                if (!at->journaled)
                        continue;
                fields_put_number(&record, (uint64_t)at->partition);
                fields_put_number(&record, (uint64_t)at->epoch);
                for (int mode = 0; mode < 2; mode++)
                        fields_put_number(&record, at->copy[mode]);
        }
        journal_push(l, &record, false);
}

void journal_gone(struct lifecycle *l, const struct lifecycle_shuffle *s)
{
        struct buf record;
        if (!journal_begin(l, LIFECYCLE_RECORD_GONE, s, &record))
                return;
        journal_push(l, &record, s->phase == SHUFFLE_OPEN);
}

void journal_stopped(struct lifecycle *l)
{
        struct buf record = BUF_INIT;
        if (!l->config.journaled)
                return;
        lifecycle_record_begin(&record, LIFECYCLE_RECORD_STOPPED);
        journal_push(l, &record, true);
}

/* ------------------------------------------------------------------------------------------------------- reading */

int lifecycle_record_kind(fst_bytes record)
{
        return record.len ? (unsigned char)record.data[0] : 0;
}

/* The fields of a record of @kind. */
static struct field_reader record_fields(fst_bytes record, enum lifecycle_record kind)
{
        struct field_reader f = fields_of(record.data + 1, record.len ? record.len - 1 : 0);
        f.bad = lifecycle_record_kind(record) != (int)kind;
        return f;
}

int lifecycle_read_application(fst_bytes record, char **app_id)
{
        struct field_reader f = record_fields(record, LIFECYCLE_RECORD_APPLICATION);
        char *id = f.bad ? NULL : fields_take_text(&f);
        if (id && *id && fields_are_complete(&f)) {
                *app_id = id;
                return 0;
        }
        free(id);
        return -EBADMSG;
}

int lifecycle_read_shuffle(fst_bytes record, struct lifecycle_past_shuffle *shuffle)
{
        struct field_reader f = record_fields(record, LIFECYCLE_RECORD_SHUFFLE);
        const struct lifecycle_past_shuffle read = {.number = (int32_t)fields_take_limited(&f, MAX_PAST_SHUFFLES),
                                                    .shuffle = (int)fields_take_limited(&f, INT32_MAX),
                                                    .maps = (int)fields_take_limited(&f, MAX_PAST_COLUMN),
                                                    .partitions = (int)fields_take_limited(&f, MAX_PAST_COLUMN)};
        if (!fields_are_complete(&f))
                return -EBADMSG;
        *shuffle = read;
        return 0;
}

static int lifecycle_read_numbers(fst_bytes record, int32_t *first)
{
        struct field_reader f = record_fields(record, LIFECYCLE_RECORD_NUMBERS);
        const int32_t read = (int32_t)fields_take_limited(&f, MAX_PAST_SHUFFLES);
        if (!fields_are_complete(&f))
                return -EBADMSG;
        *first = read;
        return 0;
}

int32_t lifecycle_next_number(const fst_bytes *records, size_t n)
{
        struct lifecycle_past_shuffle past;
        int32_t next = 0, first;
        for (size_t i = 0; i < n; i++) {
                if (lifecycle_read_shuffle(records[i], &past) == 0)
                        next = MAX(next, past.number + 1);
                else if (lifecycle_read_numbers(records[i], &first) == 0)
                        next = MAX(next, first);
        }
        next += UNKNOWN_NUMBERS;
        return next <= LAST_FIRST_NUMBER ? next : -1;
}

static int restore_worker(struct lifecycle *l, struct field_reader *f)
{
        struct lifecycle_worker worker = {.at.host = fields_take_text(f)};
        worker.at.rpc_port = (int)fields_take_limited(f, UINT16_MAX);
        worker.at.push_port = (int)fields_take_limited(f, UINT16_MAX);
        worker.at.fetch_port = (int)fields_take_limited(f, UINT16_MAX);
        worker.at.replicate_port = (int)fields_take_limited(f, UINT16_MAX);
        if (!fields_are_complete(f) || !*worker.at.host) {
                free(worker.at.host);
                return -EBADMSG;
        }
        vec_push(&l->workers, worker);
        l->journaled_workers = l->workers.len;
        return 0;
}

static int restore_shuffle(struct lifecycle *l, fst_bytes record)
{
        struct lifecycle_past_shuffle past;
        const int r = lifecycle_read_shuffle(record, &past);
        if (r || lifecycle_shuffle(l, past.number) ||
            (l->restored_columns += past.maps + past.partitions) > MAX_PAST_COLUMNS)
                return -EBADMSG;
        struct lifecycle_shuffle *s = lifecycle_add(l, past.number, past.maps, past.partitions);
        s->phase = SHUFFLE_OPEN;
        s->requested = s->announced = true;
        return 0;
}

/* The shuffle that a record names; NULL: it is not known, or has gone. */
static struct lifecycle_shuffle *restore_known(const struct lifecycle *l, struct field_reader *f)
{
        struct lifecycle_shuffle *s = lifecycle_shuffle(l, (int32_t)fields_take_limited(f, MAX_PAST_SHUFFLES));
        return f->bad || !s || s->phase == SHUFFLE_DROPPED ? NULL : s;
}

static int restore_locations(struct lifecycle *l, struct field_reader *f)
{
        struct lifecycle_shuffle *s = restore_known(l, f);
        while (s && !f->bad && f->at < f->end) {
                struct lifecycle_location at = {.partition = (int32_t)fields_take_limited(f, INT32_MAX),
                                                .epoch = (int32_t)fields_take_limited(f, INT32_MAX - 1),
                                                .mount = {-1, -1},
                                                .journaled = true};
                for (int mode = 0; mode < 2; mode++) {
                        at.worker[mode] = (int32_t)fields_take_limited(f, l->workers.len) - 1;
                        at.copy[mode] = at.worker[mode] >= 0 ? COPY_RESERVED : COPY_NONE;
                }
                if (f->bad || at.partition >= s->partitions || at.worker[CELEBORN_PRIMARY] < 0)
                        return -EBADMSG;
                at.previous = s->newest[at.partition];
                if (at.previous >= 0 && s->locations.data[at.previous].epoch >= at.epoch)
                        return -EBADMSG;
                s->newest[at.partition] = (int32_t)s->locations.len;
                vec_push(&s->locations, at);
        }
        return s && !f->bad ? 0 : -EBADMSG;
}

static int restore_committing(struct lifecycle *l, struct field_reader *f)
{
        struct lifecycle_shuffle *s = restore_known(l, f);
        if (!s || s->phase != SHUFFLE_OPEN || s->attempts || f->end - f->at < s->maps)
                return -EBADMSG;
        s->attempts = new_array(int32_t, (size_t)MAX(s->maps, 1));
        for (int m = 0; m < s->maps && !f->bad; m++)
                s->attempts[m] = (int32_t)((int64_t)fields_take_limited(f, (uint64_t)INT32_MAX + 1) - 1);
        return fields_are_complete(f) ? 0 : -EBADMSG;
}

static int restore_committed(struct lifecycle *l, struct field_reader *f)
{
        struct lifecycle_shuffle *s = restore_known(l, f);
        if (!s || !s->attempts)
                return -EBADMSG;
        while (!f->bad && f->at < f->end) {
                const uint64_t partition = fields_take_limited(f, INT32_MAX), epoch = fields_take_limited(f, INT32_MAX);
                const uint8_t copies[2] = {(uint8_t)fields_take_limited(f, COPY_LOST),
                                           (uint8_t)fields_take_limited(f, COPY_LOST)};
                struct lifecycle_location *at = f->bad || partition >= (uint64_t)s->partitions
                                                        ? NULL
                                                        : lifecycle_location_of(s, (int32_t)partition, (int32_t)epoch);
                if (!at)
                        return -EBADMSG;
                memcpy(at->copy, copies, sizeof(copies));
        }
        s->phase = SHUFFLE_COMMITTED;
        return f->bad ? -EBADMSG : 0;
}

int lifecycle_restore(struct lifecycle *l, fst_bytes record)
{
        const int kind = lifecycle_record_kind(record);
        struct field_reader f = record_fields(record, (enum lifecycle_record)kind);
        struct lifecycle_shuffle *s;
        int32_t first;
        switch (kind) {
        case LIFECYCLE_RECORD_WORKER:
                return restore_worker(l, &f);
        case LIFECYCLE_RECORD_SHUFFLE:
                return restore_shuffle(l, record);
        case LIFECYCLE_RECORD_LOCATIONS:
                return restore_locations(l, &f);
        case LIFECYCLE_RECORD_COMMITTING:
                return restore_committing(l, &f);
        case LIFECYCLE_RECORD_COMMITTED:
                return restore_committed(l, &f);
        case LIFECYCLE_RECORD_GONE: /* lost, and dropped later */
                s = lifecycle_shuffle(l, (int32_t)fields_take_limited(&f, MAX_PAST_SHUFFLES));
                if (!s || !fields_are_complete(&f))
                        return -EBADMSG;
                lifecycle_forget(s);
                return 0;
        case LIFECYCLE_RECORD_NUMBERS:
                return lifecycle_read_numbers(record, &first);
        default:
                return -EBADMSG;
        }
}

/* Lets every worker that is known take further locations. */
static void restored_candidates(const struct lifecycle *l, struct lifecycle_shuffle *s)
{
        for (size_t w = 0; w < l->workers.len; w++)
                vec_push(&s->candidates, (int32_t)w);
}

void lifecycle_restored(struct lifecycle *l, int64_t now)
{
        for (size_t i = 0; i < l->shuffles.len; i++) {
                struct lifecycle_shuffle *s = l->shuffles.data[i];
                if (!s || s->phase != SHUFFLE_OPEN)
                        continue;
                bool complete = true;
                for (int p = 0; p < s->partitions && complete; p++)
                        complete = s->newest[p] >= 0;
                if (!complete) { /* no executor was told of it */
                        lifecycle_drop(l, s->id, now);
                        continue;
                }
                restored_candidates(l, s);
                if (s->attempts)
                        commit_begin(l, s, s->attempts, now);
        }
}

enum lifecycle_past_state lifecycle_past(const struct lifecycle *l, int32_t shuffle)
{
        const struct lifecycle_shuffle *s = lifecycle_shuffle(l, shuffle);
        if (!s || s->phase == SHUFFLE_DROPPED || s->phase == SHUFFLE_LOST)
                return LIFECYCLE_PAST_GONE;
        return s->phase == SHUFFLE_OPEN ? LIFECYCLE_PAST_OPEN : LIFECYCLE_PAST_ENDED;
}
