/* See page_stream.h. Invariant: every page except the last is full. */
#include "store/page_stream.h"

#include "base/mem.h"
#include "store/page_frame.h"

#include <endian.h>
#include <errno.h>

static size_t page_room(const struct page *page)
{
        return page ? page->capacity - page->used : 0;
}

static size_t pages_for(const struct packed_pages *packed, size_t length)
{
        size_t room = page_room(packed->last);
        return length <= room ? 0 : (length - room + PAGE_CAPACITY - 1) / PAGE_CAPACITY;
}

size_t packed_pages_need(const struct packed_pages *packed, size_t length)
{
        return pages_for(packed, length) * PAGE_BLOCK;
}

int packed_pages_append(struct packed_pages *packed, fst_type type, const unsigned char *frame, size_t length)
{
        struct page *fresh = NULL, **end = &fresh;
        for (size_t n = pages_for(packed, length); n > 0; n--, end = &(*end)->next)
                if (page_new(NULL, type, 1, end)) {
                        page_list_free(NULL, fresh);
                        return -ENOMEM;
                }
        if (packed->last)
                packed->last->next = fresh;
        else
                packed->first = packed->last = fresh;
        for (struct page *p = packed->last; p; p = p->next) {
                size_t part = MIN(length, page_room(p));
                memcpy(p->data + p->used, frame, part);
                p->used += (uint32_t)part;
                frame += part;
                length -= part;
                packed->last = p;
        }
        return 0;
}

void packed_reader_init(struct packed_reader *reader, const struct page *first)
{
        *reader = (struct packed_reader){.page = first};
}

void packed_reader_deinit(struct packed_reader *reader)
{
        free(steal(reader->scratch));
}

/* Copies the next @n bytes to @to; NULL skips them. */
static void packed_reader_copy(struct packed_reader *r, unsigned char *to, size_t n)
{
        while (n > 0) {
                if (r->at == r->page->used) {
                        r->page = r->page->next;
                        r->at = 0;
                }
                size_t part = MIN(n, (size_t)(r->page->used - r->at));
                if (to)
                        to = mempcpy(to, r->page->data + r->at, part);
                r->at += (uint32_t)part;
                n -= part;
        }
}

int packed_reader_next(struct packed_reader *r, const unsigned char **frame, uint32_t *length)
{
        if (r->page && r->at == r->page->used) {
                r->page = r->page->next;
                r->at = 0;
        }
        if (!r->page) {
                *frame = NULL;
                return 0;
        }
        struct packed_reader ahead = *r;
        uint32_t payload;
        packed_reader_copy(&ahead, (unsigned char *)&payload, sizeof(payload));
        size_t n = PAGE_FRAME_HEADER + (size_t)le32toh(payload);
        if (n <= r->page->used - r->at) {
                *frame = r->page->data + r->at;
                r->at += (uint32_t)n;
        } else {
                if (n > r->room) {
                        unsigned char *scratch = mem_try_grow(r->scratch, MAX(n, PAGE_BLOCK));
                        if (!scratch)
                                return -ENOMEM;
                        r->scratch = scratch;
                        r->room = MAX(n, PAGE_BLOCK);
                }
                packed_reader_copy(r, r->scratch, n);
                *frame = r->scratch;
        }
        *length = (uint32_t)n;
        return 0;
}
