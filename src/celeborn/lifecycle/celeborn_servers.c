/* See celeborn_servers.h. */
#include "celeborn/lifecycle/celeborn_servers.h"

#include "base/mem.h"
#include "celeborn/protocol/celeborn.pb-c.h"
#include "celeborn/protocol/celeborn_message.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define HOST "w"
#define PUSH_PORT 200
#define FETCH_PORT 300
#define REPLICATE_PORT 400

/* A call of celeborn_servers_answer. */
struct celeborn_servers_call {
        const struct celeborn_servers_class *class;
        void *owner;
        int n_workers, worker;
        int type;
        uint8_t *body;
        size_t len;
};

static int servers_reply(struct celeborn_servers_call *c, int type, const ProtobufCMessage *message)
{
        c->type = type;
        c->len = protobuf_c_message_get_packed_size(message);
        c->body = mem_alloc(c->len + 1);
        protobuf_c_message_pack(message, c->body);
        return 0;
}

static void servers_location(int worker, int mode, int partition, Celeborn__PartitionLocation *out)
{
        celeborn__partition_location__init(out);
        out->mode = mode;
        out->id = partition;
        out->host = (char *)HOST;
        out->rpc_port = CELEBORN_SERVERS_PORT + worker;
        out->push_port = PUSH_PORT;
        out->fetch_port = FETCH_PORT;
        out->replicate_port = REPLICATE_PORT;
}

/* The workers that may get slots: those that the master offers and the request does not exclude. Returns their number.
 */
static int servers_usable(const struct celeborn_servers_call *c, const Celeborn__RequestSlots *request, int *usable)
{
        int n = 0;
        for (int worker = 0; worker < c->n_workers; worker++) {
                bool excluded = !c->class->is_offered(c->owner, worker);
                for (size_t i = 0; i < request->n_excluded_worker_set && !excluded; i++)
                        excluded = request->excluded_worker_set[i]->rpc_port == CELEBORN_SERVERS_PORT + worker;
                if (!excluded)
                        usable[n++] = worker;
        }
        return n;
}

/* Gives each partition a random worker, and with replication another one. */
static int servers_request_slots(struct celeborn_servers_call *c, const Celeborn__RequestSlots *request)
{
        Celeborn__RequestSlotsResponse reply = CELEBORN__REQUEST_SLOTS_RESPONSE__INIT;
        const size_t partitions = request->n_partition_id_list;
        _cleanup_free_ int *usable = new_array(int, (size_t)c->n_workers + 1);
        const int n = servers_usable(c, request, usable);
        if (n < 1 + request->should_replicate) {
                reply.status = CELEBORN_SLOT_NOT_AVAILABLE;
                return servers_reply(c, CELEBORN_REQUEST_SLOTS_RESPONSE, &reply.base);
        }
        _cleanup_free_ Celeborn__WorkerResource *resources = new_array(Celeborn__WorkerResource, (size_t)n);
        _cleanup_free_ Celeborn__WorkerResourceEntry *entries = new_array(Celeborn__WorkerResourceEntry, (size_t)n);
        _cleanup_free_ Celeborn__WorkerResourceEntry **list = new_array(Celeborn__WorkerResourceEntry *, (size_t)n);
        _cleanup_free_ Celeborn__PartitionLocation *at = new_array(Celeborn__PartitionLocation, 2 * partitions + 1);
        _cleanup_free_ Celeborn__PartitionLocation **primaries =
                new_array(Celeborn__PartitionLocation *, (size_t)n * partitions + 1);
        _cleanup_free_ char *keys = new_array(char, (size_t)n * 64);
        for (int i = 0; i < n; i++) {
                celeborn__worker_resource__init(&resources[i]);
                celeborn__worker_resource_entry__init(&entries[i]);
                resources[i].primary_partitions = primaries + (size_t)i * partitions;
                snprintf(keys + (size_t)i * 64, 64, HOST ":%d:%d:%d:%d", CELEBORN_SERVERS_PORT + usable[i], PUSH_PORT,
                         FETCH_PORT, REPLICATE_PORT);
                entries[i].key = keys + (size_t)i * 64;
                entries[i].value = &resources[i];
                list[i] = &entries[i];
        }
        for (size_t p = 0; p < partitions; p++) {
                Celeborn__PartitionLocation *primary = &at[2 * p];
                const int first = (int)c->class->roll(c->owner, (uint32_t)n);
                servers_location(usable[first], CELEBORN_PRIMARY, request->partition_id_list[p], primary);
                if (request->should_replicate) {
                        const int step = 1 + (int)c->class->roll(c->owner, (uint32_t)n - 1);
                        primary->peer = primary + 1;
                        servers_location(usable[(first + step) % n], CELEBORN_REPLICA, request->partition_id_list[p],
                                         primary->peer);
                }
                resources[first].primary_partitions[resources[first].n_primary_partitions++] = primary;
        }
        reply.worker_resource = list;
        reply.n_worker_resource = (size_t)n;
        return servers_reply(c, CELEBORN_REQUEST_SLOTS_RESPONSE, &reply.base);
}

static int servers_reserve(struct celeborn_servers_call *c, const Celeborn__ReserveSlots *request)
{
        Celeborn__StatusResponse reply = CELEBORN__STATUS_RESPONSE__INIT;
        for (size_t i = 0; i < request->n_primary_locations + request->n_replica_locations; i++) {
                const bool primary = i < request->n_primary_locations;
                const Celeborn__PartitionLocation *at =
                        primary ? request->primary_locations[i]
                                : request->replica_locations[i - request->n_primary_locations];
                const struct celeborn_servers_file file = {request->shuffle_id, at->id, at->epoch, at->mode};
                if (at->rpc_port != CELEBORN_SERVERS_PORT + c->worker || at->mode != !primary ||
                    (at->peer && at->peer->rpc_port == at->rpc_port))
                        return -EPROTO;
                if (!c->class->reserve(c->owner, c->worker, &file)) {
                        reply.status = CELEBORN_RESERVE_SLOTS_FAILED;
                        reply.reason = (char *)"no disk";
                }
        }
        return servers_reply(c, CELEBORN_RESERVE_SLOTS_RESPONSE, &reply.base);
}

static int servers_commit_files(struct celeborn_servers_call *c, int shuffle, int mode, char **ids, size_t n,
                                char **committed, size_t *n_committed)
{
        for (size_t i = 0; i < n; i++) {
                struct celeborn_servers_file file = {.shuffle = shuffle, .mode = mode};
                if (sscanf(ids[i], "%d-%d", &file.partition, &file.epoch) != 2)
                        return -EPROTO;
                if (c->class->commit(c->owner, c->worker, &file))
                        committed[(*n_committed)++] = ids[i];
        }
        return 0;
}

static int servers_commit(struct celeborn_servers_call *c, const Celeborn__CommitFiles *request)
{
        Celeborn__CommitFilesResponse reply = CELEBORN__COMMIT_FILES_RESPONSE__INIT;
        _cleanup_free_ char **primaries = new_array(char *, request->n_primary_ids + 1);
        _cleanup_free_ char **replicas = new_array(char *, request->n_replica_ids + 1);
        reply.committed_primary_ids = primaries;
        reply.committed_replica_ids = replicas;
        int r = servers_commit_files(c, request->shuffle_id, CELEBORN_PRIMARY, request->primary_ids,
                                     request->n_primary_ids, primaries, &reply.n_committed_primary_ids);
        if (r == 0)
                r = servers_commit_files(c, request->shuffle_id, CELEBORN_REPLICA, request->replica_ids,
                                         request->n_replica_ids, replicas, &reply.n_committed_replica_ids);
        return r ? r : servers_reply(c, CELEBORN_COMMIT_FILES_RESPONSE, &reply.base);
}

static int servers_answer(struct celeborn_servers_call *c, int type, const uint8_t *body, size_t len)
{
        Celeborn__StatusResponse done = CELEBORN__STATUS_RESPONSE__INIT;
        Celeborn__HeartbeatFromApplicationResponse beat = CELEBORN__HEARTBEAT_FROM_APPLICATION_RESPONSE__INIT;
        int r = -EPROTO;
        if (type == CELEBORN_REQUEST_SLOTS) {
                Celeborn__RequestSlots *request = celeborn__request_slots__unpack(NULL, len, body);
                if (request)
                        r = servers_request_slots(c, request);
                celeborn__request_slots__free_unpacked(request, NULL);
        } else if (type == CELEBORN_RESERVE_SLOTS) {
                Celeborn__ReserveSlots *request = celeborn__reserve_slots__unpack(NULL, len, body);
                if (request)
                        r = servers_reserve(c, request);
                celeborn__reserve_slots__free_unpacked(request, NULL);
        } else if (type == CELEBORN_COMMIT_FILES) {
                Celeborn__CommitFiles *request = celeborn__commit_files__unpack(NULL, len, body);
                if (request)
                        r = servers_commit(c, request);
                celeborn__commit_files__free_unpacked(request, NULL);
        } else if (type == CELEBORN_HEARTBEAT_FROM_APPLICATION) {
                r = servers_reply(c, CELEBORN_HEARTBEAT_RESPONSE, &beat.base);
        } else {
                r = servers_reply(c, type + 1, &done.base);
        }
        return r;
}

int celeborn_servers_answer(const struct celeborn_servers_class *class, void *owner, int n_workers, int worker,
                            int type, const uint8_t *body, size_t len, int *answer_type, uint8_t **answer,
                            size_t *answer_len)
{
        struct celeborn_servers_call c = {.class = class, .owner = owner, .n_workers = n_workers, .worker = worker};
        const int r = servers_answer(&c, type, body, len);
        if (r)
                return r;
        *answer_type = c.type;
        *answer = c.body;
        *answer_len = c.len;
        return 0;
}
