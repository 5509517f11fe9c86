/* Tests the allocators for protobuf-c: the limit of few bytes that become many, and refusal by the process's guard. */
#include "rpc/wire_memory.h"

#include "base/mem.h"
#include "rpc/control.pb-c.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define LARGE (2 * MEM_LARGE)

static bool refuse_large(size_t size)
{
        return size < MEM_LARGE;
}

/* Packs a status update with results of @bytes. The caller frees it. */
static uint8_t *pack_update(size_t bytes, size_t *len)
{
        uint8_t *results = mem_zero(bytes);
        Firesteel__RunStatus status = FIRESTEEL__RUN_STATUS__INIT;
        Firesteel__StatusUpdate update = FIRESTEEL__STATUS_UPDATE__INIT;
        status.results = (ProtobufCBinaryData){.data = results, .len = bytes};
        update.n_runs = 1;
        update.runs = &(Firesteel__RunStatus *){&status};
        *len = firesteel__status_update__get_packed_size(&update);
        uint8_t *packed = mem_alloc(*len);
        firesteel__status_update__pack(&update, packed);
        free(results);
        return packed;
}

static void a_refused_message_is_not_an_invalid_one(void **state)
{
        static const struct {
                const char *label;
                size_t bytes;
                size_t cut; /* from the end */
                bool guarded, read, refused;
        } cases[] = {
                {"small", 100, 0, true, true, false},
                {"large", LARGE, 0, false, true, false},
                {"large, refused", LARGE, 0, true, false, true},
                {"small, cut", 100, 1, true, false, false},
                {"large, cut", LARGE, 1, false, false, false},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                size_t len;
                uint8_t *packed = pack_update(cases[i].bytes, &len);
                struct wire_scratch scratch;
                ProtobufCAllocator allocator = wire_scratch_allocator(&scratch);
                mem_set_guard(cases[i].guarded ? refuse_large : NULL);
                Firesteel__StatusUpdate *update =
                        firesteel__status_update__unpack(&allocator, len - cases[i].cut, packed);
                mem_set_guard(NULL);
                if ((update != NULL) != cases[i].read || scratch.refused != cases[i].refused)
                        fail_msg("%s: read %d, refused %d", cases[i].label, update != NULL, scratch.refused);
                firesteel__status_update__free_unpacked(update, &allocator);
                free(packed);
        }
}

static void a_message_may_be_freed_without_the_allocator(void **state)
{
        size_t len;
        uint8_t *packed = pack_update(100, &len);
        Firesteel__StatusUpdate *update = firesteel__status_update__unpack(&wire_guarded, len, packed);
        assert_non_null(update);
        assert_int_equal(update->runs[0]->results.len, 100);
        firesteel__status_update__free_unpacked(update, NULL);
        free(packed);
}

static void scratch_holds_small_messages_and_lets_large_ones_out(void **state)
{
        struct wire_scratch scratch;
        const size_t results[] = {100, 3 * WIRE_SCRATCH_SIZE, 100};
        for (size_t i = 0; i < 3; i++) {
                ProtobufCAllocator allocator = wire_scratch_allocator(&scratch);
                size_t len;
                uint8_t *packed = pack_update(results[i], &len);
                Firesteel__StatusUpdate *update = firesteel__status_update__unpack(&allocator, len, packed);
                const char *at = (const char *)update->runs[0]->results.data;
                assert_int_equal(update->runs[0]->results.len, results[i]);
                assert_int_equal(at >= scratch.bytes && at < scratch.bytes + WIRE_SCRATCH_SIZE, results[i] == 100);
                assert_false(scratch.refused);
                firesteel__status_update__free_unpacked(update, &allocator);
                free(packed);
        }
}

static void the_arena_ends_decoding_at_its_limit(void **state)
{
        struct wire_memory memory = {.left = 1000};
        ProtobufCAllocator allocator = wire_memory_allocator(&memory);
        size_t len;
        uint8_t *packed = pack_update(2000, &len);
        assert_null(firesteel__status_update__unpack(&allocator, len, packed));
        assert_null(wire_array(&memory, SIZE_MAX / 2, 4));
        arena_deinit(&memory.arena);
        free(packed);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_refused_message_is_not_an_invalid_one),
                cmocka_unit_test(a_message_may_be_freed_without_the_allocator),
                cmocka_unit_test(scratch_holds_small_messages_and_lets_large_ones_out),
                cmocka_unit_test(the_arena_ends_decoding_at_its_limit),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
