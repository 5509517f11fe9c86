/* See snapshot_tasks.h. */
#include "status/snapshot_tasks.h"

#include "status/columns/task_chunk.h"
#include "status/status_internal.h"

enum { INLINE_CHUNKS = 1 }; /* of a stage; columns with more lie behind all entities, in a part of their own */

/* An open chunk stays open: its rows are stored as arrays. */
static void snapshot_put_open_columns(struct snapshot_stream *p, struct task_chunk *c)
{
        if (!p->get) { /* the same values */
                task_chunk_flush_started(c);
                if (c->ended)
                        task_chunk_flush_ended(c);
        }
        VALUE(p, c->base);
        VALUE(p, c->rising);
        for (size_t i = 0; i < TASK_COLUMNS; i++) {
                bool is_there = c->open[i] != NULL;
                VALUE(p, is_there);
                if (p->get && is_there)
                        c->open[i] = new_array(int64_t, MAX(c->n, (uint16_t)1));
                if (is_there)
                        snapshot_bytes(p, c->open[i], c->n * sizeof(int64_t));
        }
}

static void snapshot_packed_columns(struct snapshot_stream *p, struct task_chunk *c)
{
        size_t bytes = 0, stored = 0; /* with the gaps between columns, and without */
        VALUE(p, c->base);
        VALUE(p, c->greatest);
        VALUE(p, c->width);
        bool is_empty = c->packed == NULL;
        VALUE(p, is_empty);
        for (size_t i = 0; i < TASK_COLUMNS; i++) {
                if (c->width[i] > sizeof(uint64_t))
                        p->is_bad = true;
                if (p->is_bad)
                        return;
                bytes = (bytes + 7) & ~(size_t)7;
                if (p->get)
                        c->place[i] = (uint32_t)bytes;
                bytes += (size_t)c->width[i] * c->n;
                stored += (size_t)c->width[i] * c->n;
        }
        if (is_empty)
                return;
        if (p->get) {
                if (p->left < stored) {
                        snapshot_fail(p);
                        return;
                }
                c->packed = mem_alloc(bytes + 8);
        }
        for (size_t i = 0; i < TASK_COLUMNS; i++) {
                size_t size = (size_t)c->width[i] * c->n, next = i + 1 < TASK_COLUMNS ? c->place[i + 1] : bytes + 8;
                snapshot_bytes(p, c->packed + c->place[i], size);
                if (p->get)
                        memset(c->packed + c->place[i] + size, 0, next - c->place[i] - size);
        }
}

static void snapshot_chunk(struct snapshot_stream *p, struct task_chunk *c)
{
        bool has_removed = c->removed != NULL;
        VALUE(p, c->n);
        VALUE(p, c->n_running);
        VALUE(p, c->n_removed);
        VALUE(p, c->is_sealed);
        VALUE(p, c->all_success);
        VALUE(p, c->first_id);
        VALUE(p, c->last_id);
        VALUE(p, has_removed);
        if (c->n > TASK_CHUNK_ROWS)
                p->is_bad = true;
        if (p->is_bad)
                return;
        if (p->get) {
                c->room = c->n;
                if (has_removed)
                        c->removed = mem_zero(TASK_CHUNK_ROWS / 8);
        }
        if (has_removed)
                snapshot_bytes(p, c->removed, TASK_CHUNK_ROWS / 8);
        if (c->is_sealed)
                snapshot_packed_columns(p, c);
        else
                snapshot_put_open_columns(p, c);
        if (c->is_sealed && !c->packed && c->n_removed < c->n)
                p->is_bad = true;
        if (p->get && c->packed && !p->is_bad)
                task_chunk_list_odd(c);
}

static void snapshot_chunks(struct snapshot_stream *p, struct task_columns *t, size_t n)
{
        for (size_t i = 0; i < n && !p->is_bad; i++) {
                if (p->get && i == t->cap) { /* a damaged number needs no memory */
                        t->cap = MIN(MAX(2 * t->cap, (size_t)16), n);
                        t->chunks = mem_grow(t->chunks, t->cap * sizeof(*t->chunks));
                }
                if (p->get)
                        t->chunks[t->n_chunks++] = task_chunk_new(0);
                size_t bytes = t->chunks[i]->bytes;
                VALUE(p, bytes);
                t->chunks[i]->bytes = bytes;
                snapshot_chunk(p, t->chunks[i]);
        }
        for (size_t i = 0; i < n && !p->is_bad; i++)
                if (t->chunks[i]->n != MIN(t->n_rows - i * TASK_CHUNK_ROWS, (size_t)TASK_CHUNK_ROWS))
                        p->is_bad = true;
}

/* A part of a snapshot: the chunks of one stage, in pieces of their own. */
struct snapshot_part {
        struct task_columns_loader loader;
        const struct status_snapshot_source *source;
        uint64_t n_chunks, length, first_piece;
};

static bool snapshot_part_load(struct task_columns_loader *loader, struct task_columns *t)
{
        struct snapshot_part *part = container_of(loader, struct snapshot_part, loader);
        const struct status_snapshot_source *source = part->source;
        struct snapshot_stream p = {
                .get = source->get, .owner = source->owner, .n_pieces = part->first_piece, .left = part->length};
        bool good = source->open(source->owner, part->first_piece);
        if (good) {
                snapshot_chunks(&p, t, part->n_chunks);
                good = !p.is_bad && !p.left && !p.here;
                snapshot_stream_deinit(&p);
                source->close(source->owner);
        }
        if (!good)
                source->on_lost(source->owner);
        return good;
}

static void snapshot_part_free(struct task_columns_loader *loader)
{
        free(container_of(loader, struct snapshot_part, loader));
}

/* Writes or reads where a part lies. */
static void snapshot_part_place(struct snapshot_stream *p, struct task_columns *t)
{
        uint64_t n_chunks = t->n_chunks, length = 0, first_piece = p->next_part;
        if (!p->get) {
                struct snapshot_stream count = {.status = p->status};
                snapshot_chunks(&count, t, t->n_chunks);
                length = count.written;
                p->next_part += snapshot_pieces(length);
                p->in_parts += length + snapshot_pieces(length) * SNAPSHOT_CHECKSUM;
        }
        VALUE(p, n_chunks);
        VALUE(p, length);
        VALUE(p, first_piece);
        if (!p->get || p->is_bad)
                return;
        if (n_chunks != (t->n_rows + TASK_CHUNK_ROWS - 1) / TASK_CHUNK_ROWS || length / sizeof(int64_t) < n_chunks) {
                p->is_bad = true;
                return;
        }
        struct snapshot_part *part = new0(struct snapshot_part);
        *part = (struct snapshot_part){.loader = {.load = snapshot_part_load, .free = snapshot_part_free},
                                       .source = p->source,
                                       .n_chunks = n_chunks,
                                       .length = length,
                                       .first_piece = first_piece};
        t->loader = &part->loader;
}

void snapshot_columns(struct snapshot_stream *p, struct task_columns *t)
{
        if (!p->get)
                task_columns_load(t);
        bool is_apart = t->n_chunks > INLINE_CHUNKS;
        VALUE(p, is_apart);
        VALUE(p, t->n_rows);
        VALUE(p, t->n_retained);
        VALUE(p, t->bytes);
        VALUE(p, t->unordered);
        if (is_apart)
                snapshot_part_place(p, t);
        else
                snapshot_chunks(p, t, snapshot_length(p, t->n_chunks, sizeof(int64_t)));
}

void snapshot_write_parts(struct snapshot_stream *p)
{
        for (size_t i = 0; i < p->status->stages.len && !p->is_bad; i++) {
                struct task_columns *t = &p->status->stages.data[i]->columns;
                if (t->n_chunks <= INLINE_CHUNKS)
                        continue;
                struct snapshot_stream part = {
                        .put = p->put, .owner = p->owner, .n_pieces = p->n_pieces, .status = p->status};
                snapshot_stream_begin(&part);
                snapshot_chunks(&part, t, t->n_chunks);
                snapshot_stream_end(&part);
                snapshot_stream_deinit(&part);
                p->is_bad = part.is_bad;
                p->n_pieces = part.n_pieces;
        }
}
