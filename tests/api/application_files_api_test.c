/* Tests files of the application through the public interface, in one process. */
#include "api/api_fixture.h"
#include "unit/temp_dir.h"

#include <fcntl.h>
#include <sys/stat.h>

static const char *in_folder(const char *name)
{
        static char path[4][512];
        static int turn;
        char *p = path[turn++ % 4];
        snprintf(p, sizeof(path[0]), "%s/%s", temp_dir, name);
        return p;
}

static void write_file(const char *path, const char *text)
{
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(text, f);
        fclose(f);
}

struct name {
        char text[64];
};

/* The first number in the file. */
static int64_t number_of(fst_task *task, int64_t x)
{
        const struct name *name = fst_captured(task);
        const char *path = fst_file(task, name->text);
        long long number = -1;
        FILE *f = path ? fopen(path, "r") : NULL;
        if (f && fscanf(f, "%lld", &number) != 1)
                number = -1;
        if (f)
                fclose(f);
        return x + number;
}

static int64_t sum_with(fst_context *sc, const char *file)
{
        struct name name;
        int64_t sum = -1;
        snprintf(name.text, sizeof(name.text), "%s", file);
        int r = fst_reduce(fst_map(fst_range_n(sc, 0, 10, 3), FST_WITH(number_of, name), FST_I64), fst_fn_sum, &sum);
        return r ? r : sum;
}

static void tasks_find_files(void **state)
{
        fst_context *sc = *state;
        write_file(in_folder("number.txt"), "100\n");
        assert_int_equal(fst_add_file(sc, in_folder("number.txt")), 0);
        assert_int_equal(sum_with(sc, "number.txt"), 1045);
        assert_int_equal(fst_add_file(sc, in_folder("number.txt")), 0); /* a second call has no effect */
        write_file(in_folder("number.txt"), "200\n");
        assert_int_equal(sum_with(sc, "number.txt"), 1045); /* later changes have no effect */
        const char *path = fst_file(sc, "number.txt");
        assert_non_null(path);
        assert_int_equal(path[0], '/');
}

static void leaves_out_files_of_every_node(void **state)
{
        const char *name;
        fst_context *sc =
                api_context("local[2]", "spark.log.level", "ERROR", "spark.files", "local:///none/a.txt", NULL);
        assert_int_equal(fst_count(fst_range_n(sc, 0, 10, 3), NULL), 0);
        assert_int_equal(fst_add_file(sc, "local:/none/b.txt"), 0);
        assert_int_equal(fst_add_archive(sc, "local:/none/b.zip"), 0);
        assert_int_equal(fst_list_files(sc, &name, 1), 0);
        assert_int_equal(fst_list_archives(sc, &name, 1), 0);
        fst_context_stop(sc);
}

static void rejects_invalid_files(void **state)
{
        fst_context *sc = *state;
        write_file(in_folder("a.txt"), "1\n");
        assert_int_equal(fst_add_file(sc, in_folder("a.txt")), 0);
        write_file(in_folder("a.txt"), "2\n");
        assert_refused(fst_add_file(sc, in_folder("a.txt")), -EEXIST, "another file named a.txt");
        assert_refused(fst_add_file(sc, in_folder("none.txt")), -ENOENT, "none.txt");
        assert_refused(fst_add_file(sc, temp_dir), -EISDIR, "fst_add_archive");
        assert_refused(fst_add_file(sc, "hdfs://x/y"), -ENOTSUP, "only local files");
        assert_refused((int)sum_with(sc, "b.txt"), -EIO, "no file b.txt (it has: a.txt)");
        assert_refused(fst_file(sc, "b.txt") != NULL, 0, "no file b.txt");
        assert_refused(fst_add_archive(sc, in_folder("a.txt")), -EEXIST, "another file");
        assert_refused(fst_add_archive(sc, in_folder("b.zip")), -ENOENT, "b.zip");
}

static int heard_setup(void **state)
{
        *state = api_context("local[2]", "spark.log.level", "ERROR", NULL);
        return 0;
}

static void unpacks_archives(void **state)
{
        char command[1024];
        write_file(in_folder("n.txt"), "7\n");
        snprintf(command, sizeof(command),
                 "cd %s && mkdir -p sub && cp n.txt sub/ && tar czf t.tar.gz sub n.txt && "
                 "ln -sf / out && tar cf links.tar out && cd sub && "
                 "tar cPf ../up.tar ../n.txt",
                 temp_dir);
        assert_int_equal(system(command), 0);
        snprintf(command, sizeof(command), "%s#data", in_folder("t.tar.gz"));
        fst_context *sc = api_context("local[2]", "spark.log.level", "ERROR", "spark.files", in_folder("n.txt"),
                                      "spark.archives", command, NULL);
        const char *path = fst_file(sc, "data");
        struct stat st;
        assert_non_null(path);
        snprintf(command, sizeof(command), "%s/sub/n.txt", path);
        assert_int_equal(stat(command, &st), 0);
        assert_int_equal(sum_with(sc, "n.txt"), 45 + 70);
        assert_refused(fst_add_archive(sc, in_folder("up.tar")), -EINVAL, "outside");
        assert_refused(fst_add_archive(sc, in_folder("n.txt")), -EEXIST, "n.txt");
        write_file(in_folder("m.txt"), "7\n");
        assert_refused(fst_add_archive(sc, in_folder("m.txt")), -EINVAL, "unpacking");
        fst_context_stop(sc);
        assert_int_equal(stat(command, &st), -1); /* removed with the context */
}

static int set_up(void **state)
{
        return temp_dir_make(state);
}

static int tear_down(void **state)
{
        char command[256];
        snprintf(command, sizeof(command), "rm -rf %s", temp_dir);
        return system(command);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(tasks_find_files, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(rejects_invalid_files, heard_setup, api_teardown),
                cmocka_unit_test(leaves_out_files_of_every_node),
                cmocka_unit_test(unpacks_archives),
        };
        return cmocka_run_group_tests(tests, set_up, tear_down);
}
