/*
 * A transfer server's connection and its services: the input is sent by a client, after a valid greeting unless its
 * first byte is odd. With bit 1 of that byte the checksums of its frames become valid. The target reads all output. The connection
 * must close or wait.
 */
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/channel.h"
#include "rpc/transfer/transfer_connection.h"
#include "rpc/transfer/transfer_services.h"
#include "shuffle/shuffle_server.h"
#include "shuffle/shuffle_store.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define TYPE FST_I64

static int sink_write(struct transfer_sink *sink, const void *data, size_t n, struct fst_error *error)
{
        return ((const char *)data)[n - 1] == '!' ? error_set(error, -ENOSPC, "no room") : 0;
}

static int sink_end(struct transfer_sink *sink, struct fst_error *error)
{
        return 0;
}

static void sink_close(struct transfer_sink *sink)
{
        free(sink);
}

static const struct transfer_sink_class sink_class = {sink_write, sink_end, sink_close};

static int put_block(void *owner, const struct Firesteel__PutBlock *request, struct transfer_sink **sink,
                     struct fst_error *error)
{
        *sink = new0(struct transfer_sink);
        (*sink)->class = &sink_class;
        return 0;
}

static int fetch_shuffle(void *owner, const struct Firesteel__FetchShuffle *request, struct transfer_stream **stream,
                         struct fst_error *error)
{
        return shuffle_server_open(owner, request, stream, error);
}

static struct shuffle_store *store;

static void free_store(void)
{
        shuffle_store_free(store);
}

/* Stores two small outputs of shuffle 1: maps 0 and 1, tasks 10 and 11, three partitions. */
static void make_store(void)
{
        store = shuffle_store_new(&(struct spill_space){0});
        atexit(free_store);
        for (int m = 0; m < 2; m++) {
                struct shuffle_output *o = shuffle_output_new(3, TYPE, NULL);
                for (uint32_t p = 0; p < 3; p += 2) {
                        struct page *page;
                        int64_t keys[] = {1, 2, 3};
                        fst_batch b = {.rows = 3, .type = TYPE, .key.i64 = keys};
                        if (page_new_small(NULL, TYPE, 256, &page) || page_append(page, &b, 0) != 3)
                                abort();
                        shuffle_output_add(o, p, page);
                }
                shuffle_store_put(store, 1, m, 10 + m, o);
        }
}

/* Makes the checksums of the frames at the start of the stream valid. */
static void make_valid(unsigned char *stream, size_t size)
{
        for (size_t at = 0; at + TRANSFER_HEADER <= size;) {
                unsigned char *frame = stream + at;
                const uint32_t length = get_le32(frame);
                transfer_header(frame, frame[4], length);
                at += TRANSFER_HEADER;
                if (length > size - at)
                        return;
                if (frame[4] <= TRANSFER_PUT && length >= TRANSFER_CRC)
                        transfer_crc(stream + at + length - TRANSFER_CRC, stream + at, length - TRANSFER_CRC);
                at += length;
        }
}

static void drain_socket(int fd)
{
        char buf[65536];
        while (recv(fd, buf, sizeof(buf), MSG_DONTWAIT) > 0)
                ;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static unsigned char scratch[TRANSFER_SCRATCH];
        if (!store) {
                log_set_level(LOG_OFF);
                make_store();
        }
        if (size == 0 || size > 60000)
                return 0;
        struct transfer_services services = {.owner = store, .fetch_shuffle = fetch_shuffle, .put_block = put_block};
        struct transfer_rules rules = {.handler = &transfer_services_handler,
                                       .owner = &services,
                                       .app_id = "app",
                                       .max_request = 4096,
                                       .handshake_ns = 1,
                                       .idle_ns = 1};
        int fds[2], events, r;
        struct channel *channel;
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) || channel_new(fds[0], NULL, CHANNEL_SERVER, &channel, NULL))
                abort();
        struct transfer_connection *c = transfer_connection_new(channel, &rules, 0);
        unsigned char greeting[TRANSFER_GREETING + TRANSFER_APP_ID];
        size_t n = data[0] & 1 ? 0 : transfer_greeting(greeting, "app");
        unsigned char *stream = mem_alloc(size);
        memcpy(stream, data + 1, size - 1);
        if (data[0] & 2)
                make_valid(stream, size - 1);
        if (send(fds[1], greeting, n, MSG_DONTWAIT) < 0 || send(fds[1], stream, size - 1, MSG_DONTWAIT) < 0)
                abort();
        free(stream);
        shutdown(fds[1], SHUT_WR);
        for (int turns = 0; turns < 100000; turns++) {
                struct fst_error error = FST_ERROR_INIT;
                const char *why;
                r = transfer_connection_run(c, turns, scratch, &events, &error);
                (void)transfer_connection_deadline(c, &why);
                for (const char *text = error_message(&error); text && *text; text++)
                        if (*text < ' ' || *text > '~')
                                abort(); /* it is logged */
                error_deinit(&error);
                drain_socket(fds[1]);
                if (r < 0)
                        break;
        }
        if (r >= 0)
                abort(); /* its input has ended */
        transfer_connection_free(c);
        close(fds[1]);
        return 0;
}
