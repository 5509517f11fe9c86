/*
 * The answer of a PySpark worker to a task: rows, timings, a traceback or accumulator updates, the end. A pure reader:
 * the caller reads the socket.
 *
 *      struct python_event event;
 *      size_t used = python_answer_next(&answer, data, len, &event);
 *
 * Returns the bytes at @data that the event has; event.bytes points into them. For PYTHON_EVENT_MORE it returns 0, and
 * event.need is the number of bytes, more than @len, without which the next event is not complete.
 */
#pragma once

#include <firesteel/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum python_event_kind {
        PYTHON_EVENT_MORE,
        PYTHON_EVENT_ROW,       /* bytes: a frame with its length, as it is */
        PYTHON_EVENT_TIMINGS,   /* times and spilled sizes */
        PYTHON_EVENT_TRACEBACK, /* bytes: the text of the exception. The worker ends */
        PYTHON_EVENT_UPDATE,    /* bytes: an accumulator update without its length */
        PYTHON_EVENT_END,       /* the task is done; `reusable` */
        PYTHON_EVENT_INVALID,   /* these bytes are not an answer: `code` is the int that was read */
};

struct python_event {
        enum python_event_kind kind;
        fst_bytes bytes;
        size_t need;
        int64_t boot_ms, init_ms, finish_ms;  /* since 1970: times at which the worker began, was ready, had ended */
        int64_t memory_spilled, disk_spilled; /* bytes */
        bool reusable;                        /* the worker waits for another task */
        int32_t code;
};

enum python_answer_state { PYTHON_ANSWER_ROWS, PYTHON_ANSWER_UPDATES, PYTHON_ANSWER_LAST };

struct python_answer {
        int version; /* of the worker's pyspark: python/worker_task.h */
        enum python_answer_state state;
        int32_t updates; /* updates that follow */
};

static inline void python_answer_begin(struct python_answer *a, int version)
{
        *a = (struct python_answer){.version = version};
}

size_t python_answer_next(struct python_answer *a, const char *data, size_t len, struct python_event *event);

/* Reads a big-endian int. */
static inline int32_t python_get_int(const char *data)
{
        const unsigned char *at = (const unsigned char *)data;
        return (int32_t)((uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3]);
}
