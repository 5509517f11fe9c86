/*
 * CRC-32C (Castagnoli), the checksum of frames between processes (rpc/frame.h, rpc/transfer/) and of bodies for object stores. It detects
 * accidents, not attacks.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Returns the checksum of @len bytes. Any thread. */
uint32_t crc32c(const void *data, size_t len);

/* Returns the checksum of the bytes whose checksum is @sum, followed by @len bytes: 0 is the checksum of no bytes. Any thread. */
uint32_t crc32c_extend(uint32_t sum, const void *data, size_t len);
