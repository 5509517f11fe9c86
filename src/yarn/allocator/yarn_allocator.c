/* See yarn_allocator.h. */
#include "yarn/allocator/yarn_allocator.h"

#include "base/buf.h"
#include "base/mem.h"
#include "yarn/allocator/container_exit.h"
#include "yarn/allocator/container_placement.h"

enum container_state {
        CONTAINER_STARTING, /* YARN_ACTION_LAUNCH was emitted, or it is awaited */
        CONTAINER_RUNNING,
        CONTAINER_RELEASED, /* given back; the ResourceManager will report its end */
};

struct yarn_container {
        struct yarn_container *prev, *next;
        struct yarn_container_id id;
        enum container_state state;
        int32_t executor; /* 0: given back without one */
        bool awaited;     /* an earlier ApplicationMaster had it; the ResourceManager has not confirmed it yet */
        char *host;
        struct profile_state *profile;
};

/* Containers of one profile on one host: all but those that were given back. */
struct host_containers {
        char *host;
        int count;
};

struct preferred {
        char *host, *rack;
        int tasks;
};

struct profile_state {
        struct yarn_profile profile;
        bool is_added; /* false: only the expected executors name it so far */
        int target, running, starting;
        int locality_tasks;
        VEC(struct preferred) preferred;
        VEC(struct host_containers) hosts;
        struct container_requests requests;
};

/* ----------------------------------------------------------------------------------------------------------- tables */

static bool container_has_id(const void *object, const void *key)
{
        return yarn_container_ids_are_equal(((const struct yarn_container *)object)->id,
                                            *(const struct yarn_container_id *)key);
}

static bool container_has_executor(const void *object, const void *key)
{
        return ((const struct yarn_container *)object)->executor == *(const int32_t *)key;
}

static struct yarn_container *allocator_find(const struct yarn_allocator *a, struct yarn_container_id id)
{
        return object_table_find(&a->by_container, yarn_container_hash(id), container_has_id, &id);
}

static struct profile_state *allocator_profile(const struct yarn_allocator *a, int32_t id)
{
        for (size_t i = 0; i < a->profiles.len; i++)
                if (a->profiles.data[i]->profile.id == id)
                        return a->profiles.data[i];
        return NULL;
}

/* The entry of @host; its index in `hosts`, or len. */
static size_t profile_host_index(const struct profile_state *p, const char *host)
{
        size_t i = 0;
        while (i < p->hosts.len && strcmp(p->hosts.data[i].host, host) != 0)
                i++;
        return i;
}

static void profile_count_host(struct profile_state *p, const char *host, int change)
{
        const size_t i = profile_host_index(p, host);
        if (i == p->hosts.len)
                vec_push(&p->hosts, (struct host_containers){.host = mem_strdup(host)});
        p->hosts.data[i].count += change;
        if (p->hosts.data[i].count > 0)
                return;
        free(p->hosts.data[i].host);
        p->hosts.data[i] = p->hosts.data[--p->hosts.len];
}

static int profile_containers_on(const struct profile_state *p, const char *host)
{
        const size_t i = profile_host_index(p, host);
        return i < p->hosts.len ? p->hosts.data[i].count : 0;
}

static void profile_clear_preferred(struct profile_state *p)
{
        for (size_t i = 0; i < p->preferred.len; i++) {
                free(p->preferred.data[i].host);
                free(p->preferred.data[i].rack);
        }
        p->preferred.len = 0;
}

static void profile_free(struct profile_state *p)
{
        profile_clear_preferred(p);
        vec_deinit(&p->preferred);
        for (size_t i = 0; i < p->hosts.len; i++)
                free(p->hosts.data[i].host);
        vec_deinit(&p->hosts);
        container_requests_deinit(&p->requests);
        free(p->profile.custom);
        free(p);
}

static void yarn_container_free(struct yarn_container *c)
{
        free(c->host);
        free(c);
}

/* ---------------------------------------------------------------------------------------------------- start and end */

void yarn_allocator_init(struct yarn_allocator *a, const struct yarn_allocator_config *config)
{
        *a = (struct yarn_allocator){.config = *config, .last_executor = config->last_executor};
        node_health_init(&a->health, &a->config.health);
}

void yarn_allocator_deinit(struct yarn_allocator *a)
{
        for (struct yarn_container *c; (c = list_pop(&a->containers));)
                yarn_container_free(c);
        for (size_t i = 0; i < a->profiles.len; i++)
                profile_free(a->profiles.data[i]);
        vec_deinit(&a->profiles);
        object_table_deinit(&a->by_container);
        object_table_deinit(&a->by_executor);
        node_health_deinit(&a->health);
        yarn_actions_deinit(&a->actions);
}

void yarn_allocator_stop(struct yarn_allocator *a)
{
        a->stopped = true;
}

const struct yarn_action *yarn_allocator_next_action(struct yarn_allocator *a)
{
        return yarn_actions_next(&a->actions);
}

static struct profile_state *allocator_make_profile(struct yarn_allocator *a, int32_t id)
{
        struct profile_state *p = allocator_profile(a, id);
        if (p)
                return p;
        p = new0(struct profile_state);
        p->profile.id = id;
        vec_push(&a->profiles, p);
        return p;
}

void yarn_allocator_add_profile(struct yarn_allocator *a, const struct yarn_profile *profile)
{
        struct profile_state *p = allocator_make_profile(a, profile->id);
        if (p->is_added)
                return;
        p->profile = *profile;
        p->profile.custom = profile->custom ? mem_strdup(profile->custom) : NULL;
        p->is_added = true;
}

/* ---------------------------------------------------------------------------------------------------------- targets */

static void profile_set_preferred(struct profile_state *p, const struct yarn_target *target)
{
        profile_clear_preferred(p);
        p->locality_tasks = target->locality_tasks;
        for (size_t i = 0; i < target->n_hosts; i++) {
                const struct yarn_host_tasks *h = &target->hosts[i];
                vec_push(&p->preferred, (struct preferred){.host = mem_strdup(h->host),
                                                           .rack = h->rack ? mem_strdup(h->rack) : NULL,
                                                           .tasks = h->tasks});
        }
}

void yarn_allocator_set_targets(struct yarn_allocator *a, const struct yarn_target *targets, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                struct profile_state *p = allocator_profile(a, targets[i].profile);
                if (!p)
                        continue;
                profile_set_preferred(p, &targets[i]);
                if (p->target != targets[i].total)
                        yarn_actions_log(&a->actions, LOG_INFO,
                                         "Driver requested a total number of %d executor(s) for resource profile id: "
                                         "%d.",
                                         targets[i].total, targets[i].profile);
                p->target = targets[i].total;
        }
}

void yarn_allocator_set_excluded(struct yarn_allocator *a, const char *const *hosts, size_t n, int64_t now)
{
        node_health_set_scheduler(&a->health, hosts, n, now, &a->actions);
}

/* Requests with hosts of which no task prefers any. */
static bool profile_group_is_stale(const struct profile_state *p, const struct request_group *g)
{
        for (size_t i = 0; i < g->hosts.len; i++)
                for (size_t k = 0; k < p->preferred.len; k++)
                        if (strcmp(g->hosts.data[i], p->preferred.data[k].host) == 0)
                                return false;
        return g->hosts.len > 0;
}

enum request_kind { REQUEST_STALE, REQUEST_ANYWHERE, REQUEST_LOCAL };

static enum request_kind profile_group_kind(const struct profile_state *p, const struct request_group *g)
{
        return g->hosts.len == 0 ? REQUEST_ANYWHERE : profile_group_is_stale(p, g) ? REQUEST_STALE : REQUEST_LOCAL;
}

static int profile_count_kind(const struct profile_state *p, enum request_kind kind)
{
        int count = 0;
        for (size_t i = 0; i < p->requests.groups.len; i++)
                if (profile_group_kind(p, &p->requests.groups.data[i]) == kind)
                        count += p->requests.groups.data[i].count;
        return count;
}

/* Cancels up to @count requests of @kind, the oldest first. Returns how many. */
static int profile_cancel_kind(struct profile_state *p, enum request_kind kind, int count)
{
        int cancelled = 0;
        for (size_t i = 0; i < p->requests.groups.len && cancelled < count;) {
                const size_t before = p->requests.groups.len;
                if (profile_group_kind(p, &p->requests.groups.data[i]) == kind)
                        cancelled += container_requests_cancel(&p->requests, i, count - cancelled);
                if (p->requests.groups.len == before)
                        i++;
        }
        return cancelled;
}

static void profile_request_placement(struct yarn_allocator *a, struct profile_state *p,
                                      const struct container_placement *placement)
{
        const char **hosts = new_array(const char *, placement->n + 1),
                   **racks = new_array(const char *, placement->n + 1);
        _cleanup_(buf_deinit) struct buf names = BUF_INIT;
        for (size_t i = 0; i < placement->n; i++) {
                hosts[i] = p->preferred.data[placement->hosts[i]].host;
                racks[i] = p->preferred.data[placement->hosts[i]].rack;
                buf_printf(&names, "%s%s", i ? "," : "", hosts[i]);
        }
        container_requests_add(&p->requests, hosts, racks, placement->n, placement->count);
        for (int i = 0; i < placement->count; i++)
                yarn_actions_log(&a->actions, LOG_INFO, "Submitted container request for host %s.", buf_text(&names));
        free(hosts);
        free(racks);
}

static void profile_compute_placements(const struct yarn_allocator *a, const struct profile_state *p, int count,
                                       struct container_placements *out)
{
        const size_t n = a->config.ignore_locality ? 0 : p->preferred.len;
        struct preferred_host *hosts = new_array(struct preferred_host, n + 1);
        for (size_t i = 0; i < n; i++)
                hosts[i] = (struct preferred_host){
                        .host = p->preferred.data[i].host,
                        .rack = p->preferred.data[i].rack,
                        .tasks = p->preferred.data[i].tasks,
                        .containers = profile_containers_on(p, p->preferred.data[i].host),
                        .pending = container_requests_count_host(&p->requests, p->preferred.data[i].host)};
        container_placement_compute(hosts, n, count, p->locality_tasks, MAX(1, p->profile.tasks_per_executor),
                                    profile_count_kind(p, REQUEST_LOCAL), out);
        free(hosts);
}

/* Requests @missing more containers, on the hosts that tasks prefer as far as possible. */
static void profile_request_more(struct yarn_allocator *a, struct profile_state *p, int missing)
{
        struct container_placements placements = {0};
        yarn_actions_log(&a->actions, LOG_INFO,
                         "Will request %d executor container(s) for ResourceProfile Id: %d, each with %d core(s) and "
                         "%lld MB memory.%s",
                         missing, p->profile.id, p->profile.cores, (long long)p->profile.memory_mb,
                         p->profile.custom ? p->profile.custom : "");
        const int stale = profile_cancel_kind(p, REQUEST_STALE, INT32_MAX);
        if (stale > 0)
                yarn_actions_log(&a->actions, LOG_INFO, "Canceled %d container request(s) (locality no longer needed)",
                                 stale);
        const int available = missing + stale;
        profile_compute_placements(a, p, available + profile_count_kind(p, REQUEST_ANYWHERE), &placements);
        int local = 0;
        for (size_t i = 0; i < placements.len; i++)
                local += placements.data[i].n ? placements.data[i].count : 0;
        if (local > available) {
                profile_cancel_kind(p, REQUEST_ANYWHERE, local - available);
                yarn_actions_log(&a->actions, LOG_INFO,
                                 "Canceled %d unlocalized container requests to resubmit with locality",
                                 local - available);
        } else if (local < available) {
                container_requests_add(&p->requests, NULL, NULL, 0, available - local);
                yarn_actions_log(&a->actions, LOG_INFO, "Submitted %d unlocalized container requests.",
                                 available - local);
        }
        for (size_t i = 0; i < placements.len; i++)
                if (placements.data[i].n)
                        profile_request_placement(a, p, &placements.data[i]);
        container_placements_deinit(&placements);
}

static void profile_request_fewer(struct yarn_allocator *a, struct profile_state *p, int excess)
{
        static const enum request_kind order[] = {REQUEST_STALE, REQUEST_ANYWHERE, REQUEST_LOCAL};
        int left = MIN(p->requests.total, excess);
        yarn_actions_log(&a->actions, LOG_INFO,
                         "Canceling requests for %d executor container(s) to have a new desired total %d executors.",
                         left, p->target);
        for (size_t i = 0; i < ARRAY_SIZE(order); i++)
                left -= profile_cancel_kind(p, order[i], left);
}

void yarn_allocator_update(struct yarn_allocator *a, int64_t now)
{
        node_health_expire(&a->health, now, &a->actions);
        for (size_t i = 0; i < a->profiles.len && !a->stopped; i++) {
                struct profile_state *p = a->profiles.data[i];
                const int missing = p->target - p->requests.total - p->running - p->starting;
                if (missing > 0)
                        profile_request_more(a, p, missing);
                else if (missing < 0 && p->requests.total > 0)
                        profile_request_fewer(a, p, -missing);
                container_requests_emit(&p->requests, p->profile.id, &a->actions);
        }
}

/* ------------------------------------------------------------------------------------------------------- containers */

static void allocator_emit_release(struct yarn_allocator *a, struct yarn_container_id id)
{
        queue_push(&a->actions.queue, (struct yarn_action){.kind = YARN_ACTION_RELEASE, .container = id});
}

static struct yarn_container *allocator_add(struct yarn_allocator *a, struct yarn_container_id id, const char *host,
                                            enum container_state state)
{
        struct yarn_container *c = new0(struct yarn_container);
        c->id = id;
        c->state = state;
        c->host = mem_strdup(host);
        list_append(&a->containers, c);
        object_table_put(&a->by_container, yarn_container_hash(c->id), c);
        return c;
}

static struct yarn_container *allocator_add_granted(struct yarn_allocator *a, const struct yarn_granted *granted,
                                                    enum container_state state)
{
        struct yarn_container *c = allocator_add(a, granted->id, granted->host, state);
        c->profile = allocator_profile(a, granted->priority);
        if (c->profile)
                container_requests_granted(&c->profile->requests, granted->host, granted->rack);
        return c;
}

static void allocator_start(struct yarn_allocator *a, struct yarn_container *c, int32_t executor)
{
        c->executor = executor;
        object_table_put(&a->by_executor, object_hash_number((uint64_t)executor), c);
        c->profile->starting++;
        profile_count_host(c->profile, c->host, 1);
}

/* A container without an executor: it is remembered until the ResourceManager reports its end. */
static void allocator_give_back(struct yarn_allocator *a, const struct yarn_granted *granted)
{
        allocator_emit_release(a, allocator_add_granted(a, granted, CONTAINER_RELEASED)->id);
}

static void allocator_launch(struct yarn_allocator *a, const struct yarn_granted *granted, struct profile_state *p)
{
        char text[YARN_ID_TEXT];
        struct yarn_container *c = allocator_add_granted(a, granted, CONTAINER_STARTING);
        allocator_start(a, c, ++a->last_executor);
        yarn_actions_log(&a->actions, LOG_INFO,
                         "Launching container %s on host %s for executor with ID %d for ResourceProfile Id %d",
                         yarn_container_text(c->id, text), c->host, c->executor, p->profile.id);
        queue_push(&a->actions.queue,
                   (struct yarn_action){
                           .kind = YARN_ACTION_LAUNCH,
                           .launch = {.container = c->id, .executor = c->executor, .profile = p->profile.id}});
}

/* True if a request names @location and the container was used for it. */
static bool allocator_use(struct yarn_allocator *a, const struct yarn_granted *granted, const char *location,
                          int *launched)
{
        struct profile_state *p = allocator_profile(a, granted->priority);
        if (!location || !p || a->stopped || !container_requests_match(&p->requests, location))
                return false;
        if (p->running + p->starting >= p->target) {
                yarn_actions_log(&a->actions, LOG_INFO,
                                 "Skip launching executorRunnable as running executors count: %d reached target "
                                 "executors count: %d.",
                                 p->running, p->target);
                allocator_give_back(a, granted);
                return true;
        }
        allocator_launch(a, granted, p);
        ++*launched;
        return true;
}

void yarn_allocator_allocated(struct yarn_allocator *a, const struct yarn_granted *containers, size_t n)
{
        bool *used = new_array(bool, n + 1);
        int launched = 0;
        for (int round = 0; round < 3; round++)
                for (size_t i = 0; i < n; i++)
                        if (!used[i]) /* a container that is there already comes from a repeated answer */
                                used[i] = allocator_find(a, containers[i].id) ||
                                          allocator_use(a, &containers[i],
                                                        round == 0   ? containers[i].host
                                                        : round == 1 ? containers[i].rack
                                                                     : YARN_ANY_HOST,
                                                        &launched);
        for (size_t i = 0; i < n; i++)
                if (!used[i] && !allocator_find(a, containers[i].id))
                        allocator_give_back(a, &containers[i]);
        free(used);
        if (n)
                yarn_actions_log(&a->actions, LOG_INFO,
                                 "Received %zu containers from YARN, launching executors on %d of them.", n, launched);
}

void yarn_allocator_launched(struct yarn_allocator *a, struct yarn_container_id id)
{
        struct yarn_container *c = allocator_find(a, id);
        if (!c || c->state != CONTAINER_STARTING || c->awaited)
                return; /* it has ended or was killed meanwhile */
        c->state = CONTAINER_RUNNING;
        c->profile->starting--;
        c->profile->running++;
}

/* Takes the container out of all counts but the table of containers. */
static void container_uncount(struct yarn_allocator *a, struct yarn_container *c)
{
        if (c->state == CONTAINER_STARTING)
                c->profile->starting--;
        if (c->state == CONTAINER_RUNNING)
                c->profile->running--;
        if (c->state != CONTAINER_RELEASED)
                profile_count_host(c->profile, c->host, -1);
}

void yarn_allocator_launch_failed(struct yarn_allocator *a, struct yarn_container_id id, const char *reason)
{
        char text[YARN_ID_TEXT];
        struct yarn_container *c = allocator_find(a, id);
        if (!c || c->state != CONTAINER_STARTING || c->awaited)
                return;
        yarn_actions_log(&a->actions, LOG_ERROR, "Failed to launch executor %d on container %s: %s", c->executor,
                         yarn_container_text(id, text), reason);
        container_uncount(a, c);
        object_table_remove(&a->by_executor, object_hash_number((uint64_t)c->executor), c);
        c->state = CONTAINER_RELEASED;
        c->executor = 0; /* nobody knows this executor: its end is not reported */
        allocator_emit_release(a, id);
}

void yarn_allocator_kill(struct yarn_allocator *a, int32_t executor)
{
        struct yarn_container *c = object_table_find(&a->by_executor, object_hash_number((uint64_t)executor),
                                                     container_has_executor, &executor);
        if (!c || c->state == CONTAINER_RELEASED) {
                yarn_actions_log(&a->actions, LOG_WARN, "Attempted to kill unknown executor %d!", executor);
                return;
        }
        container_uncount(a, c);
        c->state = CONTAINER_RELEASED;
        allocator_emit_release(a, c->id);
}

static void allocator_report_exit(struct yarn_allocator *a, const struct yarn_container *c, int status, bool by_app,
                                  char *reason)
{
        queue_push(&a->actions.queue, (struct yarn_action){.kind = YARN_ACTION_EXECUTOR_EXITED,
                                                           .exited = {.executor = c->executor,
                                                                      .exit_status = status,
                                                                      .caused_by_app = by_app,
                                                                      .reason = reason}});
}

/* A container ended that was not given back. */
static void allocator_explain_exit(struct yarn_allocator *a, const struct yarn_container *c,
                                   const struct yarn_completed *completed, int64_t now)
{
        char id[YARN_ID_TEXT];
        yarn_container_text(c->id, id);
        yarn_actions_log(&a->actions, LOG_INFO, "Completed container %s on host: %s (state: %s, exit status: %d)", id,
                         c->host, completed->state, completed->exit_status);
        struct container_exit e = {0};
        if (a->stopped)
                e.reason = mem_printf("Executor for container %s exited after Application shutdown.", id);
        else
                e = container_exit_explain(id, c->host, completed->exit_status, completed->diagnostics);
        if (e.failed_node)
                node_health_failed(&a->health, c->host, now, &a->actions);
        yarn_actions_log(&a->actions, e.caused_by_app ? LOG_WARN : LOG_INFO, "%s", e.reason);
        a->n_unexpected++;
        allocator_report_exit(a, c, completed->exit_status, e.caused_by_app, e.reason);
}

static void allocator_forget(struct yarn_allocator *a, struct yarn_container *c)
{
        list_remove(&a->containers, c);
        object_table_remove(&a->by_container, yarn_container_hash(c->id), c);
        if (c->executor)
                object_table_remove(&a->by_executor, object_hash_number((uint64_t)c->executor), c);
        yarn_container_free(c);
}

void yarn_allocator_completed(struct yarn_allocator *a, const struct yarn_completed *completed, int64_t now)
{
        char text[YARN_ID_TEXT];
        struct yarn_container *c = allocator_find(a, completed->id);
        yarn_container_text(completed->id, text);
        if (!c) {
                yarn_actions_log(&a->actions, LOG_WARN, "Cannot find executorId for container: %s", text);
                return;
        }
        if (c->state != CONTAINER_RELEASED) {
                container_uncount(a, c);
                allocator_explain_exit(a, c, completed, now);
        } else if (c->executor) {
                allocator_report_exit(a, c, completed->exit_status, false,
                                      mem_printf("Container %s exited from explicit termination request.", text));
        }
        allocator_forget(a, c);
}

/* --------------------------------------------------------------------------------- of an earlier ApplicationMaster */

void yarn_allocator_expect(struct yarn_allocator *a, const struct yarn_kept *kept, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                struct yarn_container *c = allocator_add(a, kept[i].container, kept[i].host, CONTAINER_STARTING);
                c->profile = allocator_make_profile(a, kept[i].profile);
                c->awaited = true;
                allocator_start(a, c, kept[i].executor);
                a->last_executor = MAX(a->last_executor, c->executor);
        }
}

static void allocator_adopt_one(struct yarn_allocator *a, const struct yarn_granted *kept)
{
        char text[YARN_ID_TEXT];
        struct yarn_container *c = allocator_find(a, kept->id);
        yarn_container_text(kept->id, text);
        if (!c) {
                yarn_actions_log(&a->actions, LOG_INFO,
                                 "Container %s of an earlier attempt has no known executor: "
                                 "giving it back",
                                 text);
                allocator_emit_release(a, allocator_add(a, kept->id, kept->host, CONTAINER_RELEASED)->id);
                return;
        }
        if (c->awaited && c->state == CONTAINER_STARTING) {
                yarn_actions_log(&a->actions, LOG_INFO,
                                 "Container %s on host %s still has executor %d of an earlier "
                                 "attempt",
                                 text, c->host, c->executor);
                c->state = CONTAINER_RUNNING;
                c->profile->starting--;
                c->profile->running++;
        }
        c->awaited = false;
}

void yarn_allocator_adopt(struct yarn_allocator *a, const struct yarn_granted *containers, size_t n)
{
        char text[YARN_ID_TEXT];
        for (size_t i = 0; i < n; i++)
                allocator_adopt_one(a, &containers[i]);
        for (struct yarn_container *c = a->containers.first, *next; c; c = next) {
                next = c->next;
                if (!c->awaited)
                        continue;
                container_uncount(a, c);
                allocator_report_exit(a, c, YARN_EXIT_ABORTED, false,
                                      mem_printf("Container %s has ended with the earlier ApplicationMaster.",
                                                 yarn_container_text(c->id, text)));
                allocator_forget(a, c);
        }
}

/* ------------------------------------------------------------------------------------------------------ the cluster */

void yarn_allocator_decommissioning(struct yarn_allocator *a, const char *host)
{
        for (const struct yarn_container *c = a->config.decommission ? a->containers.first : NULL; c; c = c->next) {
                if (c->state != CONTAINER_RUNNING || strcmp(c->host, host) != 0)
                        continue;
                queue_push(&a->actions.queue,
                           (struct yarn_action){.kind = YARN_ACTION_DECOMMISSION,
                                                .decommission = {.executor = c->executor, .host = mem_strdup(host)}});
        }
}

void yarn_allocator_set_cluster_nodes(struct yarn_allocator *a, int n)
{
        a->health.cluster_nodes = n;
}

void yarn_allocator_resend(struct yarn_allocator *a, int64_t now)
{
        for (size_t i = 0; i < a->profiles.len; i++)
                container_requests_forget_asked(&a->profiles.data[i]->requests);
        for (const struct yarn_container *c = a->containers.first; c; c = c->next)
                if (c->state == CONTAINER_RELEASED)
                        allocator_emit_release(a, c->id);
        node_health_resend(&a->health, now, &a->actions);
        yarn_allocator_update(a, now);
}

bool yarn_allocator_failure(struct yarn_allocator *a, int64_t now, struct yarn_failure *out)
{
        if (a->stopped)
                return false;
        out->exit_code = YARN_AM_EXIT_MAX_EXECUTOR_FAILURES;
        if (failure_tracker_count(&a->health.failures, now) >= a->config.max_executor_failures) {
                out->message =
                        mem_printf("Max number of executor failures (%d) reached", a->config.max_executor_failures);
                return true;
        }
        if (node_health_excludes_all(&a->health)) {
                out->message = mem_strdup("Due to executor failures all available nodes are excluded");
                return true;
        }
        return false;
}

struct yarn_allocator_numbers yarn_allocator_measure(struct yarn_allocator *a, int64_t now)
{
        struct yarn_allocator_numbers n = {.failed = failure_tracker_count(&a->health.failures, now)};
        for (const struct yarn_container *c = a->containers.first; c; c = c->next)
                n.released += c->state == CONTAINER_RELEASED;
        for (size_t i = 0; i < a->profiles.len; i++) {
                n.running += a->profiles.data[i]->running;
                n.locality_tasks += a->profiles.data[i]->locality_tasks;
                n.pending += a->profiles.data[i]->requests.total;
        }
        return n;
}

int yarn_allocator_count_running(const struct yarn_allocator *a)
{
        int count = 0;
        for (size_t i = 0; i < a->profiles.len; i++)
                count += a->profiles.data[i]->running;
        return count;
}

int yarn_allocator_count_starting(const struct yarn_allocator *a)
{
        int count = 0;
        for (size_t i = 0; i < a->profiles.len; i++)
                count += a->profiles.data[i]->starting;
        return count;
}

int yarn_allocator_count_pending(const struct yarn_allocator *a)
{
        int count = 0;
        for (size_t i = 0; i < a->profiles.len; i++)
                count += a->profiles.data[i]->requests.total;
        return count;
}
