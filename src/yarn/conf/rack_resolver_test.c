/* Racks of hosts: from reports, a script, a table, or none of them. */
#include "yarn/conf/rack_resolver.h"

#include "base/mem.h"
#include "base/buf.h"
#include "yarn/conf/yarn_conf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <sys/stat.h>

#include "unit/temp_dir.h"

static struct rack_resolver racks;

static const char *no_environment(const char *name)
{
        return NULL;
}

/* @values: key, value, …, NULL. */
static void resolver_of(const char *const *values)
{
        struct yarn_conf conf = {0};
        hadoop_conf_init(&conf.hadoop, no_environment);
        for (; *values; values += 2)
                hadoop_conf_set(&conf.hadoop, values[0], values[1]);
        rack_resolver_init(&racks, &conf);
        yarn_conf_deinit(&conf);
}

/* A script with this body; its path is the caller's. */
static char *script_of(const char *body)
{
        _cleanup_free_ char *text = mem_printf("#!/bin/sh\n%s\n", body);
        char *path = temp_dir_write("topology", text);
        assert_int_equal(chmod(path, 0755), 0);
        return path;
}

static int resolver_close(void **state)
{
        rack_resolver_deinit(&racks);
        return 0;
}

static void every_host_is_in_the_default_rack_without_a_topology(void **state)
{
        resolver_of((const char *const[]){NULL});
        assert_string_equal(rack_resolver_find(&racks, "a"), "/default-rack");
        rack_resolver_learn(&racks, "a", "/dc/rack1");
        assert_string_equal(rack_resolver_find(&racks, "a"), "/dc/rack1");
        rack_resolver_learn(&racks, "a", ""); /* says nothing */
        assert_string_equal(rack_resolver_find(&racks, "a"), "/dc/rack1");
}

static void the_script_gets_addresses_and_runs_once_for_a_host(void **state)
{
        _cleanup_free_ char *log = temp_dir_path("log");
        _cleanup_free_ char *body = mem_printf("echo \"$@\" >>%s; for x; do echo /rack-$x; done", log);
        _cleanup_free_ char *script = script_of(body);
        _cleanup_(buf_deinit) struct buf seen = BUF_INIT;
        static const char *const hosts[] = {"localhost", "127.0.0.2", "127.0.0.3"};
        resolver_of((const char *const[]){"net.topology.script.file.name", script, "net.topology.script.number.args",
                                          "2", NULL});
        rack_resolver_learn(&racks, "127.0.0.3", "/reported");
        rack_resolver_resolve(&racks, hosts, 3);
        assert_string_equal(rack_resolver_find(&racks, "localhost"), "/rack-127.0.0.1");
        assert_string_equal(rack_resolver_find(&racks, "127.0.0.2"), "/rack-127.0.0.2");
        assert_string_equal(rack_resolver_find(&racks, "127.0.0.3"), "/reported");
        assert_string_equal(rack_resolver_find(&racks, "127.0.0.4"), "/rack-127.0.0.4");
        assert_string_equal(rack_resolver_find(&racks, "127.0.0.5"), "/rack-127.0.0.5");
        assert_int_equal(file_text_read(log, 1000, &seen, NULL), 0);
        assert_string_equal(buf_text(&seen), "127.0.0.1 127.0.0.2\n127.0.0.4\n127.0.0.5\n");
}

static void a_script_that_fails_puts_hosts_into_the_default_rack(void **state)
{
        static const char *const bodies[] = {"exit 3", "echo /one /two /three", "true"};
        for (size_t i = 0; i < ARRAY_SIZE(bodies); i++) {
                _cleanup_free_ char *script = script_of(bodies[i]);
                static const char *const hosts[] = {"127.0.0.1", "127.0.0.2"};
                resolver_of((const char *const[]){"net.topology.script.file.name", script, NULL});
                rack_resolver_resolve(&racks, hosts, 2);
                assert_string_equal(rack_resolver_find(&racks, "127.0.0.2"), "/default-rack");
                rack_resolver_deinit(&racks);
        }
        resolver_of((const char *const[]){"net.topology.script.file.name", "/no/such/script", NULL});
        assert_string_equal(rack_resolver_find(&racks, "127.0.0.1"), "/default-rack");
}

static void a_table_has_a_line_for_each_host(void **state)
{
        _cleanup_free_ char *table = temp_dir_write("table", "# racks\n127.0.0.1 /r1\nnode.invalid\t/r2 \nbroken\n");
        static const char mapping[] = "net.topology.node.switch.mapping.impl",
                          class[] = "org.apache.hadoop.net.TableMapping";
        resolver_of((const char *const[]){mapping, class, "net.topology.table.file.name", table, NULL});
        assert_string_equal(rack_resolver_find(&racks, "localhost"), "/r1");
        assert_string_equal(rack_resolver_find(&racks, "node.invalid"), "/r2");
        assert_string_equal(rack_resolver_find(&racks, "broken"), "/default-rack");
        rack_resolver_deinit(&racks);
        resolver_of((const char *const[]){mapping, class, "net.topology.table.file.name", "/no/such/table", NULL});
        assert_string_equal(rack_resolver_find(&racks, "localhost"), "/default-rack");
}

#define TEST(f) cmocka_unit_test_teardown(f, resolver_close)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(every_host_is_in_the_default_rack_without_a_topology),
                TEST(the_script_gets_addresses_and_runs_once_for_a_host),
                TEST(a_script_that_fails_puts_hosts_into_the_default_rack),
                TEST(a_table_has_a_line_for_each_host),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
