/* See accumulator_updates.h. Tasks have one or two accumulators. The table is searched from its end, so a single
 * accumulator is found at once. */
#include "rdd/aggregate/accumulator_updates.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "net/byte_order.h"

#include <endian.h>

#define UPDATE_HEADER 16
#define TOTALS_SIZE 32

void accumulator_updates_free(struct accumulator_updates *updates)
{
        if (!updates)
                return;
        for (uint32_t i = 0; i < updates->n; i++)
                if (updates->data[i].accumulator.kind == FST_ACCUMULATOR_OWN)
                        free(updates->data[i].own);
                else if (updates->data[i].accumulator.kind == FST_ACCUMULATOR_LIST)
                        free(updates->data[i].list.data);
        free(updates->data);
        free(updates);
}

struct accumulator_update *accumulator_updates_of(struct accumulator_updates **updates, fst_accumulator a)
{
        struct accumulator_updates *u = *updates;
        for (uint32_t i = u ? u->n : 0; i-- > 0;)
                if (u->data[i].accumulator.id == a.id && u->data[i].accumulator.kind == a.kind &&
                    u->data[i].accumulator.size == a.size)
                        return &u->data[i];
        if (u && u->n == MAX_ACCUMULATOR_UPDATES)
                return NULL;
        if (!u)
                *updates = u = new0(struct accumulator_updates);
        if (u->n == u->room) {
                u->room = u->room ? u->room * 2 : 2;
                u->data = mem_grow(u->data, u->room * sizeof(*u->data));
        }
        struct accumulator_update *update = &u->data[u->n++];
        *update = (struct accumulator_update){.accumulator = a};
        if (a.kind == FST_ACCUMULATOR_OWN)
                update->own = mem_zero(a.size);
        return update;
}

static uint32_t accumulator_list_length(const char *at)
{
        uint32_t length;
        memcpy(&length, at, sizeof(length));
        return be32toh(length);
}

int accumulator_add_blob(struct accumulator_list *list, fst_bytes blob)
{
        uint32_t length = htobe32((uint32_t)blob.len);
        char *grown = mem_try_grow(list->data, list->len + sizeof(length) + blob.len);
        if (!grown)
                return -ENOMEM;
        list->data = grown;
        memcpy(list->data + list->len, &length, sizeof(length));
        if (blob.len)
                memcpy(list->data + list->len + sizeof(length), blob.data, blob.len);
        list->len += sizeof(length) + blob.len;
        list->n++;
        return 0;
}

fst_bytes *accumulator_list_blobs(const struct accumulator_list *list)
{
        fst_bytes *blobs = new_array(fst_bytes, (size_t)list->n + 1);
        const char *at = list->data;
        for (uint32_t i = 0; i < list->n; i++) {
                blobs[i] = (fst_bytes){at + sizeof(uint32_t), accumulator_list_length(at)};
                at += sizeof(uint32_t) + blobs[i].len;
        }
        return blobs;
}

void accumulator_add_i64(fst_totals_i64 *t, int64_t x)
{
        t->min = t->count ? MIN(t->min, x) : x;
        t->max = t->count ? MAX(t->max, x) : x;
        t->sum = (int64_t)((uint64_t)t->sum + (uint64_t)x);
        t->count++;
}

void accumulator_add_f64(fst_totals_f64 *t, double x)
{
        t->min = t->count ? MIN(t->min, x) : x;
        t->max = t->count ? MAX(t->max, x) : x;
        t->sum += x;
        t->count++;
}

void accumulator_merge_i64(fst_totals_i64 *t, const fst_totals_i64 *more)
{
        if (!more->count)
                return;
        t->min = t->count ? MIN(t->min, more->min) : more->min;
        t->max = t->count ? MAX(t->max, more->max) : more->max;
        t->sum = (int64_t)((uint64_t)t->sum + (uint64_t)more->sum);
        t->count = (int64_t)((uint64_t)t->count + (uint64_t)more->count);
}

void accumulator_merge_f64(fst_totals_f64 *t, const fst_totals_f64 *more)
{
        if (!more->count)
                return;
        t->min = t->count ? MIN(t->min, more->min) : more->min;
        t->max = t->count ? MAX(t->max, more->max) : more->max;
        t->sum += more->sum;
        t->count = (int64_t)((uint64_t)t->count + (uint64_t)more->count);
}

/* ------------------------------------------------------------------------------------------------ encoding */

static uint64_t accumulator_updates_f64_bits(double x)
{
        uint64_t bits;
        memcpy(&bits, &x, sizeof(bits));
        return bits;
}

static double accumulator_updates_f64_of(uint64_t bits)
{
        double x;
        memcpy(&x, &bits, sizeof(x));
        return x;
}

static void accumulator_update_encode_state(const struct accumulator_update *u, struct buf *out)
{
        switch (u->accumulator.kind) {
        case FST_ACCUMULATOR_I64:
                buf_put_le64(out, (uint64_t)u->i64.count);
                buf_put_le64(out, (uint64_t)u->i64.sum);
                buf_put_le64(out, (uint64_t)u->i64.min);
                buf_put_le64(out, (uint64_t)u->i64.max);
                break;
        case FST_ACCUMULATOR_F64:
                buf_put_le64(out, (uint64_t)u->f64.count);
                buf_put_le64(out, accumulator_updates_f64_bits(u->f64.sum));
                buf_put_le64(out, accumulator_updates_f64_bits(u->f64.min));
                buf_put_le64(out, accumulator_updates_f64_bits(u->f64.max));
                break;
        case FST_ACCUMULATOR_LIST:
                buf_put_le32(out, u->list.n);
                buf_put_le64(out, u->list.len);
                buf_append(out, u->list.data, u->list.len);
                break;
        default:
                buf_append(out, u->own, u->accumulator.size);
        }
}

void accumulator_updates_encode(const struct accumulator_updates *updates, struct buf *out)
{
        uint32_t n = updates ? updates->n : 0;
        buf_put_le32(out, n);
        for (uint32_t i = 0; i < n; i++) {
                const struct accumulator_update *u = &updates->data[i];
                buf_put_le64(out, (uint64_t)u->accumulator.id);
                buf_put_le32(out, u->accumulator.kind);
                buf_put_le32(out, u->accumulator.size);
                accumulator_update_encode_state(u, out);
        }
}

static uint32_t accumulator_updates_get_u32(const unsigned char **at)
{
        *at += 4;
        return get_le32(*at - 4);
}

static uint64_t accumulator_updates_get_u64(const unsigned char **at)
{
        *at += 8;
        return get_le64(*at - 8);
}

static bool accumulator_update_size_fits(uint32_t kind, uint32_t size)
{
        switch (kind) {
        case FST_ACCUMULATOR_I64:
        case FST_ACCUMULATOR_F64:
                return size == TOTALS_SIZE;
        case FST_ACCUMULATOR_OWN:
                return size >= 1 && size <= FST_ACCUMULATOR_MAX;
        case FST_ACCUMULATOR_LIST:
                return size == 0;
        default:
                return false;
        }
}

static int accumulator_list_decode(struct accumulator_list *list, const unsigned char **at, const unsigned char *end,
                                   struct fst_error *error)
{
        size_t header = sizeof(uint32_t) + sizeof(uint64_t);
        if ((size_t)(end - *at) < header)
                return error_set(error, -EBADMSG, "a list of accumulator updates is truncated");
        uint32_t n = accumulator_updates_get_u32(at);
        uint64_t len = accumulator_updates_get_u64(at), left = len;
        if (len > (uint64_t)(end - *at))
                return error_set(error, -EBADMSG, "a list of accumulator updates is truncated");
        const char *blob = (const char *)*at;
        for (uint32_t i = 0; i < n; i++) {
                uint32_t size = left >= sizeof(size) ? accumulator_list_length(blob) : 0;
                if (left < sizeof(size) || left - sizeof(size) < size)
                        return error_set(error, -EBADMSG, "update %u of %u in a list is truncated", i, n);
                blob += sizeof(size) + size;
                left -= sizeof(size) + size;
        }
        if (left)
                return error_set(error, -EBADMSG, "%llu unexpected bytes after a list of accumulator updates",
                                 (unsigned long long)left);
        if (len && !(list->data = mem_try((size_t)len)))
                return error_set(error, -ENOMEM, "no memory for %llu bytes of accumulator updates",
                                 (unsigned long long)len);
        if (len)
                memcpy(list->data, *at, (size_t)len);
        list->len = (size_t)len;
        list->n = n;
        *at += len;
        return 0;
}

static int accumulator_update_decode(struct accumulator_updates **updates, const unsigned char **at,
                                     const unsigned char *end, struct fst_error *error)
{
        if (end - *at < UPDATE_HEADER)
                return error_set(error, -EBADMSG, "the accumulator updates are truncated");
        fst_accumulator a = {.id = (int64_t)accumulator_updates_get_u64(at)};
        a.kind = accumulator_updates_get_u32(at);
        a.size = accumulator_updates_get_u32(at);
        if (a.id < 1 || !accumulator_update_size_fits(a.kind, a.size) || (size_t)(end - *at) < a.size)
                return error_set(error, -EBADMSG, "invalid accumulator update: id %lld, kind %u, %u bytes",
                                 (long long)a.id, a.kind, a.size);
        uint32_t before = *updates ? (*updates)->n : 0;
        struct accumulator_update *u = accumulator_updates_of(updates, a);
        if ((*updates)->n == before)
                return error_set(error, -EBADMSG, "a task updates accumulator %lld twice", (long long)a.id);
        if (a.kind == FST_ACCUMULATOR_OWN) {
                memcpy(u->own, *at, a.size);
                *at += a.size;
                return 0;
        }
        if (a.kind == FST_ACCUMULATOR_LIST)
                return accumulator_list_decode(&u->list, at, end, error);
        uint64_t x[4];
        for (int i = 0; i < 4; i++)
                x[i] = accumulator_updates_get_u64(at);
        if (a.kind == FST_ACCUMULATOR_I64)
                u->i64 = (fst_totals_i64){(int64_t)x[0], (int64_t)x[1], (int64_t)x[2], (int64_t)x[3]};
        else
                u->f64 = (fst_totals_f64){(int64_t)x[0], accumulator_updates_f64_of(x[1]),
                                          accumulator_updates_f64_of(x[2]), accumulator_updates_f64_of(x[3])};
        return 0;
}

int accumulator_updates_decode(const void *data, size_t len, struct accumulator_updates **updates,
                               struct fst_error *error)
{
        const unsigned char *at = data, *end = at + len;
        struct accumulator_updates *got = NULL;
        if (len < 4)
                return error_set(error, -EBADMSG, "the accumulator updates are truncated");
        uint32_t n = accumulator_updates_get_u32(&at);
        if (n > MAX_ACCUMULATOR_UPDATES)
                return error_set(error, -EBADMSG, "a task has %u accumulators; the limit is %d", n,
                                 MAX_ACCUMULATOR_UPDATES);
        int r = 0;
        for (uint32_t i = 0; i < n && r == 0; i++)
                r = accumulator_update_decode(&got, &at, end, error);
        if (r == 0 && at != end)
                r = error_set(error, -EBADMSG, "%td unexpected bytes after the accumulator updates", end - at);
        if (r) {
                accumulator_updates_free(got);
                return r;
        }
        *updates = got;
        return 0;
}
