/* See frame.h. A reader uses a length only after it has verified the checksum of the header. */
#include "journal/frame.h"

#include "base/error.h"
#include "base/mem.h"
#include "net/byte_order.h"

#include <xxhash.h>

static const unsigned char frame_mark[4] = {0xF5, 'f', 'd', 'j'};

void journal_frame_header(const void *body, size_t size, unsigned char header[static JOURNAL_FRAME_HEADER])
{
        memcpy(header, frame_mark, sizeof(frame_mark));
        put_le32(header + 4, (uint32_t)size);
        uint32_t seed = (uint32_t)XXH3_64bits(header, 8);
        put_le32(header + 8, seed);
        put_le64(header + 12, XXH3_64bits_withSeed(body, size, seed));
}

size_t journal_record_begin(struct buf *body, uint8_t kind)
{
        unsigned char header[JOURNAL_RECORD_HEADER] = {kind};
        size_t place = body->len;
        buf_append(body, header, sizeof(header));
        return place;
}

void journal_record_end(struct buf *body, size_t place)
{
        put_le32((unsigned char *)body->data + place + 1, (uint32_t)(body->len - place - JOURNAL_RECORD_HEADER));
}

/* Returns the size of the frame at @at with its header, 0 if it is incomplete, or -EBADMSG. */
static int64_t frame_check(const unsigned char *at, size_t left)
{
        if (memcmp(at, frame_mark, MIN(left, sizeof(frame_mark))) != 0)
                return -EBADMSG;
        if (left < JOURNAL_FRAME_HEADER)
                return 0;
        uint32_t size = get_le32(at + 4), seed = get_le32(at + 8);
        if (seed != (uint32_t)XXH3_64bits(at, 8) || size > MAX_JOURNAL_FRAME)
                return -EBADMSG;
        if (size > left - JOURNAL_FRAME_HEADER)
                return 0;
        if (XXH3_64bits_withSeed(at + JOURNAL_FRAME_HEADER, size, seed) != get_le64(at + 12))
                return -EBADMSG;
        return (int64_t)size + JOURNAL_FRAME_HEADER;
}

/* Calls @record for the records of a frame's body, or only checks their lengths if it is NULL. */
static int frame_each_record(const unsigned char *at, const unsigned char *end,
                             int (*record)(void *context, uint8_t kind, const void *content, size_t size),
                             void *context)
{
        while (at < end) {
                if ((size_t)(end - at) < JOURNAL_RECORD_HEADER)
                        return -EBADMSG;
                size_t size = get_le32(at + 1);
                const unsigned char *content = at + JOURNAL_RECORD_HEADER;
                if (size > (size_t)(end - content))
                        return -EBADMSG;
                int r = record ? record(context, at[0], content, size) : 0;
                if (r < 0)
                        return r;
                at = content + size;
        }
        return 0;
}

/* Checks the first line. Returns 0 if frames follow it, 1 if the file is empty or only a part of the line. */
static int frame_check_first_line(const void *bytes, size_t size, const char *name, struct fst_error *error)
{
        static const char line[] = JOURNAL_FIRST_LINE, any[] = JOURNAL_FIRST_LINE_ANY_VERSION;
        if (memcmp(bytes, line, MIN(size, sizeof(line) - 1)) == 0)
                return size < sizeof(line) - 1;
        if (size > sizeof(any) && memcmp(bytes, any, sizeof(any) - 1) == 0)
                return error_set(error, -EPROTONOSUPPORT,
                                 "%s is of a version of the journal that this program does not know (it knows 1)",
                                 name);
        return error_set(error, -EBADMSG, "%s is not a journal of a Firesteel driver", name);
}

int journal_read_frames(const void *data, size_t size, const char *name,
                        int (*record)(void *context, uint8_t kind, const void *content, size_t size), void *context,
                        struct journal_extent *extent, struct fst_error *error)
{
        const unsigned char *bytes = data;
        *extent = (struct journal_extent){0};
        int r = size ? frame_check_first_line(bytes, size, name, error) : 1;
        if (r) {
                extent->end = r > 0 && size ? JOURNAL_TORN : JOURNAL_COMPLETE;
                return r < 0 ? r : 0;
        }
        size_t at = sizeof(JOURNAL_FIRST_LINE) - 1;
        while (at < size) {
                int64_t frame = frame_check(bytes + at, size - at);
                const unsigned char *body = bytes + at + JOURNAL_FRAME_HEADER, *end = bytes + at + MAX(frame, 0);
                if (frame == 0) {
                        extent->end = JOURNAL_TORN;
                        break;
                }
                if (frame < 0 || frame_each_record(body, end, NULL, NULL) < 0 ||
                    frame_each_record(body, end, record, context) < 0) {
                        extent->end = JOURNAL_DAMAGED;
                        break;
                }
                at += (size_t)frame;
        }
        extent->good = at;
        return 0;
}
