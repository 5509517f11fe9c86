/* Tests the driver's block table: holders, lost executors, executors that register again. */
#include "driver/backend/block_master.h"

#include "base/mem.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct block_name rdd_block(int id, int partition)
{
        return (struct block_name){BLOCK_RDD, id, partition};
}

static struct block_name broadcast_piece(int64_t id, int part)
{
        return (struct block_name){BLOCK_BROADCAST, id, part};
}

static const struct block_info in_memory = {FST_STORAGE_MEMORY_ONLY, 100, 0, 10}, gone;

static int set_up(void **state)
{
        struct block_master *m = block_master_new();
        block_master_add_executor(m, -1, "driver", "a", 1);
        block_master_add_executor(m, 0, "0", "a", 10);
        block_master_add_executor(m, 1, "1", "b", 11);
        block_master_add_executor(m, 2, "2", "b", 12);
        *state = m;
        return 0;
}

static int tear_down(void **state)
{
        block_master_free(*state);
        return 0;
}

static void locates_updated_blocks(void **state)
{
        struct block_master *m = *state;
        struct block_location at[8];
        struct block_info info;
        int e[8];
        assert_false(block_master_cached(m, 3, 0));
        assert_true(block_master_update(m, 1, rdd_block(3, 0), &in_memory));
        assert_true(block_master_cached(m, 3, 0));
        assert_int_equal(block_master_executors(m, 3, 0, e, 8), 1);
        assert_int_equal(e[0], 1);
        assert_int_equal(block_master_locations(m, rdd_block(3, 0), 0, at, 8, &info), 1);
        assert_string_equal(at[0].host, "b");
        assert_int_equal(at[0].port, 11);
        assert_int_equal(info.rows, 10);
        assert_int_equal(block_master_locations(m, rdd_block(3, 0), 1, at, 8, &info), 0); /* not the asker */
        assert_true(block_master_update(m, 1, rdd_block(3, 0), &(struct block_info){FST_STORAGE_DISK_ONLY, 0, 70, 10}));
        assert_int_equal(block_master_rdd(m, 3).disk_bytes, 70);
        assert_int_equal(block_master_rdd(m, 3).memory_bytes, 0);
        assert_true(block_master_update(m, 1, rdd_block(3, 0), &gone));
        assert_true(block_master_update(m, 1, rdd_block(3, 0), &gone));
        assert_false(block_master_cached(m, 3, 0));
        assert_false(block_master_update(m, 7, rdd_block(3, 0), &in_memory));
        assert_false(block_master_update(m, -2, rdd_block(3, 0), &in_memory));
        assert_false(
                block_master_update(m, 1, rdd_block(3, 0), &(struct block_info){.level = FST_STORAGE_OFF_HEAP + 1}));
        assert_false(block_master_cached(m, 3, 0));
}

static void forgets_lost_executors(void **state)
{
        struct block_master *m = *state;
        for (int p = 0; p < 1000; p++) {
                block_master_update(m, p % 3, rdd_block(1, p), &in_memory);
                if (p < 100)
                        block_master_update(m, (p + 1) % 3, rdd_block(1, p), &in_memory);
        }
        assert_int_equal(block_master_rdd(m, 1).partitions, 1000);
        assert_int_equal(block_master_rdd(m, 1).memory_bytes, 110000);
        assert_int_equal(block_master_remove_executor(m, 0, NULL, NULL), 334 - 34);
        assert_int_equal(block_master_remove_executor(m, 0, NULL, NULL), 0);
        for (int p = 0; p < 1000; p++)
                assert_int_equal(block_master_cached(m, 1, p), p % 3 != 0 || p < 100);
        assert_false(block_master_update(m, 0, rdd_block(1, 0), &in_memory));
        block_master_add_executor(m, 0, "0", "a", 99);
        assert_true(block_master_update(m, 0, rdd_block(1, 999), &in_memory));
        block_master_add_executor(m, 0, "0", "a", 99); /* another process with the same id */
        assert_false(block_master_cached(m, 1, 999));
}

/* The loss of an executor reports partitions that need another copy, and only those. */
static void reports_partitions_short_of_copies(void **state)
{
        struct block_master *m = *state;
        static const struct block_info twice = {FST_STORAGE_MEMORY_ONLY_SER_2, 100, 0, 10},
                                       thrice = {FST_STORAGE_DISK_ONLY_3, 0, 9, 1};
        struct block_copy *copies;
        struct block_location at[8];
        size_t n;
        for (int p = 0; p < 300; p++)
                for (int e = 0; e < 3; e++)
                        if (p % 3 != e)
                                block_master_update(m, e, rdd_block(1, p), &twice);
        for (int e = 0; e < 3; e++)
                block_master_update(m, e, rdd_block(2, 0), &thrice);
        block_master_update(m, 0, rdd_block(3, 0), &in_memory);
        block_master_update(m, 1, rdd_block(3, 0), &in_memory); /* a remotely read copy: one is enough */
        block_master_update(m, 0, rdd_block(4, 0), &twice);     /* never had its copy */
        block_master_update(m, 0, broadcast_piece(1, 0), &in_memory);
        block_master_update(m, 1, broadcast_piece(1, 0), &in_memory);
        struct block_name name = rdd_block(1, 0);
        assert_int_equal(block_master_peers(m, 1, &name, at, 8), 1);
        assert_int_equal(at[0].executor, 0); /* 2 has it */
        assert_int_equal(block_master_remove_executor(m, 0, &copies, &n), 1);
        assert_int_equal(n, 201);
        int of_second = 0;
        for (size_t i = 0; i < n; i++) {
                of_second += copies[i].rdd == 2;
                assert_true(i == 0 || copies[i].executor >= copies[i - 1].executor);
                if (copies[i].rdd == 1)
                        assert_int_equal(copies[i].executor, copies[i].partition % 3 == 1 ? 2 : 1);
        }
        assert_int_equal(of_second, 1);
        free(copies);
        assert_int_equal(block_master_remove_executor(m, 0, &copies, &n), 0);
        assert_int_equal(n, 0);
        free(copies);
}

static void locates_nearest_holders_first(void **state)
{
        struct block_master *m = *state;
        struct block_location at[8];
        for (int e = -1; e < 3; e++)
                block_master_update(m, e, broadcast_piece(1, 4), &in_memory);
        int first[3] = {0};
        for (int i = 0; i < 200; i++) {
                assert_int_equal(block_master_locations(m, broadcast_piece(1, 4), 1, at, 8, NULL), 3);
                assert_int_equal(at[0].executor, 2); /* the same host */
                assert_int_equal(at[1].executor, 0);
                assert_int_equal(at[2].executor, -1); /* the driver last */
                assert_int_equal(block_master_locations(m, broadcast_piece(1, 4), 0, at, 2, NULL), 2);
                assert_true(at[0].executor >= 1);
                first[at[0].executor]++;
                assert_int_equal(block_master_peers(m, 1, NULL, at, 8), 2);
                assert_int_equal(at[0].executor, 0); /* a replica goes to another host first */
        }
        assert_true(first[1] > 50);
        assert_true(first[2] > 50);
}

static void decommissioned_executor_is_not_a_peer(void **state)
{
        struct block_master *m = *state;
        struct block_location at[8];
        assert_int_equal(block_master_peers(m, 1, NULL, at, 8), 2);
        block_master_decommission(m, 0);
        assert_int_equal(block_master_peers(m, 1, NULL, at, 8), 1);
        assert_int_equal(at[0].executor, 2);
        block_master_decommission(m, 7); /* unknown executor */
        /* Its blocks stay readable. */
        block_master_update(m, 0, rdd_block(3, 0), &in_memory);
        assert_int_equal(block_master_locations(m, rdd_block(3, 0), 1, at, 8, NULL), 1);
        assert_int_equal(at[0].executor, 0);
}

static void removes_rdds_and_broadcasts(void **state)
{
        struct block_master *m = *state;
        struct block_location at[8];
        int *had;
        for (int p = 0; p < 300; p++) {
                block_master_update(m, 0, rdd_block(5, p), &in_memory);
                block_master_update(m, 2, rdd_block(5, p), &in_memory);
                block_master_update(m, 1, rdd_block(6, p), &in_memory);
                block_master_update(m, -1, broadcast_piece(5, p), &in_memory);
                block_master_update(m, 1, broadcast_piece(5, p), &in_memory);
        }
        assert_int_equal(block_master_remove_rdd(m, 5, &had), 2);
        assert_int_equal(had[0] + had[1], 2);
        free(had);
        assert_int_equal(block_master_rdd(m, 5).partitions, 0);
        assert_int_equal(block_master_rdd(m, 6).partitions, 300);
        assert_int_equal(block_master_remove_rdd(m, 5, &had), 0);
        free(had);
        assert_int_equal(block_master_remove_broadcast(m, 5, false, &had), 1);
        free(had);
        assert_int_equal(block_master_locations(m, broadcast_piece(5, 1), 0, at, 8, NULL), 1);
        assert_int_equal(at[0].executor, -1);
        assert_int_equal(block_master_remove_broadcast(m, 5, true, &had), 0);
        free(had);
        assert_int_equal(block_master_locations(m, broadcast_piece(5, 1), 0, at, 8, NULL), 0);
}

struct heard {
        int n, port;
        enum fst_storage_level level;
};

static void on_block_update(void *owner, const struct block_location *at, const char *id, struct block_name name,
                            const struct block_info *info)
{
        struct heard *h = owner;
        h->n++;
        h->port = at->port;
        h->level = info->level;
}

static void observer_sees_updates(void **state)
{
        struct block_master *m = *state;
        struct heard heard = {0};
        block_master_set_observer(m, &(struct block_master_observer){on_block_update, &heard});
        block_master_update(m, 2, rdd_block(1, 1), &in_memory);
        assert_int_equal(heard.port, 12);
        assert_int_equal(heard.level, FST_STORAGE_MEMORY_ONLY);
        block_master_update(m, 2, rdd_block(1, 1), &gone);
        block_master_update(m, 9, rdd_block(1, 1), &in_memory);
        assert_int_equal(heard.n, 2);
}

static void *update_blocks_randomly(void *arg)
{
        struct block_master *m = arg;
        struct block_location at[8];
        for (int i = 0; i < 5000; i++) {
                block_master_update(m, i % 3, rdd_block(i % 5, i % 50), i % 4 ? &in_memory : &gone);
                block_master_locations(m, rdd_block(i % 5, i % 50), 0, at, 8, NULL);
                if (i % 500 == 0) {
                        int *had;
                        block_master_remove_rdd(m, i % 5, &had);
                        free(had);
                        block_master_add_executor(m, i % 3, "x", "h", 1);
                }
        }
        return NULL;
}

static void allows_concurrent_updates(void **state)
{
        pthread_t t[3];
        for (int i = 0; i < 3; i++)
                pthread_create(&t[i], NULL, update_blocks_randomly, *state);
        for (int i = 0; i < 3; i++)
                pthread_join(t[i], NULL);
}

int main(void)
{
#define test(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
        const struct CMUnitTest tests[] = {test(locates_updated_blocks),
                                           test(forgets_lost_executors),
                                           test(reports_partitions_short_of_copies),
                                           test(locates_nearest_holders_first),
                                           test(removes_rdds_and_broadcasts),
                                           test(observer_sees_updates),
                                           test(decommissioned_executor_is_not_a_peer),
                                           test(allows_concurrent_updates)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
