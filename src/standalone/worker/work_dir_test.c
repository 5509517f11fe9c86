/* The work directory and its cleanup, and control groups as plain files. */
#include "standalone/worker/work_dir.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/fs.h"
#include "standalone/worker/cgroup.h"
#include "standalone/wire/launch_command.h"
#include "standalone/worker/worker_process.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Makes a directory with a file in it, both changed @ms ago. */
static void make_old(const char *name, int64_t ms)
{
        struct fst_error error = FST_ERROR_INIT;
        _cleanup_free_ char *top = mem_printf("%s/%s", temp_dir, name), *dir = mem_printf("%s/0", top);
        _cleanup_free_ char *file = mem_printf("%s/stdout", dir);
        const struct timespec then[2] = {{.tv_sec = ms / 1000}, {.tv_sec = ms / 1000}};
        assert_int_equal(work_dir_make(dir, &error), 0);
        int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        assert_true(fd >= 0);
        close(fd);
        assert_int_equal(utimensat(AT_FDCWD, file, then, 0), 0);
        assert_int_equal(utimensat(AT_FDCWD, dir, then, 0), 0);
        assert_int_equal(utimensat(AT_FDCWD, top, then, 0), 0);
}

static bool is_there(const char *name)
{
        _cleanup_free_ char *path = mem_printf("%s/%s", temp_dir, name);
        return access(path, F_OK) == 0;
}

static bool is_used(void *context, const char *name)
{
        return strcmp(name, context) == 0;
}

static void test_cleaning(void **state)
{
        (void)state;
        struct fst_error error = FST_ERROR_INIT;
        make_old("app-old", 1000000);
        make_old("app-runs", 1000000);
        make_old("app-new", 9000000);
        /* One new file among old ones is enough. */
        make_old("app-both", 1000000);
        make_old("app-both/1", 9000000);
        _cleanup_free_ char *both = mem_printf("%s/app-both", temp_dir), *file = mem_printf("%s/a-file", temp_dir);
        const struct timespec then[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
        assert_int_equal(utimensat(AT_FDCWD, both, then, 0), 0);
        close(open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
        assert_int_equal(utimensat(AT_FDCWD, file, then, 0), 0);
        assert_int_equal(work_dir_clean(temp_dir, 5000000, is_used, (void *)"app-runs", &error), 1);
        assert_false(is_there("app-old"));
        assert_true(is_there("app-runs"));
        assert_true(is_there("app-new"));
        assert_true(is_there("app-both/0/stdout"));
        assert_true(is_there("a-file"));
        assert_true(work_dir_clean("/nowhere", 0, is_used, (void *)"", &error) < 0);
        error_deinit(&error);
}

static void test_make(void **state)
{
        (void)state;
        struct fst_error error = FST_ERROR_INIT;
        _cleanup_free_ char *deep = mem_printf("%s/a/b/c", temp_dir), *file = mem_printf("%s/a/f", temp_dir);
        assert_int_equal(work_dir_make(deep, &error), 0);
        assert_int_equal(work_dir_make(deep, &error), 0);
        close(open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
        assert_int_equal(work_dir_make(file, &error), -ENOTDIR);
        assert_non_null(strstr(error_message(&error), "Failed to create directory"));
        error_deinit(&error);
}

static void test_names(void **state)
{
        (void)state;
        assert_true(launch_name_is_safe("app-20261122-0001"));
        static const char *const unsafe[] = {"", ".", "..", "../x", "a/b", "/etc"};
        for (size_t i = 0; i < ARRAY_SIZE(unsafe); i++)
                assert_false(launch_name_is_safe(unsafe[i]));
}

/* ----------------------------------------------------------------------------------------------- control groups */

static void expect_file(const char *name, const char *text)
{
        char found[64] = "";
        _cleanup_free_ char *path = mem_printf("%s/%s", temp_dir, name);
        FILE *f = fopen(path, "re");
        if (!f)
                fail_msg("%s is not there", path);
        found[fread(found, 1, sizeof(found) - 1, f)] = '\0';
        fclose(f);
        assert_string_equal(found, text);
}

static void expect_procs(const struct cgroup *group, const char *first, const char *second)
{
        char *const *procs = cgroup_procs(group);
        for (int i = 0; i < 2; i++) {
                const char *wanted = i ? second : first;
                _cleanup_free_ char *path = wanted ? mem_printf("%s/%s/cgroup.procs", temp_dir, wanted) : NULL;
                if (!wanted) {
                        assert_null(procs[i]);
                        return;
                }
                assert_string_equal(procs[i], path);
        }
        assert_null(procs[2]);
}

static void test_groups_of_version_2(void **state)
{
        (void)state;
        struct fst_error error = FST_ERROR_INIT;
        struct cgroups *groups;
        struct cgroup *group;
        _cleanup_free_ char *root = mem_printf("%s/v2", temp_dir), *left = mem_printf("%s/firesteel/left", root);
        _cleanup_free_ char *controllers = mem_printf("%s/cgroup.controllers", root);
        assert_int_equal(work_dir_make(left, &error), 0);
        close(open(controllers, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
        assert_int_equal(cgroups_new(root, "/firesteel", &groups, &error), 0);
        assert_false(is_there("v2/firesteel/left")); /* of a worker that has ended */
        assert_int_equal(cgroup_new(groups, "app-1-0", 1 << 30, 2, &group, &error), 0);
        expect_procs(group, "v2/firesteel/app-1-0", NULL);
        expect_file("v2/cgroup.subtree_control", "+cpu +memory");
        expect_file("v2/firesteel/cgroup.subtree_control", "+cpu +memory");
        expect_file("v2/firesteel/app-1-0/memory.max", "1073741824");
        expect_file("v2/firesteel/app-1-0/cpu.max", "200000 100000");
        cgroup_free(group);
        cgroups_free(groups);
}

static void test_groups_of_version_1(void **state)
{
        (void)state;
        struct fst_error error = FST_ERROR_INIT;
        struct cgroups *groups;
        struct cgroup *group;
        _cleanup_free_ char *root = mem_printf("%s/v1", temp_dir), *memory = mem_printf("%s/memory", root);
        _cleanup_free_ char *cpu = mem_printf("%s/cpu,cpuacct", root);
        assert_int_equal(work_dir_make(memory, &error), 0);
        assert_int_equal(cgroups_new(root, "a/b", &groups, &error), -ENOENT);
        assert_non_null(strstr(error_message(&error), "spark.firesteel.worker.cgroup"));
        assert_int_equal(work_dir_make(cpu, &error), 0);
        assert_int_equal(cgroups_new(root, "a/b", &groups, &error), 0);
        assert_int_equal(cgroup_new(groups, "d", 5 << 20, 3, &group, &error), 0);
        expect_procs(group, "v1/memory/a/b/d", "v1/cpu,cpuacct/a/b/d");
        expect_file("v1/memory/a/b/d/memory.limit_in_bytes", "5242880");
        expect_file("v1/cpu,cpuacct/a/b/d/cpu.cfs_quota_us", "300000");
        expect_file("v1/cpu,cpuacct/a/b/d/cpu.cfs_period_us", "100000");
        cgroup_free(group);
        cgroups_free(groups);
        error_deinit(&error);
}

struct work_dir_run {
        uv_loop_t loop;
        bool ended;
};

static void process_ended(void *owner, struct worker_process *process, int status, const char *message)
{
        struct work_dir_run *run = owner;
        (void)process;
        (void)message;
        assert_int_equal(status, 0);
        run->ended = true;
}

static void remove_groups(const char *parent)
{
        static const char *const hierarchies[] = {"", "/memory", "/cpu", "/cpu,cpuacct"};
        for (size_t i = 0; i < ARRAY_SIZE(hierarchies); i++) {
                _cleanup_free_ char *path = mem_printf("/sys/fs/cgroup%s%s", hierarchies[i], parent);
                if (rmdir(path) < 0 && errno != ENOENT)
                        fail_msg("%s stays: %s", path, strerror(errno));
        }
}

/* With real control groups, if this user may create some: a process is in its group before it has children. */
static void test_processes_begin_in_their_group(void **state)
{
        (void)state;
        struct fst_error error = FST_ERROR_INIT;
        struct work_dir_run run = {0};
        struct cgroups *groups;
        struct cgroup *group;
        struct worker_process *process;
        char line[512];
        int inside = 0;
        _cleanup_free_ char *parent = mem_printf("/firesteel-unit-%d", (int)getpid());
        _cleanup_free_ char *out = mem_printf("%s/stdout", temp_dir);
        _cleanup_(string_list_deinit) struct string_list words = {0}, variables = {0};
        if (cgroups_new("/sys/fs/cgroup", parent, &groups, &error)) {
                print_message("%s\n", error_message(&error));
                error_deinit(&error);
                remove_groups(parent);
                skip();
        }
        if (cgroup_new(groups, "app-1-0", 1 << 30, 2, &group, &error))
                fail_msg("%s", error_message(&error));
        char *const *procs = cgroup_procs(group);
        int wanted = procs[1] ? 2 : 1;
        assert_int_equal(uv_loop_init(&run.loop), 0);
        for (const char *const *word = (const char *const[]){"sh", "-c", "cat /proc/self/cgroup; true", NULL}; *word;
             word++)
                string_list_add(&words, *word);
        struct worker_process_options options = {.loop = &run.loop,
                                                 .program = "/bin/sh",
                                                 .words = &words,
                                                 .variables = &variables,
                                                 .directory = temp_dir,
                                                 .title = "Command",
                                                 .command = "sh",
                                                 .group = group,
                                                 .ended = process_ended,
                                                 .owner = &run};
        if (worker_process_start(&options, &process, &error))
                fail_msg("%s", error_message(&error));
        uv_run(&run.loop, UV_RUN_DEFAULT);
        assert_true(run.ended);
        assert_int_equal(uv_loop_close(&run.loop), 0);
        FILE *f = fopen(out, "re");
        assert_non_null(f);
        while (fgets(line, sizeof(line), f))
                inside += strstr(line, parent) != NULL;
        fclose(f);
        cgroups_free(groups);
        remove_groups(parent);
        assert_int_equal(inside, wanted);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_cleaning),
                cmocka_unit_test(test_make),
                cmocka_unit_test(test_names),
                cmocka_unit_test(test_groups_of_version_2),
                cmocka_unit_test(test_groups_of_version_1),
                cmocka_unit_test(test_processes_begin_in_their_group),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
