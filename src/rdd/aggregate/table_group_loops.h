/*
 * The loops that load a group (table_group.h), for each size of vectors.
 */
#pragma once

#include "rdd/aggregate/table_group.h"

/* What a home depends on, copied so that the compiler can keep it in registers across stores. */
struct slot_home_params {
        union {
                struct table_slot *slots;
                struct number_slot *numbers;
        };
        uint64_t capacity;
        uint32_t seed;
};

struct table_group_loops {
        void (*load_bytes)(struct slot_home_params place, struct group_row *rows, const fst_bytes *keys, uint32_t n);
        /* @n is a multiple of 8. NULL: pieces are loaded as bytes. */
        void (*load_pieces)(struct slot_home_params place, struct group_row *rows, const char *text,
                            const uint32_t *ends, uint32_t n);
        void (*load_i64)(struct slot_home_params place, struct group_number *numbers, const int64_t *keys, uint32_t n);
        void (*find_numbers)(const struct group_number *numbers, uint32_t n, uint8_t *found); /* NULL: that of plain */
};

extern const struct table_group_loops table_group_loops_plain;

/* Vectors load keys of 1 to 16 bytes by reading 16 bytes in the page where the key begins; see pipeline/key.h. */
#if defined(__x86_64__) && !KEY_EXACT_LOADS
#define TABLE_GROUP_VECTORS 1
extern const struct table_group_loops table_group_loops_avx2, table_group_loops_avx512;
#else
#define TABLE_GROUP_VECTORS 0
#endif

/* The loops that this processor can run, fastest first, at most 3. Returns their number. */
size_t table_group_loops_here(const struct table_group_loops *loops[static 3]);
