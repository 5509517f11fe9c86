/* Tests that output appears completely or not at all, and that only one attempt of a task counts. */
#include "io/output_committer.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "io/fs/file_systems.h"
#include "io/fs/path.h"
#include "io/part_writer.h"
#include "unit/temp_dir.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char out[96];

static int make_base(void **state)
{
        if (temp_dir_make(NULL))
                return -1;
        snprintf(out, sizeof(out), "%s/a/out", temp_dir);
        return 0;
}

static int remove_base(void **state)
{
        _cleanup_free_ char *path = mem_printf("file:%s", temp_dir);
        const struct file_system *fs;
        return file_system_of(path, &fs, NULL) < 0 || fs->remove(fs, path, NULL) < 0;
}

static struct output_committer *committer(int algorithm, bool validate)
{
        struct output_options options = OUTPUT_OPTIONS_INIT;
        struct output_committer *c;
        options.algorithm = algorithm;
        options.validate = validate;
        assert_int_equal(output_committer_new(out, 7, &options, &c, NULL), 0);
        return c;
}

static int write_part(struct output_committer *c, int partition, int attempt, const char *text)
{
        _cleanup_free_ char *path = output_committer_task_path(c, partition, attempt);
        struct fst_error error = FST_ERROR_INIT;
        struct part_writer *w = part_writer_new();
        fst_bytes line = fst_bytes_of(text);
        fst_batch batch = {.rows = 1, .type = FST_BYTES, .key.bytes = &line};
        int r = part_writer_open(w, path, PART_TEXT, &error);
        if (r == 0)
                r = part_writer_write(w, &batch, &error);
        if (r == 0)
                r = part_writer_close(w, &error);
        part_writer_free(w);
        error_deinit(&error);
        return r;
}

/* The names in a directory, each followed by a space, or "-" if it does not exist. */
static char *names(const char *directory)
{
        _cleanup_free_ char *path = mem_printf("file:%s", directory);
        const struct file_system *fs;
        struct file_list list = {0};
        struct buf b = BUF_INIT;
        assert_int_equal(file_system_of(path, &fs, NULL), 0);
        if (fs->list(fs, path, &list, NULL) < 0)
                buf_puts(&b, "-");
        for (size_t i = 0; i < list.len; i++)
                buf_printf(&b, "%s ", path_name(list.data[i].path));
        file_list_deinit(&list);
        return buf_steal(&b);
}

static void assert_names(const char *directory, const char *want)
{
        _cleanup_free_ char *got = names(directory);
        assert_string_equal(got, want);
}

static void assert_content(const char *name, const char *want)
{
        _cleanup_free_ char *path = mem_printf("%s/%s", out, name);
        char got[64] = "";
        FILE *f = fopen(path, "r");
        assert_non_null(f);
        got[fread(got, 1, sizeof(got) - 1, f)] = '\0';
        fclose(f);
        assert_string_equal(got, want);
}

static void run_job(int algorithm)
{
        struct fst_error error = FST_ERROR_INIT;
        struct output_committer *c = committer(algorithm, true);

        assert_int_equal(output_committer_setup_job(c, &error), 0);
        assert_int_equal(write_part(c, 0, 0, "zero"), 0);
        assert_int_equal(write_part(c, 1, 0, "one"), 0);
        assert_int_equal(write_part(c, 1, 1, "one again"), 0);
        assert_int_equal(write_part(c, 2, 0, "never"), 0);
        assert_names(out, "_temporary ");

        assert_int_equal(output_committer_commit_task(c, 0, 0, &error), 0);
        assert_int_equal(output_committer_commit_task(c, 1, 1, &error), 0);
        assert_int_equal(output_committer_commit_task(c, 1, 0, &error), FST_OUTPUT_E_DENIED);
        assert_int_equal(output_committer_commit_task(c, 1, 1, &error), 0);
        /* All tasks run again: the earlier result is replaced. */
        output_committer_forget_commits(c);
        assert_int_equal(write_part(c, 0, 7, "zero"), 0);
        assert_int_equal(output_committer_commit_task(c, 0, 7, &error), 0);
        assert_int_equal(output_committer_commit_task(c, 0, 0, &error), FST_OUTPUT_E_DENIED);
        assert_int_equal(write_part(c, 1, 1, "one again"), 0);
        assert_int_equal(output_committer_commit_task(c, 1, 1, &error), 0);
        assert_int_equal(output_committer_abort_task(c, 1, 0, &error), 0);
        assert_int_equal(output_committer_abort_task(c, 1, 1, &error), 0);
        assert_int_equal(output_committer_commit_task(c, 3, 0, &error), -ENOENT);
        assert_names(out, algorithm == 1 ? "_temporary " : "_temporary part-00000 part-00001 ");

        assert_int_equal(output_committer_commit_job(c, &error), 0);
        assert_int_equal(output_committer_commit_job(c, &error), 0);
        assert_int_equal(output_committer_abort_job(c, &error), 0);
        assert_names(out, "_SUCCESS part-00000 part-00001 ");
        assert_content("part-00000", "zero\n");
        assert_content("part-00001", "one again\n");
        output_committer_free(c);

        c = committer(algorithm, true);
        _cleanup_free_ char *want = mem_printf("Output directory file:%s already exists", out);
        assert_int_equal(output_committer_setup_job(c, &error), -EEXIST);
        assert_string_equal(error_message(&error), want);
        output_committer_free(c);

        /* Without validation files are replaced one by one, as is anything in the place of a file. */
        _cleanup_free_ char *directory = mem_printf("%s/part-00001", out);
        unlink(directory);
        mkdir(directory, 0777);
        c = committer(algorithm, false);
        assert_int_equal(output_committer_setup_job(c, &error), 0);
        assert_int_equal(write_part(c, 1, 5, "new"), 0);
        assert_int_equal(output_committer_commit_task(c, 1, 5, &error), 0);
        assert_int_equal(output_committer_commit_job(c, &error), 0);
        assert_content("part-00000", "zero\n");
        assert_content("part-00001", "new\n");
        output_committer_free(c);
        error_deinit(&error);
}

static void test_version_1(void **state)
{
        run_job(1);
}

static void test_version_2(void **state)
{
        run_job(2);
}

static void test_abort(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        struct output_committer *c = committer(1, true);
        assert_int_equal(output_committer_setup_job(c, &error), 0);
        assert_int_equal(write_part(c, 0, 0, "zero"), 0);
        assert_int_equal(output_committer_commit_task(c, 0, 0, &error), 0);
        assert_int_equal(write_part(c, 1, 0, "one"), 0);
        assert_int_equal(output_committer_abort_job(c, &error), 0);
        assert_int_equal(output_committer_abort_job(c, &error), 0);
        assert_names(out, "");
        output_committer_free(c);
}

/* Files that an earlier job left under _temporary are not output. */
static void test_leftovers(void **state)
{
        struct output_committer *old = committer(1, false), *c = committer(1, false);
        assert_int_equal(output_committer_setup_job(old, NULL), 0);
        assert_int_equal(write_part(old, 0, 0, "old"), 0);
        assert_int_equal(output_committer_commit_task(old, 0, 0, NULL), 0);
        output_committer_free(old);

        assert_int_equal(output_committer_setup_job(c, NULL), 0);
        assert_int_equal(write_part(c, 1, 0, "new"), 0);
        assert_int_equal(output_committer_commit_task(c, 1, 0, NULL), 0);
        assert_int_equal(output_committer_commit_job(c, NULL), 0);
        assert_names(out, "_SUCCESS part-00001 ");
        output_committer_free(c);
}

struct commit_race {
        struct output_committer *c;
        int attempt, committed, denied, failed;
};

#define TASKS 60

static void *commit_all(void *data)
{
        struct commit_race *a = data;
        char text[32];
        snprintf(text, sizeof(text), "attempt %d", a->attempt);
        for (int task = 0; task < TASKS; task++) {
                int r = write_part(a->c, task, a->attempt, text);
                if (r == 0)
                        r = output_committer_commit_task(a->c, task, a->attempt, NULL);
                a->committed += r == 0;
                a->denied += r == FST_OUTPUT_E_DENIED;
                a->failed += r < 0;
                if (r)
                        output_committer_abort_task(a->c, task, a->attempt, NULL);
        }
        return NULL;
}

static void test_threads(void **state)
{
        for (int algorithm = 1; algorithm <= 2; algorithm++) {
                struct output_committer *c = committer(algorithm, true);
                struct commit_race a[4] = {0};
                pthread_t threads[4];
                int committed = 0, denied = 0;
                assert_int_equal(output_committer_setup_job(c, NULL), 0);
                for (int i = 0; i < 4; i++) {
                        a[i] = (struct commit_race){.c = c, .attempt = i};
                        pthread_create(&threads[i], NULL, commit_all, &a[i]);
                }
                for (int i = 0; i < 4; i++) {
                        pthread_join(threads[i], NULL);
                        committed += a[i].committed;
                        denied += a[i].denied;
                        assert_int_equal(a[i].failed, 0);
                }
                assert_int_equal(committed, TASKS);
                assert_int_equal(denied, 3 * TASKS);
                assert_int_equal(output_committer_commit_job(c, NULL), 0);
                _cleanup_free_ char *got = names(out);
                size_t parts = 0;
                for (const char *p = got; (p = strstr(p, "part-")); p++)
                        parts++;
                assert_int_equal(parts, TASKS);
                output_committer_free(c);
                remove_base(NULL);
        }
}

/* A full disk, simulated by a limit on file sizes: the task fails, names the file, and leaves no output. */
static void test_full(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        struct output_committer *c = committer(1, true);
        struct rlimit before, limit;
        assert_int_equal(output_committer_setup_job(c, &error), 0);
        _cleanup_free_ char *path = output_committer_task_path(c, 0, 0);
        struct part_writer *w = part_writer_new();
        assert_int_equal(part_writer_open(w, path, PART_TEXT, &error), 0);

        signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &before);
        limit = (struct rlimit){3 << 20, before.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
        static char row[100000];
        memset(row, 'r', sizeof(row));
        fst_bytes lines[100];
        for (int i = 0; i < 100; i++)
                lines[i] = (fst_bytes){row, sizeof(row)};
        fst_batch batch = {.rows = 100, .type = FST_BYTES, .key.bytes = lines};
        int r = part_writer_write(w, &batch, &error);
        setrlimit(RLIMIT_FSIZE, &before);

        assert_int_equal(r, -EFBIG);
        assert_non_null(strstr(error_message(&error), path));
        assert_int_equal(part_writer_write(w, &batch, &error), -EFBIG);
        assert_int_equal(part_writer_close(w, &error), -EFBIG);
        part_writer_free(w);
        assert_int_equal(output_committer_abort_task(c, 0, 0, &error), 0);
        assert_int_equal(output_committer_abort_job(c, &error), 0);
        assert_names(out, "");
        output_committer_free(c);
        error_deinit(&error);
}

/* An attempt of a dead process, which may only be slow, cannot commit after it was revoked. */
static void test_revoke(void **state)
{
        for (int algorithm = 1; algorithm <= 2; algorithm++) {
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                struct output_committer *c = committer(algorithm, true), *other;
                struct output_identity identity = output_committer_identity(c);
                uint8_t committed[4] = {0};
                assert_int_equal(output_committer_join(&identity, &other, NULL), 0);
                assert_int_equal(output_committer_setup_job(c, NULL), 0);
                for (int p = 0; p < 4; p++)
                        assert_int_equal(write_part(other, p, 7, "old"), 0);
                assert_int_equal(output_committer_revoke_task(c, 0, 7, NULL), 0);
                assert_int_equal(output_committer_revoke_task(c, 0, 7, NULL), FST_OUTPUT_E_MOVED);
                assert_int_equal(output_committer_commit_task(other, 0, 7, &error), -ENOENT);
                assert_int_equal(output_committer_commit_task(other, 1, 7, NULL), 0);
                assert_int_equal(output_committer_revoke_task(c, 1, 7, NULL), FST_OUTPUT_E_MOVED);
                assert_int_equal(output_committer_abort_task(other, 2, 7, NULL), 0);
                assert_int_equal(output_committer_revoke_task(c, 2, 7, NULL), FST_OUTPUT_E_MOVED);
                if (algorithm == 2) { /* it died between the rename of its file and the removal of its directory */
                        _cleanup_free_ char *part = output_committer_task_path(c, 3, 7);
                        _cleanup_free_ char *to = mem_printf("%s/part-00003", out);
                        assert_int_equal(rename(strchr(part, '/'), to), 0);
                        assert_int_equal(output_committer_revoke_task(c, 3, 7, NULL), FST_OUTPUT_E_MOVED);
                }
                assert_int_equal(output_committer_find_tasks(c, committed, 4, NULL), 0);
                assert_memory_equal(committed, ((uint8_t[]){0, 1, 0, algorithm == 2}), 4);
                output_committer_free(other);
                output_committer_free(c);
                remove_base(NULL);
        }
}

/* If a task's rename fails, the attempt fails, and another one can commit afterwards. */
static void test_failing_rename(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        struct output_committer *c = committer(2, true);
        assert_int_equal(output_committer_setup_job(c, &error), 0);
        assert_int_equal(write_part(c, 0, 0, "first"), 0);
        assert_int_equal(write_part(c, 0, 1, "second"), 0);

        /* A file takes the place of the output directory: permissions would not stop root. */
        _cleanup_free_ char *aside = mem_printf("%s.aside", out);
        assert_int_equal(rename(out, aside), 0);
        FILE *f = fopen(out, "w");
        fclose(f);
        assert_true(output_committer_commit_task(c, 0, 0, &error) < 0);
        unlink(out);
        assert_int_equal(rename(aside, out), 0);
        assert_int_equal(output_committer_commit_task(c, 0, 1, &error), 0);
        assert_int_equal(output_committer_commit_task(c, 0, 0, &error), FST_OUTPUT_E_DENIED);
        assert_int_equal(output_committer_commit_job(c, &error), 0);
        assert_content("part-00000", "second\n");
        output_committer_free(c);
        error_deinit(&error);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(test_version_1, make_base, remove_base),
                cmocka_unit_test_setup_teardown(test_version_2, make_base, remove_base),
                cmocka_unit_test_setup_teardown(test_abort, make_base, remove_base),
                cmocka_unit_test_setup_teardown(test_leftovers, make_base, remove_base),
                cmocka_unit_test_setup_teardown(test_threads, make_base, remove_base),
                cmocka_unit_test_setup_teardown(test_full, make_base, remove_base),
                cmocka_unit_test_setup_teardown(test_failing_rename, make_base, remove_base),
                cmocka_unit_test_setup_teardown(test_revoke, make_base, remove_base),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
