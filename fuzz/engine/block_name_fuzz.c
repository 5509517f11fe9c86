/* Names of blocks: an accepted name has one spelling. Also decodes the bytes as the header of a broadcast piece. */
#include "exec/blocks/broadcasts.h"
#include "store/block_name.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        char text[256], again[BLOCK_NAME_SIZE];
        struct block_name name;
        struct broadcast_piece piece;
        if (size < sizeof(text)) {
                memcpy(text, data, size);
                text[size] = '\0';
                if (block_name_parse(text, &name) && strcmp(block_name_format(name, again), text) != 0)
                        abort();
        }
        if (size >= BROADCAST_PIECE_HEADER && broadcast_piece_parse(data, 65536, &piece, NULL) == 0 &&
            (piece.payload > 65536 || piece.codec > CODEC_ZSTD))
                abort();
        return 0;
}
