/* See output_index.h. */
#include "shuffle/output_index.h"

#include "base/error.h"
#include "net/byte_order.h"
#include "store/file_cipher.h"
#include "store/spill.h"

#include <endian.h>

#define ROWS 16
#define PAGES 32
#define IN_MEMORY 36
#define IV 40
#define HEADER (IV + FILE_IV)
#define ENTRY 8

/* Extents follow each other in file order, so the index omits their offsets. */
static void put_pages(const struct shuffle_output *o, struct buf *index)
{
        size_t at = index->len;
        buf_reserve(index, o->n_extents * (size_t)ENTRY);
        index->len += o->n_extents * (size_t)ENTRY;
        for (int p = shuffle_output_next(o, 0); p < o->partitions; p = shuffle_output_next(o, p + 1)) {
                for (uint32_t e = shuffle_output_at(o, p)->extents; e; e = o->extents[e - 1].next) {
                        uint32_t entry[2] = {htole32((uint32_t)p), htole32(o->extents[e - 1].length)};
                        memcpy(index->data + at + (e - 1) * (size_t)ENTRY, entry, sizeof(entry));
                }
        }
        index->data[index->len] = 0;
}

void output_index_put(const struct shuffle_output *o, bool in_memory, struct buf *index)
{
        buf_put_le32(index, (uint32_t)o->partitions);
        buf_put_le32(index, (uint32_t)o->type.key | (uint32_t)o->type.value << 8);
        buf_put_le32(index, o->type.key_size);
        buf_put_le32(index, o->type.value_size);
        buf_put_le64(index, o->rows);
        buf_put_le64(index, o->bytes);
        buf_put_le32(index, o->n_extents);
        buf_put_le32(index, in_memory);
        const uint8_t *iv = spill_iv(o->file);
        buf_append(index, iv ? iv : (const uint8_t[FILE_IV]){0}, FILE_IV);
        put_pages(o, index);
}

static int output_index_damaged(struct fst_error *error, const char *what)
{
        return error_set(error, -EBADMSG, "damaged map output: %s", what);
}

static bool is_zero(const unsigned char iv[static FILE_IV])
{
        unsigned char all = 0;
        for (int i = 0; i < FILE_IV; i++)
                all |= iv[i];
        return all == 0;
}

int output_index_parse(const void *index, size_t len, struct output_index *out, struct fst_error *error)
{
        const unsigned char *p = index;
        if (len < HEADER || get_le32(p + PAGES) != (len - HEADER) / ENTRY || (len - HEADER) % ENTRY)
                return output_index_damaged(error, "its index has a wrong length");
        uint32_t tag = get_le32(p + 4);
        if (get_le32(p) > OUTPUT_INDEX_PARTITIONS || tag > UINT16_MAX)
                return output_index_damaged(error, "its index is invalid");
        *out = (struct output_index){.partitions = (int)get_le32(p),
                                     .type = {.key = tag & 0xff,
                                              .value = tag >> 8,
                                              .key_size = get_le32(p + 8),
                                              .value_size = get_le32(p + 12)},
                                     .in_memory = get_le32(p + IN_MEMORY) != 0,
                                     .iv = is_zero(p + IV) ? NULL : p + IV};
        return 0;
}

int output_index_take(const void *index, size_t len, struct memory_manager *manager, struct shuffle_output **output,
                      uint64_t *size, struct fst_error *error)
{
        const unsigned char *p = index;
        struct output_index head;
        int r = output_index_parse(index, len, &head, error);
        if (r)
                return r;
        struct shuffle_output *o = shuffle_output_new(head.partitions, head.type, manager);
        uint64_t at = 0;
        o->rows = get_le64(p + ROWS);
        o->bytes = get_le64(p + ROWS + 8);
        uint32_t n = get_le32(p + PAGES);
        p += HEADER;
        for (uint32_t i = 0; i < n; i++, p += ENTRY) {
                uint32_t partition = get_le32(p), length = get_le32(p + 4);
                if (partition >= (uint32_t)o->partitions) {
                        shuffle_output_unref(o);
                        return output_index_damaged(error, "a page has an invalid partition");
                }
                shuffle_output_add_extent(o, partition, at, length);
                at += length;
        }
        shuffle_output_pack(o);
        *output = o;
        *size = at;
        return 0;
}
