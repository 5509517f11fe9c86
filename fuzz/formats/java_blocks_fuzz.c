/*
 * Any bytes are a stream of lz4-java, snappy-java or compress-lzf, or an error, in pieces of any size. The first two bytes choose the
 * kind and the size of the pieces.
 */
#include "base/mem.h"
#include "io/codec/java_blocks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const enum java_blocks_kind kinds[] = {JAVA_BLOCKS_LZ4, JAVA_BLOCKS_SNAPPY, JAVA_BLOCKS_LZF};
        struct java_blocks *b;
        if (size < 2 || java_blocks_new(kinds[data[0] % ARRAY_SIZE(kinds)], &b, NULL) < 0)
                return 0;
        size_t piece = (size_t)data[1] + 1;
        for (size_t at = 2; at < size;) {
                char text[100];
                size_t in = MIN(piece, size - at), got;
                if (java_blocks_step(b, data + at, &in, text, sizeof(text), &got))
                        break;
                if (in == 0 && got == 0)
                        abort();
                at += in;
        }
        java_blocks_between(b);
        java_blocks_free(b);
        return 0;
}
