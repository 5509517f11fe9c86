/*
 * See shuffle_server.h.
 *
 * One call of `next` gathers a batch: the pages of as many outputs as make a good size for one write, with headers in a
 * buffer of the stream. Checksums are computed just before the kernel copies the pages, so that these are in the
 * processor's cache: batches are small.
 *
 * Invariant: the outputs in `held` are pinned. The call after the one that returned their pages releases them.
 */
#include "shuffle/shuffle_server.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "rpc/transfer/transfer.pb-c.h"
#include "shuffle/shuffle_output.h"
#include "shuffle/shuffle_store.h"
#include "shuffle/shuffle_wire.h"
#include "store/file_cipher.h"
#include "store/page_pool.h"
#include "store/spill.h"

#include <stdio.h>

#define BATCH ((size_t)256 << 10) /* minimum bytes of a batch that is large enough */
#define HEADERS 4096
#define HELD 32
#define LARGEST (SHUFFLE_RECORD + PAGE_FRAME_HEADER) /* headers of the largest record */

struct serving {
        struct transfer_stream stream;
        struct shuffle_outputs from;
        int shuffle, first, end; /* reduce partitions */
        uint32_t n_maps;
        int32_t *maps;
        int64_t *task_ids;
        uint32_t skip;

        uint32_t map;                  /* the current map */
        struct shuffle_output *output; /* its output, pinned, and the last one in held; NULL: not opened yet */
        int partition;
        uint32_t pages;          /* its pages sent or skipped */
        const struct page *page; /* next page in memory */
        const struct page *last;
        uint32_t extent;   /* next page on disk: index + 1 */
        uint64_t large_at; /* current offset in an extent larger than a block */
        uint32_t large_left;

        struct shuffle_output *held[HELD];
        int n_held;
        unsigned char *block; /* for data from disk */
        size_t block_used;
        size_t headers_used;
        unsigned char headers[HEADERS];
        char sentence[SHUFFLE_SENTENCE];
};

/* The batch being gathered. */
struct serving_batch {
        struct iovec *iov;
        int n, max;
        size_t bytes;
        bool full;
};

static void release_held(struct serving *s, int keep)
{
        for (int i = 0; i < s->n_held - keep; i++) {
                shuffle_output_unpin(s->held[i]);
                shuffle_output_unref(s->held[i]);
        }
        if (keep && s->n_held)
                s->held[0] = s->held[s->n_held - 1];
        s->n_held = keep && s->n_held ? 1 : 0;
}

static void batch_add(struct serving_batch *b, const void *data, size_t n)
{
        if (n == 0)
                return;
        struct iovec *last = b->n ? &b->iov[b->n - 1] : NULL;
        if (last && (const char *)last->iov_base + last->iov_len == data)
                last->iov_len += n;
        else
                b->iov[b->n++] = (struct iovec){(void *)data, n};
        b->bytes += n;
}

/* Appends a record's header with room for @more bytes behind it. */
static unsigned char *put_record(struct serving *s, struct serving_batch *b, enum shuffle_record_kind kind,
                                 uint32_t length, size_t more)
{
        unsigned char *p = s->headers + s->headers_used;
        shuffle_record_put(p, (struct shuffle_record){(uint32_t)kind, s->map, (uint32_t)s->partition, length});
        s->headers_used += SHUFFLE_RECORD + more;
        batch_add(b, p, SHUFFLE_RECORD + more);
        return p + SHUFFLE_RECORD;
}

static void put_end_record(struct serving *s, struct serving_batch *b)
{
        put_le32(put_record(s, b, SHUFFLE_END, 4, 4), s->pages);
}

static void next_map(struct serving *s)
{
        s->output = NULL;
        s->map++;
        s->partition = s->first;
        s->skip = 0;
}

/* Sends a GONE record for the current map and continues with the next. */
static void put_gone(struct serving *s, struct serving_batch *b, const char *why)
{
        int n = snprintf(s->sentence, sizeof(s->sentence), "%s", why);
        size_t len = MIN((size_t)MAX(n, 0), sizeof(s->sentence) - 1);
        put_record(s, b, SHUFFLE_GONE, (uint32_t)len, 0);
        batch_add(b, s->sentence, len);
        b->full = true; /* there is one buffer for a sentence */
        next_map(s);
}

static void begin_partition(struct serving *s)
{
        const struct shuffle_partition *at = shuffle_output_at(s->output, s->partition);
        s->last = at ? at->last : NULL;
        s->page = s->last ? s->last->next : NULL;
        s->extent = at ? at->extents : 0;
        s->pages = 0;
        for (; s->pages < s->skip && s->extent; s->pages++)
                s->extent = s->output->extents[s->extent - 1].next;
        for (; s->pages < s->skip && s->page; s->pages++)
                s->page = s->page == s->last ? NULL : s->page->next;
        s->skip = 0;
}

static void begin_map(struct serving *s, struct serving_batch *b)
{
        struct shuffle_output *o = s->from.get(s->from.owner, s->shuffle, s->maps[s->map], s->task_ids[s->map]);
        char why[160];
        if (!o) {
                snprintf(why, sizeof(why), "the output of map %d (task %lld) of shuffle %d is not here (any more)",
                         s->maps[s->map], (long long)s->task_ids[s->map], s->shuffle);
                put_gone(s, b, why);
                return;
        }
        if (s->end > o->partitions) {
                snprintf(why, sizeof(why), "shuffle %d has %d partitions, fewer than the %d requested", s->shuffle,
                         o->partitions, s->end);
                shuffle_output_unref(o);
                put_gone(s, b, why);
                return;
        }
        if (s->end == s->first + 1 && shuffle_output_is_empty(o, s->first)) { /* nothing to hold while it is sent */
                s->pages = s->skip = 0;
                put_end_record(s, b);
                shuffle_output_unref(o);
                next_map(s);
                return;
        }
        shuffle_output_pin(o);
        s->held[s->n_held++] = s->output = o;
        begin_partition(s);
}

/* ---------------------------------------------------------------------------------------------------- from disk */

/* Appends the header of a page on disk. Its bytes follow unchanged. */
static void put_extent(struct serving *s, struct serving_batch *b, const struct shuffle_extent *e)
{
        const uint8_t *seal = spill_sealed(s->output->file);
        if (!seal) {
                put_record(s, b, SHUFFLE_PAGE, e->length, 0);
                return;
        }
        unsigned char *p = put_record(s, b, SHUFFLE_SEALED, e->length + SHUFFLE_SEAL, SHUFFLE_SEAL);
        memcpy(p, seal, FILE_IV);
        put_le32(p + FILE_IV, (uint32_t)e->offset);
        put_le32(p + FILE_IV + 4, (uint32_t)(e->offset >> 32));
}

/*
 * Sends a page larger than the block piece by piece. Its size was sent already, so unreadable bytes are replaced by
 * zeros. The reader's checksum finds the damage.
 */
static void put_large_extent(struct serving *s, struct serving_batch *b)
{
        struct fst_error error = FST_ERROR_INIT;
        size_t n = MIN(PAGE_BLOCK, (size_t)s->large_left);
        int r = spill_read_bytes(s->output->file, s->large_at, s->block, n, &error);
        if (r) {
                log_error("ShuffleServer", "sending a damaged page of shuffle %d: %s", s->shuffle,
                          error_message(&error));
                error_deinit(&error);
                memset(s->block, 0, n);
        }
        batch_add(b, s->block, n);
        s->large_at += n;
        s->large_left -= (uint32_t)n;
        b->full = true; /* the block is in use */
}

/* Sends as many consecutive pages on disk as fit into the block. */
static void put_extents(struct serving *s, struct serving_batch *b)
{
        struct fst_error error = FST_ERROR_INIT;
        const struct shuffle_extent *all = s->output->extents, *e = &all[s->extent - 1];
        if (!s->block && !(s->block = page_pool_get())) {
                put_gone(s, b, "no memory to read a map output from disk");
                return;
        }
        if (e->length > PAGE_BLOCK - s->block_used && s->block_used) {
                b->full = true;
                return;
        }
        if (e->length > PAGE_BLOCK) {
                put_extent(s, b, e);
                s->large_at = e->offset;
                s->large_left = e->length;
                s->extent = e->next;
                s->pages++;
                put_large_extent(s, b);
                return;
        }
        int room = MIN((b->max - b->n) / 2, (int)((HEADERS - s->headers_used) / LARGEST));
        uint64_t start = e->offset, end = e->offset;
        uint32_t x = s->extent;
        for (int n = 0;
             x && n < room && all[x - 1].offset == end && end + all[x - 1].length - start <= PAGE_BLOCK - s->block_used;
             n++) {
                end += all[x - 1].length;
                x = all[x - 1].next;
        }
        unsigned char *to = s->block + s->block_used;
        int r = spill_read_bytes(s->output->file, start, to, (size_t)(end - start), &error);
        if (r) {
                log_error("ShuffleServer", "map output %d of shuffle %d: %s", s->maps[s->map], s->shuffle,
                          error_message(&error));
                put_gone(s, b, error_message(&error));
                error_deinit(&error);
                return;
        }
        s->block_used += (size_t)(end - start);
        for (; s->extent != x; s->extent = all[s->extent - 1].next) {
                put_extent(s, b, &all[s->extent - 1]);
                batch_add(b, to, all[s->extent - 1].length);
                to += all[s->extent - 1].length;
                s->pages++;
        }
}

/* --------------------------------------------------------------------------------------------------- the stream */

static void put_memory_page(struct serving *s, struct serving_batch *b)
{
        const struct page *page = s->page;
        if (b->bytes && page->used > UINT32_MAX / 2) {
                b->full = true; /* a batch's size has 32 bits */
                return;
        }
        unsigned char *header = put_record(s, b, SHUFFLE_PAGE, PAGE_FRAME_HEADER + page->used, PAGE_FRAME_HEADER);
        page_frame_header(page, header);
        batch_add(b, page->data, page->used);
        s->page = page == s->last ? NULL : page->next;
        s->pages++;
}

static bool batch_has_room(const struct serving *s, const struct serving_batch *b)
{
        return !b->full && b->bytes < BATCH && b->n + 3 <= b->max && s->headers_used + LARGEST <= HEADERS &&
               s->n_held < HELD;
}

static int serving_next(struct transfer_stream *stream, struct iovec *iov, int max, struct fst_error *error)
{
        struct serving *s = container_of(stream, struct serving, stream);
        struct serving_batch b = {.iov = iov, .max = max};
        release_held(s, s->output ? 1 : 0);
        s->headers_used = s->block_used = 0;
        while (s->map < s->n_maps && batch_has_room(s, &b)) {
                if (!s->output) {
                        begin_map(s, &b);
                } else if (s->large_left) {
                        put_large_extent(s, &b);
                } else if (s->extent) {
                        put_extents(s, &b);
                } else if (s->page) {
                        put_memory_page(s, &b);
                } else {
                        put_end_record(s, &b);
                        if (++s->partition < s->end)
                                begin_partition(s);
                        else
                                next_map(s);
                }
        }
        return b.n;
}

static void serving_close(struct transfer_stream *stream)
{
        struct serving *s = container_of(stream, struct serving, stream);
        release_held(s, 0);
        if (s->from.close)
                s->from.close(s->from.owner);
        page_pool_put(s->block);
        free(s->maps);
        free(s->task_ids);
        free(s);
}

static const struct transfer_stream_class serving_class = {.next = serving_next, .close = serving_close};

static int refuse_request(const struct shuffle_outputs *outputs, const struct Firesteel__FetchShuffle *request,
                          struct fst_error *error)
{
        if (outputs->close)
                outputs->close(outputs->owner);
        return error_set(error, -EINVAL, "invalid request for %zu maps of %zu tasks, partitions %d up to %d",
                         request->n_map_partitions, request->n_map_task_ids, request->first_partition,
                         request->end_partition);
}

int shuffle_server_open_from(const struct shuffle_outputs *outputs, const struct Firesteel__FetchShuffle *request,
                             struct transfer_stream **stream, struct fst_error *error)
{
        if (request->n_map_partitions != request->n_map_task_ids || request->first_partition < 0 ||
            request->end_partition <= request->first_partition)
                return refuse_request(outputs, request, error);
        struct serving *s = new0(struct serving);
        s->stream.class = &serving_class;
        s->from = *outputs;
        s->shuffle = request->shuffle;
        s->first = s->partition = request->first_partition;
        s->end = request->end_partition;
        s->skip = request->skip_pages;
        s->n_maps = (uint32_t)request->n_map_partitions;
        s->maps = new_array(int32_t, s->n_maps + 1);
        s->task_ids = new_array(int64_t, s->n_maps + 1);
        if (s->n_maps) {
                memcpy(s->maps, request->map_partitions, s->n_maps * sizeof(*s->maps));
                memcpy(s->task_ids, request->map_task_ids, s->n_maps * sizeof(*s->task_ids));
        }
        *stream = &s->stream;
        return 0;
}

static struct shuffle_output *get_stored(void *owner, int shuffle, int map_partition, int64_t task_id)
{
        return shuffle_store_get(owner, shuffle, map_partition, task_id);
}

int shuffle_server_open(struct shuffle_store *store, const struct Firesteel__FetchShuffle *request,
                        struct transfer_stream **stream, struct fst_error *error)
{
        return shuffle_server_open_from(&(struct shuffle_outputs){.get = get_stored, .owner = store}, request, stream,
                                        error);
}
