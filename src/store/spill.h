/*
 * A spill: an append-only file of pages. Runs of a sort, partitions of an aggregation, a cached block and a map output
 * are ranges of spills.
 *
 * Writing needs no new memory: spill_new allocates the only buffer, a block of 256 KiB. So a consumer creates its
 * spill, or knows that it can, before memory is short. The buffer and the codec's contexts (16 KiB for lz4, about 1 MiB
 * for zstd) are not accounted. spill_finish frees them.
 *
 * Threads: a spill belongs to one thread until spill_finish. Afterwards any number of threads may read, each with its
 * own reader or codec.
 */
#pragma once

#include "store/disk_dirs.h"
#include "store/page_frame.h"

struct spill;

struct spill_options {
        struct disk_dirs *dirs;
        const char
                *name; /* NULL: a temporary file, whose name is removed at once, so that even a crash leaves no file */
        bool keep;     /* a named file stays when the spill is freed, so that another process can read it */
        fst_type type; /* of all its pages */
        enum codec_kind codec; /* CODEC_NONE, CODEC_LZ4, CODEC_ZSTD */
        int level;             /* for zstd */
        bool if_cheaper;       /* compress only while that takes less time than writing and reading the saved bytes */
};

struct spill_counters {
        uint64_t pages, rows;
        uint64_t raw_bytes; /* of the pages */
        uint64_t bytes;     /* in the file */
        uint64_t write_ns;  /* time spent writing */
};

int spill_new(const struct spill_options *options, struct spill **spill, struct fst_error *error);

/*
 * Makes a spill in @fd (stolen), an empty file or memfd that messages call @path. @options->dirs (may be NULL) only
 * records failures and provides the key.
 */
int spill_new_at(const struct spill_options *options, int fd, const char *path, struct spill **spill,
                 struct fst_error *error);

/*
 * Adopts a finished spill of another process: @fd is stolen. @bytes are its pages from offset 0. @in_memory: it is a
 * memfd, which spill_to_disk moves to a file. @iv: that process's spill_iv, whose directories have the same key as
 * @options->dirs; NULL: not encrypted. Pages are verified as usual.
 */
struct spill *spill_adopt(const struct spill_options *options, int fd, const char *path, const uint8_t *iv,
                          uint64_t bytes, bool in_memory);

/* Returns its initial value, FILE_IV bytes (store/file_cipher.h); NULL: not encrypted. */
const uint8_t *spill_iv(const struct spill *spill);

/*
 * Returns the same if this process cannot decrypt it, so that spill_read_bytes returns encrypted bytes; NULL otherwise.
 */
const uint8_t *spill_sealed(const struct spill *spill);
bool spill_in_memory(const struct spill *spill);

/*
 * Moves an adopted spill from memory to a file in @dirs. Others may read it meanwhile: the descriptor stays the same.
 * Returns negative and changes nothing if the disk is full or broken.
 */
int spill_to_disk(struct spill *spill, struct disk_dirs *dirs, struct fst_error *error);

/*
 * Adopts a finished spill in a named file of another process. The file stays and is opened for each read. Only
 * spill_read_bytes is allowed, which returns the file's bytes unchanged. @iv as in spill_adopt. Opens nothing.
 */
struct spill *spill_adopt_file(fst_type type, const char *path, const uint8_t *iv, uint64_t bytes);

/* Returns the descriptor, borrowed; -1 for a finished, named file. */
int spill_fd(const struct spill *spill);

/* Closes and removes the file. NULL is allowed. */
void spill_free(struct spill *spill);

/*
 * Appends @page, which stays the caller's. *@offset and *@length (both may be NULL) locate its frame. Returns negative
 * if the disk is full or broken: nothing was appended, earlier pages stay readable, and the directory is not used for
 * new files.
 */
int spill_write_page(struct spill *spill, const struct page *page, uint64_t *offset, uint32_t *length,
                     struct fst_error *error);

/* Appends the frame of one page, @length bytes of spill_read_bytes from another spill. Otherwise the same. */
int spill_write_frame(struct spill *spill, const void *frame, uint32_t length, uint64_t *offset,
                      struct fst_error *error);

/* Returns the offset of the next page: pages written one after another are the range between two such values. */
uint64_t spill_end(const struct spill *spill);

/*
 * Completes the file: writes and frees the buffer, and closes a named file, which each reader opens again. Before this
 * only the spill's own thread may read.
 */
int spill_finish(struct spill *spill, struct fst_error *error);

struct spill_counters spill_counters(const struct spill *spill);
const char *spill_path(const struct spill *spill); /* for tests */

/*
 * Reads and verifies the page at @offset. @codec is of the spill's kind and used by this thread only; NULL uses the
 * spill's codec, on its own thread. Returns 0; FST_MEMORY_E_DENIED; -EBADMSG for a damaged file; other negatives of
 * reading.
 */
int spill_read_page(struct spill *spill, uint64_t offset, uint32_t length, struct codec *codec,
                    struct memory_consumer *c, struct page **page, struct fst_error *error);

/*
 * Reads @n bytes from @offset, unchanged frames and unverified, for sending them on. Only reads flushed data
 * (spill_finish flushes). Any thread. Returns negative if reading fails or the file ends.
 */
int spill_read_bytes(struct spill *spill, uint64_t offset, void *buf, size_t n, struct fst_error *error);

/*
 * Reads a range page by page, for merges. The kernel reads ahead. Uses the memory of the current page and, for
 * compressed pages, one scratch block.
 */
struct spill_reader {
        struct spill *spill;
        uint64_t at, end;   /* of the next frame; of the range */
        uint64_t announced; /* end of the announced read-ahead */
        int fd;             /* its own if the spill's is closed */
        bool own_fd, own_codec, have_next;
        struct codec *codec, codec_storage;
        unsigned char next[PAGE_FRAME_HEADER]; /* the next frame's header, read together with the last payload */
};

/* @codec as in spill_read_page, but NULL creates one for this reader. Returns negative if the file cannot be opened. */
int spill_reader_init(struct spill_reader *reader, struct spill *spill, uint64_t start, uint64_t end,
                      struct codec *codec, struct fst_error *error);
void spill_reader_deinit(struct spill_reader *reader);

/* Gets the next page, reserved through @c and owned by the caller; *@page is NULL at the end. Errors as above. */
int spill_reader_next(struct spill_reader *reader, struct memory_consumer *c, struct page **page,
                      struct fst_error *error);
