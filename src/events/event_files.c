/*
 * See event_files.h. A stream reads file after file. At the end of the last file of a growing log it keeps its place,
 * and the decoder its state, so that what is appended costs only itself.
 */
#include "events/event_files.h"

#include "base/error.h"
#include "base/log.h"
#include "base/string_list.h"
#include "base/string_prefix.h"
#include "events/event_reader.h"
#include "io/codec/codec.h"
#include "io/codec/java_blocks.h"
#include "io/fs/file_system.h"
#include "io/fs/path.h"

#include <ctype.h>
#include <stdio.h>
#include <xxhash.h>

#define LOG "EventLogFiles"

static const struct {
        const char *suffix;
        enum event_log_codec codec;
} event_log_codecs[] = {
        {".zstd", EVENT_LOG_ZSTD},
        {".lz4", EVENT_LOG_LZ4},
        {".snappy", EVENT_LOG_SNAPPY},
        {".lzf", EVENT_LOG_LZF},
};

/* The length of @name without @suffix, if it has it. */
static size_t event_files_strip(const char *name, size_t len, const char *suffix)
{
        size_t n = strlen(suffix);
        return len > n && memcmp(name + len - n, suffix, n) == 0 ? len - n : len;
}

static size_t event_files_strip_state(const char *name)
{
        size_t len = event_files_strip(name, strlen(name), EVENT_LOG_COMPACTED);
        return event_files_strip(name, len, EVENT_LOG_IN_PROGRESS);
}

enum event_log_codec event_log_codec_of(const char *path)
{
        const char *name = path_name(path);
        size_t len = event_files_strip_state(name);
        for (size_t i = 0; i < ARRAY_SIZE(event_log_codecs); i++)
                if (event_files_strip(name, len, event_log_codecs[i].suffix) < len)
                        return event_log_codecs[i].codec;
        return EVENT_LOG_PLAIN;
}

char *event_log_clean_name(const char *id)
{
        char *name = mem_strdup(id);
        for (char *c = name; *c; c++)
                *c = strchr(" :/", *c) ? '-' : strchr(".${}'\"", *c) ? '_' : (char)tolower((unsigned char)*c);
        return name;
}

void event_log_deinit(struct event_log_info *log)
{
        for (size_t i = 0; i < log->files.len; i++)
                free(log->files.data[i].path);
        vec_deinit(&log->files);
        free(log->path);
        free(log->name);
        *log = (struct event_log_info){0};
}

void event_log_copy(struct event_log_info *to, const struct event_log_info *from)
{
        *to = *from;
        to->path = mem_strdup(from->path);
        to->name = mem_strdup(from->name);
        memset(&to->files, 0, sizeof(to->files));
        vec_reserve(&to->files, from->files.len);
        for (size_t i = 0; i < from->files.len; i++) {
                struct event_log_file file = from->files.data[i];
                file.path = mem_strdup(file.path);
                vec_push(&to->files, file);
        }
}

void event_log_list_deinit(struct event_log_list *list)
{
        for (size_t i = 0; i < list->len; i++)
                event_log_deinit(&list->data[i]);
        vec_deinit(list);
}

/* ------------------------------------------------------------------------------------------------- listing */

static void event_log_add_file(struct event_log_info *log, const struct file_status *status, long number)
{
        struct event_log_file file = {.path = mem_strdup(status->path),
                                      .number = number,
                                      .size = status->size,
                                      .modified_ms = status->modified_ms,
                                      .is_compacted = text_ends_with(status->path, EVENT_LOG_COMPACTED)};
        vec_push(&log->files, file);
}

static void event_log_sum(struct event_log_info *log)
{
        log->size = 0;
        for (size_t i = 0; i < log->files.len; i++) {
                log->size += log->files.data[i].size;
                log->modified_ms = MAX(log->modified_ms, log->files.data[i].modified_ms);
        }
}

static void event_log_from_file(struct event_log_info *log, const struct file_status *status)
{
        const char *name = path_name(status->path);
        size_t len = event_files_strip_state(name);
        *log = (struct event_log_info){.path = mem_strdup(status->path)};
        for (size_t i = 0; i < ARRAY_SIZE(event_log_codecs); i++) {
                size_t stem = event_files_strip(name, len, event_log_codecs[i].suffix);
                if (stem < len) {
                        len = stem;
                        break;
                }
        }
        log->name = mem_strndup(name, len);
        log->is_complete = !text_ends_with(name, EVENT_LOG_IN_PROGRESS);
        event_log_add_file(log, status, 0);
        event_log_sum(log);
}

/* Compacted files go before those that they replace. */
static int event_log_file_compare(const void *a, const void *b)
{
        const struct event_log_file *x = a, *y = b;
        return x->number != y->number ? (x->number > y->number) - (x->number < y->number)
                                      : (int)y->is_compacted - (int)x->is_compacted;
}

/* Removes the files that the newest compacted one replaces. */
static void event_log_drop_replaced(struct event_log_info *log)
{
        size_t from = 0, kept = 0;
        for (size_t i = 0; i < log->files.len; i++)
                if (log->files.data[i].is_compacted)
                        from = i;
        for (size_t i = 0; i < log->files.len; i++) {
                struct event_log_file *file = &log->files.data[i];
                bool replaced = i < from || (i > from && log->files.data[from].is_compacted &&
                                             file->number <= log->files.data[from].number);
                if (replaced)
                        free(file->path);
                else
                        log->files.data[kept++] = *file;
        }
        log->files.len = kept;
}

/* Returns 0, or -ENOENT if the directory holds no files events_N_…. */
static int event_log_from_directory(const struct file_system *fs, const char *path, struct event_log_info *log,
                                    bool *has_state, struct fst_error *error)
{
        struct file_list list = {0};
        int r = fs->list(fs, path, &list, error);
        if (r < 0)
                return r;
        const char *name = path_name(path);
        size_t prefix = text_starts_with(name, EVENT_LOG_ROLLING_PREFIX) ? strlen(EVENT_LOG_ROLLING_PREFIX) : 0;
        *log = (struct event_log_info){.path = mem_strdup(path), .name = mem_strdup(name + prefix), .is_rolling = true};
        *has_state = false;
        for (size_t i = 0; i < list.len; i++) {
                const char *file = path_name(list.data[i].path);
                char *end;
                if (text_starts_with(file, "appstatus_")) {
                        *has_state = true;
                        log->is_complete = log->is_complete || !text_ends_with(file, EVENT_LOG_IN_PROGRESS);
                } else if (text_starts_with(file, "events_") && !list.data[i].directory) {
                        long number = strtol(file + strlen("events_"), &end, 10);
                        if (*end == '_' && number > 0)
                                event_log_add_file(log, &list.data[i], number);
                }
        }
        file_list_deinit(&list);
        if (log->files.len)
                qsort(log->files.data, log->files.len, sizeof(*log->files.data), event_log_file_compare);
        event_log_drop_replaced(log);
        event_log_sum(log);
        return log->files.len ? 0 : -ENOENT;
}

int event_log_list_directory(const struct file_system *fs, const char *path, struct event_log_list *out,
                             struct string_list *unreadable, struct fst_error *error)
{
        struct file_list list = {0};
        int r = fs->list(fs, path, &list, error);
        if (r < 0)
                return r;
        vec_reserve(out, out->len + list.len);
        for (size_t i = 0; i < list.len; i++) {
                const struct file_status *status = &list.data[i];
                const char *name = path_name(status->path);
                struct event_log_info log = {0};
                bool found = false;
                if (name[0] == '.') /* hidden */
                        continue;
                if (!status->directory && status->size > 0) {
                        event_log_from_file(&log, status);
                        found = true;
                } else if (status->directory && text_starts_with(name, EVENT_LOG_ROLLING_PREFIX)) {
                        struct fst_error problem = FST_ERROR_INIT;
                        r = event_log_from_directory(fs, status->path, &log, &found, &problem);
                        if (r < 0 && r != -ENOENT && unreadable)
                                string_list_add(unreadable, error_message(&problem));
                        found = found && r == 0 && log.size > 0;
                        error_deinit(&problem);
                }
                if (found)
                        vec_push(out, log);
                else
                        event_log_deinit(&log);
        }
        file_list_deinit(&list);
        return 0;
}

int event_log_look_up(const struct file_system *fs, const char *path, struct event_log_info *out,
                      struct fst_error *error)
{
        struct file_status status = {0};
        struct event_log_info log = {0};
        bool has_state;
        int r = fs->stat(fs, path, &status, error);
        if (r < 0)
                return r;
        if (status.directory)
                r = event_log_from_directory(fs, path, &log, &has_state, error);
        else
                event_log_from_file(&log, &status);
        file_status_deinit(&status);
        if (r < 0) {
                bool is_empty = log.path && !log.files.len;
                event_log_deinit(&log);
                return is_empty ? error_set(error, -ENOENT, "'%s' is a directory without files events_N_…: name a log",
                                            path)
                                : r;
        }
        *out = log;
        return 0;
}

/* ------------------------------------------------------------------------------------------------- streams */

enum { EVENT_STREAM_INPUT = 128 << 10, EVENT_STREAM_HEAD = 4096 };

struct event_log_stream {
        const struct file_system *fs;
        struct event_reader *reader;
        struct open_file file; /* open between reads of a part */
        char *path;            /* of the current file; NULL: before the first one */
        long number;           /* of the current file */
        enum event_log_codec codec;
        bool is_open;
        bool skip_line;  /* what follows is the end of a line whose beginning was not read */
        uint64_t offset; /* of the bytes read from the file; not for zstd */
        uint64_t text;   /* bytes of the file's text that were read */
        uint64_t known;  /* of them, those that the reader does not get */
        struct decoder *decoder;
        struct java_blocks *blocks;
        unsigned char *input; /* for blocks */
        size_t at, filled;
};

struct event_log_stream *event_log_stream_new(const struct file_system *fs, struct event_reader *reader)
{
        struct event_log_stream *s = new0(struct event_log_stream);
        s->fs = fs;
        s->reader = reader;
        s->file = OPEN_FILE_INIT;
        return s;
}

static void event_log_stream_close(struct event_log_stream *s)
{
        if (s->is_open)
                s->fs->close(&s->file, NULL);
        s->is_open = false;
}

void event_log_stream_free(struct event_log_stream *s)
{
        if (!s)
                return;
        event_log_stream_close(s);
        decoder_free(s->decoder);
        java_blocks_free(s->blocks);
        free(s->input);
        free(s->path);
        free(s);
}

/* Opens the current file, again or for the first time. */
static int event_log_stream_open(struct event_log_stream *s, struct fst_error *error)
{
        int r = s->fs->open(s->fs, s->path, &s->file, error);
        if (r == 0) {
                s->is_open = true;
                s->file.wanted = s->file.size;
        }
        return r;
}

/*
 * Finds the codec of a compacted file by its first bytes. Genuine Spark compresses it as the configuration of its
 * history server says, but keeps the name of the file that it replaces.
 */
static int event_log_stream_detect_codec(struct event_log_stream *s, struct fst_error *error)
{
        static const struct {
                const char *magic;
                size_t length;
                enum event_log_codec codec;
        } magics[] = {{"{", 1, EVENT_LOG_PLAIN},
                      {"\x28\xb5\x2f\xfd", 4, EVENT_LOG_ZSTD},
                      {"LZ4Block", 8, EVENT_LOG_LZ4},
                      {"\x82SNAPPY", 7, EVENT_LOG_SNAPPY},
                      {"ZV", 2, EVENT_LOG_LZF}};
        char head[8] = {0};
        ssize_t n = s->fs->read_at(&s->file, head, sizeof(head), 0, error);
        for (size_t i = 0; i < ARRAY_SIZE(magics) && n > 0; i++)
                if ((size_t)n >= magics[i].length && memcmp(head, magics[i].magic, magics[i].length) == 0)
                        s->codec = magics[i].codec;
        return n < 0 ? (int)n : 0;
}

/* Begins a file. */
static int event_log_stream_begin(struct event_log_stream *s, const struct event_log_file *file,
                                  struct fst_error *error)
{
        int r = 0;
        event_log_stream_close(s);
        free(s->path);
        s->path = mem_strdup(file->path);
        s->number = file->number;
        s->codec = event_log_codec_of(file->path);
        s->offset = s->text = s->known = 0;
        s->at = s->filled = 0;
        r = event_log_stream_open(s, error);
        if (r == 0 && file->is_compacted)
                r = event_log_stream_detect_codec(s, error);
        if (r < 0)
                return r;
        java_blocks_free(s->blocks);
        s->blocks = NULL;
        if (s->codec == EVENT_LOG_LZ4 || s->codec == EVENT_LOG_SNAPPY || s->codec == EVENT_LOG_LZF)
                r = java_blocks_new(s->codec == EVENT_LOG_LZ4   ? JAVA_BLOCKS_LZ4
                                    : s->codec == EVENT_LOG_LZF ? JAVA_BLOCKS_LZF
                                                                : JAVA_BLOCKS_SNAPPY,
                                    &s->blocks, error);
        if (r == 0 && s->codec == EVENT_LOG_ZSTD) {
                s->decoder = s->decoder ? s->decoder : decoder_new();
                r = decoder_start(s->decoder, CODEC_ZSTD, &s->file, error);
        }
        return r;
}

/* Reads text of the current file. Sets *@got to 0 at its end. */
static int event_log_stream_read_plain(struct event_log_stream *s, char *to, size_t room, size_t *got,
                                       struct fst_error *error)
{
        ssize_t n = s->fs->read_at(&s->file, to, room, s->offset, error);
        if (n < 0)
                return (int)n;
        s->offset += (uint64_t)n;
        *got = (size_t)n;
        return 0;
}

static int event_log_stream_read_blocks(struct event_log_stream *s, char *to, size_t room, size_t *got, bool growing,
                                        struct fst_error *error)
{
        *got = 0;
        s->input = s->input ? s->input : mem_alloc(EVENT_STREAM_INPUT);
        for (;;) {
                size_t in = s->filled - s->at;
                const char *problem = java_blocks_step(s->blocks, s->input + s->at, &in, to, room, got);
                s->at += in;
                if (problem)
                        return error_set(error, -EBADMSG, "%s: damaged at byte %llu: %s", s->path,
                                         (unsigned long long)(s->offset - (s->filled - s->at)), problem);
                if (*got > 0 || s->at < s->filled)
                        return 0;
                ssize_t n = s->fs->read_at(&s->file, s->input, EVENT_STREAM_INPUT, s->offset, error);
                if (n < 0)
                        return (int)n;
                if (n == 0)
                        return growing || java_blocks_between(s->blocks)
                                       ? 0
                                       : error_set(error, -EBADMSG, "%s: the file is truncated", s->path);
                s->offset += (uint64_t)n;
                s->at = 0;
                s->filled = (size_t)n;
        }
}

/* Counts @n bytes of text, and removes those that are known. Returns how much remains. */
static size_t event_log_stream_count(struct event_log_stream *s, char *text, size_t n)
{
        size_t known = s->text < s->known ? (size_t)MIN(s->known - s->text, (uint64_t)n) : 0;
        s->text += n;
        if (known)
                memmove(text, text + known, n - known);
        return n - known;
}

/* Removes the rest of a line at the beginning of @text. Returns how much remains. */
static size_t event_log_stream_skip_line(struct event_log_stream *s, char *text, size_t n)
{
        char *end = s->skip_line ? memchr(text, '\n', n) : NULL;
        if (!s->skip_line)
                return n;
        if (!end)
                return 0;
        s->skip_line = false;
        size_t left = n - (size_t)(end + 1 - text);
        memmove(text, end + 1, left);
        return left;
}

/* Reads the current file, at most @budget bytes. Sets *@at_end if it has no more. */
static int event_log_stream_read_file(struct event_log_stream *s, size_t *budget, bool growing, bool *at_end,
                                      struct fst_error *error)
{
        *at_end = false;
        if (s->codec == EVENT_LOG_ZSTD)
                decoder_set_growing(s->decoder, growing);
        while (*budget > 0) {
                size_t room, got = 0;
                char *to = event_reader_room(s->reader, &room);
                int r = s->codec == EVENT_LOG_ZSTD ? decoder_read(s->decoder, to, room, &got, error)
                        : s->blocks                ? event_log_stream_read_blocks(s, to, room, &got, growing, error)
                                                   : event_log_stream_read_plain(s, to, room, &got, error);
                if (r < 0)
                        return r;
                if (got == 0) {
                        *at_end = true;
                        return 0;
                }
                *budget -= MIN(got, *budget);
                got = event_log_stream_count(s, to, got);
                event_reader_filled(s->reader, event_log_stream_skip_line(s, to, got));
        }
        return 0;
}

/* Returns the place of the current file in @log, or -1. A file that was renamed at the end of its log is the same. */
static ssize_t event_log_stream_place(struct event_log_stream *s, const struct event_log_info *log)
{
        for (size_t i = 0; i < log->files.len; i++) {
                const struct event_log_file *file = &log->files.data[i];
                if (strcmp(file->path, s->path) == 0)
                        return (ssize_t)i;
                size_t n = strlen(file->path);
                if (!log->is_rolling && strncmp(file->path, s->path, n) == 0 &&
                    strcmp(s->path + n, EVENT_LOG_IN_PROGRESS) == 0) {
                        event_log_stream_close(s);
                        free(s->path);
                        s->path = mem_strdup(file->path);
                        return (ssize_t)i;
                }
        }
        return -1;
}

int event_log_stream_read(struct event_log_stream *s, const struct event_log_info *log, size_t budget, bool *ended,
                          struct fst_error *error)
{
        ssize_t place = s->path ? event_log_stream_place(s, log) : -1;
        int r = 0;
        *ended = false;
        if (s->path && place < 0)
                return error_set(error, -ESTALE, "%s: the log was replaced", log->path);
        if (place < 0) {
                place = 0;
                r = event_log_stream_begin(s, &log->files.data[0], error);
        } else if (!s->is_open) {
                r = event_log_stream_open(s, error);
                uint64_t position = s->codec == EVENT_LOG_ZSTD ? decoder_bytes(s->decoder) : s->offset;
                if (r == 0 && s->file.size < position)
                        r = error_set(error, -ESTALE, "%s: the log was replaced by a shorter one", log->path);
        }
        while (r == 0 && budget > 0) {
                bool is_last = (size_t)place + 1 == log->files.len, at_end;
                r = event_log_stream_read_file(s, &budget, is_last && !log->is_complete, &at_end, error);
                if (r < 0 || !at_end)
                        break;
                if (is_last) {
                        *ended = true;
                        event_log_stream_close(s); /* a remote file shows its growth only when opened again */
                        break;
                }
                r = event_log_stream_begin(s, &log->files.data[++place], error);
        }
        return r;
}

/* Sets the checksum of the first bytes of the current file, at most position->head. */
static bool event_log_stream_check_head(struct event_log_stream *s, struct event_log_position *position)
{
        char head[EVENT_STREAM_HEAD];
        size_t n = 0;
        while (n < position->head) {
                ssize_t r = s->fs->read_at(&s->file, head + n, (size_t)position->head - n, n, NULL);
                if (r < 0)
                        return false;
                if (r == 0)
                        break;
                n += (size_t)r;
        }
        position->head = n;
        position->checksum = XXH3_64bits(head, n);
        return n > 0;
}

bool event_log_stream_position(struct event_log_stream *s, struct event_log_position *out)
{
        size_t pending = event_reader_pending(s->reader);
        bool was_open = s->is_open;
        if (!s->path || pending > s->text || s->text < s->known)
                return false;
        *out = (struct event_log_position){.number = s->number, .text = s->text - pending, .head = EVENT_STREAM_HEAD};
        if (!was_open && event_log_stream_open(s, NULL) < 0)
                return false;
        bool good = event_log_stream_check_head(s, out);
        if (!was_open)
                event_log_stream_close(s);
        return good;
}

bool event_log_stream_resume(struct event_log_stream *s, const struct event_log_info *log,
                             const struct event_log_position *position)
{
        struct event_log_position now = *position;
        const struct event_log_file *file = NULL;
        for (size_t i = 0; i < log->files.len && !file; i++)
                if (log->files.data[i].number == position->number && !log->files.data[i].is_compacted)
                        file = &log->files.data[i];
        if (s->path || !file || position->head > EVENT_STREAM_HEAD)
                return false;
        bool good = event_log_stream_begin(s, file, NULL) == 0 && event_log_stream_check_head(s, &now) &&
                    now.head == position->head && now.checksum == position->checksum &&
                    (s->codec != EVENT_LOG_PLAIN || s->file.size >= position->text);
        if (!good) { /* as before the first file */
                event_log_stream_close(s);
                free(steal(s->path));
                return false;
        }
        if (s->codec == EVENT_LOG_PLAIN)
                s->offset = s->text = position->text;
        s->known = position->text;
        return true;
}

bool event_log_stream_seek_tail(struct event_log_stream *s, const struct event_log_info *log, uint64_t bytes)
{
        const struct event_log_file *last = &log->files.data[log->files.len - 1];
        bool inside = event_log_codec_of(last->path) == EVENT_LOG_PLAIN && last->size > bytes;
        if (s->path || (!inside && log->files.len == 1))
                return false;
        if (event_log_stream_begin(s, last, NULL) < 0)
                return false;
        s->offset = inside ? last->size - bytes : 0;
        s->skip_line = inside;
        return true;
}
