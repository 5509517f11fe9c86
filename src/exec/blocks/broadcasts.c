/*
 * See broadcasts.h.
 *
 * A value is PARTIAL while a thread fetches it, MOVING while it is written to a file, otherwise READY. Threads that
 * need a value wait until it is READY. A fetcher that fails removes the value from the table, and one of the waiting
 * threads tries next. The last holder of a removed value (`doomed`) frees it. Fetching, moving and serving also hold
 * it.
 *
 * The lock protects the table, states and counts. The bytes of a piece are written before `have` is set under the lock,
 * and never changed afterwards.
 *
 * Differs from Spark: pieces are compressed when they are sent, not stored compressed beside the value. That costs a
 * few ms of a server's thread for each piece and saves the second copy.
 */
#include "exec/blocks/broadcasts.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fault_point.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "net/byte_order.h"
#include "process/interruptible_wait.h"
#include "rpc/transfer/transfer.h"
#include "store/region.h"

#include <assert.h>
#include <endian.h>
#include <inttypes.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#define PIECE_MAGIC 0x31425346u /* "FSB1" */
#define TABLE 256
#define ROUNDS 3 /* requests for locations before a piece fails */

enum value_state { PARTIAL, MOVING, READY };

struct broadcast_value {
        struct broadcast_value *chain;
        int64_t id;
        uint64_t size;
        int32_t pieces;
        struct region region;
        enum value_state state;
        bool doomed;
        unsigned holds;
        bool *have; /* by piece, while PARTIAL; NULL: all pieces */
};

struct broadcasts {
        struct broadcasts_options options;
        struct block_network network;
        bool connected;
        pthread_mutex_t lock;
        pthread_cond_t changed;
        struct broadcast_value *table[TABLE];
        uint64_t random; /* under lock */
};

struct broadcasts *broadcasts_new(const struct broadcasts_options *options)
{
        struct broadcasts *b = new0(struct broadcasts);
        b->options = *options;
        pthread_mutex_init(&b->lock, NULL);
        cond_init_monotonic(&b->changed);
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        b->random = (uint64_t)t.tv_nsec * 0x9E3779B97F4A7C15u + (uint64_t)getpid();
        return b;
}

void broadcasts_set_driver(struct broadcasts *b, const struct block_location *driver)
{
        pthread_mutex_lock(&b->lock);
        b->network.driver = *driver;
        pthread_mutex_unlock(&b->lock);
}

void broadcasts_remove_all(struct broadcasts *b)
{
        VEC(int64_t) ids = {0};
        pthread_mutex_lock(&b->lock);
        for (size_t i = 0; i < ARRAY_SIZE(b->table); i++)
                for (const struct broadcast_value *v = b->table[i]; v; v = v->chain)
                        vec_push(&ids, v->id);
        pthread_mutex_unlock(&b->lock);
        for (size_t i = 0; i < ids.len; i++)
                broadcasts_remove(b, ids.data[i]);
        vec_deinit(&ids);
}

void broadcasts_set_network(struct broadcasts *b, const struct block_network *network)
{
        b->network = *network;
        b->connected = true;
}

/* -------------------------------------------------------------------------------------------------- the values */

static int value_allocate(struct broadcasts *b, struct broadcast_value *v, struct fst_error *error)
{
        int r = region_new(&v->region, b->options.memory, b->options.dirs, v->size, error);
        return r ? error_wrap(error, r, "broadcast variable %" PRId64 " fits neither into memory nor on disk", v->id)
                 : 0;
}

static struct broadcast_value *value_new(struct broadcasts *b, int64_t id, uint64_t size, enum value_state state)
{
        struct broadcast_value *v = new0(struct broadcast_value);
        *v = (struct broadcast_value){.id = id,
                                      .size = size,
                                      .pieces = (int32_t)((size + b->options.piece - 1) / b->options.piece),
                                      .state = state,
                                      .holds = 1};
        return v;
}

/* Frees a value that is not in the table and that no thread holds. Without the lock. */
static void value_free(struct broadcasts *b, struct broadcast_value *v)
{
        region_deinit(&v->region, b->options.memory);
        free(v->have);
        free(v);
}

/* ------------------------------------------------------------------------------------------------- the table */

static struct broadcast_value *find_broadcast(struct broadcasts *b, int64_t id)
{
        struct broadcast_value *v = b->table[(uint64_t)id % TABLE];
        while (v && v->id != id)
                v = v->chain;
        return v;
}

static void add_value(struct broadcasts *b, struct broadcast_value *v)
{
        struct broadcast_value **slot = &b->table[(uint64_t)v->id % TABLE];
        v->chain = *slot;
        *slot = v;
}

/* Removes the value from the table. Lock held. */
static void doom_value(struct broadcasts *b, struct broadcast_value *v)
{
        struct broadcast_value **at = &b->table[(uint64_t)v->id % TABLE];
        if (v->doomed)
                return;
        while (*at != v)
                at = &(*at)->chain;
        *at = v->chain;
        v->doomed = true;
}

/* Releases the lock. */
static void release_value_unlock(struct broadcasts *b, struct broadcast_value *v)
{
        assert(v->holds > 0);
        bool gone = --v->holds == 0 && v->doomed;
        pthread_mutex_unlock(&b->lock);
        if (gone)
                value_free(b, v);
}

void broadcasts_release(struct broadcasts *b, void *hold)
{
        pthread_mutex_lock(&b->lock);
        release_value_unlock(b, hold);
}

void broadcasts_free(struct broadcasts *b)
{
        if (!b)
                return;
        for (size_t i = 0; i < TABLE; i++)
                for (struct broadcast_value *v = b->table[i], *next; v; v = next) {
                        next = v->chain;
                        value_free(b, v);
                }
        pthread_cond_destroy(&b->changed);
        pthread_mutex_destroy(&b->lock);
        free(b);
}

int broadcasts_put(struct broadcasts *b, int64_t id, const void *data, uint64_t size, struct fst_error *error)
{
        struct broadcast_value *v = value_new(b, id, size, READY);
        int r = size > (uint64_t)INT32_MAX * b->options.piece
                        ? error_set(error, -E2BIG, "a broadcast variable of %" PRIu64 " bytes has too many pieces",
                                    size)
                        : value_allocate(b, v, error);
        if (r) {
                value_free(b, v);
                return r;
        }
        if (size)
                memcpy(v->region.data, data, size);
        pthread_mutex_lock(&b->lock);
        v->holds = 0;
        bool there = find_broadcast(b, id) != NULL;
        if (!there)
                add_value(b, v);
        pthread_mutex_unlock(&b->lock);
        if (there)
                value_free(b, v);
        return there ? error_set(error, -EEXIST, "broadcast variable %" PRId64 " exists already", id) : 0;
}

bool broadcasts_remove(struct broadcasts *b, int64_t id)
{
        pthread_mutex_lock(&b->lock);
        struct broadcast_value *v = find_broadcast(b, id);
        if (!v) {
                pthread_mutex_unlock(&b->lock);
                return false;
        }
        doom_value(b, v);
        pthread_cond_broadcast(&b->changed);
        v->holds++;
        release_value_unlock(b, v);
        return true;
}

/* ---------------------------------------------------------------------------------------------------- eviction */

/* Writes to a file a value that this thread has made MOVING and holds. Returns true if that freed memory. */
static bool move_value_to_file(struct broadcasts *b, struct broadcast_value *v)
{
        struct fst_error error = FST_ERROR_INIT;
        bool moved = region_move_out(&v->region, b->options.memory, b->options.dirs, &error);
        if (error.message)
                log_warn("MemoryStore", "broadcast variable %" PRId64 " stays in memory: %s", v->id,
                         error_message(&error));
        error_deinit(&error);
        pthread_mutex_lock(&b->lock);
        v->state = READY;
        pthread_cond_broadcast(&b->changed);
        release_value_unlock(b, v);
        return moved;
}

size_t broadcasts_evict(struct broadcasts *b, size_t want)
{
        size_t freed = 0;
        for (size_t i = 0; i < TABLE && freed < want; i++) {
                pthread_mutex_lock(&b->lock);
                struct broadcast_value *v = b->table[i];
                while (v && (v->state != READY || v->holds > 0 || !v->region.in_memory))
                        v = v->chain;
                if (v) {
                        v->state = MOVING;
                        v->holds++;
                }
                pthread_mutex_unlock(&b->lock);
                size_t size = v ? (size_t)v->size : 0;
                if (v && move_value_to_file(b, v)) {
                        freed += size;
                        i--; /* the chain may contain another one */
                }
        }
        return freed;
}

/* ----------------------------------------------------------------------------------------------------- serving */

struct piece_stream {
        struct transfer_stream stream;
        struct broadcasts *broadcasts;
        struct broadcast_value *value;
        const unsigned char *data;
        size_t size;
        unsigned char header[BROADCAST_PIECE_HEADER];
        unsigned char *packed;
        bool sent;
};

/* Compresses the piece. Returns its size, or 0 if it did not become smaller. */
static size_t compress_piece(struct piece_stream *s)
{
        const struct broadcasts_options *o = &s->broadcasts->options;
        struct codec codec;
        size_t written = 0;
        if (o->codec == CODEC_NONE || s->size < 512)
                return 0;
        codec_init(&codec, o->codec, o->level);
        s->packed = mem_try(s->size);
        if (!s->packed || codec_compress(&codec, s->data, s->size, s->packed, s->size, &written, NULL))
                written = 0; /* not smaller: send it uncompressed */
        codec_deinit(&codec);
        return written < s->size ? written : 0;
}

static int piece_next(struct transfer_stream *stream, struct iovec *iov, int max, struct fst_error *error)
{
        struct piece_stream *s = container_of(stream, struct piece_stream, stream);
        if (s->sent)
                return 0;
        s->sent = true;
        size_t packed = compress_piece(s), size = packed ? packed : s->size;
        const unsigned char *payload = packed ? s->packed : s->data;
        uint64_t checksum = htole64(s->broadcasts->options.checksum ? XXH3_64bits(payload, size) : 0);
        put_le32(s->header, PIECE_MAGIC);
        put_le32(s->header + 4, packed ? (uint32_t)s->broadcasts->options.codec : CODEC_NONE);
        put_le32(s->header + 8, (uint32_t)s->size);
        put_le32(s->header + 12, (uint32_t)size);
        memcpy(s->header + 16, &checksum, sizeof(checksum));
        iov[0] = (struct iovec){s->header, sizeof(s->header)};
        iov[1] = (struct iovec){(void *)payload, size};
        return 2;
}

static void piece_close(struct transfer_stream *stream)
{
        struct piece_stream *s = container_of(stream, struct piece_stream, stream);
        broadcasts_release(s->broadcasts, s->value);
        free(s->packed);
        free(s);
}

static const struct transfer_stream_class piece_class = {.next = piece_next, .close = piece_close};

int broadcasts_open(struct broadcasts *b, int64_t id, int32_t piece, struct transfer_stream **stream,
                    struct fst_error *error)
{
        pthread_mutex_lock(&b->lock);
        struct broadcast_value *v = find_broadcast(b, id);
        /* The pieces are complete, but moving changes their addresses: wait for it. */
        while (v && v->state == MOVING) {
                pthread_cond_wait(&b->changed, &b->lock);
                v = find_broadcast(b, id);
        }
        bool there = v && piece >= 0 && piece < v->pieces && (!v->have || v->have[piece]);
        if (there)
                v->holds++;
        pthread_mutex_unlock(&b->lock);
        if (!there)
                return error_set(error, -ENOENT, "broadcast_%" PRId64 "_piece%d is not here", id, piece);
        struct piece_stream *s = new0(struct piece_stream);
        uint64_t at = (uint64_t)piece * b->options.piece;
        *s = (struct piece_stream){.stream.class = &piece_class,
                                   .broadcasts = b,
                                   .value = v,
                                   .data = v->region.data + at,
                                   .size = (size_t)MIN(v->size - at, (uint64_t)b->options.piece)};
        *stream = &s->stream;
        return 0;
}

/* ---------------------------------------------------------------------------------------------------- fetching */

int broadcast_piece_parse(const unsigned char header[static BROADCAST_PIECE_HEADER], size_t bytes,
                          struct broadcast_piece *piece, struct fst_error *error)
{
        uint32_t codec = get_le32(header + 4), size = get_le32(header + 8), payload = get_le32(header + 12);
        if (get_le32(header) != PIECE_MAGIC)
                return error_set(error, -EBADMSG, "not a piece of a broadcast variable");
        if (size != bytes)
                return error_set(error, -EBADMSG,
                                 "the piece has %u bytes instead of %zu: do both processes have the same "
                                 "spark.broadcast.blockSize?",
                                 size, bytes);
        if (codec > CODEC_ZSTD || payload > bytes || (codec == CODEC_NONE && payload != bytes))
                return error_set(error, -EBADMSG, "the piece has an invalid header (codec %u, %u bytes)", codec,
                                 payload);
        uint64_t checksum;
        memcpy(&checksum, header + 16, sizeof(checksum));
        *piece = (struct broadcast_piece){(enum codec_kind)codec, payload, le64toh(checksum)};
        return 0;
}

struct broadcast_fetch {
        struct broadcasts *b;
        struct broadcast_value *v;
        const int *stopped;
        unsigned char *scratch; /* a compressed piece */
};

static int receive_piece(struct broadcast_fetch *f, struct transfer_input *in, unsigned char *to, size_t bytes,
                         struct fst_error *error)
{
        unsigned char header[BROADCAST_PIECE_HEADER];
        struct broadcast_piece piece;
        int r = transfer_read_all(in, header, sizeof(header), error);
        if (r == FST_TRANSFER_E_END)
                return error_set(error, -EPROTO, "the reply is empty");
        if (r || (r = broadcast_piece_parse(header, bytes, &piece, error)))
                return r;
        unsigned char *payload = to;
        if (piece.codec != CODEC_NONE) {
                if (!f->scratch && !(f->scratch = malloc(f->b->options.piece)))
                        return error_set(error, -ENOMEM, "no memory for a piece");
                payload = f->scratch;
        }
        r = piece.payload ? transfer_read_all(in, payload, piece.payload, error) : 0;
        if (r == FST_TRANSFER_E_END)
                return error_set(error, -EPROTO, "the reply ends after its header");
        if (r)
                return r;
        if (f->b->options.checksum && XXH3_64bits(payload, piece.payload) != piece.checksum)
                return error_set(error, -EBADMSG, "the piece is damaged: its checksum is wrong");
        if (piece.codec == CODEC_NONE)
                return 0;
        struct codec codec;
        codec_init(&codec, piece.codec, f->b->options.level);
        r = codec_decompress(&codec, payload, piece.payload, to, bytes, error);
        codec_deinit(&codec);
        return r;
}

static int fetch_piece_from(struct broadcast_fetch *f, const struct block_location *at, int32_t piece,
                            unsigned char *to, size_t bytes, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf request = BUF_INIT;
        struct block_peer peer = {&f->b->network, at};
        struct transfer_call call = {.stopped = f->stopped, .gone = block_peer_gone, .gone_owner = &peer};
        struct transfer_input *in = NULL;
        block_request_fetch((struct block_name){BLOCK_BROADCAST, f->v->id, piece}, &request);
        int r = transfer_open(f->b->network.client, at->host, at->port, request.data, request.len, &call, &in, error);
        if (r)
                return r;
        r = receive_piece(f, in, to, bytes, error);
        unsigned char none;
        if (r == 0 && transfer_read(in, &none, 1, NULL) >
                              0) /* reads the end of the stream, so that the connection can be reused */
                r = error_set(error, -EPROTO, "bytes follow the piece");
        transfer_close(in);
        return r;
}

/* Fills @out with possible holders of a piece: executors from the driver's answer, then the driver itself. */
static int piece_locations(struct broadcast_fetch *f, int32_t piece,
                           struct block_location out[static MAX_BLOCK_LOCATIONS + 1], struct fst_error *error)
{
        const struct block_network *net = &f->b->network;
        int n = net->locations(net->owner, (struct block_name){BLOCK_BROADCAST, f->v->id, piece}, f->stopped, out,
                               MAX_BLOCK_LOCATIONS, error);
        if (n < 0)
                return n;
        pthread_mutex_lock(&f->b->lock);
        if (net->driver.port && !(n > 0 && out[n - 1].executor < 0))
                out[n++] = net->driver;
        pthread_mutex_unlock(&f->b->lock);
        return n;
}

static int fetch_piece(struct broadcast_fetch *f, int32_t piece, struct fst_error *error)
{
        struct block_location at[MAX_BLOCK_LOCATIONS + 1];
        uint64_t offset = (uint64_t)piece * f->b->options.piece;
        size_t bytes = (size_t)MIN(f->v->size - offset, (uint64_t)f->b->options.piece);
        int r = -ENOENT;
        for (int round = 0; round < ROUNDS; round++) {
                fault_point(FAULT_BROADCAST);
                int n = piece_locations(f, piece, at, error);
                if (n < 0)
                        return n;
                if (n == 0)
                        r = error_set(error, -ENOENT, "no process has it");
                for (int i = 0; i < n; i++) {
                        r = fetch_piece_from(f, &at[i], piece, f->v->region.data + offset, bytes, error);
                        if (r == 0)
                                error_deinit(error); /* of the holders tried before */
                        if (r == 0 || r == -ECANCELED)
                                return r;
                        log_warn("TorrentBroadcast", "broadcast_%" PRId64 "_piece%d cannot be fetched from %s:%d: %s",
                                 f->v->id, piece, at[i].host, at[i].port, error_message(error));
                }
                if (r == -ENOENT)
                        break;
        }
        return error_wrap(error, r, "broadcast_%" PRId64 "_piece%d", f->v->id, piece);
}

static uint64_t draw_random(uint64_t *state)
{
        uint64_t z = *state += 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
}

static void announce_piece(struct broadcasts *b, const struct broadcast_value *v, int32_t piece, bool there)
{
        uint64_t size = MIN(v->size - (uint64_t)piece * b->options.piece, (uint64_t)b->options.piece);
        struct block_info info = {.level = there ? FST_STORAGE_MEMORY_AND_DISK_SER : FST_STORAGE_NONE};
        if (there && v->region.in_memory)
                info.memory_bytes = (int64_t)size;
        else if (there)
                info.disk_bytes = (int64_t)size;
        if (b->network.changed)
                b->network.changed(b->network.owner, (struct block_name){BLOCK_BROADCAST, v->id, piece}, &info);
}

/* Fetches all pieces in random order and announces each one. @v is PARTIAL and only this thread fills it. */
static int fetch_all_pieces(struct broadcasts *b, struct broadcast_value *v, const int *stopped,
                            struct fst_error *error)
{
        struct broadcast_fetch f = {.b = b, .v = v, .stopped = stopped};
        int32_t *order = new_array(int32_t, (size_t)v->pieces + 1);
        pthread_mutex_lock(&b->lock);
        uint64_t random = draw_random(&b->random);
        pthread_mutex_unlock(&b->lock);
        int r = 0;
        for (int32_t i = 0; i < v->pieces; i++) {
                int32_t j = (int32_t)(draw_random(&random) % (uint64_t)(i + 1));
                order[i] = order[j];
                order[j] = i;
        }
        for (int32_t i = 0; i < v->pieces && r == 0; i++) {
                r = fetch_piece(&f, order[i], error);
                if (r)
                        break;
                pthread_mutex_lock(&b->lock);
                v->have[order[i]] = true;
                pthread_mutex_unlock(&b->lock);
                announce_piece(b, v, order[i], true);
        }
        free(f.scratch);
        free(order);
        return r;
}

/* Tells the driver that the fetched pieces are gone: the value was not completed, or was removed meanwhile, when the
 * driver knew only those that had been announced. */
static void withdraw_pieces(struct broadcasts *b, const struct broadcast_value *v)
{
        for (int32_t i = 0; i < v->pieces; i++)
                if (v->have[i])
                        announce_piece(b, v, i, false);
}

/* Fetches the value that this thread has added to the table as PARTIAL, with one hold for itself. */
static int fetch_value(struct broadcasts *b, struct broadcast_value *v, const int *stopped, struct fst_error *error)
{
        int r = value_allocate(b, v, error);
        if (r == 0)
                r = fetch_all_pieces(b, v, stopped, error);
        pthread_mutex_lock(&b->lock);
        if (r == 0)
                v->state = READY;
        else
                doom_value(b, v);
        const bool removed = v->doomed;
        if (!removed)
                free(steal(v->have));
        pthread_cond_broadcast(&b->changed);
        pthread_mutex_unlock(&b->lock);
        if (removed)
                withdraw_pieces(b, v);
        if (r)
                broadcasts_release(b, v);
        return r;
}

static int hold_value(struct broadcasts *b, struct broadcast_value *v, uint64_t size, const void **data, void **hold,
                      struct fst_error *error)
{
        if (v->size != size) {
                uint64_t has = v->size;
                broadcasts_release(b, v);
                return error_set(error, -EINVAL,
                                 "broadcast variable has %" PRIu64 " bytes, not %" PRIu64
                                 ": does the handle belong to another application?",
                                 has, size);
        }
        *data = v->region.data;
        *hold = v;
        return 0;
}

int broadcasts_get(struct broadcasts *b, int64_t id, uint64_t size, const int *stopped, const void **data, void **hold,
                   struct fst_error *error)
{
        if (size > (uint64_t)INT32_MAX * b->options.piece)
                return error_set(error, -EINVAL, "a broadcast variable of %" PRIu64 " bytes", size);
        pthread_mutex_lock(&b->lock);
        struct broadcast_value *v;
        while ((v = find_broadcast(b, id)) && v->state != READY)
                if (!stop_wait(&b->changed, &b->lock, stopped)) {
                        pthread_mutex_unlock(&b->lock);
                        return error_set(error, -ECANCELED, "waiting for broadcast variable %" PRId64, id);
                }
        if (v) {
                v->holds++;
                pthread_mutex_unlock(&b->lock);
                return hold_value(b, v, size, data, hold, error);
        }
        if (!b->connected) {
                pthread_mutex_unlock(&b->lock);
                return error_set(error, -ENOENT, "broadcast variable %" PRId64 " was destroyed, or never existed", id);
        }
        v = value_new(b, id, size, PARTIAL);
        v->have = new_array(bool, (size_t)v->pieces + 1);
        add_value(b, v);
        pthread_mutex_unlock(&b->lock);
        int r = fetch_value(b, v, stopped, error);
        if (r == 0)
                return hold_value(b, v, size, data, hold, error);
        return r == -ECANCELED ? r
                               : error_wrap(error, r,
                                            "broadcast variable %" PRId64 " (destroyed, or lost with its holders)", id);
}
