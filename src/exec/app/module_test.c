/* Tests modules that the application compiler builds in a temporary directory. */
#include "exec/app/module.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "exec/app/app_cache.h"
#include "exec/app/app_compiler.h"
#include "unit/temp_dir.h"

#include <firesteel/types.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#define APPLICATION                                                                                                    \
        "#include <firesteel/firesteel.h>\n"                                                                           \
        "static int split(int x) { return x + 1; }\n"                                                                  \
        "void *address(void); void *address(void) { return (void *)split; }\n"                                         \
        "int main(int argc, char **argv) { return argc; }\n"

static char folder[TEMP_DIR_SIZE];

static char *path_of(const char *name)
{
        return mem_printf("%s/%s", folder, name);
}

static void write_text(const char *name, const char *text)
{
        _cleanup_free_ char *path = path_of(name);
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(text, f);
        assert_int_equal(fclose(f), 0);
}

static void build(const char *source, const char *output, const char *flag)
{
        _cleanup_free_ char *from = path_of(source), *to = path_of(output);
        const char *const sources[] = {from};
        char *const flags[] = {(char *)flag, NULL};
        struct fst_error error = FST_ERROR_INIT;
        if (app_compiler_build(sources, 1, to, flag ? flags : NULL, &error) != 0)
                fail_msg("%s", error_message(&error));
}

static void assert_refused(const char *name, const char *message)
{
        _cleanup_free_ char *path = path_of(name);
        const struct module *m = NULL;
        struct fst_error error = FST_ERROR_INIT;
        assert_true(module_load(path, &m, &error) < 0);
        assert_null(m);
        if (!strstr(error_message(&error), message))
                fail_msg("\"%s\" does not say \"%s\"", error_message(&error), message);
        error_deinit(&error);
}

static int set_up(void **state)
{
        temp_dir_new(folder);
        write_text("app.c", APPLICATION);
        build("app.c", "app.so", NULL);
        return 0;
}

static int tear_down(void **state)
{
        _cleanup_free_ char *command = mem_printf("rm -rf %s", folder);
        return system(command);
}

static const struct module *load_app(void)
{
        _cleanup_free_ char *path = path_of("app.so");
        const struct module *m = NULL;
        struct fst_error error = FST_ERROR_INIT;
        if (module_load(path, &m, &error) != 0)
                fail_msg("%s", error_message(&error));
        return m;
}

static void loads_a_module_once_and_finds_its_functions(void **state)
{
        const struct module *m = load_app();
        assert_ptr_equal(load_app(), m);
        assert_string_equal(m->name, "app.so");
        assert_int_equal(m->info.abi, FST_ABI);
        assert_int_equal(strlen(m->info.build_id), 40);
        void (*entry)(void) = NULL;
        assert_int_equal(module_symbol(m, "main", "app.c", &entry, NULL), 0);
        assert_int_equal(((int (*)(int, char **))entry)(5, NULL), 5);
        struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(module_symbol(m, "printf", "app.c", &entry, &error), -ENOENT);
        assert_string_equal(error.message, "no such function in app.c: printf; it has: address, main");
        error_deinit(&error);
}

static void resolves_a_described_function(void **state)
{
        const struct module *m = load_app();
        void (*entry)(void), (*split)(void), (*found)(void) = NULL;
        assert_int_equal(module_symbol(m, "address", "app.c", &entry, NULL), 0);
        split = (void (*)(void))((void *(*)(void))entry)();
        struct module_function f, again;
        assert_int_equal(module_describe(split, "other", &f, NULL), 0);
        assert_string_equal(f.name, "split in app.so");
        assert_string_equal(f.symbol, "split");
        assert_ptr_equal(f.module, m);
        assert_int_equal(module_describe(split, NULL, &again, NULL), 0);
        assert_ptr_equal(again.name, f.name);
        assert_int_equal(module_resolve(m->info.build_id, f.offset, &found, NULL), 0);
        assert_ptr_equal((void *)found, (void *)split);
        assert_int_equal(module_resolve(m->info.build_id, 1u << 30, &found, NULL), -EINVAL);
        struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(module_resolve("0123", f.offset, &found, &error), -ENOENT);
        assert_non_null(strstr(error.message, "no module with build-id 0123 is loaded"));
        assert_non_null(strstr(error.message, "app.so"));
        error_deinit(&error);
}

static void rejects_code_outside_of_modules(void **state)
{
        /* A nested function's trampoline lies on the stack. */
        char trampoline[64];
        void (*code)(void);
        void *address = trampoline;
        memcpy(&code, &address, sizeof(code));
        struct module_function f;
        struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(module_describe(code, "inner", &f, &error), -EINVAL);
        assert_non_null(strstr(error.message, "inner is not in a loaded module"));
        error_deinit(&error);
        /* The address of data is not a function. */
        address = folder;
        memcpy(&code, &address, sizeof(code));
        assert_int_equal(module_describe(code, NULL, &f, NULL), -EINVAL);
        assert_int_equal(module_describe(NULL, NULL, &f, NULL), -EINVAL);
        /* A function of the program itself is found. */
        assert_int_equal(module_describe((void (*)(void))load_app, NULL, &f, NULL), 0);
        assert_int_equal(strncmp(f.name, "load_app in ", 12), 0);
}

static void tells_missing_modules_from_damaged_ones(void **state)
{
        write_text("text.so", "no ELF");
        assert_refused("text.so", "is not a shared object");
        assert_refused("nonexistent.so", "No such file");
        write_text("plain.c", "int main(void) { return 0; }\n");
        build("plain.c", "plain.so", NULL);
        assert_refused("plain.so", "was not built with Firesteel's header");
        write_text("abi.c", "#include <firesteel/types.h>\n#undef FST_ABI\n#define FST_ABI 999\n" APPLICATION);
        build("abi.c", "abi.so", NULL);
        assert_refused("abi.so", "was built against interface 999 of Firesteel");
        write_text(
                "newer.c",
                "#include <firesteel/types.h>\n#undef FST_VERSION_MINOR\n#define FST_VERSION_MINOR 250\n" APPLICATION);
        build("newer.c", "newer.so", NULL);
        assert_refused("newer.so", "was built against Firesteel 0.250, this is 0.1: run it with that version");
#ifdef __x86_64__
        build("app.c", "tbm.so", "-D__TBM__=1"); /* which processors had from 2012 to 2017 */
        assert_refused("tbm.so", "tbm.so was compiled for a processor with tbm, which this machine's processor lacks");
#endif
        build("app.c", "noid.so", "-Wl,--build-id=none");
        assert_refused("noid.so", "has no build-id");
        write_text("undefined.c",
                   "extern int nobody(void);\n" APPLICATION "int f(void); int f(void) { return nobody(); }\n");
        build("undefined.c", "undefined.so", NULL);
        assert_refused("undefined.so", "has the undefined symbol nobody");
}

static void rejects_damaged_files(void **state)
{
        _cleanup_free_ char *path = path_of("app.so");
        _cleanup_(buf_deinit) struct buf file = BUF_INIT;
        struct module_info info;
        assert_int_equal(app_cache_read(path, &file), 0);
        assert_int_equal(module_inspect(file.data, file.len, "x", &info, NULL), 0);
        for (size_t len = 0; len < 2048; len++) {
                _cleanup_free_ char *cut = mem_alloc(len + 1);
                memcpy(cut, file.data, len);
                assert_int_equal(module_inspect(cut, len, "x", &info, NULL), -ENOEXEC);
        }
        file.data[18] ^= 0x55; /* e_machine */
        struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(module_inspect(file.data, file.len, "x", &info, &error), -ENOEXEC);
        assert_non_null(strstr(error.message, "is for another machine"));
        error_deinit(&error);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(loads_a_module_once_and_finds_its_functions),
                cmocka_unit_test(resolves_a_described_function),
                cmocka_unit_test(rejects_code_outside_of_modules),
                cmocka_unit_test(tells_missing_modules_from_damaged_ones),
                cmocka_unit_test(rejects_damaged_files),
        };
        return cmocka_run_group_tests(tests, set_up, tear_down);
}
