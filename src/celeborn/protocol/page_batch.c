/* See page_batch.h. */
#include "celeborn/protocol/page_batch.h"

#include <string.h>
#include <xxhash.h>

static uint32_t page_batch_check(const unsigned char *header)
{
        unsigned char both[CELEBORN_BATCH_HEADER + PAGE_FRAME_HEADER];
        memcpy(both, header, CELEBORN_BATCH_HEADER);
        memcpy(both + CELEBORN_BATCH_HEADER, header + PAGE_BATCH_FRAME, PAGE_FRAME_HEADER);
        return (uint32_t)XXH3_64bits(both, sizeof(both));
}

void page_batch_seal(unsigned char header[static PAGE_BATCH_HEADER], struct celeborn_batch batch)
{
        celeborn_batch_put(header, batch);
        put_le32(header + CELEBORN_BATCH_HEADER, page_batch_check(header));
}

bool page_batch_is_sound(const unsigned char header[static PAGE_BATCH_HEADER])
{
        return get_le32(header + CELEBORN_BATCH_HEADER) == page_batch_check(header);
}
