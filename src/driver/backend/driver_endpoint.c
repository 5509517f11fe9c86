/*
 * The driver's endpoint, "CoarseGrainedScheduler": reads untrusted messages of executors, cluster managers and others
 * (rpc/control.proto), and passes them to the backend, the scheduler and the driver's transfers.
 */
#include "driver/backend/cluster_backend_internal.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "driver/context.h"
#include "driver/backend/driver_transfer.h"
#include "driver/backend/shuffle_service_cleanup.h"
#include "driver/executor_info.h"
#include "driver/resources/resource_profiles.h"
#include "exec/actions/row_sink.h"
#include "exec/task/task_batch_wire.h"
#include "hadoop/credentials.h"
#include "io/fs/file_systems.h"
#include "io/fs/hdfs_tokens.h"
#include "rpc/control.pb-c.h"
#include "rpc/wire_memory.h"

static Firesteel__Property **driver_endpoint_properties(const struct strmap *map, size_t *n)
{
        Firesteel__Property **list = new_array(Firesteel__Property *, map->count + 1);
        *n = 0;
        for (struct strmap_entry *e = NULL; (e = strmap_next(map, e));) {
                if (strcmp(e->key, "spark.authenticate.secret") == 0)
                        continue; /* the asker has proved that it knows it */
                Firesteel__Property *p = mem_alloc(sizeof(*p));
                firesteel__property__init(p);
                p->key = e->key;
                p->value = e->value;
                list[(*n)++] = p;
        }
        return list;
}

/* The application's configuration with the settings of the driver's Hadoop files, which executors may not have. */
static const struct strmap *driver_endpoint_settings(struct cluster_backend *b)
{
        struct fst_error error = FST_ERROR_INIT;
        if (b->settings.count > 0)
                return &b->settings;
        strmap_merge(&b->settings, &b->sc->conf->set);
        if (file_systems_describe(&b->settings, &error) < 0)
                log_warn("CoarseGrainedSchedulerBackend",
                         "Executors do not get the Hadoop configuration, which cannot be read: %s",
                         error_message(&error));
        error_deinit(&error);
        return &b->settings;
}

void cluster_send_config(struct cluster_backend *b, struct rpc_call *call, int resource_profile)
{
        _cleanup_(strmap_deinit) struct strmap of_profile = STRMAP_INIT;
        _cleanup_(buf_deinit) struct buf body = BUF_INIT;
        const struct strmap *settings = driver_endpoint_settings(b);
        const struct fst_resource_profile *profile =
                resource_profile && b->sc->profiles ? resource_profiles_find(b->sc->profiles, resource_profile) : NULL;
        if (profile) {
                strmap_merge(&of_profile, settings);
                resource_profile_apply(profile, &of_profile);
                settings = &of_profile;
        }
        Firesteel__AppConfig config = FIRESTEEL__APP_CONFIG__INIT;
        config.properties = driver_endpoint_properties(settings, &config.n_properties);
        config.app_id = b->sc->app_id;
        config.seed = b->sc->env.seed;
        const struct driver_epoch epoch = job_runner_epoch(b->runner);
        config.epoch = epoch.epoch;
        if (epoch.executors_wait && b->manager->class->adopt) /* others refuse executors of an earlier driver */
                config.resume_application = (char *)epoch.journal;
        driver_transfer_describe(b->transfer, &config);
        config.io_encryption_key = (ProtobufCBinaryData){b->io_secret_len, b->io_secret};
        config.delegation_tokens = (ProtobufCBinaryData){b->tokens.len, (uint8_t *)b->tokens.data};
        task_batch_append(&config.base, &body);
        rpc_call_reply(call, FIRESTEEL__CONTROL_TYPE__RETRIEVE_APP_CONFIG, body.data, body.len, NULL);
        explicit_bzero(body.data, body.len);
        for (size_t i = 0; i < config.n_properties; i++)
                free(config.properties[i]);
        free(config.properties);
}

static void driver_endpoint_retrieve_config(struct cluster_backend *b, struct rpc_message *m)
{
        Firesteel__RetrieveAppConfig *question = firesteel__retrieve_app_config__unpack(&wire_guarded, m->len, m->body);
        const int profile = question ? question->resource_profile : 0, epoch = question ? question->epoch : 0;
        firesteel__retrieve_app_config__free_unpacked(question, NULL);
        if (m->ask && !cluster_adoption_defers_config(b, m, epoch, profile))
                cluster_send_config(b, rpc_message_defer(m), profile);
}

/* Report it to the scheduler, with its custom resources. */
static int driver_endpoint_announce(struct cluster_backend *b, const struct remote_executor *x,
                                    const Firesteel__RegisterExecutor *r)
{
        struct executor_resource *resources = new_array(struct executor_resource, r->n_resources);
        for (size_t i = 0; i < r->n_resources; i++)
                resources[i] = (struct executor_resource){.name = r->resources[i]->name,
                                                          .addresses = (const char *const *)r->resources[i]->addresses,
                                                          .n = (int)r->resources[i]->n_addresses};
        struct executor_info details = {
                .spec = {.id = x->id,
                         .host = x->host,
                         .cores = x->cores,
                         .profile = r->resource_profile,
                         .resources = resources,
                         .n_resources = (int)r->n_resources},
                .port = x->transfer_port,
                .pid = r->pid,
                .started = r->started,
                .memory = x->memory,
                .off_heap_memory = x->off_heap_memory,
                .log_urls = &x->log_urls,
                .attributes = &x->attributes,
        };
        int index = job_runner_executor_added(b->runner, &details);
        free(resources);
        return index;
}

static void driver_endpoint_register_executor(struct cluster_backend *b, struct rpc_message *m)
{
        Firesteel__RegisterExecutor *r = firesteel__register_executor__unpack(&wire_guarded, m->len, m->body);
        struct fst_error error = FST_ERROR_INIT;
        struct remote_executor *x;
        if (!r) {
                rpc_fail(m, "the registration cannot be decoded");
                return;
        }
        if (b->stopping) /* there may be no job runner any more */
                error_set(&error, -ESHUTDOWN, "the application is ending");
        else if (job_runner_host_excluded(b->runner, r->hostname))
                error_set(&error, -EACCES, "Executor is excluded due to failures: host %s", r->hostname);
        else if (b->manager->class->refuses && b->manager->class->refuses(b->manager, r->executor_id))
                error_set(&error, -EACCES, "executor %s was given up", r->executor_id);
        else if (rpc_peer_data(m->peer))
                error_set(&error, -EEXIST, "this connection already belongs to an executor");
        else
                cluster_adoption_check(b, r, &error);
        if (error.message || executor_table_check(&b->executors, r, &error)) {
                if (rpc_peer_may_log(m->peer))
                        log_warn("CoarseGrainedSchedulerBackend", "an executor at %s is refused: %s",
                                 rpc_peer_name(m->peer), error_message(&error));
                rpc_fail(m, "%s", error_message(&error));
                error_deinit(&error);
                firesteel__register_executor__free_unpacked(r, NULL);
                return;
        }
        x = executor_table_add(&b->executors, r);
        x->backend = b;
        x->adopted = r->holdings != NULL;
        x->ref = rpc_peer_ref(m->peer, "Executor");
        x->heartbeat_ms = time_of_day_ms();
        uv_timer_init(&b->loop, &x->loss);
        uv_timer_init(&b->loop, &x->timeout);
        x->loss.data = x->timeout.data = x;
        rpc_peer_set_data(m->peer, x);
        rpc_peer_authorize(m->peer);
        log_info("CoarseGrainedSchedulerBackend", "Registered executor %s (%s) with ID %s", x->host,
                 rpc_peer_name(m->peer), x->id);
        Firesteel__RegisteredExecutor reply = FIRESTEEL__REGISTERED_EXECUTOR__INIT;
        reply.index = x->index;
        reply.epoch = b->epoch;
        reply.writer = job_runner_writer(b->runner, x->index);
        rpc_reply_packed(m, m->type, &reply.base, NULL);
        __atomic_fetch_add(&b->sc->registered_cores, x->cores, __ATOMIC_RELAXED);
        x->index = driver_endpoint_announce(b, x, r);
        cluster_broadcast_lost_executors(b, x);
        driver_transfer_add_executor(b->transfer, x);
        /* Files may have been added since it received its configuration. */
        if (driver_transfer_files(b->transfer)->n_files)
                rpc_send_packed(x->ref, FIRESTEEL__CONTROL_TYPE__ADD_FILES, &driver_transfer_files(b->transfer)->base,
                                NULL);
        cluster_adoption_registered(b, x, r->holdings);
        if (b->service_cleanup && x->service_port && b->manager->class->must_notify_shuffle_services)
                shuffle_service_cleanup_watch(b->service_cleanup, x->host, x->service_port);
        if (b->manager->class->registered)
                b->manager->class->registered(b->manager, x->id);
        firesteel__register_executor__free_unpacked(r, NULL);
}

/*
 * The executor's status updates cannot be decoded, so the state of its tasks is unknown: treat it as lost. Counts
 * against its tasks, so that an executor that repeats it fails the job instead of blocking it.
 */
static void driver_endpoint_give_up(struct cluster_backend *b, struct remote_executor *x, const char *why)
{
        _cleanup_free_ char *reason = mem_printf("its status update cannot be decoded: %s", why);
        _cleanup_free_ char *id = mem_strdup(x->id);
        cluster_lose(b, x, true, reason);
        cluster_kill(b, id, true);
}

static void driver_endpoint_status_update(struct cluster_backend *b, const struct rpc_message *m)
{
        struct remote_executor *x = rpc_peer_data(m->peer);
        if (!x || x->state == EXECUTOR_GONE)
                return;
        struct wire_scratch scratch;
        ProtobufCAllocator allocator = wire_scratch_allocator(&scratch);
        Firesteel__StatusUpdate *update = firesteel__status_update__unpack(&allocator, m->len, m->body);
        if (!update) {
                _cleanup_free_ char *no_memory = mem_printf(NO_DRIVER_MEMORY, (size_t)m->len);
                driver_endpoint_give_up(b, x, scratch.refused ? no_memory : "not a valid message");
        }
        for (size_t i = 0; update && i < update->n_computed; i++)
                if (executor_batch_computed(x, update->computed[i]))
                        job_runner_release_core(b->runner, update->computed[i]);
        if (update)
                cluster_held_runs_ended(b, x, update->idle, update->n_idle);
        for (size_t i = 0; update && i < update->n_runs && x->state == EXECUTOR_ALIVE; i++) {
                const Firesteel__RunStatus *status = update->runs[i];
                struct task_batch *run = executor_find_batch(x, status->slot, status->first_task_id);
                struct fst_error error = FST_ERROR_INIT;
                bool again = run && cluster_awaits_results(run);
                if (!run || again)
                        log_warn("CoarseGrainedSchedulerBackend", "Ignored task status update from executor %s: %s",
                                 x->id, again ? "that run has ended" : "nothing runs in that slot");
                else if (task_batch_read_status(status, run, &error))
                        driver_endpoint_give_up(b, x, error_message(&error));
                else
                        cluster_fetch_results(b, x, run);
                error_deinit(&error);
        }
        firesteel__status_update__free_unpacked(update, &allocator);
}

static struct node_counters driver_endpoint_node(const Firesteel__NodeCounters *from)
{
        if (!from)
                return (struct node_counters){0};
        return (struct node_counters){.ms = from->ms,
                                      .cpu_busy_ms = from->cpu_busy_ms,
                                      .cpu_all_ms = from->cpu_all_ms,
                                      .process_cpu_ms = from->process_cpu_ms,
                                      .memory_total = from->memory_total,
                                      .memory_available = from->memory_available,
                                      .disk_read = from->disk_read,
                                      .disk_written = from->disk_written,
                                      .net_received = from->net_received,
                                      .net_sent = from->net_sent};
}

static void driver_endpoint_heartbeat(struct cluster_backend *b, struct rpc_message *m)
{
        Firesteel__Heartbeat *beat = firesteel__heartbeat__unpack(&wire_guarded, m->len, m->body);
        struct remote_executor *x = beat ? rpc_peer_data(m->peer) : NULL;
        Firesteel__HeartbeatReply reply = FIRESTEEL__HEARTBEAT_REPLY__INIT;
        reply.reregister = !x || x->state == EXECUTOR_GONE;
        if (x) {
                x->heartbeat_ms = time_of_day_ms();
                x->resident_bytes = beat->resident_bytes;
                x->disk_usage = beat->disk_usage;
                for (size_t i = 0; i < beat->n_tasks && x->state != EXECUTOR_GONE; i++)
                        job_runner_task_progress(b->runner, x->index, beat->tasks[i]->task_id, beat->tasks[i]->records,
                                                 beat->tasks[i]->run_ns);
                listener_bus_post_executor_metrics_update(
                        b->sc->bus,
                        &(struct executor_metrics_update){.executor_id = x->id,
                                                          .metrics = {.execution_memory = beat->execution_memory,
                                                                      .storage_memory = beat->storage_memory,
                                                                      .resident_bytes = beat->resident_bytes},
                                                          .node = driver_endpoint_node(beat->node)});
        }
        rpc_reply_packed(m, m->type, &reply.base, NULL);
        firesteel__heartbeat__free_unpacked(beat, NULL);
}

static void driver_endpoint_commit_reply(void *asker, bool may)
{
        Firesteel__MayCommitReply reply = FIRESTEEL__MAY_COMMIT_REPLY__INIT;
        uint8_t body[16];
        reply.may = may;
        rpc_call_reply(asker, FIRESTEEL__CONTROL_TYPE__MAY_COMMIT, body,
                       firesteel__may_commit_reply__pack(&reply, body), NULL);
}

static void driver_endpoint_may_commit(struct cluster_backend *b, struct rpc_message *m)
{
        if (!m->ask)
                return;
        Firesteel__MayCommit *ask = firesteel__may_commit__unpack(&wire_guarded, m->len, m->body);
        struct commit_requester asker = {.reply = driver_endpoint_commit_reply, .owner = rpc_message_defer(m)};
        if (ask)
                job_runner_commit_request(b->runner, ask->partition, ask->task_id, &asker);
        else
                driver_endpoint_commit_reply(asker.owner, false);
        firesteel__may_commit__free_unpacked(ask, NULL);
}

static void driver_endpoint_barrier_reply(void *asker, const uint8_t *reply, size_t len)
{
        rpc_call_reply(asker, FIRESTEEL__CONTROL_TYPE__BARRIER_SYNC, reply, len, NULL);
}

static void driver_endpoint_barrier_fail(void *asker, const char *message)
{
        rpc_call_fail(asker, "%s", message);
}

static void driver_endpoint_barrier_sync(struct cluster_backend *b, struct rpc_message *m)
{
        if (!m->ask)
                return;
        struct barrier_requester asker = {.reply = driver_endpoint_barrier_reply,
                                          .fail = driver_endpoint_barrier_fail,
                                          .owner = rpc_message_defer(m)};
        job_runner_barrier_request(b->runner, m->body, m->len, &asker);
}

static void driver_endpoint_block_request(struct cluster_backend *b, struct rpc_message *m)
{
        struct remote_executor *x = rpc_peer_data(m->peer);
        if (!x || x->state == EXECUTOR_GONE) {
                if (m->ask)
                        rpc_fail(m, "the executor is not registered");
                return;
        }
        if (m->type == FIRESTEEL__CONTROL_TYPE__BLOCK_UPDATES && x->held.len)
                cluster_held_runs_updated(b, x, m);
        else if (m->type == FIRESTEEL__CONTROL_TYPE__BLOCK_UPDATES)
                driver_transfer_updates(b->transfer, x, m);
        else if (m->type == FIRESTEEL__CONTROL_TYPE__BLOCK_LOCATIONS)
                driver_transfer_locations(b->transfer, x, m);
        else
                driver_transfer_peers(b->transfer, x, m);
}

/* Removes unwanted outputs from the executor that received them. */
static void driver_endpoint_outputs_moved(struct cluster_backend *b, struct rpc_message *m)
{
        const struct remote_executor *from = rpc_peer_data(m->peer);
        Firesteel__OutputsMoved *moved = firesteel__outputs_moved__unpack(&wire_guarded, m->len, m->body);
        if (!moved || moved->n_map_partitions != moved->n_task_ids ||
            (moved->n_places && moved->n_places != moved->n_task_ids)) {
                rpc_fail(m, "OutputsMoved cannot be decoded");
                firesteel__outputs_moved__free_unpacked(moved, NULL);
                return;
        }
        const struct remote_executor *to = moved->n_places ? NULL : executor_table_at(&b->executors, moved->executor);
        Firesteel__OutputsMovedReply reply = FIRESTEEL__OUTPUTS_MOVED_REPLY__INIT;
        reply.taken = to && to != from && to->state == EXECUTOR_ALIVE && !to->decommissioned && !to->killed;
        for (size_t i = 0; i < moved->n_task_ids && reply.taken; i++)
                if (!job_runner_output_moved(b->runner, moved->shuffle, moved->map_partitions[i], moved->task_ids[i],
                                             from->index, to->index))
                        cluster_remove_output(&b->backend, to->index, moved->shuffle, moved->map_partitions[i],
                                              moved->task_ids[i]);
        for (size_t i = 0; i < moved->n_places; i++)
                job_runner_output_stored(b->runner, moved->shuffle, moved->map_partitions[i], moved->task_ids[i],
                                         from->index, moved->places[i]);
        reply.taken |= moved->n_places > 0;
        rpc_reply_packed(m, m->type, &reply.base, NULL);
        firesteel__outputs_moved__free_unpacked(moved, NULL);
}

static void driver_endpoint_remove_executor(struct cluster_backend *b, const struct rpc_message *m)
{
        Firesteel__RemoveExecutor *remove = firesteel__remove_executor__unpack(&wire_guarded, m->len, m->body);
        if (remove && (executor_table_find(&b->executors, remove->executor_id) || rpc_peer_may_log(m->peer)))
                cluster_backend_executor_exited(b, remove->executor_id, remove->caused_by_app, remove->reason);
        firesteel__remove_executor__free_unpacked(remove, NULL);
}

static void driver_endpoint_kill_executors(struct cluster_backend *b, struct rpc_message *m)
{
        Firesteel__KillExecutors *kill = firesteel__kill_executors__unpack(&wire_guarded, m->len, m->body);
        Firesteel__KilledExecutors killed = FIRESTEEL__KILLED_EXECUTORS__INIT;
        if (!kill) {
                rpc_fail(m, "KillExecutors cannot be decoded");
                return;
        }
        killed.ids = new_array(char *, kill->n_ids);
        for (size_t i = 0; i < kill->n_ids; i++) {
                struct remote_executor *x = executor_table_find(&b->executors, kill->ids[i]);
                if (!x || x->state == EXECUTOR_GONE) {
                        if (rpc_peer_may_log(m->peer))
                                log_warn("CoarseGrainedSchedulerBackend", "Executor to kill %s does not exist!",
                                         kill->ids[i]);
                        continue;
                }
                killed.ids[killed.n_ids++] = x->id;
                job_runner_executor_killed(b->runner, x->index);
                cluster_kill(b, x->id, kill->replace);
        }
        rpc_reply_packed(m, m->type, &killed.base, NULL);
        free(killed.ids);
        firesteel__kill_executors__free_unpacked(kill, NULL);
}

static void driver_endpoint_kill_executors_on_host(struct cluster_backend *b, const struct rpc_message *m)
{
        Firesteel__Host *host = firesteel__host__unpack(&wire_guarded, m->len, m->body);
        for (int i = 0; host && i < b->executors.n; i++) {
                struct remote_executor *x = b->executors.at[i];
                if (x->state != EXECUTOR_GONE && strcmp(x->host, host->host) == 0)
                        cluster_kill(b, x->id, true);
        }
        firesteel__host__free_unpacked(host, NULL);
}

/* The cluster manager has removed a worker, so its executors are lost. */
static void driver_endpoint_on_worker_removed(struct cluster_backend *b, const struct rpc_message *m)
{
        Firesteel__RemoveWorker *w = firesteel__remove_worker__unpack(&wire_guarded, m->len, m->body);
        for (int i = 0; w && i < b->executors.n; i++)
                if (strcmp(b->executors.at[i]->host, w->host) == 0)
                        cluster_lose(b, b->executors.at[i], false, w->message);
        if (w)
                cluster_backend_worker_removed(b, w->worker_id, w->host, w->message);
        firesteel__remove_worker__free_unpacked(w, NULL);
}

static void driver_endpoint_is_alive(struct cluster_backend *b, struct rpc_message *m)
{
        Firesteel__ExecutorId *id = firesteel__executor_id__unpack(&wire_guarded, m->len, m->body);
        struct remote_executor *x = id ? executor_table_find(&b->executors, id->id) : NULL;
        Firesteel__Bool reply = FIRESTEEL__BOOL__INIT;
        reply.value = x && x->state == EXECUTOR_ALIVE;
        rpc_reply_packed(m, m->type, &reply.base, NULL);
        firesteel__executor_id__free_unpacked(id, NULL);
}

/* Each executor takes no new tasks, and ends once its own have ended. */
static void driver_endpoint_decommission(struct cluster_backend *b, const struct rpc_message *m)
{
        Firesteel__KillExecutors *d = firesteel__kill_executors__unpack(&wire_guarded, m->len, m->body);
        for (size_t i = 0; d && i < d->n_ids; i++) {
                struct remote_executor *x = executor_table_find(&b->executors, d->ids[i]);
                if (x)
                        cluster_decommission(b, x, false, "requested");
        }
        firesteel__kill_executors__free_unpacked(d, NULL);
}

void cluster_backend_update_tokens(struct cluster_backend *b, const void *stream, size_t len)
{
        _cleanup_(hadoop_credentials_deinit) struct hadoop_credentials fresh = {0};
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        Firesteel__DelegationTokens message = FIRESTEEL__DELEGATION_TOKENS__INIT;
        buf_reset(&b->tokens);
        buf_append(&b->tokens, stream, len);
        if (hadoop_credentials_read(&fresh, stream, len, &error) < 0)
                log_warn("CoarseGrainedSchedulerBackend", "new delegation tokens: %s", error_message(&error));
        else
                hdfs_tokens_add(&fresh);
        message.tokens = (ProtobufCBinaryData){b->tokens.len, (uint8_t *)b->tokens.data};
        for (int i = 0; i < b->executors.n; i++)
                if (b->executors.at[i]->state == EXECUTOR_ALIVE)
                        rpc_send_packed(b->executors.at[i]->ref, FIRESTEEL__CONTROL_TYPE__UPDATE_DELEGATION_TOKENS,
                                        &message.base, NULL);
}

static void driver_endpoint_update_tokens(struct cluster_backend *b, const struct rpc_message *m)
{
        Firesteel__DelegationTokens *t = firesteel__delegation_tokens__unpack(&wire_guarded, m->len, m->body);
        if (t)
                cluster_backend_update_tokens(b, t->tokens.data, t->tokens.len);
        firesteel__delegation_tokens__free_unpacked(t, NULL);
}

/* Only executors may ask to commit or to synchronize. */
static bool driver_endpoint_is_from_executor(struct rpc_message *m)
{
        const struct remote_executor *x = rpc_peer_data(m->peer);
        if (x && x->state == EXECUTOR_ALIVE)
                return true;
        rpc_fail(m, "the executor is not registered");
        return false;
}

static void driver_endpoint_receive(void *owner, struct rpc_message *m)
{
        struct cluster_backend *b = owner;
        if (b->closing) {
                rpc_fail(m, "the application is ending");
                return;
        }
        switch (m->type) {
        case FIRESTEEL__CONTROL_TYPE__STATUS_UPDATE:
                driver_endpoint_status_update(b, m);
                break;
        case FIRESTEEL__CONTROL_TYPE__HEARTBEAT:
                driver_endpoint_heartbeat(b, m);
                break;
        case FIRESTEEL__CONTROL_TYPE__MAY_COMMIT:
                if (driver_endpoint_is_from_executor(m))
                        driver_endpoint_may_commit(b, m);
                break;
        case FIRESTEEL__CONTROL_TYPE__BARRIER_SYNC:
                if (driver_endpoint_is_from_executor(m))
                        driver_endpoint_barrier_sync(b, m);
                break;
        case FIRESTEEL__CONTROL_TYPE__CELEBORN_ASK:
                if (driver_endpoint_is_from_executor(m))
                        cluster_remote_shuffle_ask(b, m);
                break;
        case FIRESTEEL__CONTROL_TYPE__BLOCK_UPDATES:
        case FIRESTEEL__CONTROL_TYPE__BLOCK_LOCATIONS:
        case FIRESTEEL__CONTROL_TYPE__GET_PEERS:
                driver_endpoint_block_request(b, m);
                break;
        case FIRESTEEL__CONTROL_TYPE__OUTPUTS_MOVED:
                if (driver_endpoint_is_from_executor(m))
                        driver_endpoint_outputs_moved(b, m);
                break;
        case FIRESTEEL__CONTROL_TYPE__RETRIEVE_APP_CONFIG:
                driver_endpoint_retrieve_config(b, m);
                break;
        case FIRESTEEL__CONTROL_TYPE__REGISTER_EXECUTOR:
                driver_endpoint_register_executor(b, m);
                break;
        case FIRESTEEL__CONTROL_TYPE__DRIVER_REFUSED:
                cluster_refused(b, m);
                break;
        case FIRESTEEL__CONTROL_TYPE__REVIVE_OFFERS:
                break; /* offers follow every loop iteration */
        case FIRESTEEL__CONTROL_TYPE__REMOVE_EXECUTOR:
                driver_endpoint_remove_executor(b, m);
                break;
        case FIRESTEEL__CONTROL_TYPE__REMOVE_WORKER:
                driver_endpoint_on_worker_removed(b, m);
                break;
        case FIRESTEEL__CONTROL_TYPE__KILL_EXECUTORS:
                driver_endpoint_kill_executors(b, m);
                break;
        case FIRESTEEL__CONTROL_TYPE__KILL_EXECUTORS_ON_HOST:
                driver_endpoint_kill_executors_on_host(b, m);
                break;
        case FIRESTEEL__CONTROL_TYPE__DECOMMISSION_EXECUTORS:
                driver_endpoint_decommission(b, m);
                break;
        case FIRESTEEL__CONTROL_TYPE__UPDATE_DELEGATION_TOKENS:
                driver_endpoint_update_tokens(b, m);
                break;
        case FIRESTEEL__CONTROL_TYPE__IS_EXECUTOR_ALIVE:
                driver_endpoint_is_alive(b, m);
                break;
        case FIRESTEEL__CONTROL_TYPE__STOP_EXECUTORS:
                cluster_stop_executors(b);
                rpc_reply(m, m->type, NULL, 0, NULL);
                break;
        case FIRESTEEL__CONTROL_TYPE__STOP_DRIVER:
                rpc_reply(m, m->type, NULL, 0, NULL);
                job_runner_abort(b->runner, "the driver was asked to stop");
                break;
        default:
                if (rpc_peer_may_log(m->peer))
                        log_warn("CoarseGrainedSchedulerBackend", "a message of unknown type %d from %s", m->type,
                                 rpc_peer_name(m->peer));
                if (m->ask)
                        rpc_fail(m, "the driver does not handle messages of type %d", m->type);
        }
}

const struct rpc_endpoint_class driver_endpoint_class = {.receive = driver_endpoint_receive,
                                                         .disconnected = cluster_disconnected};
