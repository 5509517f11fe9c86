/*
 * Text: splitting, parsing numbers, printing.
 */
#pragma once

#include <firesteel/emit.h>

FST_BEGIN_DECLS

/*
 * Bytes as arguments for "%.*s" of printf: printf("%.*s\n", FST_TEXT(word)). The text must be shorter than 2 GiB.
 * printf stops at a NUL.
 */
#define FST_TEXT(bytes) (int)(bytes).len, (bytes).data

/*
 * Parse all of @text as a number into *@x. Returns false, and leaves *@x unchanged, if it is not a number.
 *
 * An integer is digits with an optional sign. A floating-point number is written as in C and Java: "1.5", "-2",
 * ".5", "1e-3", "1.0E10", "NaN", "Infinity" or "-Infinity". It becomes the nearest double, or infinity if it is too
 * large. The decimal separator is a point in every locale.
 */
FST_API bool fst_parse_i64(fst_bytes text, int64_t *x);
FST_API bool fst_parse_f64(fst_bytes text, double *x);

/*
 * Parse the numbers of @text, which blanks separate, into @x, which has room for @max. Returns how many there are, or
 * -1 if a word is not a number or if there are more than @max; @x then holds the numbers before that word.
 */
FST_API int fst_parse_f64s(fst_bytes text, double *x, size_t max);

/*
 * Split a text at a separator, as Java's String.split does: empty pieces between separators count, empty pieces at the
 * end do not, and an empty text is one empty piece.
 *
 *      fst_split words = fst_split_of(line, ' ');
 *      for (fst_bytes word; fst_split_next(&words, &word);)
 *              use(word);
 *
 * Pieces are views into the text. fst_split_word is like fst_split_next and skips empty pieces. The search looks at 64
 * bytes at a time, so short pieces cost little.
 */
typedef struct fst_split {
        const char *at, *end; /* start of the next piece; end of the text without trailing separators */
        const char *block;    /* the 64 bytes that `hits` describes */
        uint64_t hits;        /* bit i: block[i] is a separator that is still ahead */
        char separator;
        bool finished;
} fst_split;

FST_END_DECLS

#include <firesteel/detail/split.h>

FST_BEGIN_DECLS

/* The same with empty pieces at the end, as the columns of a CSV file need it: "a,b,," has four pieces. */
static inline fst_split fst_split_all_of(fst_bytes text, char separator)
{
        fst_split s = {text.data, text.data + text.len, text.data, 0, separator, false};
        if (s.end > s.at)
                s.hits = fst_split_hits(s.block, s.end, separator);
        return s;
}

static inline fst_split fst_split_of(fst_bytes text, char separator)
{
        size_t len = text.len;
        while (len > 0 && text.data[len - 1] == separator)
                len--;
        fst_split s = fst_split_all_of((fst_bytes){text.data, len}, separator);
        s.finished = len == 0 && text.len > 0;
        return s;
}

/* Reads the next piece into *@piece. Returns false at the end. */
static inline bool fst_split_next(fst_split *s, fst_bytes *piece)
{
        while (s->hits == 0) {
                if (s->end - s->block <= 64) { /* no separator follows the last piece */
                        if (s->finished)
                                return false;
                        s->finished = true;
                        *piece = (fst_bytes){s->at, (size_t)(s->end - s->at)};
                        return true;
                }
                s->block += 64;
                s->hits = fst_split_hits(s->block, s->end, s->separator);
        }
        const char *hit = s->block + __builtin_ctzll(s->hits);
        s->hits &= s->hits - 1;
        *piece = (fst_bytes){s->at, (size_t)(hit - s->at)};
        s->at = hit + 1;
        return true;
}

static inline bool fst_split_word(fst_split *s, fst_bytes *piece)
{
        while (fst_split_next(s, piece))
                if (piece->len > 0)
                        return true;
        return false;
}

/*
 * Emit all pieces of a text at once, the same pieces as fst_split_of and fst_split_next give, in less time:
 *
 *      fst_emit_pieces(out, line, ' ')                 rows of BYTES
 *      fst_emit_pieces_with(out, line, ' ', 1)         pairs of BYTES and I64: each piece with the number 1
 *
 * The rules of fst_emit (firesteel/emit.h) hold for each row.
 */
#define fst_emit_pieces(out, text, separator) fst_out_pieces(out, text, separator, NULL, __FILE__, __LINE__)
#define fst_emit_pieces_with(out, text, separator, number)                                                             \
        fst_out_pieces(out, text, separator, &(const int64_t){number}, __FILE__, __LINE__)

/* The function of the two macros. @number is NULL for rows of BYTES. */
FST_API void fst_out_pieces(fst_out *out, fst_bytes text, char separator, const int64_t *number, const char *file,
                            int line);

FST_END_DECLS
