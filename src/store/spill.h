/*
 * A spill: a file of pages that is only appended to. Runs of a sort, partitions of an aggregation, a cached block and a
 * shuffle's map output are ranges of one.
 *
 * Writing needs no memory that is not there: the one buffer, a block of 256 KiB, is set aside by spill_new, so a
 * consumer makes its spill, or knows that it can, before memory is short. It and the codec's contexts (16 KiB for lz4,
 * about 1 MiB for zstd) are not accounted; spill_finish gives them back.
 *
 * Threads: a spill belongs to one thread until spill_finish; afterwards any number may read, each with a reader or a
 * codec of its own.
 */
#pragma once

#include "store/disk_dirs.h"
#include "store/page_frame.h"

struct spill;

struct spill_options {
        struct disk_dirs *dirs;
        const char *name; /* NULL: a temporary file, whose name is gone at once, so that not even a crash leaves it */
        bool keep;        /* a named file stays when the spill is freed, for another process to read */
        fst_type type;    /* of all of its pages */
        enum codec_kind codec; /* CODEC_NONE, CODEC_LZ4, CODEC_ZSTD */
        int level;             /* zstd's */
        bool if_cheaper; /* compress only as long as that takes less time than writing and reading what it saves */
};

struct spill_counters {
        uint64_t pages, rows;
        uint64_t raw_bytes; /* of the pages */
        uint64_t bytes;     /* in the file */
        uint64_t write_ns;  /* spent in writing it */
};

int spill_new(const struct spill_options *options, struct spill **spill, struct fst_error *error);

/*
 * The same, but into @fd (stolen), an empty file or memfd that is called @path in messages; @options->dirs (may be
 * NULL) only hears of failures, and its key encrypts.
 */
int spill_new_at(const struct spill_options *options, int fd, const char *path, struct spill **spill,
                 struct fst_error *error);

/*
 * A finished spill that some other process has written: @fd is stolen, @bytes are its pages from offset 0 on.
 * @in_memory: it is a memfd, and spill_to_disk makes it a file. @iv: that process's spill_iv, whose directories have
 * the same key as @options->dirs; NULL: it is plain. Reading verifies it as any other.
 */
struct spill *spill_adopt(const struct spill_options *options, int fd, const char *path, const uint8_t *iv,
                          uint64_t bytes, bool in_memory);

/* The initial value it is encrypted with, FILE_IV bytes (store/file_cipher.h); NULL: it is plain. */
const uint8_t *spill_iv(const struct spill *spill);

/* The same, if this process cannot decrypt it: what spill_read_bytes gives is encrypted. NULL otherwise. */
const uint8_t *spill_sealed(const struct spill *spill);
bool spill_in_memory(const struct spill *spill);

/*
 * Move what spill_adopt took from memory to a file in @dirs. Others may read the spill meanwhile: the descriptor stays
 * the same. Negative, and nothing has changed, when the disk is full or broken.
 */
int spill_to_disk(struct spill *spill, struct disk_dirs *dirs, struct fst_error *error);

/*
 * A finished spill in a file that another process wrote, is read by its name, and stays: for spill_read_bytes alone,
 * which gives the bytes as they stand there. @iv as in spill_adopt. Opens nothing.
 */
struct spill *spill_adopt_file(fst_type type, const char *path, const uint8_t *iv, uint64_t bytes);

/* The descriptor, borrowed; -1 for a named file that is finished. */
int spill_fd(const struct spill *spill);

/* Close and remove the file. NULL is allowed. */
void spill_free(struct spill *spill);

/*
 * Append @page, which stays the caller's. *@offset and *@length (either may be NULL) say where its frame is. Negative
 * when the disk is full or broken: nothing was appended, the pages before are still readable, and the directory is
 * not used for new files.
 */
int spill_write_page(struct spill *spill, const struct page *page, uint64_t *offset, uint32_t *length,
                     struct fst_error *error);

/* Append what spill_read_bytes gave of another spill: @length bytes, the frame of one page. Otherwise the same. */
int spill_write_frame(struct spill *spill, const void *frame, uint32_t length, uint64_t *offset,
                      struct fst_error *error);

/* Where the next page will be: a run of pages written one after another is the range between two such values. */
uint64_t spill_end(const struct spill *spill);

/*
 * Nothing more is written: what is buffered goes to the file, the buffer goes back, and a named file is closed, to be
 * opened again by each reader. Reading before that is allowed to the spill's own thread alone.
 */
int spill_finish(struct spill *spill, struct fst_error *error);

struct spill_counters spill_counters(const struct spill *spill);
const char *spill_path(const struct spill *spill);

/*
 * Read the page at @offset, verified. @codec is of the spill's kind and used by this thread alone; NULL takes the
 * spill's own, for its own thread. 0; FST_MEMORY_E_DENIED; -EBADMSG for a damaged file; other negatives of reading.
 */
int spill_read_page(struct spill *spill, uint64_t offset, uint32_t length, struct codec *codec,
                    struct memory_consumer *c, struct page **page, struct fst_error *error);

/*
 * @n bytes from @offset on as spill_write_page left them, frames and all, unverified: for who passes them on. Only what
 * spill_finish (or a flush before it) has put into the file. Any thread. Negative when reading fails or the file ends.
 */
int spill_read_bytes(struct spill *spill, uint64_t offset, void *buf, size_t n, struct fst_error *error);

/*
 * Reading a range page by page, for merges: the kernel is told to read ahead, and of memory there is the page
 * handed out and, where pages are compressed, one block of scratch.
 */
struct spill_reader {
        struct spill *spill;
        uint64_t at, end;   /* of the next frame; of the range */
        uint64_t announced; /* read ahead up to here */
        int fd;             /* its own if the spill's is closed */
        bool own_fd, own_codec, have_next;
        struct codec *codec, codec_storage;
        unsigned char next[PAGE_FRAME_HEADER]; /* the next frame's header, read together with the last payload */
};

/* @codec as in spill_read_page, but NULL makes one for this reader. Negative when the file cannot be opened. */
int spill_reader_init(struct spill_reader *reader, struct spill *spill, uint64_t start, uint64_t end,
                      struct codec *codec, struct fst_error *error);
void spill_reader_deinit(struct spill_reader *reader);

/* The next page, reserved through @c and owned by the caller; *@page is NULL at the end. Errors as above. */
int spill_reader_next(struct spill_reader *reader, struct memory_consumer *c, struct page **page,
                      struct fst_error *error);
