/*
 * The broadcast variables of one process. The driver stores values. An executor fetches a value when a task first needs
 * it, in pieces of spark.broadcast.blockSize, in random order, each from any holder. So the driver sends each piece
 * only a few times however many executors there are (Spark's TorrentBroadcast). A process serves a piece as soon as it
 * has it, before the value is complete.
 *
 * A value is storage memory. Where memory is short it is a memory-mapped file, so that it need not be fetched again.
 * Values that no task holds are moved to files when execution needs memory (broadcasts_evict).
 *
 * How the executor process uses it:
 *
 *      broadcasts_set_network              once the driver can be asked
 *      exec_env.services                   has broadcasts_get and broadcasts_release (exec/exec_services.c)
 *      FetchBlock "broadcast_…_piece…"     broadcasts_open (called by exec/blocks/block_manager.h)
 *      Remove.broadcasts                   broadcasts_remove
 *
 * A piece on the wire is 24 bytes and its payload, all little-endian:
 *
 *      "FSB1" | codec u32 (0 none, 1 lz4, 2 zstd) | bytes u32 | payload bytes u32 | xxh3 of the payload u64
 *
 * Without spark.broadcast.checksum the checksum is 0 and not checked.
 *
 * Threads: any, for all functions.
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

/* The caller holds and serves no value any more. NULL is allowed. */
void broadcasts_free(struct broadcasts *b);

/* Sets the source of remote values. Copied; call it before the first task. Without it only local values exist. */
void broadcasts_set_network(struct broadcasts *b, const struct block_network *network);

/* From now on, the driver's transfer server is there. Any thread. */
void broadcasts_set_driver(struct broadcasts *b, const struct block_location *driver);

/*
 * Stores a copy of a value. Returns -EEXIST if the id exists, negative with @error if there is neither memory nor disk
 * space.
 */
int broadcasts_put(struct broadcasts *b, int64_t id, const void *data, uint64_t size, struct fst_error *error);

/*
 * Gets the value: 0 with *@data, aligned to a memory page, and *@hold, both valid until broadcasts_release. One thread
 * fetches it if needed while the others wait. Returns negative with @error: -ECANCELED, -ENOENT if no process has it,
 * -EINVAL if it has another size, or an error of fetching.
 */
int broadcasts_get(struct broadcasts *b, int64_t id, uint64_t size, const int *stopped, const void **data, void **hold,
                   struct fst_error *error);
void broadcasts_release(struct broadcasts *b, void *hold);

/* Removes a value. Its holders keep it until they release it. Returns false if there is none. */
bool broadcasts_remove(struct broadcasts *b, int64_t id);

/* Removes all values in the same way. */
void broadcasts_remove_all(struct broadcasts *b);

/* Moves values without holders to files, up to @want bytes. Returns the bytes of memory freed. */
size_t broadcasts_evict(struct broadcasts *b, size_t want);

/* Serves a local piece, as transfer_handler.open. Returns -ENOENT if it is not here. */
int broadcasts_open(struct broadcasts *b, int64_t id, int32_t piece, struct transfer_stream **stream,
                    struct fst_error *error);

/* The header of a piece. Reading returns -EBADMSG unless it belongs to a piece of @bytes bytes. */
struct broadcast_piece {
        enum codec_kind codec;
        uint32_t payload;
        uint64_t checksum;
};
int broadcast_piece_parse(const unsigned char header[static BROADCAST_PIECE_HEADER], size_t bytes,
                          struct broadcast_piece *piece, struct fst_error *error);
