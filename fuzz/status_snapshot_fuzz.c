/*
 * Any bytes are a status, or are refused. The input is what follows the head, which is made here so that the checksum
 * does not refuse it. A status that is accepted becomes bytes again.
 */
#include "base/buf.h"
#include "base/mem.h"
#include "status/status_snapshot.h"

#include <xxhash.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The head ends with the length of what follows and its checksum. */
enum { LENGTH_AT = 24, CHECKSUM_AT = 32, HEAD = 40 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT, again = BUF_INIT;
        struct status *empty = status_new(NULL);
        status_snapshot_put(empty, &bytes);
        status_free(empty);
        uint64_t length = size, checksum = XXH3_64bits(data, size);
        buf_truncate(&bytes, HEAD);
        memcpy(bytes.data + LENGTH_AT, &length, sizeof(length));
        memcpy(bytes.data + CHECKSUM_AT, &checksum, sizeof(checksum));
        buf_append(&bytes, data, size);
        struct status *s = status_snapshot_get(bytes.data, bytes.len);
        if (s)
                status_snapshot_put(s, &again);
        status_free(s);
        return 0;
}
