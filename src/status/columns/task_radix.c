/*
 * See task_radix.h.
 *
 * One pass counts the keys in buckets, a second one collects those of the buckets that hold a wanted rank. A sample
 * gives the range of the buckets, so that few keys that are far away from the others do not make them wide. Buckets
 * that hold many keys nevertheless are divided again. Runs of keys that lie in one bucket are not read.
 */
#include "status/columns/task_radix.h"

#include "base/hash_table.h"
#include "base/mem.h"

enum { MAX_COLLECTED = 1 << 15, SAMPLES = 1 << 12, SAMPLE_TAIL = 10, MIN_SAMPLED = 8 * SAMPLES };

struct key_window key_window_of(uint64_t low, uint64_t high)
{
        struct key_window w = {.low = low};
        while ((high - low) >> w.shift >= KEY_BUCKETS)
                w.shift++;
        w.n = ((high - low) >> w.shift) + 1;
        return w;
}

/* The last key of the window. */
static uint64_t key_window_end(const struct key_window *w)
{
        uint64_t end;
        return __builtin_add_overflow(w->low, ((uint64_t)w->n << w->shift) - 1, &end) ? UINT64_MAX : end;
}

/* The bounds of a bucket. */
static uint64_t key_window_least(const struct key_window *w, size_t bucket)
{
        return bucket == 0 ? 0 : bucket > w->n ? key_window_end(w) + 1 : w->low + ((uint64_t)(bucket - 1) << w->shift);
}

static uint64_t key_window_greatest(const struct key_window *w, size_t bucket)
{
        return bucket > w->n ? UINT64_MAX : bucket == w->n ? key_window_end(w) : key_window_least(w, bucket + 1) - 1;
}

static uint16_t key_window_bucket(const struct key_window *w, uint64_t key)
{
        return (uint16_t)(key < w->low ? 0 : MIN(1 + ((key - w->low) >> w->shift), (uint64_t)w->n + 1));
}

/* --------------------------------------------------------------------------------------------- buckets of keys */

/* The window in the differences of a run, as numbers of 32 bits. */
struct run_window {
        uint32_t low; /* all smaller differences are in bucket 0 */
        uint32_t cap; /* all differences from low + cap on are in the last bucket */
        uint32_t offset;
        unsigned shift;
};

#define FIND_BUCKETS(type)                                                                                             \
        do {                                                                                                           \
                const type *from = run->packed;                                                                        \
                for (size_t i = 0; i < n; i++) {                                                                       \
                        uint32_t at = from[i];                                                                         \
                        at = (at > w.low ? at : w.low) - w.low;                                                        \
                        at = at < w.cap ? at : w.cap;                                                                  \
                        buckets[i] = (uint16_t)((at + w.offset) >> w.shift);                                           \
                }                                                                                                      \
        } while (0)

/* The compiler makes vector operations of these loops. */
#define FIND_BUCKETS_BY_WIDTH                                                                                          \
        do {                                                                                                           \
                size_t n = run->n;                                                                                     \
                if (run->width == sizeof(uint8_t))                                                                     \
                        FIND_BUCKETS(uint8_t);                                                                         \
                else if (run->width == sizeof(uint16_t))                                                               \
                        FIND_BUCKETS(uint16_t);                                                                        \
                else                                                                                                   \
                        FIND_BUCKETS(uint32_t);                                                                        \
        } while (0)

#ifdef __x86_64__
__attribute__((target("avx2"))) static void key_run_find_buckets_avx2(const struct key_run *run, struct run_window w,
                                                                      uint16_t *restrict buckets)
{
        FIND_BUCKETS_BY_WIDTH;
}
#endif

static void key_run_find_narrow_buckets(const struct key_run *run, struct run_window w, uint16_t *restrict buckets)
{
#ifdef __x86_64__
        if (__builtin_cpu_supports("avx2")) {
                key_run_find_buckets_avx2(run, w, buckets);
                return;
        }
#endif
        FIND_BUCKETS_BY_WIDTH;
}

/* Sets the window in the differences of a run that is partly in it. Returns false if it needs more than 32 bits. */
static bool key_run_window(const struct key_run *run, const struct key_window *w, struct run_window *out)
{
        uint64_t bucket = (uint64_t)1 << w->shift, cap = ((uint64_t)w->n + 1) << w->shift;
        if (run->width > sizeof(uint32_t) || w->low < bucket || cap > UINT32_MAX)
                return false;
        uint64_t origin = w->low - bucket; /* of bucket 0 */
        uint64_t low = origin > run->base ? origin - run->base : 0, offset = run->base + low - origin;
        if (low > UINT32_MAX)
                return false;
        *out = (struct run_window){(uint32_t)low, (uint32_t)(cap - offset), (uint32_t)offset, w->shift};
        return true;
}

void key_run_find_buckets(const struct key_run *run, const struct key_window *w, uint16_t *buckets)
{
        uint16_t first = key_window_bucket(w, run->least);
        struct run_window narrow;
        if (first == key_window_bucket(w, run->greatest)) {
                for (size_t i = 0; i < run->n; i++)
                        buckets[i] = first;
        } else if (key_run_window(run, w, &narrow)) {
                key_run_find_narrow_buckets(run, narrow, buckets);
        } else if (run->width == sizeof(uint64_t)) {
                const uint64_t *from = run->packed;
                for (size_t i = 0; i < run->n; i++)
                        buckets[i] = key_window_bucket(w, run->base + from[i]);
        } else {
                for (size_t i = 0; i < run->n; i++)
                        buckets[i] = key_window_bucket(w, key_run_key(run, i));
        }
}

/* ---------------------------------------------------------------------------------------------------- bounds */

size_t task_keys_count(const struct task_keys *k)
{
        struct key_run runs[MAX_KEY_RUNS];
        struct key_buffer buffer;
        size_t n = 0;
        for (size_t block = 0; block < task_keys_blocks(k); block++)
                for (size_t i = 0, n_runs = task_keys_run_bounds(k, block, runs, &buffer); i < n_runs; i++)
                        n += runs[i].n - runs[i].n_odd;
        return n;
}

/* Returns the element of @rank in the sorted order of @a, which it reorders (Hoare's selection). */
static uint64_t keys_nth(uint64_t *a, size_t n, size_t rank)
{
        size_t low = 0, high = n - 1;
        while (low < high) {
                uint64_t pivot = a[low + (high - low) / 2];
                size_t i = low, j = high;
                for (;;) {
                        while (a[i] < pivot)
                                i++;
                        while (a[j] > pivot)
                                j--;
                        if (i >= j)
                                break;
                        uint64_t swap = a[i];
                        a[i++] = a[j];
                        a[j--] = swap;
                }
                /* a[low..j] <= pivot, a[j+1..high] >= pivot */
                if (rank <= j)
                        high = j;
                else
                        low = j + 1;
        }
        return a[low];
}

/* Returns a window that holds most of the keys from @least to @greatest. */
static struct key_window task_keys_sample(const struct task_keys *k, uint64_t least, uint64_t greatest)
{
        struct key_run runs[MAX_KEY_RUNS];
        struct key_buffer buffer;
        size_t n_blocks = task_keys_blocks(k), n_samples = 0, of_block = SAMPLES / n_blocks + 1;
        uint64_t *samples = new_array(uint64_t, n_blocks * of_block * MAX_KEY_RUNS);
        for (size_t block = 0; block < n_blocks; block++)
                for (size_t i = 0, n_runs = task_keys_runs(k, block, runs, &buffer); i < n_runs; i++)
                        for (size_t j = 0; j < MIN(of_block, runs[i].n); j++) {
                                size_t place = object_hash_number(block * of_block + j) % runs[i].n;
                                uint64_t key = key_run_key(&runs[i], place);
                                if (key >= least && key <= greatest)
                                        samples[n_samples++] = key;
                        }
        if (n_samples > 4 * SAMPLE_TAIL) {
                least = keys_nth(samples, n_samples, SAMPLE_TAIL);
                greatest = keys_nth(samples, n_samples, n_samples - 1 - SAMPLE_TAIL);
        }
        free(samples);
        return key_window_of(least, greatest);
}

/* ------------------------------------------------------------------------------------------------- selection */

/* A bucket that holds wanted ranks, and its keys. */
struct wanted_bucket {
        size_t before, n;            /* keys in earlier buckets, in this one */
        size_t first_rank, end_rank; /* the wanted ranks */
        uint64_t *keys;              /* NULL: they are equal, or to be divided */
        size_t n_keys;
        uint64_t least, greatest;
};

struct key_selection {
        struct key_window window;
        uint32_t counts[KEY_BUCKETS + 2];
        uint8_t slots[KEY_BUCKETS + 2]; /* 1 + index into wanted; 0: unwanted, or not collected */
        struct wanted_bucket wanted[MAX_KEY_RANKS];
        size_t n_wanted;
        bool collects;
};

static void key_selection_count(struct key_selection *s, const struct task_keys *k)
{
        struct key_run runs[MAX_KEY_RUNS];
        struct key_buffer buffer;
        uint16_t buckets[TASK_CHUNK_ROWS];
        for (size_t block = 0; block < task_keys_blocks(k); block++)
                for (size_t r = 0, n_runs = task_keys_runs(k, block, runs, &buffer); r < n_runs; r++) {
                        const struct key_run *run = &runs[r];
                        uint16_t first = key_window_bucket(&s->window, run->least);
                        if (first == key_window_bucket(&s->window, run->greatest)) {
                                s->counts[first] += (uint32_t)(run->n - run->n_odd);
                                continue;
                        }
                        key_run_find_buckets(run, &s->window, buckets);
                        for (size_t i = 0; i < run->n; i++)
                                s->counts[buckets[i]]++;
                        for (size_t i = 0; i < run->n_odd; i++)
                                s->counts[buckets[run->odd[i]]]--;
                }
}

/* Finds the buckets of the ranks, which are in ascending order. */
static void key_selection_find_wanted(struct key_selection *s, uint64_t least, uint64_t greatest, const size_t *ranks,
                                      size_t n_ranks)
{
        for (size_t b = 0, before = 0, next = 0; b < ARRAY_SIZE(s->counts) && next < n_ranks; b++) {
                size_t after = before + s->counts[b];
                if (ranks[next] < after) {
                        struct wanted_bucket *wanted = &s->wanted[s->n_wanted++];
                        *wanted = (struct wanted_bucket){.before = before,
                                                         .n = s->counts[b],
                                                         .first_rank = next,
                                                         .least = MAX(key_window_least(&s->window, b), least),
                                                         .greatest = MIN(key_window_greatest(&s->window, b), greatest)};
                        if (wanted->least < wanted->greatest && wanted->n <= MAX_COLLECTED) {
                                wanted->keys = new_array(uint64_t, wanted->n);
                                s->slots[b] = (uint8_t)s->n_wanted;
                                s->collects = true;
                        }
                        while (next < n_ranks && ranks[next] < after)
                                next++;
                        wanted->end_rank = next;
                }
                before = after;
        }
}

static void key_selection_collect_run(struct key_selection *s, const struct key_run *run)
{
        enum { STEP = 8 };
        uint16_t buckets[TASK_CHUNK_ROWS];
        const uint8_t *slots = s->slots;
        key_run_find_buckets(run, &s->window, buckets);
        for (size_t at = 0, odd = 0; at < run->n; at += STEP) {
                size_t end = MIN(at + STEP, run->n);
                unsigned any = 0;
                for (size_t i = at; i < end; i++)
                        any |= slots[buckets[i]];
                if (likely(!any))
                        continue;
                for (size_t i = at; i < end; i++) {
                        while (odd < run->n_odd && run->odd[odd] < i)
                                odd++;
                        if (!slots[buckets[i]] || (odd < run->n_odd && run->odd[odd] == i))
                                continue;
                        struct wanted_bucket *wanted = &s->wanted[slots[buckets[i]] - 1];
                        wanted->keys[wanted->n_keys++] = key_run_key(run, i);
                }
        }
}

static void key_selection_collect(struct key_selection *s, const struct task_keys *k)
{
        struct key_run runs[MAX_KEY_RUNS];
        struct key_buffer buffer;
        for (size_t block = 0; s->collects && block < task_keys_blocks(k); block++)
                for (size_t r = 0, n_runs = task_keys_runs(k, block, runs, &buffer); r < n_runs; r++) {
                        uint16_t first = key_window_bucket(&s->window, runs[r].least);
                        if (first != key_window_bucket(&s->window, runs[r].greatest) || s->slots[first])
                                key_selection_collect_run(s, &runs[r]);
                }
}

/* Finds the keys of the ranks in one bucket, whose keys were collected or are equal. */
static void wanted_bucket_select(struct wanted_bucket *b, const size_t *ranks, struct ranked_key *found)
{
        for (size_t r = b->first_rank; r < b->end_rank; r++) {
                found[r] = (struct ranked_key){b->least, b->before};
                if (!b->keys)
                        continue;
                found[r].key = keys_nth(b->keys, b->n_keys, ranks[r] - b->before);
                for (size_t i = 0; i < b->n_keys; i++)
                        found[r].n_less += b->keys[i] < found[r].key;
        }
}

/* Finds the keys of the ranks. All of them lie from @least to @greatest. */
static void task_keys_select_in(const struct task_keys *k, struct key_window window, uint64_t least, uint64_t greatest,
                                const size_t *ranks, size_t n_ranks, struct ranked_key *found)
{
        struct key_selection *s = new0(struct key_selection);
        s->window = window;
        key_selection_count(s, k);
        key_selection_find_wanted(s, least, greatest, ranks, n_ranks);
        key_selection_collect(s, k);
        for (size_t i = 0; i < s->n_wanted; i++) {
                struct wanted_bucket *b = &s->wanted[i];
                if (b->keys || b->least == b->greatest)
                        wanted_bucket_select(b, ranks, found);
                else
                        task_keys_select_in(k, key_window_of(b->least, b->greatest), b->least, b->greatest,
                                            ranks + b->first_rank, b->end_rank - b->first_rank, found + b->first_rank);
                free(b->keys);
        }
        free(s);
}

/* Bounds of the keys of a run, of which @n count. */
struct run_bound {
        uint64_t key;
        size_t n;
};

static int run_bound_compare(const void *a, const void *b)
{
        const struct run_bound *x = a, *y = b;
        return (x->key > y->key) - (x->key < y->key);
}

/*
 * Narrows the bounds of all keys to bounds of those from rank @first to rank @last, which the bounds of the runs tell.
 * Returns how many keys lie in runs that overlap them.
 */
static size_t task_keys_narrow(const struct task_keys *k, size_t n, size_t first, size_t last, uint64_t *least,
                               uint64_t *greatest)
{
        struct key_run runs[MAX_KEY_RUNS];
        struct key_buffer buffer;
        size_t n_bounds = 0, n_blocks = task_keys_blocks(k), below = 0, above = 0, n_between = 0;
        struct run_bound *lows = new_array(struct run_bound, n_blocks * MAX_KEY_RUNS);
        struct run_bound *highs = new_array(struct run_bound, n_blocks * MAX_KEY_RUNS);
        for (size_t block = 0; block < n_blocks; block++)
                for (size_t r = 0, n_runs = task_keys_run_bounds(k, block, runs, &buffer); r < n_runs; r++) {
                        lows[n_bounds] = (struct run_bound){runs[r].least, runs[r].n - runs[r].n_odd};
                        highs[n_bounds++] = (struct run_bound){runs[r].greatest, runs[r].n - runs[r].n_odd};
                }
        for (size_t i = 0; i < n_bounds; i++)
                n_between += lows[i].n;
        qsort(lows, n_bounds, sizeof(*lows), run_bound_compare);
        qsort(highs, n_bounds, sizeof(*highs), run_bound_compare);
        for (size_t i = 0; i < n_bounds && below <= last; i++) {
                below += highs[i].n;
                *greatest = highs[i].key;
        }
        for (size_t i = n_bounds; i > 0 && above < n - first; i--) {
                above += lows[i - 1].n;
                *least = lows[i - 1].key;
        }
        for (size_t i = 0; i < n_bounds && highs[i].key < *least; i++)
                n_between -= highs[i].n;
        for (size_t i = n_bounds; i > 0 && lows[i - 1].key > *greatest; i--)
                n_between -= lows[i - 1].n;
        free(lows);
        free(highs);
        return n_between;
}

void task_keys_select(const struct task_keys *k, size_t n, const size_t *ranks, size_t n_ranks,
                      struct ranked_key *found)
{
        uint64_t least = 0, greatest = UINT64_MAX;
        size_t n_between = task_keys_narrow(k, n, ranks[0], ranks[n_ranks - 1], &least, &greatest);
        struct key_window window = key_window_of(least, greatest);
        if (n_between > MIN_SAMPLED && window.shift > 0)
                window = task_keys_sample(k, least, greatest);
        task_keys_select_in(k, window, least, greatest, ranks, n_ranks, found);
}
