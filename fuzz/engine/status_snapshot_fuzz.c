/*
 * Any bytes are a status, or are refused. The input is what follows the head, which is made here. Inputs of odd sizes
 * are read in small pieces. A status that is accepted becomes bytes again, with the tasks that lie in parts: each part
 * is the same bytes from their beginning on.
 */
#include "base/buf.h"
#include "base/mem.h"
#include "status/status_snapshot.h"

#include <xxhash.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A piece begins with its checksum. The head of the first one ends with the length of what follows. */
enum { CHECKSUM = 8, LENGTH_AT = CHECKSUM + 24, BODY_AT = CHECKSUM + 32, SMALL_PIECE = 61 };

struct fuzz_pieces {
        const struct buf *bytes; /* without checksums */
        size_t at, size;
        uint64_t n;
        struct buf piece;
};

static bool fuzz_put(void *owner, const void *piece, size_t size)
{
        buf_append(owner, piece, size);
        return true;
}

static const void *fuzz_get(void *owner, size_t *size)
{
        struct fuzz_pieces *p = owner;
        size_t n = MIN(p->size, p->bytes->len - p->at);
        uint64_t checksum = XXH3_64bits_withSeed(p->bytes->data + p->at, n, p->n++);
        buf_reset(&p->piece);
        buf_append(&p->piece, &checksum, sizeof(checksum));
        buf_append(&p->piece, p->bytes->data + p->at, n);
        p->at += n;
        *size = p->piece.len;
        return n ? p->piece.data : NULL;
}

/* The number of the first piece may be any. */
static bool fuzz_open(void *owner, uint64_t piece)
{
        struct fuzz_pieces *p = owner;
        p->at = 0;
        p->n = piece;
        return true;
}

static void fuzz_close(void *owner)
{
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(buf_deinit) struct buf first = BUF_INIT, bytes = BUF_INIT, again = BUF_INIT;
        struct status *empty = status_new(NULL);
        status_snapshot_write(empty, fuzz_put, &first);
        status_free(empty);
        uint64_t length = size;
        memcpy(first.data + LENGTH_AT, &length, sizeof(length));
        buf_append(&bytes, first.data + CHECKSUM, BODY_AT - CHECKSUM);
        buf_append(&bytes, data, size);
        struct fuzz_pieces pieces = {.bytes = &bytes, .size = size % 2 ? (size_t)SMALL_PIECE : bytes.len};
        const struct status_snapshot_source source = {
                .open = fuzz_open, .get = fuzz_get, .close = fuzz_close, .on_lost = fuzz_close, .owner = &pieces};
        struct status *s = status_snapshot_read(&source);
        if (s)
                status_snapshot_write(s, fuzz_put, &again);
        status_free(s);
        buf_deinit(&pieces.piece);
        return 0;
}
