/* Splits of input files, in order: the partitions of an RDD that reads files. */
#pragma once

#include "base/arena.h"
#include "base/vec.h"
#include "io/codec/codec.h"

#include <stdbool.h>
#include <stdint.h>

struct file_status;
struct fst_error;

struct input_split {
        const char *path;       /* full path; owned by the splits */
        uint64_t start, length; /* in bytes of the file as stored */
        enum codec_kind codec;  /* compression of the file; a compressed file is one split */
        /* preferred hosts: names, ended by an empty one; owned by the splits. NULL: none is preferred */
        const char *hosts;
};

struct input_splits {
        struct input_split *data;
        size_t len, cap;
        struct arena arena;
        uint64_t bytes; /* of all files */
        size_t files;
        /* Partition i has the splits firsts[i] … firsts[i + 1] - 1, of `partitions`. In the arena. NULL: each split is a
         * partition. */
        uint32_t *firsts;
        size_t partitions;
        bool near_hosts; /* some split has hosts */
        uint64_t stamp;  /* a hash of the paths, sizes and times of the files: it tells whether they have changed */
};
#define INPUT_SPLITS_INIT ((struct input_splits){0})

void input_splits_deinit(struct input_splits *splits);

static inline size_t input_splits_partitions(const struct input_splits *splits)
{
        return splits->firsts ? splits->partitions : splits->len;
}

/* Returns the first split of @partition, and the one after the last split of the partition before it. */
static inline size_t input_splits_first(const struct input_splits *splits, size_t partition)
{
        return splits->firsts ? splits->firsts[partition] : partition;
}

/*
 * Appends the splits of @file, each of @size bytes (more than 0), the last up to 1.1 times as long. An empty file gives
 * one empty split, a compressed one (@codec) a single split. @places: asks the file system for hosts. Returns the
 * errors of file_system_of and of its operations.
 */
int input_splits_cut(struct input_splits *splits, const struct file_status *file, enum codec_kind codec, uint64_t size,
                     bool places, struct fst_error *error);
