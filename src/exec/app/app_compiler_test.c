/* Tests the cache of compiled applications with the system's compiler, in a temporary directory. */
#include "exec/app/app_compiler.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "exec/app/instruction_sets.h"
#include "exec/app/module.h"
#include "unit/cases.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static void write_text(const char *name, const char *text)
{
        _cleanup_free_ char *path = mem_printf("%s/%s", temp_dir, name);
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(text, f);
        assert_int_equal(fclose(f), 0);
}

static char *compiled_for(const char *name, const char *flags, const char *march)
{
        _cleanup_free_ char *path = mem_printf("%s/%s", temp_dir, name);
        struct app_compiler compiler = {.source = path, .flags = flags, .march = march};
        struct fst_error error = FST_ERROR_INIT;
        char *object = NULL;
        if (app_compiler_run(&compiler, &object, &error) != 0)
                fail_msg("%s", error_message(&error));
        return object;
}

static char *compiled(const char *name, const char *flags)
{
        return compiled_for(name, flags, NULL);
}

/* Returns the inode, which changes whenever the compiler runs. */
static ino_t file_of(const char *path)
{
        struct stat st;
        assert_int_equal(stat(path, &st), 0);
        return st.st_ino;
}

static int set_up(void **state)
{
        assert_int_equal(temp_dir_make(NULL), 0);
        setenv("XDG_CACHE_HOME", temp_dir, 1);
        static const char *const names[] = {"one", "two"};
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                _cleanup_free_ char *path = mem_printf("%s/%s", temp_dir, names[i]);
                assert_int_equal(mkdir(path, 0700), 0);
        }
        write_text("one/a.c",
                   "#include \"a b.h\"\n#include <firesteel/firesteel.h>\nint main(void) { return VALUE; }\n");
        write_text("one/a b.h", "#define VALUE 1\n");
        return 0;
}

static int tear_down(void **state)
{
        _cleanup_free_ char *command = mem_printf("rm -rf %s", temp_dir);
        return system(command);
}

static void reuses_the_object_of_an_unchanged_source(void **state)
{
        _cleanup_free_ char *first = compiled("one/a.c", NULL);
        ino_t file = file_of(first);
        _cleanup_free_ char *second = compiled("one/a.c", NULL);
        assert_string_equal(second, first);
        assert_int_equal(file_of(second), file);
        assert_non_null(strstr(first, "/a.so"));
}

static void compiles_again_after_a_change_of_header_flag_or_source(void **state)
{
        _cleanup_free_ char *before = compiled("one/a.c", NULL);
        write_text("one/a b.h", "#define VALUE 2\n");
        _cleanup_free_ char *header = compiled("one/a.c", NULL);
        assert_string_not_equal(header, before);
        _cleanup_free_ char *flags = compiled("one/a.c", "-O1  -DX");
        assert_string_not_equal(flags, header);
        write_text("one/a b.h", "#define VALUE 1\n");
        ino_t file = file_of(before);
        _cleanup_free_ char *back = compiled("one/a.c", NULL);
        assert_string_equal(back, before);
        assert_int_not_equal(file, 0);
}

static void builds_the_same_object_in_another_directory(void **state)
{
        struct module_info one, two;
        _cleanup_free_ char *here = compiled("one/a.c", NULL);
        assert_int_equal(module_inspect_file(here, &one, NULL), 0);
        /* Remove the cache so that both are really compiled. */
        _cleanup_free_ char *copy =
                mem_printf("cp %s/one/a* %s/two && rm -r %s/firesteel", temp_dir, temp_dir, temp_dir);
        assert_int_equal(system(copy), 0);
        _cleanup_free_ char *there = compiled("two/a.c", NULL);
        assert_int_equal(module_inspect_file(there, &two, NULL), 0);
        assert_string_equal(one.build_id, two.build_id);
}

static void concurrent_compilations_return_one_object(void **state)
{
        write_text("one/b.c", "#include <firesteel/firesteel.h>\nint main(void) { return 7; }\n");
        pid_t children[3];
        for (size_t i = 0; i < ARRAY_SIZE(children); i++) {
                children[i] = fork();
                if (children[i] == 0) {
                        _cleanup_free_ char *object = compiled("one/b.c", NULL);
                        struct module_info info;
                        _exit(module_inspect_file(object, &info, NULL) != 0);
                }
        }
        for (size_t i = 0; i < ARRAY_SIZE(children); i++) {
                int status;
                assert_int_equal(waitpid(children[i], &status, 0), children[i]);
                assert_int_equal(status, 0);
        }
        _cleanup_free_ char *left = mem_printf("test -z \"$(ls %s/firesteel/apps | grep tmp)\"", temp_dir);
        assert_int_equal(system(left), 0);
}

static void errors_name_a_remedy(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        _cleanup_free_ char *path = mem_printf("%s/one/bad.c", temp_dir);
        struct app_compiler compiler = {.source = path};
        char *object = NULL;
        write_text("one/bad.c", "#error on purpose\n");
        assert_int_equal(app_compiler_run(&compiler, &object, &error), -ENOEXEC);
        assert_non_null(strstr(error.message, "does not compile"));
        setenv("CC", "no-such-compiler", 1);
        assert_int_equal(app_compiler_run(&compiler, &object, &error), -ENOENT);
        assert_string_equal(error.message, "no C compiler: CC is \"no-such-compiler\", which is not a command");
        unsetenv("CC");
        _cleanup_free_ char *search = mem_strdup(getenv("PATH"));
        setenv("PATH", temp_dir, 1);
        assert_int_equal(app_compiler_run(&compiler, &object, &error), -ENOENT);
        assert_non_null(strstr(error.message, "apt install gcc"));
        setenv("PATH", search, 1);
        assert_null(object);
        error_deinit(&error);
}

#ifdef __x86_64__
static void compiles_for_the_given_processor(void **state)
{
        struct module_info here, oldest, level;
        _cleanup_free_ char *native = compiled_for("one/a.c", NULL, "native");
        _cleanup_free_ char *plain = compiled_for("one/a.c", NULL, NULL);
        _cleanup_free_ char *v2 = compiled_for("one/a.c", NULL, "x86-64-v2");
        _cleanup_(buf_deinit) struct buf names = BUF_INIT;
        assert_string_not_equal(native, plain);
        assert_string_not_equal(v2, plain);
        assert_int_equal(module_inspect_file(native, &here, NULL), 0);
        assert_int_equal(module_inspect_file(plain, &oldest, NULL), 0);
        assert_int_equal(module_inspect_file(v2, &level, NULL), 0);
        assert_int_equal(oldest.instruction_sets, 0);
        assert_int_equal(here.instruction_sets & ~instruction_sets_here(), 0);
        assert_int_equal(level.instruction_sets & ~here.instruction_sets, 0);
        instruction_sets_names(level.instruction_sets, &names);
        assert_string_equal(buf_text(&names), "sse3, ssse3, sse4.1, sse4.2, popcnt");
}
#endif

static void chooses_the_processor_by_setting_and_master(void **state)
{
#ifdef __x86_64__
#define HERE "native"
#else
#define HERE NULL
#endif
        static const struct {
                const char *setting, *master, *march;
        } cases[] = {
                {NULL, "local", HERE},
                {"auto", "local[*]", HERE},
                {"auto", "local-cluster[2,1,1024]", HERE},
                {"auto", "spark://h:7077", NULL},
                {"auto", "localhost", NULL},
                {NULL, NULL, NULL},
                {"none", "local", NULL},
                {"native", "yarn", "native"},
                {"x86-64-v3", "local", "x86-64-v3"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                const char *march = "unset";
                assert_int_equal(instruction_sets_march(cases[i].setting, cases[i].master, &march, NULL), 0);
                if (cases[i].march)
                        assert_string_equal(march, cases[i].march);
                else
                        assert_null(march);
        }
        struct fst_error error = FST_ERROR_INIT;
        const char *march = NULL;
        assert_int_equal(instruction_sets_march("native -O3", "local", &march, &error), -EINVAL);
        assert_non_null(strstr(error.message, "spark.firesteel.cc.march=native -O3: write auto, none, or one value"));
        assert_null(march);
        error_deinit(&error);
}

static int collect(void *context, const char *path)
{
        char *out = context;
        strcat(strcat(out, path), "|");
        return 0;
}

static void parses_make_rules(void **state)
{
        static const struct {
                const char *text, *paths;
        } cases[] = {
                {"app: a.c b.h\n", "a.c|b.h|"},
                {"app: a.c \\\n  c\\ d.h \\\n e\\#f $$g\n", "a.c|c d.h|e#f|$g|"},
                {"app:", ""},
                {"app: \\\n", ""},
                {"app: x\\", "x\\|"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%zu of cases: text \"%s\", paths \"%s\"", i, cases[i].text ? cases[i].text : "(none)",
                           cases[i].paths ? cases[i].paths : "(none)");
                char paths[100] = "";
                assert_int_equal(app_compiler_dependencies(cases[i].text, collect, paths), 0);
                assert_string_equal(paths, cases[i].paths);
        }
        char none[100] = "";
        assert_int_equal(app_compiler_dependencies("", collect, none), -EINVAL);
        assert_int_equal(app_compiler_dependencies("a b", collect, none), -EINVAL);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reuses_the_object_of_an_unchanged_source),
                cmocka_unit_test(compiles_again_after_a_change_of_header_flag_or_source),
                cmocka_unit_test(builds_the_same_object_in_another_directory),
                cmocka_unit_test(concurrent_compilations_return_one_object),
                cmocka_unit_test(errors_name_a_remedy),
#ifdef __x86_64__
                cmocka_unit_test(compiles_for_the_given_processor),
#endif
                cmocka_unit_test(chooses_the_processor_by_setting_and_master),
                cmocka_unit_test(parses_make_rules),
        };
        return cmocka_run_group_tests(tests, set_up, tear_down);
}
