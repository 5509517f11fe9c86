/* Compatible versions, and rejection of malformed messages. */
#include "standalone/wire/standalone_wire.h"

#include "base/error.h"
#include "base/mem.h"

#include <stdbool.h>

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
// clang-format on

static void check(uint32_t major, uint32_t minor, bool welcome)
{
        struct fst_error error = FST_ERROR_INIT;
        Firesteel__Standalone__Version version = standalone_version();
        version.major = major;
        version.minor = minor;
        version.software = (char *)"firesteel 9.8.7";
        int r = standalone_version_check(&version, "the worker", "the master", &error);
        assert_int_equal(r, welcome ? 0 : -EPROTO);
        if (!welcome) {
                assert_non_null(strstr(error_message(&error), "the worker is firesteel 9.8.7 with version"));
                assert_non_null(strstr(error_message(&error), "the master is firesteel " FIRESTEEL_VERSION));
        }
        error_deinit(&error);
}

static void test_versions_one_minor_apart_are_taken(void **state)
{
        (void)state;
        check(STANDALONE_MAJOR, STANDALONE_MINOR, true);
        check(STANDALONE_MAJOR, STANDALONE_MINOR + 1, true);
        check(STANDALONE_MAJOR, STANDALONE_MINOR + 2, false);
        check(STANDALONE_MAJOR, UINT32_MAX, false);
        check(STANDALONE_MAJOR + 1, STANDALONE_MINOR, false);
}

static void test_no_version_is_refused(void **state)
{
        (void)state;
        struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(standalone_version_check(NULL, "the worker", "the master", &error), -EPROTO);
        assert_string_equal(error_message(&error), "the worker sent no version; the master is "
                                                   "firesteel " FIRESTEEL_VERSION);
        error_deinit(&error);
}

static void test_a_message_comes_back_as_it_was_packed(void **state)
{
        (void)state;
        Firesteel__Standalone__Version version = standalone_version();
        Firesteel__Standalone__RegisterWorker worker = FIRESTEEL__STANDALONE__REGISTER_WORKER__INIT;
        worker.version = &version;
        worker.id = (char *)"worker-1";
        worker.cores = 4;
        worker.memory = 1234;
        size_t size;
        _cleanup_free_ void *data = standalone_pack(&worker.base, &size);
        _cleanup_(standalone_memory_deinit) struct wire_memory memory = wire_memory_for(size);
        Firesteel__Standalone__RegisterWorker *back =
                standalone_decode(data, size, &firesteel__standalone__register_worker__descriptor, &memory, NULL);
        assert_non_null(back);
        assert_int_equal(standalone_version_check(back->version, "it", "this", NULL), 0);
        assert_string_equal(back->id, "worker-1");
        assert_string_equal(back->host, "");
        assert_int_equal(back->cores, 4);
        assert_int_equal(back->memory, 1234);
}

static void test_bytes_that_are_no_message_name_it(void **state)
{
        (void)state;
        struct fst_error error = FST_ERROR_INIT;
        _cleanup_(standalone_memory_deinit) struct wire_memory memory = wire_memory_for(3);
        assert_null(
                standalone_decode("\xff\xff\xff", 3, &firesteel__standalone__worker_id__descriptor, &memory, &error));
        assert_string_equal(error_message(&error), "3 bytes are not a valid WorkerId");
        error_deinit(&error);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_versions_one_minor_apart_are_taken),
                cmocka_unit_test(test_no_version_is_refused),
                cmocka_unit_test(test_a_message_comes_back_as_it_was_packed),
                cmocka_unit_test(test_bytes_that_are_no_message_name_it),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
