#include "store/disk_dirs.h"

#include "base/error.h"
#include "base/mem.h"
#include "unit/temp_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static int make_base(void **state)
{
        return temp_dir_make(state);
}

static int remove_base(void **state)
{
        char command[256];
        snprintf(command, sizeof(command), "chmod -R u+rwx %s; rm -rf %s", temp_dir, temp_dir);
        return system(command);
}

static void uses_the_paths_of_spark(void **state)
{
        _cleanup_free_ char *list = mem_printf("%s/a/b, %s/c/", temp_dir, temp_dir), *path = NULL;
        struct fst_error error = FST_ERROR_INIT;
        struct disk_dirs *dirs = NULL;
        struct stat st;
        assert_int_equal(disk_dirs_new(list, 64, &dirs, &error), 0);
        assert_int_equal(disk_dirs_count(dirs), 2);
        assert_int_equal(stat(disk_dirs_root(dirs, 0), &st), 0);
        assert_int_equal(st.st_mode & 0777, 0700);
        int fd = -1;
        assert_int_equal(disk_dirs_create(dirs, "rdd_1_2", &fd, &path, &error), 0);
        /* "rdd_1_2".hashCode() is 1054351959: directory 1 of 2, subdirectory (hash / 2) % 64 = 43. */
        _cleanup_free_ char *expected =
                mem_printf("%s/%02x/rdd_1_2", disk_dirs_root(dirs, 1054351959 % 2), 1054351959 / 2 % 64);
        assert_string_equal(path, expected);
        assert_int_equal(write(fd, "x", 1), 1);
        close(fd);
        char *second = NULL;
        assert_int_equal(disk_dirs_create(dirs, "rdd_1_2", &fd, &second, &error), -EEXIST);
        assert_null(second);
        error_deinit(&error);
        assert_int_equal(disk_dirs_create_unique(dirs, "temp_local_", &fd, &second, &error), 0);
        assert_non_null(strstr(second, "/temp_local_"));
        close(fd);
        free(second);
        disk_dirs_free(dirs);
        assert_int_equal(access(path, F_OK), -1);
        _cleanup_free_ char *left = mem_printf("%s/c", temp_dir);
        assert_int_equal(rmdir(left), 0); /* empty again */
}

static void skips_an_unusable_directory(void **state)
{
        _cleanup_free_ char *file = mem_printf("%s/file", temp_dir);
        close(open(file, O_CREAT | O_WRONLY, 0600));
        _cleanup_free_ char *list = mem_printf("%s/x,%s/good", file, temp_dir);
        struct fst_error error = FST_ERROR_INIT;
        struct disk_dirs *dirs = NULL;
        assert_int_equal(disk_dirs_new(list, 64, &dirs, &error), 0);
        assert_int_equal(disk_dirs_count(dirs), 1);
        disk_dirs_free(dirs);
        dirs = NULL;
        assert_int_equal(disk_dirs_new(file, 64, &dirs, &error), -ENOTDIR);
        assert_non_null(strstr(error_message(&error), "spark.local.dir"));
        assert_int_equal(disk_dirs_new(" ,", 64, &dirs, &error), -EINVAL);
        assert_int_equal(disk_dirs_new(temp_dir, 0, &dirs, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "spark.diskStore.subDirectories"));
        assert_null(dirs);
        error_deinit(&error);
}

static void uses_a_failed_disk_last(void **state)
{
        _cleanup_free_ char *list = mem_printf("%s/one,%s/two", temp_dir, temp_dir);
        struct fst_error error = FST_ERROR_INIT;
        struct disk_dirs *dirs = NULL;
        assert_int_equal(disk_dirs_new(list, 2, &dirs, &error), 0);
        for (int round = 0; round < 2; round++) {
                int seen[2] = {0};
                for (int i = 0; i < 40; i++) {
                        char *path = NULL;
                        int fd = -1;
                        assert_int_equal(disk_dirs_create_unique(dirs, "t", &fd, &path, &error), 0);
                        close(fd);
                        seen[strncmp(path, disk_dirs_root(dirs, 0), strlen(disk_dirs_root(dirs, 0))) ? 1 : 0]++;
                        if (round == 0 && i == 39)
                                disk_dirs_failed(dirs, "writing", path, -ENOSPC, NULL);
                        free(path);
                }
                assert_true(round == 0 ? seen[0] && seen[1] : !seen[0] != !seen[1]);
        }
        assert_int_equal(disk_dirs_left(dirs), 1);
        /* Both have failed, which the message lists. They are tried nevertheless. */
        for (size_t d = 0; d < 2; d++) {
                _cleanup_free_ char *path = mem_printf("%s/00/x", disk_dirs_root(dirs, d));
                assert_int_equal(disk_dirs_failed(dirs, "writing", path, -EIO, &error), -EIO);
                if (disk_dirs_left(dirs))
                        assert_non_null(strstr(error_message(&error), "another directory of spark.local.dir"));
        }
        assert_int_equal(disk_dirs_left(dirs), 0);
        assert_non_null(strstr(error_message(&error), temp_dir));
        assert_non_null(strstr(error_message(&error), "/one ("));
        assert_non_null(strstr(error_message(&error), "/two ("));
        assert_non_null(strstr(error_message(&error), "spark.local.dir to larger disks"));
        error_deinit(&error);
        char *path = NULL;
        int fd = -1;
        assert_int_equal(disk_dirs_create(dirs, "again", &fd, &path, &error), 0);
        close(fd);
        free(path);
        /* A cleaner that removes everything does no harm. */
        _cleanup_free_ char *command = mem_printf("rm -rf %s/one/* %s/two/*", temp_dir, temp_dir);
        assert_int_equal(system(command), 0);
        assert_int_equal(disk_dirs_create(dirs, "again", &fd, &path, &error), 0);
        close(fd);
        free(path);
        disk_dirs_free(dirs);
}

/* Forks a process that creates a file below @list and is killed. Fills in the file's path. */
static void leave_file(const char *list, char path[static 4096])
{
        int channel[2], status;
        assert_int_equal(pipe(channel), 0);
        pid_t child = fork();
        if (child == 0) {
                struct disk_dirs *dirs = NULL;
                char *made = NULL;
                int fd;
                if (disk_dirs_new(list, 64, &dirs, NULL) || disk_dirs_create(dirs, "rdd_0_0", &fd, &made, NULL) ||
                    write(channel[1], made, strlen(made) + 1) < 0)
                        _exit(1);
                raise(SIGKILL);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        assert_true(read(channel[0], path, 4096) > 0);
        assert_int_equal(access(path, F_OK), 0);
        close(channel[0]);
        close(channel[1]);
}

static void removes_the_root_of_a_killed_process(void **state)
{
        _cleanup_free_ char *list = mem_printf("%s/shared", temp_dir);
        _cleanup_free_ char *foreign = mem_printf("%s/blockmgr-of-someone-else", list);
        struct fst_error error = FST_ERROR_INIT;
        struct disk_dirs *ours = NULL, *next = NULL;
        char path[4096];
        assert_int_equal(disk_dirs_new(list, 64, &ours, &error), 0);
        assert_int_equal(mkdir(foreign, 0700), 0);
        leave_file(list, path);
        assert_int_equal(disk_dirs_new(list, 64, &next, &error), 0); /* swept at the start */
        assert_int_equal(access(path, F_OK), -1);
        leave_file(list, path);
        disk_dirs_free(next); /* swept at the end */
        assert_int_equal(access(path, F_OK), -1);
        assert_int_equal(access(disk_dirs_root(ours, 0), F_OK), 0); /* of the living process */
        assert_int_equal(access(foreign, F_OK), 0);                 /* of an unknown owner */
        disk_dirs_free(ours);
}

/* A process killed at any point leaves a root that its name identifies as ours. */
static void removes_a_partial_root(void **state)
{
        static const char *const others[] = {"blockmgr-e/.firesteel.lock", "blockmgr-e", ".firesteel-gone-f"};
        _cleanup_free_ char *list = mem_printf("%s/half", temp_dir);
        _cleanup_free_ char *command =
                mem_printf("cd %s && mkdir -p .firesteel-new-a .firesteel-new-b blockmgr-c "
                           ".firesteel-gone-d/00 blockmgr-e && touch "
                           ".firesteel-new-b/.firesteel.lock .firesteel-gone-d/00/shuffle_0_0_0.data "
                           "&& mkfifo blockmgr-e/.firesteel.lock && ln -s . .firesteel-gone-f",
                           list);
        _cleanup_free_ char *foreign = mem_printf("%s/blockmgr-c", list);
        assert_int_equal(mkdir(list, 0700), 0);
        assert_int_equal(system(command), 0);
        disk_dirs_sweep(list);
        assert_int_equal(rmdir(foreign), 0); /* it looks like an empty root of Spark */
        for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
                _cleanup_free_ char *path = mem_printf("%s/%s", list, others[i]);
                assert_int_equal(remove(path), 0);
        }
        assert_int_equal(rmdir(list), 0);
}

static atomic_bool swept;

static void *keep_writing(void *dirs)
{
        int fd;
        for (size_t i = 0; !atomic_load(&swept); i++) {
                char name[32], *path = NULL;
                snprintf(name, sizeof(name), "rdd_0_%zu", i);
                if (disk_dirs_create(dirs, name, &fd, &path, NULL))
                        break;
                close(fd);
                free(path);
        }
        return NULL;
}

/* An executor outlives its worker for a moment while the next worker starts. */
static void removes_a_root_that_is_still_written_to(void **state)
{
        _cleanup_free_ char *list = mem_printf("%s/written", temp_dir);
        for (int i = 0; i < 20; i++) {
                struct disk_dirs *writing = NULL;
                pthread_t writer;
                char left[4096];
                leave_file(list, left);
                *strrchr(left, '/') = '\0';
                *strrchr(left, '/') = '\0'; /* its root, unlocked */
                assert_int_equal(disk_dirs_new(left, 4, &writing, NULL), 0);
                atomic_store(&swept, false);
                assert_int_equal(pthread_create(&writer, NULL, keep_writing, writing), 0);
                disk_dirs_sweep(list);
                atomic_store(&swept, true);
                pthread_join(writer, NULL);
                disk_dirs_free(writing);
                assert_int_equal(rmdir(list), 0);
        }
}

/* A process ends while a task in it does not react. */
static void creates_no_file_after_leaving(void **state)
{
        _cleanup_free_ char *list = mem_printf("%s/one,%s/two", temp_dir, temp_dir);
        _cleanup_free_ char *one = mem_printf("%s/one", temp_dir), *two = mem_printf("%s/two", temp_dir);
        for (int i = 0; i < 20; i++) {
                struct disk_dirs *dirs = NULL;
                pthread_t writers[6];
                assert_int_equal(disk_dirs_new(list, 4, &dirs, NULL), 0);
                atomic_store(&swept, false);
                for (size_t k = 0; k < ARRAY_SIZE(writers); k++)
                        assert_int_equal(pthread_create(&writers[k], NULL, keep_writing, dirs), 0);
                usleep(500);
                disk_dirs_leave(dirs);
                usleep(2000); /* time for a writer */
                atomic_store(&swept, true);
                for (size_t k = 0; k < ARRAY_SIZE(writers); k++)
                        pthread_join(writers[k], NULL);
                assert_int_equal(rmdir(one), 0);
                assert_int_equal(rmdir(two), 0);
                disk_dirs_free(dirs);
        }
}

/* An executor starts after its worker was killed and the next worker removed its directories. */
static void does_not_recreate_the_directory_of_another_process(void **state)
{
        _cleanup_free_ char *there = mem_printf("%s/there", temp_dir), *gone = mem_printf("%s/gone", temp_dir);
        _cleanup_free_ char *value = mem_printf("%s:%s", there, gone);
        struct disk_dirs *dirs = NULL;
        struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(mkdir(there, 0700), 0);
        assert_int_equal(setenv("SPARK_EXECUTOR_DIRS", value, 1), 0);
        _cleanup_free_ char *root =
                mem_printf("%s/there/blockmgr-gone", temp_dir); /* of an executor with task processes */
        const char *missing[] = {gone, root};
        for (size_t i = 0; i < ARRAY_SIZE(missing); i++) {
                assert_int_equal(disk_dirs_new(missing[i], 4, &dirs, &error), -ENOENT);
                assert_non_null(strstr(error_message(&error), missing[i]));
                error_deinit(&error);
                assert_int_equal(access(missing[i], F_OK), -1);
        }
        _cleanup_free_ char *list = disk_dirs_configured(NULL);
        assert_int_equal(disk_dirs_new(list, 4, &dirs, &error), 0);
        assert_int_equal(disk_dirs_count(dirs), 1);
        disk_dirs_free(dirs);
        unsetenv("SPARK_EXECUTOR_DIRS");
        assert_int_equal(rmdir(there), 0);
}

/* disk_dirs_sweep also works where no root is created. */
static void sweeps_every_directory_of_a_list(void **state)
{
        _cleanup_free_ char *first = mem_printf("%s/one", temp_dir), *second = mem_printf("%s/two", temp_dir);
        _cleanup_free_ char *list = mem_printf("%s, %s,%s/none", first, second, temp_dir);
        struct fst_error error = FST_ERROR_INIT;
        struct disk_dirs *ours = NULL;
        char left[2][4096];
        assert_int_equal(disk_dirs_for_executors(second, &ours, &error), 0);
        leave_file(first, left[0]);
        leave_file(second, left[1]);
        disk_dirs_sweep(list);
        assert_int_equal(access(left[0], F_OK), -1);
        assert_int_equal(access(left[1], F_OK), -1);
        assert_int_equal(access(disk_dirs_root(ours, 0), F_OK), 0);
        disk_dirs_sweep("");
        disk_dirs_free(ours);
        assert_int_equal(rmdir(first), 0);
        assert_int_equal(rmdir(second), 0);
}

static void the_environment_overrides_the_key(void **state)
{
        static const char *const names[] = {"CONTAINER_ID", "LOCAL_DIRS", "SPARK_EXECUTOR_DIRS", "SPARK_LOCAL_DIRS"};
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                unsetenv(names[i]);
        char *list = disk_dirs_configured("/data");
        assert_string_equal(list, "/data");
        free(list);
        list = disk_dirs_configured(NULL);
        assert_string_equal(list, "/tmp");
        free(list);
        setenv("LOCAL_DIRS", "/yarn", 1);
        setenv("SPARK_LOCAL_DIRS", "/l1,/l2", 1);
        list = disk_dirs_configured("/data");
        assert_string_equal(list, "/l1,/l2");
        free(list);
        setenv("SPARK_EXECUTOR_DIRS", "/e1:/e2", 1);
        list = disk_dirs_configured("/data");
        assert_string_equal(list, "/e1,/e2");
        free(list);
        setenv("CONTAINER_ID", "c", 1);
        list = disk_dirs_configured("/data");
        assert_string_equal(list, "/yarn");
        free(list);
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                unsetenv(names[i]);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(uses_the_paths_of_spark),
                cmocka_unit_test(skips_an_unusable_directory),
                cmocka_unit_test(uses_a_failed_disk_last),
                cmocka_unit_test(removes_the_root_of_a_killed_process),
                cmocka_unit_test(removes_a_partial_root),
                cmocka_unit_test(removes_a_root_that_is_still_written_to),
                cmocka_unit_test(creates_no_file_after_leaving),
                cmocka_unit_test(does_not_recreate_the_directory_of_another_process),
                cmocka_unit_test(sweeps_every_directory_of_a_list),
                cmocka_unit_test(the_environment_overrides_the_key),
        };
        return cmocka_run_group_tests(tests, make_base, remove_base);
}
