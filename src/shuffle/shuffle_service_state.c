/* See shuffle_service_state.h. */
#include "shuffle/shuffle_service_state.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/fs.h"

#include <endian.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define MAGIC "FSTEXEC1"
#define MAGIC_SIZE 8
#define CHECK_SIZE 8
#define MAX_STATE ((off_t)256 << 20)

static int write_file(const char *path, const struct buf *bytes, struct fst_error *error)
{
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
                return error_errno(error, "%s", path);
        int r = write_all(fd, bytes->data, bytes->len);
        if (r == 0 && fsync(fd) < 0)
                r = -errno;
        if (close(fd) < 0 && r == 0)
                r = -errno;
        return r ? error_set(error, r, "writing %s: %s", path, strerror(-r)) : 0;
}

int service_state_write(const char *path, const Firesteel__ShuffleServiceState *state, struct fst_error *error)
{
        _cleanup_free_ char *next = mem_printf("%s.next", path);
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT;
        size_t size = firesteel__shuffle_service_state__get_packed_size(state);
        buf_append(&bytes, MAGIC, MAGIC_SIZE);
        buf_reserve(&bytes, size);
        bytes.len += firesteel__shuffle_service_state__pack(state, (uint8_t *)bytes.data + bytes.len);
        uint64_t check = htole64(XXH3_64bits(bytes.data, bytes.len));
        buf_append(&bytes, &check, CHECK_SIZE);
        int r = write_file(next, &bytes, error);
        if (r == 0 && rename(next, path) < 0)
                r = error_errno(error, "%s", path);
        if (r)
                unlink(next);
        return r;
}

int service_state_parse(const char *path, const unsigned char *bytes, size_t n, Firesteel__ShuffleServiceState **state,
                        struct fst_error *error)
{
        uint64_t check = 0;
        if (n >= MAGIC_SIZE + CHECK_SIZE)
                memcpy(&check, bytes + n - CHECK_SIZE, CHECK_SIZE);
        if (n < MAGIC_SIZE + CHECK_SIZE || memcmp(bytes, MAGIC, MAGIC_SIZE) != 0 ||
            le64toh(check) != XXH3_64bits(bytes, n - CHECK_SIZE))
                return error_set(error, -EBADMSG, "%s is damaged", path);
        *state = firesteel__shuffle_service_state__unpack(NULL, n - MAGIC_SIZE - CHECK_SIZE, bytes + MAGIC_SIZE);
        return *state ? 0 : error_set(error, -EBADMSG, "%s is damaged", path);
}

int service_state_read(const char *path, Firesteel__ShuffleServiceState **state, struct fst_error *error)
{
        struct stat st;
        *state = NULL;
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0)
                return errno == ENOENT ? 0 : error_errno(error, "%s", path);
        bool can_be = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= MAX_STATE;
        size_t n = can_be ? (size_t)st.st_size : 0;
        _cleanup_free_ unsigned char *bytes = malloc(n + 1);
        bool whole = can_be && bytes && pread(fd, bytes, n, 0) == (ssize_t)n;
        close(fd);
        return whole ? service_state_parse(path, bytes, n, state, error)
                     : error_set(error, -EBADMSG, "%s is damaged", path);
}
