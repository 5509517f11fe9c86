/*
 * See snapshot_stream.h. A piece is the checksum of the rest, which depends on the number of the piece, and bytes of
 * the stream. Reading checks every length against the rest of the stream.
 */
#include "status/snapshot_stream.h"

#include <xxhash.h>

#define SNAPSHOT_NO_TEXT UINT32_MAX

void snapshot_fail(struct snapshot_stream *p)
{
        p->is_bad = true;
        p->here = 0;
        p->left = 0;
}

static void snapshot_put_piece(struct snapshot_stream *p)
{
        uint64_t checksum =
                XXH3_64bits_withSeed(p->piece + SNAPSHOT_CHECKSUM, p->used - SNAPSHOT_CHECKSUM, p->n_pieces++);
        memcpy(p->piece, &checksum, SNAPSHOT_CHECKSUM);
        if (!p->is_bad && !p->put(p->owner, p->piece, p->used))
                snapshot_fail(p);
        p->used = SNAPSHOT_CHECKSUM;
}

void snapshot_write_bytes(struct snapshot_stream *p, const void *values, size_t size)
{
        const char *from = values;
        p->written += size;
        while (p->put && size) {
                size_t n = MIN(size, STATUS_SNAPSHOT_PIECE - p->used);
                memcpy(p->piece + p->used, from, n);
                p->used += n;
                from += n;
                size -= n;
                if (p->used == STATUS_SNAPSHOT_PIECE)
                        snapshot_put_piece(p);
        }
}

static bool snapshot_get_piece(struct snapshot_stream *p)
{
        uint64_t checksum;
        size_t size = 0;
        const char *piece = p->get(p->owner, &size);
        if (!piece || size <= SNAPSHOT_CHECKSUM)
                return false;
        memcpy(&checksum, piece, SNAPSHOT_CHECKSUM);
        p->at = piece + SNAPSHOT_CHECKSUM;
        p->here = size - SNAPSHOT_CHECKSUM;
        return checksum == XXH3_64bits_withSeed(p->at, p->here, p->n_pieces++);
}

void snapshot_read_bytes(struct snapshot_stream *p, void *value, size_t size)
{
        char *to = value;
        if (p->left < size)
                snapshot_fail(p);
        for (size_t done = 0, n; done < size && !p->is_bad; done += n) {
                n = MIN(size - done, p->here);
                if (n) {
                        memcpy(to + done, p->at, n);
                        p->at += n;
                        p->here -= n;
                        p->left -= n;
                } else if (!snapshot_get_piece(p)) {
                        snapshot_fail(p);
                }
        }
        if (p->is_bad)
                memset(to, 0, size);
}

void snapshot_bytes(struct snapshot_stream *p, void *value, size_t size)
{
        if (!size)
                return;
        if (p->get)
                snapshot_read_bytes(p, value, size);
        else
                snapshot_write_bytes(p, value, size);
}

void snapshot_bool(struct snapshot_stream *p, void *value, size_t size)
{
        if (!p->get) {
                snapshot_write_bytes(p, value, size);
                return;
        }
        uint8_t byte = 0;
        snapshot_read_bytes(p, &byte, sizeof(byte));
        if (byte > 1)
                snapshot_fail(p);
        *(bool *)value = byte == 1;
}

void snapshot_stream_begin(struct snapshot_stream *p)
{
        p->piece = mem_alloc(STATUS_SNAPSHOT_PIECE);
        p->used = SNAPSHOT_CHECKSUM;
}

void snapshot_stream_end(struct snapshot_stream *p)
{
        if (p->used > SNAPSHOT_CHECKSUM)
                snapshot_put_piece(p);
}

void snapshot_stream_deinit(struct snapshot_stream *p)
{
        free(p->piece);
        buf_deinit(&p->text);
}

size_t snapshot_length(struct snapshot_stream *p, size_t length, size_t least)
{
        uint64_t n = length;
        VALUE(p, n);
        if (p->get && n > p->left / MAX(least, (size_t)1)) {
                snapshot_fail(p);
                return 0;
        }
        return (size_t)n;
}

bool snapshot_read_text(struct snapshot_stream *p, const char **text, uint32_t *length)
{
        VALUE(p, *length);
        if (*length == SNAPSHOT_NO_TEXT || p->is_bad)
                return false;
        if (p->left < *length) {
                snapshot_fail(p);
                return false;
        }
        if (*length > p->here) {
                buf_reset(&p->text);
                buf_reserve(&p->text, *length);
                snapshot_read_bytes(p, p->text.data, *length);
                *text = p->text.data;
                return !p->is_bad;
        }
        *text = *length ? p->at : "";
        p->at += *length;
        p->here -= *length;
        p->left -= *length;
        return true;
}

void snapshot_write_text(struct snapshot_stream *p, const char *text)
{
        uint32_t length = text ? (uint32_t)strlen(text) : SNAPSHOT_NO_TEXT;
        VALUE(p, length);
        if (text)
                snapshot_write_bytes(p, text, length);
}

char *snapshot_copy_text(struct snapshot_stream *p)
{
        const char *text = NULL;
        uint32_t length = 0;
        return snapshot_read_text(p, &text, &length) ? mem_strndup(text, length) : NULL;
}
