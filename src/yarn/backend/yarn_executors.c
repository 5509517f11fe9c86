/* See yarn_executors.h. */
#include "yarn/backend/yarn_executors.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "hadoop/rpc_client.h"
#include "yarn/backend/node_managers.h"
#include "yarn/conf/am_settings.h"
#include "yarn/conf/rack_resolver.h"
#include "yarn/protocol/yarn_messages.h"

#include <inttypes.h>

#define YARN_LOG "YarnAllocator"
#define FINISH_RETRY_MS 200
#define PROGRESS 0.1f /* as Spark: the driver does not report any */
#define RESYNC 1
#define SHUTDOWN 2

enum executors_phase {
        EXECUTORS_NEW,
        EXECUTORS_REGISTERING,
        EXECUTORS_REGISTERED,
        EXECUTORS_FINISHING,
        EXECUTORS_OVER
};

/* A granted container: what its start needs. */
struct granted {
        struct granted *prev, *next;
        struct yarn_container_id id;
        Firesteel__Yarn__Container *message; /* a copy */
};

struct resources {
        int32_t profile;
        Firesteel__Yarn__Resource message;
};

struct heartbeat_size {
        size_t asks, releases, excluded, included;
};

struct yarn_executors {
        uv_loop_t *loop;
        const struct yarn_conf *conf;
        const struct yarn_executors_ops *ops;
        void *owner;
        enum executors_phase phase;
        char *host, *tracking_url, *node_label;
        int rpc_port;
        int64_t heartbeat_ms, initial_ms;
        int64_t interval_ms; /* until the next heartbeat */
        int64_t pending_ms;  /* the same while containers are pending */
        int64_t max_final_message;
        int max_failures, failures;
        struct hadoop_rpc_client *scheduler;
        struct node_managers nodes;
        struct yarn_allocator allocator;
        VEC(struct resources *) resources;
        LIST(struct granted) all_granted;
        struct object_table granted; /* the same by id */
        struct rack_resolver racks;
        /* The content of the next heartbeat. */
        VEC(Firesteel__Yarn__ResourceRequest *) asks;
        VEC(Firesteel__Yarn__ContainerId *) releases;
        struct string_list excluded, included;
        struct heartbeat_size sent; /* how many of them the ResourceManager has been sent without an answer */
        int32_t response_id;
        bool calling; /* a call to the scheduler is under way */
        bool failed;
        enum yarn_final_status final_status;
        char *diagnostics, *history_url;
        uv_timer_t *timer; /* the next heartbeat; freed when it is closed */
        bool freed;
};

static void executors_turn(struct yarn_executors *x);

static void on_executors_timer(uv_timer_t *timer)
{
        executors_turn(timer->data);
}

static void executors_wake(struct yarn_executors *x, int64_t in_ms)
{
        uv_timer_start(x->timer, on_executors_timer, (uint64_t)in_ms, 0);
}

static void executors_fail(struct yarn_executors *x, int exit_code, const char *message)
{
        if (x->failed)
                return;
        x->failed = true;
        yarn_allocator_stop(&x->allocator);
        x->ops->failed(x->owner, exit_code, message);
}

/* --------------------------------------------------------------------------------------------------------- messages */

static bool granted_has_id(const void *object, const void *key)
{
        return yarn_container_ids_are_equal(((const struct granted *)object)->id,
                                            *(const struct yarn_container_id *)key);
}

static struct granted *executors_find_granted(const struct yarn_executors *x, struct yarn_container_id id)
{
        return object_table_find(&x->granted, yarn_container_hash(id), granted_has_id, &id);
}

static void executors_keep_granted(struct yarn_executors *x, struct yarn_container_id id,
                                   const Firesteel__Yarn__Container *message)
{
        if (executors_find_granted(x, id))
                return;
        struct granted *g = new0(struct granted);
        *g = (struct granted){.id = id, .message = (Firesteel__Yarn__Container *)hadoop_message_copy(&message->base)};
        list_append(&x->all_granted, g);
        object_table_put(&x->granted, yarn_container_hash(id), g);
}

static void executors_remove_granted(struct yarn_executors *x, struct granted *g)
{
        list_remove(&x->all_granted, g);
        object_table_remove(&x->granted, yarn_container_hash(g->id), g);
        firesteel__yarn__container__free_unpacked(g->message, NULL);
        free(g);
}

/* Releases the copy that was needed to start the container. */
static void executors_forget_granted(struct yarn_executors *x, struct yarn_container_id id)
{
        struct granted *g = executors_find_granted(x, id);
        if (g)
                executors_remove_granted(x, g);
}

static Firesteel__Yarn__Resource *executors_resource(const struct yarn_executors *x, int32_t profile)
{
        for (size_t i = 0; i < x->resources.len; i++)
                if (x->resources.data[i]->profile == profile)
                        return &x->resources.data[i]->message;
        return NULL;
}

/* ---------------------------------------------------------------------------------------------------------- actions */

static void executors_add_ask(struct yarn_executors *x, int32_t profile, const char *location, int32_t count)
{
        Firesteel__Yarn__ResourceRequest *ask = new0(Firesteel__Yarn__ResourceRequest);
        firesteel__yarn__resource_request__init(ask);
        ask->priority = new0(Firesteel__Yarn__Priority);
        firesteel__yarn__priority__init(ask->priority);
        ask->priority->has_priority = ask->has_num_containers = ask->has_relax_locality = true;
        ask->priority->priority = profile;
        ask->resource_name = mem_strdup(location);
        ask->capability = executors_resource(x, profile);
        ask->num_containers = count;
        ask->relax_locality = true;
        ask->node_label_expression = x->node_label;
        vec_push(&x->asks, ask);
}

static void hosts_drop(struct string_list *hosts, size_t n)
{
        for (size_t i = 0; i < n; i++)
                free(hosts->data[i]);
        vec_drop(hosts, n);
}

/* Removes what a heartbeat of @size has carried. */
static void executors_drop(struct yarn_executors *x, struct heartbeat_size size)
{
        for (size_t i = 0; i < size.asks; i++) {
                free(x->asks.data[i]->priority);
                free(x->asks.data[i]->resource_name);
                free(x->asks.data[i]);
        }
        for (size_t i = 0; i < size.releases; i++)
                firesteel__yarn__container_id__free_unpacked(x->releases.data[i], NULL);
        vec_drop(&x->asks, size.asks);
        vec_drop(&x->releases, size.releases);
        hosts_drop(&x->excluded, size.excluded);
        hosts_drop(&x->included, size.included);
        x->sent = (struct heartbeat_size){0};
}

static struct heartbeat_size executors_heartbeat_size(const struct yarn_executors *x)
{
        return (struct heartbeat_size){.asks = x->asks.len,
                                       .releases = x->releases.len,
                                       .excluded = x->excluded.len,
                                       .included = x->included.len};
}

static void executors_clear_heartbeat(struct yarn_executors *x)
{
        executors_drop(x, executors_heartbeat_size(x));
}

static void executors_launch(struct yarn_executors *x, const struct yarn_action *action)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        const Firesteel__Yarn__Container *container = executors_find_granted(x, action->launch.container)->message;
        const struct yarn_launch launch = {.container = action->launch.container,
                                           .executor = action->launch.executor,
                                           .profile = action->launch.profile,
                                           .host = container->node->host,
                                           .node_http_address = container->node_http_address};
        const Firesteel__Yarn__ContainerLaunchContext *context = x->ops->launch_context(x->owner, &launch);
        if (node_managers_start(&x->nodes, container, context, &error) < 0)
                yarn_allocator_launch_failed(&x->allocator, launch.container, error_message(&error));
}

static void executors_do(struct yarn_executors *x, const struct yarn_action *action)
{
        switch (action->kind) {
        case YARN_ACTION_ASK:
                executors_add_ask(x, action->ask.profile, action->ask.location, action->ask.count);
                break;
        case YARN_ACTION_RELEASE:
                vec_push(&x->releases, yarn_container_id_message(action->container));
                executors_forget_granted(x, action->container);
                break;
        case YARN_ACTION_EXCLUDE:
                string_list_add(&x->excluded, action->host);
                break;
        case YARN_ACTION_INCLUDE:
                string_list_add(&x->included, action->host);
                break;
        case YARN_ACTION_LAUNCH:
                executors_launch(x, action);
                break;
        case YARN_ACTION_EXECUTOR_EXITED:
                x->ops->exited(x->owner, action->exited.executor, action->exited.exit_status,
                               action->exited.caused_by_app, action->exited.reason);
                break;
        case YARN_ACTION_DECOMMISSION:
                x->ops->decommission(x->owner, action->decommission.executor, action->decommission.host);
                break;
        case YARN_ACTION_LOG:
                log_at(action->log.level, YARN_LOG, "%s", action->log.line);
                break;
        }
}

static void executors_drain(struct yarn_executors *x)
{
        for (const struct yarn_action *action; !x->freed && (action = yarn_allocator_next_action(&x->allocator));)
                executors_do(x, action);
}

/* ------------------------------------------------------------------------------------------ the scheduler's answers */

/* Finds the racks of all granted containers with one run of the topology script. */
static void executors_resolve_racks(struct yarn_executors *x, const Firesteel__Yarn__AllocateResponse *answer)
{
        const char **hosts = new_array(const char *, answer->n_allocated_containers + 1);
        size_t n = 0;
        for (size_t i = 0; i < answer->n_allocated_containers; i++) {
                const Firesteel__Yarn__NodeId *node = answer->allocated_containers[i]->node;
                if (node && node->host)
                        hosts[n++] = node->host;
        }
        rack_resolver_resolve(&x->racks, hosts, n);
        free(hosts);
}

static void executors_take_granted(struct yarn_executors *x, const Firesteel__Yarn__AllocateResponse *answer)
{
        executors_resolve_racks(x, answer);
        struct yarn_granted *all = new_array(struct yarn_granted, answer->n_allocated_containers + 1);
        size_t n = 0;
        for (size_t i = 0; i < answer->n_allocated_containers; i++) {
                const Firesteel__Yarn__Container *m = answer->allocated_containers[i];
                if (!m->id || !m->node || !m->node->host || !m->container_token)
                        continue; /* damaged: it cannot be started, nor given back */
                const struct yarn_container_id id = yarn_container_id_read(m->id);
                all[n++] = (struct yarn_granted){.id = id,
                                                 .host = m->node->host,
                                                 .rack = rack_resolver_find(&x->racks, m->node->host),
                                                 .priority = m->priority ? m->priority->priority : 0,
                                                 .memory_mb = m->resource ? m->resource->memory : 0};
                executors_keep_granted(x, id, m);
        }
        yarn_allocator_allocated(&x->allocator, all, n);
        free(all);
}

/* Containers of earlier attempts, which the ResourceManager has kept. */
static void executors_take_kept(struct yarn_executors *x, Firesteel__Yarn__Container *const *containers, size_t n)
{
        struct yarn_granted *kept = new_array(struct yarn_granted, n + 1);
        size_t count = 0;
        for (size_t i = 0; i < n; i++) {
                const struct yarn_container_id id = yarn_container_id_read(containers[i]->id);
                const Firesteel__Yarn__NodeId *node = containers[i]->node;
                if (id.id && !yarn_container_is_master(id))
                        kept[count++] = (struct yarn_granted){.id = id, .host = node && node->host ? node->host : ""};
        }
        yarn_allocator_adopt(&x->allocator, kept, count);
        free(kept);
}

static void executors_take_completed(struct yarn_executors *x, const Firesteel__Yarn__AllocateResponse *answer)
{
        if (answer->n_completed_containers) /* others are asked for soon */
                x->interval_ms = x->initial_ms;
        for (size_t i = 0; i < answer->n_completed_containers; i++) {
                const Firesteel__Yarn__ContainerStatus *m = answer->completed_containers[i];
                const struct yarn_completed completed = {.id = yarn_container_id_read(m->container_id),
                                                         .exit_status = m->exit_status,
                                                         .state = "COMPLETE",
                                                         .diagnostics = m->diagnostics};
                executors_forget_granted(x, completed.id);
                yarn_allocator_completed(&x->allocator, &completed, now_ns());
        }
}

static void executors_take_nodes(struct yarn_executors *x, const Firesteel__Yarn__AllocateResponse *answer)
{
        for (size_t i = 0; i < answer->n_nm_tokens; i++)
                node_managers_set_token(&x->nodes, answer->nm_tokens[i]);
        for (size_t i = 0; i < answer->n_updated_nodes; i++) {
                const Firesteel__Yarn__NodeReport *m = answer->updated_nodes[i];
                if (m->node)
                        rack_resolver_learn(&x->racks, m->node->host, m->rack_name);
                if (m->state == 7 && m->node && m->node->host) /* DECOMMISSIONING */
                        yarn_allocator_decommissioning(&x->allocator, m->node->host);
        }
        if (answer->has_num_cluster_nodes)
                yarn_allocator_set_cluster_nodes(&x->allocator, answer->num_cluster_nodes);
}

/* The ResourceManager has a new master key: connections from now on need this token. */
static void executors_take_token(struct yarn_executors *x, const Firesteel__Yarn__Token *m)
{
        struct hadoop_token token;
        yarn_token_read(m, &token);
        hadoop_rpc_client_set_token(x->scheduler, &token);
        hadoop_token_deinit(&token);
}

/* The application's registration is lost: registers again, and the table is sent anew. */
static void executors_register_again(struct yarn_executors *x)
{
        log_info(YARN_LOG, "The ResourceManager does not know the application any more: registering again");
        executors_clear_heartbeat(x);
        x->response_id = 0;
        yarn_allocator_resend(&x->allocator, now_ns());
        executors_drain(x);
        x->phase = EXECUTORS_NEW;
        executors_wake(x, 0);
}

static void executors_take_failure(struct yarn_executors *x, const struct hadoop_rpc_result *result)
{
        if (x->phase != EXECUTORS_REGISTERED) { /* the application ends: unregister */
                executors_wake(x, 0);
                return;
        }
        if (hadoop_exception_is(result->exception, "ApplicationMasterNotRegisteredException")) {
                executors_register_again(x);
                return;
        }
        log_warn("ApplicationMaster", "Reporter thread fails %d time(s) in a row: %s%s%s", ++x->failures,
                 result->exception, result->exception[0] ? ": " : "", result->message);
        if (hadoop_exception_is(result->exception, "ApplicationAttemptNotFoundException") ||
            hadoop_exception_is(result->exception, "InvalidApplicationMasterRequestException") ||
            hadoop_exception_is(result->exception, "InvalidToken")) {
                _cleanup_free_ char *message =
                        mem_printf("Exception was thrown from Reporter thread: %s", result->message);
                executors_fail(x, YARN_AM_EXIT_REPORTER_FAILURE, message);
        } else if (x->failures >= x->max_failures) {
                _cleanup_free_ char *message =
                        mem_printf("Exception was thrown %d time(s) from Reporter thread. The last one: %s", x->failures,
                                   result->message);
                executors_fail(x, YARN_AM_EXIT_REPORTER_FAILURE, message);
        } else {
                executors_wake(x, x->interval_ms);
        }
}

/* More containers are likely to follow those of this answer, so the next heartbeat comes soon. */
static void executors_expect_grants(struct yarn_executors *x)
{
        if (yarn_allocator_count_pending(&x->allocator) == 0)
                return;
        x->interval_ms = x->initial_ms;
        x->pending_ms = x->initial_ms * 2;
}

static void on_executors_allocated(void *owner, struct hadoop_rpc_result *result)
{
        struct yarn_executors *x = owner;
        const Firesteel__Yarn__AllocateResponse *answer = (Firesteel__Yarn__AllocateResponse *)result->answer;
        struct yarn_failure failure = {0};
        x->calling = false;
        if (result->status < 0) {
                executors_take_failure(x, result);
                return;
        }
        x->failures = 0;
        executors_drop(x, x->sent); /* a heartbeat that fails is sent again with the next one */
        x->response_id = answer->response_id;
        if (answer->am_rm_token)
                executors_take_token(x, answer->am_rm_token);
        executors_take_nodes(x, answer);
        if (answer->n_containers_from_previous_attempts) /* a ResourceManager that was started again finds them late */
                executors_take_kept(x, answer->containers_from_previous_attempts,
                                    answer->n_containers_from_previous_attempts);
        executors_take_granted(x, answer);
        executors_drain(x);
        executors_take_completed(x, answer);
        executors_drain(x);
        const int command = answer->command;
        if (answer->n_allocated_containers > 0)
                executors_expect_grants(x);
        protobuf_c_message_free_unpacked(result->answer, NULL);
        if (x->freed)
                return;
        if (yarn_allocator_failure(&x->allocator, now_ns(), &failure)) {
                executors_fail(x, failure.exit_code, failure.message);
                free(failure.message);
        }
        if (command == RESYNC && x->phase == EXECUTORS_REGISTERED)
                executors_register_again(x);
        else if (command == SHUTDOWN)
                executors_fail(x, YARN_AM_EXIT_REPORTER_FAILURE, "the ResourceManager told the application to stop");
        else if (x->phase == EXECUTORS_REGISTERED)
                executors_wake(x, x->interval_ms);
        else
                executors_wake(x, 0);
}

static void executors_end(struct yarn_executors *x)
{
        x->phase = EXECUTORS_OVER;
        x->ops->finished(x->owner);
}

static bool cluster_has_resource(const Firesteel__Yarn__RegisterApplicationMasterResponse *answer, const char *name)
{
        for (size_t i = 0; i < answer->n_resource_types; i++)
                if (answer->resource_types[i]->name && strcmp(answer->resource_types[i]->name, name) == 0)
                        return true;
        return answer->n_resource_types == 0; /* an old ResourceManager does not list them */
}

/* A ResourceManager ignores resources that it does not know. */
static void executors_check_resources(const struct yarn_executors *x,
                                      const Firesteel__Yarn__RegisterApplicationMasterResponse *answer)
{
        for (size_t i = 0; i < x->resources.len; i++) {
                const Firesteel__Yarn__Resource *r = &x->resources.data[i]->message;
                for (size_t k = 0; k < r->n_values; k++)
                        if (!cluster_has_resource(answer, r->values[k]->key))
                                log_warn("ResourceRequestHelper",
                                         "YARN doesn't know about resource %s, your resource discovery has to handle "
                                         "properly discovering and isolating the resource! Error: the cluster's "
                                         "resource-types.xml does not list it",
                                         r->values[k]->key);
        }
}

static void on_executors_registered(void *owner, struct hadoop_rpc_result *result)
{
        struct yarn_executors *x = owner;
        Firesteel__Yarn__RegisterApplicationMasterResponse *answer =
                (Firesteel__Yarn__RegisterApplicationMasterResponse *)result->answer;
        x->calling = false;
        if (result->status < 0 && x->phase == EXECUTORS_FINISHING) {
                /* Another thread of this process may have registered meanwhile. Else there is nothing to unregister. */
                if (hadoop_exception_is(result->exception, "InvalidApplicationMasterRequestException"))
                        executors_wake(x, 0);
                else
                        executors_end(x);
                return;
        }
        if (result->status < 0) {
                _cleanup_free_ char *message =
                        mem_printf("Failed to register with the ResourceManager: %s%s%s", result->exception,
                                   result->exception[0] ? ": " : "", result->message);
                executors_fail(x, YARN_AM_EXIT_REPORTER_FAILURE, message);
                return;
        }
        for (size_t i = 0; i < answer->n_nm_tokens_from_previous_attempts; i++)
                node_managers_set_token(&x->nodes, answer->nm_tokens_from_previous_attempts[i]);
        executors_check_resources(x, answer);
        executors_take_kept(x, answer->containers_from_previous_attempts, answer->n_containers_from_previous_attempts);
        const Firesteel__Yarn__Resource *most = answer->maximum_capability;
        const int64_t memory = most ? most->memory : 0;
        const int cores = most ? most->virtual_cores : 0;
        protobuf_c_message_free_unpacked(result->answer, NULL);
        if (x->phase == EXECUTORS_REGISTERING)
                x->phase = EXECUTORS_REGISTERED;
        executors_wake(x, 0);
        x->ops->registered(x->owner, memory, cores);
        executors_drain(x);
}

static void executors_send_registration(struct yarn_executors *x);

static void on_executors_finished(void *owner, struct hadoop_rpc_result *result)
{
        struct yarn_executors *x = owner;
        x->calling = false;
        if (hadoop_exception_is(result->exception, "ApplicationMasterNotRegisteredException")) {
                /* The ResourceManager was started again, and accepts an end only after a registration. */
                executors_send_registration(x);
                x->phase = EXECUTORS_FINISHING;
                return;
        }
        const bool over = result->status < 0 ||
                          ((Firesteel__Yarn__FinishApplicationMasterResponse *)result->answer)->is_unregistered;
        if (result->status < 0)
                log_warn("ApplicationMaster", "Failed to unregister: %s%s%s", result->exception,
                         result->exception[0] ? ": " : "", result->message);
        protobuf_c_message_free_unpacked(result->answer, NULL);
        if (over)
                executors_end(x);
        else
                executors_wake(x, FINISH_RETRY_MS);
}

/* ------------------------------------------------------------------------------------------------------------ calls */

static void executors_call(struct yarn_executors *x, const char *method, const ProtobufCMessageDescriptor *answer,
                           hadoop_rpc_done done, const ProtobufCMessage *request)
{
        const struct hadoop_rpc_call call = {.method = method, .answer = answer, .done = done, .owner = x};
        x->calling = true;
        hadoop_rpc_client_call(x->scheduler, &call, request);
}

static void executors_send_registration(struct yarn_executors *x)
{
        Firesteel__Yarn__RegisterApplicationMasterRequest m =
                FIRESTEEL__YARN__REGISTER_APPLICATION_MASTER_REQUEST__INIT;
        m.host = x->host;
        m.has_rpc_port = true;
        m.rpc_port = x->rpc_port ? x->rpc_port : -1;
        m.tracking_url = x->tracking_url;
        x->phase = EXECUTORS_REGISTERING;
        executors_call(x, "registerApplicationMaster",
                       &firesteel__yarn__register_application_master_response__descriptor, on_executors_registered,
                       &m.base);
}

static void executors_send_heartbeat(struct yarn_executors *x)
{
        Firesteel__Yarn__AllocateRequest m = FIRESTEEL__YARN__ALLOCATE_REQUEST__INIT;
        Firesteel__Yarn__BlacklistRequest hosts = FIRESTEEL__YARN__BLACKLIST_REQUEST__INIT;
        yarn_allocator_update(&x->allocator, now_ns());
        executors_drain(x);
        hosts.n_additions = x->excluded.len;
        hosts.additions = x->excluded.data;
        hosts.n_removals = x->included.len;
        hosts.removals = x->included.data;
        m.n_ask = x->asks.len;
        m.ask = x->asks.data;
        m.n_release = x->releases.len;
        m.release = x->releases.data;
        if (hosts.n_additions || hosts.n_removals)
                m.blacklist_request = &hosts;
        m.has_response_id = m.has_progress = true;
        m.response_id = x->response_id;
        m.progress = PROGRESS;
        executors_call(x, "allocate", &firesteel__yarn__allocate_response__descriptor, on_executors_allocated, &m.base);
        x->sent = executors_heartbeat_size(x);
        /* Pending containers are looked for soon, then ever more rarely. */
        if (yarn_allocator_count_pending(&x->allocator) > 0) {
                x->interval_ms = MIN(x->pending_ms, x->heartbeat_ms);
                x->pending_ms = x->interval_ms * 2;
        } else {
                x->interval_ms = x->heartbeat_ms;
                x->pending_ms = x->initial_ms;
        }
}

static void executors_send_finish(struct yarn_executors *x)
{
        Firesteel__Yarn__FinishApplicationMasterRequest m = FIRESTEEL__YARN__FINISH_APPLICATION_MASTER_REQUEST__INIT;
        m.diagnostics = x->diagnostics;
        m.tracking_url = x->history_url;
        m.has_final_status = true;
        m.final_status = x->final_status;
        executors_call(x, "finishApplicationMaster", &firesteel__yarn__finish_application_master_response__descriptor,
                       on_executors_finished, &m.base);
}

static void executors_turn(struct yarn_executors *x)
{
        if (x->calling || x->freed)
                return; /* the answer wakes it */
        switch (x->phase) {
        case EXECUTORS_NEW:
                executors_send_registration(x);
                break;
        case EXECUTORS_REGISTERED:
                if (!x->failed)
                        executors_send_heartbeat(x);
                break;
        case EXECUTORS_FINISHING:
                executors_send_finish(x);
                break;
        case EXECUTORS_REGISTERING:
        case EXECUTORS_OVER:
                break;
        }
}

/* ---------------------------------------------------------------------------------------------------- for the owner */

static void on_container_started(void *owner, const Firesteel__Yarn__ContainerId *container, const char *error)
{
        struct yarn_executors *x = owner;
        const struct yarn_container_id id = yarn_container_id_read(container);
        executors_forget_granted(x, id);
        if (error)
                yarn_allocator_launch_failed(&x->allocator, id, error);
        else
                yarn_allocator_launched(&x->allocator, id);
        executors_drain(x);
}

void yarn_executors_register(struct yarn_executors *x)
{
        executors_wake(x, 0);
}

/* Sends a heartbeat soon. */
static void executors_hurry(struct yarn_executors *x)
{
        x->pending_ms = x->initial_ms;
        if (x->phase == EXECUTORS_REGISTERED)
                executors_wake(x, 0);
}

/* Fills in the racks that the driver does not know. */
static void executors_set_target(struct yarn_executors *x, const struct yarn_target *target)
{
        struct yarn_target t = *target;
        struct yarn_host_tasks *hosts = new_array(struct yarn_host_tasks, t.n_hosts + 1);
        const char **names = new_array(const char *, t.n_hosts + 1);
        for (size_t i = 0; i < t.n_hosts; i++)
                names[i] = t.hosts[i].host;
        rack_resolver_resolve(&x->racks, names, t.n_hosts);
        for (size_t i = 0; i < t.n_hosts; i++) {
                hosts[i] = t.hosts[i];
                if (!hosts[i].rack)
                        hosts[i].rack = rack_resolver_find(&x->racks, hosts[i].host);
        }
        t.hosts = hosts;
        yarn_allocator_set_targets(&x->allocator, &t, 1);
        free(names);
        free(hosts);
}

void yarn_executors_set_targets(struct yarn_executors *x, const struct yarn_target *targets, size_t n)
{
        for (size_t i = 0; i < n; i++)
                executors_set_target(x, &targets[i]);
        executors_hurry(x);
}

void yarn_executors_set_excluded(struct yarn_executors *x, const char *const *hosts, size_t n)
{
        yarn_allocator_set_excluded(&x->allocator, hosts, n, now_ns());
        executors_drain(x); /* the next heartbeat carries the changes */
}

void yarn_executors_kill(struct yarn_executors *x, int32_t executor)
{
        yarn_allocator_kill(&x->allocator, executor);
        executors_hurry(x);
}

void yarn_executors_add_profile(struct yarn_executors *x, const struct yarn_profile *profile,
                                Firesteel__Yarn__ResourceValue *const *values, size_t n_values)
{
        if (executors_resource(x, profile->id))
                return;
        yarn_allocator_add_profile(&x->allocator, profile);
        Firesteel__Yarn__Resource m = FIRESTEEL__YARN__RESOURCE__INIT;
        m.has_memory = m.has_virtual_cores = true;
        m.memory = profile->memory_mb;
        m.virtual_cores = profile->cores;
        m.n_values = n_values;
        m.values = (Firesteel__Yarn__ResourceValue **)values;
        Firesteel__Yarn__Resource *copy = (Firesteel__Yarn__Resource *)hadoop_message_copy(&m.base);
        struct resources *r = new0(struct resources);
        r->profile = profile->id;
        r->message = *copy;
        free(copy); /* what it points to is now r's */
        vec_push(&x->resources, r);
}

void yarn_executors_finish(struct yarn_executors *x, enum yarn_final_status status, const char *diagnostics)
{
        yarn_allocator_stop(&x->allocator);
        free(x->diagnostics);
        x->final_status = status;
        x->diagnostics = am_final_message(diagnostics ? diagnostics : "", x->max_final_message);
        if (x->phase != EXECUTORS_OVER)
                x->phase = EXECUTORS_FINISHING;
        executors_wake(x, 0);
}

struct yarn_allocator_numbers yarn_executors_measure(struct yarn_executors *x)
{
        return yarn_allocator_measure(&x->allocator, now_ns());
}

int yarn_executors_new(uv_loop_t *loop, const struct yarn_executors_options *options,
                       const struct yarn_executors_ops *ops, void *owner, struct yarn_executors **out,
                       struct fst_error *error)
{
        struct hadoop_rpc_client *scheduler;
        const int r = yarn_conf_client(options->conf, YARN_RM_SCHEDULER, options->token, NULL, loop, &scheduler, error);
        if (r < 0)
                return r;
        struct yarn_executors *x = new0(struct yarn_executors);
        x->loop = loop;
        x->conf = options->conf;
        x->ops = ops;
        x->owner = owner;
        x->scheduler = scheduler;
        x->host = mem_strdup(options->host ? options->host : "");
        x->tracking_url = mem_strdup(options->tracking_url ? options->tracking_url : "");
        x->history_url = mem_strdup(options->history_url ? options->history_url : "");
        x->node_label = options->node_label ? mem_strdup(options->node_label) : NULL;
        x->rpc_port = options->rpc_port;
        x->heartbeat_ms = options->heartbeat_ms;
        x->initial_ms = x->pending_ms = x->interval_ms = options->initial_ms;
        x->max_failures = options->max_failures;
        x->max_final_message = options->max_final_message;
        rack_resolver_init(&x->racks, options->conf);
        yarn_allocator_init(&x->allocator, &options->allocator);
        yarn_allocator_expect(&x->allocator, options->kept, options->n_kept);
        node_managers_init(&x->nodes, loop, on_container_started, x);
        x->timer = new0(uv_timer_t);
        uv_timer_init(loop, x->timer);
        x->timer->data = x;
        *out = x;
        return 0;
}

static void on_executors_closed(uv_handle_t *handle)
{
        struct yarn_executors *x = handle->data;
        executors_clear_heartbeat(x);
        string_list_deinit(&x->excluded);
        string_list_deinit(&x->included);
        while (x->all_granted.first)
                executors_remove_granted(x, x->all_granted.first);
        for (size_t i = 0; i < x->resources.len; i++) {
                for (size_t k = 0; k < x->resources.data[i]->message.n_values; k++)
                        firesteel__yarn__resource_value__free_unpacked(x->resources.data[i]->message.values[k], NULL);
                free(x->resources.data[i]->message.values);
                free(x->resources.data[i]);
        }
        object_table_deinit(&x->granted);
        rack_resolver_deinit(&x->racks);
        vec_deinit(&x->resources);
        vec_deinit(&x->asks);
        vec_deinit(&x->releases);
        yarn_allocator_deinit(&x->allocator);
        free(x->host);
        free(x->tracking_url);
        free(x->node_label);
        free(x->diagnostics);
        free(x->history_url);
        free(x->timer);
        free(x);
}

void yarn_executors_free(struct yarn_executors *x)
{
        if (!x || x->freed)
                return;
        x->freed = true;
        hadoop_rpc_client_free(x->scheduler);
        node_managers_deinit(&x->nodes);
        uv_close((uv_handle_t *)x->timer, on_executors_closed);
}
