/* Write all of it, however many calls that takes. */
#pragma once

#include <stddef.h>

/* 0, or the errno of the write that failed, negative: some of it may be there. For descriptors that block. */
int write_all(int fd, const void *data, size_t n);
