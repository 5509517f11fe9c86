/* See drop_behind.h. posix_fadvise drops only pages that the device has. RWF_DONTCACHE (Linux 6.14) does not serve
 * here: it leaves pages that two writes share, and with large folios frames without alignment share most of them. */
#include "io/ahead/drop_behind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>

#define WRITE_WINDOW ((uint64_t)8 << 20)
#define READ_WINDOW ((uint64_t)1 << 20)

static atomic_bool configured;

void drop_behind_configure(bool enabled)
{
        atomic_store(&configured, enabled);
}

static bool drop_behind_is_enabled(void)
{
        return atomic_load_explicit(&configured, memory_order_relaxed);
}

/* Drops the window that ends at @end, once the device has it. */
static void drop_behind_window(int fd, uint64_t end)
{
        off_t start = (off_t)(end - WRITE_WINDOW);
        sync_file_range(fd, start, (off_t)WRITE_WINDOW,
                        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
        posix_fadvise(fd, start, (off_t)WRITE_WINDOW, POSIX_FADV_DONTNEED);
}

ssize_t drop_behind_pwritev(int fd, const struct iovec *parts, int n, uint64_t offset)
{
        ssize_t written = pwritev(fd, parts, n, (off_t)offset);
        if (written < 0 || !drop_behind_is_enabled())
                return written;
        uint64_t last = (offset + (uint64_t)written) / WRITE_WINDOW * WRITE_WINDOW;
        for (uint64_t end = (offset / WRITE_WINDOW + 1) * WRITE_WINDOW; end <= last; end += WRITE_WINDOW) {
                sync_file_range(fd, (off_t)(end - WRITE_WINDOW), (off_t)WRITE_WINDOW, SYNC_FILE_RANGE_WRITE);
                if (end >= 2 * WRITE_WINDOW)
                        drop_behind_window(fd, end - WRITE_WINDOW);
        }
        return written;
}

void drop_behind_was_read(int fd, uint64_t offset, uint64_t size)
{
        uint64_t first = offset / READ_WINDOW, last = (offset + size) / READ_WINDOW;
        if (first == last || !drop_behind_is_enabled())
                return;
        int saved = errno;
        first -= first > 0; /* its end was read after it was dropped */
        posix_fadvise(fd, (off_t)(first * READ_WINDOW), (off_t)((last - first) * READ_WINDOW), POSIX_FADV_DONTNEED);
        errno = saved;
}
