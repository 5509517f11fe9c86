/*
 * HashMap's order; see java_hash_order.h. Keys are placed in a table by the low bits of their hash. Each bucket keeps
 * insertion order, and so does growing the table. (HashMap turns buckets of more than eight keys into trees. This file
 * does not, because a few settings never fill a bucket so far.)
 */
#include "submit/jvm/java_hash_order.h"

#include "base/mem.h"

/* Reads the code point at *@p and advances *@p. */
static uint32_t java_hash_order_decode(const unsigned char **p)
{
        const unsigned char *s = *p;
        unsigned n = s[0] >= 0xf0 && s[0] < 0xf8 ? 3 : s[0] >= 0xe0 && s[0] < 0xf0 ? 2 : s[0] >= 0xc0 && s[0] < 0xe0;
        uint32_t c = n == 3 ? s[0] & 7u : n == 2 ? s[0] & 15u : s[0] & 31u;
        (*p)++;
        if (n == 0)
                return s[0] < 0x80 ? s[0] : 0xfffd;
        for (unsigned i = 1; i <= n; i++) {
                if ((s[i] & 0xc0) != 0x80)
                        return 0xfffd;
                c = c << 6 | (s[i] & 0x3f);
        }
        *p += n;
        return c;
}

int32_t java_string_hash(const char *text)
{
        uint32_t h = 0;
        for (const unsigned char *p = (const unsigned char *)text; *p;) {
                uint32_t c = java_hash_order_decode(&p);
                if (c >= 0x10000) {
                        h = 31 * h + (0xd800 + ((c - 0x10000) >> 10));
                        c = 0xdc00 + ((c - 0x10000) & 0x3ff);
                }
                h = 31 * h + c;
        }
        return (int32_t)h;
}

static size_t java_hash_table_size(size_t expected, size_t count)
{
        size_t size = 16;
        if (expected > 0) {
                size_t wanted = (size_t)((float)expected / 0.75F + 1.0F);
                for (size = 1; size < wanted; size *= 2)
                        ;
        }
        while (count > size / 4 * 3 + (size < 4 ? size * 3 / 4 : 0))
                size *= 2;
        return size;
}

struct placed {
        uint32_t place, came;
        struct strmap_entry *entry;
};

static int java_hash_compare(const void *a, const void *b)
{
        const struct placed *x = a, *y = b;
        if (x->place != y->place)
                return x->place < y->place ? -1 : 1;
        return x->came < y->came ? -1 : x->came > y->came;
}

struct strmap_entry **java_map_order(const struct strmap *m, size_t expected)
{
        size_t n = 0, mask = java_hash_table_size(expected, m->count) - 1;
        _cleanup_free_ struct placed *all = new_array(struct placed, m->count + 1);
        for (struct strmap_entry *e = NULL; (e = strmap_next(m, e)); n++) {
                uint32_t h = (uint32_t)java_string_hash(e->key);
                all[n] = (struct placed){(uint32_t)((h ^ h >> 16) & mask), (uint32_t)n, e};
        }
        qsort(all, n, sizeof(*all), java_hash_compare);
        struct strmap_entry **out = new_array(struct strmap_entry *, n + 1);
        for (size_t i = 0; i < n; i++)
                out[i] = all[i].entry;
        return out;
}
