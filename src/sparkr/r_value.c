/* See r_value.h. */
#include "sparkr/r_value.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"

#include <endian.h>

#define MAX_DEPTH 32

/* Elements without content cost a sender nothing. */
#define MAX_EMPTY_ITEMS ((size_t)65536)

/* The values of one message. */
#define MAX_ITEMS ((size_t)1 << 26)

struct value_reader {
        const char *at, *end;
        struct arena *arena;
        size_t items;        /* read so far */
        const char *problem; /* NULL: none */
};

static bool value_reader_fail(struct value_reader *r, const char *problem)
{
        if (!r->problem)
                r->problem = problem;
        return false;
}

static bool value_read_raw(struct value_reader *r, void *to, size_t size)
{
        if ((size_t)(r->end - r->at) < size)
                return value_reader_fail(r, "it ends too early");
        memcpy(to, r->at, size);
        r->at += size;
        return true;
}

static bool value_read_int(struct value_reader *r, int32_t *x)
{
        uint32_t big;
        if (!value_read_raw(r, &big, sizeof(big)))
                return false;
        *x = (int32_t)be32toh(big);
        return true;
}

static bool value_read_double(struct value_reader *r, double *x)
{
        uint64_t big;
        if (!value_read_raw(r, &big, sizeof(big)))
                return false;
        big = be64toh(big);
        memcpy(x, &big, sizeof(*x));
        return true;
}

static bool value_read_bytes(struct value_reader *r, fst_bytes *bytes)
{
        int32_t len;
        if (!value_read_int(r, &len))
                return false;
        if (len < 0 || len > r->end - r->at)
                return value_reader_fail(r, "a length is invalid");
        *bytes = (fst_bytes){r->at, (size_t)len};
        r->at += len;
        return true;
}

/* The bytes of a string end with a NUL, so that they are a C string. */
static bool value_read_string(struct value_reader *r, fst_bytes *text)
{
        fst_bytes bytes;
        if (!value_read_bytes(r, &bytes))
                return false;
        if (bytes.len == 0 || bytes.data[bytes.len - 1] != '\0' || memchr(bytes.data, '\0', bytes.len - 1))
                return value_reader_fail(r, "a string does not end with a NUL");
        *text = (fst_bytes){bytes.data, bytes.len - 1};
        return true;
}

static bool value_read_type(struct value_reader *r, enum r_type *type)
{
        if (r->at == r->end)
                return value_reader_fail(r, "it ends too early");
        char letter = *r->at++;
        if (!letter || !strchr("nidbcrDtalsej", letter))
                return value_reader_fail(r, "a type is unknown");
        *type = (enum r_type)letter;
        return true;
}

static size_t value_min_size(enum r_type type)
{
        switch (type) {
        case R_NULL:
                return 0;
        case R_DOUBLE:
        case R_TIME:
                return 8;
        case R_STRING:
        case R_DATE:
        case R_OBJECT:
        case R_ARRAY:
                return 5;
        default:
                return 4;
        }
}

/* Allocates @n items, each of at least @size bytes in the message. */
static struct r_value *value_new_items(struct value_reader *r, int32_t n, size_t size)
{
        size_t most = size ? (size_t)(r->end - r->at) / size : MAX_EMPTY_ITEMS;
        if (n < 0 || (size_t)n > most || (size_t)n > MAX_ITEMS - r->items) {
                value_reader_fail(r, "a number of elements is invalid");
                return NULL;
        }
        r->items += (size_t)n;
        struct r_value *items = arena_alloc(r->arena, ((size_t)n + 1) * sizeof(*items));
        memset(items, 0, ((size_t)n + 1) * sizeof(*items));
        return items;
}

static bool value_read_content(struct value_reader *r, struct r_value *value, int depth);

static bool value_read_any(struct value_reader *r, struct r_value *value, int depth)
{
        return value_read_type(r, &value->type) && value_read_content(r, value, depth);
}

static bool value_read_array(struct value_reader *r, struct r_values *list, int depth)
{
        enum r_type type;
        int32_t n;
        if (!value_read_type(r, &type) || !value_read_int(r, &n) ||
            !(list->items = value_new_items(r, n, value_min_size(type))))
                return false;
        for (list->n = 0; list->n < (size_t)n; list->n++) {
                list->items[list->n].type = type;
                if (!value_read_content(r, &list->items[list->n], depth))
                        return false;
        }
        return true;
}

static bool value_read_list(struct value_reader *r, struct r_values *list, int depth)
{
        int32_t n;
        if (!value_read_int(r, &n) || !(list->items = value_new_items(r, n, 1)))
                return false;
        for (list->n = 0; list->n < (size_t)n; list->n++)
                if (!value_read_any(r, &list->items[list->n], depth))
                        return false;
        return true;
}

static bool value_read_map(struct value_reader *r, struct r_values *map, int depth)
{
        struct r_values keys = {0}, values = {0};
        int32_t n;
        if (!value_read_int(r, &n))
                return false;
        if (n == 0)
                return true;
        if (!value_read_array(r, &keys, depth) || !value_read_list(r, &values, depth))
                return false;
        if (keys.n != values.n || keys.n != (size_t)n)
                return value_reader_fail(r, "an environment has unequal numbers of names and values");
        map->items = arena_alloc(r->arena, 2 * keys.n * sizeof(*map->items));
        for (size_t i = 0; i < keys.n; i++) {
                if (keys.items[i].type != R_STRING)
                        return value_reader_fail(r, "a name in an environment is not a string");
                map->items[map->n++] = keys.items[i];
                map->items[map->n++] = values.items[i];
        }
        return true;
}

static bool value_read_content(struct value_reader *r, struct r_value *value, int depth)
{
        if (depth > MAX_DEPTH)
                return value_reader_fail(r, "its lists are too deep");
        switch (value->type) {
        case R_NULL:
                return true;
        case R_INT:
                return value_read_int(r, &value->integer);
        case R_BOOL:
                if (!value_read_int(r, &value->integer))
                        return false;
                value->integer = value->integer != 0;
                return true;
        case R_DOUBLE:
        case R_TIME:
                return value_read_double(r, &value->number);
        case R_STRING:
        case R_DATE:
        case R_OBJECT:
                return value_read_string(r, &value->bytes);
        case R_BYTES:
                return value_read_bytes(r, &value->bytes);
        case R_ARRAY:
                return value_read_array(r, &value->list, depth + 1);
        case R_LIST:
        case R_STRUCT:
                return value_read_list(r, &value->list, depth + 1);
        case R_MAP:
                return value_read_map(r, &value->list, depth + 1);
        }
        return value_reader_fail(r, "a type is unknown");
}

static bool request_read_head(struct value_reader *r, struct r_request *request, int32_t *arguments)
{
        int32_t is_static;
        fst_bytes target, member;
        if (!value_read_int(r, &is_static) || !value_read_string(r, &target) || !value_read_string(r, &member) ||
            !value_read_int(r, arguments))
                return false;
        request->is_static = is_static != 0;
        request->target = target.data;
        request->member = member.data;
        return true;
}

int r_request_read(const char *data, size_t len, struct arena *arena, struct r_request *request,
                   struct fst_error *error)
{
        struct value_reader r = {.at = data, .end = data + len, .arena = arena};
        struct r_values *arguments = &request->arguments;
        int32_t n = 0;
        *request = (struct r_request){0};
        bool ok = request_read_head(&r, request, &n) && (arguments->items = value_new_items(&r, n, 1));
        for (arguments->n = 0; ok && arguments->n < (size_t)n; arguments->n += ok)
                ok = value_read_any(&r, &arguments->items[arguments->n], 0);
        if (ok && r.at != r.end)
                ok = value_reader_fail(&r, "bytes follow its end");
        return ok ? 0 : error_set(error, -EBADMSG, "a request of R is invalid: %s", r.problem);
}

/* ------------------------------------------------------------------------------------------------------ writing */

void r_value_put_int(struct buf *out, int32_t x)
{
        uint32_t big = htobe32((uint32_t)x);
        buf_append(out, &big, sizeof(big));
}

static void value_put_double(struct buf *out, double x)
{
        uint64_t big;
        memcpy(&big, &x, sizeof(big));
        big = htobe64(big);
        buf_append(out, &big, sizeof(big));
}

void r_value_put_string(struct buf *out, fst_bytes text)
{
        r_value_put_int(out, (int32_t)text.len);
        if (text.len)
                buf_append(out, text.data, text.len);
}

static bool value_is_number(enum r_type type)
{
        return type == R_INT || type == R_DOUBLE || type == R_BOOL;
}

static void value_put_content(struct buf *out, const struct r_value *value)
{
        const struct r_values *list = &value->list;
        switch (value->type) {
        case R_NULL:
                return;
        case R_INT:
        case R_BOOL:
                r_value_put_int(out, value->integer);
                return;
        case R_DOUBLE:
        case R_TIME:
                value_put_double(out, value->number);
                return;
        case R_STRING:
        case R_DATE:
        case R_OBJECT:
        case R_BYTES:
                r_value_put_string(out, value->bytes);
                return;
        case R_ARRAY:
                buf_putc(out, list->n ? (char)list->items[0].type : R_STRING);
                r_value_put_int(out, (int32_t)list->n);
                for (size_t i = 0; i < list->n; i++)
                        value_put_content(out, &list->items[i]);
                return;
        case R_LIST:
        case R_STRUCT:
                r_value_put_int(out, (int32_t)list->n);
                for (size_t i = 0; i < list->n; i++)
                        r_value_put(out, &list->items[i]);
                return;
        case R_MAP:
                r_value_put_int(out, (int32_t)(list->n / 2));
                for (size_t i = 0; i < list->n; i += 2) {
                        r_value_put_string(out, list->items[i].bytes);
                        r_value_put(out, &list->items[i + 1]);
                }
                return;
        }
}

void r_value_put(struct buf *out, const struct r_value *value)
{
        struct r_value list = *value;
        if (list.type == R_ARRAY && list.list.n && !value_is_number(list.list.items[0].type))
                list.type = R_LIST;
        buf_putc(out, (char)list.type);
        value_put_content(out, &list);
}

void r_answer_put(struct buf *out, const struct r_value *value)
{
        r_value_put_int(out, 0);
        r_value_put(out, value);
}

void r_answer_put_error(struct buf *out, const char *message)
{
        r_value_put_int(out, -1);
        r_value_put_string(out, (fst_bytes){message, strlen(message)});
}

void r_answer_put_waiting(struct buf *out)
{
        r_value_put_int(out, 1);
}

struct r_value r_value_string(struct arena *arena, const char *text)
{
        if (!text)
                return (struct r_value){.type = R_NULL};
        size_t len = strlen(text);
        return (struct r_value){.type = R_STRING, .bytes = {arena_copy(arena, text, len), len}};
}
