/* Names of images, stripped files, reproducible layers, the container's init. */
#include "image/entry/container_init.h"
#include "logs/log_shipper.h"
#include "image/elf_strip.h"
#include "image/image_layer.h"
#include "image/image_name.h"

#include "base/error.h"
#include "base/mem.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

static void completes_names(void **state)
{
        static const char *const cases[][4] = {
                {"firesteel", "firesteel:latest", "docker.io/library/firesteel:latest", "latest"},
                {"team/fire-steel:0.1.0", "team/fire-steel:0.1.0", "docker.io/team/fire-steel:0.1.0", "0.1.0"},
                {"localhost/x:1", "localhost/x:1", "localhost/x:1", "1"},
                {"test.local/firesteel:1", "test.local/firesteel:1", "test.local/firesteel:1", "1"},
                {"Registry:5000/a/b", "Registry:5000/a/b:latest", "Registry:5000/a/b:latest", "latest"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct image_name name;
                assert_int_equal(image_name_parse(cases[i][0], &name, NULL), 0);
                assert_string_equal(name.shown, cases[i][1]);
                assert_string_equal(name.full, cases[i][2]);
                assert_string_equal(name.tag, cases[i][3]);
                image_name_deinit(&name);
        }
        static const char *const wrong[] = {"",   "Firesteel", "a//b",        "a:", "a:.x", "a b",
                                            "/a", "a/",        "a@sha256:00", "-a", "a:b:c"};
        for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
                struct fst_error error = FST_ERROR_INIT;
                struct image_name name;
                assert_int_equal(image_name_parse(wrong[i], &name, &error), -EINVAL);
                assert_non_null(strstr(error_message(&error), "is not a valid image name"));
                error_deinit(&error);
        }
}

static struct image_sealed seal(struct image_layer *layer)
{
        struct fst_error error = FST_ERROR_INIT;
        struct image_sealed sealed;
        if (image_layer_seal(layer, &sealed, &error))
                fail_msg("%s", error_message(&error));
        image_layer_free(layer);
        return sealed;
}

static void layer_is_independent_of_file_order(void **state)
{
        struct image_layer *one = image_layer_new(), *other = image_layer_new();
        image_layer_text(one, "/opt/a/b", 0644, "b");
        image_layer_folder(one, "/opt/a", 0775, 185);
        image_layer_link(one, "/bin", "/opt");
        image_layer_link(other, "/bin", "/opt");
        image_layer_folder(other, "/opt/a", 0775, 185);
        image_layer_text(other, "/opt/a/b", 0644, "b");
        struct image_sealed x = seal(one), y = seal(other);
        assert_string_equal(x.digest, y.digest);
        assert_string_equal(x.diff_id, y.diff_id);
        assert_string_not_equal(x.digest, x.diff_id);
        assert_int_equal(x.files, 1);
        assert_int_equal(x.content, 1);
        /* A directory's header precedes its file's. */
        char tar[8192];
        z_stream z = {.next_in = (Bytef *)x.blob.data,
                      .avail_in = (uInt)x.blob.len,
                      .next_out = (Bytef *)tar,
                      .avail_out = sizeof(tar)};
        assert_int_equal(inflateInit2(&z, 31), Z_OK);
        assert_int_equal(inflate(&z, Z_SYNC_FLUSH) < 0, false);
        inflateEnd(&z);
        static const char *const order[] = {"bin", "opt/", "opt/a/", "opt/a/b"};
        size_t at = 0; /* each header is a block of 512 bytes, and the file's content follows its header */
        for (size_t i = 0; i < ARRAY_SIZE(order); i++, at += 512)
                assert_string_equal(tar + at, order[i]);
        assert_int_equal(tar[at], 'b');
        image_sealed_deinit(&x);
        image_sealed_deinit(&y);
}

static void rejects_duplicate_path(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        struct image_layer *layer = image_layer_new();
        struct image_sealed sealed;
        image_layer_text(layer, "/a", 0644, "1");
        assert_true(image_layer_has(layer, "/a"));
        image_layer_text(layer, "/a", 0644, "2");
        assert_int_equal(image_layer_seal(layer, &sealed, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "/a"));
        image_layer_free(layer);
        error_deinit(&error);
}

static void strips_files_that_still_load(void **state)
{
        Dl_info info;
        assert_true(dladdr((void *)(uintptr_t)deflateInit2_, &info));
        FILE *f = fopen(info.dli_fname, "r");
        assert_non_null(f);
        fseek(f, 0, SEEK_END);
        size_t len = (size_t)ftell(f), less;
        char *data = mem_alloc(len), path[] = "/tmp/elf_strip.XXXXXX";
        rewind(f);
        assert_int_equal(fread(data, 1, len, f), len);
        fclose(f);
        less = elf_strip(data, len);
        assert_in_range(less, 1, len - 1);
        assert_int_equal(elf_strip(data, less), less);
        int fd = mkstemp(path);
        assert_int_equal(write(fd, data, less), less);
        close(fd);
        void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!handle)
                fail_msg("%s", dlerror());
        assert_non_null(dlsym(handle, "deflateInit2_"));
        dlclose(handle);
        unlink(path);
        /* Files that are not ELF, and damaged ones, are unchanged. */
        assert_int_equal(elf_strip(data, 40), 40);
        data[0] = 'x';
        assert_int_equal(elf_strip(data, less), less);
        free(data);
}

static int run(const char *script)
{
        int status = -1;
        char *const words[] = {"sh", "-c", (char *)script, NULL};
        assert_int_equal(container_init_run("sh", words, &status, NULL), 0);
        return status;
}

static void init_ends_with_status_of_program(void **state)
{
        assert_int_equal(run("exit 7"), 7);
        assert_int_equal(run("kill -9 $$"), 128 + SIGKILL);
        /* A signal for the first process reaches the program. Orphans are reaped. */
        assert_int_equal(run("trap 'exit 5' TERM; (sleep 0 &) ; kill -TERM $PPID; while :; do sleep 0.01; done"), 5);
        struct fst_error error = FST_ERROR_INIT;
        int status;
        assert_int_equal(container_init_run("/nowhere", (char *[]){"nowhere", NULL}, &status, &error), -ENOENT);
        error_deinit(&error);
}

/* The name of a process that runs a script is the script's. */
static void init_waits_for_processes_that_store_logs(void **state)
{
        char dir[] = "/tmp/init-test-XXXXXX", script[64], done[64], command[200];
        assert_non_null(mkdtemp(dir));
        snprintf(done, sizeof(done), "%s/done", dir);
        for (int waits = 0; waits < 2; waits++) {
                snprintf(script, sizeof(script), "%s/%s", dir, waits ? LOG_SHIPPER_NAME : "other");
                FILE *file = fopen(script, "w");
                assert_non_null(file);
                fprintf(file, "#!/bin/sh\nsleep %s\ntouch %s\n", waits ? "0.3" : "1", done);
                assert_int_equal(fclose(file), 0);
                assert_int_equal(chmod(script, 0755), 0);
                snprintf(command, sizeof(command), "%s & while ! grep -q %.5s /proc/$!/comm; do :; done; exit 3",
                         script, waits ? LOG_SHIPPER_NAME : "other");
                assert_int_equal(run(command), 3);
                assert_int_equal(access(done, F_OK), waits ? 0 : -1);
                unlink(script);
        }
        unlink(done);
        rmdir(dir);
}

static void decommission_waits_for_end(void **state)
{
        sigset_t set;
        int status, number;
        struct fst_error error = FST_ERROR_INIT;
        sigemptyset(&set);
        sigaddset(&set, SIGPWR);
        sigprocmask(SIG_BLOCK, &set, NULL);
        pid_t pid = fork();
        if (pid == 0)
                _exit(sigwait(&set, &number) == 0 && number == SIGPWR ? 0 : 1);
        sigprocmask(SIG_UNBLOCK, &set, NULL);
        assert_int_equal(container_init_leave(pid, SIGPWR, 600000, &error), 0);
        assert_int_equal(waitpid(pid, &status, WNOHANG), pid);
        assert_int_equal(status, 0);
        assert_int_equal(container_init_leave(pid, SIGPWR, 600000, &error), -ESRCH);
        error_deinit(&error);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(init_waits_for_processes_that_store_logs),
                cmocka_unit_test(decommission_waits_for_end),
                cmocka_unit_test(completes_names),
                cmocka_unit_test(layer_is_independent_of_file_order),
                cmocka_unit_test(rejects_duplicate_path),
                cmocka_unit_test(strips_files_that_still_load),
                cmocka_unit_test(init_ends_with_status_of_program),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
