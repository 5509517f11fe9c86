/*
 * See page_frame.h. Input from a disk or another process passes page_frame_parse and then page_validate. A length is
 * trusted only up to the size of memory that is harmless to allocate.
 */
#include "store/page_frame.h"

#include "base/error.h"
#include "net/byte_order.h"

#include <string.h>

static const enum codec_kind kinds[] = {CODEC_NONE, CODEC_LZ4, CODEC_ZSTD};

static void page_frame_put_header(const struct page *page, uint32_t payload, enum codec_kind codec,
                                  unsigned char *header)
{
        put_le32(header, payload);
        put_le32(header + 4, codec == CODEC_LZ4 ? 1 : codec == CODEC_ZSTD ? 2 : 0);
        page_wire_header(page, header + 8);
}

void page_frame_header(const struct page *page, unsigned char header[static PAGE_FRAME_HEADER])
{
        page_frame_put_header(page, page->used, CODEC_NONE, header);
}

size_t page_frame_encode(const struct page *page, struct codec *codec, unsigned char *out)
{
        size_t written = 0;
        if (codec && codec->kind != CODEC_NONE && page->used > 0 && page->used <= PAGE_CAPACITY &&
            codec_compress(codec, page->data, page->used, out + PAGE_FRAME_HEADER, page->used - 1, &written, NULL) ==
                    0) {
                page_frame_put_header(page, (uint32_t)written, codec->kind, out);
                return PAGE_FRAME_HEADER + written;
        }
        page_frame_header(page, out);
        memcpy(out + PAGE_FRAME_HEADER, page->data, page->used);
        return PAGE_FRAME_HEADER + (size_t)page->used;
}

int page_frame_parse(const unsigned char header[static PAGE_FRAME_HEADER], fst_type type, struct page_frame *frame,
                     struct fst_error *error)
{
        struct page_frame f = {.payload = get_le32(header)};
        uint32_t codec = get_le32(header + 4);
        if (codec >= sizeof(kinds) / sizeof(kinds[0]))
                return error_set(error, -EBADMSG, "a damaged page: it has the unknown codec %u", codec);
        f.codec = kinds[codec];
        size_t limit = f.codec == CODEC_NONE ? f.payload : PAGE_CAPACITY;
        int r = page_wire_check(header + 8, type, limit, &f.bytes, &f.rows, &f.checksum, error);
        if (r)
                return r;
        if (f.codec == CODEC_NONE ? f.payload != f.bytes : f.payload >= f.bytes)
                return error_set(error, -EBADMSG, "a damaged page: a header of %u bytes has a payload of %u", f.bytes,
                                 f.payload);
        *frame = f;
        return 0;
}

int page_frame_decode(const struct page_frame *frame, fst_type type, const unsigned char *payload, struct codec *codec,
                      struct memory_consumer *c, struct page **page, struct fst_error *error)
{
        if (frame->codec != CODEC_NONE && (!codec || codec->kind != frame->codec))
                return error_set(error, -EBADMSG, "a page compressed with %s where %s was expected",
                                 codec_name(frame->codec), codec_name(codec ? codec->kind : CODEC_NONE));
        struct page *p = NULL;
        int r = page_new(c, type, frame->bytes, &p);
        if (r)
                return r < 0 ? error_set(error, r, "no memory for a page of %u bytes", frame->bytes) : r;
        if (frame->codec == CODEC_NONE)
                memcpy(p->data, payload, frame->bytes);
        else
                r = codec_decompress(codec, payload, frame->payload, p->data, frame->bytes, error);
        p->used = frame->bytes;
        p->rows = frame->rows;
        if (r == 0)
                r = page_validate(p, frame->checksum, error);
        if (r) {
                page_free(c, p);
                return r;
        }
        *page = p;
        return 0;
}
