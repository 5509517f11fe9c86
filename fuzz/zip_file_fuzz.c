/* Any file is an archive with the entry, one without it, or an error with a message. */
#include "io/codec/zip_file.h"

#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST ((size_t)1 << 16)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        char path[40];
        const int fd = memfd_create("zip", MFD_CLOEXEC);
        if (fd < 0 || write_all(fd, data, size) < 0)
                abort();
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        const int r = zip_file_read(path, "entry", MOST, &out, &error);
        if (r == 0 ? out.len > MOST : out.len || (r != -ENOENT && !error.message))
                abort();
        close(fd);
        return 0;
}
