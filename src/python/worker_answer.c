/* See worker_answer.h. Every event has its length or a fixed size at its start, so nothing is kept between calls but
 * the section of the answer. */
#include "python/worker_answer.h"

#include "python/worker_task.h"

#define INT 4
#define LONG 8

static int64_t python_get_long(const char *data)
{
        return (int64_t)((uint64_t)(uint32_t)python_get_int(data) << 32 | (uint32_t)python_get_int(data + INT));
}

static size_t python_answer_more(struct python_event *event, size_t need)
{
        event->kind = PYTHON_EVENT_MORE;
        event->need = need;
        return 0;
}

static size_t python_answer_invalid(struct python_event *event, int32_t code)
{
        event->kind = PYTHON_EVENT_INVALID;
        event->code = code;
        return 0;
}

/* An event of @length bytes that begin at @at. */
static size_t python_answer_bytes(struct python_event *event, enum python_event_kind kind, const char *data, size_t len,
                                  size_t at, int32_t length)
{
        if (length < 0)
                return python_answer_invalid(event, length);
        if (len < at + (size_t)length)
                return python_answer_more(event, at + (size_t)length);
        event->kind = kind;
        event->bytes = (fst_bytes){data + at, (size_t)length};
        return at + (size_t)length;
}

static size_t python_answer_timings(const struct python_answer *a, const char *data, size_t len,
                                    struct python_event *event)
{
        /* Since 4.2 the time of processing follows the three points in time. */
        size_t times = a->version >= PYTHON_VERSION(4, 2) ? 4 : 3, size = INT + (times + 2) * LONG;
        if (len < size)
                return python_answer_more(event, size);
        event->kind = PYTHON_EVENT_TIMINGS;
        event->boot_ms = python_get_long(data + INT);
        event->init_ms = python_get_long(data + INT + LONG);
        event->finish_ms = python_get_long(data + INT + 2 * LONG);
        event->memory_spilled = python_get_long(data + INT + times * LONG);
        event->disk_spilled = python_get_long(data + INT + (times + 1) * LONG);
        return size;
}

static size_t python_answer_rows(struct python_answer *a, const char *data, size_t len, struct python_event *event)
{
        int32_t length = python_get_int(data);
        if (length >= 0) {
                if (len - INT < (size_t)length)
                        return python_answer_more(event, INT + (size_t)length);
                event->kind = PYTHON_EVENT_ROW;
                event->bytes = (fst_bytes){data, INT + (size_t)length};
                return INT + (size_t)length;
        }
        if (length == PYTHON_TIMINGS)
                return python_answer_timings(a, data, len, event);
        if (length == PYTHON_EXCEPTION) {
                if (len < 2 * INT)
                        return python_answer_more(event, 2 * INT);
                return python_answer_bytes(event, PYTHON_EVENT_TRACEBACK, data, len, 2 * INT,
                                           python_get_int(data + INT));
        }
        if (length != PYTHON_END_OF_DATA)
                return python_answer_invalid(event, length);
        if (len < 2 * INT)
                return python_answer_more(event, 2 * INT);
        int32_t updates = python_get_int(data + INT);
        if (updates < 0)
                return python_answer_invalid(event, updates);
        a->state = updates ? PYTHON_ANSWER_UPDATES : PYTHON_ANSWER_LAST;
        a->updates = updates;
        size_t used = python_answer_next(a, data + 2 * INT, len - 2 * INT, event);
        if (used == 0 && event->kind == PYTHON_EVENT_MORE) { /* the caller sees these 8 bytes again */
                a->state = PYTHON_ANSWER_ROWS;
                event->need += 2 * INT;
        }
        return used ? used + 2 * INT : 0;
}

size_t python_answer_next(struct python_answer *a, const char *data, size_t len, struct python_event *event)
{
        *event = (struct python_event){0};
        if (len < INT)
                return python_answer_more(event, INT);
        if (a->state == PYTHON_ANSWER_ROWS)
                return python_answer_rows(a, data, len, event);
        int32_t first = python_get_int(data);
        if (a->state == PYTHON_ANSWER_LAST) {
                event->kind = PYTHON_EVENT_END;
                event->reusable = first == PYTHON_END_OF_STREAM;
                return INT;
        }
        size_t used = python_answer_bytes(event, PYTHON_EVENT_UPDATE, data, len, INT, first);
        if (used && --a->updates == 0)
                a->state = PYTHON_ANSWER_LAST;
        return used;
}
