/* An object of map outputs from a store that others may write to: trailer, index and block heads are read safely, or
 * refused. Checksums are made right first, because they would hide everything behind them. */
#include "base/error.h"
#include "base/mem.h"
#include "net/byte_order.h"
#include "shuffle/remote/object_file.h"

#include <stdlib.h>
#include <xxhash.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_index(const struct object_index *index, uint64_t blocks_end)
{
        if (index->at[0] != OBJECT_HEADER || index->at[index->partitions] != blocks_end)
                abort();
        for (uint32_t p = 0; p < index->partitions; p++)
                if (index->at[p] > index->at[p + 1])
                        abort();
        for (uint32_t i = 0; i < index->n_outputs; i++)
                if (object_index_find(index, index->outputs[i].map_partition, index->outputs[i].task_id) != (int)i)
                        abort();
        if (object_index_find(index, INT32_MAX, INT64_MAX) >= (int)index->n_outputs)
                abort();
}

static void read_block(const struct object_index *index, uint8_t *block, size_t size)
{
        unsigned char both[4 + PAGE_FRAME_HEADER];
        struct page_frame frame;
        uint32_t output = 0;
        if (size < OBJECT_BLOCK)
                return;
        memcpy(both, block, 4);
        memcpy(both + 4, block + 8, PAGE_FRAME_HEADER);
        put_le32(block + 4, (uint32_t)XXH3_64bits(both, sizeof(both)));
        if (object_block_parse(block, index, FST_PAIR(I64, BYTES), &output, &frame, NULL) == 0 &&
            output >= index->n_outputs)
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct fst_error error = FST_ERROR_INIT;
        struct object_trailer trailer;
        struct object_index *index = NULL;
        if (size < OBJECT_HEADER + OBJECT_TRAILER)
                return 0;
        _cleanup_free_ uint8_t *object = mem_alloc(size);
        memcpy(object, data, size);
        uint8_t *end = object + size - OBJECT_TRAILER;
        put_le32(end + 24, (uint32_t)XXH3_64bits(end, 24));
        if (object_trailer_read(end, size, &trailer, &error) == 0) {
                uint8_t *at = end - trailer.index_size;
                uint64_t check = trailer.index_size >= 8 ? XXH3_64bits(at, trailer.index_size - 8) : 0;
                if (trailer.index_size >= 8) {
                        put_le32(end - 8, (uint32_t)check);
                        put_le32(end - 4, (uint32_t)(check >> 32));
                }
                if (object_index_read(&trailer, size, at, &index, &error) == 0) {
                        check_index(index, (uint64_t)(at - object));
                        read_block(index, object + OBJECT_HEADER, (size_t)(at - object) - OBJECT_HEADER);
                }
        }
        object_index_free(index);
        error_deinit(&error);
        return 0;
}
