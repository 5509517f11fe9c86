/* The order, pauses and rate of keys, and random sequences against a plain model. */
#include "operator/shell/work_queue.h"

#include "base/mem.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define MS(n) ((n)*NS_PER_MS)

/* Takes all keys that come out now and returns them as "ns/name ns/name ". */
static const char *taken(struct work_queue *q, int64_t now)
{
        static char text[1000];
        text[0] = 0;
        for (struct work_item item; work_queue_next(q, now, &item);)
                sprintf(text + strlen(text), "%s/%s ", item.namespace, item.name);
        return text;
}

static void namespaces_take_turns(void **state)
{
        struct work_queue *q = work_queue_new(&(struct work_queue_options){0});
        for (int i = 0; i < 4; i++) {
                char name[8];
                snprintf(name, sizeof(name), "%d", i);
                work_queue_add(q, 0, "big", name);
        }
        work_queue_add(q, 0, "small", "a");
        work_queue_add(q, 0, "big", "0"); /* twice */
        assert_int_equal(work_queue_depth(q), 5);
        assert_int_equal(work_queue_deadline(q, 7), 7);
        assert_string_equal(taken(q, 7), "big/0 small/a big/1 big/2 big/3 ");
        assert_int_equal(work_queue_deadline(q, 7), INT64_MAX);
        work_queue_free(q);
}

static void keys_wait_for_their_time(void **state)
{
        struct work_queue *q = work_queue_new(&(struct work_queue_options){0});
        work_queue_add_at(q, 0, "n", "later", MS(30));
        work_queue_add_at(q, 0, "n", "soon", MS(20));
        work_queue_add_at(q, 0, "n", "later", MS(50)); /* the earlier time wins */
        work_queue_add_at(q, 0, "n", "never", INT64_MAX);
        work_queue_add_at(q, 1, "n", "soon", MS(90)); /* another kind is another key */
        assert_int_equal(work_queue_deadline(q, 0), MS(20));
        assert_string_equal(taken(q, MS(19)), "");
        assert_string_equal(taken(q, MS(40)), "n/soon n/later ");
        work_queue_add(q, 1, "n", "soon"); /* at once, in place of MS(90) */
        assert_string_equal(taken(q, MS(40)), "n/soon ");
        assert_int_equal(work_queue_deadline(q, MS(40)), INT64_MAX);
        work_queue_add_at(q, 0, "n", "gone", MS(60));
        work_queue_remove(q, 0, "n", "gone");
        assert_string_equal(taken(q, MS(100)), "");
        work_queue_free(q);
}

static void pauses_double_until_success(void **state)
{
        struct work_queue *q = work_queue_new(&(struct work_queue_options){.most_pause = MS(40)});
        static const int64_t pauses[] = {5, 10, 20, 40, 40};
        for (size_t i = 0; i < ARRAY_SIZE(pauses); i++) {
                work_queue_add_failed(q, 0, "n", "x", MS(1000));
                assert_int_equal(work_queue_deadline(q, MS(1000)), MS(1000) + MS(pauses[i]));
                assert_string_equal(taken(q, MS(1100)), "n/x ");
        }
        work_queue_forget_failures(q, 0, "n", "x");
        work_queue_add_failed(q, 0, "n", "x", 0);
        assert_int_equal(work_queue_deadline(q, 0), MS(5));
        work_queue_add(q, 0, "n", "x"); /* news about the object end the pause */
        assert_string_equal(taken(q, 0), "n/x ");
        work_queue_free(q);
}

static void bucket_limits_rate(void **state)
{
        struct work_queue *q = work_queue_new(&(struct work_queue_options){.rate = 10, .burst = 3});
        char name[8];
        for (int i = 0; i < 8; i++) {
                snprintf(name, sizeof(name), "%d", i);
                work_queue_add(q, 0, "n", name);
        }
        assert_string_equal(taken(q, 0), "n/0 n/1 n/2 ");
        assert_int_equal(work_queue_deadline(q, 0), MS(100));
        assert_string_equal(taken(q, MS(99)), "");
        assert_string_equal(taken(q, MS(200)), "n/3 n/4 ");
        assert_string_equal(taken(q, 3600 * NS_PER_SECOND), "n/5 n/6 n/7 "); /* never more than the burst */
        work_queue_free(q);
}

/* Each key comes out exactly when a model of plain arrays has it. */
static void random_sequences_match_model(void **state)
{
        enum { KEYS = 30 };
        for (unsigned seed = 1; seed <= 300; seed++) {
                CASE_LABEL("seed %u", seed);
                struct work_queue *q = work_queue_new(&(struct work_queue_options){0});
                int64_t when[KEYS], now = 0;
                unsigned random = seed;
                for (int i = 0; i < KEYS; i++)
                        when[i] = INT64_MAX;
                for (int step = 0; step < 400; step++) {
                        char name[8], namespace[8];
                        int key = (int)(rand_r(&random) % KEYS);
                        int64_t at = now + (int64_t)(rand_r(&random) % 50);
                        snprintf(name, sizeof(name), "%d", key);
                        snprintf(namespace, sizeof(namespace), "n%d", key % 4);
                        switch (rand_r(&random) % 5) {
                        case 0:
                                work_queue_add(q, 0, namespace, name);
                                when[key] = MIN(when[key], now);
                                break;
                        case 1:
                                work_queue_add_at(q, 0, namespace, name, at);
                                when[key] = MIN(when[key], at);
                                break;
                        case 2:
                                work_queue_remove(q, 0, namespace, name);
                                when[key] = INT64_MAX;
                                break;
                        case 3:
                                now += (int64_t)(rand_r(&random) % 20);
                                break;
                        default:
                                work_queue_forget_failures(q, 0, namespace, name);
                        }
                        int64_t first = INT64_MAX;
                        for (int i = 0; i < KEYS; i++)
                                first = MIN(first, when[i]);
                        assert_true(first <= now ? work_queue_deadline(q, now) <= now
                                                 : work_queue_deadline(q, now) == first);
                        struct work_item item;
                        while (rand_r(&random) % 3 && work_queue_next(q, now, &item)) {
                                key = atoi(item.name);
                                assert_true(when[key] <= now);
                                when[key] = INT64_MAX;
                        }
                }
                work_queue_free(q);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(namespaces_take_turns),        cmocka_unit_test(keys_wait_for_their_time),
                cmocka_unit_test(pauses_double_until_success),  cmocka_unit_test(bucket_limits_rate),
                cmocka_unit_test(random_sequences_match_model),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
