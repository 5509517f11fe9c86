/* Any bytes are a compressed file, or an error that names the file. The first byte chooses codec and read size. */
#include "base/error.h"
#include "base/mem.h"
#include "io/codec/codec.h"
#include "io/fs/file_systems.h"
#include "fuzz/memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST ((size_t)4 << 20) /* a small file may decompress to terabytes */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const enum codec_kind kinds[] = {CODEC_GZIP, CODEC_ZSTD, CODEC_LZ4, CODEC_BZIP2, CODEC_DEFLATE};
        static struct decoder *d;
        static char out[65536];
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct open_file open = OPEN_FILE_INIT;
        const struct file_system *fs;

        if (size < 1)
                return 0;
        if (!d)
                d = decoder_new();
        const char *path = memory_file("file:", data + 1, size - 1);
        if (file_system_of(path, &fs, NULL) < 0 || fs->open(fs, path, &open, NULL) < 0)
                abort();
        int r = decoder_start(d, kinds[data[0] % 64 % 5], &open, &error);
        size_t got = 1, step = data[0] & 64 ? sizeof(out) : 100;
        for (size_t all = 0; r == 0 && got > 0 && all < MOST; all += got) {
                r = decoder_read(d, out, step, &got, &error);
                if (r == 0 && got > step)
                        abort();
        }
        if (r < 0 && !strstr(error_message(&error), path))
                abort();
        fs->close(&open, NULL);
        return 0;
}
