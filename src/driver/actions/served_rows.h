/* Rows that threads of the driver serve on sockets (fst_serve_rows, fst_serve_partitions in firesteel/frames.h). */
#pragma once

struct fst_context;

/* The context stops: tells its serving threads to end. Does not wait. Their jobs must be cancelled next. */
void served_rows_stop(struct fst_context *sc);

/* Waits until these threads have ended, and frees what they served. Handles are invalid afterwards. */
void served_rows_free(struct fst_context *sc);
