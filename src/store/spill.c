/*
 * Append-only files of frames; see spill.h.
 *
 * If the directories have a key, data is encrypted on its way to the file, by its offset, and never written directly
 * from its source.
 *
 * Small pages are collected in the buffer. A large uncompressed page is written directly from its memory, with the
 * buffer before it, in one call. Position and buffer change only after a successful write, so a failed write leaves
 * earlier data readable and can be repeated.
 *
 * With spark.firesteel.io.direct pages leave the page cache behind writes and reads (io/ahead/drop_behind.h).
 *
 * The kernel reads ahead. It guesses wrong when several runs of one file are read in turn, so each reader announces its
 * range (posix_fadvise) and the kernel fetches during the merge, in memory that is not ours.
 *
 * Invariants: bytes [0, flushed) are in the file, [flushed, flushed + buffered) in the buffer; no frame is split
 * between the two.
 */
#include "store/spill.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "io/ahead/drop_behind.h"
#include "store/file_cipher.h"
#include "store/page_pool.h"

#include <assert.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#define DIRECT_BYTES ((size_t)32 << 10) /* pages of this size and larger are not copied into the buffer */
#define READ_AHEAD ((uint64_t)1 << 20)
#define RECENT_BYTES ((uint64_t)32 << 20)

struct spill {
        struct disk_dirs *dirs;
        char *path;
        bool named, finished;
        bool keep;      /* a named file stays */
        bool in_memory; /* adopted, and a memfd */
        int fd;         /* -1 for a finished, named file */
        fst_type type;
        struct codec codec;
        bool if_cheaper;
        uint32_t raw_pages;    /* pages to write uncompressed, because compressing the last one saved nothing */
        uint32_t raw_stretch;  /* length of the last such series; 0 while compression pays */
        int64_t recent_ns;     /* time of recent writes */
        uint64_t recent_bytes; /* bytes of recent writes */
        unsigned char *buffer; /* a block of the pool; NULL when finished */
        size_t buffered;
        uint64_t flushed;
        const struct file_key *key; /* of the directories; NULL: the file is not encrypted, or sealed */
        bool sealed;                /* encrypted, and this process has no key */
        uint8_t iv[FILE_IV];
        unsigned char *encrypted; /* a block for encrypted data, while there is a buffer and a key */
        struct spill_counters counters;
};

/* Encrypts also in memory: a spill moves from memory to disk unchanged. */
static int spill_encrypt(struct spill *s, const struct file_key *key, struct fst_error *error)
{
        s->key = key;
        if (key && !(s->encrypted = page_pool_get()))
                return error_set(error, -ENOMEM, "no memory for a spill's buffer");
        return key ? file_iv(key, s->iv, error) : 0;
}

int spill_new_at(const struct spill_options *options, int fd, const char *path, struct spill **spill,
                 struct fst_error *error)
{
        unsigned char *buffer = page_pool_get();
        if (!buffer) {
                close(fd);
                return error_set(error, -ENOMEM, "no memory for a spill's buffer");
        }
        struct spill *s = new0(struct spill);
        *s = (struct spill){
                .dirs = options->dirs, .path = mem_strdup(path), .fd = fd, .type = options->type, .buffer = buffer};
        codec_init(&s->codec, options->codec, options->level);
        s->if_cheaper = options->if_cheaper;
        int r = spill_encrypt(s, options->dirs ? disk_dirs_key(options->dirs) : NULL, error);
        if (r)
                spill_free(s);
        else
                *spill = s;
        return r;
}

int spill_new(const struct spill_options *options, struct spill **spill, struct fst_error *error)
{
        int fd = -1;
        _cleanup_free_ char *path = NULL;
        int r = options->name ? disk_dirs_create(options->dirs, options->name, &fd, &path, error)
                              : disk_dirs_create_unique(options->dirs, "temp_local_", &fd, &path, error);
        if (r)
                return r;
        if (!options->name)
                unlink(path);
        struct spill *s = NULL;
        r = spill_new_at(options, fd, path, &s, error);
        if (r == 0) {
                s->named = options->name != NULL;
                s->keep = options->keep;
                *spill = s;
        } else if (options->name) {
                unlink(path);
        }
        return r;
}

const uint8_t *spill_iv(const struct spill *spill)
{
        return spill->key || spill->sealed ? spill->iv : NULL;
}

struct spill *spill_adopt(const struct spill_options *options, int fd, const char *path, const uint8_t *iv,
                          uint64_t bytes, bool in_memory)
{
        struct spill *s = new0(struct spill);
        *s = (struct spill){.dirs = options->dirs,
                            .path = mem_strdup(path),
                            .fd = fd,
                            .type = options->type,
                            .finished = true,
                            .in_memory = in_memory,
                            .flushed = bytes};
        s->counters.bytes = bytes;
        s->key = iv ? disk_dirs_key(options->dirs) : NULL;
        if (s->key)
                memcpy(s->iv, iv, FILE_IV);
        codec_init(&s->codec, options->codec, options->level);
        return s;
}

const uint8_t *spill_sealed(const struct spill *spill)
{
        return spill->sealed ? spill->iv : NULL;
}

bool spill_in_memory(const struct spill *spill)
{
        return spill->in_memory;
}

int spill_fd(const struct spill *spill)
{
        return spill->fd;
}

int spill_to_disk(struct spill *s, struct disk_dirs *dirs, struct fst_error *error)
{
        int fd, r = 0;
        _cleanup_free_ char *path = NULL;
        if ((r = disk_dirs_create_unique(dirs, "temp_local_", &fd, &path, error)))
                return r;
        unlink(path);
        off_t at = 0;
        while (r == 0 && (uint64_t)at < s->flushed) {
                ssize_t n = sendfile(fd, s->fd, &at, MIN(s->flushed - (uint64_t)at, (uint64_t)64 << 20));
                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        r = n < 0 ? -errno : -EIO;
        }
        if (r) {
                disk_dirs_failed(dirs, "writing", path, r, error);
        } else if (dup3(fd, s->fd, O_CLOEXEC) < 0) {
                r = error_errno(error, "moving %s to disk", s->path);
        } else {
                s->in_memory = false;
                s->dirs = dirs;
        }
        close(fd);
        return r;
}

struct spill *spill_adopt_file(fst_type type, const char *path, const uint8_t *iv, uint64_t bytes)
{
        struct spill *s = new0(struct spill);
        *s = (struct spill){.path = mem_strdup(path),
                            .fd = -1,
                            .type = type,
                            .named = true,
                            .keep = true,
                            .finished = true,
                            .flushed = bytes,
                            .sealed = iv != NULL};
        s->counters.bytes = bytes;
        codec_init(&s->codec, CODEC_NONE, 0);
        if (iv)
                memcpy(s->iv, iv, FILE_IV);
        return s;
}

void spill_free(struct spill *spill)
{
        if (!spill)
                return;
        int saved = errno;
        if (spill->fd >= 0)
                close(spill->fd);
        if (spill->named && !(spill->keep && spill->finished))
                unlink(spill->path);
        page_pool_put(spill->buffer);
        page_pool_put(spill->encrypted);
        codec_deinit(&spill->codec);
        free(spill->path);
        free(spill);
        errno = saved;
}

/* Writes @parts at *@at and advances it by the bytes written. */
static int write_all(struct spill *s, struct iovec *parts, int n, uint64_t *at, struct fst_error *error)
{
        while (n > 0) {
                ssize_t done = drop_behind_pwritev(s->fd, parts, n, *at);
                if (done < 0 && errno == EINTR)
                        continue;
                if (done <= 0) {
                        int r = done < 0 ? -errno : -EIO;
                        return disk_dirs_failed(s->dirs, "writing", s->path, r, error);
                }
                *at += (uint64_t)done;
                for (; n > 0 && (size_t)done >= parts->iov_len; parts++, n--)
                        done -= (ssize_t)parts->iov_len;
                if (n > 0) {
                        parts->iov_base = (char *)parts->iov_base + done;
                        parts->iov_len -= (size_t)done;
                }
        }
        return 0;
}

static int write_encrypted(struct spill *s, const struct iovec *parts, int n, uint64_t *at, struct fst_error *error)
{
        int r = 0;
        for (int i = 0; i < n; i++)
                for (size_t done = 0; done < parts[i].iov_len && r == 0;) {
                        struct iovec piece = {s->encrypted, MIN(parts[i].iov_len - done, PAGE_BLOCK)};
                        const char *from = (const char *)parts[i].iov_base + done;
                        done += piece.iov_len;
                        r = file_crypt(s->key, s->iv, *at, from, s->encrypted, piece.iov_len, error);
                        if (r == 0)
                                r = write_all(s, &piece, 1, at, error);
                }
        return r;
}

/* Writes @parts, the first of which is the buffer, behind the flushed bytes. */
static int write_parts(struct spill *s, struct iovec *parts, int n, struct fst_error *error)
{
        uint64_t before = s->flushed, at = before;
        int64_t start = now_ns();
        int r = s->key ? write_encrypted(s, parts, n, &at, error) : write_all(s, parts, n, &at, error);
        if (r)
                return r;
        s->flushed = at;
        s->buffered = 0;
        int64_t took = now_ns() - start;
        s->counters.write_ns += (uint64_t)took;
        s->recent_ns += took;
        s->recent_bytes += at - before;
        if (s->recent_bytes > RECENT_BYTES) {
                s->recent_ns /= 2;
                s->recent_bytes /= 2;
        }
        return 0;
}

static int spill_flush(struct spill *s, struct fst_error *error)
{
        if (s->buffered == 0)
                return 0;
        struct iovec part = {s->buffer, s->buffered};
        return write_parts(s, &part, 1, error);
}

/*
 * Incompressible data (compressed already, or random) costs a compressor most and saves nothing. After a page that
 * saved less than an eighth, the next pages are written uncompressed: 8, then twice as many after each further failed
 * trial, at most 64.
 *
 * The same applies if compression was not requested and took longer (@ns) than writing and reading the saved bytes: the
 * kernel accepts pages faster than lz4 compresses them, until the disk cannot keep up.
 */
#define RAW_FIRST 8u
#define MAX_RAW 64u

static bool worth_it(const struct spill *s, uint64_t used, uint64_t size, int64_t ns)
{
        if (size > used - used / 8)
                return false;
        return !s->if_cheaper || s->recent_bytes == 0 ||
               (double)ns <= 2 * (double)(used - size) * (double)s->recent_ns / (double)s->recent_bytes;
}

static void spill_judge(struct spill *s, const struct page *page, size_t size, int64_t ns)
{
        if (s->codec.kind == CODEC_NONE || page->used == 0)
                return;
        if (worth_it(s, page->used, size, ns)) {
                s->raw_stretch = 0;
                return;
        }
        s->raw_stretch = s->raw_stretch ? MIN(s->raw_stretch * 2, MAX_RAW) : RAW_FIRST;
        s->raw_pages = s->raw_stretch;
}

int spill_write_page(struct spill *s, const struct page *page, uint64_t *offset, uint32_t *length,
                     struct fst_error *error)
{
        assert(!s->finished);
        uint64_t at = spill_end(s);
        size_t size = page_frame_bound(page);
        bool raw = s->codec.kind == CODEC_NONE || s->raw_pages > 0;
        int r = 0;
        if (size > UINT32_MAX)
                return error_set(error, -EMSGSIZE, "a record of %u bytes is too large to be written", page->used);
        if (size > PAGE_BLOCK || (raw && page->used >= DIRECT_BYTES)) {
                unsigned char header[PAGE_FRAME_HEADER];
                page_frame_header(page, header);
                struct iovec parts[] = {
                        {s->buffer, s->buffered}, {header, sizeof(header)}, {(void *)page->data, page->used}};
                r = write_parts(s, parts, 3, error);
        } else {
                if (s->buffered + size > PAGE_BLOCK)
                        r = spill_flush(s, error);
                if (r == 0) {
                        int64_t start = raw ? 0 : now_ns();
                        size = page_frame_encode(page, raw ? NULL : &s->codec, s->buffer + s->buffered);
                        s->buffered += size;
                        if (!raw)
                                spill_judge(s, page, size, now_ns() - start);
                }
        }
        if (r)
                return r;
        if (raw && s->raw_pages > 0)
                s->raw_pages--;
        s->counters.pages++;
        s->counters.rows += page->rows;
        s->counters.raw_bytes += page->used;
        s->counters.bytes += size;
        if (offset)
                *offset = at;
        if (length)
                *length = (uint32_t)size;
        return 0;
}

int spill_write_frame(struct spill *s, const void *frame, uint32_t length, uint64_t *offset, struct fst_error *error)
{
        assert(!s->finished);
        uint64_t at = spill_end(s);
        int r = 0;
        if (length >= DIRECT_BYTES) {
                struct iovec parts[] = {{s->buffer, s->buffered}, {(void *)frame, length}};
                r = write_parts(s, parts, 2, error);
        } else {
                if (s->buffered + length > PAGE_BLOCK)
                        r = spill_flush(s, error);
                if (r == 0)
                        memcpy(s->buffer + s->buffered, frame, length);
                s->buffered += r ? 0 : length;
        }
        if (r)
                return r;
        s->counters.pages++;
        s->counters.bytes += length;
        *offset = at;
        return 0;
}

uint64_t spill_end(const struct spill *spill)
{
        return spill->flushed + spill->buffered;
}

int spill_finish(struct spill *s, struct fst_error *error)
{
        if (s->finished)
                return 0;
        int r = spill_flush(s, error);
        if (r)
                return r;
        s->finished = true;
        page_pool_put(steal(s->buffer));
        page_pool_put(steal(s->encrypted));
        enum codec_kind kind = s->codec.kind;
        int level = s->codec.level;
        codec_deinit(&s->codec);
        codec_init(&s->codec, kind, level);
        if (s->named) {
                int fd = s->fd;
                s->fd = -1;
                if (close(fd) < 0)
                        r = disk_dirs_failed(s->dirs, "closing", s->path, -errno, error);
        }
        return r;
}

struct spill_counters spill_counters(const struct spill *spill)
{
        return spill->counters;
}

const char *spill_path(const struct spill *spill)
{
        return spill->path;
}

/* ------------------------------------------------------------------------------------------------ reading */

static int spill_damaged(struct spill *s, uint64_t at, int code, struct fst_error *error)
{
        return error_wrap(error, code, "reading %s at %llu", s->path, (unsigned long long)at);
}

/* Reads all of @parts, or fails. A file that ends too early is damaged. */
static int read_raw(struct spill *s, int fd, struct iovec *parts, int n, uint64_t at, struct fst_error *error)
{
        for (; n > 0 && parts->iov_len == 0; parts++)
                n--; /* an empty page has no payload */
        while (n > 0) {
                ssize_t done = preadv(fd, parts, n, (off_t)at);
                if (done < 0 && errno == EINTR)
                        continue;
                if (done < 0 && errno == EIO)
                        return disk_dirs_failed(s->dirs, "reading", s->path, -EIO, error);
                if (done < 0)
                        return error_errno(error, "reading %s at %llu", s->path, (unsigned long long)at);
                if (done == 0)
                        return spill_damaged(s, at, error_set(error, -EBADMSG, "the file ends within a page"), error);
                drop_behind_was_read(fd, at, (uint64_t)done);
                at += (uint64_t)done;
                for (; n > 0 && (size_t)done >= parts->iov_len; parts++, n--)
                        done -= (ssize_t)parts->iov_len;
                if (n > 0) {
                        parts->iov_base = (char *)parts->iov_base + done;
                        parts->iov_len -= (size_t)done;
                }
        }
        return 0;
}

/* Does the same and decrypts: at most two @parts. */
static int read_parts(struct spill *s, int fd, struct iovec *parts, int n, uint64_t at, struct fst_error *error)
{
        struct iovec whole[2];
        assert(n <= 2);
        memcpy(whole, parts, (size_t)n * sizeof(*parts));
        int r = read_raw(s, fd, parts, n, at, error);
        for (int i = 0; s->key && i < n && r == 0; i++) {
                r = file_crypt(s->key, s->iv, at, whole[i].iov_base, whole[i].iov_base, whole[i].iov_len, error);
                at += whole[i].iov_len;
        }
        return r;
}

/*
 * Reads the page of @frame, whose payload is at @at. With @next it also reads the header after the payload. An
 * uncompressed payload is read directly into the page.
 */
static int read_payload(struct spill *s, int fd, const struct page_frame *frame, uint64_t at, struct codec *codec,
                        unsigned char *next, struct memory_consumer *c, struct page **page, struct fst_error *error)
{
        struct iovec parts[] = {{NULL, frame->payload}, {next, PAGE_FRAME_HEADER}};
        int n = next ? 2 : 1, r;
        if (frame->codec == CODEC_NONE) {
                struct page *p = NULL;
                r = page_new(c, s->type, frame->bytes, &p);
                if (r)
                        return r < 0 ? error_set(error, r, "no memory for a page of %u bytes", frame->bytes) : r;
                parts[0].iov_base = p->data;
                r = read_parts(s, fd, parts, n, at, error);
                p->used = frame->bytes;
                p->rows = frame->rows;
                if (r == 0) {
                        r = page_validate(p, frame->checksum, error);
                        if (r)
                                spill_damaged(s, at, r, error);
                }
                if (r)
                        page_free(c, p);
                else
                        *page = p;
                return r;
        }
        unsigned char *scratch = page_pool_get();
        if (!scratch)
                return error_set(error, -ENOMEM, "no memory for reading %s", s->path);
        parts[0].iov_base = scratch;
        r = read_parts(s, fd, parts, n, at, error);
        if (r == 0) {
                r = page_frame_decode(frame, s->type, scratch, codec, c, page, error);
                if (r < 0)
                        spill_damaged(s, at, r, error);
        }
        page_pool_put(scratch);
        return r;
}

/* Parses a frame header. A frame must end within its range, so that a damaged length cannot claim more. */
static int spill_parse(struct spill *s, const unsigned char *header, uint64_t at, uint64_t end,
                       struct page_frame *frame, struct fst_error *error)
{
        int r = page_frame_parse(header, s->type, frame, error);
        if (r == 0 && (end - at < PAGE_FRAME_HEADER || frame->payload > end - at - PAGE_FRAME_HEADER))
                r = error_set(error, -EBADMSG, "a damaged page: its %u bytes exceed the range", frame->payload);
        return r ? spill_damaged(s, at, r, error) : 0;
}

int spill_read_page(struct spill *s, uint64_t offset, uint32_t length, struct codec *codec, struct memory_consumer *c,
                    struct page **page, struct fst_error *error)
{
        struct spill_reader reader;
        int r = spill_reader_init(&reader, s, offset, offset + length, codec ? codec : &s->codec, error);
        if (r)
                return r;
        struct page *p = NULL;
        r = spill_reader_next(&reader, c, &p, error);
        spill_reader_deinit(&reader);
        if (r == 0 && !p)
                r = error_set(error, -EBADMSG, "reading %s at %llu: not a page", s->path, (unsigned long long)offset);
        if (r == 0)
                *page = p;
        return r;
}

int spill_read_bytes(struct spill *s, uint64_t offset, void *buf, size_t n, struct fst_error *error)
{
        int fd = s->fd;
        if (fd < 0 && (fd = open(s->path, O_RDONLY | O_CLOEXEC)) < 0) {
                int r = error_errno(error, "opening %s", s->path);
                return r ? r : -EIO;
        }
        struct iovec part = {buf, n};
        int r = read_parts(s, fd, &part, 1, offset, error);
        if (fd != s->fd)
                close(fd);
        return r;
}

int spill_reader_init(struct spill_reader *reader, struct spill *s, uint64_t start, uint64_t end, struct codec *codec,
                      struct fst_error *error)
{
        if (!s->finished && end > s->flushed) {
                int r = spill_flush(s, error);
                if (r)
                        return r;
        }
        int fd = s->fd;
        if (fd < 0 && (fd = open(s->path, O_RDONLY | O_CLOEXEC)) < 0) {
                int r = error_errno(error, "opening %s", s->path);
                return r ? r : -EIO; /* never 0 without a reader */
        }
        *reader = (struct spill_reader){.spill = s, .at = start, .end = end, .announced = start, .fd = fd};
        reader->own_fd = s->fd < 0;
        reader->codec = codec;
        if (!codec) {
                codec_init(&reader->codec_storage, s->codec.kind, s->codec.level);
                reader->own_codec = true;
        }
        return 0;
}

void spill_reader_deinit(struct spill_reader *reader)
{
        if (!reader->spill)
                return;
        if (reader->own_fd)
                close(reader->fd);
        if (reader->own_codec)
                codec_deinit(&reader->codec_storage);
        reader->spill = NULL;
}

int spill_reader_next(struct spill_reader *reader, struct memory_consumer *c, struct page **page,
                      struct fst_error *error)
{
        struct spill *s = reader->spill;
        if (reader->at >= reader->end) {
                *page = NULL;
                return 0;
        }
        int r;
        if (!reader->have_next) {
                if (reader->end - reader->at < PAGE_FRAME_HEADER)
                        return spill_damaged(s, reader->at, error_set(error, -EBADMSG, "the range ends within a page"),
                                             error);
                struct iovec part = {reader->next, PAGE_FRAME_HEADER};
                r = read_parts(s, reader->fd, &part, 1, reader->at, error);
                if (r)
                        return r;
                reader->have_next = true;
        }
        struct page_frame frame;
        r = spill_parse(s, reader->next, reader->at, reader->end, &frame, error);
        if (r)
                return r;
        uint64_t after = reader->at + PAGE_FRAME_HEADER + frame.payload;
        /* Announce half of the read-ahead at a time, so that reads are always in progress. */
        if (reader->announced < reader->end && after + READ_AHEAD / 2 > reader->announced) {
                uint64_t from = MAX(reader->announced, after), to = MIN(reader->end, after + READ_AHEAD);
                if (to > from)
                        posix_fadvise(reader->fd, (off_t)from, (off_t)(to - from), POSIX_FADV_WILLNEED);
                reader->announced = to;
        }
        unsigned char next[PAGE_FRAME_HEADER];
        bool more = reader->end - after >= PAGE_FRAME_HEADER;
        r = read_payload(s, reader->fd, &frame, reader->at + PAGE_FRAME_HEADER,
                         reader->own_codec ? &reader->codec_storage : reader->codec, more ? next : NULL, c, page,
                         error);
        if (r)
                return r;
        if (more)
                memcpy(reader->next, next, sizeof(next));
        reader->have_next = more;
        reader->at = after;
        return 0;
}
