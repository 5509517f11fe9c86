/*
 * Values of rows as the property test of lineages has them: one struct for all kinds, so that what a row means is
 * written once for all types. Nothing here asks the engine.
 *
 * Order and equality are those of include/firesteel/pair.h: numbers by value, -0.0 as 0.0, NaN as the greatest and
 * equal to itself; bytes as unsigned bytes.
 */
#pragma once

#include "base/arena.h"

#include <firesteel/firesteel.h>

/* One column of a row. Bytes of BYTES and FIXED are borrowed. */
struct cell {
        uint8_t kind; /* enum fst_kind; NONE: there is none */
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

/* Memory for the bytes of a row that is being made, of at most this many in each column. */
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

/* The columns of @type as types of their own. */
fst_type type_key(fst_type type);
fst_type type_value(fst_type type);
bool type_equal(fst_type a, fst_type b);
const char *type_text(fst_type type); /* of the thread's own, until the fourth call */

/* The same for cells that are equal. A row's is made of both. */
uint64_t cell_hash(struct cell c);
uint64_t row_hash(struct row r);

/* 0 if they are equal. Sorted by cell_order, equal ones are together; it has -0.0 before 0.0. */
int cell_compare(struct cell a, struct cell b);
int cell_order(struct cell a, struct cell b);
int row_compare(struct row a, struct row b);
int row_order(struct row a, struct row b);

/* What is unusual among the values that a lineage makes. */
enum { ODD_VALUES = 1 /* extremes, NaN, infinities, long bytes */, ODD_ZEROS = 2 /* -0.0 */ };

/* The value of type @column (one column) for @number: others for others, but for unusual ones. Bytes lie in @room. */
struct cell cell_make(fst_type column, uint64_t number, int odd, char *room);

/*
 * A sum of any kind: neutral, and with a cell or a number added. It is associative and commutative. Bytes lie in @room.
 * I64 wraps; F64 is exact as long as ODD_VALUES are not about; FIXED are added byte by byte.
 */
struct cell cell_zero(fst_type column, char *room);
struct cell cell_add(struct cell a, struct cell b, char *room);
struct cell cell_add_number(struct cell a, uint64_t number, char *room);

/* An I64 as text, bytes as they are. The text lies in @room. */
#define MAX_CELL_TEXT 32
struct cell cell_text(struct cell c, char *room);

/* Copies in @arena, of rows with their bytes. */
struct row row_keep(struct arena *arena, struct row r);
void rows_add(struct arena *arena, struct rows *rows, struct row r); /* without its bytes */

/* A list as firesteel/list.h has it, in an arena; @r as one more element. */
struct list {
        char *at;
        size_t len, room;
};
void list_add(struct arena *arena, struct list *list, struct row r);
struct cell list_cell(const struct list *list);

/* For people: into @text, cut off where it does not fit. */
void row_print(struct row r, char *text, size_t size);
