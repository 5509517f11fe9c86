/*
 * Emits all pieces of a text at once: fst_emit_pieces of firesteel/text.h.
 */
#pragma once

#include <firesteel/emit.h>

struct op;

/* The vectors that find and write the pieces. */
enum pieces_vectors { PIECES_PLAIN, PIECES_AVX2, PIECES_AVX512 };

/* The widest that this processor has. */
enum pieces_vectors pieces_vectors_here(void);

/* fst_out_pieces with @vectors, which the processor must have. */
void pieces_emit_with(enum pieces_vectors vectors, fst_out *out, fst_bytes text, char separator, const int64_t *number,
                      const char *file, int line);

/*
 * fst_out_pieces defers neighbouring lines of a source's buffer, so that one search finds separators and line ends
 * instead of one for each line. This emits their pieces; op_flush calls it. The second takes vectors that the processor
 * has, but not PIECES_PLAIN.
 */
void pieces_emit_deferred(struct op *op);
void pieces_emit_deferred_with(enum pieces_vectors vectors, struct op *op);
