/*
 * Structs of the public header that the library fills for a caller (docs/abi.md).
 *
 * The caller may have been compiled against a header in which the struct is shorter or longer than ours. It passes the
 * size that it knows. Members beyond ours become zero.
 */
#pragma once

#include <stddef.h>
#include <string.h>

static inline void public_struct_copy(void *to, size_t to_size, const void *from, size_t size)
{
        size_t shared = to_size < size ? to_size : size;
        memcpy(to, from, shared);
        memset((char *)to + shared, 0, to_size - shared);
}
