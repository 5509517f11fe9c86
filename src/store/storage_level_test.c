/* Tests the meaning of each level, as in Spark 4.3, and the level of blocks. */
#include "store/storage_level.h"

#include "base/mem.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

/* Formats a level as StorageLevel.description does. */
static void describe(struct storage_level l, char text[static 64])
{
        snprintf(text, 64, "%s%s%s %dx Replicated", l.disk ? "Disk " : "",
                 !l.memory    ? ""
                 : l.off_heap ? "Memory (off heap) "
                              : "Memory ",
                 l.deserialized ? "Deserialized" : "Serialized", l.replicas);
}

static void levels_match_spark(void **state)
{
        static const struct {
                enum fst_storage_level level;
                const char *description;
        } table[] = {
                {FST_STORAGE_DISK_ONLY, "Disk Serialized 1x Replicated"},
                {FST_STORAGE_DISK_ONLY_2, "Disk Serialized 2x Replicated"},
                {FST_STORAGE_DISK_ONLY_3, "Disk Serialized 3x Replicated"},
                {FST_STORAGE_MEMORY_ONLY, "Memory Deserialized 1x Replicated"},
                {FST_STORAGE_MEMORY_ONLY_2, "Memory Deserialized 2x Replicated"},
                {FST_STORAGE_MEMORY_ONLY_SER, "Memory Serialized 1x Replicated"},
                {FST_STORAGE_MEMORY_ONLY_SER_2, "Memory Serialized 2x Replicated"},
                {FST_STORAGE_MEMORY_AND_DISK, "Disk Memory Deserialized 1x Replicated"},
                {FST_STORAGE_MEMORY_AND_DISK_2, "Disk Memory Deserialized 2x Replicated"},
                {FST_STORAGE_MEMORY_AND_DISK_SER, "Disk Memory Serialized 1x Replicated"},
                {FST_STORAGE_MEMORY_AND_DISK_SER_2, "Disk Memory Serialized 2x Replicated"},
                {FST_STORAGE_OFF_HEAP, "Disk Memory (off heap) Serialized 1x Replicated"},
        };
        assert_int_equal(ARRAY_SIZE(table), FST_STORAGE_OFF_HEAP);
        for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
                CASE_LABEL("%zu of table: level %d, description \"%s\"", i, table[i].level,
                           table[i].description ? table[i].description : "(none)");
                char text[64];
                assert_true(storage_level_valid(table[i].level));
                describe(storage_levels[table[i].level], text);
                assert_string_equal(text, table[i].description);
        }
        assert_true(storage_level_valid(FST_STORAGE_NONE));
        assert_false(storage_level_valid(-1));
        assert_false(storage_level_valid(FST_STORAGE_OFF_HEAP + 1));
        assert_int_equal(storage_level_replicas(FST_STORAGE_NONE), 0);
}

static void a_block_has_the_level_of_its_location(void **state)
{
        static const struct {
                enum fst_storage_level level;
                int memory, disk;
                const char *description;
        } table[] = {
                {FST_STORAGE_MEMORY_AND_DISK, 10, 0, "Memory Deserialized 1x Replicated"},
                {FST_STORAGE_MEMORY_AND_DISK, 0, 10, "Disk Serialized 1x Replicated"},
                {FST_STORAGE_MEMORY_AND_DISK_SER_2, 10, 0, "Memory Serialized 2x Replicated"},
                {FST_STORAGE_MEMORY_ONLY, 0, 0, "Memory Deserialized 1x Replicated"},
                {FST_STORAGE_DISK_ONLY_2, 0, 0, "Disk Serialized 2x Replicated"},
                {FST_STORAGE_OFF_HEAP, 10, 0, "Memory (off heap) Serialized 1x Replicated"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
                CASE_LABEL("%zu of table: level %d, memory %d, disk %d, description \"%s\"", i, table[i].level,
                           table[i].memory, table[i].disk, table[i].description ? table[i].description : "(none)");
                char text[64];
                describe(storage_level_of_block(table[i].level, table[i].memory, table[i].disk), text);
                assert_string_equal(text, table[i].description);
        }
        /* Off heap even on disk, as in Spark. */
        assert_true(storage_level_of_block(FST_STORAGE_OFF_HEAP, 0, 10).off_heap);
        assert_false(storage_level_of_block(FST_STORAGE_NONE, 0, 0).memory);
        assert_false(storage_level_of_block(FST_STORAGE_NONE, 0, 0).disk);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(levels_match_spark),
                cmocka_unit_test(a_block_has_the_level_of_its_location),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
