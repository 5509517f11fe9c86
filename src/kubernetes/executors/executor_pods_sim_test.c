/*
 * Simulates the core in a random world. The API server answers late or never, carries out requests after their
 * responses timed out, returns 429, 409 and 500, has a quota, disappears and returns, ends watches (which list again)
 * and returns stale lists. Pods fail, end, are evicted, are deleted by others, and lose their nodes. Executors register
 * late. The scheduler changes its targets. A seed determines a world, and
 *
 *      executor_pods_sim_test SEED [COUNT]
 *
 * repeats it. Invariants at all times:
 *
 *      No id is used twice, and no executor is removed twice.
 *      When a pod is requested, the profile's live, not excluded and requested pods are at most the target, and those
 *      not running at most the limit of pending pods. No claim is mounted by two wanted pods.
 *      After a tick nothing is due at once.
 *
 * After the faults end, there are as many running, registered executors as wanted, and no other pod. When none is
 * wanted, the server has no pod and the core no record.
 */
#include "kubernetes/executors/executor_pods.h"

#include "base/error.h"
#include "base/vec.h"
#include "kubernetes/api/kube_names.h"
#include "kubernetes/api/pod_fixture.h"

#include <stdlib.h>
#include <string.h>

enum { PROFILES = 2, IDS = 8192, SEEDS = 60 };

#define MS(n) ((int64_t)(n)*NS_PER_MS)
#define LIVELY (120 * NS_PER_SECOND)
#define QUIET (900 * NS_PER_SECOND)

/* Counts of all events over all seeds, so that the test fails if it no longer covers one. */
static struct {
        long created, lost_answers, late, throttled, quota, failed, killed, deleted_by_others, evicted;
        long relists, polls, stale_polls, outages, strangers, reused, refused, registered, ticks, adaptive, labelled;
} seen;

enum phase { PENDING, RUNNING, SUCCEEDED, FAILED, UNKNOWN };
static const char *const phases[] = {"Pending", "Running", "Succeeded", "Failed", "Unknown"};

struct server_pod {
        bool exists, leaving, inactive, ever;
        enum phase phase;
        int profile, exit_code, claim; /* claim -1: none */
        int64_t created, next;         /* time of its next change by itself */
        int64_t ends;                  /* leaving: when it disappears */
        uint64_t version;
};

/* A change as the watch reports it. */
struct change {
        int id;
        struct server_pod pod; /* pod.exists false: deleted */
        int64_t at;
};

enum message_kind { TO_CREATE, TO_ANSWER, TO_DELETE, TO_DELETE_PENDING, TO_LABEL, TO_LIST_CLAIMS };

struct message {
        enum message_kind kind;
        int id, profile, claim;
        bool new_claim, answer_lost;
        enum create_outcome outcome;
        int64_t retry_after, at;
};

struct claim {
        bool exists;
        int64_t created;
};

static struct pods_sim_world {
        uint64_t seed, random;
        int64_t now;
        struct executor_pods_config config;
        struct executor_pods p;
        bool calm; /* no more faults */
        struct server_pod pods[IDS];
        VEC(struct change) history;
        size_t reported; /* changes that the watch has reported */
        bool watching;
        int64_t watch_again, next_poll, next_sync, down_until;
        uint64_t version;
        VEC(struct message) messages;
        VEC(struct claim) claims;
        int quota; /* pods; -1: none */
        int target[PROFILES];
        bool registered[IDS], removed[IDS], requested[IDS], unanswered[IDS], doomed[IDS];
        int profile_of[IDS];
        int64_t registers[IDS];
        int last_id;
} w;

static unsigned roll(unsigned n)
{
        uint64_t x = w.random += 0x9e3779b97f4a7c15u;

        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
        return (unsigned)((x ^ (x >> 31)) % n);
}

/* Returns true @per_mille times in a thousand while there are faults. */
static bool fault(unsigned per_mille)
{
        return !w.calm && roll(1000) < per_mille;
}

#define HOLDS(condition)                                                                                               \
        do {                                                                                                           \
                if (!(condition))                                                                                      \
                        fail_msg("seed %d at %lld, line %d: %s", (int)w.seed, (long long)w.now, __LINE__, #condition); \
        } while (0)

static bool is_down(void)
{
        return w.now < w.down_until;
}

/* -------------------------------------------------------------------------------------------------- the server */

static json_t *json_of(int id, const struct server_pod *pod)
{
        json_t *j = pod_with_version(pod_in(id, pod->profile, phases[pod->phase]), (int)pod->version);
        json_t *metadata = json_object_get(j, "metadata");

        if (pod->leaving)
                pod_leaving(j);
        if (pod->inactive)
                json_object_set_new(json_object_get(metadata, "labels"), KUBE_LABEL_INACTIVE, json_string("true"));
        if (pod->phase == FAILED || pod->phase == SUCCEEDED)
                json_object_set_new(json_object_get(j, "status"), "containerStatuses",
                                    json_text("[{'name': 'spark-kubernetes-executor', 'state': {'terminated':"
                                              " {'exitCode': %d, 'reason': 'Error'}}}]",
                                              pod->exit_code));
        if (pod->claim >= 0)
                json_object_set_new(
                        json_object_get(j, "spec"), "volumes",
                        json_text("[{'name': 'v', 'persistentVolumeClaim': {'claimName': 'pvc-%d'}}]", pod->claim));
        return j;
}

static void record(int id)
{
        w.pods[id].version = ++w.version;
        vec_push(&w.history,
                 (struct change){.id = id, .pod = w.pods[id], .at = w.now + MS(roll(fault(20) ? 5000 : 50))});
        size_t n = w.history.len;
        if (n > 1) /* in order */
                w.history.data[n - 1].at = MAX(w.history.data[n - 1].at, w.history.data[n - 2].at);
}

static bool lives(const struct server_pod *pod)
{
        return pod->exists && !pod->leaving && (pod->phase == PENDING || pod->phase == RUNNING);
}

static int pods_in_quota(void)
{
        int n = 0;

        for (int id = 1; id <= w.last_id; id++)
                n += w.pods[id].exists && w.pods[id].phase != FAILED && w.pods[id].phase != SUCCEEDED;
        return n;
}

static void server_create(const struct message *l)
{
        struct server_pod *pod = &w.pods[l->id];

        if (pod->ever)
                return; /* the name is taken */
        *pod = (struct server_pod){.exists = true,
                                   .ever = true,
                                   .profile = l->profile,
                                   .claim = l->claim,
                                   .created = w.now,
                                   .next = w.now + MS(10 + roll(3000))};
        if (l->claim >= 0 && !pods_allocator_is_excluded(w.p.allocator, l->id))
                for (int id = 1; id <= w.last_id; id++)
                        HOLDS(id == l->id || !w.pods[id].exists || w.pods[id].claim != l->claim ||
                              pods_allocator_is_excluded(w.p.allocator, id));
        if (l->new_claim)
                w.claims.data[l->claim] = (struct claim){true, w.now};
        record(l->id);
        seen.created++;
}

static void server_gone(int id)
{
        w.pods[id].exists = false;
        record(id);
}

static void server_delete(int id, bool pending_only)
{
        struct server_pod *pod = &w.pods[id];

        if (!pod->exists || pod->leaving || (pending_only && pod->phase != PENDING))
                return;
        if (pod->phase != RUNNING) {
                server_gone(id);
                return;
        }
        pod->leaving = true;
        pod->ends = w.now + MS(roll(4000));
        record(id);
}

/* Changes that pods make by themselves. */
static void pod_lives(int id)
{
        struct server_pod *pod = &w.pods[id];

        if (!pod->exists)
                return;
        if (pod->leaving && pod->ends <= w.now) {
                if (pod->phase == RUNNING && roll(2)) {
                        pod->phase = roll(2) ? FAILED : SUCCEEDED;
                        pod->exit_code = pod->phase == FAILED ? 143 : 0;
                        record(id);
                }
                server_gone(id);
                return;
        }
        if (pod->next > w.now || pod->leaving)
                return;
        pod->next = w.now + MS(500 + roll(4000));
        if (pod->phase == PENDING) {
                pod->phase = fault(50) ? FAILED : RUNNING;
                pod->exit_code = 1;
                w.registers[id] = w.now + MS(roll(3000));
                record(id);
        } else if (pod->phase == RUNNING && fault(30)) {
                pod->phase = fault(100) ? UNKNOWN : fault(300) ? SUCCEEDED : FAILED;
                pod->exit_code = pod->phase == SUCCEEDED ? 0 : 137;
                seen.failed++;
                record(id);
        } else if (pod->phase == RUNNING && w.doomed[id]) {
                pod->phase = FAILED; /* its executor was refused and has exited */
                pod->exit_code = 1;
                record(id);
        } else if (pod->phase == UNKNOWN) {
                seen.evicted++;
                server_gone(id);
        } else if (fault(10)) {
                seen.deleted_by_others++;
                if (roll(3) == 0)
                        server_gone(id); /* by force */
                else
                        server_delete(id, false);
        }
}

/* -------------------------------------------------------------------------------------------------- requests */

static void post(struct message l, int64_t delay_ms)
{
        l.at = w.now + MS(delay_ms);
        vec_push(&w.messages, l);
}

static int world_pods(int profile, bool pending_only)
{
        int n = 0;

        for (int id = 1; id <= w.last_id; id++) {
                const struct server_pod *pod = &w.pods[id];
                if (profile >= 0 && w.profile_of[id] != profile)
                        continue;
                if (w.unanswered[id] && !pod->ever)
                        n++;
                else if (lives(pod) && !pods_allocator_is_excluded(w.p.allocator, id) &&
                         (!pending_only || pod->phase == PENDING))
                        n++;
        }
        return n;
}

static void create_pod(const struct pod_action *action)
{
        const int32_t id = action->create.id, profile = action->create.profile;
        struct message l = {.kind = TO_CREATE, .id = id, .profile = profile, .claim = -1};

        HOLDS(id > w.last_id && id < IDS && !w.requested[id]);
        w.last_id = id;
        w.requested[id] = w.unanswered[id] = true;
        w.profile_of[id] = profile;
        HOLDS(world_pods(profile, false) <= w.target[profile]);
        HOLDS(world_pods(-1, true) <= w.config.allocation.max_pending);
        if (action->create.n_claims && action->create.claims[0]) {
                l.claim = atoi(action->create.claims[0] + strlen("pvc-"));
                seen.reused++;
        } else if (action->create.n_claims) {
                l.claim = (int)w.claims.len;
                l.new_claim = true;
                vec_push(&w.claims, (struct claim){0});
        }
        post(l, 1 + roll(40));
}

static void forget_executor(int id)
{
        if (!w.registered[id])
                return;
        w.registered[id] = false;
        executor_pods_unregistered(&w.p, id, w.now);
}

static void do_action(const struct pod_action *action)
{
        switch (action->kind) {
        case POD_ACTION_CREATE:
                create_pod(action);
                break;
        case POD_ACTION_DELETE_MANY:
                for (int i = 0; i < action->delete_many.n; i++)
                        if (!fault(100))
                                post((struct message){.kind = action->delete_many.pending ? TO_DELETE_PENDING
                                                                                          : TO_DELETE,
                                                      .id = action->delete_many.ids[i]},
                                     1 + roll(200));
                break;
        case POD_ACTION_DELETE:
                if (!fault(100))
                        post((struct message){.kind = TO_DELETE, .id = action->delete.pod->id}, 1 + roll(200));
                break;
        case POD_ACTION_LABEL_INACTIVE:
                seen.labelled++;
                if (!fault(100))
                        post((struct message){.kind = TO_LABEL, .id = action->pod->id}, 1 + roll(200));
                break;
        case POD_ACTION_LIST_CLAIMS:
                post((struct message){.kind = TO_LIST_CLAIMS}, 1 + roll(200));
                break;
        case POD_ACTION_REMOVE_EXECUTOR:
                HOLDS(!w.removed[action->remove.id]);
                HOLDS(action->remove.reason.message && *action->remove.reason.message);
                w.removed[action->remove.id] = true;
                forget_executor(action->remove.id);
                break;
        case POD_ACTION_STOP_APPLICATION:
                HOLDS(!"failures are not limited here");
                break;
        case POD_ACTION_LOG:
                HOLDS(*action->log.line);
                if (strstr(action->log.line, "although the executor was given up"))
                        seen.strangers++;
                break;
        }
}

/* Performs all actions. Called after each event. */
static void run(void)
{
        for (const struct pod_action *action; (action = executor_pods_next_action(&w.p));)
                do_action(action);
}

/* A creation request arrives: carries it out and chooses the response. */
static void creation_arrives(struct message l)
{
        struct message answer = l;

        answer.kind = TO_ANSWER;
        answer.outcome = CREATE_DONE;
        if (is_down() || fault(30)) { /* the request is lost, or arrives after the client gave up */
                answer.outcome = CREATE_UNKNOWN;
                seen.lost_answers++;
                if (fault(300)) {
                        seen.late++;
                        struct message late = l;
                        late.answer_lost = true;
                        post(late, 1000 + roll(60000));
                }
        } else if (fault(60)) {
                answer.outcome = CREATE_SLOW_DOWN;
                answer.retry_after = roll(2) ? 0 : NS_PER_SECOND;
                seen.throttled++;
        } else if (fault(10)) {
                answer.outcome = CREATE_REFUSED;
        } else if (w.quota >= 0 && pods_in_quota() >= w.quota) {
                answer.outcome = CREATE_QUOTA;
                seen.quota++;
        } else {
                server_create(&l);
                if (fault(30)) {
                        answer.outcome = CREATE_UNKNOWN;
                        seen.lost_answers++;
                } else if (l.new_claim && fault(20)) {
                        answer.outcome = CREATE_CLAIM_FAILED;
                        w.claims.data[l.claim].exists = false;
                }
        }
        post(answer, 1 + roll(fault(20) ? 8000 : 30));
}

static void answer_arrives(const struct message *l)
{
        w.unanswered[l->id] = false;
        if (l->outcome == CREATE_DONE)
                pods_allocator_created(w.p.allocator, l->id, w.now);
        else
                pods_allocator_create_failed(w.p.allocator, l->id, l->outcome, l->retry_after, "the server says no",
                                             w.now);
}

static void tell_claims(void)
{
        VEC(struct pod_claim) list = {0};

        if (fault(100)) {
                pods_allocator_claims(w.p.allocator, NULL, -1, w.now);
                return;
        }
        for (size_t i = 0; i < w.claims.len; i++)
                if (w.claims.data[i].exists)
                        vec_push(&list, (struct pod_claim){mem_printf("pvc-%zu", i), "gp2", 10,
                                                           w.claims.data[i].created / NS_PER_MS});
        pods_allocator_claims(w.p.allocator, list.data, (int)list.len, w.now);
        for (size_t i = 0; i < list.len; i++)
                free((char *)list.data[i].name);
        vec_deinit(&list);
}

static void deliver(struct message l)
{
        switch (l.kind) {
        case TO_CREATE:
                if (l.answer_lost && (is_down() || fault(100)))
                        return;
                if (l.answer_lost)
                        server_create(&l);
                else
                        creation_arrives(l);
                return;
        case TO_ANSWER:
                answer_arrives(&l);
                return;
        case TO_DELETE:
        case TO_DELETE_PENDING:
                if (!is_down())
                        server_delete(l.id, l.kind == TO_DELETE_PENDING);
                return;
        case TO_LABEL:
                if (!is_down() && w.pods[l.id].exists) {
                        w.pods[l.id].inactive = true;
                        record(l.id);
                }
                return;
        case TO_LIST_CLAIMS:
                tell_claims();
                return;
        }
}

static void deliver_messages(void)
{
        for (size_t i = 0; i < w.messages.len;) {
                struct message l = w.messages.data[i];
                if (l.at > w.now) {
                        i++;
                        continue;
                }
                w.messages.data[i] = w.messages.data[--w.messages.len];
                deliver(l);
                run();
        }
}

/* ---------------------------------------------------------------------------------------------- watch and lists */

static void tell(int id, const struct server_pod *pod, bool name_only)
{
        _cleanup_json_ json_t *j = json_of(id, pod);

        if (name_only) {
                json_object_del(json_object_get(j, "metadata"), "labels");
                json_object_del(j, "status");
                json_object_del(j, "spec");
                json_object_del(json_object_get(j, "metadata"), "resourceVersion");
        }
        if (pod->exists)
                snapshots_store_update(w.p.store, j, w.now);
        else
                snapshots_store_delete(w.p.store, j, w.now);
        run();
}

/* The watch was ended or begins: reports present and missing pods as kube_watch.h does. */
static void relist(void)
{
        seen.relists++;
        for (int id = 1; id <= w.last_id; id++)
                if (pods_snapshot_get(snapshots_store_pods(w.p.store), id) && !w.pods[id].exists)
                        tell(id, &w.pods[id], true);
                else if (w.pods[id].exists)
                        tell(id, &w.pods[id], false);
        w.reported = w.history.len;
        snapshots_store_synced(w.p.store, w.now);
}

static void watch(void)
{
        if (is_down())
                w.watching = false;
        if (!w.watching) {
                if (is_down() || w.now < w.watch_again)
                        return;
                relist();
                w.watching = true;
        }
        for (; w.reported < w.history.len && w.history.data[w.reported].at <= w.now; w.reported++) {
                const struct change *c = &w.history.data[w.reported];
                tell(c->id, &c->pod, false);
                if (fault(20))
                        tell(c->id, &c->pod, false); /* report it twice */
        }
        if (fault(5)) {
                w.watching = false;
                w.watch_again = w.now + MS(roll(3000));
        }
        if (w.now >= w.next_sync && w.watching) {
                w.next_sync = w.now + MS(30000);
                snapshots_store_synced(w.p.store, w.now);
        }
}

/* A list beside the watch, possibly from a stale cache. */
static void poll(void)
{
        static struct server_pod then[IDS];
        size_t until = w.history.len;
        char version[24];

        if (w.now < w.next_poll || is_down())
                return;
        w.next_poll = w.now + MS(20000 + roll(20000));
        if (fault(300) && until > 0) {
                until -= roll((unsigned)MIN(until, (size_t)40));
                seen.stale_polls++;
        }
        seen.polls++;
        memset(then, 0, sizeof(then));
        for (size_t i = 0; i < until; i++)
                then[w.history.data[i].id] = w.history.data[i].pod;
        snapshots_store_list_begin(w.p.store);
        for (int id = 1; id <= w.last_id; id++)
                if (then[id].exists) {
                        _cleanup_json_ json_t *j = json_of(id, &then[id]);
                        snapshots_store_list_pod(w.p.store, j, w.now);
                }
        if (fault(100))
                return; /* the last page is missing */
        snprintf(version, sizeof(version), "%d", until ? (int)w.history.data[until - 1].pod.version : 0);
        snapshots_store_list_end(w.p.store, version, w.now);
}

/* ------------------------------------------------------------------------------------------------- the scheduler */

static void executors_register(void)
{
        for (int id = 1; id <= w.last_id; id++) {
                if (w.registers[id] && w.registers[id] <= w.now && w.pods[id].exists && w.pods[id].phase == RUNNING) {
                        w.registers[id] = 0;
                        if (pods_allocator_is_excluded(w.p.allocator, id)) {
                                w.doomed[id] = true;
                                seen.refused++;
                        } else if (!w.removed[id]) {
                                w.registered[id] = true;
                                executor_pods_registered(&w.p, id, w.now);
                                seen.registered++;
                        }
                }
                if (w.registered[id] && !w.pods[id].exists && fault(200))
                        forget_executor(id); /* its connection broke */
        }
}

static void set_target(int profile, int target)
{
        int over = -target;

        w.target[profile] = target;
        pods_allocator_set_target(w.p.allocator, profile, target, w.now);
        run();
        for (int id = 1; id <= w.last_id; id++)
                over += w.registered[id] && w.profile_of[id] == profile;
        for (int32_t id = 1; id <= w.last_id && over > 0; id++)
                if (w.registered[id] && w.profile_of[id] == profile) {
                        over--;
                        seen.killed++;
                        w.doomed[id] = roll(3) > 0; /* it exits by itself, or must be killed */
                        forget_executor(id);
                        lifecycle_manager_killed(w.p.lifecycle, &id, 1, w.now);
                }
}

/* --------------------------------------------------------------------------------------------------------- worlds */

static void turn(void)
{
        deliver_messages();
        for (int id = 1; id <= w.last_id; id++)
                pod_lives(id);
        watch();
        poll();
        executors_register();
        while (executor_pods_deadline(&w.p) <= w.now) {
                seen.ticks++;
                executor_pods_tick(&w.p, w.now);
                run();
                HOLDS(executor_pods_deadline(&w.p) > w.now);
        }
        executors_register();
}

static void pass(int64_t time, int64_t step)
{
        for (int64_t until = w.now + time; w.now < until; w.now += step) {
                turn();
                for (int i = 0; i < PROFILES; i++)
                        set_target(i, w.target[i]); /* executors that registered after the target fell are excess too */
        }
}

static void begin(uint64_t seed)
{
        struct fst_error error = FST_ERROR_INIT;

        w = (struct pods_sim_world){
                .seed = seed, .random = seed * 7919, .now = MS(1000), .quota = -1, .watching = true};
        w.config = EXECUTOR_PODS_DEFAULT;
        struct pods_allocator_config *c = &w.config.allocation;
        c->batch_size_set = roll(2);
        c->batch_size = 1 + (int)roll(20);
        c->idle_timeout = MS(5000);
        c->creation_timeout = MS(60000);
        c->max_pending = roll(2) ? INT32_MAX : 1 + (int)roll(20);
        static char class[] = "gp2";
        static const struct claim_need claim = {class, 10};
        c->reuse_claims = roll(3) == 0;
        c->claims = &claim;
        c->n_claims = c->reuse_claims;
        c->window = (struct create_window_config){.seed = seed};
        w.config.lifecycle.max_failures = INT32_MAX;
        if (roll(8) == 0)
                c->delete_executors = w.config.lifecycle.delete_executors = false;
        seen.adaptive += !c->batch_size_set;
        w.next_poll = roll(2) ? MS(20000) : INT64_MAX;
        assert_int_equal(executor_pods_config_check(&w.config, &error), 0);
        executor_pods_init(&w.p, &w.config);
        pods_allocator_start(w.p.allocator, w.now);
        run();
}

static void live_wildly(void)
{
        int64_t until = w.now + LIVELY;

        while (w.now < until) {
                if (roll(100) == 0)
                        set_target((int)roll(PROFILES), (int)roll(roll(4) ? 12 : 50));
                if (roll(300) == 0)
                        w.quota = roll(3) ? (int)roll(30) : -1;
                if (roll(1000) == 0 && !is_down()) {
                        w.down_until = w.now + MS(roll(8000));
                        seen.outages++;
                }
                turn();
                w.now += MS(1 + roll(200));
        }
}

static void comes_true(void)
{
        w.calm = true;
        w.quota = -1;
        w.down_until = 0;
        for (int i = 0; i < PROFILES; i++)
                set_target(i, 5 + (int)roll(30));
        pass(QUIET, MS(250));
        for (int i = 0; i < PROFILES; i++) {
                int registered = 0, running = 0, others = 0;
                for (int id = 1; id <= w.last_id; id++) {
                        const struct server_pod *pod = &w.pods[id];
                        if (w.profile_of[id] != i || (pod->exists && pod->inactive))
                                continue;
                        registered += w.registered[id];
                        running += lives(pod) && pod->phase == RUNNING;
                        others += pod->exists && pod->phase != RUNNING;
                }
                HOLDS(registered == w.target[i]);
                if (w.config.lifecycle.delete_executors)
                        HOLDS(running == w.target[i]);
                HOLDS(others == 0);
                HOLDS(pods_allocator_counts(w.p.allocator, i).requested == 0);
        }
        HOLDS(pods_allocator_in_flight(w.p.allocator) == 0);
}

static void ends_clean(void)
{
        for (int i = 0; i < PROFILES; i++)
                set_target(i, 0);
        pass(QUIET, MS(250));
        for (int id = 1; id <= w.last_id; id++) {
                HOLDS(!w.registered[id]);
                if (w.config.lifecycle.delete_executors)
                        HOLDS(!w.pods[id].exists);
        }
        HOLDS(w.watching && w.messages.len == 0);
}

static void play(uint64_t seed)
{
        begin(seed);
        live_wildly();
        comes_true();
        ends_clean();
        executor_pods_deinit(&w.p);
        vec_deinit(&w.history);
        vec_deinit(&w.messages);
        vec_deinit(&w.claims);
}

static int first_seed = 1, n_seeds = SEEDS;

static void keeps_invariants_under_random_faults(void **state)
{
        for (int seed = first_seed; seed < first_seed + n_seeds; seed++)
                play((uint64_t)seed);
        if (n_seeds < SEEDS)
                return;
        const long *counts = (const long *)&seen;
        for (size_t i = 0; i < sizeof(seen) / sizeof(long); i++)
                if (counts[i] == 0)
                        fail_msg("count %zu is 0: the worlds test less than they should", i);
}

int main(int argc, char **argv)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(keeps_invariants_under_random_faults)};

        if (argc > 1) {
                first_seed = atoi(argv[1]);
                n_seeds = argc > 2 ? atoi(argv[2]) : 1;
        }
        return cmocka_run_group_tests(tests, NULL, NULL);
}
