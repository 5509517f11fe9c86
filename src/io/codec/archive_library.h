/*
 * libarchive, loaded by the first who reads or writes an archive. Its functions have their own names here. It is linked
 * into a module of its own, libfiresteel-archive.so, statically where that can be had: as a shared library it brings
 * along an XML parser and all of Unicode's tables, 35 MB, for formats that nobody here reads.
 */
#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <stdint.h>

struct fst_error;

#define ARCHIVE_LIBRARY_ABI 2
#define ARCHIVE_MODULE_SYMBOL "firesteel_archive_module" /* const struct archive_library *f(void) */

#define ARCHIVE_LIBRARY_FUNCTIONS(X)                                                                                   \
        X(archive_read_new)                                                                                            \
        X(archive_read_support_format_zip_seekable)                                                                    \
        X(archive_read_support_format_zip_streamable)                                                                  \
        X(archive_read_open_filename)                                                                                  \
        X(archive_read_next_header)                                                                                    \
        X(archive_read_data)                                                                                           \
        X(archive_read_data_block)                                                                                     \
        X(archive_read_free)                                                                                           \
        X(archive_write_disk_new)                                                                                      \
        X(archive_write_disk_set_options)                                                                              \
        X(archive_write_new)                                                                                           \
        X(archive_write_set_format_ustar)                                                                              \
        X(archive_write_open)                                                                                          \
        X(archive_write_set_format_zip)                                                                                \
        X(archive_write_open_filename)                                                                                 \
        X(archive_write_header)                                                                                        \
        X(archive_write_data)                                                                                          \
        X(archive_write_data_block)                                                                                    \
        X(archive_write_finish_entry)                                                                                  \
        X(archive_write_close)                                                                                         \
        X(archive_write_free)                                                                                          \
        X(archive_entry_new)                                                                                           \
        X(archive_entry_free)                                                                                          \
        X(archive_entry_copy_stat)                                                                                     \
        X(archive_entry_filetype)                                                                                      \
        X(archive_entry_pathname)                                                                                      \
        X(archive_entry_set_pathname)                                                                                  \
        X(archive_entry_set_symlink)                                                                                   \
        X(archive_entry_hardlink)                                                                                      \
        X(archive_entry_set_hardlink)                                                                                  \
        X(archive_error_string)

struct archive_library {
        uint32_t abi; /* ARCHIVE_LIBRARY_ABI */

        /* Let @in read tar, zip, 7zip and cpio, compressed or not by gzip, bzip2, xz, lzma, zstd, lz4 or compress. */
        void (*read_all)(struct archive *in);

#define ARCHIVE_LIBRARY_MEMBER(name) __typeof__(&name) name;
        ARCHIVE_LIBRARY_FUNCTIONS(ARCHIVE_LIBRARY_MEMBER)
#undef ARCHIVE_LIBRARY_MEMBER
};

/* 0, or -ENOTSUP with a sentence that says what is missing. Any thread; *@out stays. */
int archive_library_load(const struct archive_library **out, struct fst_error *error);

/* What went wrong last with @a; never NULL. */
const char *archive_library_why(const struct archive_library *lib, struct archive *a);
