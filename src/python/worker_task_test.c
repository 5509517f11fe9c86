/* The head of a task, byte by byte, for each version of pyspark. */
#include "python/worker_task.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define BYTES(literal) (literal), sizeof(literal) - 1

#define SPLIT_PYTHON "\0\0\0\7\0\0\0\0043.11"
/* stage 1, partition 2, attempt 3, task 4, one cpu, gpu [0, 1], property k = v */
#define FIELDS                                                                                                         \
        "\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\0\0\0\0\4\0\0\0\1\0\0\0\1\0\0\0\3gpu\0\0\0\3gpu\0\0\0\2\0\0\0\0010\0\0\0\0011" \
        "\0\0\0\1\0\0\0\1k\0\0\0\1v"
#define JSON(barrier, conn, secret, cpu)                                                                               \
        "{\"isBarrier\":" barrier ",\"connInfo\":" conn ",\"secret\":" secret                                          \
        ",\"stageId\":1,\"partitionId\":2,\"attemptNumber\":3,\"taskAttemptId\":4,\"cpus\":1," cpu                     \
        "\"resources\":{\"gpu\":{\"name\":\"gpu\",\"addresses\":[\"0\",\"1\"]}},\"localProperties\":{\"k\":\"v\"}}"
/* root /f, include a.zip; broadcast 5 comes, 6 goes; no SQL */
#define FILES "\0\0\0\2/f\0\0\0\1\0\0\0\5a.zip"
#define BROADCASTS "\0\0\0\0\2\0\0\0\0\0\0\0\5\0\0\0\2/b\377\377\377\377\377\377\377\371"
#define COMMAND "\0\0\0\0\0\0\0\3cmd"
#define COMMAND_CONF "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\3cmd"

static const struct {
        int version;
        bool barrier;
        const char *bytes;
        size_t len;
} heads[] = {
        {305, false, BYTES(SPLIT_PYTHON "\0\377\377\377\377\0\0\0\0" FIELDS FILES BROADCASTS COMMAND)},
        {400, false, BYTES(SPLIT_PYTHON "\0\377\377\377\377\0\0\0\0" FIELDS FILES BROADCASTS COMMAND)},
        {400, true, BYTES(SPLIT_PYTHON "\1\0\0\1\2\0\0\0\2xy" FIELDS FILES BROADCASTS COMMAND)},
        {401, false, BYTES(SPLIT_PYTHON "\0" FIELDS FILES BROADCASTS COMMAND)},
        {401, true, BYTES(SPLIT_PYTHON "\1\0\0\1\2\0\0\0\2xy" FIELDS FILES BROADCASTS COMMAND)},
        {402, false, BYTES(SPLIT_PYTHON "\0\0\0\315" JSON("false", "-1", "null", "") FILES BROADCASTS COMMAND_CONF)},
        {403, false,
         BYTES("\377\377\377\370\0\0\1\56" SPLIT_PYTHON "\0\0\0\335" JSON("false", "-1", "null", "\"cpuAmount\":\"1\",")
                       FILES BROADCASTS COMMAND_CONF)},
        {403, true,
         BYTES("\377\377\377\370\0\0\1\56" SPLIT_PYTHON
               "\0\0\0\335" JSON("true", "258", "\"xy\"", "\"cpuAmount\":\"1\",") FILES BROADCASTS COMMAND_CONF)},
};

static void writes_the_layout_of_each_version(void **state)
{
        static const char *const addresses[] = {"0", "1"}, *const includes[] = {"a.zip"};
        static const struct python_resource gpu = {"gpu", addresses, 2};
        static const struct python_broadcast broadcasts[] = {{.id = 5, .path = "/b"}, {.id = 6, .forget = true}};
        _cleanup_(strmap_deinit) struct strmap properties = STRMAP_INIT;
        strmap_set(&properties, "k", "v");
        for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
                CASE_LABEL("version %d, barrier %d", heads[i].version, heads[i].barrier);
                _cleanup_(buf_deinit) struct buf out = BUF_INIT;
                struct python_task t = {.version = heads[i].version,
                                        .split = 7,
                                        .python = "3.11",
                                        .stage = 1,
                                        .partition = 2,
                                        .attempt = 3,
                                        .task_id = 4,
                                        .cpus = 1,
                                        .barrier = heads[i].barrier,
                                        .barrier_port = 258,
                                        .barrier_secret = "xy",
                                        .resources = &gpu,
                                        .n_resources = 1,
                                        .properties = &properties,
                                        .files = "/f",
                                        .includes = includes,
                                        .n_includes = 1,
                                        .broadcasts = broadcasts,
                                        .n_broadcasts = 2,
                                        .command = "cmd",
                                        .command_len = 3};
                python_task_write(&t, &out);
                assert_int_equal(out.len, heads[i].len);
                assert_memory_equal(out.data, heads[i].bytes, out.len);
        }
}

static void sends_no_files_of_encrypted_values(void **state)
{
        static const struct python_broadcast broadcasts[] = {{.id = 5}, {.id = 6, .forget = true}};
        static const char end[] = "\1\0\0\0\2\0\0\1\2\0\0\0\2xy\0\0\0\0\0\0\0\5"
                                  "\377\377\377\377\377\377\377\371" COMMAND;
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        struct python_task t = {.version = 400,
                                .broadcasts = broadcasts,
                                .n_broadcasts = 2,
                                .broadcast_port = 258,
                                .broadcast_secret = "xy",
                                .command = "cmd",
                                .command_len = 3};
        python_task_write(&t, &out);
        assert_true(out.len > sizeof(end));
        assert_memory_equal(out.data + out.len - (sizeof(end) - 1), end, sizeof(end) - 1);
}

static void reads_versions(void **state)
{
        static const struct {
                const char *text;
                int version;
        } cases[] = {{"3.5.9", 305}, {"4.0.0", 400},    {"4.3.0.dev0", 403}, {"4.10", 410}, {"4", 0},
                     {"", 0},        {"no version", 0}, {"4.x", 0},          {"4.1234", 0}, {NULL, 0}};
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%s", cases[i].text ? cases[i].text : "NULL");
                assert_int_equal(python_version_parse(cases[i].text), cases[i].version);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(writes_the_layout_of_each_version),
                cmocka_unit_test(sends_no_files_of_encrypted_values),
                cmocka_unit_test(reads_versions),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
