/* Gives an input to a sink as a connection does: in pieces of any size. */
#pragma once

#include "base/error.h"
#include "base/mem.h"
#include "rpc/transfer/transfer_server.h"

/* Writes @data in uneven steps, ends the sink if it took all, and closes it. Returns 0, or the status that it refused with. */
static inline int sink_take_steps(struct transfer_sink *sink, const uint8_t *data, size_t size)
{
        struct fst_error error = FST_ERROR_INIT;
        int r = 0;
        for (size_t at = 0, step = 1; at < size && r == 0; at += step, step = step * 3 % 101 + 1)
                r = sink->class->write(sink, data + at, MIN(step, size - at), &error);
        if (r == 0)
                r = sink->class->end(sink, &error);
        sink->class->close(sink);
        error_deinit(&error);
        return r;
}
