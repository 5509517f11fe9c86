/* libfiresteel-archive.so: a table of libarchive's functions; see io/codec/archive_library.h. */
#include "io/codec/archive_library.h"

static void archive_module_read_all(struct archive *in)
{
        archive_read_support_filter_bzip2(in);
        archive_read_support_filter_compress(in);
        archive_read_support_filter_gzip(in);
        archive_read_support_filter_lz4(in);
        archive_read_support_filter_lzma(in);
        archive_read_support_filter_xz(in);
        archive_read_support_filter_zstd(in);
        archive_read_support_format_7zip(in);
        archive_read_support_format_cpio(in);
        archive_read_support_format_tar(in);
        archive_read_support_format_zip_seekable(in);
        archive_read_support_format_zip_streamable(in);
}

__attribute__((visibility("default"))) const void *firesteel_archive_module(void);

const void *firesteel_archive_module(void)
{
        static const struct archive_library table = {.abi = ARCHIVE_LIBRARY_ABI,
                                                     .read_all = archive_module_read_all,
#define ENTRY(name) .name = name,
                                                     ARCHIVE_LIBRARY_FUNCTIONS(ENTRY)
#undef ENTRY
        };
        return &table;
}
