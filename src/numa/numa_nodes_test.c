/* Tests the nodes of invented topologies, the nodes of slots, and threads that are bound to real cpus. */
#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "numa/cpu_list.h"
#include "numa/numa_nodes.h"
#include "unit/temp_dir.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

static char topology[TEMP_DIR_SIZE];

/* Writes a node's list of cpus. */
static void put_node(int number, const char *cpus)
{
        _cleanup_free_ char *dir = mem_printf("%s/node%d", topology, number);
        _cleanup_free_ char *path = mem_printf("%s/cpulist", dir);
        assert_int_equal(mkdir(dir, 0700), 0);
        FILE *f = fopen(path, "we");
        assert_non_null(f);
        fprintf(f, "%s\n", cpus);
        fclose(f);
}

static int make_topology(void **state)
{
        temp_dir_new(topology);
        return 0;
}

static int remove_topology(void **state)
{
        remove_tree(topology);
        return 0;
}

static struct numa_nodes *nodes_for(const char *allowed)
{
        struct numa_nodes *nodes = NULL;
        cpu_set_t cpus;
        assert_int_equal(cpu_list_parse(allowed, &cpus), 0);
        assert_int_equal(numa_nodes_new(topology, &cpus, &nodes, NULL), 0);
        return nodes;
}

/* The nodes of the slots from 0, one digit each, must be @expected. */
static void check_slots(const struct numa_nodes *nodes, const char *expected)
{
        for (int slot = 0; expected[slot]; slot++)
                assert_int_equal(numa_nodes_of_slot(nodes, slot, NULL), expected[slot] - '0');
}

static void check_cpus(const struct numa_nodes *nodes, int slot, const char *expected)
{
        cpu_set_t cpus, wanted;
        numa_nodes_of_slot(nodes, slot, &cpus);
        assert_int_equal(cpu_list_parse(expected, &wanted), 0);
        assert_true(CPU_EQUAL(&cpus, &wanted));
}

static void spreads_slots_over_equal_nodes(void **state)
{
        put_node(0, "0-1");
        put_node(1, "2-3");
        struct numa_nodes *nodes = nodes_for("0-3");
        assert_int_equal(numa_nodes_count(nodes), 2);
        assert_int_equal(numa_nodes_cpus(nodes), 4);
        check_slots(nodes, "010101");
        check_cpus(nodes, 0, "0-1");
        check_cpus(nodes, 1, "2-3");
        numa_nodes_free(nodes);
}

static void gives_larger_nodes_more_slots(void **state)
{
        put_node(0, "0");
        put_node(3, "1-3");
        struct numa_nodes *nodes = nodes_for("0-3");
        check_slots(nodes, "33033303");
        numa_nodes_free(nodes);
}

static void leaves_out_offline_cpus_and_nodes_without_cpus(void **state)
{
        put_node(0, "0-1,4");
        put_node(1, "6");
        put_node(2, "");
        struct numa_nodes *nodes = nodes_for("0-7");
        assert_int_equal(numa_nodes_count(nodes), 2);
        assert_int_equal(numa_nodes_cpus(nodes), 4);
        check_cpus(nodes, 0, "0-1,4");
        numa_nodes_free(nodes);
}

static void uses_allowed_cpus_only(void **state)
{
        put_node(0, "0-3");
        put_node(1, "4-7");
        put_node(2, "8-11");
        struct numa_nodes *nodes = nodes_for("2-4");
        assert_int_equal(numa_nodes_count(nodes), 2);
        check_cpus(nodes, 0, "2-3");
        assert_int_equal(numa_nodes_of_slot(nodes, 2, NULL), 1);
        numa_nodes_free(nodes);
}

static void has_no_nodes_if_one_is_left(void **state)
{
        put_node(0, "0-1");
        put_node(1, "2-3");
        assert_null(nodes_for("2-3"));
        assert_null(nodes_for("0"));
        assert_null(nodes_for(""));
}

static void has_no_nodes_without_a_directory(void **state)
{
        struct numa_nodes *nodes = NULL;
        assert_int_equal(numa_nodes_new("/nonexistent", NULL, &nodes, NULL), 0);
        assert_null(nodes);
}

static void ignores_names_that_are_not_nodes(void **state)
{
        static const char *const names[] = {"nodes", "node", "node1x", "node-1", "node99999", "has_cpu"};
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                _cleanup_free_ char *path = mem_printf("%s/%s", topology, names[i]);
                assert_int_equal(mkdir(path, 0700), 0);
        }
        put_node(0, "0");
        put_node(1, "1");
        struct numa_nodes *nodes = nodes_for("0-1");
        assert_int_equal(numa_nodes_count(nodes), 2);
        numa_nodes_free(nodes);
}

static void names_a_malformed_list(void **state)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct numa_nodes *nodes = NULL;
        put_node(0, "0-");
        assert_int_equal(numa_nodes_new(topology, NULL, &nodes, &error), -EINVAL);
        assert_null(nodes);
        assert_non_null(strstr(error.message, "node0/cpulist"));
}

static int allowed_cpus(void)
{
        cpu_set_t cpus;
        return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : -1;
}

static void *count_cpus(void *count)
{
        *(int *)count = allowed_cpus();
        return NULL;
}

static void *bind_and_unbind(void *arg)
{
        pthread_t thread;
        int *counts = arg;
        numa_unbind_thread(); /* no effect yet */
        counts[0] = allowed_cpus();
        struct numa_nodes *nodes = nodes_for("0-1");
        numa_bind_thread(nodes, 1);
        counts[1] = allowed_cpus();
        numa_unbind_thread();
        counts[2] = allowed_cpus();
        numa_rebind_thread();
        counts[3] = allowed_cpus();
        assert_int_equal(numa_create_thread(&thread, NULL, count_cpus, &counts[4]), 0);
        pthread_join(thread, NULL);
        counts[5] = allowed_cpus();
        return nodes;
}

static void binds_a_thread_and_lets_programs_use_all_cpus(void **state)
{
        pthread_t thread;
        cpu_set_t mine;
        void *nodes;
        int counts[6], before = allowed_cpus();
        if (sched_getaffinity(0, sizeof(mine), &mine) || !CPU_ISSET(0, &mine) || !CPU_ISSET(1, &mine))
                skip();
        put_node(0, "0");
        put_node(1, "1");
        assert_int_equal(pthread_create(&thread, NULL, bind_and_unbind, counts), 0);
        pthread_join(thread, &nodes);
        numa_nodes_free(nodes);
        assert_int_equal(counts[0], before);
        assert_int_equal(counts[1], 1);
        assert_int_equal(counts[2], 2);
        assert_int_equal(counts[3], 1);
        assert_int_equal(counts[4], 2); /* a thread of the whole process */
        assert_int_equal(counts[5], 1);
        assert_int_equal(allowed_cpus(), before);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make_topology, remove_topology)

int main(void)
{
        const struct CMUnitTest tests[] = {
                CASE(spreads_slots_over_equal_nodes),
                CASE(gives_larger_nodes_more_slots),
                CASE(leaves_out_offline_cpus_and_nodes_without_cpus),
                CASE(uses_allowed_cpus_only),
                CASE(has_no_nodes_if_one_is_left),
                CASE(has_no_nodes_without_a_directory),
                CASE(ignores_names_that_are_not_nodes),
                CASE(names_a_malformed_list),
                CASE(binds_a_thread_and_lets_programs_use_all_cpus),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
