/*
 * Serves blocks and accepts replicas; see block_manager.h. Runs on threads of a transfer server.
 *
 * A block in memory is sent as it is stored, compressed or not. A block on disk is read page by page, checked and sent
 * uncompressed. An upload arrives in arbitrary pieces, which are assembled to a frame, checked, and appended to the
 * block as a task would append them.
 */
#include "exec/blocks/block_manager_internal.h"

#include "base/error.h"
#include "base/mem.h"
#include "exec/blocks/broadcasts.h"
#include "exec/exec_env.h"
#include "net/byte_order.h"
#include "rpc/transfer/transfer.h"
#include "rpc/transfer/transfer.pb-c.h"
#include "store/page_frame.h"
#include "store/storage_level.h"

/* ---------------------------------------------------------------------------------------------------- partitions */

#define FRAMES 16 /* pages in one writev */

struct block_stream {
        struct transfer_stream stream;
        struct block *block;
        const struct page *frames; /* next page of a compressed block */
        bool typed;                /* the type still has to be sent */
        bool released;             /* release the block with the stream */
        struct block_reader reader;
        unsigned char type[BLOCK_PUT_HEADER];
        unsigned char headers[FRAMES][PAGE_FRAME_HEADER];
};

static int block_next(struct transfer_stream *stream, struct iovec *iov, int max, struct fst_error *error)
{
        struct block_stream *s = container_of(stream, struct block_stream, stream);
        int n = 0;
        if (s->typed)
                iov[n++] = (struct iovec){s->type, sizeof(s->type)};
        s->typed = false;
        for (; s->frames && n < max; s->frames = s->frames->next)
                iov[n++] = (struct iovec){(void *)s->frames->data, s->frames->used};
        if (block_frames(s->block))
                return n;
        for (int i = 0; i < FRAMES && n + 2 <= max; i++) {
                const struct page *page;
                int r = block_reader_next_page(&s->reader, &page, error);
                if (r)
                        return r;
                if (!page)
                        break;
                page_frame_header(page, s->headers[i]);
                iov[n++] = (struct iovec){s->headers[i], PAGE_FRAME_HEADER};
                iov[n++] = (struct iovec){(void *)page->data, page->used};
                if (s->reader.loaded)
                        break; /* the next page takes this one's place */
        }
        return n;
}

static void block_close(struct transfer_stream *stream)
{
        struct block_stream *s = container_of(stream, struct block_stream, stream);
        block_reader_deinit(&s->reader);
        if (s->released)
                block_release(s->block);
        free(s);
}

static const struct transfer_stream_class block_stream_class = {.next = block_next, .close = block_close};

int block_stream_new(struct block *block, bool typed, bool release, struct transfer_stream **stream,
                     struct fst_error *error)
{
        struct block_stream *s = new0(struct block_stream);
        fst_type t = block_type(block);
        int r = block_reader_init(&s->reader, block, error);
        if (r) {
                free(s);
                return r;
        }
        s->stream.class = &block_stream_class;
        s->block = block;
        s->frames = block_frames(block);
        s->typed = typed;
        s->released = release;
        put_le32(s->type, (uint32_t)t.key | (uint32_t)t.value << 8);
        put_le32(s->type + 4, t.key_size);
        put_le32(s->type + 8, t.value_size);
        *stream = &s->stream;
        return 0;
}

static int open_partition(struct block_manager *m, struct block_name name, struct transfer_stream **stream,
                          struct fst_error *error)
{
        struct block *block = block_store_find(m->env->blocks, (struct block_id){(int)name.id, name.part});
        if (!block)
                return error_set(error, -ENOENT, "the block is not here (any more)");
        int r = block_stream_new(block, false, true, stream, error);
        if (r)
                block_release(block);
        return r;
}

/* ------------------------------------------------------------------------------------------------------- results */

struct result_stream {
        struct transfer_stream stream;
        struct block_manager *manager;
        struct kept_task_result *result;
        bool sent;
};

static int result_next(struct transfer_stream *stream, struct iovec *iov, int max, struct fst_error *error)
{
        struct result_stream *s = container_of(stream, struct result_stream, stream);
        if (s->sent)
                return 0;
        s->sent = true;
        iov[0] = (struct iovec){s->result->region.data, s->result->region.size};
        return 1;
}

static void result_close(struct transfer_stream *stream)
{
        struct result_stream *s = container_of(stream, struct result_stream, stream);
        kept_result_unref(s->manager, s->result);
        free(s);
}

static const struct transfer_stream_class result_stream_class = {.next = result_next, .close = result_close};

static int open_result(struct block_manager *m, struct block_name name, struct transfer_stream **stream,
                       struct fst_error *error)
{
        struct kept_task_result *result = kept_result_find(m, name.id);
        if (!result)
                return error_set(error, -ENOENT, "the result is not here (any more)");
        struct result_stream *s = new0(struct result_stream);
        *s = (struct result_stream){{&result_stream_class}, m, result, false};
        *stream = &s->stream;
        return 0;
}

int block_manager_fetch_block(void *manager, const struct Firesteel__FetchBlock *request,
                              struct transfer_stream **stream, struct fst_error *error)
{
        struct block_manager *m = manager;
        struct block_name name;
        int r;
        if (!block_name_parse(request->name, &name))
                return error_set(error, -EINVAL, "the block name is invalid");
        switch (name.kind) {
        case BLOCK_RDD:
                r = open_partition(m, name, stream, error);
                break;
        case BLOCK_BROADCAST:
                r = m->env->broadcasts ? broadcasts_open(m->env->broadcasts, name.id, name.part, stream, error)
                                       : error_set(error, -ENOENT, "this process has no broadcast variables");
                break;
        case BLOCK_TASK_RESULT:
                r = open_result(m, name, stream, error);
                break;
        default:
                r = error_set(error, -ENOENT, "executors do not serve blocks of this kind");
        }
        return r ? error_wrap(error, r, "%s", request->name) : 0;
}

/* ------------------------------------------------------------------------------------------------------ replicas */

struct block_sink {
        struct transfer_sink sink;
        struct block_manager *manager;
        struct block_id id;
        enum fst_storage_level level;
        fst_type type;
        bool begun;                  /* the type was read */
        struct block_writer *writer; /* NULL: the block exists or is being made here, and the upload is dropped */
        struct page_cursor cursor;
        struct page_frame frame;
        struct codec codec;
        bool in_payload;
        unsigned char *part; /* bytes of a header or payload */
        size_t have, want, room;
};

static void sink_expect(struct block_sink *s, size_t n)
{
        s->have = 0;
        s->want = n;
}

/* Handles the block's beginning: decides whether the block is needed. */
static int sink_begin(struct block_sink *s, struct fst_error *error)
{
        uint32_t kinds = get_le32(s->part);
        fst_type t = {.key = (uint8_t)kinds,
                      .value = (uint8_t)(kinds >> 8),
                      .key_size = get_le32(s->part + 4),
                      .value_size = get_le32(s->part + 8)};
        if (kinds >> 16 || !page_type_valid(t))
                return error_set(error, -EBADMSG, "the replica has an invalid row type");
        s->type = t;
        s->begun = true;
        page_cursor_init(&s->cursor, t);
        struct block *there = NULL;
        /* `holds_memory` keeps it from waiting for a task of this executor. */
        struct block_asker asker = {.task = s, .holds_memory = true};
        int r = block_store_acquire(s->manager->env->blocks, &asker, s->id, s->level, t, &there, &s->writer);
        if (r == 0)
                block_release(there);
        return r < 0 ? error_set(error, r, "the block cannot be stored") : 0;
}

static int sink_page(struct block_sink *s, struct fst_error *error)
{
        struct page *page;
        fst_batch batch;
        int r = page_frame_decode(&s->frame, s->type, s->part, &s->codec, NULL, &page, error);
        if (r)
                return r < 0 ? r : error_set(error, -ENOMEM, "no memory for a page");
        page_cursor_start(&s->cursor, page);
        while (r == 0 && s->writer && page_cursor_next(&s->cursor, &batch))
                r = block_writer_append(s->writer, &batch, error);
        page_free(NULL, page);
        return r == FST_BLOCK_E_GIVEN_UP ? error_set(error, -ENOMEM, "no memory for a replica") : r;
}

/* Handles a complete header or payload. */
static int sink_part(struct block_sink *s, struct fst_error *error)
{
        int r;
        if (!s->begun) {
                r = sink_begin(s, error);
                sink_expect(s, PAGE_FRAME_HEADER);
        } else if (!s->in_payload) {
                r = page_frame_parse(s->part, s->type, &s->frame, error);
                if (r == 0 && s->frame.payload > memory_manager_pool(s->manager->env->memory))
                        r = error_set(error, -EMSGSIZE, "a page of %u bytes is larger than the memory here",
                                      s->frame.payload);
                s->in_payload = true;
                if (r == 0)
                        sink_expect(s, s->frame.payload);
        } else {
                r = sink_page(s, error);
                s->in_payload = false;
                sink_expect(s, PAGE_FRAME_HEADER);
        }
        return r;
}

/* Makes room for @n further bytes. The buffer grows with the bytes received, not by the size that the header claims. */
static int sink_room(struct block_sink *s, size_t n, struct fst_error *error)
{
        if (s->have + n <= s->room)
                return 0;
        size_t room = MAX(2 * s->room, PAGE_BLOCK);
        room = MAX(room, s->have + n);
        room = MIN(room, s->want);
        unsigned char *grown = mem_try_grow(s->part, room);
        if (!grown)
                return error_set(error, -ENOMEM, "no memory for a page of %zu bytes", s->want);
        s->part = grown;
        s->room = room;
        return 0;
}

static int sink_write(struct transfer_sink *sink, const void *data, size_t n, struct fst_error *error)
{
        struct block_sink *s = container_of(sink, struct block_sink, sink);
        const unsigned char *at = data;
        int r = 0;
        while (n > 0 && r == 0) {
                size_t part = MIN(n, s->want - s->have);
                if ((r = sink_room(s, part, error)))
                        break;
                memcpy(s->part + s->have, at, part);
                s->have += part;
                at += part;
                n -= part;
                if (s->have == s->want)
                        r = sink_part(s, error);
        }
        return r;
}

static int sink_end(struct transfer_sink *sink, struct fst_error *error)
{
        struct block_sink *s = container_of(sink, struct block_sink, sink);
        if (!s->begun || s->in_payload || s->have > 0)
                return error_set(error, -EBADMSG, "the replica ends within a page");
        if (!s->writer)
                return 0;
        int r = block_writer_commit(steal(s->writer), error);
        return r > 0 ? error_set(error, -ENOMEM, "no room for a replica") : r;
}

static void sink_close(struct transfer_sink *sink)
{
        struct block_sink *s = container_of(sink, struct block_sink, sink);
        block_writer_abort(s->writer);
        if (s->begun)
                page_cursor_deinit(&s->cursor);
        codec_deinit(&s->codec);
        free(s->part);
        free(s);
}

static const struct transfer_sink_class sink_class = {.write = sink_write, .end = sink_end, .close = sink_close};

int block_manager_put_block(void *manager, const struct Firesteel__PutBlock *request, struct transfer_sink **sink,
                            struct fst_error *error)
{
        struct block_name name;
        if (!block_name_parse(request->name, &name) || name.kind != BLOCK_RDD)
                return error_set(error, -EINVAL, "only partitions of RDDs have replicas");
        if (!storage_level_valid(request->storage_level) || request->storage_level == FST_STORAGE_NONE)
                return error_set(error, -EINVAL, "%s: %d is not a storage level", request->name,
                                 request->storage_level);
        struct block_sink *s = new0(struct block_sink);
        *s = (struct block_sink){.sink.class = &sink_class,
                                 .manager = manager,
                                 .id = {(int)name.id, name.part},
                                 .level = (enum fst_storage_level)request->storage_level,
                                 .want = BLOCK_PUT_HEADER};
        block_store_codec(s->manager->env->blocks, &s->codec);
        *sink = &s->sink;
        return 0;
}
