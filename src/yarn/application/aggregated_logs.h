/*
 * The logs of an application's containers on one node, as YARN's log aggregation leaves them in one file.
 *
 *      r = aggregated_logs_read(&file, &ops, owner, error);
 *
 * The format is Hadoop's TFile or IndexedFormat (LogAggregationIndexedFileController), plain or compressed by zlib
 * ("gz"). A TFile has blocks of records. A record is a container, and its value holds the container's files, one after
 * another. An IndexedFormat has an index of logs at its end. Lengths in the file are not trusted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fst_error;
struct open_file;

/* Strings are borrowed for the call. They hold what the file holds, without control characters. */
struct aggregated_log {
        const char *container; /* "container_1_0001_01_000002" */
        const char *name;      /* "stderr" */
        uint64_t length;       /* of the whole log */
        uint64_t offset;       /* of the first byte that `data` gets */
};

struct aggregated_logs_ops {
        /* Returns true if `data` is to get the log's bytes. */
        bool (*begin)(void *owner, const struct aggregated_log *log);
        /* Nonzero ends the reading with this value. */
        int (*data)(void *owner, const char *data, size_t n);
        int (*end)(void *owner);
};

/*
 * Calls @ops for each log of @file, which is open for reading. Returns 0; -EBADMSG with the place for a damaged file,
 * after the logs before it; -ENOTSUP for another compression; or the error of a read or of @ops.
 */
int aggregated_logs_read(struct open_file *file, const struct aggregated_logs_ops *ops, void *owner,
                         struct fst_error *error);
