/*
 * See shuffle_receiver.h. Arbitrary parts are assembled to a record's header or body. A page is decoded, and so
 * verified, before it counts. Pages go to disk a few at a time, so an upload of any size needs little memory, which is
 * not accounted.
 *
 * Invariants: partitions arrive in order, each ended by END. An output is kept only if all its partitions are complete.
 */
#include "shuffle/shuffle_receiver.h"

#include "base/error.h"
#include "base/mem.h"
#include "rpc/transfer/transfer.pb-c.h"
#include "shuffle/shuffle_output.h"
#include "shuffle/shuffle_store.h"
#include "shuffle/shuffle_wire.h"
#include "store/memory.h"
#include "store/page_frame.h"

#define MAX_PARTITIONS (1 << 24)
#define PAGES_HELD 8 /* pages in memory before they are written */

struct receiver {
        struct transfer_sink sink;
        struct shuffle_store *store;
        struct memory_manager *manager;
        int shuffle, map_partition;
        int64_t task_id;
        struct shuffle_output *output;
        struct codec codec;
        uint32_t partition; /* current partition; output->partitions: all are complete */
        uint32_t pages;     /* pages of the current partition so far */
        struct shuffle_record record;
        bool in_body;
        unsigned char *part; /* bytes of a header or body */
        size_t have, want, room;
};

static void receiver_expect(struct receiver *r, size_t n)
{
        r->have = 0;
        r->want = n;
}

static int write_out(struct receiver *r, struct fst_error *error)
{
        size_t freed = 0;
        return shuffle_output_to_disk(r->output, &r->store->space, &freed, error);
}

static int take_page(struct receiver *r, struct fst_error *error)
{
        struct page_frame frame;
        struct page *page;
        int e = page_frame_parse(r->part, r->output->type, &frame, error);
        if (e)
                return e;
        if (frame.payload != r->have - PAGE_FRAME_HEADER)
                return error_set(error, -EBADMSG, "a page's payload has %u bytes in a record of %zu", frame.payload,
                                 r->have);
        e = page_frame_decode(&frame, r->output->type, r->part + PAGE_FRAME_HEADER, &r->codec, NULL, &page, error);
        if (e)
                return e < 0 ? e : error_set(error, -ENOMEM, "no memory for a page");
        shuffle_output_add(r->output, r->partition, page);
        r->pages++;
        return r->output->pages < PAGES_HELD ? 0 : write_out(r, error);
}

static int take_end(struct receiver *r, struct fst_error *error)
{
        if (get_le32(r->part) != r->pages)
                return error_set(error, -EBADMSG, "received %u pages of partition %u instead of %u", r->pages,
                                 r->partition, get_le32(r->part));
        r->pages = 0;
        r->partition++;
        return 0;
}

static int check_record(struct receiver *r, struct fst_error *error)
{
        r->record = shuffle_record_get(r->part);
        if (r->record.map != 0 || r->record.partition != r->partition ||
            r->partition >= (uint32_t)r->output->partitions)
                return error_set(error, -EBADMSG, "received map %u, partition %u instead of partition %u of %d",
                                 r->record.map, r->record.partition, r->partition, r->output->partitions);
        if (r->record.kind == SHUFFLE_PAGE && r->record.length >= PAGE_FRAME_HEADER &&
            r->record.length <= memory_manager_pool(r->manager))
                return 0;
        if (r->record.kind == SHUFFLE_END && r->record.length == 4)
                return 0;
        return error_set(error, r->record.kind == SHUFFLE_GONE ? -ENOENT : -EBADMSG,
                         "invalid record of kind %u with %u bytes", r->record.kind, r->record.length);
}

/* Handles a complete header or body. */
static int take_part(struct receiver *r, struct fst_error *error)
{
        int e;
        if (!r->in_body) {
                e = check_record(r, error);
                receiver_expect(r, r->record.length);
        } else {
                e = r->record.kind == SHUFFLE_PAGE ? take_page(r, error) : take_end(r, error);
                receiver_expect(r, SHUFFLE_RECORD);
        }
        r->in_body = !r->in_body;
        return e;
}

/* Makes room for @n further bytes. The buffer grows with the bytes received, not by the size that the header claims. */
static int make_room(struct receiver *r, size_t n, struct fst_error *error)
{
        if (r->have + n <= r->room)
                return 0;
        size_t room = MAX(2 * r->room, (size_t)4096);
        room = MAX(room, r->have + n);
        unsigned char *grown = mem_try_grow(r->part, room);
        if (!grown)
                return error_set(error, -ENOMEM, "no memory for a page of %zu bytes", r->want);
        r->part = grown;
        r->room = room;
        return 0;
}

static int receiver_write(struct transfer_sink *sink, const void *data, size_t n, struct fst_error *error)
{
        struct receiver *r = container_of(sink, struct receiver, sink);
        const unsigned char *at = data;
        int e = 0;
        while (n > 0 && e == 0) {
                size_t part = MIN(n, r->want - r->have);
                if ((e = make_room(r, part, error)))
                        break;
                memcpy(r->part + r->have, at, part);
                r->have += part;
                at += part;
                n -= part;
                if (r->have == r->want)
                        e = take_part(r, error);
        }
        return e;
}

static int receiver_end(struct transfer_sink *sink, struct fst_error *error)
{
        struct receiver *r = container_of(sink, struct receiver, sink);
        if (r->partition != (uint32_t)r->output->partitions || r->in_body || r->have > 0)
                return error_set(error, -EBADMSG, "the map output is incomplete");
        int e = write_out(r, error);
        if (e == 0)
                e = shuffle_output_finish(r->output, error);
        if (e == 0) {
                shuffle_output_pack(r->output);
                shuffle_store_put(r->store, r->shuffle, r->map_partition, r->task_id, steal(r->output));
        }
        return e;
}

static void receiver_close(struct transfer_sink *sink)
{
        struct receiver *r = container_of(sink, struct receiver, sink);
        shuffle_output_unref(r->output);
        codec_deinit(&r->codec);
        free(r->part);
        free(r);
}

static const struct transfer_sink_class receiver_class = {
        .write = receiver_write, .end = receiver_end, .close = receiver_close};

int shuffle_receiver_open(struct shuffle_store *store, struct memory_manager *manager,
                          const struct Firesteel__PutShuffle *request, struct transfer_sink **sink,
                          struct fst_error *error)
{
        fst_type type = {.key = (uint8_t)request->kinds,
                         .value = (uint8_t)(request->kinds >> 8),
                         .key_size = request->key_size,
                         .value_size = request->value_size};
        if (request->kinds >> 16 || !page_type_valid(type) || request->shuffle < 0 || request->map_partition < 0 ||
            request->map_partition >= MAX_PARTITIONS || request->partitions < 1 || request->partitions > MAX_PARTITIONS)
                return error_set(error, -EINVAL, "invalid request for map %d of shuffle %d with %d partitions",
                                 request->map_partition, request->shuffle, request->partitions);
        struct receiver *r = new0(struct receiver);
        r->sink.class = &receiver_class;
        r->store = store;
        r->manager = manager;
        r->shuffle = request->shuffle;
        r->map_partition = request->map_partition;
        r->task_id = request->task_id;
        r->output = shuffle_output_new(request->partitions, type, manager);
        codec_init(&r->codec, store->space.shuffle_codec, store->space.level);
        receiver_expect(r, SHUFFLE_RECORD);
        *sink = &r->sink;
        return 0;
}
