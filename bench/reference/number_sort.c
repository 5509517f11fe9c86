/*
 * The fastest sort of 64-bit numbers in memory that we could write, on two threads.          number_sort ROWS ROUNDS
 *
 * It knows that the numbers are spread evenly: the first thirteen bits give 8,192 buckets that fit the second level
 * cache. Each thread counts and distributes half of the numbers, gathering a cache line for each bucket before it
 * writes, and then the threads sort the buckets. Prints what apps/in_memory.c prints.
 */
#include <immintrin.h>
#include <inttypes.h>

#include "clock.h"
#include "generator.h"
#include "radix.h"

enum { BITS = 13, BUCKETS = 1 << BITS, LINE = 8 };

#define SIGN (UINT64_C(1) << 63)

struct sort {
        const uint64_t *in;
        uint64_t *middle, *out;
        size_t n, counts[THREADS][BUCKETS];
        int next; /* bucket to sort */
};

static size_t half_start(const struct sort *s, int thread)
{
        return s->n * (size_t)thread / THREADS;
}

static void count_half(void *argument, int thread)
{
        struct sort *s = argument;
        for (size_t i = half_start(s, thread), end = half_start(s, thread + 1); i < end; i++)
                s->counts[thread][(s->in[i] ^ SIGN) >> (64 - BITS)]++;
}

static void flush_line(uint64_t *out, const uint64_t *line, size_t start, size_t end)
{
        size_t first = (end - 1) & ~(size_t)(LINE - 1);
        if (start <= first && end == first + LINE) {
                for (int i = 0; i < LINE; i += 4)
                        _mm256_stream_si256((__m256i *)(out + first + i), *(const __m256i *)(line + i));
                return;
        }
        for (size_t i = start > first ? start : first; i < end; i++)
                out[i] = line[i % LINE];
}

static void distribute_half(void *argument, int thread)
{
        static struct {
                uint64_t numbers[LINE];
        } lines[THREADS][BUCKETS] __attribute__((aligned(64)));
        static size_t ends[THREADS][BUCKETS];
        struct sort *s = argument;
        const size_t *starts = s->counts[thread];
        memcpy(ends[thread], starts, sizeof(ends[thread]));
        for (size_t i = half_start(s, thread), end = half_start(s, thread + 1); i < end; i++) {
                uint64_t x = s->in[i] ^ SIGN, b = x >> (64 - BITS);
                size_t at = ends[thread][b]++;
                lines[thread][b].numbers[at % LINE] = x;
                if (at % LINE == LINE - 1)
                        flush_line(s->middle, lines[thread][b].numbers, starts[b], at + 1);
        }
        for (size_t b = 0; b < BUCKETS; b++)
                if (ends[thread][b] > starts[b] && ends[thread][b] % LINE)
                        flush_line(s->middle, lines[thread][b].numbers, starts[b], ends[thread][b]);
        _mm_sfence();
}

static void sort_buckets(void *argument, int thread)
{
        struct sort *s = argument;
        (void)thread;
        for (int b; (b = __atomic_fetch_add(&s->next, 1, __ATOMIC_RELAXED)) < BUCKETS;) {
                size_t start = s->counts[0][b], end = b + 1 < BUCKETS ? s->counts[0][b + 1] : s->n;
                numbers_radix(s->middle + start, s->out + start, end - start);
                for (size_t i = start; i < end; i++)
                        s->out[i] ^= SIGN;
        }
}

/* Turns counts into where each thread's numbers of a bucket start. */
static void start_buckets(struct sort *s)
{
        for (size_t b = 0, at = 0; b < BUCKETS; b++)
                for (int t = 0; t < THREADS; t++) {
                        size_t count = s->counts[t][b];
                        s->counts[t][b] = at;
                        at += count;
                }
}

static void make_half(void *argument, int thread)
{
        struct sort *s = argument;
        for (size_t i = half_start(s, thread), end = half_start(s, thread + 1); i < end; i++)
                ((uint64_t *)s->in)[i] = mix(i);
}

int main(int argc, char **argv)
{
        if (argc != 3)
                return fprintf(stderr, "usage: number_sort ROWS ROUNDS\n"), 2;
        struct sort s = {.n = (size_t)atoll(argv[1])};
        size_t size = (s.n + 1) * sizeof(uint64_t);
        s.in = huge_alloc(size);
        s.middle = huge_alloc(size); /* memory is kept from round to round, as engines do */
        s.out = huge_alloc(size);
        on_both_threads(make_half, &s);
        for (int round = atoi(argv[2]); round > 0; round--) {
                double start = now();
                memset(s.counts, 0, sizeof(s.counts));
                s.next = 0;
                on_both_threads(count_half, &s);
                start_buckets(&s);
                on_both_threads(distribute_half, &s);
                on_both_threads(sort_buckets, &s);
                printf("round: %.3f\n", now() - start);
                struct total all = {0};
                for (size_t i = 0; i < s.n; i++) {
                        total_add(&all, 1, s.out[i]);
                        if (i > 0 && (int64_t)s.out[i - 1] > (int64_t)s.out[i])
                                return fprintf(stderr, "number_sort: number %zu is out of order\n", i), 1;
                }
                if (round == 1)
                        printf("total: %" PRId64 " %" PRIu64 "\n", all.rows, all.sum);
        }
        return 0;
}
