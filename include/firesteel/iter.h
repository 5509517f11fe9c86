/*
 * Reading rows one after another: what map_partitions gives to its function, and what collect and take give
 * to the application.
 *
 *      fst_bytes word;
 *      int64_t count;
 *      while (fst_next(rows, &word, &count))
 *              printf("%.*s: %ld\n", (int)word.len, word.data, count);
 *
 * The variables' types must be the row's: int64_t, double, fst_bytes, or for FIXED a pointer to the struct:
 *
 *      for (const struct point *p; fst_next(points, &p);)
 *              printf("%g %g\n", p->x, p->y);
 *
 * If they are not, or the struct has another size than the rows, fst_next returns false and the task has failed with
 * both types named. At the driver, that is logged with the source line, fst_iter_status is negative, and
 * fst_context_stop returns -EINVAL. A `const void *` is not checked. Bytes and FIXED rows are valid until the next
 * call, for collect and take until the context stops.
 */
#pragma once

#include <firesteel/types.h>

#include <firesteel/emit.h>

FST_BEGIN_DECLS

/* Rows, column by column; the columns are read-only for whoever was given the batch. */
typedef struct fst_batch {
        uint32_t rows;
        fst_type type;
        fst_column key, value;
} fst_batch;

typedef struct fst_iter {
        fst_batch batch; /* the present one */
        uint32_t at;     /* the next row in it */
        uint32_t tag;
        int status;
        bool (*refill)(struct fst_iter *iter); /* the engine's own: the next batch into `batch` */
} fst_iter;

/* 0 while all went well, negative after a failure that was already reported. */
static inline int fst_iter_status(const fst_iter *iter)
{
        return iter->status;
}

/* The next whole batch, or false at the end: for who needs the columns. */
static inline bool fst_next_batch(fst_iter *iter, const fst_batch **batch)
{
        if (iter->at == 0 && iter->batch.rows > 0)
                iter->at = iter->batch.rows;
        else if (iter->status || !iter->refill(iter))
                return false;
        iter->at = iter->batch.rows;
        *batch = &iter->batch;
        return true;
}

/* Refill for fst_next, or say that the types differ. */
FST_API bool fst_iter_more(fst_iter *iter, uint32_t tag, uint64_t sizes, const char *file, int line)
        __attribute__((cold));

FST_END_DECLS

#include <firesteel/detail/iter.h>
