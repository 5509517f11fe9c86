/*
 * The bytes of a snapshot on their way to pieces or from them; for status_snapshot. See status_snapshot.h.
 *
 * After the first problem of reading, all further values are zero, all lists empty and all texts missing.
 */
#pragma once

#include "base/buf.h"
#include "base/mem.h"
#include "status/status_snapshot.h"

enum { SNAPSHOT_CHECKSUM = sizeof(uint64_t), SNAPSHOT_PIECE_ROOM = STATUS_SNAPSHOT_PIECE - SNAPSHOT_CHECKSUM };

/* Writes if there is @put, reads if there is @get, or else counts. */
struct snapshot_stream {
        status_snapshot_put_fn *put;
        status_snapshot_get_fn *get;
        void *owner;        /* of both */
        uint64_t n_pieces;  /* put, or got; with those before the first one of the stream */
        uint64_t written;   /* bytes, also counted ones */
        uint64_t next_part; /* writing: the first piece of the next part */
        uint64_t in_parts;  /* writing or counting: the bytes of the pieces of all parts so far */
        const struct status_snapshot_source *source; /* reading: where parts lie */
        char *piece;                                 /* writing: with the checksum */
        size_t used;                                 /* bytes of @piece */
        const char *at;                              /* reading: what is left of the last piece */
        size_t here;
        uint64_t left;   /* reading: bytes of the whole stream */
        struct buf text; /* reading: one that does not lie in one piece */
        bool is_bad;
        struct status *status;
};

/* Begins to write. */
void snapshot_stream_begin(struct snapshot_stream *p);

/* Puts the last piece. */
void snapshot_stream_end(struct snapshot_stream *p);
void snapshot_stream_deinit(struct snapshot_stream *p);

/* The pieces that @length bytes take. */
static inline uint64_t snapshot_pieces(uint64_t length)
{
        return (length + SNAPSHOT_PIECE_ROOM - 1) / SNAPSHOT_PIECE_ROOM;
}

/* Takes no more values. */
void snapshot_fail(struct snapshot_stream *p);

/* Writes, counts or reads. */
void snapshot_bytes(struct snapshot_stream *p, void *value, size_t size);
/* The same for a bool: a byte that is 0 or 1. Another one fails, as the value of such a bool is undefined. */
void snapshot_bool(struct snapshot_stream *p, void *value, size_t size);
void snapshot_read_bytes(struct snapshot_stream *p, void *to, size_t size);
void snapshot_write_bytes(struct snapshot_stream *p, const void *from, size_t size);

/* The length of a list, of which each element takes at least @least bytes. */
size_t snapshot_length(struct snapshot_stream *p, size_t length, size_t least);

/* Reads a text that is there until the next value is read. Returns false for no text. */
bool snapshot_read_text(struct snapshot_stream *p, const char **text, uint32_t *length);
char *snapshot_copy_text(struct snapshot_stream *p); /* for the caller, or NULL */
void snapshot_write_text(struct snapshot_stream *p, const char *text);

/* A number, a bool, or a struct of 64-bit numbers. Padding between members would not be the same each time. */
#define VALUE(p, lvalue)                                                                                               \
        _Generic((lvalue), bool : snapshot_bool, default : snapshot_bytes)((p), (void *)&(lvalue), sizeof(lvalue))

/* Reserves the elements of a list and clears them. */
#define LIST(p, list, least)                                                                                           \
        do {                                                                                                           \
                size_t length_ = snapshot_length((p), (list)->len, (least));                                           \
                if ((p)->get && length_) {                                                                             \
                        (list)->data = mem_zero_array(length_, sizeof(*(list)->data));                                 \
                        (list)->len = (list)->cap = length_;                                                           \
                }                                                                                                      \
        } while (0)
