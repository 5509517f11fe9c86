/* Event logs: reading any bytes ends, in pieces of any size, and every event can be copied. */
#include "events/event_reader.h"

#include "base/arena.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void event_line_on_event(void *owner, const struct log_event *e)
{
        struct arena a = ARENA_INIT;
        switch (e->type) {
#define EVENT_LINE_COPY(kind)                                                                                          \
        case EVENT_##kind:                                                                                             \
                (void)event_copy_##kind(&a, &e->kind);                                                                 \
                break;
                EVENT_KINDS(EVENT_LINE_COPY)
#undef EVENT_LINE_COPY
        case EVENT_task_end:
                if (e->task_end.detail)
                        (void)event_copy_task_detail(&a, e->task_end.detail);
                break;
        default:
                break;
        }
        arena_deinit(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct event_reader *r =
                event_reader_new(&(struct event_reader_options){.on_event = event_line_on_event, .max_line = 1 << 16});
        size_t piece = size ? data[0] % 64 + 1 : 1;
        while (size) {
                size_t room, n = size < piece ? size : piece;
                char *to = event_reader_room(r, &room);
                memcpy(to, data, n);
                event_reader_filled(r, n);
                data += n;
                size -= n;
        }
        event_reader_end(r, false);
        event_reader_free(r);
        return 0;
}
