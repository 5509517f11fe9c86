/* Tests limits read from trees of control groups made of files, and the actions above them. */
#include "exec/guard/memory_limit.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static long page;

static void put(const char *file, const char *text)
{
        _cleanup_free_ char *path = mem_printf("%s/%s", temp_dir, file);
        for (char *slash = strchr(path + strlen(temp_dir) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
                *slash = 0;
                mkdir(path, 0700);
                *slash = '/';
        }
        FILE *f = fopen(path, "we");
        assert_non_null(f);
        fputs(text, f);
        fclose(f);
}

static void put_resident(int64_t bytes)
{
        char text[100];
        snprintf(text, sizeof(text), "99999 %lld 50 1 0 500 0\n", (long long)(bytes / page));
        put("statm", text);
}

static struct memory_limit *limit_of(int64_t configured, const char *groups)
{
        char path[100], statm[100];
        put("membership", groups);
        snprintf(path, sizeof(path), "%s/membership", temp_dir);
        snprintf(statm, sizeof(statm), "%s/statm", temp_dir);
        return memory_limit_new(&(struct memory_limit_options){
                .configured = configured, .cgroup_root = temp_dir, .membership = path, .statm = statm});
}

static void uses_the_lowest_limit(void **state)
{
        put_resident(0);
        struct memory_limit *l = limit_of(1 << 30, "0::/none\n");
        assert_int_equal(memory_limit_bytes(l), 1 << 30);
        assert_string_equal(memory_limit_origin(l), "spark.executor.memory and its overhead");
        memory_limit_free(l);
        l = limit_of(0, "");
        assert_true(memory_limit_bytes(l) == INT64_MAX);
        assert_string_equal(memory_limit_origin(l), "no limit");
        memory_limit_free(l);

        put("a/b/memory.max", "max\n");
        put("a/memory.max", "500000000\n");
        put("a/memory.current", "1000\n");
        put("a/memory.stat", "anon 10\ninactive_file 400\n");
        l = limit_of(1 << 30, "0::/a/b\n");
        assert_int_equal(memory_limit_bytes(l), 500000000);
        assert_string_equal(memory_limit_origin(l), "control group /a");
        assert_int_equal(memory_limit_used(l), 600);
        memory_limit_free(l);

        put("a/b/memory.max", "400000000\n");
        l = limit_of(1 << 30, "0::/a/b\n");
        assert_int_equal(memory_limit_bytes(l), 400000000);
        memory_limit_free(l);
        l = limit_of(300000000, "0::/a/b\n");
        assert_int_equal(memory_limit_bytes(l), 300000000);
        memory_limit_free(l);
}

static void reads_control_groups_version_1(void **state)
{
        put("memory/x/memory.limit_in_bytes", "9223372036854771712\n");
        put("memory/x/memory.stat", "cache 1\nhierarchical_memory_limit 700000000\ntotal_inactive_file 50\n");
        put("memory/x/memory.usage_in_bytes", "100\n");
        struct memory_limit *l = limit_of(1 << 30, "5:cpu,cpuacct:/x\n9:memory:/x\n0::/nothing\n");
        assert_int_equal(memory_limit_bytes(l), 700000000);
        assert_int_equal(memory_limit_used(l), 50);
        memory_limit_free(l);
        put("memory/x/memory.stat", "cache 1\nhierarchical_memory_limit 9223372036854771712\n");
        l = limit_of(0, "9:memory:/x\n");
        assert_string_equal(memory_limit_origin(l), "no limit");
        memory_limit_free(l);
        put("memory/x/memory.stat", "cache 1\nhierarchical_memory_limit 700000000\n");
        put("memory/x/memory.limit_in_bytes", "600000000\n");
        l = limit_of(0, "9:memory:/x\n");
        assert_int_equal(memory_limit_bytes(l), 600000000);
        memory_limit_free(l);
        /* A container may see the group's name on the host. */
        put("memory/memory.limit_in_bytes", "200000000\n");
        put("memory/memory.stat", "");
        l = limit_of(1 << 30, "9:memory:/docker/0123\n");
        assert_int_equal(memory_limit_bytes(l), 200000000);
        memory_limit_free(l);
}

static void evicts_then_fails(void **state)
{
        int64_t used, excess;
        put_resident(90 << 20);
        struct memory_limit *l = limit_of(100 << 20, "");
        assert_int_equal(memory_limit_check(l, 2, &used, &excess), MEMORY_LIMIT_OK);
        assert_int_equal(used, 90 << 20);
        put_resident(110 << 20);
        assert_int_equal(memory_limit_check(l, 2, &used, &excess), MEMORY_LIMIT_EVICT);
        assert_int_equal(excess, 10 << 20);
        assert_int_equal(memory_limit_check(l, 2, &used, &excess), MEMORY_LIMIT_FAIL);
        assert_int_equal(memory_limit_check(l, 2, &used, &excess), MEMORY_LIMIT_OK); /* the task has time to end */
        assert_int_equal(memory_limit_check(l, 2, &used, &excess), MEMORY_LIMIT_OK);
        assert_int_equal(memory_limit_check(l, 2, &used, &excess), MEMORY_LIMIT_FAIL);
        put_resident(50 << 20);
        assert_int_equal(memory_limit_check(l, 2, &used, &excess), MEMORY_LIMIT_OK);
        put_resident(120 << 20);
        assert_int_equal(memory_limit_check(l, 2, &used, &excess), MEMORY_LIMIT_EVICT); /* the sequence starts again */
        memory_limit_free(l);

        /* Acts before the group reaches the kernel's limit. */
        put("g/memory.max", "1000000000\n");
        put("g/memory.current", "960000000\n");
        put("g/memory.stat", "inactive_file 1000\n");
        l = limit_of(0, "0::/g\n");
        assert_int_equal(memory_limit_check(l, 0, &used, &excess), MEMORY_LIMIT_EVICT);
        assert_int_equal(used, 959999000);
        memory_limit_free(l);
}

static void computes_the_overhead(void **state)
{
        struct fst_conf conf;
        int64_t memory, extra;
        conf_init(&conf);
        conf_set(&conf, "spark.executor.memory", "1g");
        assert_int_equal(memory_limit_configured(&conf, &memory, &extra, NULL), 0);
        assert_int_equal(memory, 1 << 30);
        assert_int_equal(extra, 384 << 20);
        conf_set(&conf, "spark.executor.memory", "10g");
        assert_int_equal(memory_limit_configured(&conf, &memory, &extra, NULL), 0);
        assert_true(extra == (int64_t)1 << 30);
        conf_set(&conf, "spark.executor.memoryOverhead", "100m");
        assert_int_equal(memory_limit_configured(&conf, &memory, &extra, NULL), 0);
        assert_int_equal(extra, 100 << 20);
        conf_deinit(&conf);
}

static void reads_the_real_control_group(void **state)
{
        struct memory_limit *l = memory_limit_new(&(struct memory_limit_options){0});
        int64_t used, excess;
        memory_limit_check(l, 0, &used, &excess);
        assert_true(used > 0);
        memory_limit_free(l);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(uses_the_lowest_limit),
                cmocka_unit_test(reads_control_groups_version_1),
                cmocka_unit_test(evicts_then_fails),
                cmocka_unit_test(computes_the_overhead),
                cmocka_unit_test(reads_the_real_control_group),
        };
        page = sysconf(_SC_PAGESIZE);
        if (temp_dir_make(NULL))
                return 1;
        int r = cmocka_run_group_tests(tests, NULL, NULL);
        char command[100];
        snprintf(command, sizeof(command), "rm -rf %s", temp_dir);
        return system(command) ? 1 : r;
}
