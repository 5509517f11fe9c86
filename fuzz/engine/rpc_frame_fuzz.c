/*
 * A connection's bytes: the first byte chooses how they are split and whether the checksums of its frames become valid, the rest
 * is the stream. The frame reader returns complete frames within the limit or an error, and never reads past the end.
 */
#include "base/error.h"
#include "base/mem.h"
#include "net/byte_order.h"
#include "net/crc32c.h"
#include "rpc/frame_reader.h"

#include <stdlib.h>
#include <string.h>

#define MOST 70000

/* Makes the checksums of the complete frames at the start of the stream valid. */
static void make_valid(uint8_t *stream, size_t size)
{
        for (size_t at = 0; at + FRAME_HEADER_SIZE <= size;) {
                uint8_t *frame = stream + at;
                const size_t header = frame_header_size(frame[5]);
                const uint64_t content = get_le32(frame + 20) + (uint64_t)get_le32(frame + 24);
                if (content > size - at - header)
                        return;
                if (header == FRAME_HEADER_SIZE) {
                        put_le32(frame + 32, frame_checksum(frame + header, content, NULL, 0));
                        put_le32(frame + 36, crc32c(frame, 36));
                }
                at += header + content;
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const size_t steps[] = {1, 3, 31, 33, 64, 1000, 4096, 1 << 20};
        static uint8_t scratch[4096];
        if (size == 0)
                return 0;
        size_t step = steps[data[0] % 8], at = 0;
        uint8_t *stream = mem_alloc(size);
        memcpy(stream, data + 1, --size);
        if (data[0] & 8)
                make_valid(stream, size);
        struct frame_reader r;
        struct frame f;
        struct fst_error error = FST_ERROR_INIT;
        int code = 0;
        frame_reader_init(&r, MOST);
        while (at < size && code >= 0) {
                uint8_t *where;
                size_t room;
                frame_reader_room(&r, scratch, sizeof(scratch), &where, &room);
                size_t n = MIN(MIN(step, room), size - at);
                memcpy(where, stream + at, n);
                frame_reader_filled(&r, n);
                at += n;
                unsigned sum = 0;
                while ((code = frame_reader_next(&r, &f, &error)) > 0) {
                        if (f.header.body_len + f.header.attachment_len > MOST ||
                            (f.attachment != NULL) != (f.header.attachment_len > 0))
                                abort();
                        for (size_t i = 0; i < f.header.body_len; i++)
                                sum += f.body[i];
                        for (size_t i = 0; i < f.header.attachment_len; i++)
                                sum += f.attachment[i];
                        if (sum % 3 == 0)
                                free(frame_reader_take_attachment(&r));
                }
        }
        if (code < 0 && !error.message)
                abort();
        free(stream);
        error_deinit(&error);
        frame_reader_deinit(&r);
        return 0;
}
