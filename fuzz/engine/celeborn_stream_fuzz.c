/*
 * Bytes as the fetch port of a Celeborn worker sends them: answers, chunks, batches and pages, as a reduce task reads
 * them. Each batch that counts is taken at most once, and only with a valid page.
 */
#include "base/error.h"
#include "base/mem.h"
#include "celeborn/fetch/celeborn_input.h"
#include "celeborn/fetch/fetch_core.h"
#include "net/channel.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAPS = 16, MAX_STREAM = 60000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int64_t attempt_of(const void *owner, int map)
{
        (void)owner;
        return 100 + map;
}

struct reading {
        struct fetch_connections connections;
        struct chunk_stream stream;
        struct fetch_core core;
        unsigned char header[PAGE_BATCH_HEADER];
        struct codec codec;
        void *scratch;
        size_t room;
};

/* Reads the next page of the stream, like celeborn_input. Returns a status. */
static int reading_do(struct reading *r, const struct fetch_action *action, struct fst_error *error)
{
        struct celeborn_batch batch;
        size_t left;
        int64_t rest;
        struct page *page = NULL;
        int status;
        switch (action->kind) {
        case FETCH_HEAD:
                status = chunk_stream_head(&r->stream, r->header, &batch, &left, error);
                if (status == FST_CHUNK_E_END) {
                        fetch_core_file_end(&r->core, 0);
                        return 0;
                }
                if (status == 0 && celeborn_page_rest(batch) < 0)
                        return -EBADMSG;
                return status ? status : fetch_core_head(&r->core, 0, batch, left);
        case FETCH_SKIP:
                rest = celeborn_page_rest(celeborn_batch_get(r->header));
                status = chunk_stream_skip(&r->stream, (size_t)rest, error);
                if (status == 0)
                        fetch_core_skipped(&r->core, 0);
                return status;
        case FETCH_TAKE:
                status = celeborn_page_read(&r->stream, r->header, FST_PAIR(I64, BYTES), NULL, &r->codec, &r->scratch,
                                            &r->room, &page, error);
                if (status == 0)
                        fetch_core_taken(&r->core, 0);
                if ((status == 0) != (page != NULL))
                        abort();
                page_free(NULL, page);
                return status;
        default:
                return -EIO; /* opens it only once */
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const struct chunk_file file = {.key = "app-0", .name = "0-0-0", .n_maps = MAPS};
        struct fetch_location at = {.copies = {0, -1}};
        struct reading r = {0};
        struct channel *channel;
        struct fst_error error = FST_ERROR_INIT;
        int ends[2], status = 0;
        if (size > MAX_STREAM || socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
                return 0;
        if (send(ends[1], data, size, MSG_NOSIGNAL) != (ssize_t)size || shutdown(ends[1], SHUT_WR) ||
            channel_new(ends[0], NULL, CHANNEL_CLIENT, &channel, NULL))
                abort();
        fetch_connections_init(&r.connections, 0, 0, -1);
        codec_init(&r.codec, CODEC_NONE, 1);
        const bool sorted = size % 2;
        fetch_core_init(
                &r.core,
                &(struct fetch_core_config){
                        .locations = &at, .n = 1, .n_maps = MAPS, .sorted = sorted, .attempt = attempt_of, .tries = 1});
        if (chunk_stream_attach(&r.stream, &r.connections, channel, &file, &error) == 0) {
                fetch_core_opened(&r.core, 0);
                for (int map = sorted ? 0 : -1; map < (sorted ? MAPS : 0) && status == 0; map++) {
                        struct fetch_action action;
                        while (status == 0 && (action = fetch_core_next(&r.core, map, 0)).kind != FETCH_END)
                                status = reading_do(&r, &action, &error);
                }
        }
        chunk_stream_close(&r.stream);
        fetch_core_deinit(&r.core);
        fetch_connections_deinit(&r.connections);
        codec_deinit(&r.codec);
        free(r.scratch);
        error_deinit(&error);
        shutdown(ends[1], SHUT_RDWR);
        close(ends[1]);
        return 0;
}
