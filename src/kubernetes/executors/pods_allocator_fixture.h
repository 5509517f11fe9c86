/*
 * For the tests of the allocator: it stands between a server that creates what it is asked for, unless the test
 * answers itself, and a store of snapshots; what it asks for and says is written down. suite_config() is the one of
 * Spark's ExecutorPodsAllocatorSuite: the batch size is set (5), and pods are created as soon as they are asked for.
 */
#pragma once

#include "base/error.h"
#include "base/vec.h"
#include "kubernetes/api/pod_fixture.h"
#include "kubernetes/executors/pods_allocator.h"

#include <string.h>

struct asked {
        int32_t id, profile;
        bool recovery;
};

static struct world {
        struct pods_allocator *a;
        struct snapshots_store *store;
        int64_t now;
        VEC(struct asked) created; /* all that was asked for */
        size_t answered;           /* of them */
        bool keep_asking;          /* creations are not answered by themselves */
        bool asks_claims;
        char reused[256], deleted[512]; /* "3,4p 7 " */
        int deletions, failures, claim_lists;
        char log[4096];
} w;

static inline void w_create(void *owner, int32_t id, int32_t profile, bool recovery)
{
        vec_push(&w.created, (struct asked){id, profile, recovery});
        if (w.asks_claims) {
                const char *name = pods_allocator_take_claim(w.a, id, "gp2", 200);
                if (name)
                        snprintf(w.reused + strlen(w.reused), sizeof(w.reused) - strlen(w.reused), "%d:%s ", id, name);
        }
}

static inline void w_delete(void *owner, const int32_t *ids, int n, bool pending)
{
        w.deletions++;
        for (int i = 0; i < n; i++)
                snprintf(w.deleted + strlen(w.deleted), sizeof(w.deleted) - strlen(w.deleted), "%s%d", i ? "," : "",
                         ids[i]);
        strcat(w.deleted, pending ? "p " : " ");
}

static inline void w_list_claims(void *owner)
{
        w.claim_lists++;
}

static inline void w_failed(void *owner, int32_t id, int64_t now)
{
        w.failures++;
}

static inline void w_log(void *owner, enum log_level level, const char *component, const char *line)
{
        assert_string_equal(component, "ExecutorPodsAllocator");
        snprintf(w.log + strlen(w.log), sizeof(w.log) - strlen(w.log), "%s\n", line);
}

static const struct pods_allocator_ops ops = {.create_pod = w_create,
                                              .delete_pods = w_delete,
                                              .list_claims = w_list_claims,
                                              .creation_failed = w_failed,
                                              .log = w_log};

static inline void w_snapshot(void *owner, const struct pods_batch *batch, int64_t now)
{
        pods_allocator_snapshot(w.a, batch, now);
}

enum { IDLE = 10000, SIZE = 5 };

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

static inline void begin(struct pods_allocator_config c)
{
        struct fst_error error = FST_ERROR_INIT;

        w = (struct world){.now = 1000000, .store = snapshots_store_new(&(struct pod_rules){.check_all = true})};
        assert_int_equal(pods_allocator_config_check(&c, &error), 0);
        w.a = pods_allocator_new(&c, &ops, NULL);
        snapshots_store_subscribe(w.store, 0, w_snapshot, NULL, w.now);
        snapshots_store_tick(w.store, w.now);
        pods_allocator_start(w.a, w.now);
}

static inline void end(void)
{
        pods_allocator_free(w.a);
        snapshots_store_free(w.store);
        vec_deinit(&w.created);
}

/* The server creates what was asked for. */
static inline void answer(void)
{
        while (!w.keep_asking && w.answered < w.created.len)
                pods_allocator_created(w.a, w.created.data[w.answered++].id, w.now);
}

static inline void target(int profile, int n)
{
        pods_allocator_set_target(w.a, profile, n, w.now);
        answer();
}

static inline void pod(json_t *json)
{
        snapshots_store_update(w.store, json, w.now);
        json_decref(json);
}

static inline void pods_gone(json_t *json)
{
        snapshots_store_delete(w.store, json, w.now);
        json_decref(json);
}

/* An allocation cycle passes. */
static inline void notify(void)
{
        w.now += 1000;
        snapshots_store_notify(w.store);
        snapshots_store_tick(w.store, w.now);
        pods_allocator_tick(w.a, w.now);
        answer();
}

static inline void known(const char *ids)
{
        for (int id = 1; id <= pods_allocator_last_id(w.a); id++) {
                char text[16];
                snprintf(text, sizeof(text), " %d ", id);
                pods_allocator_known(w.a, id, strstr(ids, text) != NULL, w.now);
        }
}

#define OUTSTANDING(n) assert_int_equal(pods_allocator_outstanding(w.a), n)
#define CREATED(n) assert_int_equal(w.created.len, n)
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
