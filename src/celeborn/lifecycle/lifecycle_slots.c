/*
 * The locations of a shuffle: slots from the master, reservations at workers, revives. See lifecycle.h.
 *
 * A new location is queued, then asked for at its workers, then open or dead. When no reservation is outstanding, each
 * partition whose newest location is dead gets another one, with the next epoch at other workers, a limited number of
 * times.
 */
#include "celeborn/lifecycle/lifecycle_internal.h"

#include "base/error.h"

#include <stdlib.h>

#define MAX_EPOCH (INT32_MAX - 1)
#define NO_PORT 0

bool location_is_pending(const struct lifecycle_location *at)
{
        if (at->awaits_candidates)
                return true;
        for (int mode = 0; mode < 2; mode++)
                if (at->copy[mode] == COPY_QUEUED || at->copy[mode] == COPY_ASKED)
                        return true;
        return false;
}

struct lifecycle_location *lifecycle_location_of(struct lifecycle_shuffle *s, int32_t partition, int32_t epoch)
{
        int32_t at = s->newest[partition];
        while (at >= 0 && s->locations.data[at].epoch != epoch)
                at = s->locations.data[at].previous;
        return at >= 0 ? &s->locations.data[at] : NULL;
}

bool location_is_open(const struct lifecycle_location *at)
{
        return !at->dead && at->copy[CELEBORN_PRIMARY] == COPY_RESERVED &&
               (at->worker[CELEBORN_REPLICA] < 0 || at->copy[CELEBORN_REPLICA] == COPY_RESERVED);
}

/* ------------------------------------------------------------------------------------------------ register */

/* Asks the master for slots of @n @partitions. */
static void slots_request(struct lifecycle *l, const struct lifecycle_shuffle *s, int32_t *partitions, size_t n,
                          int64_t now)
{
        Celeborn__RequestSlots m = CELEBORN__REQUEST_SLOTS__INIT;
        Celeborn__UserIdentifier user = CELEBORN__USER_IDENTIFIER__INIT;
        _cleanup_free_ char *id = lifecycle_request_id(l);
        _cleanup_free_ Celeborn__WorkerInfo *infos = new_array(Celeborn__WorkerInfo, l->workers.len + 1);
        _cleanup_free_ Celeborn__WorkerInfo **excluded = new_array(Celeborn__WorkerInfo *, l->workers.len + 1);
        for (size_t i = 0; i < l->workers.len; i++) {
                const struct celeborn_worker *at = &l->workers.data[i].at;
                if (lifecycle_worker_is_usable(l, (int32_t)i, now))
                        continue;
                Celeborn__WorkerInfo *info = &infos[m.n_excluded_worker_set];
                celeborn__worker_info__init(info);
                info->host = at->host;
                info->rpc_port = at->rpc_port;
                info->push_port = at->push_port;
                info->fetch_port = at->fetch_port;
                info->replicate_port = at->replicate_port;
                excluded[m.n_excluded_worker_set++] = info;
        }
        user.tenant_id = (char *)l->config.tenant;
        user.name = (char *)l->config.user;
        m.application_id = (char *)l->config.app_id;
        m.shuffle_id = s->id;
        m.partition_id_list = partitions;
        m.n_partition_id_list = n;
        m.hostname = (char *)l->config.hostname;
        m.should_replicate = l->config.replicate;
        m.request_id = id;
        m.user_identifier = &user;
        m.should_rack_aware = l->config.rack_aware;
        m.max_workers = l->config.max_workers;
        m.available_storage_types = l->config.storage_types;
        m.excluded_worker_set = excluded;
        m.tags_expr = (char *)l->config.tags;
        lifecycle_send(l, s->id, -1, CELEBORN_REQUEST_SLOTS, &m.base, now);
}

void slots_register(struct lifecycle *l, struct lifecycle_shuffle *s, int64_t now)
{
        _cleanup_free_ int32_t *partitions = new_array(int32_t, (size_t)MAX(s->partitions, 1));
        for (int p = 0; p < s->partitions; p++)
                partitions[p] = p;
        s->phase = SHUFFLE_REGISTERING;
        s->requested = true;
        s->tries++;
        slots_request(l, s, partitions, (size_t)s->partitions, now);
}

static void slots_on_candidates(struct lifecycle *l, struct lifecycle_shuffle *s,
                                const Celeborn__RequestSlotsResponse *reply, const char *why, int64_t now);

void slots_on_refused(struct lifecycle *l, struct lifecycle_shuffle *s, const char *why, bool final, int64_t now)
{
        if (s->extending)
                slots_on_candidates(l, s, NULL, why, now);
        if (s->phase != SHUFFLE_REGISTERING)
                return; /* its maps ended without output */
        if (!final && s->tries <= l->config.register_retries) {
                lifecycle_set_timer(l, s, now + l->config.register_wait);
                return;
        }
        free(s->failure);
        s->failure = mem_printf("Celeborn shuffle %d cannot be registered: %s; check spark.celeborn.master.endpoints "
                                "and that workers with local disks are available",
                                s->id, why);
        s->phase = SHUFFLE_FAILED;
        lifecycle_log(l, LOG_ERROR, "%s", s->failure);
        answers_flush(l, s);
}

static bool slots_is_port(int32_t port)
{
        return port > NO_PORT && port <= UINT16_MAX;
}

/* The index of the worker of a location, -1 if its address is invalid. */
static int32_t slots_worker_of(struct lifecycle *l, const Celeborn__PartitionLocation *at)
{
        const struct celeborn_worker worker = {.host = at->host,
                                               .rpc_port = at->rpc_port,
                                               .push_port = at->push_port,
                                               .fetch_port = at->fetch_port,
                                               .replicate_port = at->replicate_port};
        if (!*at->host || !slots_is_port(at->rpc_port) || !slots_is_port(at->push_port) ||
            !slots_is_port(at->fetch_port) || !slots_is_port(at->replicate_port))
                return -1;
        return lifecycle_worker_index(l, &worker);
}

/* The worker of a key "host:rpc:push:fetch:replicate", -1 if it is not valid. */
static int32_t slots_worker_of_key(struct lifecycle *l, const char *key)
{
        _cleanup_free_ char *text = mem_strdup(key);
        int ports[4];
        for (int i = 3; i >= 0; i--) {
                char *colon = strrchr(text, ':'), *end;
                if (!colon)
                        return -1;
                const long port = strtol(colon + 1, &end, 10);
                if (*end || port <= NO_PORT || port > UINT16_MAX)
                        return -1;
                ports[i] = (int)port;
                *colon = '\0';
        }
        if (!*text)
                return -1;
        const struct celeborn_worker worker = {text, ports[0], ports[1], ports[2], ports[3]};
        return lifecycle_worker_index(l, &worker);
}

static void slots_add_candidate(struct lifecycle_shuffle *s, int32_t worker)
{
        for (size_t i = 0; i < s->candidates.len; i++)
                if (s->candidates.data[i] == worker)
                        return;
        vec_push(&s->candidates, worker);
}

static int32_t slots_mount_index(struct lifecycle *l, const Celeborn__StorageInfo *info)
{
        if (!info || !*info->mount_point)
                return -1;
        for (size_t i = 0; i < l->mounts.len; i++)
                if (strcmp(l->mounts.data[i], info->mount_point) == 0)
                        return (int32_t)i;
        vec_push(&l->mounts, mem_strdup(info->mount_point));
        return (int32_t)l->mounts.len - 1;
}

/* Adds a location, which becomes the newest of its partition, to the queue. */
static void slots_add(struct lifecycle_shuffle *s, struct lifecycle_location at)
{
        const int32_t index = (int32_t)s->locations.len;
        at.previous = s->newest[at.partition];
        at.copy[CELEBORN_PRIMARY] = COPY_QUEUED;
        at.copy[CELEBORN_REPLICA] = at.worker[CELEBORN_REPLICA] >= 0 ? COPY_QUEUED : COPY_NONE;
        vec_push(&s->locations, at);
        s->newest[at.partition] = index;
        vec_push(&s->queued, index);
}

/* Adds the location of a master's answer. Returns false if it is not valid. */
static bool slots_add_offered(struct lifecycle *l, struct lifecycle_shuffle *s, const Celeborn__PartitionLocation *from)
{
        struct lifecycle_location at = {.partition = from->id, .epoch = from->epoch};
        const Celeborn__PartitionLocation *copies[2] = {from, from->peer};
        if (from->id < 0 || from->id >= s->partitions || from->epoch < 0 || from->epoch > MAX_EPOCH)
                return false;
        const int32_t old = s->newest[from->id];
        if (old >= 0 && s->locations.data[old].epoch >= from->epoch) {
                if (!s->locations.data[old].dead)
                        return false; /* twice in one answer */
                at.epoch = s->locations.data[old].epoch + 1;
        }
        for (int mode = 0; mode < 2; mode++) {
                at.worker[mode] = copies[mode] ? slots_worker_of(l, copies[mode]) : -1;
                at.mount[mode] = copies[mode] ? slots_mount_index(l, copies[mode]->storage_info) : -1;
                at.storage[mode] =
                        copies[mode] && copies[mode]->storage_info ? (uint8_t)copies[mode]->storage_info->type : 0;
                if (at.worker[mode] >= 0)
                        slots_add_candidate(s, at.worker[mode]);
        }
        if (at.worker[CELEBORN_PRIMARY] < 0 || at.worker[CELEBORN_PRIMARY] == at.worker[CELEBORN_REPLICA])
                return false;
        slots_add(s, at);
        return true;
}

static void slots_reserve(struct lifecycle *l, struct lifecycle_shuffle *s, int64_t now);

void slots_on_requested(struct lifecycle *l, struct lifecycle_shuffle *s, const Celeborn__RequestSlotsResponse *reply,
                        int64_t now)
{
        if (s->phase != SHUFFLE_REGISTERING && !s->extending)
                return;
        if (reply->status != CELEBORN_SUCCESS) {
                _cleanup_free_ char *why = mem_printf("the master answers %s", celeborn_status_name(reply->status));
                slots_on_refused(l, s, why, false, now);
                return;
        }
        if (s->extending) {
                slots_on_candidates(l, s, reply, NULL, now);
                return;
        }
        s->queued.len = 0;
        for (int p = 0; p < s->partitions; p++) /* of an earlier try */
                if (s->newest[p] >= 0)
                        s->locations.data[s->newest[p]].dead = true;
        bool valid = true;
        for (size_t i = 0; i < reply->n_worker_resource && valid; i++) {
                const Celeborn__WorkerResourceEntry *entry = reply->worker_resource[i];
                const int32_t worker = slots_worker_of_key(l, entry->key);
                if (worker >= 0)
                        slots_add_candidate(s, worker);
                for (size_t k = 0; entry->value && k < entry->value->n_primary_partitions && valid; k++)
                        valid = slots_add_offered(l, s, entry->value->primary_partitions[k]);
        }
        if (!valid || s->queued.len != (size_t)s->partitions) {
                slots_on_refused(l, s, "the master's answer does not have one location for each partition", true, now);
                return;
        }
        s->round = 0;
        slots_reserve(l, s, now);
        if (!s->outstanding) /* no partitions */
                s->phase = SHUFFLE_OPEN;
        answers_flush(l, s);
}

/* ------------------------------------------------------------------------------------------------- reserve */

static int lifecycle_copy_compare(const void *a, const void *b)
{
        const struct lifecycle_copy *x = a, *y = b;
        return x->worker != y->worker ? (x->worker > y->worker) - (x->worker < y->worker)
               : x->mode != y->mode   ? x->mode - y->mode
                                      : (x->location > y->location) - (x->location < y->location);
}

/* One side of a location in a message. */
static void slots_fill_location(const struct lifecycle *l, const struct lifecycle_location *at, int mode,
                                Celeborn__PartitionLocation *out, Celeborn__StorageInfo *storage)
{
        const struct celeborn_worker *worker = &l->workers.data[at->worker[mode]].at;
        celeborn__partition_location__init(out);
        celeborn__storage_info__init(storage);
        out->mode = mode;
        out->id = at->partition;
        out->epoch = at->epoch;
        out->host = worker->host;
        out->rpc_port = worker->rpc_port;
        out->push_port = worker->push_port;
        out->fetch_port = worker->fetch_port;
        out->replicate_port = worker->replicate_port;
        storage->type = at->storage[mode];
        if (at->mount[mode] >= 0)
                storage->mount_point = l->mounts.data[at->mount[mode]];
        storage->available_storage_types = l->config.storage_types;
        out->storage_info = storage;
}

/* Sends one ReserveSlots for @copies, which are all at one worker. */
static void slots_send_reserve(struct lifecycle *l, struct lifecycle_shuffle *s, const struct lifecycle_copy *copies,
                               size_t n, int64_t now)
{
        Celeborn__ReserveSlots m = CELEBORN__RESERVE_SLOTS__INIT;
        Celeborn__UserIdentifier user = CELEBORN__USER_IDENTIFIER__INIT;
        _cleanup_free_ Celeborn__PartitionLocation *at = new_array(Celeborn__PartitionLocation, 2 * n);
        _cleanup_free_ Celeborn__StorageInfo *storage = new_array(Celeborn__StorageInfo, 2 * n);
        _cleanup_free_ Celeborn__PartitionLocation **list = new_array(Celeborn__PartitionLocation *, n);
        for (size_t i = 0; i < n; i++) {
                struct lifecycle_location *from = &s->locations.data[copies[i].location];
                const int mode = copies[i].mode, other = !mode;
                slots_fill_location(l, from, mode, &at[2 * i], &storage[2 * i]);
                if (from->worker[other] >= 0) {
                        slots_fill_location(l, from, other, &at[2 * i + 1], &storage[2 * i + 1]);
                        at[2 * i].peer = &at[2 * i + 1];
                }
                from->copy[mode] = COPY_ASKED;
                list[i] = &at[2 * i];
                m.n_primary_locations += mode == CELEBORN_PRIMARY;
        }
        user.tenant_id = (char *)l->config.tenant;
        user.name = (char *)l->config.user;
        m.application_id = (char *)l->config.app_id;
        m.shuffle_id = s->id;
        m.primary_locations = list; /* sorted: primaries first */
        m.replica_locations = list + m.n_primary_locations;
        m.n_replica_locations = n - m.n_primary_locations;
        m.split_threshold = l->config.split_threshold;
        m.split_mode = l->config.split_mode;
        m.user_identifier = &user;
        m.push_data_timeout = l->config.push_timeout_ms;
        m.partition_split_enabled = true;
        m.available_storage_types = l->config.storage_types;
        struct lifecycle_request *request =
                lifecycle_send(l, s->id, copies[0].worker, CELEBORN_RESERVE_SLOTS, &m.base, now);
        vec_reserve(&request->copies, n);
        memcpy(request->copies.data, copies, n * sizeof(*copies));
        request->copies.len = n;
        s->outstanding++;
}

/* Sends the queued locations to their workers. */
static void slots_reserve(struct lifecycle *l, struct lifecycle_shuffle *s, int64_t now)
{
        copy_list copies = {0};
        for (size_t i = 0; i < s->queued.len; i++) {
                const struct lifecycle_location *at = &s->locations.data[s->queued.data[i]];
                for (uint8_t mode = 0; mode < 2; mode++)
                        if (at->copy[mode] == COPY_QUEUED)
                                vec_push(&copies, ((struct lifecycle_copy){at->worker[mode], s->queued.data[i], mode}));
        }
        s->queued.len = 0;
        if (copies.len)
                qsort(copies.data, copies.len, sizeof(*copies.data), lifecycle_copy_compare);
        for (size_t i = 0, end; i < copies.len; i = end) {
                for (end = i + 1; end < copies.len && copies.data[end].worker == copies.data[i].worker;)
                        end++;
                slots_send_reserve(l, s, copies.data + i, end - i, now);
        }
        vec_deinit(&copies);
}

/* The next usable candidate other than @not, -1: none. */
static int32_t slots_next_candidate(struct lifecycle *l, struct lifecycle_shuffle *s, int32_t not, int64_t now)
{
        for (size_t i = 0; i < s->candidates.len; i++) {
                const int32_t worker = s->candidates.data[s->cursor++ % s->candidates.len];
                if (worker != not &&lifecycle_worker_is_usable(l, worker, now))
                        return worker;
        }
        return -1;
}

/* Queues a location of the next epoch. Returns false if no worker is usable. */
static bool slots_replace(struct lifecycle *l, struct lifecycle_shuffle *s, int32_t partition, int64_t now)
{
        const struct lifecycle_location *old = &s->locations.data[s->newest[partition]];
        struct lifecycle_location at = {
                .partition = partition, .epoch = old->epoch + 1, .worker = {-1, -1}, .mount = {-1, -1}};
        if (old->epoch >= MAX_EPOCH || (at.worker[CELEBORN_PRIMARY] = slots_next_candidate(l, s, -1, now)) < 0)
                return false;
        if (l->config.replicate)
                at.worker[CELEBORN_REPLICA] = slots_next_candidate(l, s, at.worker[CELEBORN_PRIMARY], now);
        if (l->config.replicate && at.worker[CELEBORN_REPLICA] < 0)
                lifecycle_log(l, LOG_WARN,
                              "Partition %d of Celeborn shuffle %d is not replicated from now on: only one worker is "
                              "available",
                              partition, s->id);
        slots_add(s, at);
        return true;
}

/* Releases the other copy of a location that died. */
static void slots_destroy_peer(struct lifecycle *l, struct lifecycle_shuffle *s, struct lifecycle_location *at,
                               int mode, int64_t now)
{
        const int peer = !mode;
        Celeborn__DestroyWorkerSlots m = CELEBORN__DESTROY_WORKER_SLOTS__INIT;
        if (at->worker[peer] < 0 || at->copy[peer] != COPY_RESERVED)
                return;
        _cleanup_free_ char *key = mem_printf("%s-%d", l->config.app_id, s->id);
        _cleanup_free_ char *id = mem_printf("%d-%d", at->partition, at->epoch);
        m.shuffle_key = key;
        m.primary_locations = m.replica_location = &id;
        m.n_primary_locations = peer == CELEBORN_PRIMARY;
        m.n_replica_location = peer == CELEBORN_REPLICA;
        at->copy[peer] = COPY_NONE;
        lifecycle_send(l, -1, at->worker[peer], CELEBORN_DESTROY_WORKER_SLOTS, &m.base, now);
}

/* All reservations are answered: replaces dead locations, or opens the shuffle. */
static void slots_settle(struct lifecycle *l, struct lifecycle_shuffle *s, int64_t now)
{
        const bool again = s->failed.len && s->round++ < l->config.reserve_retries;
        bool replaced = again;
        for (size_t i = 0; i < s->failed.len && again; i++) {
                const int32_t newest = s->newest[s->failed.data[i]];
                if (s->locations.data[newest].dead)
                        replaced &= slots_replace(l, s, s->failed.data[i], now);
        }
        const bool failed = s->failed.len && !replaced;
        s->failed.len = 0;
        if (s->queued.len && (!failed || s->phase == SHUFFLE_OPEN)) {
                slots_reserve(l, s, now);
                return;
        }
        s->round = 0;
        if (s->phase != SHUFFLE_REGISTERING)
                return;
        if (failed)
                slots_on_refused(l, s, "no worker reserves slots", false, now);
        else
                s->phase = SHUFFLE_OPEN;
}

void slots_on_reserved(struct lifecycle *l, struct lifecycle_shuffle *s, const struct lifecycle_request *request,
                       const char *why, int64_t now)
{
        if (s->phase != SHUFFLE_REGISTERING && s->phase != SHUFFLE_OPEN)
                return; /* no executor knows of these locations */
        if (why)
                lifecycle_exclude(l, request->worker, why, now);
        for (size_t i = 0; i < request->copies.len; i++) {
                const struct lifecycle_copy *copy = &request->copies.data[i];
                struct lifecycle_location *at = &s->locations.data[copy->location];
                at->copy[copy->mode] = why ? COPY_NONE : COPY_RESERVED;
                if (why && !at->dead) {
                        at->dead = true;
                        vec_push(&s->failed, at->partition);
                }
                if (at->dead)
                        for (int mode = 0; mode < 2; mode++)
                                if (at->copy[mode] == COPY_NONE)
                                        slots_destroy_peer(l, s, &s->locations.data[copy->location], mode, now);
        }
        if (--s->outstanding == 0)
                slots_settle(l, s, now);
        answers_flush(l, s);
}

/* -------------------------------------------------------------------------------------------------- revive */

/* Which copy's worker a cause accuses; -1: none. */
static int slots_accused(uint8_t cause)
{
        switch (cause) {
        case CELEBORN_PUSH_WRITE_FAIL_PRIMARY:
        case CELEBORN_PUSH_CREATE_CONNECTION_FAIL_PRIMARY:
        case CELEBORN_PUSH_CONNECTION_EXCEPTION_PRIMARY:
        case CELEBORN_PUSH_TIMEOUT_PRIMARY:
                return CELEBORN_PRIMARY;
        case CELEBORN_PUSH_WRITE_FAIL_REPLICA:
        case CELEBORN_PUSH_CREATE_CONNECTION_FAIL_REPLICA:
        case CELEBORN_PUSH_CONNECTION_EXCEPTION_REPLICA:
        case CELEBORN_PUSH_TIMEOUT_REPLICA:
                return CELEBORN_REPLICA;
        default:
                return -1;
        }
}

/* The location that a revive names; NULL: no executor was told of such a one. */
static struct lifecycle_location *slots_revived(struct lifecycle_shuffle *s, const struct celeborn_revive *r)
{
        if (r->partition < 0 || r->partition >= s->partitions)
                return NULL;
        return lifecycle_location_of(s, r->partition, r->epoch);
}

/* True if too few candidates are usable, and the configuration lets the master name more. */
static bool slots_lack_candidates(const struct lifecycle *l, const struct lifecycle_shuffle *s, int64_t now)
{
        size_t usable = 0;
        for (size_t i = 0; i < s->candidates.len; i++)
                usable += lifecycle_worker_is_usable(l, s->candidates.data[i], now);
        const double lost = (double)(s->candidates.len - usable);
        return l->config.dynamic && (usable < (size_t)1 + l->config.replicate ||
                                     lost >= l->config.dynamic_factor * (double)s->candidates.len);
}

void slots_revive(struct lifecycle *l, struct lifecycle_shuffle *s, const struct celeborn_question *question,
                  int64_t now)
{
        for (int i = 0; i < question->n; i++) {
                const struct celeborn_revive *r = &question->revives[i];
                const struct lifecycle_location *at = slots_revived(s, r);
                const int mode = slots_accused(r->cause);
                if (at && mode >= 0 && at->worker[mode] >= 0)
                        lifecycle_exclude(l, at->worker[mode], celeborn_status_name(r->cause), now);
        }
        VEC(int32_t) waiting = {0}; /* partitions */
        const bool lacking = slots_lack_candidates(l, s, now);
        for (int i = 0; i < question->n; i++) {
                const struct celeborn_revive *r = &question->revives[i];
                if (!slots_revived(s, r))
                        continue;
                struct lifecycle_location *newest = &s->locations.data[s->newest[r->partition]];
                if (location_is_pending(newest) || (newest->epoch > r->epoch && !newest->dead))
                        continue; /* others were earlier */
                newest->awaits_candidates = lacking;
                if (lacking)
                        vec_push(&waiting, r->partition);
                else
                        slots_replace(l, s, r->partition, now);
        }
        if (waiting.len && !s->extending) {
                s->extending = true;
                slots_request(l, s, waiting.data, waiting.len, now);
        }
        vec_deinit(&waiting);
        if (s->queued.len && s->next == INT64_MAX)
                lifecycle_set_timer(l, s, now + l->config.revive_interval);
}

/*
 * The master has named workers for locations that await candidates, or cannot (@why). The slots that it chose are not
 * used: as in Celeborn, locations go to any candidate.
 */
static void slots_on_candidates(struct lifecycle *l, struct lifecycle_shuffle *s,
                                const Celeborn__RequestSlotsResponse *reply, const char *why, int64_t now)
{
        s->extending = false;
        if (s->phase != SHUFFLE_OPEN)
                return;
        for (size_t i = 0; reply && i < reply->n_worker_resource; i++) {
                const int32_t worker = slots_worker_of_key(l, reply->worker_resource[i]->key);
                if (worker >= 0)
                        slots_add_candidate(s, worker);
        }
        if (!reply)
                lifecycle_log(l, LOG_WARN, "Celeborn shuffle %d gets no more workers: %s", s->id, why);
        for (int p = 0; p < s->partitions; p++) {
                struct lifecycle_location *newest = &s->locations.data[s->newest[p]];
                if (!newest->awaits_candidates)
                        continue;
                newest->awaits_candidates = false;
                slots_replace(l, s, p, now);
        }
        slots_reserve(l, s, now);
        answers_flush(l, s);
}

void slots_on_timer(struct lifecycle *l, struct lifecycle_shuffle *s, int64_t now)
{
        if (s->phase == SHUFFLE_REGISTERING && !s->outstanding)
                slots_register(l, s, now);
        else if (s->phase == SHUFFLE_OPEN)
                slots_reserve(l, s, now);
}
