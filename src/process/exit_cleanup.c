/*
 * See scratch.h. A signal's handler walks the table, so each entry is one atomic pointer, taken by whoever exchanges it
 * for NULL: what the handler has taken nobody frees. Removing is done with system calls alone, as the handler may have
 * stopped malloc or readdir midway.
 */
#include "process/exit_cleanup.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/fs.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST 64
#define DEEPEST 64 /* folders within each other that a handler goes into */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of adding and forgetting; handlers do without */
static _Atomic(char *) all[MOST];
static _Atomic(pid_t) groups[MOST];
static _Atomic(pid_t) owner; /* the process that added them: not its forked children */

void scratch_add(const char *path)
{
        char *copy = mem_strdup(path);
        pthread_mutex_lock(&lock);
        atomic_store(&owner, getpid());
        for (size_t i = 0; copy && i < MOST; i++) {
                char *none = NULL;
                if (atomic_compare_exchange_strong(&all[i], &none, copy))
                        copy = NULL;
        }
        pthread_mutex_unlock(&lock);
        free(copy);
}

void scratch_forget(const char *path)
{
        if (!path)
                return;
        pthread_mutex_lock(&lock);
        for (size_t i = 0; i < MOST; i++) {
                const char *one = atomic_load(&all[i]);
                if (one && strcmp(one, path) == 0) {
                        free(atomic_exchange(&all[i], NULL));
                        break;
                }
        }
        pthread_mutex_unlock(&lock);
}

int scratch_make(const char *prefix, char **path, struct fst_error *error)
{
        _cleanup_free_ char *name = mem_printf("%s-XXXXXX", prefix);
        sigset_t every, before;
        /* A signal waits until the folder is known. */
        sigfillset(&every);
        pthread_sigmask(SIG_SETMASK, &every, &before);
        int r = mkdtemp(name) ? 0 : error_errno(error, "making the folder %s", name);
        if (r == 0)
                scratch_add(name);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (r == 0)
                *path = steal(name);
        return r;
}

void scratch_remove(const char *path)
{
        remove_tree(path);
        scratch_forget(path);
}

static void replace_group(pid_t before, pid_t after)
{
        for (size_t i = 0; i < MOST; i++) {
                pid_t expected = before;
                if (atomic_compare_exchange_strong(&groups[i], &expected, after))
                        return;
        }
}

void scratch_add_group(pid_t group)
{
        atomic_store(&owner, getpid());
        replace_group(0, group);
}

void scratch_forget_group(pid_t group)
{
        replace_group(group, 0);
}

/* ---------------------------------------------------------------------------------------------- within a handler */

/* What the kernel writes for getdents64. */
struct entry {
        uint64_t inode;
        int64_t offset;
        unsigned short length;
        unsigned char type;
        char name[];
};

static bool remove_from(int folder, const char *name, int depth);

/* Whether something was removed: a folder is read again until nothing is. */
static bool remove_entries(int fd, int depth)
{
        char block[1024] __attribute__((aligned(8)));
        bool removed = false;
        long n;
        while ((n = syscall(SYS_getdents64, fd, block, sizeof(block))) > 0) {
                for (long at = 0; at < n;) {
                        const struct entry *e = (const struct entry *)(block + at);
                        at += e->length;
                        if (strcmp(e->name, ".") == 0 || strcmp(e->name, "..") == 0)
                                continue;
                        removed |= remove_from(fd, e->name, depth);
                }
        }
        return removed;
}

static bool remove_from(int folder, const char *name, int depth)
{
        if (unlinkat(folder, name, 0) == 0)
                return true;
        if (errno == ENOENT || depth > DEEPEST)
                return false;
        int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        while (fd >= 0 && remove_entries(fd, depth + 1))
                lseek(fd, 0, SEEK_SET);
        if (fd >= 0)
                close(fd);
        return unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

void scratch_remove_all(void)
{
        int kept = errno;
        if (atomic_load(&owner) != getpid())
                return;
        for (size_t i = 0; i < MOST; i++) {
                pid_t group = atomic_exchange(&groups[i], 0);
                if (group)
                        kill(-group, SIGKILL);
        }
        for (size_t i = 0; i < MOST; i++) {
                const char *path = atomic_exchange(&all[i], NULL);
                if (path)
                        remove_from(AT_FDCWD, path, 0);
        }
        errno = kept;
}

static void exit_cleanup_handle(int number)
{
        scratch_remove_all();
        _exit(128 + number);
}

void scratch_remove_on_signals(void)
{
        static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
        for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
                struct sigaction action = {.sa_handler = exit_cleanup_handle}, before;
                sigfillset(&action.sa_mask);
                if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
                        sigaction(signals[i], &action, NULL);
        }
}
