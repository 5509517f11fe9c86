/*
 * Reads ahead; see read_ahead.h.
 *
 * The blocks form a ring: `count` of them, from `head` on, hold or await consecutive pieces of the file, and `next` is
 * the offset after the last one. A block is consumed when the reader passes its end, and is read again at `next`.
 *
 * A block that is shorter than it was asked for usually ends the file. The file may have grown, or the read may have
 * been cut short, so reading goes on at its end with a new block, and only a second block that adds nothing means the
 * end.
 *
 * Invariants: blocks outside [head, head + count) are not in flight. While a read is in flight its memory stays.
 */
#include "io/ahead/read_ahead.h"

#include "base/mem.h"
#include "io/ahead/read_thread.h"
#include "io/ahead/uring_library.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_IDLE 16
#define DEFAULT_BLOCKS 8
#define ALIGNED_DOWN(n) ((n) & ~(READ_AHEAD_ALIGNMENT - 1))
#define ALIGNED_UP(n) ALIGNED_DOWN((n) + READ_AHEAD_ALIGNMENT - 1)

struct ahead_block {
        uint64_t offset;
        size_t size; /* asked for */
        unsigned char *data;
        ssize_t result; /* number of bytes or negative errno, once it is not in flight */
        bool in_flight;
};

struct read_ahead {
        struct read_ahead *next_idle;
        pid_t process; /* that created it: a child has neither its thread nor its own ring */
        const struct uring_library *library;
        struct uring *ring;         /* exactly one of ring and thread is set */
        struct read_thread *thread; /* which finishes blocks in order */
        bool broken;                /* the ring failed with reads in flight, so the memory must stay */
        unsigned char *memory;
        int fd;
        uint64_t end, next;
        unsigned blocks, head, count;
        unsigned oldest; /* with a thread: the block that it finishes next */
        struct ahead_block block[];
};

static _Atomic unsigned configured_blocks = DEFAULT_BLOCKS;
static _Atomic int configured_engine = READ_AHEAD_ANY;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct read_ahead *idle; /* guarded by `lock`, as is idle_count */
static unsigned idle_count;

void read_ahead_configure(unsigned blocks, enum read_ahead_engine engine)
{
        atomic_store(&configured_blocks, MIN(MAX(blocks, 1u), READ_AHEAD_MAX_BLOCKS));
        atomic_store(&configured_engine, (int)engine);
}

enum read_ahead_engine read_ahead_engine_of(const struct read_ahead *a)
{
        return a->ring ? READ_AHEAD_URING : READ_AHEAD_THREAD;
}

/* ------------------------------------------------------------------------------------ idle read_aheads */

static void read_ahead_destroy(struct read_ahead *a)
{
        if (a->ring)
                a->library->close(a->ring);
        read_thread_free(a->thread);
        if (!a->broken)
                munmap(a->memory, a->blocks * READ_AHEAD_BLOCK);
        free(a);
}

/* True if the configuration would create one like @a. */
static bool read_ahead_is_current(const struct read_ahead *a)
{
        int engine = atomic_load(&configured_engine);
        return a->blocks == atomic_load(&configured_blocks) &&
               (engine == READ_AHEAD_ANY || engine == (int)read_ahead_engine_of(a));
}

/* Returns an idle one, or NULL. Destroys those of another configuration. */
static struct read_ahead *read_ahead_reuse(void)
{
        struct read_ahead *found = NULL, *old = NULL;
        pthread_mutex_lock(&lock);
        if (idle && idle->process != getpid()) { /* after a fork they are the parent's */
                idle = NULL;
                idle_count = 0;
        }
        while (idle && !found) {
                struct read_ahead *a = idle;
                idle = a->next_idle;
                idle_count--;
                a->next_idle = NULL;
                if (read_ahead_is_current(a)) {
                        found = a;
                } else {
                        a->next_idle = old;
                        old = a;
                }
        }
        pthread_mutex_unlock(&lock);
        for (struct read_ahead *next; old; old = next) {
                next = old->next_idle;
                read_ahead_destroy(old);
        }
        return found;
}

static bool read_ahead_keep(struct read_ahead *a)
{
        if (a->broken || !read_ahead_is_current(a))
                return false;
        pthread_mutex_lock(&lock);
        bool kept = idle_count < MAX_IDLE;
        if (kept) {
                a->next_idle = idle;
                idle = a;
                idle_count++;
        }
        pthread_mutex_unlock(&lock);
        return kept;
}

static bool read_ahead_open_engine(struct read_ahead *a)
{
        int engine = atomic_load(&configured_engine);
        if (engine != READ_AHEAD_THREAD && (a->library = uring_library_load()) &&
            a->library->open(a->blocks, &a->ring) < 0)
                a->ring = NULL;
        if (!a->ring && engine != READ_AHEAD_URING)
                a->thread = read_thread_new(a->blocks);
        return a->ring || a->thread;
}

static struct read_ahead *read_ahead_create(void)
{
        unsigned blocks = atomic_load(&configured_blocks);
        size_t size = blocks * READ_AHEAD_BLOCK;
        void *memory = mem_has_room(size) ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                          : MAP_FAILED;
        if (memory == MAP_FAILED)
                return NULL;
        struct read_ahead *a = mem_zero(sizeof(*a) + blocks * sizeof(a->block[0]));
        a->memory = memory;
        a->blocks = blocks;
        a->process = getpid();
        for (unsigned i = 0; i < blocks; i++)
                a->block[i].data = a->memory + i * READ_AHEAD_BLOCK;
        if (read_ahead_open_engine(a))
                return a;
        read_ahead_destroy(a);
        return NULL;
}

struct read_ahead *read_ahead_new(int fd, uint64_t end)
{
        struct read_ahead *a = read_ahead_reuse();
        if (!a && !(a = read_ahead_create()))
                return NULL;
        a->fd = fd;
        a->end = end;
        a->next = 0;
        a->head = a->count = 0;
        return a;
}

/* ------------------------------------------------------------------------------------------ reads in flight */

static ssize_t read_ahead_read_now(struct read_ahead *a, struct ahead_block *b)
{
        ssize_t n;
        do
                n = pread(a->fd, b->data, b->size, (off_t)b->offset);
        while (n < 0 && errno == EINTR);
        return n < 0 ? -errno : n;
}

/* Starts the block after the last one. @end is after it, or else in it. */
static void read_ahead_start(struct read_ahead *a, uint64_t end)
{
        unsigned i = (a->head + a->count) % a->blocks;
        struct ahead_block *b = &a->block[i];
        uint64_t left = end > a->next ? end - a->next : 1;
        b->offset = a->next;
        b->size = left >= READ_AHEAD_BLOCK ? READ_AHEAD_BLOCK : ALIGNED_UP((size_t)left);
        b->in_flight = true;
        if (a->thread) {
                if (a->count == 0)
                        a->oldest = i;
                read_thread_read(a->thread, a->fd, b->data, b->size, b->offset);
        } else if (a->broken || a->library->read(a->ring, a->fd, b->data, b->size, b->offset, i) < 0) {
                a->broken = true;
                b->in_flight = false;
                b->result = read_ahead_read_now(a, b);
        }
        a->next += b->size;
        a->count++;
}

/* Receives one result. */
static void read_ahead_receive(struct read_ahead *a)
{
        if (a->thread) {
                struct ahead_block *b = &a->block[a->oldest];
                b->result = read_thread_wait(a->thread);
                b->in_flight = false;
                a->oldest = (a->oldest + 1) % a->blocks;
                return;
        }
        uint64_t tag;
        ssize_t result;
        if (a->library->wait(a->ring, &tag, &result) == 0) {
                a->block[tag].result = result;
                a->block[tag].in_flight = false;
                return;
        }
        /* The kernel may still write to blocks in flight: read them into new memory. */
        a->broken = true;
        for (unsigned i = 0; i < a->blocks; i++) {
                struct ahead_block *b = &a->block[i];
                if (!b->in_flight)
                        continue;
                b->in_flight = false;
                void *memory = mmap(NULL, READ_AHEAD_BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                b->result = -ENOMEM;
                if (memory != MAP_FAILED) {
                        b->data = memory;
                        b->result = read_ahead_read_now(a, b);
                }
        }
}

static void read_ahead_await(struct read_ahead *a, struct ahead_block *b)
{
        while (b->in_flight)
                read_ahead_receive(a);
        /* Reads through a ring may be interrupted where pread would begin again. */
        if (b->result == -EINTR || b->result == -EAGAIN)
                b->result = read_ahead_read_now(a, b);
}

/* Consumes the head block. */
static void read_ahead_pop(struct read_ahead *a)
{
        read_ahead_await(a, &a->block[a->head]);
        a->head = (a->head + 1) % a->blocks;
        a->count--;
}

/* Drops all blocks and goes on at @offset, rounded down to the alignment. */
static void read_ahead_seek(struct read_ahead *a, uint64_t offset)
{
        while (a->count > 0)
                read_ahead_pop(a);
        a->next = ALIGNED_DOWN(offset);
}

void read_ahead_free(struct read_ahead *a)
{
        if (!a)
                return;
        int saved = errno;
        while (a->count > 0)
                read_ahead_pop(a);
        if (!read_ahead_keep(a))
                read_ahead_destroy(a);
        errno = saved;
}

void read_ahead_set_end(struct read_ahead *a, uint64_t end)
{
        a->end = end;
}

/* Starts blocks up to @end, and at least one. */
static void read_ahead_fill(struct read_ahead *a, uint64_t end)
{
        do {
                if (a->count < a->blocks)
                        read_ahead_start(a, end);
        } while (a->count < a->blocks && a->next < end);
}

ssize_t read_ahead_read(struct read_ahead *a, void *data, size_t size, uint64_t offset)
{
        size_t got = 0;
        uint64_t sought = UINT64_MAX; /* a short block was read again at this offset */

        while (got < size) {
                uint64_t at = offset + got, end = MAX(a->end, offset + size);
                while (a->count > 0 && at >= a->block[a->head].offset + a->block[a->head].size)
                        read_ahead_pop(a);
                if (a->count == 0 ? a->next > at || at - a->next >= READ_AHEAD_BLOCK : at < a->block[a->head].offset)
                        read_ahead_seek(a, at);
                if (a->count == 0 || (a->count < a->blocks && a->next < end))
                        read_ahead_fill(a, end);
                struct ahead_block *b = &a->block[a->head];
                read_ahead_await(a, b);
                if (b->result < 0) {
                        int r = (int)b->result;
                        read_ahead_seek(a, at);
                        return got > 0 ? (ssize_t)got : r;
                }
                size_t skip = (size_t)(at - b->offset);
                if ((size_t)b->result <= skip) {
                        if (sought == at)
                                break;
                        read_ahead_seek(a, at);
                        sought = at;
                        continue;
                }
                size_t n = MIN((size_t)b->result - skip, size - got);
                memcpy((char *)data + got, b->data + skip, n);
                got += n;
        }
        return (ssize_t)got;
}
