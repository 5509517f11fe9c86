/*
 * fst_emit_pieces: emits the pieces of a text, as a loop over fst_split_next and fst_emit does, with fewer
 * instructions a piece.
 *
 * The text is searched 64 bytes at a time. The pieces that end in such a block are written to the columns many at a
 * time, without a branch for each: their number and lengths cannot be predicted. So more rows than there are pieces are
 * written, and the columns need room for them; near the end of a batch, and for rows that must be copied, pieces are
 * emitted one by one.
 */
#include "rdd/pipeline/emit_pieces.h"

#include "base/mem.h"
#include "rdd/pipeline/op.h"

#include <firesteel/text.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#define BLOCK 64
#define MAX_ENDS 16384
#define DEFERRED_ENOUGH 8192 /* bytes: they stay in the first-level cache, and their rows about fill a batch */

struct pieces {
        fst_out *out;
        const char *at, *end; /* start of the next piece; end of the text without trailing separators */
        /* of deferred lines: */
        const char *start;
        const char *trailing, *inner; /* separators before them end a line, or do not */
        char separator;
        bool pairs; /* rows are pairs with `number` */
        int64_t number;
        const char *file; /* of the call */
        int line;
};

static inline uint32_t pieces_tag(const struct pieces *p)
{
        return FST_TAG(FST_KIND_BYTES, p->pairs ? FST_KIND_I64 : FST_KIND_NONE);
}

static inline bool pieces_emit(const struct pieces *p, fst_bytes piece)
{
        fst_out *out = p->out;
        if (!fst_out_ready(out, pieces_tag(p), 0, p->file, p->line))
                return false;
        fst_set_bytes(out, out->key, 0, piece);
        if (p->pairs)
                out->value.i64[out->rows] = p->number;
        out->rows++;
        return true;
}

/* Emits the pieces that begin before @end: the end of the text, or just after a separator. */
static bool pieces_emit_until(struct pieces *p, const char *end)
{
        while (p->at < end) {
                const char *hit = memchr(p->at, p->separator, (size_t)(end - p->at));
                if (!hit)
                        hit = end;
                if (!pieces_emit(p, (fst_bytes){p->at, (size_t)(hit - p->at)}))
                        return false;
                p->at = hit + 1;
        }
        return true;
}

/*
 * Emits the pieces that end at @hits of @block: separators, and the end of the text. @write writes them, STEP at a
 * time.
 */
#define PIECES_EMIT_BLOCK(p, block, hits, write, STEP)                                                                 \
        do {                                                                                                           \
                uint32_t n_ = (uint32_t)__builtin_popcountll(hits), rows_ = (p)->out->rows;                            \
                const char *next_ = (block) + (BLOCK - __builtin_clzll((hits) | 1));                                   \
                if (unlikely(n_ + rows_ + STEP > (p)->out->room)) {                                                    \
                        if (n_ && !pieces_emit_until(p, next_ > (p)->end ? (p)->end : next_))                          \
                                return;                                                                                \
                        break;                                                                                         \
                }                                                                                                      \
                if (n_ == 0)                                                                                           \
                        break;                                                                                         \
                write(p, block, hits, n_);                                                                             \
                (p)->out->rows = rows_ + n_;                                                                           \
                (p)->at = next_;                                                                                       \
        } while (0)

/* Whether the empty piece before the separator or line end at @hit counts: trailing ones do not, but an empty line is a
 * piece. */
static bool pieces_counts_empty(struct pieces *p, const char *hit)
{
        if (hit == p->end || *hit == '\n')
                return hit == p->start || hit[-1] == '\n';
        if (hit >= p->trailing && hit >= p->inner) {
                const char *after = hit;
                while (after < p->end && *after == p->separator)
                        after++;
                *(after == p->end || *after == '\n' ? &p->trailing : &p->inner) = after;
        }
        return hit < p->inner;
}

/* Emits the pieces of deferred lines that end at @hits of @block, one by one. */
static bool pieces_emit_hits(struct pieces *p, const char *block, uint64_t hits)
{
        for (; hits; hits &= hits - 1) {
                const char *hit = block + __builtin_ctzll(hits);
                if ((hit > p->at || pieces_counts_empty(p, hit)) &&
                    !pieces_emit(p, (fst_bytes){p->at, (size_t)(hit - p->at)}))
                        return false;
                p->at = hit + 1;
        }
        return true;
}

/*
 * Emits the pieces of deferred lines that end in @block: @hits are separators, newlines and the end. @before is 1 if
 * the byte before the block is one, too. Empty pieces are rare.
 */
#define PIECES_EMIT_LINES(p, block, hits, before, write, STEP)                                                         \
        do {                                                                                                           \
                uint32_t n_ = (uint32_t)__builtin_popcountll(hits), rows_ = (p)->out->rows;                            \
                if (unlikely((hits & (hits << 1 | before)) || n_ + rows_ + STEP > (p)->out->room)) {                   \
                        if (!pieces_emit_hits(p, block, hits))                                                         \
                                return;                                                                                \
                } else if (n_) {                                                                                       \
                        write(p, block, hits, n_);                                                                     \
                        (p)->out->rows = rows_ + n_;                                                                   \
                        (p)->at = (block) + (BLOCK - __builtin_clzll(hits));                                           \
                }                                                                                                      \
        } while (0)

#ifdef __x86_64__
#define AVX2 __attribute__((target("avx2,bmi,popcnt,lzcnt")))
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,bmi,bmi2,popcnt,lzcnt")))
#define STEP_AVX2 4
#define STEP_AVX512 16

AVX2 static inline uint64_t pieces_hits_avx2(const char *block, __m256i separator)
{
        __m256i first = _mm256_loadu_si256((const __m256i *)block);
        __m256i second = _mm256_loadu_si256((const __m256i *)(block + 32));
        return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(first, separator)) |
               (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(second, separator)) << 32;
}

AVX2 static inline __attribute__((always_inline)) void pieces_write_avx2(const struct pieces *p, const char *block,
                                                                         uint64_t hits, uint32_t n)
{
        fst_bytes *keys = p->out->key.bytes + p->out->rows;
        int64_t *numbers = p->pairs ? p->out->value.i64 + p->out->rows : NULL;
        const __m256i number = _mm256_set1_epi64x(p->number);
        const char *at = p->at;
        for (uint32_t i = 0; i < n; i += STEP_AVX2) {
#pragma GCC unroll 4
                for (uint32_t j = 0; j < STEP_AVX2; j++) {
                        const char *hit = block + __builtin_ctzll(hits | (uint64_t)1 << 63);
                        hits &= hits - 1;
                        keys[i + j] = (fst_bytes){at, (size_t)(hit - at)};
                        at = hit + 1;
                }
                if (numbers)
                        _mm256_storeu_si256((__m256i *)(numbers + i), number);
        }
}

AVX2 static void pieces_emit_views_avx2(struct pieces *p)
{
        const __m256i separator = _mm256_set1_epi8(p->separator);
        const char *block = p->at;
        for (; p->end - block >= BLOCK; block += BLOCK) {
                uint64_t hits = pieces_hits_avx2(block, separator);
                PIECES_EMIT_BLOCK(p, block, hits, pieces_write_avx2, STEP_AVX2);
        }
        uint64_t hits = (uint64_t)1 << (p->end - block);
        if (p->end > block)
                hits |= fst_split_hits(block, p->end, p->separator);
        PIECES_EMIT_BLOCK(p, block, hits, pieces_write_avx2, STEP_AVX2);
}

AVX2 static void pieces_emit_lines_avx2(struct pieces *p)
{
        const __m256i separator = _mm256_set1_epi8(p->separator), newline = _mm256_set1_epi8('\n');
        const char *block = p->start;
        uint64_t before = 1;
        for (; p->end - block >= BLOCK; block += BLOCK) {
                uint64_t hits = pieces_hits_avx2(block, separator) | pieces_hits_avx2(block, newline);
                PIECES_EMIT_LINES(p, block, hits, before, pieces_write_avx2, STEP_AVX2);
                before = hits >> 63;
        }
        uint64_t hits = (uint64_t)1 << (p->end - block);
        if (p->end > block)
                hits |= fst_split_hits(block, p->end, p->separator) | fst_split_hits(block, p->end, '\n');
        PIECES_EMIT_LINES(p, block, hits, before, pieces_write_avx2, STEP_AVX2);
}

AVX512 static inline __attribute__((always_inline)) void pieces_write_avx512(const struct pieces *p, const char *block,
                                                                             uint64_t hits, uint32_t n)
{
        const __m512i places =
                _mm512_set_epi8(63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42,
                                41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20,
                                19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
        const __m512i lower = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11),
                      upper = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
        const __m512i start = _mm512_set1_epi64((int64_t)(uintptr_t)block), number = _mm512_set1_epi64(p->number);
        fst_bytes *keys = p->out->key.bytes + p->out->rows;
        int64_t *numbers = p->pairs ? p->out->value.i64 + p->out->rows : NULL;
        uint8_t found[BLOCK] __attribute__((aligned(BLOCK)));
        __m512i before = _mm512_set1_epi64((int64_t)(uintptr_t)p->at);
        _mm512_store_si512(found, _mm512_maskz_compress_epi8(hits, places));
        for (uint32_t i = 0; i < n; i += STEP_AVX512) {
#pragma GCC unroll 2
                for (uint32_t j = i; j < i + STEP_AVX512; j += 8) {
                        __m512i hit = _mm512_add_epi64(
                                start, _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)(found + j))));
                        __m512i after = _mm512_add_epi64(hit, _mm512_set1_epi64(1));
                        __m512i at = _mm512_alignr_epi64(after, before, 7);
                        __m512i len = _mm512_sub_epi64(hit, at);
                        _mm512_storeu_si512(keys + j, _mm512_permutex2var_epi64(at, lower, len));
                        _mm512_storeu_si512(keys + j + 4, _mm512_permutex2var_epi64(at, upper, len));
                        if (numbers)
                                _mm512_storeu_si512(numbers + j, number);
                        before = after;
                }
        }
}

/* Bytes behind the end of the text are not loaded. */
AVX512 static void pieces_emit_views_avx512(struct pieces *p)
{
        const __m512i separator = _mm512_set1_epi8(p->separator);
        const char *block = p->at;
        for (; p->end - block >= BLOCK; block += BLOCK) {
                uint64_t hits = _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(block), separator);
                PIECES_EMIT_BLOCK(p, block, hits, pieces_write_avx512, STEP_AVX512);
        }
        uint64_t last = (uint64_t)1 << (p->end - block);
        uint64_t hits =
                last | _mm512_mask_cmpeq_epi8_mask(last - 1, _mm512_maskz_loadu_epi8(last - 1, block), separator);
        PIECES_EMIT_BLOCK(p, block, hits, pieces_write_avx512, STEP_AVX512);
}

AVX512 static void pieces_emit_lines_avx512(struct pieces *p)
{
        const __m512i separator = _mm512_set1_epi8(p->separator), newline = _mm512_set1_epi8('\n');
        const char *block = p->start;
        uint64_t before = 1;
        for (; p->end - block >= BLOCK; block += BLOCK) {
                __m512i bytes = _mm512_loadu_si512(block);
                uint64_t hits = _mm512_cmpeq_epi8_mask(bytes, separator) | _mm512_cmpeq_epi8_mask(bytes, newline);
                PIECES_EMIT_LINES(p, block, hits, before, pieces_write_avx512, STEP_AVX512);
                before = hits >> 63;
        }
        uint64_t last = (uint64_t)1 << (p->end - block);
        __m512i bytes = _mm512_maskz_loadu_epi8(last - 1, block);
        uint64_t hits = last | _mm512_mask_cmpeq_epi8_mask(last - 1, bytes, separator) |
                        _mm512_mask_cmpeq_epi8_mask(last - 1, bytes, newline);
        PIECES_EMIT_LINES(p, block, hits, before, pieces_write_avx512, STEP_AVX512);
}
#endif

enum pieces_vectors pieces_vectors_here(void)
{
#ifdef __x86_64__
        if (__builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vl") &&
            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
                return PIECES_AVX512;
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi"))
                return PIECES_AVX2;
#endif
        return PIECES_PLAIN;
}

/* Whether views of @text may be emitted, and any number of them. */
static bool pieces_are_views(const struct pieces *p, fst_bytes text)
{
        const fst_out *out = p->out;
        uintptr_t at = (uintptr_t)text.data;
        return out->tag == pieces_tag(p) && !out->op->one_for_one &&
               (at - out->stable[0].start < out->stable[0].size || at - out->stable[1].start < out->stable[1].size);
}

void pieces_emit_with(enum pieces_vectors vectors, fst_out *out, fst_bytes text, char separator, const int64_t *number,
                      const char *file, int line)
{
        struct pieces p = {.out = out,
                           .at = text.data,
                           .separator = separator,
                           .pairs = number != NULL,
                           .number = number ? *number : 0,
                           .file = file,
                           .line = line};
        if (text.len == 0) {
                pieces_emit(&p, text);
                return;
        }
        while (text.len > 0 && text.data[text.len - 1] == separator)
                text.len--;
        p.end = text.data + text.len;
        if (text.len == 0 || vectors == PIECES_PLAIN || !pieces_are_views(&p, text))
                pieces_emit_until(&p, p.end);
#ifdef __x86_64__
        else if (vectors == PIECES_AVX512)
                pieces_emit_views_avx512(&p);
        else
                pieces_emit_views_avx2(&p);
#endif
}

/* -------------------------------------------------------------------------------------------- deferred lines */

#ifdef __x86_64__
/* Writes the ends of all pieces, and up to 64 numbers more. Returns their number, or 0 if a piece is empty. */
AVX512 static uint32_t pieces_find_ends(const struct pieces *p, uint32_t *ends)
{
        const __m512i places =
                _mm512_set_epi8(63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42,
                                41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20,
                                19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
        const __m512i separator = _mm512_set1_epi8(p->separator), newline = _mm512_set1_epi8('\n');
        const uint32_t size = (uint32_t)(p->end - p->start);
        uint64_t before = 1, empty = 0;
        uint32_t n = 0;
        for (uint32_t at = 0; at <= size; at += BLOCK) {
                const uint64_t last = size - at < BLOCK ? (uint64_t)1 << (size - at) : 0;
                const __m512i bytes = _mm512_maskz_loadu_epi8(last - 1, p->start + at);
                uint64_t hits = _mm512_cmpeq_epi8_mask(bytes, separator) | _mm512_cmpeq_epi8_mask(bytes, newline);
                hits = (hits & (last - 1)) | last;
                empty |= hits & (hits << 1 | before);
                before = hits >> 63;
                const __m512i found = _mm512_maskz_compress_epi8(hits, places), base = _mm512_set1_epi32((int)at);
                const uint32_t count = (uint32_t)__builtin_popcountll(hits);
                _mm512_storeu_si512(ends + n,
                                    _mm512_add_epi32(base, _mm512_cvtepu8_epi32(_mm512_castsi512_si128(found))));
                if (unlikely(count > 16)) {
                        _mm512_storeu_si512(
                                ends + n + 16,
                                _mm512_add_epi32(base, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(found, 1))));
                        _mm512_storeu_si512(
                                ends + n + 32,
                                _mm512_add_epi32(base, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(found, 2))));
                }
                n += count;
        }
        return empty ? 0 : n;
}

/* Passes the ends of deferred pieces to the next operator. The pieces that it has not consumed remain. */
static void pieces_push_ends(struct pieces *p, struct op *op)
{
        uint32_t ends[1 + MAX_ENDS + BLOCK], done = 0;
        if (!op->next || !op->next->class->consume_pieces || p->end - p->start >= MAX_ENDS)
                return;
        ends[0] = UINT32_MAX;
        const struct piece_ends pieces = {.text = p->start,
                                          .ends = ends + 1,
                                          .n = pieces_find_ends(p, ends + 1),
                                          .pairs = p->pairs,
                                          .number = p->number};
        if (pieces.n == 0 || op_flush(op) != 0)
                return;
        const void *captured = op->run->task.captured;
        op->status = op->next->class->consume_pieces(op->next, &pieces, &done);
        op->run->task.captured = captured;
        p->start = p->at = p->start + (ends[done] + 1);
}
#endif

void pieces_emit_deferred_with(enum pieces_vectors vectors, struct op *op)
{
        const struct deferred_lines *d = &op->deferred;
        struct pieces p = {.out = &op->out,
                           .at = d->start,
                           .start = d->start,
                           .end = d->end,
                           .trailing = d->start,
                           .inner = d->start,
                           .separator = d->separator,
                           .pairs = d->pairs,
                           .number = d->number,
                           .file = d->file,
                           .line = d->line};
        op->out.room = d->room;
        op->deferred.end = NULL;
        if (op->status)
                return;
#ifdef __x86_64__
        if (vectors == PIECES_AVX512) {
                pieces_push_ends(&p, op);
                if (op->status == 0 && p.at <= p.end)
                        pieces_emit_lines_avx512(&p);
        } else if (vectors == PIECES_AVX2)
                pieces_emit_lines_avx2(&p);
#endif
}

void pieces_emit_deferred(struct op *op)
{
        pieces_emit_deferred_with(pieces_vectors_here(), op);
}

static inline bool pieces_follow_deferred(const struct deferred_lines *d, fst_bytes text, char separator,
                                          const int64_t *number)
{
        return d->end && text.data == d->end + 1 && *d->end == '\n' && separator == d->separator &&
               (number ? d->pairs && *number == d->number : !d->pairs);
}

/* Whether the pieces of @text, which is in a line, may be found later. */
static bool pieces_may_defer(const fst_out *out, fst_bytes text, char separator, const int64_t *number)
{
        const struct op *op = out->op;
        uint32_t tag = FST_TAG(FST_KIND_BYTES, number ? FST_KIND_I64 : FST_KIND_NONE);
        return op->may_defer && op->source_has_lines && op->status == 0 && out->tag == tag && separator != '\n' &&
               (uintptr_t)text.data - out->stable[0].start < out->stable[0].size &&
               pieces_vectors_here() != PIECES_PLAIN;
}

static bool pieces_defer(fst_out *out, fst_bytes text, char separator, const int64_t *number, const char *file,
                         int line)
{
        struct op *op = out->op;
        struct deferred_lines *d = &op->deferred;
        if (likely(pieces_follow_deferred(d, text, separator, number))) {
                d->end = text.data + text.len;
                if (d->end - d->start >= DEFERRED_ENOUGH)
                        pieces_emit_deferred(op);
                return true;
        }
        if (d->end)
                pieces_emit_deferred(op);
        if (!pieces_may_defer(out, text, separator, number))
                return false;
        *d = (struct deferred_lines){.start = text.data,
                                     .end = text.data + text.len,
                                     .room = out->room,
                                     .separator = separator,
                                     .pairs = number != NULL,
                                     .number = number ? *number : 0,
                                     .file = file,
                                     .line = line};
        out->room = 0;
        return true;
}

FST_API void fst_out_pieces(fst_out *out, fst_bytes text, char separator, const int64_t *number, const char *file,
                            int line)
{
        if (!pieces_defer(out, text, separator, number, file, line))
                pieces_emit_with(pieces_vectors_here(), out, text, separator, number, file, line);
}
