/*
 * Keeps the end of a container's log, which kube_logs() delivers in pieces.
 *
 *      struct log_tail tail = {.max_bytes = 4096};
 *      log_tail_append(&tail, data, n);
 *      puts(log_tail_text(&tail));
 *      log_tail_deinit(&tail);
 */
#pragma once

#include "base/buf.h"

struct log_tail {
        size_t max_bytes;
        struct buf kept; /* holds at most twice max_bytes */
};

void log_tail_append(struct log_tail *tail, const char *data, size_t n);

/* Returns the last max_bytes without trailing newlines. Borrowed until the next call. */
const char *log_tail_text(struct log_tail *tail);

void log_tail_deinit(struct log_tail *tail);
