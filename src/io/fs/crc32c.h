/* CRC-32C (Castagnoli), the checksum by which object stores check what they receive. Not for untrusted data. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Returns the checksum of @len bytes. Any thread. */
uint32_t crc32c(const void *data, size_t len);
