/*
 * See shuffle_fetch.h.
 *
 * A stream delivers the maps of a round at one executor, in order. When it fails, it is opened again for the rest.
 * Pages of the current map that have arrived are skipped, because the pages of an output never change or move. So all
 * failures are handled in one way: a broken connection, a stream that the server closed because it was not read for too
 * long, a damaged page.
 *
 * Data from the network is untrusted: lengths are checked before memory is allocated, and pages before they are
 * returned.
 */
#include "shuffle/shuffle_fetch.h"

#include "base/clock.h"
#include "base/fault_point.h"
#include "base/log.h"
#include "base/mem.h"
#include "rpc/transfer/transfer.pb-c.h"
#include "rpc/transfer/transfer_client.h"
#include "shuffle/shuffle_wire.h"
#include "store/file_cipher.h"
#include "store/page_frame.h"
#include "store/page_pool.h"

#include <limits.h>
#include <time.h>

struct fetch_stream {
        struct shuffle_fetch *fetch;
        int32_t location;
        struct transfer_input *input; /* NULL: closed */
        int *maps;                    /* map partitions of this round */
        int n, at;                    /* at: index of the current map */
        int first;                    /* index of the first map of the request */
        uint32_t pages;               /* pages of the current map that have arrived */
        int tries;                    /* failures since the last progress */
        int damaged;                  /* map partition of an earlier damaged page; -1: none */
        int64_t opened;
};

struct shuffle_fetch {
        const struct shuffle_reader_env *env;
        const struct shuffle_inputs *inputs;
        int partition;
        fst_type type;
        struct task_run *run;
        struct memory_consumer *memory;
        struct fetch_stream *streams; /* by location */
        int open;                     /* streams of the round */
        int round_end;                /* first map partition after the current round */
        struct codec codec;
        unsigned char *scratch; /* one block, for compressed pages */
};

struct shuffle_fetch *shuffle_fetch_new(const struct shuffle_reader_env *env, const struct shuffle_inputs *inputs,
                                        int partition, fst_type type, struct task_run *run,
                                        struct memory_consumer *memory)
{
        struct shuffle_fetch *f = new0(struct shuffle_fetch);
        f->env = env;
        f->inputs = inputs;
        f->partition = partition;
        f->type = type;
        f->run = run;
        f->memory = memory;
        f->streams = new_array(struct fetch_stream, (size_t)env->n_locations);
        for (int i = 0; i < env->n_locations; i++)
                f->streams[i] = (struct fetch_stream){.fetch = f, .location = i, .damaged = -1};
        codec_init(&f->codec, env->space->shuffle_codec, env->space->level);
        return f;
}

static void close_stream(struct fetch_stream *s)
{
        if (!s->input)
                return;
        s->fetch->run->counters.shuffle_remote_requests_ns += now_ns() - s->opened;
        transfer_close(steal(s->input));
}

void shuffle_fetch_free(struct shuffle_fetch *f)
{
        if (!f)
                return;
        for (int i = 0; i < f->env->n_locations; i++) {
                close_stream(&f->streams[i]);
                free(f->streams[i].maps);
        }
        codec_deinit(&f->codec);
        page_pool_put(f->scratch);
        free(f->streams);
        free(f);
}

int shuffle_fetch_lost(const struct shuffle_reader_env *env, const struct shuffle_inputs *inputs, struct task_run *run,
                       int map, int status, struct fst_error *error)
{
        int32_t location = inputs->maps[map].location;
        if (status == -ECANCELED || task_run_stopped(run)) {
                error_deinit(error);
                return task_run_cancelled(run);
        }
        if (status == FST_MEMORY_E_DENIED) {
                error_deinit(error);
                return task_run_fail(run, -ENOMEM,
                                     "no memory for a page of shuffle %d: raise spark.executor.memory "
                                     "(spark.driver.memory in local mode), or run fewer tasks at a time",
                                     inputs->shuffle_id);
        }
        if (task_run_check(run)) {
                error_deinit(error);
                return run->status;
        }
        run->fetch_failed = true;
        run->fetch_shuffle = inputs->shuffle_id;
        run->fetch_map = map;
        run->fetch_executor = location >= 0 ? env->locations[location].executor : location;
        if (location >= 0 && location != env->here)
                error_wrap(error, status, "cannot fetch map output %d of shuffle %d from executor %s (%s:%d)", map,
                           inputs->shuffle_id, env->locations[location].executor_id, env->locations[location].host,
                           env->locations[location].port);
        return task_run_fail_with(run, status, error);
}

/* ------------------------------------------------------------------------------------------------------- rounds */

static bool is_remote(const struct shuffle_fetch *f, int map)
{
        int32_t location = f->inputs->maps[map].location;
        return location >= 0 && location != f->env->here;
}

/* Plans a round from map @from on, within the limits of streams and of maps per stream. */
static void plan_round(struct shuffle_fetch *f, int from)
{
        const struct shuffle_fetch_limits *limits = &f->env->limits;
        int most = limits->requests > 0 ? limits->requests : INT_MAX;
        int per_stream = limits->per_address > 0 ? limits->per_address : INT_MAX;
        f->open = 0;
        for (int i = 0; i < f->env->n_locations; i++) {
                close_stream(&f->streams[i]);
                f->streams[i].n = f->streams[i].at = 0;
                f->streams[i].pages = 0;
        }
        int map = from;
        for (; map < f->inputs->n; map++) {
                if (!is_remote(f, map))
                        continue;
                struct fetch_stream *s = &f->streams[f->inputs->maps[map].location];
                if (s->n == per_stream || (s->n == 0 && f->open == most))
                        break;
                if (!s->maps)
                        s->maps = new_array(int, (size_t)f->inputs->n);
                f->open += s->n == 0;
                s->maps[s->n++] = map;
        }
        f->round_end = map;
}

static void *pack_fetch_request(const struct fetch_stream *s, size_t *len)
{
        const struct shuffle_fetch *f = s->fetch;
        size_t n = (size_t)(s->n - s->at);
        Firesteel__FetchShuffle fetch = FIRESTEEL__FETCH_SHUFFLE__INIT;
        Firesteel__TransferRequest request = FIRESTEEL__TRANSFER_REQUEST__INIT;
        fetch.shuffle = f->inputs->shuffle_id;
        fetch.first_partition = f->partition;
        fetch.end_partition = f->partition + 1;
        fetch.n_map_partitions = fetch.n_map_task_ids = n;
        fetch.map_partitions = mem_alloc(n * sizeof(*fetch.map_partitions));
        fetch.map_task_ids = mem_alloc(n * sizeof(*fetch.map_task_ids));
        fetch.skip_pages = s->pages;
        for (size_t i = 0; i < n; i++) {
                int map = s->maps[s->at + (int)i];
                fetch.map_partitions[i] = map;
                fetch.map_task_ids[i] = f->inputs->maps[map].task_id;
        }
        if (f->env->locations[s->location].service) {
                fetch.app_id = (char *)f->env->app_id;
                fetch.executor_id = f->env->locations[s->location].executor_id;
        }
        request.what_case = FIRESTEEL__TRANSFER_REQUEST__WHAT_FETCH_SHUFFLE;
        request.fetch_shuffle = &fetch;
        unsigned char *data = mem_alloc(firesteel__transfer_request__get_packed_size(&request));
        *len = firesteel__transfer_request__pack(&request, data);
        free(fetch.map_partitions);
        free(fetch.map_task_ids);
        return data;
}

static bool executor_lost(void *owner)
{
        const struct fetch_stream *s = owner;
        const struct shuffle_reader_env *env = s->fetch->env;
        return env->lost && !env->locations[s->location].service &&
               env->lost(env->lost_owner, env->locations[s->location].executor);
}

static int shuffle_fetch_open_stream(struct fetch_stream *s, int retries_used, struct fst_error *error)
{
        struct shuffle_fetch *f = s->fetch;
        const struct shuffle_location *at = &f->env->locations[s->location];
        size_t in_flight = f->env->limits.bytes ? f->env->limits.bytes : DEFAULT_IN_FLIGHT, len;
        struct transfer_call call = {
                .stopped = f->run->task.stopped,
                .window = MAX(in_flight / (size_t)f->open, (size_t)1),
                .retries_used = retries_used,
                .wait_first = s->tries > 1,
                .wait_ns = &f->run->counters.shuffle_fetch_wait_ns,
                .gone = executor_lost,
                .gone_owner = s,
        };
        _cleanup_free_ void *request = pack_fetch_request(s, &len);
        fault_point(FAULT_FETCH);
        s->first = s->at;
        s->opened = now_ns();
        struct transfer_client *client = at->service ? f->env->service_client : f->env->client;
        return transfer_open(client, at->host, at->port, request, len, &call, &s->input, error);
}

/* ------------------------------------------------------------------------------------------------------ records */

/* Reads @n bytes. The end of the stream before them is an error. */
static int read_body(struct fetch_stream *s, void *buf, size_t n, struct fst_error *error)
{
        int r = transfer_read_all(s->input, buf, n, error);
        return r == FST_TRANSFER_E_END ? error_set(error, -EPROTO, "the stream ended within a record") : r;
}

/* The key that decrypts the following bytes; key NULL: not encrypted. */
struct page_seal {
        const struct file_key *key;
        uint8_t iv[FILE_IV];
        uint64_t offset; /* of the next byte */
};

static int read_sealed(struct fetch_stream *s, struct page_seal *seal, void *buf, size_t n, struct fst_error *error)
{
        int r = read_body(s, buf, n, error);
        if (r == 0 && seal->key)
                r = file_crypt(seal->key, seal->iv, seal->offset, buf, buf, n, error);
        seal->offset += n;
        return r;
}

/* Reads a page of @length bytes. Returns FST_MEMORY_E_DENIED, -EBADMSG if it is damaged, or another negative. */
static int shuffle_fetch_read_page(struct fetch_stream *s, uint32_t length, struct page_seal *seal, struct page **page,
                                   struct fst_error *error)
{
        struct shuffle_fetch *f = s->fetch;
        unsigned char header[PAGE_FRAME_HEADER];
        struct page_frame frame;
        if (length < PAGE_FRAME_HEADER)
                return error_set(error, -EBADMSG, "a damaged page: it has %u bytes", length);
        int r = read_sealed(s, seal, header, sizeof(header), error);
        if (r == 0)
                r = page_frame_parse(header, f->type, &frame, error);
        if (r)
                return r;
        if (frame.payload != length - PAGE_FRAME_HEADER)
                return error_set(error, -EBADMSG, "a damaged page: its payload has %u bytes, its frame %u",
                                 frame.payload, length);
        if (frame.codec != CODEC_NONE) {
                if (!f->scratch && !(f->scratch = page_pool_get()))
                        return error_set(error, -ENOMEM, "no memory to unpack a page");
                r = read_sealed(s, seal, f->scratch, frame.payload, error);
                return r ? r : page_frame_decode(&frame, f->type, f->scratch, &f->codec, f->memory, page, error);
        }
        struct page *p = NULL;
        r = page_new(f->memory, f->type, frame.bytes, &p);
        if (r)
                return r < 0 ? error_set(error, r, "no memory for a page of %u bytes", frame.bytes) : r;
        if (frame.bytes)
                r = read_sealed(s, seal, p->data, frame.bytes, error);
        p->used = frame.bytes;
        p->rows = frame.rows;
        if (r == 0)
                r = page_validate(p, frame.checksum, error);
        if (r)
                page_free(f->memory, p);
        else
                *page = p;
        return r;
}

static int read_seal(struct fetch_stream *s, uint32_t length, struct page_seal *seal, struct fst_error *error)
{
        unsigned char head[SHUFFLE_SEAL];
        const struct disk_dirs *dirs = s->fetch->env->space->dirs;
        seal->key = dirs ? disk_dirs_key(dirs) : NULL;
        if (!seal->key)
                return error_set(error, -EPROTO,
                                 "the page is encrypted, and spark.io.encryption.enabled is not set here");
        if (length < SHUFFLE_SEAL)
                return error_set(error, -EBADMSG, "a damaged page: it has %u bytes", length);
        int r = read_body(s, head, sizeof(head), error);
        memcpy(seal->iv, head, FILE_IV);
        seal->offset = get_le32(head + FILE_IV) | (uint64_t)get_le32(head + FILE_IV + 4) << 32;
        return r;
}

#define MAP_GONE 2 /* an outcome like FST_MEMORY_E_DENIED: the server does not have the map */

/* Reads the next record: a page, or NULL at the end of the map. Returns MAP_GONE, FST_MEMORY_E_DENIED, or negative. */
static int shuffle_fetch_read_record(struct fetch_stream *s, struct page **page, struct fst_error *error)
{
        struct shuffle_fetch *f = s->fetch;
        unsigned char header[SHUFFLE_RECORD], body[SHUFFLE_SENTENCE];
        struct page_seal seal = {0};
        fault_point(FAULT_FETCH);
        int r = transfer_read_all(s->input, header, sizeof(header), error);
        if (r)
                return r < 0 ? r : error_set(error, -EPROTO, "the stream ended before all map outputs arrived");
        struct shuffle_record record = shuffle_record_get(header);
        if (record.map != (uint32_t)(s->at - s->first) || record.partition != (uint32_t)f->partition)
                return error_set(error, -EPROTO, "received map %u, partition %u instead of map %d, partition %d",
                                 record.map, record.partition, s->at - s->first, f->partition);
        *page = NULL;
        switch (record.kind) {
        case SHUFFLE_PAGE:
                return shuffle_fetch_read_page(s, record.length, &seal, page, error);
        case SHUFFLE_SEALED:
                r = read_seal(s, record.length, &seal, error);
                return r ? r : shuffle_fetch_read_page(s, record.length - SHUFFLE_SEAL, &seal, page, error);
        case SHUFFLE_END:
                if (record.length != 4)
                        break;
                r = read_body(s, body, 4, error);
                if (r == 0 && get_le32(body) != s->pages)
                        r = error_set(error, -EPROTO, "received %u pages of %u", s->pages, get_le32(body));
                return r;
        case SHUFFLE_GONE:
                if (record.length == 0 || record.length > sizeof(body))
                        break;
                r = read_body(s, body, record.length, error);
                if (r)
                        return r;
                error_set(error, -ENOENT, "%.*s", (int)record.length, (const char *)body);
                return MAP_GONE;
        }
        return error_set(error, -EPROTO, "invalid record of kind %u with %u bytes", record.kind, record.length);
}

/* ------------------------------------------------------------------------------------------------------- streams */

/* Handles a failed stream. Returns 0 to open it again, or negative after task_run_fail. */
static int shuffle_fetch_recover(struct fetch_stream *s, int map, int status, struct fst_error *error)
{
        struct shuffle_fetch *f = s->fetch;
        bool refused = s->input &&
                       transfer_input_refused(s->input); /* the server replied with an error: a retry would fail too */
        close_stream(s);
        if (status == -ECANCELED || task_run_stopped(f->run) || task_run_check(f->run))
                return shuffle_fetch_lost(f->env, f->inputs, f->run, map, status, error);
        bool damaged = status == -EBADMSG;
        if (damaged ? s->damaged == map
                    : refused || ++s->tries > transfer_client_options(f->env->client)->max_retries || executor_lost(s))
                return shuffle_fetch_lost(f->env, f->inputs, f->run, map, status, error);
        if (damaged)
                s->damaged = map;
        log_warn("ShuffleBlockFetcherIterator", "retrying map output %d of shuffle %d from executor %s: %s", map,
                 f->inputs->shuffle_id, f->env->locations[s->location].executor_id, error_message(error));
        error_deinit(error);
        return 0;
}

/* Opens all streams of the round, so that they fill while one is read. An error is reported when the stream is read. */
static void open_round(struct shuffle_fetch *f)
{
        for (int i = 0; i < f->env->n_locations; i++) {
                struct fetch_stream *s = &f->streams[i];
                if (s->n && shuffle_fetch_open_stream(s, INT_MAX, NULL))
                        s->tries = 1;
        }
}

int shuffle_fetch_next(struct shuffle_fetch *f, int map, struct page **page)
{
        if (map >= f->round_end) {
                plan_round(f, map);
                open_round(f);
        }
        struct fetch_stream *s = &f->streams[f->inputs->maps[map].location];
        for (;;) {
                struct fst_error error = FST_ERROR_INIT;
                int r = s->input ? 0 : shuffle_fetch_open_stream(s, s->tries, &error);
                if (r < 0) {
                        s->tries = INT_MAX - 1; /* the transfer client has retried the connection already */
                } else {
                        r = shuffle_fetch_read_record(s, page, &error);
                }
                if (r == 0 && *page) {
                        s->tries = 0;
                        f->run->counters.shuffle_remote_blocks += s->pages++ == 0;
                        f->run->counters.shuffle_remote_bytes += (*page)->used;
                        return 0;
                }
                if (r == 0) {
                        s->tries = 0;
                        s->pages = 0;
                        if (++s->at == s->n)
                                close_stream(s);
                        return 0;
                }
                if (r == FST_MEMORY_E_DENIED)
                        return shuffle_fetch_lost(f->env, f->inputs, f->run, map, r, &error);
                if (r == MAP_GONE)
                        return shuffle_fetch_lost(f->env, f->inputs, f->run, map, -ENOENT, &error);
                r = shuffle_fetch_recover(s, map, r, &error);
                if (r)
                        return r;
        }
}
