/* Texts of /proc as machines have them, and damaged ones. */
#include "exec/guard/node_sample.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void reads_the_processors(void **state)
{
        struct node_counters c = {0};
        node_sample_parse_cpu("cpu  100 5 50 800 40 3 2 0 0 0\ncpu0 50 0 0 0\n", 100, &c);
        assert_int_equal(c.cpu_all_ms, 10000);
        assert_int_equal(c.cpu_busy_ms, 1600);
        struct node_counters none = {0};
        node_sample_parse_cpu("", 100, &none);
        node_sample_parse_cpu("cpu 1 2\n", 100, &none);
        node_sample_parse_cpu("cpu 1 2 3 4\n", 0, &none);
        assert_int_equal(none.cpu_all_ms, 0);
}

static void reads_the_memory(void **state)
{
        struct node_counters c = {0};
        node_sample_parse_memory("MemTotal:       16384 kB\nMemFree: 1 kB\nMemAvailable:    4096 kB\n", &c);
        assert_int_equal(c.memory_total, 16 << 20);
        assert_int_equal(c.memory_available, 4 << 20);
        node_sample_parse_memory("MemTotal: -5 kB\nMemAvailable: 99999999999999999999 kB", &c);
        assert_int_equal(c.memory_total, 0);
        assert_true(c.memory_available >= 0);
}

static void counts_disks_but_not_their_partitions(void **state)
{
        static const char text[] = " 259 0 nvme0n1 1 0 8 1 2 0 16 1 0 1 1\n 259 1 nvme0n1p1 1 0 100 1 2 0 100 1 0 1 1\n"
                                   "   8 0 sda 1 0 2 1 2 0 4 1 0 1 1\n   8 1 sda1 1 0 100 1 2 0 100 1 0 1 1\n"
                                   "   7 0 loop0 1 0 100 1 2 0 100 1 0 1 1\n 253 0 dm-0 1 0 100 1 2 0 100 1 0 1 1\n"
                                   " 179 0 mmcblk0 1 0 1 1 2 0 1 1 0 1 1\n 179 1 mmcblk0p1 1 0 100 1 2 0 100\nhalf a";
        struct node_counters c = {0};
        node_sample_parse_disks(text, &c);
        assert_int_equal(c.disk_read, (8 + 2 + 1) * 512);
        assert_int_equal(c.disk_written, (16 + 4 + 1) * 512);
}

static void counts_networks_but_not_the_loopback(void **state)
{
        static const char text[] = "Inter-|   Receive                            |  Transmit\n"
                                   " face |bytes    packets errs\n"
                                   "    lo: 500 1 0 0 0 0 0 0 500 1 0 0 0 0 0 0\n"
                                   "  eth0:1000 1 0 0 0 0 0 0 70 1 0 0 0 0 0 0\n"
                                   "  eth1: 24 1 0 0 0 0 0 0 30 1 0 0 0 0 0 0\n  bad: x\n";
        struct node_counters c = {0};
        node_sample_parse_networks(text, &c);
        assert_int_equal(c.net_received, 1024);
        assert_int_equal(c.net_sent, 100);
}

static void reads_this_machine(void **state)
{
        struct node_counters c;
        node_sample_read(&c);
        assert_true(c.cpu_all_ms > 0 && c.cpu_busy_ms > 0 && c.cpu_busy_ms <= c.cpu_all_ms);
        assert_true(c.memory_total > 0 && c.memory_available > 0 && c.memory_available <= c.memory_total);
        assert_true(c.ms > 0 && c.process_cpu_ms >= 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(reads_the_processors), cmocka_unit_test(reads_the_memory),
                                           cmocka_unit_test(counts_disks_but_not_their_partitions),
                                           cmocka_unit_test(counts_networks_but_not_the_loopback),
                                           cmocka_unit_test(reads_this_machine)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
