/*
 * See number_sort.h. A radix sort in two steps: the topmost bits that differ distribute all numbers into buckets of
 * some thousand, which fit into the second level cache, and the next bits of a bucket distribute it into about as many
 * as it has numbers, so that an insertion sort has little left to do. Where a bucket is much larger, its numbers are
 * distributed again, and where they share many bits, so are those of its parts.
 */
#include "rdd/sort/number_sort.h"

#define FEW 24
#define RADIX_BITS 12
#define SAMPLE 1024              /* numbers */
#define BUCKET ((size_t)1 << 16) /* numbers that are sorted in the cache */

static void numbers_insertion(uint64_t *a, size_t n)
{
        for (size_t i = 1; i < n; i++) {
                uint64_t x = a[i];
                size_t j = i;
                for (; j > 0 && a[j - 1] > x; j--)
                        a[j] = a[j - 1];
                a[j] = x;
        }
}

/* Turns counts of buckets into where they start. Returns the largest count. */
static size_t bucket_starts(uint32_t *counts, size_t buckets)
{
        size_t at = 0, largest = 0;
        for (size_t b = 0; b < buckets; b++) {
                size_t count = counts[b];
                largest = MAX(largest, count);
                counts[b] = (uint32_t)at;
                at += count;
        }
        return largest;
}

static unsigned highest_bit(uint64_t differ)
{
        return 64 - (unsigned)__builtin_clzll(differ);
}

/* Sorts @a, using @other, into @other if @to_other, otherwise into @a. */
static void numbers_radix(uint64_t *a, uint64_t *other, size_t n, bool to_other)
{
        uint64_t differ = 0;
        for (size_t i = 1; i < n && n > FEW; i++)
                differ |= a[i] ^ a[0];
        if (n <= FEW || differ == 0) {
                numbers_insertion(a, n);
                if (to_other)
                        memcpy(other, a, n * sizeof(*a));
                return;
        }
        uint32_t ends[1 << RADIX_BITS];
        unsigned top = highest_bit(differ), wanted = 64 - (unsigned)__builtin_clzll(n);
        unsigned most = MIN(top, (unsigned)RADIX_BITS), bits = MIN(wanted, most);
        unsigned shift = top - bits;
        size_t buckets = (size_t)1 << bits, mask = buckets - 1;
        memset(ends, 0, buckets * sizeof(*ends));
        for (size_t i = 0; i < n; i++)
                ends[(a[i] >> shift) & mask]++;
        size_t largest = bucket_starts(ends, buckets);
        for (size_t i = 0; i < n; i++)
                other[ends[(a[i] >> shift) & mask]++] = a[i];
        if (largest <= FEW) { /* all numbers are close to their place */
                numbers_insertion(other, n);
                if (!to_other)
                        memcpy(a, other, n * sizeof(*a));
                return;
        }
        for (size_t b = 0, start = 0; b < buckets; start = ends[b++])
                if (ends[b] > start)
                        numbers_radix(other + start, a + start, ends[b] - start, !to_other);
}

void numbers_sort(uint64_t *numbers, uint64_t *to, size_t n)
{
        numbers_radix(numbers, to, n, true);
}

/* The highest bit in which some of the entries differ, plus one; 1 if they do not. */
static unsigned sampled_top_bit(const struct sort_entry *entries, size_t n)
{
        uint64_t differ = 1;
        for (size_t i = 0; i < n; i += n / SAMPLE)
                differ |= entries[i].prefix ^ entries[0].prefix;
        return highest_bit(differ);
}

/* Counts entries by their topmost bits below @top. Returns the highest bit in which some differ, plus one. */
static unsigned entries_count(const struct sort_entry *entries, size_t n, unsigned top, uint32_t *counts)
{
        const unsigned shift = top - MIN(top, (unsigned)RADIX_BITS);
        const uint64_t mask = (UINT64_C(1) << (top - shift)) - 1, first = entries[0].prefix;
        uint64_t differ = 1;
        memset(counts, 0, (mask + 1) * sizeof(*counts));
        for (size_t i = 0; i < n; i++) {
                differ |= entries[i].prefix ^ first;
                counts[entries[i].prefix >> shift & mask]++;
        }
        return highest_bit(differ);
}

/* Sorts numbers that fit into the cache. */
static void entries_sort_few_numbers(struct sort_entry *entries, uint64_t *numbers, size_t n)
{
        for (size_t i = 0; i < n; i++)
                numbers[i] = entries[i].prefix;
        numbers_radix(numbers, numbers + n, n, false);
        for (size_t i = 0; i < n; i++)
                entries[i].prefix = numbers[i];
}

void entries_sort_numbers(struct sort_entry *entries, struct sort_entry *other, size_t n)
{
        uint64_t *numbers = (uint64_t *)other, *room = numbers + n;
        if (n <= BUCKET) {
                entries_sort_few_numbers(entries, numbers, n);
                return;
        }
        uint32_t ends[1 << RADIX_BITS];
        unsigned top = sampled_top_bit(entries, n), differing = top;
        do { /* at most twice: the sample may have missed a bit */
                top = differing;
                differing = entries_count(entries, n, top, ends);
        } while (differing > top);
        const unsigned shift = top - MIN(top, (unsigned)RADIX_BITS);
        const size_t buckets = (size_t)1 << (top - shift), mask = buckets - 1;
        bucket_starts(ends, buckets);
        for (size_t i = 0; i < n; i++)
                numbers[ends[(entries[i].prefix >> shift) & mask]++] = entries[i].prefix;
        for (size_t b = 0, start = 0; b < buckets; start = ends[b++]) {
                size_t count = ends[b] - start;
                /* A bucket's result is in the cache when it is copied. */
                bool near = count <= BUCKET;
                numbers_radix(numbers + start, near ? room : room + start, count, near);
                const uint64_t *sorted = near ? room : numbers + start;
                for (size_t i = 0; i < count; i++)
                        entries[start + i].prefix = sorted[i];
        }
}
