/* See zip_file.h. Numbers are little-endian; the layout is that of PKWARE's APPNOTE.TXT. */
#include "io/codec/zip_file.h"

#include "base/error.h"
#include "base/mem.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#define LOCAL_HEADER 0x04034b50u
#define DESCRIPTOR 0x08074b50u
#define CENTRAL_HEADER 0x02014b50u
#define END_RECORD 0x06054b50u
#define LOCAL_HEADER_SIZE 30
#define CENTRAL_HEADER_SIZE 46
#define END_RECORD_SIZE 22
#define END_RECORD_64 0x06064b50u
#define END_LOCATOR_64 0x07064b50u
#define END_RECORD_64_SIZE 56
#define EXTRA_64 1 /* the extra field with large numbers */

#define VERSION 20
#define VERSION_64 45
#define FLAG_DESCRIPTOR 0x0008 /* checksum and sizes follow the data */
#define FLAG_UTF8 0x0800
#define STORED 0
#define DEFLATED 8

#define SMALL_ENTRIES 65534u /* more need ZIP64 */
#define MAX_ENTRIES 1000000u
#define MAX_SMALL UINT32_MAX /* this number says that the extra field has the value */
#define MAX_DIRECTORY ((size_t)64 << 20)
#define MAX_BLOCK 65535u /* of a stored deflate block */

/* ------------------------------------------------------------------------------------------------------- writing */

static void zip_put_number(struct buf *out, uint64_t number, int bytes)
{
        for (int i = 0; i < bytes; i++)
                buf_putc(out, (char)(number >> (8 * i)));
}

static uint32_t zip_dos_time(void)
{
        struct tm now;
        const time_t seconds = time(NULL);
        localtime_r(&seconds, &now);
        return (uint32_t)(now.tm_year - 80) << 25 | (uint32_t)(now.tm_mon + 1) << 21 | (uint32_t)now.tm_mday << 16 |
               (uint32_t)now.tm_hour << 11 | (uint32_t)now.tm_min << 5 | (uint32_t)now.tm_sec >> 1;
}

void zip_writer_init(struct zip_writer *zip, zip_sink *sink, void *context)
{
        *zip = (struct zip_writer){.sink = sink, .context = context};
}

void zip_writer_deinit(struct zip_writer *zip)
{
        buf_deinit(&zip->directory);
        free(zip->name);
        zip->name = NULL;
}

static int zip_writer_send(struct zip_writer *zip, const void *data, size_t n, struct fst_error *error)
{
        const int r = zip->sink(zip->context, data, n, error);
        zip->offset += n;
        return r;
}

/* Directories have no data and so no descriptor. */
static bool zip_writer_at_directory(const struct zip_writer *zip)
{
        return zip->name[0] && zip->name[strlen(zip->name) - 1] == '/';
}

static bool zip_is_large(uint64_t number)
{
        return number >= MAX_SMALL;
}

/* Version, flags, method and time: the fields that both headers share. */
static void zip_writer_put_common(const struct zip_writer *zip, struct buf *out)
{
        const bool directory = zip_writer_at_directory(zip);
        const bool large = zip_is_large(zip->packed) || zip_is_large(zip->size) || zip_is_large(zip->start);
        zip_put_number(out, large ? VERSION_64 : VERSION, 2);
        zip_put_number(out, FLAG_UTF8 | (directory ? 0 : FLAG_DESCRIPTOR), 2);
        zip_put_number(out, directory ? STORED : DEFLATED, 2);
        zip_put_number(out, zip_dos_time(), 4);
}

int zip_writer_begin(struct zip_writer *zip, const char *name, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf header = BUF_INIT;
        const size_t n = strlen(name);
        if (zip->entries >= MAX_ENTRIES || n > UINT16_MAX)
                return error_set(error, -EFBIG, "\"%s\" does not fit into a zip archive", name);
        zip->name = mem_strdup(name);
        zip->start = 0; /* the header does not have it */
        zip->size = zip->packed = 0;
        zip->checksum = 0;
        zip_put_number(&header, LOCAL_HEADER, 4);
        zip_writer_put_common(zip, &header);
        zip_put_number(&header, 0, 4); /* checksum and sizes follow the data */
        zip_put_number(&header, 0, 4);
        zip_put_number(&header, 0, 4);
        zip_put_number(&header, (uint32_t)n, 2);
        zip_put_number(&header, 0, 2);
        buf_append(&header, name, n);
        zip->start = zip->offset;
        return zip_writer_send(zip, header.data, header.len, error);
}

/* A stored block of at most MAX_BLOCK bytes. */
static int zip_writer_block(struct zip_writer *zip, const void *data, size_t n, bool last, struct fst_error *error)
{
        const unsigned char head[5] = {last, n & 0xff, n >> 8, ~n & 0xff, (~n >> 8) & 0xff};
        int r = zip_writer_send(zip, head, sizeof(head), error);
        if (r == 0 && n)
                r = zip_writer_send(zip, data, n, error);
        zip->packed += sizeof(head) + n;
        return r;
}

int zip_writer_put(struct zip_writer *zip, const void *data, size_t n, struct fst_error *error)
{
        const char *at = data;
        int r = 0;
        zip->checksum = (uint32_t)crc32_z(zip->checksum, data, n);
        zip->size += n;
        for (size_t piece; r == 0 && n > 0; at += piece, n -= piece) {
                piece = MIN(n, (size_t)MAX_BLOCK);
                r = zip_writer_block(zip, at, piece, false, error);
        }
        return r;
}

/* Appends the entry to the central directory. Numbers that do not fit move to the extra field, in this order. */
static void zip_writer_put_entry(struct zip_writer *zip, struct buf *d)
{
        const uint64_t numbers[] = {zip->size, zip->packed, zip->start};
        _cleanup_(buf_deinit) struct buf extra = BUF_INIT;
        for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
                if (zip_is_large(numbers[i]))
                        zip_put_number(&extra, numbers[i], 8);
        zip_put_number(d, CENTRAL_HEADER, 4);
        zip_put_number(d, extra.len ? VERSION_64 : VERSION, 2);
        zip_writer_put_common(zip, d);
        zip_put_number(d, zip->checksum, 4);
        zip_put_number(d, MIN(zip->packed, (uint64_t)MAX_SMALL), 4);
        zip_put_number(d, MIN(zip->size, (uint64_t)MAX_SMALL), 4);
        zip_put_number(d, strlen(zip->name), 2);
        zip_put_number(d, extra.len ? extra.len + 4 : 0, 2);
        zip_put_number(d, 0, 2); /* no comment */
        zip_put_number(d, 0, 4); /* first disk, no attributes */
        zip_put_number(d, 0, 4);
        zip_put_number(d, MIN(zip->start, (uint64_t)MAX_SMALL), 4);
        buf_puts(d, zip->name);
        if (extra.len) {
                zip_put_number(d, EXTRA_64, 2);
                zip_put_number(d, extra.len, 2);
                buf_append(d, extra.data, extra.len);
        }
}

int zip_writer_end(struct zip_writer *zip, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf tail = BUF_INIT;
        const bool directory = zip_writer_at_directory(zip);
        int r = directory ? 0 : zip_writer_block(zip, NULL, 0, true, error);
        const int bytes = zip_is_large(zip->packed) || zip_is_large(zip->size) ? 8 : 4;
        zip_put_number(&tail, DESCRIPTOR, 4);
        zip_put_number(&tail, zip->checksum, 4);
        zip_put_number(&tail, zip->packed, bytes);
        zip_put_number(&tail, zip->size, bytes);
        if (r == 0 && !directory)
                r = zip_writer_send(zip, tail.data, tail.len, error);
        if (r < 0)
                return r;
        zip_writer_put_entry(zip, &zip->directory);
        free(zip->name);
        zip->name = NULL;
        zip->entries++;
        return 0;
}

int zip_writer_add(struct zip_writer *zip, const char *name, const void *data, size_t n, struct fst_error *error)
{
        int r = zip_writer_begin(zip, name, error);
        if (r == 0 && n)
                r = zip_writer_put(zip, data, n, error);
        return r == 0 ? zip_writer_end(zip, error) : r;
}

/* The record of large archives, and the locator that leads to it. @start: of the directory. */
static void zip_writer_put_end_64(const struct zip_writer *zip, uint64_t start, struct buf *end)
{
        zip_put_number(end, END_RECORD_64, 4);
        zip_put_number(end, END_RECORD_64_SIZE - 12, 8); /* what follows */
        zip_put_number(end, VERSION_64, 2);
        zip_put_number(end, VERSION_64, 2);
        zip_put_number(end, 0, 8); /* this disk and that of the directory */
        zip_put_number(end, zip->entries, 8);
        zip_put_number(end, zip->entries, 8);
        zip_put_number(end, zip->directory.len, 8);
        zip_put_number(end, start, 8);
        zip_put_number(end, END_LOCATOR_64, 4);
        zip_put_number(end, 0, 4);
        zip_put_number(end, zip->offset, 8);
        zip_put_number(end, 1, 4); /* disks */
}

int zip_writer_finish(struct zip_writer *zip, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf end = BUF_INIT;
        const uint64_t start = zip->offset;
        int r = zip->directory.len ? zip_writer_send(zip, zip->directory.data, zip->directory.len, error) : 0;
        if (zip->entries > SMALL_ENTRIES || zip_is_large(start) || zip_is_large(zip->directory.len))
                zip_writer_put_end_64(zip, start, &end);
        zip_put_number(&end, END_RECORD, 4);
        zip_put_number(&end, 0, 4); /* this disk and that of the directory */
        for (int i = 0; i < 2; i++)
                zip_put_number(&end, zip->entries > SMALL_ENTRIES ? UINT16_MAX : zip->entries, 2);
        zip_put_number(&end, MIN((uint64_t)zip->directory.len, (uint64_t)MAX_SMALL), 4);
        zip_put_number(&end, MIN(start, (uint64_t)MAX_SMALL), 4);
        zip_put_number(&end, 0, 2); /* no comment */
        return r == 0 ? zip_writer_send(zip, end.data, end.len, error) : r;
}

/* ------------------------------------------------------------------------------------------------------- reading */

static uint32_t zip_number(const unsigned char *at, int bytes)
{
        uint32_t number = 0;
        for (int i = 0; i < bytes; i++)
                number |= (uint32_t)at[i] << (8 * i);
        return number;
}

static int zip_file_damaged(const char *path, struct fst_error *error)
{
        return error_set(error, -EBADMSG, "%s is not a valid zip archive", path);
}

/* Appends @n bytes at @offset to @out. */
static int zip_file_load(int fd, const char *path, uint64_t offset, size_t n, struct buf *out, struct fst_error *error)
{
        if (!buf_try_reserve(out, n))
                return error_set(error, -ENOMEM, "no memory to read %s", path);
        while (n > 0) {
                const ssize_t got = pread(fd, out->data + out->len, n, (off_t)offset);
                if (got < 0 && errno == EINTR)
                        continue;
                if (got < 0)
                        return error_errno(error, "reading %s", path);
                if (got == 0)
                        return zip_file_damaged(path, error);
                out->len += (size_t)got;
                out->data[out->len] = '\0';
                offset += (uint64_t)got;
                n -= (size_t)got;
        }
        return 0;
}

/* Loads the central directory, which the record at the end of the file names. */
static int zip_file_directory(int fd, const char *path, struct buf *directory, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf tail = BUF_INIT;
        struct stat st;
        if (fstat(fd, &st) < 0)
                return error_errno(error, "%s", path);
        const size_t most = END_RECORD_SIZE + UINT16_MAX, n = MIN((uint64_t)st.st_size, (uint64_t)most);
        if (n < END_RECORD_SIZE)
                return zip_file_damaged(path, error);
        int r = zip_file_load(fd, path, (uint64_t)st.st_size - n, n, &tail, error);
        if (r < 0)
                return r;
        const unsigned char *text = (const unsigned char *)tail.data;
        for (size_t at = n - END_RECORD_SIZE + 1; at-- > 0;) {
                if (zip_number(text + at, 4) != END_RECORD)
                        continue;
                const uint32_t size = zip_number(text + at + 12, 4), offset = zip_number(text + at + 16, 4);
                if (size > MAX_DIRECTORY || (uint64_t)offset + size > (uint64_t)st.st_size)
                        break;
                return zip_file_load(fd, path, offset, size, directory, error);
        }
        return zip_file_damaged(path, error);
}

static int zip_file_inflate(const struct buf *packed, size_t size, const char *path, struct buf *out,
                            struct fst_error *error)
{
        z_stream z = {.next_in = (unsigned char *)packed->data, .avail_in = (unsigned)packed->len};
        if (!buf_try_reserve(out, size) || inflateInit2(&z, -MAX_WBITS) != Z_OK)
                return error_set(error, -ENOMEM, "no memory to read %s", path);
        z.next_out = (unsigned char *)out->data + out->len;
        z.avail_out = (unsigned)size;
        const int done = inflate(&z, Z_FINISH);
        inflateEnd(&z);
        if (done != Z_STREAM_END || z.avail_out)
                return zip_file_damaged(path, error);
        out->len += size;
        out->data[out->len] = '\0';
        return 0;
}

/* Reads the entry that the directory's @header describes. */
static int zip_file_entry(int fd, const char *path, const unsigned char *header, size_t most, struct buf *out,
                          struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf local = BUF_INIT, packed = BUF_INIT;
        const uint32_t method = zip_number(header + 10, 2), from = zip_number(header + 42, 4);
        const size_t length = zip_number(header + 20, 4), size = zip_number(header + 24, 4), before = out->len;
        if (size > most || length > most + 1024 + most / 1000)
                return error_set(error, -EFBIG, "%s: an entry has %zu bytes, more than %zu", path, size, most);
        int r = zip_file_load(fd, path, from, LOCAL_HEADER_SIZE, &local, error);
        if (r < 0)
                return r;
        const unsigned char *text = (const unsigned char *)local.data;
        if (zip_number(text, 4) != LOCAL_HEADER || (method != STORED && method != DEFLATED))
                return zip_file_damaged(path, error);
        const uint64_t data = (uint64_t)from + LOCAL_HEADER_SIZE + zip_number(text + 26, 2) + zip_number(text + 28, 2);
        r = zip_file_load(fd, path, data, length, method == STORED ? out : &packed, error);
        if (r == 0 && method == DEFLATED)
                r = zip_file_inflate(&packed, size, path, out, error);
        if (r == 0 && crc32_z(0, (unsigned char *)out->data + before, out->len - before) != zip_number(header + 16, 4))
                r = zip_file_damaged(path, error);
        if (r < 0)
                buf_truncate(out, before);
        return r;
}

static int zip_file_find(int fd, const char *path, const char *name, size_t most, struct buf *out,
                         struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf directory = BUF_INIT;
        const size_t wanted = strlen(name);
        int r = zip_file_directory(fd, path, &directory, error);
        if (r < 0)
                return r;
        const unsigned char *at = (const unsigned char *)directory.data, *end = at + directory.len;
        while (end - at >= CENTRAL_HEADER_SIZE && zip_number(at, 4) == CENTRAL_HEADER) {
                const size_t n = zip_number(at + 28, 2);
                const size_t whole = CENTRAL_HEADER_SIZE + n + zip_number(at + 30, 2) + zip_number(at + 32, 2);
                if (whole > (size_t)(end - at))
                        return zip_file_damaged(path, error);
                if (n == wanted && memcmp(at + CENTRAL_HEADER_SIZE, name, n) == 0)
                        return zip_file_entry(fd, path, at, most, out, error);
                at += whole;
        }
        return at == end ? -ENOENT : zip_file_damaged(path, error);
}

int zip_file_read(const char *path, const char *name, size_t most, struct buf *out, struct fst_error *error)
{
        const int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return error_errno(error, "opening %s", path);
        const int r = zip_file_find(fd, path, name, most, out, error);
        close(fd);
        return r;
}
