/*
 * Sorts as a C program writes them that knows no more than an engine, on two threads.
 *
 *      generic_sort numbers ROWS ROUNDS        prints what apps/in_memory.c prints
 *      generic_sort text IN OUT                the lines of IN, to OUT/part-00000 and OUT/part-00001
 *
 * number_sort.c knows how numbers are spread, and text_sort.c that rows are lines of a file. This one takes rows in
 * pages, does not know how many come, and asks a function, through a pointer, for the keys of rows. Numbers are
 * sampled, moved to one of PARTITIONS ranges, and each range is sorted by its bits. Lines are copied to memory of their
 * own, divided into two ranges and sorted by merging, with a function that compares two rows.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "generator.h"
#include "radix.h"

enum { PARTITIONS = 8, PAGE = 1 << 15, BATCH = 1024, SAMPLED = 64, BLOCK = 1 << 20 };

static void *memory_grow(void *old, size_t size)
{
        void *memory = realloc(old, size);
        if (!memory) {
                perror("generic_sort");
                exit(1);
        }
        return memory;
}

/* -------------------------------------------------------------------------------------------------- numbers */

struct numbers {
        uint64_t *rows;
        size_t n, room;
};

typedef void (*keys_fn)(const int64_t *rows, size_t n, int64_t *keys);

struct number_job {
        int64_t **pages;
        size_t n;
        keys_fn keys;
        uint64_t bounds[PARTITIONS - 1];
        struct numbers parts[THREADS][PARTITIONS], sorted[PARTITIONS]; /* their memory is kept, as engines do */
        struct numbers all[THREADS];
        int next; /* partition to sort */
};

static void row_is_key(const int64_t *rows, size_t n, int64_t *keys)
{
        memcpy(keys, rows, n * sizeof(*keys));
}

static size_t page_rows(const struct number_job *job, size_t page)
{
        return job->n - page * PAGE < PAGE ? job->n - page * PAGE : PAGE;
}

static size_t job_pages(const struct number_job *job)
{
        return (job->n + PAGE - 1) / PAGE;
}

static int number_compare(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
        return (x > y) - (x < y);
}

static void choose_number_bounds(struct number_job *job)
{
        size_t pages = job_pages(job), n = 0;
        uint64_t *sample = memory_grow(NULL, (pages * SAMPLED + 1) * sizeof(*sample));
        for (size_t p = 0; p < pages; p++)
                for (size_t i = 0, rows = page_rows(job, p), step = rows / SAMPLED + 1; i < rows; i += step) {
                        int64_t key;
                        job->keys(job->pages[p] + i, 1, &key);
                        sample[n++] = (uint64_t)key ^ UINT64_C(1) << 63;
                }
        qsort(sample, n, sizeof(*sample), number_compare);
        for (size_t b = 0; b + 1 < PARTITIONS; b++)
                job->bounds[b] = n ? sample[n * (b + 1) / PARTITIONS] : 0;
        free(sample);
}

static void numbers_add(struct numbers *part, uint64_t number)
{
        if (part->n == part->room) {
                part->room = part->room ? 2 * part->room : PAGE;
                part->rows = memory_grow(part->rows, part->room * sizeof(*part->rows));
        }
        part->rows[part->n++] = number;
}

/* Empties @to, and makes room for @n numbers. */
static void numbers_reserve(struct numbers *to, size_t n)
{
        if (to->room < n) {
                if (to->room)
                        munmap(to->rows, to->room * sizeof(*to->rows));
                to->rows = huge_alloc(n * sizeof(*to->rows));
                to->room = n;
        }
        to->n = 0;
}

static void distribute_pages(void *argument, int thread)
{
        struct number_job *job = argument;
        int64_t keys[BATCH];
        size_t pages = job_pages(job);
        for (size_t p = pages * (size_t)thread / THREADS; p < pages * (size_t)(thread + 1) / THREADS; p++)
                for (size_t at = 0, rows = page_rows(job, p); at < rows; at += BATCH) {
                        size_t n = rows - at < BATCH ? rows - at : BATCH;
                        job->keys(job->pages[p] + at, n, keys);
                        for (size_t i = 0; i < n; i++) {
                                uint64_t key = (uint64_t)keys[i] ^ UINT64_C(1) << 63;
                                unsigned partition = 0;
                                for (int b = 0; b + 1 < PARTITIONS; b++)
                                        partition += job->bounds[b] < key;
                                numbers_add(&job->parts[thread][partition], key);
                        }
                }
}

static void sort_partitions(void *argument, int thread)
{
        struct number_job *job = argument;
        for (int p; (p = __atomic_fetch_add(&job->next, 1, __ATOMIC_RELAXED)) < PARTITIONS;) {
                struct numbers *all = &job->all[thread], *sorted = &job->sorted[p];
                size_t n = 0;
                for (int t = 0; t < THREADS; t++)
                        n += job->parts[t][p].n;
                numbers_reserve(all, n);
                numbers_reserve(sorted, n);
                for (int t = 0; t < THREADS; t++) {
                        struct numbers *part = &job->parts[t][p];
                        if (part->n)
                                memcpy(all->rows + all->n, part->rows, part->n * sizeof(*all->rows));
                        all->n += part->n;
                }
                sorted->n = n;
                numbers_radix(all->rows, sorted->rows, n);
        }
}

static void make_pages(struct number_job *job)
{
        job->pages = memory_grow(NULL, (job_pages(job) + 1) * sizeof(*job->pages));
        for (size_t p = 0; p < job_pages(job); p++) {
                job->pages[p] = memory_grow(NULL, PAGE * sizeof(**job->pages));
                for (size_t i = 0, rows = page_rows(job, p); i < rows; i++)
                        job->pages[p][i] = (int64_t)mix(p * PAGE + i);
        }
}

static int sort_numbers(size_t rows, int rounds)
{
        keys_fn volatile keys = row_is_key; /* a function that the compiler does not know */
        struct number_job job = {.n = rows, .keys = keys};
        make_pages(&job);
        for (int round = rounds; round > 0; round--) {
                double start = now();
                for (int p = 0; p < THREADS * PARTITIONS; p++)
                        job.parts[p / PARTITIONS][p % PARTITIONS].n = 0;
                job.next = 0;
                choose_number_bounds(&job);
                on_both_threads(distribute_pages, &job);
                on_both_threads(sort_partitions, &job);
                printf("round: %.3f\n", now() - start);
                struct total all = {0};
                for (uint64_t p = 0, last = 0; p < PARTITIONS; p++) {
                        const struct numbers *sorted = &job.sorted[p];
                        for (size_t i = 0; i < sorted->n; last = sorted->rows[i++]) {
                                if (sorted->rows[i] < last)
                                        return fprintf(stderr, "generic_sort: the numbers are not in order\n"), 1;
                                total_add(&all, 1, sorted->rows[i] ^ UINT64_C(1) << 63);
                        }
                }
                if (round == 1)
                        printf("total: %" PRId64 " %" PRIu64 "\n", all.rows, all.sum);
        }
        return 0;
}

/* ---------------------------------------------------------------------------------------------------- lines */

struct row {
        const char *bytes;
        size_t length;
};

struct rows {
        struct row *rows;
        size_t n, room;
};

typedef int (*compare_fn)(const void *a, const void *b);

struct text_job {
        int fd;
        off_t size;
        const char *out;
        compare_fn compare;
        struct rows lines[THREADS], parts[THREADS][THREADS];
        struct row bound;
};

static int row_compare(const void *x, const void *y)
{
        const struct row *a = x, *b = y;
        int r = memcmp(a->bytes, b->bytes, a->length < b->length ? a->length : b->length);
        return r ? r : (a->length > b->length) - (a->length < b->length);
}

static void exit_failed(const char *what)
{
        perror(what);
        exit(1);
}

static void rows_add(struct rows *to, struct row row)
{
        if (to->n == to->room) {
                to->room = to->room ? 2 * to->room : BATCH;
                to->rows = memory_grow(to->rows, to->room * sizeof(*to->rows));
        }
        to->rows[to->n++] = row;
}

/* Copies a line to memory that stays. */
static void lines_add(struct rows *lines, const char *bytes, size_t length)
{
        static _Thread_local char *page;
        static _Thread_local size_t left;
        if (left < length) {
                left = length > BLOCK ? length : BLOCK;
                page = memory_grow(NULL, left);
        }
        rows_add(lines, (struct row){memcpy(page, bytes, length), length});
        page += length;
        left -= length;
}

/* Reads the lines that begin in a thread's half of the file. */
static void read_lines(void *argument, int thread)
{
        struct text_job *job = argument;
        off_t at = job->size / THREADS * thread,
              end = thread == THREADS - 1 ? job->size : job->size / THREADS * (thread + 1);
        char *buffer = NULL;
        size_t room = 0, used = 0;
        bool begins = at == 0; /* false: the rest of another thread's line comes first */
        if (!begins)
                at--;
        for (off_t line = at; line < end;) {
                if (room - used < BLOCK)
                        buffer = memory_grow(buffer, room = 2 * room + 2 * BLOCK);
                ssize_t n = pread(job->fd, buffer + used, BLOCK, at);
                if (n < 0)
                        exit_failed("read");
                if (n == 0) {
                        if (begins && used)
                                lines_add(&job->lines[thread], buffer, used);
                        break;
                }
                at += n;
                used += (size_t)n;
                size_t start = 0;
                for (char *newline; line < end && (newline = memchr(buffer + start, '\n', used - start));) {
                        size_t length = (size_t)(newline - buffer) - start;
                        if (begins)
                                lines_add(&job->lines[thread], buffer + start, length);
                        begins = true;
                        line += (off_t)length + 1;
                        start += length + 1;
                }
                memmove(buffer, buffer + start, used - start);
                used -= start;
        }
        free(buffer);
}

static void choose_text_bound(struct text_job *job)
{
        struct rows sample = {0};
        for (int t = 0; t < THREADS; t++)
                for (size_t i = 0; i < job->lines[t].n; i += job->lines[t].n / BATCH + 1)
                        rows_add(&sample, job->lines[t].rows[i]);
        qsort(sample.rows, sample.n, sizeof(*sample.rows), job->compare);
        job->bound = sample.n ? sample.rows[sample.n / 2] : (struct row){"", 0};
        free(sample.rows);
}

static void distribute_lines(void *argument, int thread)
{
        struct text_job *job = argument;
        for (size_t i = 0; i < job->lines[thread].n; i++) {
                struct row row = job->lines[thread].rows[i];
                rows_add(&job->parts[thread][job->compare(&row, &job->bound) > 0], row);
        }
        free(job->lines[thread].rows);
}

/* Sorts @rows into @to. Both hold the same rows. */
static void rows_merge(compare_fn compare, struct row *rows, struct row *to, size_t n)
{
        if (n < 2)
                return;
        size_t half = n / 2, i = 0, j = half;
        rows_merge(compare, to, rows, half);
        rows_merge(compare, to + half, rows + half, n - half);
        for (size_t k = 0; k < n; k++)
                to[k] = j == n || (i < half && compare(&rows[i], &rows[j]) <= 0) ? rows[i++] : rows[j++];
}

static void sort_and_write(void *argument, int thread)
{
        struct text_job *job = argument;
        struct rows all = {0};
        for (int t = 0; t < THREADS; t++)
                for (size_t i = 0; i < job->parts[t][thread].n; i++)
                        rows_add(&all, job->parts[t][thread].rows[i]);
        struct row *sorted = memory_grow(NULL, (all.n + 1) * sizeof(*sorted));
        if (all.n)
                memcpy(sorted, all.rows, all.n * sizeof(*sorted));
        rows_merge(job->compare, all.rows, sorted, all.n);
        char path[4096];
        snprintf(path, sizeof(path), "%s/part-%05d", job->out, thread);
        FILE *file = fopen(path, "wx");
        if (!file)
                exit_failed(path);
        setvbuf(file, NULL, _IOFBF, BLOCK);
        for (size_t i = 0; i < all.n; i++)
                if (fwrite(sorted[i].bytes, 1, sorted[i].length, file) != sorted[i].length || putc('\n', file) < 0)
                        exit_failed(path);
        if (fclose(file))
                exit_failed(path);
}

static int sort_text(const char *in, const char *out)
{
        compare_fn volatile compare = row_compare;
        struct text_job job = {.fd = open(in, O_RDONLY), .out = out, .compare = compare};
        struct stat st;
        char path[4096];
        if (job.fd < 0 || fstat(job.fd, &st))
                exit_failed(in);
        job.size = st.st_size;
        if (mkdir(out, 0777))
                exit_failed(out);
        on_both_threads(read_lines, &job);
        choose_text_bound(&job);
        on_both_threads(distribute_lines, &job);
        on_both_threads(sort_and_write, &job);
        snprintf(path, sizeof(path), "%s/_SUCCESS", out);
        int fd = open(path, O_WRONLY | O_CREAT, 0666);
        return fd < 0 || close(fd);
}

int main(int argc, char **argv)
{
        if (argc == 4 && strcmp(argv[1], "numbers") == 0)
                return sort_numbers((size_t)atoll(argv[2]), atoi(argv[3]));
        if (argc == 4 && strcmp(argv[1], "text") == 0)
                return sort_text(argv[2], argv[3]);
        return fprintf(stderr, "usage: generic_sort numbers ROWS ROUNDS | text IN OUT\n"), 2;
}
