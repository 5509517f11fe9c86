/*
 * WordCount without an engine, as fast as one thread can.      wordcount IN OUT
 *
 * Counts the words between single spaces in the lines of IN and writes (word,count) lines to OUT, as
 * examples/wordcount.c does for input without empty words. This is the reference for local[1].
 *
 * Reasons for its speed:
 *   - a block of 128 KiB is read, cut and counted while it is in the second-level cache;
 *   - separators are found 64 bytes at a time, their positions written out without a branch for each;
 *   - a word of up to 15 bytes is one 16-byte key, zero-padded, with its length in the last byte: it is loaded,
 *     hashed and compared without a loop. Longer words live in a table of their own, in the same way but by memcmp;
 *   - slots hold the key, so a hit touches one cache line. They are prefetched for a group of words, and the table is
 * in huge pages.
 *
 * Invariant: a slot whose key is all zero is empty (no key is: its last byte is the length, at least 1).
 */
#include <fcntl.h>
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
        BLOCK = 128 << 10,
        HUGE_PAGE = 2 << 20,
        SHORT = 15,
        GROUP = 256, /* words looked up together */
        OUTPUT = 1 << 20,
};

struct slot {
        __m128i key;
        uint64_t count;
        uint64_t reserved;
};

struct long_slot {
        char *word;
        size_t len;
        uint64_t count;
};

static struct slot *slots;
static uint64_t slot_mask = (1 << 16) - 1, used;
static struct long_slot *long_slots;
static uint64_t long_mask = (1 << 10) - 1, long_used;

static void *zeroed(size_t size)
{
        void *p = aligned_alloc(size < HUGE_PAGE ? 64 : HUGE_PAGE, size);
        if (!p)
                abort();
        if (size >= HUGE_PAGE)
                madvise(p, size, MADV_HUGEPAGE);
        return memset(p, 0, size);
}

static inline uint64_t hash_key(__m128i key)
{
        uint64_t a = (uint64_t)_mm_cvtsi128_si64(key), b = (uint64_t)_mm_extract_epi64(key, 1);
        return _mm_crc32_u64(_mm_crc32_u64(0, a), b);
}

static inline int same(__m128i a, __m128i b)
{
        __m128i x = _mm_xor_si128(a, b);
        return _mm_testz_si128(x, x);
}

static __attribute__((noinline)) void grow(void)
{
        struct slot *old = slots;
        uint64_t old_mask = slot_mask;

        slot_mask = slot_mask * 4 + 3;
        slots = zeroed((slot_mask + 1) * sizeof(*slots));
        for (uint64_t i = 0; i <= old_mask; i++) {
                if (old[i].count == 0)
                        continue;
                uint64_t at = hash_key(old[i].key) & slot_mask;
                while (slots[at].count)
                        at = (at + 1) & slot_mask;
                slots[at] = old[i];
        }
        free(old);
}

/* Finds or adds a key that is not in the slot of its hash. */
static __attribute__((noinline)) void count_elsewhere(__m128i key)
{
        uint64_t at = hash_key(key) & slot_mask;
        while (slots[at].count && !same(slots[at].key, key))
                at = (at + 1) & slot_mask;
        if (slots[at].count == 0) {
                slots[at].key = key;
                used++;
        }
        slots[at].count++;
        if (used * 2 > slot_mask)
                grow();
}

static __attribute__((noinline)) void count_long(const char *word, size_t len)
{
        uint64_t h = len;
        for (size_t i = 0; i < len; i++)
                h = (h ^ (unsigned char)word[i]) * 0x9e3779b97f4a7c15u;
        uint64_t at = (h ^ h >> 32) & long_mask;
        while (long_slots[at].word && (long_slots[at].len != len || memcmp(long_slots[at].word, word, len) != 0))
                at = (at + 1) & long_mask;
        if (!long_slots[at].word) {
                long_slots[at].word = memcpy(zeroed((len + 63) & ~(size_t)63), word, len);
                long_slots[at].len = len;
                long_used++;
        }
        long_slots[at].count++;
        if (long_used * 2 <= long_mask)
                return;
        struct long_slot *old = long_slots;
        uint64_t old_mask = long_mask;
        long_mask = long_mask * 4 + 3;
        long_slots = zeroed((long_mask + 1) * sizeof(*long_slots));
        for (uint64_t i = 0; i <= old_mask; i++) {
                if (!old[i].word)
                        continue;
                h = old[i].len;
                for (size_t j = 0; j < old[i].len; j++)
                        h = (h ^ (unsigned char)old[i].word[j]) * 0x9e3779b97f4a7c15u;
                at = (h ^ h >> 32) & long_mask;
                while (long_slots[at].word)
                        at = (at + 1) & long_mask;
                long_slots[at] = old[i];
        }
        free(old);
}

/* Returns the first @len bytes at @word, padded with zeros, with the length in the last byte. */
static inline __m128i load_key(const char *word, uint32_t len)
{
        __m128i last = _mm_slli_si128(_mm_cvtsi32_si128((int)len), SHORT);
#if defined __AVX512BW__ && defined __AVX512VL__
        return _mm_mask_loadu_epi8(last, (__mmask16)_bzhi_u32(0xffff, len), word);
#else
        static const unsigned char window[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                                 255, 255, 255, 255, 255, 255, 255, 255};
        __m128i kept = _mm_loadu_si128((const __m128i *)(window + 16 - len));
        return _mm_or_si128(last, _mm_and_si128(_mm_loadu_si128((const __m128i *)word), kept));
#endif
}

/* Bit i is set if byte i of the 64 at @p is a space or the end of a line. */
static inline uint64_t separators(const char *p)
{
#ifdef __AVX512BW__
        __m512i bytes = _mm512_loadu_si512(p);
        return _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(' ')) |
               _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\n'));
#else
        uint64_t found = 0;
        for (int i = 0; i < 4; i++) {
                __m128i bytes = _mm_loadu_si128((const __m128i *)p + i);
                __m128i hit = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(' ')),
                                           _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n')));
                found |= (uint64_t)(unsigned)_mm_movemask_epi8(hit) << (16 * i);
        }
        return found;
#endif
}

/* Finds the positions of the separators in @text[0 … len). 64 more bytes after it must be readable. */
static uint32_t find_separators(const char *text, uint32_t len, uint32_t *positions)
{
        uint32_t n = 0;

        for (uint32_t i = 0; i < len; i += 64) {
                uint64_t bits = separators(text + i);
                if (len - i < 64)
                        bits &= ((uint64_t)1 << (len - i)) - 1;
                uint32_t count = (uint32_t)__builtin_popcountll(bits);
                for (uint32_t j = 0; j < count; j += 12)
                        for (uint32_t k = 0; k < 12; k++) {
                                positions[n + j + k] = i + (uint32_t)__builtin_ctzll(bits | (uint64_t)1 << 63);
                                bits &= bits - 1;
                        }
                n += count;
        }
        return n;
}

/* Count the words that end at @positions. The first begins at 0. */
static void count_words(const char *text, const uint32_t *positions, uint32_t n)
{
        __m128i keys[GROUP];
        struct slot *at[GROUP];
        uint32_t from = 0;

        for (uint32_t i = 0; i < n; i += GROUP) {
                uint32_t m = n - i < GROUP ? n - i : GROUP, k = 0;
                for (uint32_t j = 0; j < m; j++) {
                        uint32_t len = positions[i + j] - from;
                        if (__builtin_expect(len - 1 < SHORT, 1)) {
                                keys[k] = load_key(text + from, len);
                                at[k] = &slots[hash_key(keys[k]) & slot_mask];
                                __builtin_prefetch(at[k++], 1);
                        } else if (len > SHORT) {
                                count_long(text + from, len);
                        }
                        from = positions[i + j] + 1;
                }
                struct slot *before = slots;
                for (uint32_t j = 0; j < k; j++) {
                        if (__builtin_expect(slots == before && same(at[j]->key, keys[j]), 1))
                                at[j]->count++;
                        else
                                count_elsewhere(keys[j]);
                }
        }
}

static int count_file(int fd)
{
        static uint32_t positions[BLOCK + 16];
        size_t room = 2 * BLOCK, kept = 0;
        char *buffer = zeroed(room + 64);

        for (;;) {
                if (room - kept < BLOCK) { /* a word longer than a block */
                        char *larger = zeroed(room * 2 + 64);
                        memcpy(larger, buffer, kept);
                        free(buffer);
                        buffer = larger;
                        room *= 2;
                }
                ssize_t n = read(fd, buffer + kept, BLOCK);
                if (n < 0) {
                        free(buffer);
                        return -1;
                }
                if (n == 0)
                        break;
                /* The rest of the previous block has no separator. The next block begins with it and ends at its last
                 * separator. */
                uint32_t found = find_separators(buffer + kept, (uint32_t)n, positions);
                if (found == 0) {
                        kept += (size_t)n;
                        continue;
                }
                uint32_t end = (uint32_t)kept + positions[found - 1] + 1;
                for (uint32_t i = 0; kept && i < found; i++)
                        positions[i] += (uint32_t)kept;
                count_words(buffer, positions, found);
                kept = kept + (size_t)n - end;
                memmove(buffer, buffer + end, kept);
        }
        if (kept) {
                uint32_t end = (uint32_t)kept;
                count_words(buffer, &end, 1);
        }
        free(buffer);
        return 0;
}

static size_t print_pair(char *to, const char *word, size_t len, uint64_t count)
{
        char digits[20];
        size_t n = 0, at = 0;

        to[at++] = '(';
        memcpy(to + at, word, len);
        at += len;
        to[at++] = ',';
        do
                digits[n++] = (char)('0' + count % 10);
        while (count /= 10);
        while (n)
                to[at++] = digits[--n];
        to[at++] = ')';
        to[at++] = '\n';
        return at;
}

static int write_counts(const char *path)
{
        FILE *out = fopen(path, "we");
        if (!out)
                return -1;
        static char buffer[OUTPUT + 64];
        size_t n = 0;
        for (uint64_t i = 0; i <= slot_mask; i++) {
                if (slots[i].count == 0)
                        continue;
                char key[16];
                memcpy(key, &slots[i].key, 16);
                n += print_pair(buffer + n, key, (size_t)key[15], slots[i].count);
                if (n >= OUTPUT) {
                        fwrite(buffer, 1, n, out);
                        n = 0;
                }
        }
        fwrite(buffer, 1, n, out);
        for (uint64_t i = 0; i <= long_mask; i++)
                if (long_slots[i].word)
                        fprintf(out, "(%.*s,%llu)\n", (int)long_slots[i].len, long_slots[i].word,
                                (unsigned long long)long_slots[i].count);
        return ferror(out) | fclose(out);
}

int main(int argc, char **argv)
{
        if (argc != 3) {
                fputs("usage: wordcount IN OUT\n", stderr);
                return 2;
        }
        slots = zeroed((slot_mask + 1) * sizeof(*slots));
        long_slots = zeroed((long_mask + 1) * sizeof(*long_slots));
        int fd = open(argv[1], O_RDONLY | O_CLOEXEC);
        if (fd < 0 || count_file(fd) != 0) {
                perror(argv[1]);
                return 1;
        }
        if (write_counts(argv[2]) != 0) {
                perror(argv[2]);
                return 1;
        }
        return 0;
}
