/* io_uring as a table of functions. It is linked with liburing into a module of its own, libfiresteel-uring.so, which
 * the first read from a cold page cache loads. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct uring;

#define URING_LIBRARY_ABI 1
#define URING_MODULE_SYMBOL "firesteel_uring_module" /* const struct uring_library *f(void) */

/* One thread at a time uses a ring. */
struct uring_library {
        uint32_t abi; /* URING_LIBRARY_ABI */
        /* Creates a ring for @entries reads in flight. Returns 0 or a negative errno: -ENOSYS or -EPERM if the kernel
         * or its seccomp filter refuses. */
        int (*open)(unsigned entries, struct uring **ring);
        /* Frees a ring without reads in flight. */
        void (*close)(struct uring *ring);
        /* Starts a read of @size bytes. Returns 0 or a negative errno; then nothing was started. */
        int (*read)(struct uring *ring, int fd, void *data, size_t size, uint64_t offset, uint64_t tag);
        /* Waits for a read. *@result is its number of bytes or negative errno. Returns 0 or a negative errno. */
        int (*wait)(struct uring *ring, uint64_t *tag, ssize_t *result);
};

/* Returns the table, which is never freed, or NULL if the module cannot be loaded. Any thread. */
const struct uring_library *uring_library_load(void);
