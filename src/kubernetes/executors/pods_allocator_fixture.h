/*
 * Fixture for the allocator's tests: a server that creates all requested pods, unless the test responds itself, and a
 * snapshots store. It records the allocator's actions. suite_config() is that of Spark's ExecutorPodsAllocatorSuite:
 * the batch size is set (5), and pods are created as soon as they are requested.
 */
#pragma once

#include "base/error.h"
#include "base/vec.h"
#include "kubernetes/api/pod_fixture.h"
#include "kubernetes/executors/lifecycle_manager.h"
#include "kubernetes/executors/pods_allocator.h"

#include <string.h>

struct requested_pod {
        int32_t id, profile;
        bool recovery;
};

static struct pods_world {
        struct pod_actions actions;
        struct lifecycle_manager *lifecycle;
        struct pods_allocator *a;
        struct snapshots_store *store;
        struct pods_subscription *news;
        int64_t now;
        VEC(struct requested_pod) created; /* all requested creations */
        size_t answered;                   /* the number with a response */
        bool no_responses;                 /* do not respond to creations */
        char reused[256], deleted[512];    /* "3,4p 7 " */
        int deletions, claim_lists;
        char log[4096];
} w;

#define PUT(text, ...) snprintf((text) + strlen(text), sizeof(text) - strlen(text), __VA_ARGS__)

static inline void do_action(const struct pod_action *action)
{
        switch (action->kind) {
        case POD_ACTION_CREATE:
                vec_push(&w.created,
                         (struct requested_pod){action->create.id, action->create.profile, action->create.recovery});
                for (int i = 0; i < action->create.n_claims; i++)
                        if (action->create.claims[i])
                                PUT(w.reused, "%d:%s ", action->create.id, action->create.claims[i]);
                break;
        case POD_ACTION_DELETE_MANY:
                w.deletions++;
                for (int i = 0; i < action->delete_many.n; i++)
                        PUT(w.deleted, "%s%d", i ? "," : "", action->delete_many.ids[i]);
                PUT(w.deleted, action->delete_many.pending ? "p " : " ");
                break;
        case POD_ACTION_LIST_CLAIMS:
                w.claim_lists++;
                break;
        case POD_ACTION_LOG:
                PUT(w.log, "%s\n", action->log.line);
                break;
        case POD_ACTION_DELETE:
        case POD_ACTION_LABEL_INACTIVE:
        case POD_ACTION_REMOVE_EXECUTOR:
        case POD_ACTION_STOP_APPLICATION: /* for the lifecycle manager */
                break;
        }
}

/* Performs all actions. */
static inline void world_run(void)
{
        for (const struct pod_action *action; (action = pod_actions_next(&w.actions));)
                do_action(action);
}

#define IDLE (10 * NS_PER_SECOND)

enum { SIZE = 5 };

static inline struct pods_allocator_config suite_config(void)
{
        struct pods_allocator_config c = PODS_ALLOCATOR_DEFAULT;

        c.batch_size = SIZE;
        c.batch_size_set = true;
        c.idle_timeout = IDLE;
        return c;
}

static inline struct pods_allocator_config our_config(void)
{
        struct pods_allocator_config c = PODS_ALLOCATOR_DEFAULT;

        c.idle_timeout = IDLE;
        return c;
}

/* Passes the changes to the allocator. */
static inline void world_poll(void)
{
        struct pods_batch batch;

        if (pods_subscription_next(w.news, &batch, w.now))
                pods_allocator_snapshot(w.a, &batch, w.now);
        world_run();
}

static inline void world_begin(struct pods_allocator_config c)
{
        struct lifecycle_config lifecycle = LIFECYCLE_DEFAULT;
        struct fst_error error = FST_ERROR_INIT;

        w = (struct pods_world){.now = 1000 * NS_PER_SECOND,
                                .store = snapshots_store_new(&(struct pod_rules){.check_all = true})};
        assert_int_equal(pods_allocator_config_check(&c, &error), 0);
        w.lifecycle = lifecycle_manager_new(&lifecycle, &w.actions);
        w.a = pods_allocator_new(&c, w.lifecycle, &w.actions);
        w.news = snapshots_store_subscribe(w.store, 0, w.now);
        snapshots_store_notify(w.store);
        world_poll();
        pods_allocator_start(w.a, w.now);
        world_run();
}

static inline void world_end(void)
{
        pods_allocator_free(w.a);
        lifecycle_manager_free(w.lifecycle);
        pod_actions_deinit(&w.actions);
        snapshots_store_free(w.store);
        vec_deinit(&w.created);
}

/* Events, and the actions that follow them. */
static inline void server_created(int32_t id)
{
        pods_allocator_created(w.a, id, w.now);
        world_run();
}

static inline void create_failed(int32_t id, enum create_outcome outcome, int64_t retry_after, const char *message)
{
        pods_allocator_create_failed(w.a, id, outcome, retry_after, message, w.now);
        world_run();
}

static inline void world_tick(void)
{
        pods_allocator_tick(w.a, w.now);
        world_run();
}

/* The server creates all requested pods. */
static inline void server_answer(void)
{
        world_run();
        while (!w.no_responses && w.answered < w.created.len)
                server_created(w.created.data[w.answered++].id);
}

static inline void allocator_target(int profile, int n)
{
        pods_allocator_set_target(w.a, profile, n, w.now);
        server_answer();
}

static inline void server_update_pod(json_t *json)
{
        snapshots_store_update(w.store, json, w.now);
        json_decref(json);
}

static inline void pods_gone(json_t *json)
{
        snapshots_store_delete(w.store, json, w.now);
        json_decref(json);
}

/* One allocation interval passes. */
static inline void world_advance(void)
{
        w.now += NS_PER_SECOND;
        snapshots_store_notify(w.store);
        world_poll();
        world_tick();
        server_answer();
}

static inline void allocator_report_known(const char *ids)
{
        for (int id = 1; id <= pods_allocator_last_id(w.a); id++) {
                char text[16];
                snprintf(text, sizeof(text), " %d ", id);
                pods_allocator_known(w.a, id, strstr(ids, text) != NULL, w.now);
        }
}

#define OUTSTANDING(n) assert_int_equal(pods_allocator_outstanding(w.a), n)
#define CREATED(n) assert_int_equal(w.created.len, n)
#define FAILURES(n) assert_int_equal(lifecycle_manager_failures(w.lifecycle, w.now), n)
#define DELETED(text)                                                                                                  \
        do {                                                                                                           \
                assert_string_equal(w.deleted, text);                                                                  \
                w.deleted[0] = '\0';                                                                                   \
        } while (0)

static inline void created_of(int id, int profile)
{
        assert_true(id <= (int)w.created.len);
        assert_int_equal(w.created.data[id - 1].id, id);
        assert_int_equal(w.created.data[id - 1].profile, profile);
}
