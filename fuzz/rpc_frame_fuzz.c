/*
 * A connection's bytes: the first byte chooses how they are split, the rest is the stream. The frame reader returns
 * complete frames within the limit or an error, and never reads past the end.
 */
#include "base/error.h"
#include "rpc/frame_reader.h"

#include <stdlib.h>
#include <string.h>

#define MOST 70000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const size_t steps[] = {1, 3, 31, 33, 64, 1000, 4096, 1 << 20};
        static uint8_t scratch[4096];
        if (size == 0)
                return 0;
        size_t step = steps[data[0] % 8], at = 1;
        struct frame_reader r;
        struct frame f;
        struct fst_error error = FST_ERROR_INIT;
        int code = 0;
        frame_reader_init(&r, MOST);
        while (at < size && code >= 0) {
                uint8_t *where;
                size_t room;
                frame_reader_room(&r, scratch, sizeof(scratch), &where, &room);
                size_t n = step < room ? step : room;
                n = n < size - at ? n : size - at;
                memcpy(where, data + at, n);
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
        error_deinit(&error);
        frame_reader_deinit(&r);
        return 0;
}
