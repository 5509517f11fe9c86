/*
 * Reading rows one after another: the rows of a partition in a function of map_partitions, and the rows that collect
 * and take return to the application.
 *
 *      fst_bytes word;
 *      int64_t count;
 *      while (fst_next(rows, &word, &count))
 *              printf("%.*s: %" PRId64 "\n", FST_TEXT(word), count);
 *
 * The variables must have the row's types: int64_t, double, fst_bytes, or for FIXED a pointer to the struct:
 *
 *      for (const struct point *p; fst_next(points, &p);)
 *              printf("%g %g\n", p->x, p->y);
 *
 * If a type differs, or the struct has another size than the rows, fst_next returns false and the task fails with a
 * message that names both types. At the driver the message has the source line, fst_iter_status is negative, and
 * fst_context_stop returns -EINVAL. A `const void *` is not checked. Bytes and FIXED rows are valid until the next
 * call. Those of collect and take until the context stops.
 */
#pragma once

#include <firesteel/types.h>

#include <firesteel/emit.h>

FST_BEGIN_DECLS

/* Rows, column by column. Functions must not write to a batch that they get. */
typedef struct fst_batch {
        uint32_t rows;
        fst_type type;
        fst_column key, value;
} fst_batch;

typedef struct fst_iter {
        fst_batch batch; /* the current batch */
        uint32_t at;     /* index of the next row in it */
        uint32_t tag;
        int status;
        bool (*refill)(struct fst_iter *iter); /* private to the engine: reads the next batch into `batch` */
} fst_iter;

/* 0, or the negative status of a failure that has been reported. */
static inline int fst_iter_status(const fst_iter *iter)
{
        return iter->status;
}

/* Reads the next whole batch, for code that works on columns. Returns false at the end. */
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

/* Reads the next batch for fst_next, or reports that the types differ. */
FST_API bool fst_iter_more(fst_iter *iter, uint32_t tag, uint64_t sizes, const char *file, int line)
        __attribute__((cold));

FST_END_DECLS

#include <firesteel/detail/iter.h>
