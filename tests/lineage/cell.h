/*
 * Values of rows in the property test of lineages: one struct for all kinds, so that the test's semantics are written
 * once for all types. Nothing here calls the engine.
 *
 * Order and equality are those of include/firesteel/pair.h: numbers by value, -0.0 as 0.0, NaN as the greatest and
 * equal to itself; bytes as unsigned bytes.
 */
#pragma once

#include "base/arena.h"

#include <firesteel/firesteel.h>

/* One column of a row. Bytes of BYTES and FIXED are borrowed. */
struct cell {
        uint8_t kind; /* enum fst_kind; NONE: no value */
        union {
                int64_t i64;
                double f64;
        };
        fst_bytes bytes;
};

struct row {
        struct cell key, value;
};

/* Rows in an arena. */
struct rows {
        struct row *at;
        size_t n, room;
};

/* The maximum length of the bytes in one column of a generated row. */
#define MAX_CELL_BYTES 72000
struct cell_room {
        char key[MAX_CELL_BYTES], value[MAX_CELL_BYTES];
};

uint64_t mix(uint64_t a, uint64_t b);

static inline struct cell cell_i64(int64_t x)
{
        return (struct cell){.kind = FST_KIND_I64, .i64 = x};
}

static inline struct cell cell_f64(double x)
{
        return (struct cell){.kind = FST_KIND_F64, .f64 = x};
}

static inline struct cell cell_bytes(fst_bytes x)
{
        return (struct cell){.kind = FST_KIND_BYTES, .bytes = x};
}

static inline struct cell cell_fixed(const void *x, size_t size)
{
        return (struct cell){.kind = FST_KIND_FIXED, .bytes = {x, size}};
}

/* Return the type of one column of @type. */
fst_type type_key(fst_type type);
fst_type type_value(fst_type type);
bool type_equal(fst_type a, fst_type b);
const char *type_text(fst_type type); /* in a buffer of the thread, valid until the fourth call */

/* Equal cells have equal hashes. The hash of a row combines those of its cells. */
uint64_t cell_hash(struct cell c);
uint64_t row_hash(struct row r);

/* cell_compare returns 0 for equal cells. cell_order keeps equal cells together, and puts -0.0 before 0.0. */
int cell_compare(struct cell a, struct cell b);
int cell_order(struct cell a, struct cell b);
int row_compare(struct row a, struct row b);
int row_order(struct row a, struct row b);

/* Unusual values that a lineage may produce. */
enum { ODD_VALUES = 1 /* extremes, NaN, infinities, long bytes */, ODD_ZEROS = 2 /* -0.0 */ };

/* Makes a value of type @column from @number. Usual values are distinct for distinct numbers. Bytes are in @room. */
struct cell cell_make(fst_type column, uint64_t number, int odd, char *room);

/*
 * Sums of any kind: the neutral value, and the sum with a cell or a number. Associative and commutative. Bytes are in
 * @room. I64 wraps around, F64 is exact without ODD_VALUES, FIXED is added byte by byte.
 */
struct cell cell_zero(fst_type column, char *room);
struct cell cell_add(struct cell a, struct cell b, char *room);
struct cell cell_add_number(struct cell a, uint64_t number, char *room);

/* Returns an I64 as text, in @room, and bytes unchanged. */
#define MAX_CELL_TEXT 32
struct cell cell_text(struct cell c, char *room);

/* Copy rows with their bytes into @arena. */
struct row row_keep(struct arena *arena, struct row r);
void rows_add(struct arena *arena, struct rows *rows, struct row r); /* without its bytes */

/* A list in the form of firesteel/list.h, in an arena. list_add appends @r. */
struct list {
        char *at;
        size_t len, room;
};
void list_add(struct arena *arena, struct list *list, struct row r);
struct cell list_cell(const struct list *list);

/* Writes @r to @text for messages, truncated to @size. */
void row_print(struct row r, char *text, size_t size);
