/* Under every fault of lists and streams, the owner's picture equals the server's, and no event comes twice. */
#include "kubernetes/api/kube_watch.h"

#define HTTP_FIXTURE_CONNECTIONS 4096

#include "base/error.h"
#include "kubernetes/api/kube_fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct kube_fixture api;
static struct kube_config config;
static struct kube_client *client;
static struct kube_watch *watch;
static uv_loop_t loop;
static struct fst_error error;

/* The owner's picture, built from events. */
static struct picture {
        json_t *pods; /* maps names to versions */
        int synced, added, modified, deleted, failures, last_failure;
        int free_at; /* wait for this many events */
} seen;

static const char *text_of(const json_t *object, const char *key)
{
        const char *text = json_string_value(json_object_get(json_object_get(object, "metadata"), key));
        return text ? text : "";
}

static void on_event(void *owner, enum kube_event what, json_t *object)
{
        struct picture *p = owner;
        const char *name = text_of(object, "name"), *version = text_of(object, "resourceVersion");
        const char *known = json_string_value(json_object_get(p->pods, name));
        assert_true((what == KUBE_SYNCED) == (object == NULL));
        switch (what) {
        case KUBE_SYNCED:
                p->synced++;
                break;
        case KUBE_ADDED:
                assert_null(known);
                p->added++;
                json_object_set_new(p->pods, name, json_string(version));
                break;
        case KUBE_MODIFIED:
                assert_non_null(known);
                assert_string_not_equal(known, version);
                p->modified++;
                json_object_set_new(p->pods, name, json_string(version));
                break;
        case KUBE_DELETED:
                assert_non_null(known);
                p->deleted++;
                json_object_del(p->pods, name);
                break;
        }
        if (p->free_at && p->added + p->modified + p->deleted == p->free_at)
                kube_watch_free(steal(watch));
}

static void on_failure(void *owner, int r, const struct fst_error *why, int64_t again_ms)
{
        struct picture *p = owner;
        p->failures++;
        p->last_failure = r;
        assert_non_null(why->message);
        assert_true(again_ms >= 0);
}

static const struct kube_watch_ops ops = {.event = on_event, .failed = on_failure};

static void put(const char *name, int what)
{
        json_t *object = json_pack("{s:{s:s, s:s, s:s, s:i}}", "metadata", "name", name, "namespace", "ns", "uid", name,
                                   "what", what);
        pthread_mutex_lock(&api.lock);
        kube_fixture_put(&api, object);
        pthread_mutex_unlock(&api.lock);
        json_decref(object);
}

static void take_away(const char *name)
{
        pthread_mutex_lock(&api.lock);
        kube_fixture_remove(&api, name);
        pthread_mutex_unlock(&api.lock);
}

static bool is_same(void)
{
        const char *name;
        json_t *pod;
        bool same;
        pthread_mutex_lock(&api.lock);
        same = json_object_size(api.pods) == json_object_size(seen.pods);
        json_object_foreach(api.pods, name, pod) {
                const char *known = json_string_value(json_object_get(seen.pods, name));
                same = same && known && strcmp(known, text_of(pod, "resourceVersion")) == 0;
        }
        pthread_mutex_unlock(&api.lock);
        return same;
}

static void run_until_same(void)
{
        while (!seen.synced || !is_same())
                uv_run(&loop, UV_RUN_ONCE);
        assert_int_equal(kube_watch_counts(watch).objects, json_object_size(seen.pods));
}

static void start_watch_of(bool whole, const char *labels)
{
        watch = kube_watch_start(
                client,
                &(struct kube_watch_options){
                        .path = "/api/v1/namespaces/ns/pods", .labels = labels, .page = 3, .whole = whole},
                &ops, &seen);
        assert_int_equal(seen.added, 0);
}

static void start_watch(void)
{
        start_watch_of(false, "a=b");
}

static void reports_list_then_changes(void **state)
{
        for (int i = 0; i < 10; i++)
                put((char[]){'a' + (char)i, 0}, 0);
        start_watch();
        run_until_same();
        assert_int_equal(seen.added, 10);
        assert_int_equal(seen.synced, 1);
        put("b", 1);
        put("new", 0);
        take_away("a");
        run_until_same();
        assert_int_equal(seen.added, 11);
        assert_int_equal(seen.modified, 1);
        assert_int_equal(seen.deleted, 1);
        while (kube_watch_counts(watch).watches < 4) /* the fixture ends watches, which resume at the last version */
                uv_run(&loop, UV_RUN_ONCE);
        assert_int_equal(kube_watch_counts(watch).lists, 1);
        assert_true(kube_watch_counts(watch).bookmarks > 0);
        assert_int_equal(seen.synced, 1);
        char head[sizeof(api.last_head)];
        pthread_mutex_lock(&api.lock);
        memcpy(head, api.last_head, sizeof(head));
        pthread_mutex_unlock(&api.lock);
        assert_non_null(strstr(head, "watch=true&allowWatchBookmarks=true&resourceVersion=13&timeoutSeconds="));
        assert_non_null(strstr(head, "&labelSelector=a%3Db"));
}

/* A second list finds the changes that happened without a watch. */
static void lists_again_after_410(void **state)
{
        for (int i = 0; i < 5; i++)
                put((char[]){'a' + (char)i, 0}, 0);
        start_watch();
        run_until_same();
        pthread_mutex_lock(&api.lock);
        kube_fixture_remove(&api, "a");
        json_t *b = json_incref(json_object_get(api.pods, "b"));
        kube_fixture_put(&api, b);
        json_decref(b);
        /* c is deleted and created again: another object of that name */
        kube_fixture_remove(&api, "c");
        json_t *c = json_pack("{s:{s:s, s:s, s:s}}", "metadata", "name", "c", "namespace", "ns", "uid", "another");
        kube_fixture_put(&api, c);
        json_decref(c);
        api.oldest = api.n_changes;
        pthread_mutex_unlock(&api.lock);
        run_until_same();
        while (seen.synced < 2)
                uv_run(&loop, UV_RUN_ONCE);
        assert_int_equal(seen.deleted, 2);
        assert_int_equal(seen.modified, 1);
        assert_int_equal(seen.added, 6);
        assert_int_equal(kube_watch_counts(watch).lists, 2);
}

static int wrong;
static enum kube_fault always_wrong(struct kube_fixture *a, const struct fixture_exchange *x)
{
        if (a->step <= 0)
                return FAULT_NONE;
        a->step--;
        return (enum kube_fault)wrong;
}

static void reports_failures_and_recovers(void **state)
{
        put("a", 0);
        pthread_mutex_lock(&api.lock);
        wrong = FAULT_REFUSED;
        api.refusal = 403;
        api.refusal_text = "{\"message\":\"no\"}";
        api.step = 3;
        api.fault = always_wrong;
        pthread_mutex_unlock(&api.lock);
        start_watch();
        run_until_same();
        assert_int_equal(seen.failures, 3);
        assert_int_equal(seen.last_failure, FST_KUBE_E_FORBIDDEN);
        assert_int_equal(kube_watch_counts(watch).lists, 4);
        /* A stream with content that is not an event. */
        pthread_mutex_lock(&api.lock);
        api.refusal = 200;
        api.refusal_text = "<html>\n";
        api.step = 2;
        pthread_mutex_unlock(&api.lock);
        put("b", 0);
        run_until_same();
        assert_true(seen.failures > 3);
}

static int whole_lists, pages;
static enum kube_fault first_list_is_lost(struct kube_fixture *a, const struct fixture_exchange *x)
{
        if (strstr(x->target, "watch=true"))
                return FAULT_NONE;
        whole_lists += !strstr(x->target, "limit=");
        pages += strstr(x->target, "limit=") != NULL;
        return a->step-- > 0 ? FAULT_REFUSED : FAULT_NONE;
}

/* A list that fails as a whole is read in pages. */
static void lists_whole_or_after_failure_in_pages(void **state)
{
        for (int fails = 0; fails <= 1; fails++) {
                kube_watch_free(watch);
                json_object_clear(seen.pods);
                json_t *pods = seen.pods;
                seen = (struct picture){.pods = pods};
                for (int i = 0; i < 5; i++)
                        put((char[]){'a' + (char)i, 0}, 0);
                pthread_mutex_lock(&api.lock);
                api.refusal = 403;
                api.refusal_text = "{\"message\":\"no\"}";
                api.step = fails;
                whole_lists = pages = 0;
                api.fault = first_list_is_lost;
                pthread_mutex_unlock(&api.lock);
                start_watch_of(true, NULL);
                run_until_same();
                assert_int_equal(seen.added, 5);
                assert_int_equal(seen.failures, fails);
                assert_int_equal(whole_lists, 1);
                assert_int_equal(pages, fails ? 2 : 0);
        }
}

static enum kube_fault any_fault(struct kube_fixture *a, const struct fixture_exchange *x)
{
        unsigned n = (unsigned)(a->step = (int)((unsigned)a->step * 1103515245u + 12345u)) >> 16 & 63;
        return n < 6    ? FAULT_CLOSE
               : n < 12 ? FAULT_LOST
               : n < 28 ? FAULT_HALF
               : n < 34 ? FAULT_GONE
               : n < 38 ? FAULT_REFUSED
                        : FAULT_NONE;
}

/* Many changes through a server that often fails. */
static void keep_picture_under_random_faults(bool whole)
{
        unsigned seed = 7;
        kube_client_set_pause(client, 1, 2); /* a few thousand of them */
        pthread_mutex_lock(&api.lock);
        api.step = 1;
        api.refusal = 500;
        api.refusal_text = "oops";
        api.fault = any_fault;
        pthread_mutex_unlock(&api.lock);
        start_watch_of(whole, whole ? NULL : "a=b");
        for (int round = 0; round < 25; round++) {
                for (int i = 0; i < 20; i++) {
                        char name[16];
                        snprintf(name, sizeof(name), "p%d", rand_r(&seed) % 30);
                        pthread_mutex_lock(&api.lock);
                        bool there = json_object_get(api.pods, name) != NULL;
                        pthread_mutex_unlock(&api.lock);
                        if (there && rand_r(&seed) % 2)
                                take_away(name);
                        else
                                put(name, i);
                }
                pthread_mutex_lock(&api.lock);
                if (round % 4 == 0)
                        api.oldest = api.n_changes - 3;
                pthread_mutex_unlock(&api.lock);
                run_until_same();
        }
        assert_true(kube_watch_counts(watch).lists > 1);
}

static void keeps_picture_under_random_faults(void **state)
{
        keep_picture_under_random_faults(false);
}

static void keeps_picture_of_whole_lists_under_random_faults(void **state)
{
        keep_picture_under_random_faults(true);
}

static void can_be_freed_in_callback(void **state)
{
        for (int i = 0; i < 10; i++)
                put((char[]){'a' + (char)i, 0}, 0);
        for (int at = 1; at <= 14; at += 4) {
                json_object_clear(seen.pods);
                seen.added = seen.modified = seen.deleted = seen.synced = 0;
                seen.free_at = at;
                start_watch();
                for (int i = 0; watch; i++) {
                        uv_run(&loop, UV_RUN_ONCE);
                        if (seen.synced && i % 2)
                                put("a", i);
                }
                assert_int_equal(seen.added + seen.modified, at);
                assert_int_equal(kube_client_pending(client), 0);
        }
}

static int begin(void **state)
{
        kube_fixture_start(&api);
        uv_loop_init(&loop);
        seen = (struct picture){.pods = json_object()};
        config = (struct kube_config){
                .server = api.http.url, .namespace = "ns", .request_timeout_ms = 30000, .connect_timeout_ms = 30000};
        int r = kube_client_new(&loop, &config, NULL, &client, &error);
        if (r < 0)
                print_message("%s\n", error_message(&error));
        else
                kube_client_set_pause(client, 2, 20);
        return r < 0;
}

static int end(void **state)
{
        kube_watch_free(watch);
        watch = NULL;
        kube_client_free(client);
        client = NULL;
        uv_run(&loop, UV_RUN_DEFAULT);
        kube_fixture_stop(&api);
        json_decref(seen.pods);
        error_deinit(&error);
        return uv_loop_close(&loop);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)
        const struct CMUnitTest tests[] = {
                CASE(reports_list_then_changes),
                CASE(lists_again_after_410),
                CASE(reports_failures_and_recovers),
                CASE(keeps_picture_under_random_faults),
                CASE(can_be_freed_in_callback),
                CASE(lists_whole_or_after_failure_in_pages),
                CASE(keeps_picture_of_whole_lists_under_random_faults),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
