/* See celeborn_wire.h. */
#include "celeborn/protocol/celeborn_wire.h"

#include "base/error.h"
#include "base/mem.h"
#include "celeborn/protocol/celeborn_driver.pb-c.h"
#include "rpc/wire_memory.h"

#define MAX_PORT 65535

void celeborn_question_deinit(struct celeborn_question *question)
{
        free(question->revives);
        *question = (struct celeborn_question){0};
}

void celeborn_answer_deinit(struct celeborn_answer *answer)
{
        for (int i = 0; i < answer->n_workers; i++)
                free(answer->workers[i].host);
        free(answer->workers);
        free(answer->locations);
        free(answer->message);
        free(answer->secret);
        *answer = (struct celeborn_answer){0};
}

static void celeborn_wire_pack(const ProtobufCMessage *message, struct buf *out)
{
        const size_t size = protobuf_c_message_get_packed_size(message);
        buf_reserve(out, size);
        protobuf_c_message_pack(message, (uint8_t *)out->data + out->len);
        out->len += size;
}

void celeborn_question_put(const struct celeborn_question *question, struct buf *out)
{
        const size_t n = (size_t)question->n;
        Celeborn__DriverQuestion message = CELEBORN__DRIVER_QUESTION__INIT;
        _cleanup_free_ int32_t *columns = n ? new_array(int32_t, 4 * n) : NULL;
        message.kind = (int32_t)question->kind;
        message.shuffle = question->shuffle;
        message.maps = columns;
        message.partitions = columns + n;
        message.epochs = columns + 2 * n;
        message.causes = (uint32_t *)columns + 3 * n;
        message.n_maps = message.n_partitions = message.n_epochs = message.n_causes = n;
        for (size_t i = 0; i < n; i++) {
                message.maps[i] = question->revives[i].map;
                message.partitions[i] = question->revives[i].partition;
                message.epochs[i] = question->revives[i].epoch;
                message.causes[i] = question->revives[i].cause;
        }
        celeborn_wire_pack(&message.base, out);
}

int celeborn_question_parse(const uint8_t *data, size_t len, struct celeborn_question *question,
                            struct fst_error *error)
{
        struct wire_memory memory = wire_memory_for(len);
        ProtobufCAllocator allocator = wire_memory_allocator(&memory);
        const Celeborn__DriverQuestion *m = celeborn__driver_question__unpack(&allocator, len, data);
        bool valid = m && m->kind >= CELEBORN_ASK_LOCATIONS && m->kind <= CELEBORN_ASK_FILES && m->shuffle >= 0 &&
                     m->n_maps == m->n_partitions && m->n_maps == m->n_epochs && m->n_maps == m->n_causes &&
                     (m->kind == CELEBORN_ASK_REVIVE) == (m->n_maps > 0);
        for (size_t i = 0; valid && i < m->n_maps; i++)
                valid = m->maps[i] >= -1 && m->partitions[i] >= 0 && m->epochs[i] >= 0 && m->causes[i] <= UINT8_MAX;
        if (valid) {
                *question = (struct celeborn_question){
                        .kind = (enum celeborn_question_kind)m->kind, .shuffle = m->shuffle, .n = (int)m->n_maps};
                if (m->n_maps)
                        question->revives = new_array(struct celeborn_revive, m->n_maps);
                for (size_t i = 0; i < m->n_maps; i++)
                        question->revives[i] = (struct celeborn_revive){m->maps[i], m->partitions[i], m->epochs[i],
                                                                        (uint8_t)m->causes[i]};
        }
        arena_deinit(&memory.arena);
        return valid ? 0
                     : error_set(error, -EPROTO, "an executor's question about a Celeborn shuffle cannot be decoded");
}

void celeborn_answer_put(const struct celeborn_answer *answer, struct buf *out)
{
        const size_t n = (size_t)answer->n_locations, w = (size_t)answer->n_workers;
        Celeborn__DriverAnswer message = CELEBORN__DRIVER_ANSWER__INIT;
        _cleanup_free_ int32_t *columns = n ? new_array(int32_t, 4 * n) : NULL;
        _cleanup_free_ Celeborn__DriverWorker *workers = w ? new_array(Celeborn__DriverWorker, w) : NULL;
        _cleanup_free_ Celeborn__DriverWorker **list = w ? new_array(Celeborn__DriverWorker *, w) : NULL;
        message.status = (uint32_t)answer->status;
        message.message = answer->message ? answer->message : message.message;
        message.secret = answer->secret ? answer->secret : message.secret;
        message.workers = list;
        message.n_workers = w;
        for (size_t i = 0; i < w; i++) {
                const struct celeborn_worker *from = &answer->workers[i];
                celeborn__driver_worker__init(&workers[i]);
                workers[i].host = from->host;
                workers[i].rpc_port = from->rpc_port;
                workers[i].push_port = from->push_port;
                workers[i].fetch_port = from->fetch_port;
                workers[i].replicate_port = from->replicate_port;
                list[i] = &workers[i];
        }
        message.partitions = columns;
        message.epochs = columns + n;
        message.primaries = columns + 2 * n;
        message.replicas = columns + 3 * n;
        message.n_partitions = message.n_epochs = message.n_primaries = message.n_replicas = n;
        for (size_t i = 0; i < n; i++) {
                message.partitions[i] = answer->locations[i].partition;
                message.epochs[i] = answer->locations[i].epoch;
                message.primaries[i] = answer->locations[i].primary;
                message.replicas[i] = answer->locations[i].replica;
        }
        celeborn_wire_pack(&message.base, out);
}

static bool celeborn_is_port(int32_t port)
{
        return port > 0 && port <= MAX_PORT;
}

static bool celeborn_answer_is_valid(const Celeborn__DriverAnswer *m)
{
        const int32_t workers = (int32_t)m->n_workers;
        bool valid = m->n_partitions == m->n_epochs && m->n_partitions == m->n_primaries &&
                     m->n_partitions == m->n_replicas && m->n_partitions <= INT32_MAX && m->n_workers <= INT32_MAX &&
                     m->status <= UINT8_MAX;
        for (size_t i = 0; valid && i < m->n_workers; i++) {
                const Celeborn__DriverWorker *w = m->workers[i];
                valid = *w->host && celeborn_is_port(w->rpc_port) && celeborn_is_port(w->push_port) &&
                        celeborn_is_port(w->fetch_port) && celeborn_is_port(w->replicate_port);
        }
        for (size_t i = 0; valid && i < m->n_partitions; i++)
                valid = m->partitions[i] >= 0 && m->epochs[i] >= 0 && m->primaries[i] >= -1 &&
                        m->primaries[i] < workers && m->replicas[i] >= -1 && m->replicas[i] < workers;
        return valid;
}

int celeborn_answer_parse(const uint8_t *data, size_t len, struct celeborn_answer *answer, struct fst_error *error)
{
        struct wire_memory memory = wire_memory_for(len);
        ProtobufCAllocator allocator = wire_memory_allocator(&memory);
        const Celeborn__DriverAnswer *m = celeborn__driver_answer__unpack(&allocator, len, data);
        const bool valid = m && celeborn_answer_is_valid(m);
        if (valid) {
                *answer = (struct celeborn_answer){.status = (int)m->status,
                                                   .message = *m->message ? mem_strdup(m->message) : NULL,
                                                   .secret = *m->secret ? mem_strdup(m->secret) : NULL,
                                                   .n_workers = (int)m->n_workers,
                                                   .n_locations = (int)m->n_partitions};
                if (m->n_workers)
                        answer->workers = new_array(struct celeborn_worker, m->n_workers);
                for (size_t i = 0; i < m->n_workers; i++)
                        answer->workers[i] = (struct celeborn_worker){.host = mem_strdup(m->workers[i]->host),
                                                                      .rpc_port = m->workers[i]->rpc_port,
                                                                      .push_port = m->workers[i]->push_port,
                                                                      .fetch_port = m->workers[i]->fetch_port,
                                                                      .replicate_port = m->workers[i]->replicate_port};
                if (m->n_partitions)
                        answer->locations = new_array(struct celeborn_location, m->n_partitions);
                for (size_t i = 0; i < m->n_partitions; i++)
                        answer->locations[i] = (struct celeborn_location){m->partitions[i], m->epochs[i],
                                                                          m->primaries[i], m->replicas[i]};
        }
        arena_deinit(&memory.arena);
        return valid ? 0 : error_set(error, -EPROTO, "the driver's answer about a Celeborn shuffle cannot be decoded");
}
