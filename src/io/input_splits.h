/*
 * Pieces of files, in order: what the partitions of an RDD that reads files are made of.
 */
#pragma once

#include "base/arena.h"
#include "base/vec.h"
#include "io/codec/codec.h"

#include <stdbool.h>
#include <stdint.h>

struct file_status;
struct fst_error;

struct input_split {
        const char *path;       /* full; owned by the plan */
        uint64_t start, length; /* in bytes of the file as it is stored */
        enum codec_kind codec;  /* how the file is packed: CODEC_NONE, or one split from 0 to its end */
        const char *hosts;      /* that have it: names, the last one empty; owned by the plan. NULL: none is nearer */
};

struct input_splits {
        struct input_split *data;
        size_t len, cap;
        struct arena arena;
        uint64_t bytes; /* of all files */
        size_t files;
        bool near_hosts; /* some split has hosts */
};
#define INPUT_SPLITS_INIT ((struct input_splits){0})

void input_splits_deinit(struct input_splits *splits);

/*
 * Append the splits of @file, each of @size bytes (more than 0), the last up to 1.1 times as long; those of an empty
 * file are one empty split. A packed file (@codec) is one split. With @places the file system is asked for hosts.
 * Errors are those of file_system_of and of asking.
 */
int input_splits_cut(struct input_splits *splits, const struct file_status *file, enum codec_kind codec, uint64_t size,
                     bool places, struct fst_error *error);
