/* See known_size.h. */
#include "rdd/known_size.h"

#include "base/mem.h"

#define MAX_KNOWN_DEPTH 64 /* operators: lineages of iterative programs are deep */

static const struct known_size unknown = {SIZE_UNKNOWN, SIZE_UNKNOWN};

/* Stays below SIZE_UNKNOWN for known numbers: no such RDD is small. */
static int64_t size_add(int64_t a, int64_t b)
{
        return a == SIZE_UNKNOWN || b == SIZE_UNKNOWN || a > SIZE_UNKNOWN - b ? SIZE_UNKNOWN : a + b;
}

static int64_t size_multiply(int64_t a, int64_t b)
{
        int64_t product;
        return a == SIZE_UNKNOWN || __builtin_mul_overflow(a, b, &product) ? SIZE_UNKNOWN : product;
}

/* @rows rows of @type, whose bytes are unknown if they have BYTES. */
static struct known_size size_of_rows(int64_t rows, fst_type type)
{
        if (type.key == FST_KIND_BYTES || type.value == FST_KIND_BYTES)
                return (struct known_size){rows, SIZE_UNKNOWN};
        return (struct known_size){rows, size_multiply(rows, (int64_t)type.key_size + type.value_size)};
}

static struct known_size size_of_parallelize(const fst_rdd *rdd)
{
        struct known_size size = size_of_rows((int64_t)rdd->parallelize.count, rdd->type);
        if (rdd->type.key == FST_KIND_BYTES)
                size.bytes = size_add((int64_t)rdd->parallelize.n_bytes, size_multiply(size.rows, 4));
        return size;
}

static struct known_size size_at_depth(const fst_rdd *rdd, int depth)
{
        struct known_size size = {0, 0}, part;
        if (depth > MAX_KNOWN_DEPTH)
                return unknown;
        switch (rdd->op) {
        case RDD_PARALLELIZE:
                return size_of_parallelize(rdd);
        case RDD_RANGE:
                return size_of_rows(rdd->range.end - rdd->range.start, rdd->type);
        case RDD_FILTER:
        case RDD_KEY_RANGE:
        case RDD_COALESCE:
        case RDD_SORTED_WITHIN:
                return size_at_depth(rdd_parent(rdd), depth + 1);
        case RDD_SHUFFLED:
        case RDD_MAP:
        case RDD_MAP_VALUES:
        case RDD_KEYS:
        case RDD_VALUES:
        case RDD_COMBINE:
        case RDD_INDEXED:
        case RDD_COUNTED:
                part = size_at_depth(rdd_parent(rdd), depth + 1);
                if (rdd->op == RDD_SHUFFLED && !rdd->shuffle.combine)
                        return part;
                return size_of_rows(part.rows, rdd->type);
        case RDD_ZIPPED:
        case RDD_UNION:
                for (int i = 0; i < rdd->n_parents; i++) {
                        part = size_at_depth(rdd->parents[i], depth + 1);
                        size.rows =
                                rdd->op == RDD_ZIPPED && i ? MIN(size.rows, part.rows) : size_add(size.rows, part.rows);
                        size.bytes = size_add(size.bytes, part.bytes);
                }
                return size;
        default:
                return unknown;
        }
}

struct known_size rdd_known_size(const fst_rdd *rdd)
{
        return size_at_depth(rdd, 0);
}
