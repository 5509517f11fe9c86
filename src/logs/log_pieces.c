/* See log_pieces.h. */
#include "logs/log_pieces.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>

#define SECOND INT64_C(1000000000)
#define BURST_SECONDS 8

void log_pieces_init(struct log_pieces *p, const struct log_limits *limits)
{
        *p = (struct log_pieces){.limits = *limits};
        p->allowance = limits->max_rate > INT64_MAX / BURST_SECONDS ? INT64_MAX : limits->max_rate * BURST_SECONDS;
}

void log_pieces_deinit(struct log_pieces *p)
{
        buf_deinit(&p->text);
        vec_deinit(&p->small);
        vec_deinit(&p->whole);
        vec_deinit(&p->removed);
}

size_t log_pieces_waiting(const struct log_pieces *p)
{
        return p->text.len - p->flushed;
}

/* ---------------------------------------------------------------------------------------------------------- limits */

/* How many of @n bytes the rate and the room for waiting output admit. */
static size_t log_pieces_admit(struct log_pieces *p, size_t n, int64_t now)
{
        const int64_t room = p->limits.max_waiting - (int64_t)log_pieces_waiting(p);
        size_t admitted = room < 0 ? 0 : MIN(n, (size_t)room);
        if (p->limits.max_rate <= 0)
                return admitted;
        const int64_t most =
                p->limits.max_rate > INT64_MAX / BURST_SECONDS ? INT64_MAX : p->limits.max_rate * BURST_SECONDS;
        const int64_t elapsed = p->last_put ? MAX(now - p->last_put, (int64_t)0) : 0;
        const double earned = (double)p->limits.max_rate * ((double)elapsed / (double)SECOND);
        p->allowance = earned >= (double)(most - p->allowance) ? most : p->allowance + (int64_t)earned;
        p->last_put = now;
        admitted = MIN(admitted, (size_t)p->allowance);
        p->allowance -= (int64_t)admitted;
        return admitted;
}

static void log_pieces_tell_left_out(struct log_pieces *p)
{
        if (p->left_out)
                buf_printf(&p->text,
                           "\n[%" PRIu64 " bytes are left out here: the output was faster than "
                           "spark.firesteel.logs.maxRate or than its storage]\n",
                           p->left_out);
        p->left_out = 0;
}

void log_pieces_leave_out(struct log_pieces *p, size_t n)
{
        p->left_out += n;
        p->total_left_out += n;
}

void log_pieces_put(struct log_pieces *p, const char *data, size_t n, int64_t now)
{
        const size_t admitted = log_pieces_admit(p, n, now);
        if (admitted && !p->next_flush)
                p->next_flush = now + p->limits.interval;
        if (admitted)
                log_pieces_tell_left_out(p);
        if (admitted)
                buf_append(&p->text, data, admitted);
        log_pieces_leave_out(p, n - admitted);
}

/* --------------------------------------------------------------------------------------------------------- writing */

static bool log_pieces_is_due(const struct log_pieces *p, int64_t now)
{
        const bool much = !p->has_failed && log_pieces_waiting(p) >= LOG_PIECE_SMALL;
        return now >= p->next_flush || (much && now >= p->last_written + p->limits.interval);
}

/* After a piece of @n bytes. */
static void log_pieces_choose_interval(struct log_pieces *p, size_t n)
{
        const int64_t last = p->interval ? p->interval : p->limits.interval;
        p->interval = n >= LOG_PIECE_SMALL ? p->limits.interval : MIN(last * 2, p->limits.max_interval);
        p->interval = MAX(p->interval, p->limits.interval);
}

bool log_pieces_next(struct log_pieces *p, int64_t now, bool end, struct log_piece *out)
{
        if (p->writing ||
            (end && p->has_failed && now < p->last_written + MIN(p->limits.interval, LOG_PIECES_END_RETRY)))
                return false;
        if (end)
                log_pieces_tell_left_out(p);
        const bool whole = end || p->text.len >= (size_t)p->limits.piece_size;
        const size_t from = whole ? 0 : p->flushed;
        /* A whole piece does not wait for the interval, unless the last one failed. */
        if (p->text.len == from || (!end && !log_pieces_is_due(p, now) && (!whole || p->has_failed)))
                return false;
        p->writing = true;
        p->writing_whole = whole;
        p->current = (struct piece_range){p->base + from, p->base + p->text.len};
        *out = (struct log_piece){.range = p->current, .data = p->text.data + from};
        return true;
}

static void log_pieces_remove(struct log_pieces *p, struct piece_range range)
{
        vec_push(&p->removed, range);
}

/* Forgets the oldest whole pieces beyond the limit. */
static void log_pieces_keep_size(struct log_pieces *p)
{
        size_t n = 0;
        while (p->limits.max_size > 0 && n + 1 < p->whole.len &&
               p->whole.data[p->whole.len - 1].end - p->whole.data[n].start > (uint64_t)p->limits.max_size)
                log_pieces_remove(p, p->whole.data[n++]);
        vec_drop(&p->whole, n);
}

void log_pieces_written(struct log_pieces *p, int64_t now)
{
        const size_t end = (size_t)(p->current.end - p->base);
        p->writing = p->has_failed = false;
        log_pieces_choose_interval(p, (size_t)(p->current.end - p->current.start));
        p->last_written = now;
        p->next_flush = now + p->interval;
        if (!p->writing_whole) {
                vec_push(&p->small, p->current);
                p->flushed = end;
                return;
        }
        /* A small piece with all of the text was replaced: the whole one has its name. */
        for (size_t i = 0; i < p->small.len; i++)
                if (p->small.data[i].start != p->current.start || p->small.data[i].end != p->current.end)
                        log_pieces_remove(p, p->small.data[i]);
        p->small.len = 0;
        vec_push(&p->whole, p->current);
        memmove(p->text.data, p->text.data + end, p->text.len - end);
        buf_truncate(&p->text, p->text.len - end);
        p->base += end;
        p->flushed = 0;
        log_pieces_keep_size(p);
}

void log_pieces_failed(struct log_pieces *p, int64_t now)
{
        p->writing = false;
        p->has_failed = true;
        p->last_written = now;
        p->next_flush = now + p->limits.interval;
}

bool log_pieces_take_removal(struct log_pieces *p, struct piece_range *out)
{
        if (p->n_taken < p->removed.len) {
                *out = p->removed.data[p->n_taken++];
                return true;
        }
        p->removed.len = p->n_taken = 0;
        return false;
}

/* --------------------------------------------------------------------------------------------------------- reading */

const char *log_piece_name(const char *output, struct piece_range range, char name[LOG_PIECE_NAME])
{
        snprintf(name, LOG_PIECE_NAME, "%.16s.%020" PRIu64 "-%020" PRIu64, output, range.start, range.end);
        return name;
}

static bool log_piece_parse_number(const char **text, uint64_t *out)
{
        *out = 0;
        for (int i = 0; i < 20; i++, (*text)++) {
                const char digit = **text;
                if (digit < '0' || digit > '9' || *out > (UINT64_MAX - (uint64_t)(digit - '0')) / 10)
                        return false;
                *out = *out * 10 + (uint64_t)(digit - '0');
        }
        return true;
}

bool log_piece_parse(const char *name, size_t *output_len, struct piece_range *range)
{
        const char *p = strrchr(name, '.');
        if (!p || p == name)
                return false;
        *output_len = (size_t)(p++ - name);
        return log_piece_parse_number(&p, &range->start) && *p++ == '-' && log_piece_parse_number(&p, &range->end) &&
               !*p && range->end > range->start;
}

size_t log_pieces_find(const struct piece_range *ranges, size_t n, uint64_t at)
{
        size_t best = n;
        for (size_t i = 0; i < n; i++) {
                const struct piece_range *r = &ranges[i];
                if (r->end <= at)
                        continue;
                const struct piece_range *b = best < n ? &ranges[best] : NULL;
                const uint64_t start = MAX(r->start, at), other = b ? MAX(b->start, at) : 0;
                if (!b || start < other || (start == other && r->end > b->end))
                        best = i;
        }
        return best;
}
