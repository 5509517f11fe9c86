/*
 * The fastest sort of a file's lines that we could write, on two threads.                       text_sort IN OUT
 *
 * Writes OUT/part-00000 and OUT/part-00001. The file is mapped, not read. An entry has the first eight bytes of a line
 * and its place. Each thread finds the lines of half of the file, and a sample of all lines divides them into buckets
 * that fit the second level cache. Then each thread sorts half of the buckets by these bytes, by the next eight where
 * they are equal, and so on, and writes a bucket's lines as soon as it is sorted. Lines have at most 16 MiB.
 */
#include <errno.h>
#include <fcntl.h>
#include <immintrin.h>
#include <sys/stat.h>
#include <unistd.h>

#include "radix.h"

enum { BUCKETS = 512, SAMPLE = 1 << 15, LENGTH_BITS = 24, AHEAD = 16, TEXT_FEW = 16, BUFFER = 1 << 20 };

struct entry {
        uint64_t prefix, place; /* the line's offset and, in the lowest LENGTH_BITS, its length */
};

struct lines {
        struct entry *entries;
        uint16_t *buckets;
        size_t n, counts[BUCKETS], bytes[BUCKETS];
};

static const unsigned char *text;
static size_t size;
static const char *out;
static struct lines lines[THREADS];
static uint64_t bounds[BUCKETS - 1];
static struct entry *sorted, *other;
static size_t starts[BUCKETS + 1];
static int middle; /* the first bucket of the second thread */

static void text_sort_fail(const char *what)
{
        perror(what);
        exit(1);
}

static size_t length_of(struct entry e)
{
        return e.place & ((1u << LENGTH_BITS) - 1);
}

static const unsigned char *line_of(struct entry e)
{
        return text + (e.place >> LENGTH_BITS);
}

/* Eight bytes of a line as a number in their order, zeros behind the end. The file is mapped with eight more bytes. */
static uint64_t prefix_of(const unsigned char *line, size_t length)
{
        uint64_t word;
        memcpy(&word, line, sizeof(word));
        word = __builtin_bswap64(word);
        return length >= 8 ? word : length ? word & ~UINT64_C(0) << (64 - 8 * length) : 0;
}

static void add_line(struct lines *l, size_t start, size_t end)
{
        if (end - start >= 1u << LENGTH_BITS) {
                fprintf(stderr, "text_sort: a line has %zu bytes\n", end - start);
                exit(1);
        }
        l->entries[l->n++] = (struct entry){prefix_of(text + start, end - start), start << LENGTH_BITS | (end - start)};
}

/* The start of the first line at @at or behind. */
static size_t line_start(size_t at)
{
        if (at == 0 || at >= size)
                return at ? size : 0;
        const unsigned char *newline = memchr(text + at - 1, '\n', size - at + 1);
        return newline ? (size_t)(newline - text) + 1 : size;
}

static void find_lines(void *argument, int thread)
{
        struct lines *l = &lines[thread];
        (void)argument;
        size_t start = line_start(size / THREADS * (size_t)thread);
        size_t end = thread == THREADS - 1 ? size : line_start(size / THREADS * (size_t)(thread + 1)), at = start;
        l->entries =
                huge_alloc((end - start + 1) * sizeof(*l->entries)); /* as many as there may be: it is not touched */
        for (; at + 32 <= end; at += 32) {
                __m256i block = _mm256_loadu_si256((const __m256i *)(text + at));
                uint32_t newlines = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(block, _mm256_set1_epi8('\n')));
                for (; newlines; newlines &= newlines - 1) {
                        size_t newline = at + (size_t)__builtin_ctz(newlines);
                        add_line(l, start, newline);
                        start = newline + 1;
                }
        }
        for (; at < end; at++)
                if (text[at] == '\n') {
                        add_line(l, start, at);
                        start = at + 1;
                }
        if (start < end)
                add_line(l, start, end);
}

static int number_compare(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
        return (x > y) - (x < y);
}

static void choose_bounds(void)
{
        static uint64_t sample[SAMPLE];
        size_t n = 0;
        for (int t = 0; t < THREADS; t++)
                for (size_t i = 0, step = lines[t].n / (SAMPLE / THREADS) + 1; i < lines[t].n; i += step)
                        sample[n++] = lines[t].entries[i].prefix;
        qsort(sample, n, sizeof(*sample), number_compare);
        for (size_t b = 0; b < BUCKETS - 1; b++)
                bounds[b] = n ? sample[n * (b + 1) / BUCKETS] : 0;
}

/* The number of bounds that are at most @prefix. */
static unsigned bucket_of(uint64_t prefix)
{
        unsigned at = 0;
        for (unsigned step = BUCKETS / 2; step; step /= 2)
                at += bounds[at + step - 1] <= prefix ? step : 0;
        return at;
}

static void count_lines(void *argument, int thread)
{
        struct lines *l = &lines[thread];
        (void)argument;
        l->buckets = huge_alloc((l->n + 1) * sizeof(*l->buckets));
        for (size_t i = 0; i < l->n; i++) {
                unsigned b = bucket_of(l->entries[i].prefix);
                l->buckets[i] = (uint16_t)b;
                l->counts[b]++;
                l->bytes[b] += length_of(l->entries[i]) + 1;
        }
}

/* Turns counts into where each thread's entries of a bucket start, and gives the threads equal shares. */
static void start_buckets(void)
{
        size_t at = 0, bytes = 0;
        for (int b = 0; b < BUCKETS; b++) {
                starts[b] = at;
                if (bytes < size / THREADS)
                        middle = b + 1;
                for (int t = 0; t < THREADS; t++) {
                        size_t count = lines[t].counts[b];
                        lines[t].counts[b] = at;
                        at += count;
                        bytes += lines[t].bytes[b];
                }
        }
        starts[BUCKETS] = at;
        sorted = huge_alloc((at + 1) * sizeof(*sorted));
        other = huge_alloc((at + 1) * sizeof(*other));
}

static void distribute_lines(void *argument, int thread)
{
        struct lines *l = &lines[thread];
        (void)argument;
        for (size_t i = 0; i < l->n; i++)
                sorted[l->counts[l->buckets[i]]++] = l->entries[i];
}

static bool is_after(struct entry a, struct entry b, size_t depth)
{
        if (a.prefix != b.prefix)
                return a.prefix > b.prefix;
        size_t x = length_of(a), y = length_of(b), least = x < y ? x : y;
        int r = least > depth ? memcmp(line_of(a) + depth, line_of(b) + depth, least - depth) : 0;
        return r ? r > 0 : x > y;
}

/* Sorts entries whose lines are equal up to @depth, where their prefixes begin. */
static void sort_lines(struct entry *a, struct entry *temporary, size_t n, size_t depth)
{
        uint64_t differ = 0;
        for (size_t i = 1; i < n && n > TEXT_FEW; i++)
                differ |= a[i].prefix ^ a[0].prefix;
        if (n <= TEXT_FEW) {
                for (size_t i = 1; i < n; i++) {
                        struct entry e = a[i];
                        size_t j = i;
                        for (; j > 0 && is_after(a[j - 1], e, depth); j--)
                                a[j] = a[j - 1];
                        a[j] = e;
                }
                return;
        }
        if (differ == 0) { /* lines that end here come first, the shorter before the longer */
                size_t ended = 0;
                for (size_t i = 0; i < n; i++)
                        if (length_of(a[i]) <= depth + 8) {
                                struct entry e = a[i];
                                a[i] = a[ended];
                                size_t j = ended++;
                                for (; j > 0 && length_of(a[j - 1]) > length_of(e); j--)
                                        a[j] = a[j - 1];
                                a[j] = e;
                        } else {
                                a[i].prefix = prefix_of(line_of(a[i]) + depth + 8, length_of(a[i]) - depth - 8);
                        }
                sort_lines(a + ended, temporary, n - ended, depth + 8);
                return;
        }
        uint32_t ends[1 << 12];
        unsigned top = 64 - (unsigned)__builtin_clzll(differ), bits = 63 - (unsigned)__builtin_clzll(n);
        bits = bits < 12 ? bits : 12;
        bits = bits < top ? bits : top;
        unsigned shift = top - bits;
        size_t buckets = (size_t)1 << bits, mask = buckets - 1;
        memset(ends, 0, buckets * sizeof(*ends));
        for (size_t i = 0; i < n; i++)
                ends[(a[i].prefix >> shift) & mask]++;
        for (size_t b = 0, at = 0; b < buckets; b++) {
                size_t count = ends[b];
                ends[b] = (uint32_t)at;
                at += count;
        }
        for (size_t i = 0; i < n; i++)
                temporary[ends[(a[i].prefix >> shift) & mask]++] = a[i];
        memcpy(a, temporary, n * sizeof(*a));
        for (size_t b = 0, start = 0; b < buckets; start = ends[b++])
                if (ends[b] - start > 1)
                        sort_lines(a + start, temporary + start, ends[b] - start, depth);
}

static void write_all(int fd, const char *from, size_t n)
{
        while (n > 0) {
                ssize_t written = write(fd, from, n);
                if (written < 0)
                        text_sort_fail("write");
                from += written;
                n -= (size_t)written;
        }
}

static void sort_and_write(void *argument, int thread)
{
        char path[4096];
        (void)argument;
        snprintf(path, sizeof(path), "%s/part-%05d", out, thread);
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
        char *buffer = malloc(BUFFER + (1u << LENGTH_BITS));
        if (fd < 0 || !buffer)
                text_sort_fail(path);
        size_t used = 0;
        for (int b = thread ? middle : 0; b < (thread ? BUCKETS : middle); b++) {
                sort_lines(sorted + starts[b], other + starts[b], starts[b + 1] - starts[b], 0);
                for (size_t i = starts[b]; i < starts[b + 1]; i++) {
                        if (i + AHEAD < starts[b + 1]) {
                                __builtin_prefetch(line_of(sorted[i + AHEAD]));
                                __builtin_prefetch(line_of(sorted[i + AHEAD]) + 64);
                        }
                        size_t length = length_of(sorted[i]);
                        memcpy(buffer + used, line_of(sorted[i]), length);
                        used += length;
                        buffer[used++] = '\n';
                        if (used >= BUFFER) {
                                write_all(fd, buffer, used);
                                used = 0;
                        }
                }
        }
        write_all(fd, buffer, used);
        if (close(fd))
                text_sort_fail(path);
        free(buffer);
}

static void map_text(const char *path)
{
        struct stat st;
        int fd = open(path, O_RDONLY);
        if (fd < 0 || fstat(fd, &st))
                text_sort_fail(path);
        size = (size_t)st.st_size;
        unsigned char *memory = huge_alloc(size + 4096 + 32); /* so that bytes behind the file can be read */
        if (size && mmap(memory, size, PROT_READ, MAP_PRIVATE | MAP_FIXED | MAP_POPULATE, fd, 0) == MAP_FAILED)
                text_sort_fail(path);
        text = memory;
        close(fd);
}

int main(int argc, char **argv)
{
        if (argc != 3)
                return fprintf(stderr, "usage: text_sort IN OUT\n"), 2;
        out = argv[2];
        if (mkdir(out, 0777))
                text_sort_fail(out);
        map_text(argv[1]);
        on_both_threads(find_lines, NULL);
        choose_bounds();
        on_both_threads(count_lines, NULL);
        start_buckets();
        on_both_threads(distribute_lines, NULL);
        on_both_threads(sort_and_write, NULL);
        char path[4096];
        snprintf(path, sizeof(path), "%s/_SUCCESS", out);
        int fd = open(path, O_WRONLY | O_CREAT, 0666);
        return fd < 0 || close(fd);
}
