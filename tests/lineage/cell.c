/* See cell.h. */
#include "cell.h"

#include "base/mem.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

uint64_t mix(uint64_t a, uint64_t b)
{
        uint64_t z = a * 0x9e3779b97f4a7c15u + b + 0x2545f4914f6cdd1du;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
}

fst_type type_key(fst_type type)
{
        return (fst_type){.key = type.key, .key_size = type.key_size};
}

fst_type type_value(fst_type type)
{
        return (fst_type){.key = type.value, .key_size = type.value_size};
}

bool type_equal(fst_type a, fst_type b)
{
        return a.key == b.key && a.value == b.value && a.key_size == b.key_size && a.value_size == b.value_size;
}

static int column_text(char *text, size_t size, fst_type column)
{
        static const char *const names[] = {"", "I64", "F64", "BYTES", "FIXED"};
        return column.key == FST_KIND_FIXED ? snprintf(text, size, "FIXED(%u)", column.key_size)
                                            : snprintf(text, size, "%s", names[column.key]);
}

const char *type_text(fst_type type)
{
        static __thread char texts[4][48];
        static __thread unsigned next;
        char *text = texts[next++ % 4], key[20], value[20];
        column_text(key, sizeof(key), type_key(type));
        column_text(value, sizeof(value), type_value(type));
        snprintf(text, sizeof(texts[0]), type.value ? "(%s, %s)" : "%s", key, value);
        return text;
}

/* ------------------------------------------------------------------------------------------- hashes and order */

static uint64_t bytes_hash(fst_bytes b)
{
        uint64_t h = b.len, word;
        size_t i = 0;
        for (; i + 8 <= b.len; i += 8) {
                memcpy(&word, b.data + i, 8);
                h = mix(h, word);
        }
        word = 0;
        if (i < b.len)
                memcpy(&word, b.data + i, b.len - i);
        return mix(h, word);
}

uint64_t cell_hash(struct cell c)
{
        uint64_t bits = 0;
        switch (c.kind) {
        case FST_KIND_NONE:
                return 1;
        case FST_KIND_I64:
                return mix((uint64_t)c.i64, 2);
        case FST_KIND_F64:
                if (isnan(c.f64))
                        return 3;
                if (c.f64 != 0)
                        memcpy(&bits, &c.f64, 8);
                return mix(bits, 4);
        default:
                return mix(bytes_hash(c.bytes), c.kind);
        }
}

uint64_t row_hash(struct row r)
{
        return r.value.kind ? mix(cell_hash(r.key), cell_hash(r.value)) : cell_hash(r.key);
}

static int compare_f64(double a, double b)
{
        if (isnan(a) || isnan(b))
                return isnan(a) - isnan(b);
        return (a > b) - (a < b);
}

int cell_compare(struct cell a, struct cell b)
{
        if (a.kind != b.kind)
                return a.kind - b.kind;
        switch (a.kind) {
        case FST_KIND_NONE:
                return 0;
        case FST_KIND_I64:
                return (a.i64 > b.i64) - (a.i64 < b.i64);
        case FST_KIND_F64:
                return compare_f64(a.f64, b.f64);
        default: {
                size_t n = MIN(a.bytes.len, b.bytes.len);
                int order = n ? memcmp(a.bytes.data, b.bytes.data, n) : 0;
                return order ? order : (a.bytes.len > b.bytes.len) - (a.bytes.len < b.bytes.len);
        }
        }
}

int cell_order(struct cell a, struct cell b)
{
        int order = cell_compare(a, b);
        bool zeros = order == 0 && a.kind == FST_KIND_F64 && a.f64 == 0;
        return zeros ? !!signbit(b.f64) - !!signbit(a.f64) : order;
}

int row_order(struct row a, struct row b)
{
        int order = cell_order(a.key, b.key);
        return order ? order : cell_order(a.value, b.value);
}

int row_compare(struct row a, struct row b)
{
        int order = cell_compare(a.key, b.key);
        return order ? order : cell_compare(a.value, b.value);
}

/* ------------------------------------------------------------------------------------------------ making values */

static struct cell make_i64(uint64_t number, int odd)
{
        static const int64_t extremes[] = {INT64_MIN, INT64_MAX, -1, INT32_MIN, INT64_C(1) << 53};
        if ((odd & ODD_VALUES) && number % 11 == 3)
                return cell_i64(extremes[number % 5]);
        return cell_i64((int64_t)number - 20);
}

static struct cell make_f64(uint64_t number, int odd)
{
        static const double extremes[] = {INFINITY, -INFINITY, 5e-324, 1.7976931348623157e308, -0.1};
        if ((odd & ODD_VALUES) && number % 11 == 3)
                return cell_f64(number % 2 ? (double)NAN : extremes[number % 5]);
        if ((odd & ODD_ZEROS) && number % 7 == 2)
                return cell_f64(-0.0);
        return cell_f64(((double)number - 20) / 4);
}

static struct cell make_bytes(uint64_t number, int odd, char *room)
{
        uint64_t dice = mix(number, 9);
        size_t pad = dice % 24;
        if (number % 23 == 7)
                return cell_bytes((fst_bytes){room, 0});
        if ((odd & ODD_VALUES) && dice % 61 == 0)
                pad = dice % 2441 == 0 ? 70000 : 3000;
        int n = snprintf(room, 32, "%" PRIu64 "/", number);
        memset(room + n, (int)('a' + dice % 16), pad);
        if (pad && (odd & ODD_VALUES) && number % 5 == 0)
                room[n] = (char)(dice % 2 ? 0 : 0xff);
        return cell_bytes((fst_bytes){room, (size_t)n + pad});
}

static struct cell make_fixed(size_t size, uint64_t number, char *room)
{
        for (size_t i = 0; i < size; i += 8) {
                uint64_t word = mix(number, i);
                memcpy(room + i, &word, MIN(size - i, (size_t)8));
        }
        return cell_fixed(room, size);
}

struct cell cell_make(fst_type column, uint64_t number, int odd, char *room)
{
        switch (column.key) {
        case FST_KIND_I64:
                return make_i64(number, odd);
        case FST_KIND_F64:
                return make_f64(number, odd);
        case FST_KIND_BYTES:
                return make_bytes(number, odd, room);
        case FST_KIND_FIXED:
                return make_fixed(column.key_size, number, room);
        default:
                return (struct cell){0};
        }
}

/* --------------------------------------------------------------------------------------------------------- sums */

struct cell cell_zero(fst_type column, char *room)
{
        switch (column.key) {
        case FST_KIND_I64:
                return cell_i64(0);
        case FST_KIND_F64:
                return cell_f64(0);
        case FST_KIND_BYTES:
                return cell_bytes((fst_bytes){room, 0});
        default:
                memset(room, 0, column.key_size);
                return cell_fixed(room, column.key_size);
        }
}

/* The number of a cell for sums. Bytes that are a sum already have it as text; otherwise it is made from them. */
static uint64_t number_of(fst_bytes b)
{
        char digits[32] = {0}, *end;
        if (b.len == 0)
                return 0;
        if (b.len < sizeof(digits) && b.data[0] == '#') {
                memcpy(digits, b.data + 1, b.len - 1);
                uint64_t number = strtoull(digits, &end, 10);
                if (end == digits + b.len - 1)
                        return number;
        }
        return bytes_hash(b);
}

struct cell cell_add(struct cell a, struct cell b, char *room)
{
        switch (a.kind) {
        case FST_KIND_I64:
                return cell_i64((int64_t)((uint64_t)a.i64 + (uint64_t)b.i64));
        case FST_KIND_F64:
                return cell_f64(a.f64 + b.f64);
        case FST_KIND_BYTES: {
                uint64_t sum = number_of(a.bytes) + number_of(b.bytes);
                return cell_bytes((fst_bytes){room, (size_t)snprintf(room, 32, "#%" PRIu64, sum)});
        }
        default:
                for (size_t i = 0; i < a.bytes.len; i++)
                        room[i] = (char)((unsigned char)a.bytes.data[i] + (unsigned char)b.bytes.data[i]);
                return cell_fixed(room, a.bytes.len);
        }
}

struct cell cell_add_number(struct cell a, uint64_t number, char *room)
{
        char text[512];
        switch (a.kind) {
        case FST_KIND_I64:
                return cell_add(a, cell_i64((int64_t)number), room);
        case FST_KIND_F64:
                return cell_add(a, cell_f64((double)(number % 1000) / 4), room);
        case FST_KIND_BYTES:
                snprintf(text, sizeof(text), "#%" PRIu64, number);
                return cell_add(a, cell_bytes(fst_bytes_of(text)), room);
        default:
                return cell_add(a, make_fixed(MIN(a.bytes.len, sizeof(text) - 8), number, text), room);
        }
}

struct cell cell_text(struct cell c, char *room)
{
        if (c.kind != FST_KIND_I64)
                return c;
        return cell_bytes((fst_bytes){room, (size_t)snprintf(room, MAX_CELL_TEXT, "%" PRId64, c.i64)});
}

/* ------------------------------------------------------------------------------------------------- in an arena */

static struct cell cell_keep(struct arena *arena, struct cell c)
{
        if (c.kind == FST_KIND_BYTES || c.kind == FST_KIND_FIXED)
                c.bytes.data = arena_copy(arena, c.bytes.data, c.bytes.len);
        return c;
}

struct row row_keep(struct arena *arena, struct row r)
{
        return (struct row){cell_keep(arena, r.key), cell_keep(arena, r.value)};
}

void rows_add(struct arena *arena, struct rows *rows, struct row r)
{
        if (rows->n == rows->room) {
                struct row *old = rows->at;
                rows->room = MAX(rows->room * 2, (size_t)8);
                rows->at = arena_alloc(arena, rows->room * sizeof(r));
                if (rows->n)
                        memcpy(rows->at, old, rows->n * sizeof(r));
        }
        rows->at[rows->n++] = r;
}

static size_t put_cell(char *to, struct cell c)
{
        if (c.kind == FST_KIND_NONE)
                return 0;
        if (c.kind == FST_KIND_I64)
                memcpy(to, &c.i64, 8);
        else if (c.kind == FST_KIND_F64)
                memcpy(to, &c.f64, 8);
        else if (c.bytes.len)
                memcpy(to, c.bytes.data, c.bytes.len);
        return c.kind <= FST_KIND_F64 ? 8 : c.bytes.len;
}

void list_add(struct arena *arena, struct list *list, struct row r)
{
        size_t most = list->len + r.key.bytes.len + r.value.bytes.len + 24;
        if (most > list->room) {
                char *old = list->at;
                list->room = most * 2;
                list->at = arena_alloc(arena, list->room);
                if (list->len)
                        memcpy(list->at, old, list->len);
        }
        char *at = list->at + list->len;
        if (r.key.kind == FST_KIND_BYTES)
                at = (char *)memcpy(at, &(uint32_t){(uint32_t)r.key.bytes.len}, 4) + 4;
        if (r.value.kind == FST_KIND_BYTES)
                at = (char *)memcpy(at, &(uint32_t){(uint32_t)r.value.bytes.len}, 4) + 4;
        at += put_cell(at, r.key);
        at += put_cell(at, r.value);
        list->len = (size_t)(at - list->at);
}

struct cell list_cell(const struct list *list)
{
        return cell_bytes((fst_bytes){list->len ? list->at : "", list->len});
}

/* --------------------------------------------------------------------------------------------------- for people */

static void cell_print(struct cell c, char *text, size_t size)
{
        size_t n = 0;
        if (c.kind == FST_KIND_I64) {
                snprintf(text, size, "%" PRId64, c.i64);
        } else if (c.kind == FST_KIND_F64) {
                snprintf(text, size, "%.17g", c.f64);
        } else if (c.kind == FST_KIND_NONE) {
                snprintf(text, size, "-");
        } else {
                n = (size_t)snprintf(text, size, "%zu bytes ", c.bytes.len);
                for (size_t i = 0; i < c.bytes.len && i < 24 && n + 4 < size; i++) {
                        unsigned char x = (unsigned char)c.bytes.data[i];
                        n += (size_t)snprintf(text + n, size - n, x > ' ' && x < 127 ? "%c" : "\\x%02x", x);
                }
        }
}

void row_print(struct row r, char *text, size_t size)
{
        char key[160], value[160];
        cell_print(r.key, key, sizeof(key));
        cell_print(r.value, value, sizeof(value));
        snprintf(text, size, r.value.kind ? "(%s, %s)" : "%s", key, value);
}
