/*
 * The broadcast variables of one process. The driver puts values in; an executor fetches a value when a task first asks
 * for it, in pieces of spark.broadcast.blockSize and in random order, each from whoever has it: so the driver sends
 * each piece a few times, however many executors there are (Spark's TorrentBroadcast). A piece is served as soon as it
 * is here, before the value is whole.
 *
 * A value is storage memory; where that is short it lies in a file that is mapped, so that it is neither lost nor
 * fetched again. Values that no task holds go to files when execution wants memory (broadcasts_evict).
 *
 * How the executor process is to call it:
 *
 *      broadcasts_set_network              once the driver can be asked
 *      exec_env.services                   has broadcasts_get and broadcasts_release (exec/task_services.c)
 *      FetchBlock "broadcast_…_piece…"     broadcasts_open (exec/blocks/block_manager.h does)
 *      Remove.broadcasts                   broadcasts_remove
 *
 * A piece on the wire is 24 bytes and its payload, all little-endian:
 *
 *      "FSB1" | codec u32 (0 none, 1 lz4, 2 zstd) | bytes u32 | payload bytes u32 | xxh3 of the payload u64
 *
 * the checksum being 0 and not looked at without spark.broadcast.checksum.
 *
 * Threads: all functions from any.
 */
#pragma once

#include "exec/blocks/block_network.h"
#include "io/codec/codec.h"

struct broadcasts;
struct disk_dirs;
struct memory_manager;
struct transfer_stream;

#define BROADCAST_PIECE_HEADER 24
#define MAX_BROADCAST_PIECE (1 << 30) /* bytes */

struct broadcasts_options {
        struct memory_manager *memory;
        struct disk_dirs *dirs;
        size_t piece;          /* bytes: spark.broadcast.blockSize */
        enum codec_kind codec; /* spark.io.compression.codec, or CODEC_NONE without spark.broadcast.compress */
        int level;
        bool checksum; /* spark.broadcast.checksum */
};

struct broadcasts *broadcasts_new(const struct broadcasts_options *options);

/* No value may be held or served any more. NULL is allowed. */
void broadcasts_free(struct broadcasts *b);

/* Where values come from that are not here. Copied; before the first task. Without it none comes. */
void broadcasts_set_network(struct broadcasts *b, const struct block_network *network);

/* Put a value in, copying it. -EEXIST if there is one; negative with @error when there is neither memory nor disk. */
int broadcasts_put(struct broadcasts *b, int64_t id, const void *data, uint64_t size, struct fst_error *error);

/*
 * The value: 0 with *@data, aligned to a page of memory, and *@hold, until broadcasts_release. Fetched if need be, by
 * one of those who want it, while the others wait. Negative with @error: -ECANCELED; -ENOENT when nobody has it;
 * -EINVAL when it has another size; and what fetching fails with.
 */
int broadcasts_get(struct broadcasts *b, int64_t id, uint64_t size, const int *stopped, const void **data, void **hold,
                   struct fst_error *error);
void broadcasts_release(struct broadcasts *b, void *hold);

/* Forget a value; who holds it keeps it until the release. False if there is none. */
bool broadcasts_remove(struct broadcasts *b, int64_t id);

/* Move values that nobody holds to files, up to @want bytes; returns the bytes of memory that became free. */
size_t broadcasts_evict(struct broadcasts *b, size_t want);

/* Serve a piece that is here: as transfer_handler.open. -ENOENT if it is not. */
int broadcasts_open(struct broadcasts *b, int64_t id, int32_t piece, struct transfer_stream **stream,
                    struct fst_error *error);

/* What a piece's header says. -EBADMSG unless it is of a piece of @bytes bytes. */
struct broadcast_piece {
        enum codec_kind codec;
        uint32_t payload;
        uint64_t checksum;
};
int broadcast_piece_parse(const unsigned char header[static BROADCAST_PIECE_HEADER], size_t bytes,
                          struct broadcast_piece *piece, struct fst_error *error);
