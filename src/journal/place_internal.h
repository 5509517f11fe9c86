/* Shared by place.c (paths, local files) and place_remote.c. */
#pragma once

#include "journal/place.h"

#include <sys/types.h>

#define EPOCH_PREFIX "epoch-"
#define DRIVER_PREFIX "driver-"
#define MAX_SMALL_FILE 4096

struct file_system;

struct journal_place {
        const struct journal_place_class *class;
        const struct file_system *fs;
        char *path; /* a local one, or a full path */
        int epoch;  /* the taken one; 0 before */

        int fd;     /* local: of its file */
        off_t size; /* local: up to the end of the last good frame */
        int next;   /* remote: number of the next file of the epoch */
};

/* The functions of place.h, on one kind of file system. */
struct journal_place_class {
        int (*make)(struct journal_place *place, struct fst_error *error); /* the directory */
        int (*find)(struct journal_place *place, struct fst_error *error); /* -ENOENT */
        int (*newest)(struct journal_place *place, struct fst_error *error);
        int (*newest_driver)(struct journal_place *place, struct fst_error *error); /* that has an address */
        int (*take)(struct journal_place *place, int epoch, struct fst_error *error);
        int (*read)(struct journal_place *place, int epoch, struct buf *out, struct fst_error *error);
        int (*append)(struct journal_place *place, const void *header, size_t header_size, const void *body,
                      size_t size, struct fst_error *error);
        int (*put)(struct journal_place *place, const char *name, const char *text, struct fst_error *error);
        int (*get)(struct journal_place *place, const char *name, struct buf *out, struct fst_error *error);
        bool (*is_superseded)(struct journal_place *place);
        void (*remove_earlier)(struct journal_place *place); /* the files of epochs before the taken one */
        void (*remove)(struct journal_place *place);
};

extern const struct journal_place_class journal_place_remote;
