/* Any file is an archive with the entry, one without it, or an error with a message. */
#include "io/codec/zip_file.h"

#include "base/error.h"
#include "base/mem.h"
#include "fuzz/memory_file.h"

#include <errno.h>

#define MOST ((size_t)1 << 16)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        const int r = zip_file_read(memory_file("", data, size), "entry", MOST, &out, &error);
        if (r == 0 ? out.len > MOST : out.len || (r != -ENOENT && !error.message))
                abort();
        return 0;
}
