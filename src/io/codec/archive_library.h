/*
 * libarchive as a table of functions, loaded when the first archive is read or written. It is linked, statically if
 * possible, into a module of its own, libfiresteel-archive.so: the shared library would add an XML parser and all
 * Unicode tables, 35 MB, for formats that Firesteel does not read.
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

        /* Enables reading of tar, zip, 7zip and cpio, uncompressed or compressed by gzip, bzip2, xz, lzma, zstd, lz4 or
         * compress. */
        void (*read_all)(struct archive *in);

#define ARCHIVE_LIBRARY_MEMBER(name) __typeof__(&name) name;
        ARCHIVE_LIBRARY_FUNCTIONS(ARCHIVE_LIBRARY_MEMBER)
#undef ARCHIVE_LIBRARY_MEMBER
};

/* Loads the library. Returns 0, or -ENOTSUP with a message that names the missing module. Any thread. *@out is never
 * freed. */
int archive_library_load(const struct archive_library **out, struct fst_error *error);

/* The text of the last error of @a; never NULL. */
const char *archive_library_why(const struct archive_library *lib, struct archive *a);
