/*
 * Text: its pieces, the numbers that it says, and printing it.
 */
#pragma once

#include <firesteel/types.h>

FST_BEGIN_DECLS

/* Bytes for "%.*s" of printf: printf("%.*s\n", FST_TEXT(word)). For texts of less than 2 GiB; they end at a NUL. */
#define FST_TEXT(bytes) (int)(bytes).len, (bytes).data

/*
 * The number that @text says, all of it, into *@x: true; or false, and *@x is as it was.
 *
 * An integer is digits, perhaps behind a sign. A floating-point number is what C and Java read and print: "1.5", "-2",
 * ".5", "1e-3", "1.0E10", and "NaN", "Infinity" and "-Infinity"; the nearest double, with a point whatever the locale
 * is, and infinity for what is too large for one.
 */
FST_API bool fst_parse_i64(fst_bytes text, int64_t *x);
FST_API bool fst_parse_f64(fst_bytes text, double *x);

/*
 * The numbers between the blanks of @text into @x, @max of them: how many there are, or -1 for something that is no
 * number, or for more of them; @x is then filled as far as that.
 */
FST_API int fst_parse_f64s(fst_bytes text, double *x, size_t max);

/*
 * The pieces of a text between separators, one after another, as Java's String.split gives them: empty pieces
 * between separators count, empty ones at the end do not, and an empty text is one empty piece.
 *
 *      fst_split words = fst_split_of(line, ' ');
 *      for (fst_bytes word; fst_split_next(&words, &word);)
 *              use(word);
 *
 * Separators are looked for in 64 bytes at a time, so short pieces cost little. Pieces are views into the text.
 * fst_split_word is fst_split_next for who does not want the empty ones.
 */
typedef struct fst_split {
        const char *at, *end; /* the next piece begins; the text ends, without separators that end it */
        const char *block;    /* the 64 bytes that `hits` tells of */
        uint64_t hits;        /* bit i: block[i] is a separator not yet passed */
        char separator;
        bool finished;
} fst_split;

FST_END_DECLS

#include <firesteel/detail/split.h>

FST_BEGIN_DECLS

static inline fst_split fst_split_of(fst_bytes text, char separator)
{
        fst_split s = {text.data, text.data + text.len, text.data, 0, separator, false};
        while (s.end > s.at && s.end[-1] == separator)
                s.end--;
        s.finished = s.end == s.at && text.len > 0;
        if (s.end > s.at)
                s.hits = fst_split_hits(s.block, s.end, separator);
        return s;
}

/* The next piece into *@piece, or false at the end. */
static inline bool fst_split_next(fst_split *s, fst_bytes *piece)
{
        while (s->hits == 0) {
                if (s->end - s->block <= 64) { /* the last piece has no separator behind it */
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

FST_END_DECLS
