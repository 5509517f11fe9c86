/*
 * Bytes from a launcher's socket: the first byte chooses how they are split. The reader returns messages, which can be
 * written again, or an error.
 */
#include "base/error.h"
#include "rpc/launcher_wire.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const size_t steps[] = {1, 7, 64, MAX_LAUNCHER_MESSAGE};
        if (size == 0)
                return 0;
        size_t step = steps[data[0] % 4];
        struct launcher_reader r = LAUNCHER_READER_INIT;
        struct launcher_writer w = LAUNCHER_WRITER_INIT;
        struct launcher_message m;
        struct fst_error error = FST_ERROR_INIT;
        struct buf out = BUF_INIT;
        int code = 0;
        for (size_t at = 1; at < size && code == 0; at += step) {
                launcher_reader_feed(&r, data + at, step < size - at ? step : size - at);
                while ((code = launcher_reader_next(&r, &m, &error)) > 0) {
                        if ((unsigned)m.kind > LAUNCHER_STOP || (unsigned)m.state >= LAUNCHER_STATES)
                                abort();
                        buf_reset(&out);
                        if (launcher_writer_put(&w, &m, &out, NULL) != 0 || out.len == 0)
                                abort();
                        launcher_message_deinit(&m);
                }
        }
        if ((code < 0) != (error.message != NULL))
                abort();
        error_deinit(&error);
        buf_deinit(&out);
        launcher_reader_deinit(&r);
        return 0;
}
