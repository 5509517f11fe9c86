/*
 * Places keys; see partitioner.h.
 *
 * A range partitioner compares 8-byte prefixes in the key's order, and whole keys only where prefixes are equal. The
 * search over the prefixes is branch-free: bounds are few and stay in cache.
 */
#include "rdd/partitioner.h"

#include "base/mem.h"
#include "rdd/aggregate/hash.h"
#include "rdd/pipeline/op.h"
#include "rdd/pipeline/record.h"
#include "rdd/pipeline/struct_view.h"
#include "rdd/aggregate/sampler.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

void partitioner_init_hash(struct partitioner *p, int partitions, fst_type key)
{
        *p = (struct partitioner){.kind = PARTITIONER_HASH,
                                  .partitions = partitions,
                                  .key = {.key = key.key, .key_size = key.key_size},
                                  .ready = true};
}

void partitioner_init_range(struct partitioner *p, int partitions, fst_type key, enum fst_order order)
{
        *p = (struct partitioner){.kind = PARTITIONER_RANGE,
                                  .partitions = partitions,
                                  .key = {.key = key.key, .key_size = key.key_size},
                                  .order = order,
                                  .ready = partitions <= 1};
}

void partitioner_init_function(struct partitioner *p, int partitions, fst_type key, const fst_fn *fn)
{
        partitioner_init_hash(p, partitions, key);
        p->kind = PARTITIONER_FUNCTION;
        p->fn = *fn;
}

void partitioner_init_round_robin(struct partitioner *p, int partitions)
{
        *p = (struct partitioner){.kind = PARTITIONER_ROUND_ROBIN, .partitions = partitions, .ready = true};
}

void partitioner_init_modulo(struct partitioner *p, int partitions, int64_t hashed_by)
{
        *p = (struct partitioner){.kind = PARTITIONER_MODULO,
                                  .partitions = partitions,
                                  .key = FST_I64,
                                  .ready = true,
                                  .hashed_by = hashed_by};
}

void partitioner_init_skewed(struct partitioner *p, int partitions, fst_type key, enum join_side side)
{
        partitioner_init_hash(p, partitions, key);
        p->kind = PARTITIONER_SKEWED;
        p->side = side;
        p->ready = false;
}

void partitioner_set_heavy_keys(struct partitioner *p, const struct heavy_keys *heavy)
{
        heavy_keys_copy(&p->heavy, heavy);
        __atomic_store_n(&p->ready, true, __ATOMIC_RELEASE);
}

int partitioner_check_function(fst_type key, const fst_fn *fn, struct fst_error *error)
{
        char text[64];
        if (fn->shape == FST_SHAPE(FST_FORM_PLACE, fst_type_seen(key).key, FST_KIND_NONE))
                return 0;
        return error_set(error, -EINVAL,
                         "%s does not place keys that are %s: it must be int f(fst_task *, KEY, int partitions)",
                         fn->name, fst_type_name((fst_type){.key = key.key, .key_size = key.key_size}, text));
}

void partitioner_deinit(struct partitioner *p)
{
        for (int i = 0; p->bounds && i < p->n_bounds; i++)
                free((void *)p->bounds[i].data);
        free(p->bounds);
        free(p->prefixes);
        heavy_keys_deinit(&p->heavy);
        *p = (struct partitioner){0};
}

static bool partitioner_same_function(const fst_fn *a, const fst_fn *b)
{
        return a->code == b->code && a->captured_size == b->captured_size &&
               (a->captured_size == 0 || memcmp(a->captured, b->captured, a->captured_size) == 0);
}

bool partitioner_equal(const struct partitioner *a, const struct partitioner *b)
{
        if (a == b)
                return true;
        if (!a || !b || a->kind != b->kind || a->partitions != b->partitions || a->key.key != b->key.key ||
            a->key.key_size != b->key.key_size)
                return false;
        return a->kind == PARTITIONER_HASH || (a->kind == PARTITIONER_MODULO && a->hashed_by == b->hashed_by) ||
               (a->kind == PARTITIONER_FUNCTION && partitioner_same_function(&a->fn, &b->fn));
}

/* ----------------------------------------------------------------------------------------------- prefixes */

static inline uint64_t bytes_prefix(fst_bytes key)
{
        return record_bytes((const unsigned char *)key.data, key.len, 0, key.len);
}

uint64_t key_prefix(fst_type key, fst_column keys, uint32_t row)
{
        switch (key.key) {
        case FST_KIND_I64:
                return record_i64_prefix(keys.i64[row]);
        case FST_KIND_F64:
                return record_f64_prefix(keys.f64[row]);
        default:
                return bytes_prefix(key_view(key, keys, row));
        }
}

fst_bytes key_view(fst_type key, fst_column keys, uint32_t row)
{
        switch (key.key) {
        case FST_KIND_BYTES:
                return keys.bytes[row];
        case FST_KIND_FIXED:
                return (fst_bytes){keys.fixed + (size_t)row * key.key_size, key.key_size};
        default:
                return (fst_bytes){0};
        }
}

/* ------------------------------------------------------------------------------------------------- bounds */

static int sample_key_compare(const void *a, const void *b)
{
        const struct sample_key *x = a, *y = b;
        if (x->prefix != y->prefix)
                return x->prefix < y->prefix ? -1 : 1;
        return x->bytes.data && y->bytes.data ? fst_bytes_compare(x->bytes, y->bytes) : 0;
}

static void partitioner_add_bound(struct partitioner *p, const struct sample_key *key)
{
        p->prefixes[p->n_bounds] = key->prefix;
        if (p->bounds) {
                char *copy = mem_alloc(key->bytes.len + 1);
                memcpy(copy, key->bytes.data, key->bytes.len);
                p->bounds[p->n_bounds] = (fst_bytes){copy, key->bytes.len};
        }
        p->n_bounds++;
}

void partitioner_set_bounds(struct partitioner *p, struct sample_key *keys, size_t n)
{
        size_t wanted = p->partitions > 1 ? (size_t)p->partitions - 1 : 0;
        p->prefixes = new_array(uint64_t, wanted + 1);
        if (p->key.key == FST_KIND_BYTES || p->key.key == FST_KIND_FIXED)
                p->bounds = new_array(fst_bytes, wanted + 1);

        qsort(keys, n, sizeof(*keys), sample_key_compare);
        double total = 0, seen = 0;
        for (size_t i = 0; i < n; i++)
                total += keys[i].weight;
        const struct sample_key *last = NULL;
        for (size_t i = 0; i < n && (size_t)p->n_bounds < wanted; i++) {
                seen += keys[i].weight;
                if (seen < total * (double)(p->n_bounds + 1) / p->partitions)
                        continue;
                if (last && sample_key_compare(last, &keys[i]) == 0)
                        continue; /* equal keys stay in one partition */
                partitioner_add_bound(p, &keys[i]);
                last = &keys[i];
        }
        __atomic_store_n(&p->ready, true, __ATOMIC_RELEASE);
}

void partitioner_copy_bounds(struct partitioner *p, const struct partitioner *from)
{
        size_t n = (size_t)from->n_bounds;
        p->prefixes = new_array(uint64_t, n + 1);
        if (n)
                memcpy(p->prefixes, from->prefixes, n * sizeof(*p->prefixes));
        if (from->bounds) {
                p->bounds = new_array(fst_bytes, n + 1);
                for (size_t i = 0; i < n; i++) {
                        char *copy = mem_alloc(from->bounds[i].len + 1);
                        if (from->bounds[i].len)
                                memcpy(copy, from->bounds[i].data, from->bounds[i].len);
                        p->bounds[i] = (fst_bytes){copy, from->bounds[i].len};
                }
        }
        p->n_bounds = from->n_bounds;
        __atomic_store_n(&p->ready, true, __ATOMIC_RELEASE);
}

/* ------------------------------------------------------------------------------------------------ placing */

/* Searches the bounds from @low on that share the key's prefix. For URLs and dates these may be all bounds. */
static uint32_t partitioner_range_within(const struct partitioner *p, uint32_t low, uint64_t prefix, fst_bytes bytes)
{
        uint32_t high = (uint32_t)p->n_bounds;
        while (low < high) {
                uint32_t middle = low + (high - low) / 2;
                if (p->prefixes[middle] == prefix && fst_bytes_compare(p->bounds[middle], bytes) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

#define FEW_BOUNDS 32 /* so many are compared one by one with several prefixes at a time */

#ifdef __x86_64__
__attribute__((target("avx2"))) static void count_few_bounds_below(const uint64_t *bounds, uint32_t n_bounds,
                                                                   const uint64_t *prefixes, uint32_t n,
                                                                   uint32_t *restrict below)
{
        const __m256i sign = _mm256_set1_epi64x(INT64_MIN); /* signed comparisons order unsigned numbers */
        for (uint32_t i = 0; i < n; i += 4) {
                __m256i x = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)&prefixes[i]), sign);
                __m256i count = _mm256_setzero_si256();
                for (uint32_t j = 0; j < n_bounds; j++) {
                        __m256i bound = _mm256_xor_si256(_mm256_set1_epi64x((int64_t)bounds[j]), sign);
                        count = _mm256_sub_epi64(count, _mm256_cmpgt_epi64(x, bound));
                }
                const __m256i low = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
                _mm_storeu_si128((__m128i *)&below[i], _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(count, low)));
        }
}
#endif

/* Finds for each of @n prefixes how many of @n_bounds ascending bounds are below it. */
static void count_bounds_below(const uint64_t *bounds, uint32_t n_bounds, const uint64_t *prefixes, uint32_t n,
                               uint32_t *restrict below)
{
        uint32_t first = 0;
#ifdef __x86_64__
        if (n_bounds <= FEW_BOUNDS && __builtin_cpu_supports("avx2")) {
                count_few_bounds_below(bounds, n_bounds, prefixes, n & ~3u, below);
                first = n & ~3u;
        }
#endif
        for (uint32_t i = first; i < n; i++) {
                const uint64_t prefix = prefixes[i], *base = bounds;
                uint32_t left = n_bounds;
                while (left > 1) {
                        uint32_t half = left / 2;
                        base += half & -(size_t)(base[half - 1] < prefix); /* a condition would become a branch */
                        left -= half;
                }
                below[i] = (uint32_t)(base - bounds) + (left == 1 && base[0] < prefix);
        }
}

static void partitioner_read_prefixes(const fst_batch *batch, fst_type key, uint64_t *prefixes)
{
        for (uint32_t i = 0; i < batch->rows; i++) {
                if (key.key == FST_KIND_I64)
                        prefixes[i] = record_i64_prefix(batch->key.i64[i]);
                else if (key.key == FST_KIND_F64)
                        prefixes[i] = record_f64_prefix(batch->key.f64[i]);
                else
                        prefixes[i] = bytes_prefix(key_view(key, batch->key, i));
        }
}

/* A key equal to bound i belongs to partition i. */
static void partitioner_place_ranges(const struct partitioner *p, const fst_batch *batch, uint32_t *out)
{
        const uint32_t n_bounds = (uint32_t)p->n_bounds;
        uint64_t prefixes[FST_BATCH_ROWS] = {0};
        partitioner_read_prefixes(batch, p->key, prefixes);
        count_bounds_below(p->prefixes, n_bounds, prefixes, batch->rows, out);
        for (uint32_t i = 0; p->bounds && i < batch->rows; i++)
                if (out[i] < n_bounds && p->prefixes[out[i]] == prefixes[i])
                        out[i] = partitioner_range_within(p, out[i], prefixes[i], key_view(p->key, batch->key, i));
        for (uint32_t i = 0; p->order != FST_ASCENDING && i < batch->rows; i++)
                out[i] = n_bounds - out[i];
}

void partitioner_place_hashes(const struct partitioner *p, const uint64_t *hashes, uint32_t n, uint32_t *out)
{
        for (uint32_t i = 0; i < n; i++)
                out[i] = hash_partition(hashes[i], (uint32_t)p->partitions);
}

static void partitioner_place_modulo(const struct partitioner *p, const fst_batch *batch, uint32_t *out)
{
        for (uint32_t i = 0; i < batch->rows; i++) {
                int32_t rest = (int32_t)batch->key.i64[i] % p->partitions;
                out[i] = (uint32_t)(rest < 0 ? rest + p->partitions : rest);
        }
}

void partitioner_place(const struct partitioner *p, const fst_batch *batch, uint32_t *out)
{
        if (p->partitions <= 1) {
                memset(out, 0, batch->rows * sizeof(*out));
                return;
        }
        if (p->kind == PARTITIONER_HASH) {
                uint64_t hashes[FST_BATCH_ROWS];
                hash_keys(batch, hashes);
                partitioner_place_hashes(p, hashes, batch->rows, out);
                return;
        }
        if (p->kind == PARTITIONER_MODULO) {
                partitioner_place_modulo(p, batch, out);
                return;
        }
        partitioner_place_ranges(p, batch, out);
}

/* --------------------------------------------------------------------------------- placing by function, round robin */

/* The result of function @code for row @row. */
static int partitioner_call_function(void (*code)(void), fst_task *task, const fst_batch *batch, uint32_t row,
                                     int partitions)
{
        fst_column key = batch->key;
        switch (batch->type.key) {
        case FST_KIND_I64:
                return ((int (*)(fst_task *, int64_t, int))code)(task, key.i64[row], partitions);
        case FST_KIND_F64:
                return ((int (*)(fst_task *, double, int))code)(task, key.f64[row], partitions);
        case FST_KIND_BYTES:
                return ((int (*)(fst_task *, fst_bytes, int))code)(task, key.bytes[row], partitions);
        default:
                return ((int (*)(fst_task *, const void *, int))code)(
                        task, key.fixed + (size_t)row * batch->type.key_size, partitions);
        }
}

static int partitioner_place_by_function(const struct row_placer *placing, const fst_batch *batch, uint32_t *out)
{
        const struct partitioner *p = placing->p;
        struct task_run *run = placing->run;
        const void *captured = run->task.captured;
        const char *outer = task_run_enter(run, p->fn.name);
        run->task.captured = p->fn.captured;
        struct struct_view view;
        fst_batch seen;
        struct_view_init(&view, (fst_type){.key = batch->type.key, .key_size = batch->type.key_size});
        if (struct_view_changes(&view)) {
                struct fst_error error = FST_ERROR_INIT;
                int r = struct_view_batch(&view, batch, &seen, &error);
                if (r)
                        task_run_fail_with(run, r, &error);
                batch = &seen;
        }
        for (uint32_t i = 0; i < batch->rows && !run->status; i++) {
                int place = partitioner_call_function(p->fn.code, &run->task, batch, i, p->partitions);
                if (place < 0 || place >= p->partitions)
                        task_run_fail(run, -EINVAL, "%s placed a key in partition %d of %d", p->fn.name, place,
                                      p->partitions);
                out[i] = (uint32_t)place;
        }
        struct_view_deinit(&view);
        run->task.captured = captured;
        task_run_leave(run, outer);
        return run->status;
}

void row_placer_begin(struct row_placer *placing, const struct partitioner *p, struct task_run *run, int partition)
{
        *placing = (struct row_placer){.p = p, .run = run};
        if (p->kind == PARTITIONER_ROUND_ROBIN && p->partitions > 1)
                placing->next = (uint32_t)xorshift_random_int(partition, p->partitions);
}

int row_placer_place(struct row_placer *placing, const fst_batch *batch, uint32_t *out)
{
        const struct partitioner *p = placing->p;
        if (p->kind == PARTITIONER_FUNCTION)
                return partitioner_place_by_function(placing, batch, out);
        if (p->kind != PARTITIONER_ROUND_ROBIN) {
                partitioner_place(p, batch, out);
                return 0;
        }
        for (uint32_t i = 0; i < batch->rows; i++) {
                placing->next = placing->next + 1 < (uint32_t)p->partitions ? placing->next + 1 : 0;
                out[i] = placing->next;
        }
        return 0;
}
