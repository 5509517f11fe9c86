/*
 * Reads one partition of a Celeborn shuffle: the shell of fetch_core. Implements open, next and close of struct
 * remote_shuffle_class.
 */
#pragma once

#include "celeborn/fetch/celeborn_files.h"
#include "celeborn/fetch/chunk_stream.h"
#include "shuffle/remote_shuffle.h"

/* State that the inputs of an executor share. */
struct celeborn_reader {
        const char *app_id; /* borrowed */
        struct celeborn_files files;
        struct fetch_connections connections;
        int tries;     /* spark.celeborn.client.fetch.maxRetriesForEachReplica */
        int64_t pause; /* ns: spark.celeborn.data.io.retryWait */
        bool local;    /* spark.celeborn.client.readLocalShuffleFile.enabled */
};

struct remote_input *celeborn_input_new(struct celeborn_reader *reader, const struct remote_read *read);
int celeborn_input_next(struct remote_input *input, int map, struct page **page, struct fst_error *error);
void celeborn_input_free(struct remote_input *input);

/*
 * Reads the page of a batch whose @header the stream has read. Returns 0 with a page reserved through @memory;
 * FST_MEMORY_E_DENIED; -EBADMSG if it is damaged; or another negative with @error. @scratch is a buffer of *@room bytes
 * that grows.
 */
int celeborn_page_read(struct chunk_stream *stream, const unsigned char header[static PAGE_BATCH_HEADER], fst_type type,
                       struct memory_consumer *memory, struct codec *codec, void **scratch, size_t *room,
                       struct page **page, struct fst_error *error);

/* Returns the bytes of the page of this batch behind its header; negative: it has no page. */
int64_t celeborn_page_rest(struct celeborn_batch batch);
