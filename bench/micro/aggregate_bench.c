/*
 * Measures the aggregate of WordCount: counts words of a Zipf vocabulary in batches of 1,024 views into a text. Prints
 * nanoseconds per row, the best of several rounds. The rounds reuse the table. As after an operator in a task, the
 * views of a batch and its text are in the cache: both are prepared outside the measured time.
 */
#include "bench.h"

#include "base/error.h"
#include "base/mem.h"
#include "rdd/aggregate/aggregate.h"
#include "rdd/aggregate/hash.h"

#include <math.h>
#include <stdbool.h>

#define TEXT ((size_t)64 << 20)
#define ROUNDS 7

struct text {
        char *data;
        fst_bytes *words;
        size_t n;
};

/* @vocabulary words of 3 … 2·@length - 3 letters with a frequency of 1/rank, separated by single spaces. */
static struct text text_new(size_t vocabulary, size_t length)
{
        uint64_t random = 7;
        double *sums = mem_alloc(vocabulary * sizeof(*sums)), sum = 0;
        fst_bytes *dictionary = mem_alloc(vocabulary * sizeof(*dictionary));
        for (size_t i = 0; i < vocabulary; i++) {
                size_t len = 3 + bench_random(&random) % (2 * length - 5);
                char *word = mem_alloc(len);
                for (size_t j = 0; j < len; j++)
                        word[j] = (char)('a' + bench_random(&random) % 26);
                dictionary[i] = (fst_bytes){word, len};
                sums[i] = sum += 1.0 / (double)(i + 1);
        }
        struct text t = {.data = mem_alloc(TEXT), .words = mem_alloc(TEXT / 4 * sizeof(fst_bytes))};
        for (size_t at = 0;;) {
                double x = (double)(bench_random(&random) >> 11) * 0x1p-53 * sum;
                size_t low = 0, high = vocabulary - 1;
                while (low < high) {
                        size_t middle = (low + high) / 2;
                        if (sums[middle] < x)
                                low = middle + 1;
                        else
                                high = middle;
                }
                fst_bytes word = dictionary[low];
                if (at + word.len + 1 > TEXT)
                        break;
                memcpy(t.data + at, word.data, word.len);
                t.words[t.n++] = (fst_bytes){t.data + at, word.len};
                at += word.len;
                t.data[at++] = ' ';
        }
        for (size_t i = 0; i < vocabulary; i++)
                free((char *)dictionary[i].data);
        free(dictionary);
        free(sums);
        return t;
}

static void measure(const char *name, fst_type type, const fst_column *keys, size_t n, size_t stride)
{
        static int64_t ones[FST_BATCH_ROWS];
        static uint64_t hashes[FST_BATCH_ROWS];
        static char near[FST_BATCH_ROWS * sizeof(fst_bytes)];
        static volatile unsigned touched;
        for (size_t i = 0; i < FST_BATCH_ROWS; i++)
                ones[i] = 1;
        struct memory_manager *manager = memory_manager_new((size_t)1 << 30, 0.5);
        struct aggregate *a = aggregate_new();
        double best = 1e9, best_read = 1e9, first = 0;
        size_t found = 0;
        for (int round = 0; round < ROUNDS; round++) {
                struct memory_task *task = memory_task_new(manager);
                struct aggregate_options options = {
                        .memory = task,
                        .type = type,
                        .combine = {.shape = FST_SHAPE(FST_FORM_BUILTIN, FST_BUILTIN_SUM, 0), .name = "fst_fn_sum"},
                };
                double start = bench_now(), adding = 0;
                if (aggregate_start(a, &options, NULL))
                        abort();
                adding += bench_now() - start;
                for (size_t i = 0; i < n; i += FST_BATCH_ROWS) {
                        fst_batch batch = {.rows = (uint32_t)MIN(n - i, (size_t)FST_BATCH_ROWS),
                                           .type = type,
                                           .key.fixed = near,
                                           .value.i64 = ones};
                        uint32_t at = 0;
                        memcpy(near, keys->fixed + i * stride, batch.rows * stride);
                        if (type.key == FST_KIND_BYTES)
                                for (uint32_t j = 0; j < batch.rows; j++)
                                        touched += batch.key.bytes[j].data[0];
                        start = bench_now();
                        if (aggregate_add(a, &batch, &at, NULL))
                                abort();
                        adding += bench_now() - start;
                }
                double added = bench_now();
                int64_t total = 0;
                fst_batch out;
                found = 0;
                while (aggregate_next(a, &out, hashes, NULL) == 0 && out.rows) {
                        for (uint32_t i = 0; i < out.rows; i++)
                                total += out.value.i64[i];
                        found += out.rows;
                }
                double read = bench_now();
                if ((size_t)total != n)
                        abort();
                if (round == 0)
                        first = adding;
                best = MIN(best, adding);
                best_read = MIN(best_read, read - added);
                aggregate_reset(a);
                memory_task_free(task);
        }
        (void)touched;
        aggregate_free(a);
        memory_manager_free(manager);
        printf("%-28s %9zu rows %8zu keys: %5.2f ns a row (fresh table %5.2f), reading %5.2f ns a key\n", name, n,
               found, best * 1e9 / (double)n, first * 1e9 / (double)n, best_read * 1e9 / (double)found);
}

int main(void)
{
        bench_pin();
        struct text t = text_new(200000, 7);
        measure("zipf words, 200,000", FST_PAIR(BYTES, I64), &(fst_column){.bytes = t.words}, t.n, sizeof(fst_bytes));
        uint64_t *hashes = mem_alloc(FST_BATCH_ROWS * sizeof(*hashes)), sum = 0;
        double start = bench_now();
        for (size_t i = 0; i + FST_BATCH_ROWS <= t.n; i += FST_BATCH_ROWS) {
                hash_keys(&(fst_batch){.rows = FST_BATCH_ROWS, .type = FST_BYTES, .key.bytes = t.words + i}, hashes);
                sum += hashes[0];
        }
        printf("%-28s %5.2f ns a row (%u)\n", "hash_keys alone", (bench_now() - start) * 1e9 / (double)t.n,
               (unsigned)sum & 1);
        free(t.words);
        free(t.data);
        t = text_new(1000, 7);
        measure("zipf words, 1,000", FST_PAIR(BYTES, I64), &(fst_column){.bytes = t.words}, t.n, sizeof(fst_bytes));
        free(t.words);
        free(t.data);
        t = text_new(200000, 30);
        measure("zipf words of 30 bytes", FST_PAIR(BYTES, I64), &(fst_column){.bytes = t.words}, t.n,
                sizeof(fst_bytes));
        int64_t *numbers = mem_alloc(t.n * sizeof(*numbers));
        uint64_t random = 1;
        for (size_t i = 0; i < t.n; i++)
                numbers[i] = (int64_t)(bench_random(&random) % 1000000);
        measure("uniform i64, 1,000,000", FST_PAIR(I64, I64), &(fst_column){.i64 = numbers}, t.n, sizeof(int64_t));
        free(numbers);
        free(hashes);
        free(t.words);
        free(t.data);
        return 0;
}
