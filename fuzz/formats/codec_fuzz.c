/*
 * Any bytes are a compressed block or an error, no byte is written past the end, and compressed bytes decompress to the
 * original. The first two bytes choose the codec and the size.
 */
#include "base/error.h"
#include "base/mem.h"
#include "io/codec/codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const enum codec_kind kinds[] = {CODEC_LZ4, CODEC_ZSTD, CODEC_NONE};
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct codec codec;
        if (size < 2)
                return 0;
        codec_init(&codec, kinds[data[0] % 3], 1);
        size_t out_size = (size_t)data[1] * 16, packed = 0;
        data += 2;
        size -= 2;
        _cleanup_free_ char *out = mem_alloc(out_size + 1);
        codec_decompress(&codec, data, size, out, out_size, &error);

        size_t room = codec_bound(codec.kind, size);
        _cleanup_free_ char *to = mem_alloc(room + 1), *back = mem_alloc(size + 1);
        if (codec_compress(&codec, data, size, to, room, &packed, NULL) < 0 ||
            codec_decompress(&codec, to, packed, back, size, NULL) < 0 || memcmp(back, data, size) != 0)
                abort();
        codec_deinit(&codec);
        return 0;
}
