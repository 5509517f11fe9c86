/*
 * See lifecycle.h. Here: events, requests and their repetitions, workers, masters, heartbeats.
 *
 * Invariants
 * - A request is in l->requests from its creation to its end. It is sent, or waits for its next try.
 * - A worker's reply changes only copies that its request names.
 * - A shuffle that was dropped keeps its entry without memory, so that late replies find it.
 */
#include "celeborn/lifecycle/lifecycle_internal.h"

#include "base/clock.h"
#include "base/error.h"
#include "rpc/wire_memory.h"

#include <inttypes.h>
#include <stdarg.h>

void lifecycle_action_deinit(struct lifecycle_action *action)
{
        switch (action->kind) {
        case LIFECYCLE_SEND:
                free(action->send.host);
                free(action->send.body);
                break;
        case LIFECYCLE_ANSWER:
                celeborn_answer_deinit(&action->answer.answer);
                break;
        case LIFECYCLE_LOG:
                free(action->log.line);
                break;
        case LIFECYCLE_JOURNAL:
                buf_deinit(&action->journal.record);
                break;
        case LIFECYCLE_STOPPED:
                break;
        }
}

bool lifecycle_next_action(struct lifecycle *l, struct lifecycle_action *action)
{
        return queue_pop(&l->actions, action);
}

void lifecycle_log(struct lifecycle *l, enum log_level level, const char *format, ...)
{
        struct buf line = BUF_INIT;
        va_list args;
        va_start(args, format);
        buf_vprintf(&line, format, args);
        va_end(args);
        queue_push(&l->actions, (struct lifecycle_action){LIFECYCLE_LOG, .log = {level, buf_steal(&line)}});
}

/* -------------------------------------------------------------------------------------------------- workers */

int32_t lifecycle_worker_index(struct lifecycle *l, const struct celeborn_worker *at)
{
        for (size_t i = 0; i < l->workers.len; i++) {
                const struct celeborn_worker *w = &l->workers.data[i].at;
                if (w->rpc_port == at->rpc_port && w->push_port == at->push_port && w->fetch_port == at->fetch_port &&
                    w->replicate_port == at->replicate_port && strcmp(w->host, at->host) == 0)
                        return (int32_t)i;
        }
        struct lifecycle_worker worker = {.at = *at};
        worker.at.host = mem_strdup(at->host);
        vec_push(&l->workers, worker);
        return (int32_t)l->workers.len - 1;
}

bool lifecycle_worker_is_usable(const struct lifecycle *l, int32_t worker, int64_t now)
{
        const struct lifecycle_worker *w = &l->workers.data[worker];
        return !w->refused && w->excluded_until <= now;
}

void lifecycle_exclude(struct lifecycle *l, int32_t worker, const char *why, int64_t now)
{
        struct lifecycle_worker *w = &l->workers.data[worker];
        if (w->excluded_until <= now)
                lifecycle_log(l, LOG_WARN, "Excluding Celeborn worker %s:%d: %s", w->at.host, w->at.rpc_port, why);
        w->excluded_until = now + l->config.excluded_timeout;
}

/* The workers that a heartbeat's answer refuses; true for the others ends with the next answer. */
static void lifecycle_refuse(struct lifecycle *l, Celeborn__WorkerInfo *const *list, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                const struct celeborn_worker at = {.host = list[i]->host,
                                                   .rpc_port = list[i]->rpc_port,
                                                   .push_port = list[i]->push_port,
                                                   .fetch_port = list[i]->fetch_port,
                                                   .replicate_port = list[i]->replicate_port};
                for (size_t w = 0; w < l->workers.len; w++)
                        if (l->workers.data[w].at.rpc_port == at.rpc_port &&
                            strcmp(l->workers.data[w].at.host, at.host) == 0)
                                l->workers.data[w].refused = true;
        }
}

#define HEARTBEAT_AGAIN (INT64_C(1000) * 1000000) /* after one that failed, or whose connection ended */

/* ------------------------------------------------------------------------------------------------- requests */

char *lifecycle_request_id(struct lifecycle *l)
{
        const uint64_t high = l->config.seed[0], low = l->config.seed[1];
        return mem_printf("%08" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%012" PRIx64 "#%" PRIu64, high >> 32,
                          high >> 16 & 0xffff, high & 0xffff, low >> 48, low & 0xffffffffffff, l->next_master_id++);
}

static void lifecycle_request_free(struct lifecycle_request *request)
{
        free(request->body);
        vec_deinit(&request->copies);
        free(request);
}

static void lifecycle_transmit(struct lifecycle *l, struct lifecycle_request *request, int64_t now)
{
        const struct celeborn_worker *worker = request->master ? NULL : &l->workers.data[request->worker].at;
        const struct lifecycle_master *master = &l->masters.data[l->leader];
        uint8_t *body = mem_alloc(MAX(request->len, (size_t)1));
        if (request->len)
                memcpy(body, request->body, request->len);
        request->id = ++l->next_request;
        request->sent = true;
        request->leader = l->leader;
        request->at = now + request->timeout;
        request->tries++;
        queue_push(&l->actions,
                   (struct lifecycle_action){LIFECYCLE_SEND,
                                             .send = {.id = request->id,
                                                      .master = request->master,
                                                      .host = mem_strdup(worker ? worker->host : master->host),
                                                      .port = worker ? worker->rpc_port : master->port,
                                                      .type = request->type,
                                                      .body = body,
                                                      .len = request->len}});
}

static void lifecycle_request_limits(const struct lifecycle *l, struct lifecycle_request *request)
{
        const struct celeborn_config *c = &l->config;
        request->timeout = request->type == CELEBORN_COMMIT_FILES ? c->commit_timeout
                           : request->master                      ? c->master_timeout
                                                                  : c->reserve_timeout;
        request->wait = request->type == CELEBORN_COMMIT_FILES ? c->commit_wait : c->master_wait;
        /* a replicated file has another copy, for which readers need not wait */
        const int commit_retries = c->replicate ? MIN(c->commit_retries, 1) : c->commit_retries;
        request->max_tries =
                request->type == CELEBORN_COMMIT_FILES ? commit_retries + 1
                : request->type == CELEBORN_HEARTBEAT_FROM_APPLICATION || request->type == CELEBORN_REVISE_LOST_SHUFFLES
                        ? l->config.n_masters
                : request->master ? c->master_retries + 1
                                  : 1;
}

struct lifecycle_request *lifecycle_send(struct lifecycle *l, int32_t shuffle, int32_t worker, int type,
                                         const ProtobufCMessage *message, int64_t now)
{
        struct lifecycle_request *request = new0(struct lifecycle_request);
        *request = (struct lifecycle_request){.master = worker < 0, .shuffle = shuffle, .worker = worker, .type = type};
        request->len = protobuf_c_message_get_packed_size(message);
        request->body = mem_alloc(MAX(request->len, (size_t)1));
        protobuf_c_message_pack(message, request->body);
        lifecycle_request_limits(l, request);
        vec_push(&l->requests, request);
        lifecycle_transmit(l, request, now);
        return request;
}

static struct lifecycle_request *lifecycle_find(const struct lifecycle *l, uint64_t id)
{
        for (size_t i = 0; i < l->requests.len; i++)
                if (l->requests.data[i]->sent && l->requests.data[i]->id == id)
                        return l->requests.data[i];
        return NULL;
}

static void lifecycle_unlink(struct lifecycle *l, struct lifecycle_request *request)
{
        for (size_t i = 0; i < l->requests.len; i++)
                if (l->requests.data[i] == request) {
                        l->requests.data[i] = l->requests.data[--l->requests.len];
                        return;
                }
}

int lifecycle_requests(const struct lifecycle *l)
{
        return (int)l->requests.len;
}

/* -------------------------------------------------------------------------------------------------- masters */

static void lifecycle_change_master(struct lifecycle *l, const char *why)
{
        char *host = NULL;
        int port = 0;
        if (!celeborn_leader_of_exception(why, &host, &port)) {
                l->leader = (l->leader + 1) % l->masters.len;
                return;
        }
        size_t i = 0;
        while (i < l->masters.len && (l->masters.data[i].port != port || strcmp(l->masters.data[i].host, host) != 0))
                i++;
        if (i == l->masters.len)
                vec_push(&l->masters, ((struct lifecycle_master){host, port}));
        else
                free(host);
        l->leader = i;
}

/* True while the master must know it: workers delete the files of others. */
static bool lifecycle_shuffle_is_registered(const struct lifecycle_shuffle *s)
{
        return s->phase == SHUFFLE_OPEN || s->phase == SHUFFLE_COMMITTING || s->phase == SHUFFLE_COMMITTED;
}

static void lifecycle_beat(struct lifecycle *l, int64_t now)
{
        Celeborn__HeartbeatFromApplication beat = CELEBORN__HEARTBEAT_FROM_APPLICATION__INIT;
        _cleanup_free_ char *id = lifecycle_request_id(l);
        _cleanup_free_ Celeborn__WorkerInfo *infos = new_array(Celeborn__WorkerInfo, l->workers.len + 1);
        _cleanup_free_ Celeborn__WorkerInfo **list = new_array(Celeborn__WorkerInfo *, l->workers.len + 1);
        for (size_t i = 0; i < l->workers.len; i++) {
                const struct lifecycle_worker *w = &l->workers.data[i];
                if (w->excluded_until <= now && !w->refused)
                        continue;
                Celeborn__WorkerInfo *info = &infos[beat.n_need_checked_worker_list];
                celeborn__worker_info__init(info);
                info->host = w->at.host;
                info->rpc_port = w->at.rpc_port;
                info->push_port = w->at.push_port;
                info->fetch_port = w->at.fetch_port;
                info->replicate_port = w->at.replicate_port;
                list[beat.n_need_checked_worker_list++] = info;
        }
        beat.app_id = (char *)l->config.app_id;
        beat.total_written = l->written;
        beat.file_count = l->files;
        beat.request_id = id;
        beat.need_checked_worker_list = list;
        beat.should_response = true;
        beat.shuffle_count = l->begun - l->reported;
        beat.application_count = !l->first_heartbeat_sent;
        for (size_t i = 0; i < l->shuffles.len; i++)
                if (l->shuffles.data[i])
                        l->shuffles.data[i]->announced = lifecycle_shuffle_is_registered(l->shuffles.data[i]);
        lifecycle_send(l, -1, -1, CELEBORN_HEARTBEAT_FROM_APPLICATION, &beat.base, now);
        l->written = l->files = 0;
        l->reported = l->begun;
        l->first_heartbeat_sent = true;
        l->last_heartbeat = now;
        l->next_heartbeat = now + l->config.heartbeat;
}

void lifecycle_master_disconnected(struct lifecycle *l, int64_t now)
{
        const int64_t soon = MAX(now, l->last_heartbeat + HEARTBEAT_AGAIN);
        l->next_heartbeat = MIN(l->next_heartbeat, soon);
}

/* A master that has lost its state does not list shuffles that it had registered: registers them again. */
static void lifecycle_revise(struct lifecycle *l, const int32_t *known, size_t n, int64_t now)
{
        Celeborn__ReviseLostShuffles message = CELEBORN__REVISE_LOST_SHUFFLES__INIT;
        _cleanup_free_ char *id = NULL;
        VEC(int32_t) lost = {0};
        for (size_t i = 0; i < l->shuffles.len; i++) {
                const struct lifecycle_shuffle *s = l->shuffles.data[i];
                bool listed = !s || !s->announced || !lifecycle_shuffle_is_registered(s);
                for (size_t k = 0; k < n && !listed; k++)
                        listed = known[k] == s->id;
                if (!listed)
                        vec_push(&lost, s->id);
        }
        if (lost.len) {
                lifecycle_log(l, LOG_WARN,
                              "Celeborn's master has lost %zu shuffles of the application: registering them again",
                              lost.len);
                id = lifecycle_request_id(l);
                message.app_id = (char *)l->config.app_id;
                message.lost_shuffles = lost.data;
                message.n_lost_shuffles = lost.len;
                message.request_id = id;
                lifecycle_send(l, -1, -1, CELEBORN_REVISE_LOST_SHUFFLES, &message.base, now);
        }
        vec_deinit(&lost);
}

static void lifecycle_on_heartbeat(struct lifecycle *l, const Celeborn__HeartbeatFromApplicationResponse *reply,
                                   int64_t now)
{
        for (size_t i = 0; i < l->workers.len; i++)
                l->workers.data[i].refused = false;
        lifecycle_refuse(l, reply->excluded_workers, reply->n_excluded_workers);
        lifecycle_refuse(l, reply->unknown_workers, reply->n_unknown_workers);
        lifecycle_refuse(l, reply->shutting_workers, reply->n_shutting_workers);
        if (l->config.revise && !l->stopping && reply->status == CELEBORN_SUCCESS)
                lifecycle_revise(l, reply->registered_shuffles, reply->n_registered_shuffles, now);
}

/* ------------------------------------------------------------------------------------------------- shuffles */

struct lifecycle_shuffle *lifecycle_shuffle(const struct lifecycle *l, int32_t id)
{
        return id >= 0 && (size_t)id < l->shuffles.len ? l->shuffles.data[id] : NULL;
}

void lifecycle_set_timer(struct lifecycle *l, struct lifecycle_shuffle *shuffle, int64_t at)
{
        if (shuffle->next == INT64_MAX && at != INT64_MAX)
                vec_push(&l->timed, shuffle->id);
        shuffle->next = at;
}

struct lifecycle_shuffle *lifecycle_add(struct lifecycle *l, int32_t id, int maps, int partitions)
{
        struct lifecycle_shuffle *s = new0(struct lifecycle_shuffle);
        *s = (struct lifecycle_shuffle){.id = id, .maps = maps, .partitions = partitions, .next = INT64_MAX};
        s->newest = new_array(int32_t, (size_t)MAX(partitions, 1));
        for (int p = 0; p < partitions; p++)
                s->newest[p] = -1;
        while (l->shuffles.len <= (size_t)id)
                vec_push(&l->shuffles, NULL);
        l->shuffles.data[id] = s;
        return s;
}

/* Frees what a shuffle holds, but for its entry and its waiters. */
static void lifecycle_shuffle_clear(struct lifecycle_shuffle *s)
{
        vec_deinit(&s->locations);
        vec_deinit(&s->candidates);
        vec_deinit(&s->queued);
        vec_deinit(&s->failed);
        free(s->newest);
        s->newest = NULL;
        free(s->failure);
        s->failure = NULL;
        free(s->attempts);
        s->attempts = NULL;
}

void lifecycle_forget(struct lifecycle_shuffle *s)
{
        s->phase = SHUFFLE_DROPPED;
        lifecycle_shuffle_clear(s);
}

void lifecycle_begin(struct lifecycle *l, int32_t id, int maps, int partitions, int64_t now)
{
        l->begun++;
        slots_register(l, lifecycle_add(l, id, maps, partitions), now);
}

void lifecycle_maps_ended(struct lifecycle *l, int32_t id, const int32_t *attempts, int64_t now)
{
        struct lifecycle_shuffle *s = lifecycle_shuffle(l, id);
        if (s && (s->phase == SHUFFLE_REGISTERING || s->phase == SHUFFLE_OPEN || s->phase == SHUFFLE_FAILED))
                commit_begin(l, s, attempts, now);
}

void lifecycle_drop(struct lifecycle *l, int32_t id, int64_t now)
{
        struct lifecycle_shuffle *s = lifecycle_shuffle(l, id);
        if (!s || s->phase == SHUFFLE_DROPPED)
                return;
        journal_gone(l, s);
        if (s->requested) {
                Celeborn__UnregisterShuffle message = CELEBORN__UNREGISTER_SHUFFLE__INIT;
                _cleanup_free_ char *request_id = lifecycle_request_id(l);
                message.app_id = (char *)l->config.app_id;
                message.shuffle_id = id;
                message.request_id = request_id;
                lifecycle_send(l, -1, -1, CELEBORN_UNREGISTER_SHUFFLE, &message.base, now);
        }
        s->phase = SHUFFLE_DROPPED;
        answers_flush(l, s);
        lifecycle_shuffle_clear(s);
        vec_deinit(&s->waiters);
}

void lifecycle_ask(struct lifecycle *l, void *asker, struct celeborn_question *question, int64_t now)
{
        struct lifecycle_shuffle *s = lifecycle_shuffle(l, question->shuffle);
        if (!s) {
                celeborn_question_deinit(question);
                queue_push(&l->actions,
                           (struct lifecycle_action){
                                   LIFECYCLE_ANSWER,
                                   .answer = {.asker = asker, .answer = {.status = CELEBORN_SHUFFLE_UNREGISTERED}}});
                return;
        }
        vec_push(&s->waiters, ((struct lifecycle_waiter){asker, *question}));
        /* as long as no master has ever answered, heartbeats look for one */
        if (s->phase == SHUFFLE_FAILED && question->kind == CELEBORN_ASK_LOCATIONS && l->answered) {
                s->tries = 0;
                slots_register(l, s, now);
        } else if (s->phase == SHUFFLE_OPEN && question->kind == CELEBORN_ASK_REVIVE) {
                slots_revive(l, s, question, now);
        }
        *question = (struct celeborn_question){0};
        answers_flush(l, s);
}

/* --------------------------------------------------------------------------------------------------- events */

/* The request will not be repeated. @why NULL: @body is the reply. Frees it. */
static void lifecycle_end(struct lifecycle *l, struct lifecycle_request *request, const char *why, const uint8_t *body,
                          size_t len, int64_t now)
{
        struct lifecycle_shuffle *s = lifecycle_shuffle(l, request->shuffle);
        struct wire_memory memory = wire_memory_for(len);
        ProtobufCAllocator allocator = wire_memory_allocator(&memory);
        lifecycle_unlink(l, request);
        if (s && s->phase == SHUFFLE_DROPPED)
                s = NULL;
        if (request->type == CELEBORN_REQUEST_SLOTS && s) {
                const Celeborn__RequestSlotsResponse *reply =
                        why ? NULL : celeborn__request_slots_response__unpack(&allocator, len, body);
                if (reply)
                        slots_on_requested(l, s, reply, now);
                else
                        slots_on_refused(l, s, why ? why : "the answer to RequestSlots cannot be decoded", true, now);
        } else if (request->type == CELEBORN_RESERVE_SLOTS && s) {
                const Celeborn__StatusResponse *reply =
                        why ? NULL : celeborn__status_response__unpack(&allocator, len, body);
                if (reply && reply->status != CELEBORN_SUCCESS)
                        why = reply->reason && *reply->reason ? reply->reason : celeborn_status_name(reply->status);
                else if (!reply && !why)
                        why = "the answer to ReserveSlots cannot be decoded";
                slots_on_reserved(l, s, request, why, now);
        } else if (request->type == CELEBORN_COMMIT_FILES && s) {
                const Celeborn__CommitFilesResponse *reply =
                        why ? NULL : celeborn__commit_files_response__unpack(&allocator, len, body);
                commit_on_answered(l, s, request, reply, why, now);
        } else if (request->type == CELEBORN_HEARTBEAT_FROM_APPLICATION) {
                const Celeborn__HeartbeatFromApplicationResponse *reply =
                        why ? NULL : celeborn__heartbeat_from_application_response__unpack(&allocator, len, body);
                if (reply)
                        lifecycle_on_heartbeat(l, reply, now);
                else
                        lifecycle_log(l, l->unheard ? LOG_DEBUG : LOG_WARN,
                                      "No Celeborn master accepts the application's heartbeat: %s",
                                      why ? why : "the answer cannot be decoded");
                l->unheard = !reply;
                if (!reply) /* one that starts again has no shuffles, and workers soon delete what it does not know */
                        l->next_heartbeat = MIN(l->next_heartbeat, now + HEARTBEAT_AGAIN);
        } else if (request->type == CELEBORN_REVISE_LOST_SHUFFLES && why) { /* a master before 0.6 */
                lifecycle_log(l, LOG_WARN, "Celeborn's master does not register lost shuffles again: %s", why);
                l->config.revise = false;
        } else if (request->type == CELEBORN_APPLICATION_LOST && !l->stopped) {
                if (!why) /* not before: the next driver of one that is killed now tells the master again */
                        journal_stopped(l);
                l->stopped = true;
                queue_push(&l->actions, (struct lifecycle_action){.kind = LIFECYCLE_STOPPED});
        }
        arena_deinit(&memory.arena);
        lifecycle_request_free(request);
}

/* The message type of a valid answer. */
static int lifecycle_reply_type(int type)
{
        switch (type) {
        case CELEBORN_REQUEST_SLOTS:
                return CELEBORN_REQUEST_SLOTS_RESPONSE;
        case CELEBORN_RESERVE_SLOTS:
                return CELEBORN_RESERVE_SLOTS_RESPONSE;
        case CELEBORN_COMMIT_FILES:
                return CELEBORN_COMMIT_FILES_RESPONSE;
        case CELEBORN_HEARTBEAT_FROM_APPLICATION:
                return CELEBORN_HEARTBEAT_RESPONSE;
        default:
                return -1; /* nothing is read of others */
        }
}

void lifecycle_reply(struct lifecycle *l, uint64_t id, int type, const uint8_t *body, size_t len, int64_t now)
{
        struct lifecycle_request *request = lifecycle_find(l, id);
        if (!request)
                return;
        const int expected = lifecycle_reply_type(request->type);
        if (expected >= 0 && type != expected) {
                _cleanup_free_ char *why = mem_printf("it answered with a message of type %d", type);
                lifecycle_failed(l, id, why, now);
                return;
        }
        l->answered |= request->master;
        lifecycle_end(l, request, NULL, body, len, now);
}

static void lifecycle_fail(struct lifecycle *l, struct lifecycle_request *request, const char *why, int64_t now)
{
        if (request->master && request->leader == l->leader) /* else another request has changed it */
                lifecycle_change_master(l, why);
        const bool stop_trying = !request->master && l->workers.data[request->worker].excluded_until > now;
        if (request->tries >= request->max_tries || stop_trying) {
                lifecycle_end(l, request, why, NULL, 0, now);
                return;
        }
        request->sent = false;
        request->at = now + request->wait;
}

void lifecycle_failed(struct lifecycle *l, uint64_t id, const char *why, int64_t now)
{
        struct lifecycle_request *request = lifecycle_find(l, id);
        if (request)
                lifecycle_fail(l, request, why, now);
}

void lifecycle_stop(struct lifecycle *l, int64_t now)
{
        Celeborn__ApplicationLost message = CELEBORN__APPLICATION_LOST__INIT;
        _cleanup_free_ char *id = lifecycle_request_id(l);
        if (l->stopping)
                return;
        for (size_t i = 0; i < l->shuffles.len; i++)
                if (l->shuffles.data[i] && l->shuffles.data[i]->phase != SHUFFLE_DROPPED) {
                        l->shuffles.data[i]->phase = SHUFFLE_DROPPED; /* the master drops all of them */
                        answers_flush(l, l->shuffles.data[i]);
                }
        l->stopping = true;
        l->stop_at = now + l->config.stop_timeout;
        message.app_id = (char *)l->config.app_id;
        message.request_id = id;
        struct lifecycle_request *request = lifecycle_send(l, -1, -1, CELEBORN_APPLICATION_LOST, &message.base, now);
        if (l->answered)
                return;
        request->max_tries = (int)l->masters.len + 1; /* each master, and a leader that one of them names */
        request->wait = 0;
}

int64_t lifecycle_deadline(const struct lifecycle *l)
{
        int64_t at = l->stopping ? l->stop_at : l->next_heartbeat;
        for (size_t i = 0; i < l->requests.len; i++)
                at = MIN(at, l->requests.data[i]->at);
        for (size_t i = 0; i < l->timed.len; i++)
                at = MIN(at, l->shuffles.data[l->timed.data[i]]->next);
        return l->stopped ? INT64_MAX : at;
}

/* Sends, or gives up, the requests that are due. */
static void lifecycle_tick_requests(struct lifecycle *l, int64_t now)
{
        VEC(struct lifecycle_request *) due = {0};
        for (size_t i = 0; i < l->requests.len; i++)
                if (l->requests.data[i]->at <= now)
                        vec_push(&due, l->requests.data[i]);
        for (size_t i = 0; i < due.len; i++) {
                if (due.data[i]->sent)
                        lifecycle_fail(l, due.data[i], "it does not answer", now);
                else
                        lifecycle_transmit(l, due.data[i], now);
        }
        vec_deinit(&due);
}

static void lifecycle_tick_shuffles(struct lifecycle *l, int64_t now)
{
        VEC(int32_t) due = {0};
        size_t kept = 0;
        for (size_t i = 0; i < l->timed.len; i++) {
                struct lifecycle_shuffle *s = l->shuffles.data[l->timed.data[i]];
                if (s->next > now) {
                        l->timed.data[kept++] = s->id;
                } else {
                        s->next = INT64_MAX;
                        vec_push(&due, s->id);
                }
        }
        l->timed.len = kept;
        for (size_t i = 0; i < due.len; i++)
                if (l->shuffles.data[due.data[i]]->phase != SHUFFLE_DROPPED)
                        slots_on_timer(l, l->shuffles.data[due.data[i]], now);
        vec_deinit(&due);
}

void lifecycle_tick(struct lifecycle *l, int64_t now)
{
        if (l->stopped)
                return;
        lifecycle_tick_requests(l, now);
        lifecycle_tick_shuffles(l, now);
        if (!l->stopping && l->next_heartbeat <= now)
                lifecycle_beat(l, now);
        if (l->stopping && !l->stopped && l->stop_at <= now) {
                l->stopped = true;
                queue_push(&l->actions, (struct lifecycle_action){.kind = LIFECYCLE_STOPPED});
        }
}

struct lifecycle *lifecycle_new(const struct celeborn_config *config, int64_t now)
{
        struct lifecycle *l = new0(struct lifecycle);
        l->config = *config;
        l->config.app_id = mem_strdup(config->app_id);
        l->config.hostname = mem_strdup(config->hostname);
        l->config.tenant = mem_strdup(config->tenant);
        l->config.user = mem_strdup(config->user);
        l->config.tags = mem_strdup(config->tags);
        l->config.masters = NULL;
        for (int i = 0; i < config->n_masters; i++)
                vec_push(&l->masters,
                         ((struct lifecycle_master){mem_strdup(config->masters[i].host), config->masters[i].port}));
        lifecycle_beat(l, now);
        return l;
}

void lifecycle_free(struct lifecycle *l)
{
        if (!l)
                return;
        for (size_t i = 0; i < l->shuffles.len; i++) {
                struct lifecycle_shuffle *s = l->shuffles.data[i];
                if (!s)
                        continue;
                for (size_t w = 0; w < s->waiters.len; w++)
                        celeborn_question_deinit(&s->waiters.data[w].question);
                vec_deinit(&s->waiters);
                lifecycle_shuffle_clear(s);
                free(s);
        }
        for (size_t i = 0; i < l->requests.len; i++)
                lifecycle_request_free(l->requests.data[i]);
        for (struct lifecycle_action action; queue_pop(&l->actions, &action);)
                lifecycle_action_deinit(&action);
        for (size_t i = 0; i < l->workers.len; i++)
                free(l->workers.data[i].at.host);
        for (size_t i = 0; i < l->mounts.len; i++)
                free(l->mounts.data[i]);
        for (size_t i = 0; i < l->masters.len; i++)
                free(l->masters.data[i].host);
        vec_deinit(&l->shuffles);
        vec_deinit(&l->requests);
        queue_deinit(&l->actions);
        vec_deinit(&l->workers);
        vec_deinit(&l->mounts);
        vec_deinit(&l->masters);
        vec_deinit(&l->timed);
        free((char *)l->config.app_id);
        free((char *)l->config.hostname);
        free((char *)l->config.tenant);
        free((char *)l->config.user);
        free((char *)l->config.tags);
        free(l);
}
