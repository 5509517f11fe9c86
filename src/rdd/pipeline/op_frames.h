/*
 * Operators on frames (include/firesteel/frames.h): rows that hold what passes on the socket of a Python worker.
 *
 * A frame is a big-endian int32, the length, and as many bytes. Null is the int FRAME_NULL without bytes. A row of an
 * RDD of frames has one frame, or several one after another (the elements of a pair).
 */
#pragma once

#include "rdd/pipeline/op.h"

#define FRAME_HEADER 4
#define FRAME_NULL (-5)
#define FRAME_MAX INT32_MAX

/* The numbers travel in rpc/stage.proto. */
enum frames_mode {
        FRAMES_OF_ROWS = 1,  /* BYTES, FIXED → a frame; a pair of these → two frames */
        FRAMES_JOIN = 2,     /* PAIR(BYTES, BYTES) → the key's frames, then the value's */
        FRAMES_TO_ROWS = 3,  /* a frame → its bytes */
        FRAMES_TO_PAIRS = 4, /* two rows, an int64 and any frame → PAIR(I64, BYTES) */
        FRAMES_UNPICKLE = 5, /* a frame with a pickled number or list of numbers → I64 or F64 */
        FRAMES_UNPACK = 6,   /* a frame with a list (firesteel/list.h) → its elements, of any type */
        FRAMES_PACK = 7,     /* rows of any type → frames with lists of them */
};
#define FRAMES_LAST_MODE FRAMES_PACK

/* Reads the length of the frame at @data: 0 … FRAME_MAX, FRAME_NULL, or an invalid negative number. */
static inline int32_t frame_length(const char *data)
{
        const unsigned char *at = (const unsigned char *)data;
        return (int32_t)((uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3]);
}

static inline void frame_put_length(char *data, uint32_t length)
{
        const unsigned char header[] = {(unsigned char)(length >> 24), (unsigned char)(length >> 16),
                                        (unsigned char)(length >> 8), (unsigned char)length};
        memcpy(data, header, sizeof(header));
}

/* Returns the size of the frame at the start of @rest, with its length; 0 if @rest does not begin with a whole frame. */
static inline size_t frame_size(fst_bytes rest)
{
        if (rest.len < FRAME_HEADER)
                return 0;
        int32_t length = frame_length(rest.data);
        if (length < 0)
                return length == FRAME_NULL ? FRAME_HEADER : 0;
        return (size_t)length <= rest.len - FRAME_HEADER ? FRAME_HEADER + (size_t)length : 0;
}

/* Checks that @mode makes rows of @out from rows of @in. Returns 0, or -EINVAL with @error. */
int frames_check(enum frames_mode mode, fst_type in, fst_type out, struct fst_error *error);

/* An operator of @mode, which frames_check accepted. */
struct op *frames_op_new(struct task_run *run, enum frames_mode mode, fst_type in, fst_type out);

/* The same for FRAMES_UNPICKLE, FRAMES_UNPACK and FRAMES_PACK. */
struct op *frame_elements_op_new(struct task_run *run, enum frames_mode mode, fst_type in, fst_type out);
