/* See known_size.h. */
#include "rdd/known_size.h"

#include "base/mem.h"

#define MAX_VISITS 256 /* of operators: lineages of iterative programs are deep, and have the same RDD on many ways */

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

static struct known_size size_of_range(const fst_rdd *rdd)
{
        int64_t rows;
        return __builtin_sub_overflow(rdd->range.end, rdd->range.start, &rows) ? unknown
                                                                               : size_of_rows(rows, rdd->type);
}

/* Visits @rdd and its ancestors, at most *@visits of them. */
static struct known_size size_visit(const fst_rdd *rdd, int *visits)
{
        struct known_size size = {0, 0}, part;
        if (--*visits < 0)
                return unknown;
        switch (rdd->op) {
        case RDD_PARALLELIZE:
                return size_of_parallelize(rdd);
        case RDD_RANGE:
                return size_of_range(rdd);
        case RDD_FILTER:
        case RDD_KEY_RANGE:
        case RDD_COALESCE:
        case RDD_SORTED_WITHIN:
                return size_visit(rdd_parent(rdd), visits);
        case RDD_SHUFFLED:
        case RDD_MAP:
        case RDD_MAP_VALUES:
        case RDD_KEYS:
        case RDD_VALUES:
        case RDD_COMBINE:
        case RDD_INDEXED:
        case RDD_COUNTED:
                part = size_visit(rdd_parent(rdd), visits);
                if (rdd->op == RDD_SHUFFLED && !rdd->shuffle.combine)
                        return part;
                return size_of_rows(part.rows, rdd->type);
        case RDD_ZIPPED:
        case RDD_UNION:
                for (int i = 0; i < rdd->n_parents; i++) {
                        part = size_visit(rdd->parents[i], visits);
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
        int visits = MAX_VISITS;
        return size_visit(rdd, &visits);
}
