/* Buffers whose content must not stay in released memory; end them with buf_deinit_secret. */
#pragma once

#include "base/buf.h"

/* As buf_append: overwrites the memory that a growing buffer leaves. */
void secret_buf_append(struct buf *b, const void *data, size_t len);
