/*
 * One output of a process (stdout or stderr) as pieces: files that are written once, each for a range of the output.
 * The pure core of durable logs: it decides when a piece is written, what is left out, and which pieces are removed.
 *
 *      log_pieces_init(&p, &limits);
 *      log_pieces_put(&p, data, n, now);                ← the process has written
 *      if (log_pieces_next(&p, now, false, &piece))     → write the file, then
 *              log_pieces_written(&p, now);                 or log_pieces_failed(&p, now)
 *      while (log_pieces_take_removal(&p, &range))      → remove that file
 *
 * New output becomes a small piece after `interval`, so that little is lost with the process. Each small piece with less
 * than LOG_PIECE_SMALL bytes doubles the time to the next one, up to `max_interval`: each file costs a request where
 * storage is an object store. LOG_PIECE_SMALL bytes that wait are due after `interval` again. Once `piece_size` bytes
 * have come since the last whole piece, they are written again as one whole piece, and the small ones are removed.
 * Beyond `max_size` the oldest whole pieces are removed. Output faster than `max_rate`, and output that storage does
 * not take in time, is left out, and a line says how much.
 *
 * Invariants. Ranges of whole pieces do not overlap and have no gaps, other than those that max_size leaves at the
 * beginning. A range is removed only when a written piece covers it, or by max_size. At most one piece is being
 * written.
 *
 * Pure: no I/O and no clock; times are ns of any monotonic clock.
 */
#pragma once

#include "base/buf.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* The name of a piece: "stderr.00000000000000000000-00000000000000001024", and a NUL. */
#define LOG_PIECE_NAME 64

/* A small piece with fewer bytes makes the next one wait longer. */
#define LOG_PIECE_SMALL 16384

/* ns from a failure to the next attempt at the end, if the interval is longer. */
#define LOG_PIECES_END_RETRY INT64_C(500000000)

/* Bytes `start` to `end`, exclusive, of the output. */
struct piece_range {
        uint64_t start, end;
};

struct log_limits {
        int64_t interval;     /* ns */
        int64_t max_interval; /* ns; not above `interval`: the interval does not grow */
        int64_t piece_size;  /* bytes of a whole piece; positive */
        int64_t max_size;    /* bytes of all pieces; 0: no limit */
        int64_t max_rate;    /* bytes a second; 0: no limit */
        int64_t max_waiting; /* bytes that wait for storage */
};

/* To be written. Borrowed until the next call. */
struct log_piece {
        struct piece_range range;
        const char *data;
};

struct log_pieces {
        struct log_limits limits;
        struct buf text; /* from `base` on */
        uint64_t base;   /* the end of the last whole piece */
        size_t flushed;  /* bytes of `text` in small pieces */
        VEC(struct piece_range) small, whole, removed;
        size_t n_taken; /* of `removed` */
        bool writing, writing_whole, has_failed;
        struct piece_range current;
        int64_t next_flush, last_put; /* 0: not yet */
        int64_t last_written;         /* when a piece was written or failed */
        int64_t interval;             /* before the next small piece; 0: that of the limits */
        int64_t allowance;            /* bytes that may come at once */
        uint64_t left_out, total_left_out;
};

/* Copies @limits. */
void log_pieces_init(struct log_pieces *p, const struct log_limits *limits);
/* For tests: a shipper ends with its process. */
void log_pieces_deinit(struct log_pieces *p);

void log_pieces_put(struct log_pieces *p, const char *data, size_t n, int64_t now);

/* @n bytes of the output were lost before they came here. */
void log_pieces_leave_out(struct log_pieces *p, size_t n);

/*
 * Whether a piece is due, which @out then describes. With @end, all that no whole piece has is due as one. False while
 * one is written.
 */
bool log_pieces_next(struct log_pieces *p, int64_t now, bool end, struct log_piece *out);

/* The piece of log_pieces_next is stored; or it is not, and is due again after the interval, at the end after a moment. */
void log_pieces_written(struct log_pieces *p, int64_t now);
void log_pieces_failed(struct log_pieces *p, int64_t now);

bool log_pieces_take_removal(struct log_pieces *p, struct piece_range *out);

/* Bytes that are not stored yet. */
size_t log_pieces_waiting(const struct log_pieces *p);

/* ---------------------------------------------------------------------------------------------------------- reading */

const char *log_piece_name(const char *output, struct piece_range range, char name[LOG_PIECE_NAME]);

/* Reads a name: the length of the output's name, and the range. False for another file. */
bool log_piece_parse(const char *name, size_t *output_len, struct piece_range *range);

/*
 * The piece that has most of what follows byte @at of an output, of the @n pieces @ranges, or of the next ones if there
 * is a gap. Returns its index, or @n at the end.
 */
size_t log_pieces_find(const struct piece_range *ranges, size_t n, uint64_t at);
