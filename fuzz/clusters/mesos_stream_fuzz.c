/*
 * Bytes as a Mesos master or agent sends them on an event stream: records, and in each an event. Two pieces of any size
 * give the same records as one.
 */
#include "base/error.h"
#include "mesos/protocol/mesos_messages.h"
#include "mesos/protocol/recordio.h"
#include "rpc/wire_memory.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct stream {
        size_t records, bytes;
};

static int on_record(void *owner, const uint8_t *record, size_t len)
{
        struct stream *s = owner;
        struct wire_memory memory = wire_memory_for(len);
        const mesos_scheduler_event *event;
        const mesos_executor_event *executor_event;

        s->records++;
        s->bytes += len;
        if (mesos_scheduler_event_read(&memory, record, len, &event, NULL) == 0 &&
            event->type == FIRESTEEL__MESOS__SCHEDULER_EVENT__TYPE__OFFERS && !event->offers)
                abort();
        if (mesos_executor_event_read(&memory, record, len, &executor_event, NULL) == 0 &&
            executor_event->type == FIRESTEEL__MESOS__EXECUTOR_EVENT__TYPE__LAUNCH && !executor_event->launch)
                abort();
        arena_deinit(&memory.arena);
        return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct recordio whole = RECORDIO_INIT, pieces = RECORDIO_INIT;
        struct stream one = {0}, two = {0};
        size_t cut = size > 0 ? data[0] % (size + 1) : 0;

        int r = recordio_feed(&whole, data, size, on_record, &one, NULL);
        int s = recordio_feed(&pieces, data, cut, on_record, &two, NULL);
        if (s == 0)
                s = recordio_feed(&pieces, data + cut, size - cut, on_record, &two, NULL);
        if (r != s || one.records != two.records || one.bytes != two.bytes)
                abort();
        recordio_deinit(&whole);
        recordio_deinit(&pieces);
        return 0;
}
