/*
 * The cases of Spark's RPackageUtilsSuite, with a script in place of R, and hostile jars. Spark 4.3 printed the
 * expected texts.
 */
#include "submit/packages/r_packages.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/fs.h"
#include "submit/packages/r_sources.h"
#include "io/codec/archive_library.h"
#include "unit/temp_dir.h"

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define WITH_R "Manifest-Version: 1.0\r\nSpark-HasRPackage: true\r\n\r\n"
#define WITHOUT_R "Manifest-Version: 1.0\r\n\r\n"

/* "Installs" the sources and prints its arguments. A line "Broken" in DESCRIPTION makes it fail. */
static const char fake_r[] =
        "#!/bin/sh\n"
        "[ \"$1 $2 $3\" = 'CMD INSTALL -l' ] || exit 64\n"
        "echo \"libraries $SPARKR_PACKAGE_DIR profile $R_PROFILE_USER\"\n"
        "grep -q '^Broken' \"$5/DESCRIPTION\" && { echo broken package >&2; exit 3; }\n"
        "mkdir -p \"$4/pkg/R\" && cp \"$5/DESCRIPTION\" \"$4/pkg\" && cp \"$5/R/f.R\" \"$4/pkg/R\"\n";

struct room {
        char dir[TEMP_DIR_SIZE];
        char *path; /* PATH before the test */
        FILE *said;
};

static char *in_room(const struct room *room, const char *name)
{
        return mem_printf("%s/%s", room->dir, name);
}

static void write_file(const char *path, const char *text, mode_t mode)
{
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
        assert_true(fd >= 0);
        assert_int_equal(write(fd, text, strlen(text)), strlen(text));
        close(fd);
}

static int set_up(void **state)
{
        struct room *room = new0(struct room);
        temp_dir_new(room->dir);
        _cleanup_free_ char *bin = in_room(room, "bin"), *r = in_room(room, "bin/R"), *tmp = in_room(room, "tmp");
        assert_int_equal(mkdir(bin, 0700), 0);
        assert_int_equal(mkdir(tmp, 0700), 0);
        write_file(r, fake_r, 0700);
        room->path = mem_strdup(getenv("PATH"));
        _cleanup_free_ char *path = mem_printf("%s:%s", bin, room->path);
        setenv("PATH", path, 1);
        setenv("TMPDIR", tmp, 1);
        room->said = tmpfile();
        assert_non_null(room->said);
        *state = room;
        return 0;
}

static int tear_down(void **state)
{
        struct room *room = *state;
        setenv("PATH", room->path, 1);
        unsetenv("TMPDIR");
        fclose(room->said);
        remove_tree(room->dir);
        free(room->path);
        free(room);
        return 0;
}

/* The output since the last call, with each temporary directory's name as {temporary}. Owned by the caller. */
static char *said(struct room *room)
{
        _cleanup_(buf_deinit) struct buf all = BUF_INIT;
        struct buf out = BUF_INIT;
        _cleanup_free_ char *temporary = in_room(room, "tmp/firesteel-r-");
        size_t n = strlen(temporary);
        char piece[1024];
        rewind(room->said);
        for (size_t got; (got = fread(piece, 1, sizeof(piece), room->said)) > 0;)
                buf_append(&all, piece, got);
        rewind(room->said);
        assert_int_equal(ftruncate(fileno(room->said), 0), 0);
        for (const char *at = buf_text(&all); *at;) {
                bool is_temporary = strncmp(at, temporary, n) == 0;
                if (is_temporary)
                        buf_puts(&out, "{temporary}");
                else
                        buf_putc(&out, *at);
                at += is_temporary ? n + 6 : 1;
        }
        return buf_steal(&out);
}

/* Pairs of name and content. */
static char *make_jar(struct room *room, const char *file, const char *const *entries)
{
        const struct archive_library *lib;
        struct stat st = {.st_mode = S_IFREG | 0600};
        char *path = in_room(room, file);
        assert_int_equal(archive_library_load(&lib, NULL), 0);
        struct archive *zip = lib->archive_write_new();
        lib->archive_write_set_format_zip(zip);
        assert_int_equal(lib->archive_write_open_filename(zip, path), ARCHIVE_OK);
        for (; *entries; entries += 2) {
                struct archive_entry *entry = lib->archive_entry_new();
                size_t len = strlen(entries[0]);
                st.st_size = (off_t)strlen(entries[1]);
                st.st_mode = len > 0 && entries[0][len - 1] == '/' ? S_IFDIR | 0700 : S_IFREG | 0600;
                lib->archive_entry_copy_stat(entry, &st);
                lib->archive_entry_set_pathname(entry, entries[0]);
                assert_int_equal(lib->archive_write_header(zip, entry), ARCHIVE_OK);
                assert_int_equal(lib->archive_write_data(zip, entries[1], strlen(entries[1])), strlen(entries[1]));
                lib->archive_entry_free(entry);
        }
        assert_int_equal(lib->archive_write_close(zip), ARCHIVE_OK);
        lib->archive_write_free(zip);
        return path;
}

static const char *const good[] = {"META-INF/MANIFEST.MF",
                                   WITH_R,
                                   "R/pkg/DESCRIPTION",
                                   "Package: pkg\n",
                                   "R/pkg/R/",
                                   "",
                                   "R/pkg/R/f.R",
                                   "f <- 1\n",
                                   "org/A.class",
                                   "x",
                                   NULL};
static const char *const without[] = {"META-INF/MANIFEST.MF", WITHOUT_R, "R/pkg/R/f.R", "f <- 1\n", NULL};

static bool is_r(struct room *room, const char *manifest)
{
        const char *const entries[] = {"x", "y", manifest ? "META-INF/MANIFEST.MF" : "z", manifest ? manifest : "",
                                       NULL};
        _cleanup_free_ char *jar = make_jar(room, "asked.jar", entries);
        bool out = !manifest;
        assert_int_equal(r_sources_are_in(jar, &out, NULL), 0);
        return out;
}

static void manifest_decides(void **state)
{
        assert_true(is_r(*state, WITH_R));
        assert_true(is_r(*state, "spark-hasrpackage:  true \n"));
        assert_false(is_r(*state, WITHOUT_R));
        assert_false(is_r(*state, "Spark-HasRPackage: TRUE\n"));
        assert_false(is_r(*state, "Spark-HasRPackage: false\n"));
}

static void no_manifest(void **state)
{
        assert_false(is_r(*state, NULL));
}

static void expect_text(const char *path, const char *text)
{
        char got[256] = "";
        FILE *file = fopen(path, "re");
        if (!file)
                fail_msg("%s is not there", path);
        size_t n = fread(got, 1, sizeof(got) - 1, file);
        fclose(file);
        got[n] = 0;
        assert_string_equal(got, text);
}

static void end_to_end(void **state)
{
        struct room *room = *state;
        _cleanup_free_ char *jar = make_jar(room, "good.jar", good), *other = make_jar(room, "dep 1.jar", without);
        _cleanup_free_ char *jars = mem_printf("file://%s,file:%s/dep%%201.jar,%s", jar, room->dir, other);
        char *library = NULL;
        assert_int_equal(r_packages_build(jars, "/spark/R/lib", true, room->said, &library, NULL), 0);
        _cleanup_free_ char *text = said(room);
        _cleanup_free_ char *expected = mem_printf(
                "%s contains R source code. Now installing package.\n"
                "Extracting R/pkg/DESCRIPTION to {temporary}/R/pkg/DESCRIPTION\n"
                "Creating directory: {temporary}/R/pkg/R\n"
                "Extracting R/pkg/R/f.R to {temporary}/R/pkg/R/f.R\n"
                "Building R package with the command: List(R, CMD, INSTALL, -l, {temporary}, {temporary}/R/pkg)\n"
                "libraries /spark/R/lib,{temporary} profile /spark/R/lib/SparkR/profile/general.R\n"
                "%s doesn't contain R source code, skipping...\n"
                "%s doesn't contain R source code, skipping...\n",
                jar, other, other);
        assert_string_equal(text, expected);
        _cleanup_free_ char *built = mem_printf("%s/pkg/R/f.R", library);
        expect_text(built, "f <- 1\n");

        /* Without --verbose there is less output, and the library is the same. */
        char *before = library;
        assert_int_equal(r_packages_build(jars, "/spark/R/lib", false, room->said, &library, NULL), 0);
        assert_ptr_equal(library, before);
        _cleanup_free_ char *less = said(room);
        _cleanup_free_ char *little = mem_printf("%s contains R source code. Now installing package.\n"
                                                 "libraries /spark/R/lib,{temporary} profile "
                                                 "/spark/R/lib/SparkR/profile/general.R\n",
                                                 jar);
        assert_string_equal(less, little);
        remove_tree(library);
        free(library);
        _cleanup_free_ char *tmp = in_room(room, "tmp");
        assert_int_equal(rmdir(tmp), 0); /* nothing remains */
}

static void missing_jars(void **state)
{
        struct room *room = *state;
        char *library = NULL;
        assert_int_equal(
                r_packages_build("/nowhere/a.jar,,file:/nowhere/b.jar", "/s", true, room->said, &library, NULL), 0);
        _cleanup_free_ char *text = said(room);
        assert_string_equal(text, "WARN: /nowhere/a.jar resolved as dependency, but not found.\n"
                                  "WARN: /nowhere/b.jar resolved as dependency, but not found.\n");
        assert_null(library);
}

static void faulty_package(void **state)
{
        struct room *room = *state;
        const char *const entries[] = {"META-INF/MANIFEST.MF", WITH_R, "R/pkg/DESCRIPTION", "Broken: yes\n", NULL};
        _cleanup_free_ char *jar = make_jar(room, "broken.jar", entries);
        char *library = NULL;
        assert_int_equal(r_packages_build(jar, "/s", false, room->said, &library, NULL), 0);
        _cleanup_free_ char *text = said(room);
        _cleanup_free_ char *start = mem_printf("%s contains R source code. Now installing package.\n"
                                                "libraries /s,{temporary} profile /s/SparkR/profile/general.R\n"
                                                "broken package\n"
                                                "ERROR: Failed to build R package in %s.\n"
                                                "In order for Spark to build R packages that are parts of Spark "
                                                "Packages, there are a few\n",
                                                jar, jar);
        assert_memory_equal(text, start, strlen(start));
        assert_non_null(strstr(text, "must contain the key-value: Spark-HasRPackage: true\n"));
        assert_non_null(strstr(text, "\nR/pkg/R/myRcode.R\norg/\norg/apache/\n...\n"));
        assert_non_null(library); /* an application may have R packages, as in Spark */
        remove_tree(library);
        free(library);
}

static void without_r(void **state)
{
        struct room *room = *state;
        _cleanup_free_ char *jar = make_jar(room, "good.jar", good), *empty = in_room(room, "tmp");
        char *library = NULL;
        setenv("PATH", empty, 1);
        assert_int_equal(r_packages_build(jar, "/s", false, room->said, &library, NULL), 0);
        _cleanup_free_ char *text = said(room);
        assert_non_null(strstr(text, "Failed to build R package.\nCannot run program \"R\": No such file or directory\n"
                                     "ERROR: Failed to build R package in "));
        assert_int_equal(r_packages_build(jar, NULL, false, room->said, &library, NULL), 0);
        _cleanup_free_ char *homeless = said(room);
        assert_non_null(strstr(homeless, "Failed to build R package.\n"
                                         "SPARK_HOME not set. Can't locate SparkR package.\nERROR: "));
        remove_tree(library);
        free(library);
}

static void refused(struct room *room, const char *jars, const char *message)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        char *library = NULL;
        assert_int_equal(r_packages_build(jars, "/s", false, room->said, &library, &error), -EINVAL);
        assert_string_equal(error_message(&error), message);
        assert_null(library);
        free(said(room));
}

static void refused_jars(void **state)
{
        struct room *room = *state;
        _cleanup_free_ char *text = in_room(room, "text.jar"), *empty = in_room(room, "empty.jar");
        write_file(text, "this is no zip file\n", 0600);
        write_file(empty, "", 0600);
        refused(room, text, "zip END header not found");
        refused(room, empty, "zip file is empty");
        refused(room, "http://h/a.jar", "URI scheme is not \"file\"");
        refused(room, "local:/a.jar", "URI scheme is not \"file\"");
        refused(room, "file:a.jar", "URI is not hierarchical");
        refused(room, "file:/a.jar#b", "URI has a fragment component");
        refused(room, "file:/a.jar?b", "URI has a query component");
        refused(room, "file://h/a.jar", "URI has an authority component");
}

/* No name leads out of the directory, and a name that only looks so lands inside. */
static void hostile_names(void **state)
{
        static const char *const outside[] = {"R/pkg/../../../evil", "R/pkg/../../x/../../tmp/evil", "R/pkg/../..",
                                              "/abs/R/pkg/../../../../../tmp/evil", "R/pkg/.././../.."};
        struct room *room = *state;
        for (size_t i = 0; i < ARRAY_SIZE(outside); i++) {
                const char *const entries[] = {"META-INF/MANIFEST.MF", WITH_R, outside[i], "x", NULL};
                _cleanup_free_ char *jar = make_jar(room, "slip.jar", entries);
                _cleanup_free_ char *message = mem_printf("Malicious zip entry escaping target dir: %s", outside[i]);
                refused(room, jar, message);
        }
        const char *const inside[] = {
                "/tmp/R/pkg/a", "1", "R/pkg//./b/../c", "2", "x/FOR/pkg/d", "3", "R/pkgs/e", "4", "../f", "5", NULL};
        _cleanup_free_ char *jar = make_jar(room, "odd.jar", inside), *into = in_room(room, "into");
        _cleanup_free_ char *a = in_room(room, "into/R/pkg/a"), *c = in_room(room, "into/R/pkg/c");
        _cleanup_free_ char *d = in_room(room, "into/R/pkg/d"), *e = in_room(room, "into/R/pkgs/e");
        _cleanup_free_ char *f = in_room(room, "f"), *tmp = in_room(room, "tmp");
        assert_int_equal(mkdir(into, 0700), 0);
        assert_int_equal(r_sources_extract(jar, into, NULL, NULL), 0);
        expect_text(a, "1");
        expect_text(c, "2");
        expect_text(d, "3");
        expect_text(e, "4");
        assert_int_equal(access(f, F_OK), -1);
        assert_int_equal(rmdir(tmp), 0); /* rejected jars leave nothing */
}

/* The names of a zip's entries in order, each followed by a blank. */
static char *names_of(const char *path)
{
        const struct archive_library *lib;
        struct archive_entry *entry;
        struct buf out = BUF_INIT;
        assert_int_equal(archive_library_load(&lib, NULL), 0);
        struct archive *zip = lib->archive_read_new();
        lib->archive_read_support_format_zip_seekable(zip);
        assert_int_equal(lib->archive_read_open_filename(zip, path, 1 << 14), ARCHIVE_OK);
        while (lib->archive_read_next_header(zip, &entry) == ARCHIVE_OK)
                buf_printf(&out, "%s ", lib->archive_entry_pathname(entry));
        lib->archive_read_free(zip);
        return buf_steal(&out);
}

static void zipping(void **state)
{
        static const char *const files[] = {"lib/test.R",
                                            "lib/package.zip",
                                            "lib/SparkR/abc.R",
                                            "lib/SparkR/DESCRIPTION",
                                            "lib/packageTest/def.R",
                                            "lib/packageTest/DESCRIPTION"};
        static const char *const directories[] = {"lib", "lib/SparkR", "lib/packageTest", "lib/empty"};
        struct room *room = *state;
        for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
                _cleanup_free_ char *path = in_room(room, directories[i]);
                assert_int_equal(mkdir(path, 0700), 0);
        }
        for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
                _cleanup_free_ char *path = in_room(room, files[i]);
                write_file(path, "abc", 0600);
        }
        _cleanup_free_ char *lib = in_room(room, "lib"), *expected = in_room(room, "lib/sparkr.zip");
        _cleanup_free_ char *dangling = in_room(room, "lib/dangling"), *loop = in_room(room, "lib/empty/loop");
        assert_int_equal(symlink("/nowhere/x", dangling), 0);
        for (int times = 0; times < 2; times++) { /* the second replaces the first */
                _cleanup_free_ char *zip = NULL;
                assert_int_equal(r_packages_zip(lib, "sparkr.zip", true, &zip, NULL), 0);
                assert_string_equal(zip, expected);
                _cleanup_free_ char *names = names_of(zip);
                assert_string_equal(names, "/SparkR/DESCRIPTION /SparkR/abc.R /packageTest/DESCRIPTION "
                                           "/packageTest/def.R /test.R ");
        }
        _cleanup_free_ char *plain = NULL;
        assert_int_equal(r_packages_zip(lib, "sparkr.zip", false, &plain, NULL), 0);
        _cleanup_free_ char *names = names_of(plain);
        assert_string_equal(names, "SparkR/DESCRIPTION SparkR/abc.R packageTest/DESCRIPTION packageTest/def.R test.R ");
        assert_int_equal(unlink(plain), 0);
        /* An endless tree is refused and leaves no partial zip. */
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        char *zip = NULL;
        assert_int_equal(symlink("..", loop), 0);
        assert_true(r_packages_zip(lib, "sparkr.zip", true, &zip, &error) < 0);
        assert_non_null(error.message);
        assert_null(zip);
        assert_int_equal(access(expected, F_OK), -1);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(manifest_decides, set_up, tear_down),
                cmocka_unit_test_setup_teardown(end_to_end, set_up, tear_down),
                cmocka_unit_test_setup_teardown(missing_jars, set_up, tear_down),
                cmocka_unit_test_setup_teardown(faulty_package, set_up, tear_down),
                cmocka_unit_test_setup_teardown(no_manifest, set_up, tear_down),
                cmocka_unit_test_setup_teardown(zipping, set_up, tear_down),
                cmocka_unit_test_setup_teardown(without_r, set_up, tear_down),
                cmocka_unit_test_setup_teardown(refused_jars, set_up, tear_down),
                cmocka_unit_test_setup_teardown(hostile_names, set_up, tear_down),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
