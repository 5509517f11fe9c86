/*
 * See pickle.h. A pickle is a program for a machine with a stack, marks and a memo. The stack holds whole values, one
 * after another in `values`; `tops` has the index at which each begins. A value with elements comes before them, so
 * closing a list inserts its head at the mark.
 *
 * Python appends to a list in pieces of 1,000 elements. The list's head is on the stack below the mark then, and grows
 * by the elements, which already lie behind it.
 */
#include "io/pickle.h"

#include "base/error.h"
#include "base/mem.h"

#include <endian.h>
#include <stdio.h>

/* Each level of nested tuples moves its elements once. */
#define PICKLE_MAX_MOVED ((size_t)1 << 25)

struct pickle_memo {
        uint64_t key;
        size_t at, size; /* a copy in `memoized` */
};

struct pickle_machine {
        const unsigned char *start, *at, *end;
        pickle_values *values;
        VEC(size_t) tops;
        VEC(size_t) marks; /* numbers of values on the stack */
        pickle_values memoized;
        VEC(struct pickle_memo) memo;
        size_t moved; /* values, to make room for heads */
        uint64_t memo_next;
        struct fst_error *error;
};

const char *pickle_kind_name(enum pickle_kind kind)
{
        static const char *const names[] = {
                [PICKLE_NONE] = "None", [PICKLE_BOOL] = "bool",   [PICKLE_INT] = "int",
                [PICKLE_BIG] = "int",   [PICKLE_FLOAT] = "float", [PICKLE_TEXT] = "str",
                [PICKLE_BYTES] = "bytes", [PICKLE_LIST] = "list", [PICKLE_TUPLE] = "tuple"};
        return names[kind];
}

static int pickle_damaged(const struct pickle_machine *m, const char *what)
{
        return error_set(m->error, -EBADMSG, "a damaged pickle at byte %zu: %s", (size_t)(m->at - m->start), what);
}

static size_t pickle_left(const struct pickle_machine *m)
{
        return (size_t)(m->end - m->at);
}

/* Reads a little-endian number of @size bytes, at most 8. */
static int pickle_number(struct pickle_machine *m, size_t size, uint64_t *value)
{
        *value = 0;
        if (pickle_left(m) < size)
                return pickle_damaged(m, "it is truncated");
        for (size_t i = 0; i < size; i++)
                *value |= (uint64_t)m->at[i] << 8 * i;
        m->at += size;
        return 0;
}

/* Reads a length of @size bytes and a view of so many bytes. */
static int pickle_view(struct pickle_machine *m, size_t size, fst_bytes *view)
{
        uint64_t len;
        int r = pickle_number(m, size, &len);
        if (r)
                return r;
        if (pickle_left(m) < len)
                return pickle_damaged(m, "a text or number is truncated");
        *view = (fst_bytes){(const char *)m->at, len};
        m->at += len;
        return 0;
}

/* ---------------------------------------------------------------------------------------------------- the stack */

static int pickle_push(struct pickle_machine *m, struct pickle_value value)
{
        if (m->values->len >= PICKLE_MAX_VALUES)
                return error_set(m->error, -E2BIG, "a pickle has more than %zu values", PICKLE_MAX_VALUES);
        value.size = 1;
        vec_push(&m->tops, m->values->len);
        vec_push(m->values, value);
        return 0;
}

static int pickle_push_kind(struct pickle_machine *m, enum pickle_kind kind, int64_t number)
{
        return pickle_push(m, (struct pickle_value){.kind = kind, .number = number});
}

static int pickle_push_bytes(struct pickle_machine *m, enum pickle_kind kind, size_t size)
{
        struct pickle_value value = {.kind = kind};
        int r = pickle_view(m, size, &value.bytes);
        return r ? r : pickle_push(m, value);
}

static int pickle_push_float(struct pickle_machine *m)
{
        struct pickle_value value = {.kind = PICKLE_FLOAT};
        uint64_t bits;
        int r = pickle_number(m, 8, &bits);
        bits = __builtin_bswap64(bits); /* the only big-endian number */
        memcpy(&value.real, &bits, sizeof(bits));
        return r ? r : pickle_push(m, value);
}

/* A two's complement number of any length. */
static int pickle_push_long(struct pickle_machine *m, size_t size)
{
        fst_bytes view = {0};
        int r = pickle_view(m, size, &view);
        if (r)
                return r;
        const unsigned char *digits = (const unsigned char *)view.data;
        bool negative = view.len && digits[view.len - 1] & 0x80;
        uint64_t number = negative ? UINT64_MAX : 0;
        if (view.len <= 8) {
                for (size_t i = 0; i < view.len; i++)
                        number = (number & ~((uint64_t)0xff << 8 * i)) | (uint64_t)digits[i] << 8 * i;
                return pickle_push_kind(m, PICKLE_INT, (int64_t)number);
        }
        double real = negative ? -1 : 0;
        for (size_t i = view.len; i-- > 0;)
                real = real * 256 + digits[i];
        return pickle_push(m, (struct pickle_value){.kind = PICKLE_BIG, .real = real});
}

/* The stack above the last mark, without the mark: *@first is the number of the first value above it. */
static int pickle_pop_mark(struct pickle_machine *m, size_t *first)
{
        if (m->marks.len == 0)
                return pickle_damaged(m, "a mark is missing");
        *first = m->marks.data[--m->marks.len];
        return *first <= m->tops.len ? 0 : pickle_damaged(m, "the stack is shorter than at its mark");
}

/* Makes one value of the values from number @first on: a list or tuple. */
static int pickle_close(struct pickle_machine *m, enum pickle_kind kind, size_t first)
{
        size_t n = m->tops.len - first;
        size_t at = n ? m->tops.data[first] : m->values->len;
        int r = pickle_push_kind(m, kind, (int64_t)n);
        if (r)
                return r;
        struct pickle_value *head = m->values->data + at;
        m->moved += m->values->len - at;
        if (m->moved > PICKLE_MAX_MOVED)
                return error_set(m->error, -E2BIG, "a pickle is nested too deeply");
        memmove(head + 1, head, (m->values->len - 1 - at) * sizeof(*head));
        *head = (struct pickle_value){.kind = kind, .size = m->values->len - at, .number = (int64_t)n};
        m->tops.len = first;
        vec_push(&m->tops, at);
        return 0;
}

/* Appends the values from number @first on to the list below them. */
static int pickle_append(struct pickle_machine *m, size_t first)
{
        if (first == 0 || first > m->tops.len)
                return pickle_damaged(m, "no list to append to");
        struct pickle_value *list = &m->values->data[m->tops.data[first - 1]];
        if (list->kind != PICKLE_LIST)
                return pickle_damaged(m, "something is appended to a value that is not a list");
        if (m->marks.len && first <= m->marks.data[m->marks.len - 1])
                return pickle_damaged(m, "the list lies below a mark");
        list->number += (int64_t)(m->tops.len - first);
        list->size = m->values->len - m->tops.data[first - 1];
        m->tops.len = first;
        return 0;
}

/* ----------------------------------------------------------------------------------------------------- the memo */

static int pickle_memoize(struct pickle_machine *m, uint64_t key)
{
        if (m->tops.len == 0)
                return pickle_damaged(m, "nothing to remember");
        size_t top = m->tops.data[m->tops.len - 1];
        struct pickle_memo memo = {.key = key, .at = m->memoized.len, .size = m->values->len - top};
        if (m->memoized.len + memo.size > PICKLE_MAX_VALUES)
                return error_set(m->error, -E2BIG, "a pickle has more than %zu values", PICKLE_MAX_VALUES);
        for (size_t i = 0; i < memo.size; i++)
                vec_push(&m->memoized, m->values->data[top + i]);
        vec_push(&m->memo, memo);
        m->memo_next++;
        return 0;
}

static int pickle_recall(struct pickle_machine *m, uint64_t key)
{
        /* Python numbers them in order, except after a PUT of its own. */
        size_t at = key < m->memo.len && m->memo.data[key].key == key ? key : m->memo.len;
        for (size_t i = m->memo.len; at == m->memo.len && i-- > 0;)
                if (m->memo.data[i].key == key)
                        at = i;
        if (at == m->memo.len)
                return pickle_damaged(m, "a reference leads nowhere");
        struct pickle_memo memo = m->memo.data[at];
        if (m->memoized.data[memo.at].kind == PICKLE_LIST)
                return error_set(m->error, -ENOTSUP, "a pickle refers to one list twice");
        if (m->values->len + memo.size > PICKLE_MAX_VALUES)
                return error_set(m->error, -E2BIG, "a pickle has more than %zu values", PICKLE_MAX_VALUES);
        vec_push(&m->tops, m->values->len);
        for (size_t i = 0; i < memo.size; i++)
                vec_push(m->values, m->memoized.data[memo.at + i]);
        return 0;
}

/* ------------------------------------------------------------------------------------------------ the program */

/* The opcodes, by their names in Python's pickletools. */
enum {
        MARK = '(', STOP = '.', NONE = 'N', NEWTRUE = 0x88, NEWFALSE = 0x89, BININT = 'J', BININT1 = 'K', BININT2 = 'M',
        LONG1 = 0x8a, LONG4 = 0x8b, BINFLOAT = 'G', SHORT_BINUNICODE = 0x8c, BINUNICODE = 'X', BINUNICODE8 = 0x8d,
        SHORT_BINBYTES = 'C', BINBYTES = 'B', BINBYTES8 = 0x8e, EMPTY_LIST = ']', APPEND = 'a', APPENDS = 'e',
        LIST = 'l', EMPTY_TUPLE = ')', TUPLE = 't', TUPLE1 = 0x85, TUPLE2 = 0x86, TUPLE3 = 0x87, BINPUT = 'q',
        LONG_BINPUT = 'r', MEMOIZE = 0x94, BINGET = 'h', LONG_BINGET = 'j', PROTO = 0x80, FRAME = 0x95, GLOBAL = 'c',
        STACK_GLOBAL = 0x93, EMPTY_DICT = '}', EMPTY_SET = 0x8f,
};

static int pickle_other_class(struct pickle_machine *m, unsigned code)
{
        const struct pickle_value *top = m->tops.len ? &m->values->data[m->tops.data[m->tops.len - 1]] : NULL;
        const char *end = code == GLOBAL ? memchr(m->at, '\n', pickle_left(m)) : NULL;
        if (code == EMPTY_DICT || code == EMPTY_SET)
                return error_set(m->error, -ENOTSUP, "a pickle holds a %s: only numbers, texts, bytes and lists can be "
                                 "read here", code == EMPTY_DICT ? "dict" : "set");
        if (code == STACK_GLOBAL && top && top->kind == PICKLE_TEXT)
                return error_set(m->error, -ENOTSUP, "a pickle holds an object of class %.*s: only numbers, texts, bytes "
                                 "and lists can be read here", (int)MIN(top->bytes.len, (size_t)100), top->bytes.data);
        if (end)
                return error_set(m->error, -ENOTSUP, "a pickle holds an object of module %.*s: only numbers, texts, "
                                 "bytes and lists can be read here", (int)MIN(end - (const char *)m->at, 100), m->at);
        m->at--;
        char what[64];
        snprintf(what, sizeof(what), "the operation 0x%02x is unknown", code);
        return pickle_damaged(m, what);
}

static int pickle_tuple(struct pickle_machine *m, size_t n)
{
        if (m->tops.len < n || (m->marks.len && m->tops.len - n < m->marks.data[m->marks.len - 1]))
                return pickle_damaged(m, "a tuple has too few elements");
        return pickle_close(m, PICKLE_TUPLE, m->tops.len - n);
}

/* Operations on marks and the memo. Returns 1 for another operation. */
static int pickle_step_structure(struct pickle_machine *m, unsigned code)
{
        uint64_t number;
        size_t first;
        int r = 0;
        switch (code) {
        case MARK:
                vec_push(&m->marks, m->tops.len);
                return 0;
        case EMPTY_LIST:
                return pickle_push_kind(m, PICKLE_LIST, 0);
        case APPEND:
                return m->tops.len ? pickle_append(m, m->tops.len - 1) : pickle_damaged(m, "no list to append to");
        case APPENDS:
                r = pickle_pop_mark(m, &first);
                return r ? r : pickle_append(m, first);
        case LIST:
        case TUPLE:
                r = pickle_pop_mark(m, &first);
                return r ? r : pickle_close(m, code == LIST ? PICKLE_LIST : PICKLE_TUPLE, first);
        case EMPTY_TUPLE:
                return pickle_push_kind(m, PICKLE_TUPLE, 0);
        case TUPLE1:
        case TUPLE2:
        case TUPLE3:
                return pickle_tuple(m, code - TUPLE1 + 1);
        case MEMOIZE:
                return pickle_memoize(m, m->memo_next);
        case BINPUT:
        case LONG_BINPUT:
                r = pickle_number(m, code == BINPUT ? 1 : 4, &number);
                return r ? r : pickle_memoize(m, number);
        case BINGET:
        case LONG_BINGET:
                r = pickle_number(m, code == BINGET ? 1 : 4, &number);
                return r ? r : pickle_recall(m, number);
        case FRAME:
                return pickle_number(m, 8, &number);
        default:
                return 1;
        }
}

static int pickle_step(struct pickle_machine *m, unsigned code)
{
        uint64_t number;
        int r;
        switch (code) {
        case NONE:
                return pickle_push_kind(m, PICKLE_NONE, 0);
        case NEWTRUE:
        case NEWFALSE:
                return pickle_push_kind(m, PICKLE_BOOL, code == NEWTRUE);
        case BININT:
                r = pickle_number(m, 4, &number);
                return r ? r : pickle_push_kind(m, PICKLE_INT, (int32_t)number);
        case BININT1:
        case BININT2:
                r = pickle_number(m, code == BININT1 ? 1 : 2, &number);
                return r ? r : pickle_push_kind(m, PICKLE_INT, (int64_t)number);
        case LONG1:
        case LONG4:
                return pickle_push_long(m, code == LONG1 ? 1 : 4);
        case BINFLOAT:
                return pickle_push_float(m);
        case SHORT_BINUNICODE:
        case BINUNICODE:
        case BINUNICODE8:
                return pickle_push_bytes(m, PICKLE_TEXT, code == SHORT_BINUNICODE ? 1 : code == BINUNICODE ? 4 : 8);
        case SHORT_BINBYTES:
        case BINBYTES:
        case BINBYTES8:
                return pickle_push_bytes(m, PICKLE_BYTES, code == SHORT_BINBYTES ? 1 : code == BINBYTES ? 4 : 8);
        default:
                r = pickle_step_structure(m, code);
                return r > 0 ? pickle_other_class(m, code) : r;
        }
}

static int pickle_run(struct pickle_machine *m)
{
        uint64_t protocol;
        if (pickle_left(m) < 2 || *m->at != PROTO)
                return pickle_damaged(m, "it does not begin with its protocol");
        m->at++;
        pickle_number(m, 1, &protocol);
        if (protocol < 2 || protocol > 5)
                return error_set(m->error, -ENOTSUP, "a pickle of protocol %d, not 2 to 5", (int)protocol);
        while (m->at < m->end) {
                unsigned code = *m->at++;
                if (code == STOP)
                        return m->tops.len == 1 && m->marks.len == 0 && m->at == m->end
                                       ? 0
                                       : pickle_damaged(m, "it does not end with one object");
                int r = pickle_step(m, code);
                if (r)
                        return r;
        }
        return pickle_damaged(m, "it is truncated");
}

int pickle_read(fst_bytes data, pickle_values *values, struct fst_error *error)
{
        const unsigned char *start = (const unsigned char *)data.data;
        struct pickle_machine m = {
                .start = start, .at = start, .end = start + data.len, .values = values, .error = error};
        values->len = 0;
        int r = pickle_run(&m);
        vec_deinit(&m.tops);
        vec_deinit(&m.marks);
        vec_deinit(&m.memoized);
        vec_deinit(&m.memo);
        return r;
}
