/*
 * See exit_cleanup.h. A signal handler walks the table. So each entry is one atomic pointer, owned by the code that
 * exchanges it for NULL, and nothing frees an entry that the handler has taken. Removal uses system calls only, because
 * the handler may have interrupted malloc or readdir.
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

#define MAX_PATHS 64
#define MAX_DEPTH 64 /* nested directories that a handler enters */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for adding and removing entries; handlers do not take it */
static _Atomic(char *) all[MAX_PATHS];
static _Atomic(pid_t) groups[MAX_PATHS];
static _Atomic(pid_t) owner; /* the process that registered them, not its forked children */

void exit_cleanup_add(const char *path)
{
        char *copy = mem_strdup(path);
        pthread_mutex_lock(&lock);
        atomic_store(&owner, getpid());
        for (size_t i = 0; copy && i < MAX_PATHS; i++) {
                char *none = NULL;
                if (atomic_compare_exchange_strong(&all[i], &none, copy))
                        copy = NULL;
        }
        pthread_mutex_unlock(&lock);
        free(copy);
}

void exit_cleanup_forget(const char *path)
{
        if (!path)
                return;
        pthread_mutex_lock(&lock);
        for (size_t i = 0; i < MAX_PATHS; i++) {
                const char *one = atomic_load(&all[i]);
                if (one && strcmp(one, path) == 0) {
                        free(atomic_exchange(&all[i], NULL));
                        break;
                }
        }
        pthread_mutex_unlock(&lock);
}

int exit_cleanup_make_directory(const char *prefix, char **path, struct fst_error *error)
{
        _cleanup_free_ char *name = mem_printf("%s-XXXXXX", prefix);
        sigset_t every, before;
        /* Signals are blocked until the directory is registered. */
        sigfillset(&every);
        pthread_sigmask(SIG_SETMASK, &every, &before);
        int r = mkdtemp(name) ? 0 : error_errno(error, "cannot create the directory %s", name);
        if (r == 0)
                exit_cleanup_add(name);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (r == 0)
                *path = steal(name);
        return r;
}

void exit_cleanup_remove(const char *path)
{
        remove_tree(path);
        exit_cleanup_forget(path);
}

static void exit_cleanup_replace_group(pid_t before, pid_t after)
{
        for (size_t i = 0; i < MAX_PATHS; i++) {
                pid_t expected = before;
                if (atomic_compare_exchange_strong(&groups[i], &expected, after))
                        return;
        }
}

void exit_cleanup_add_group(pid_t group)
{
        atomic_store(&owner, getpid());
        exit_cleanup_replace_group(0, group);
}

void exit_cleanup_forget_group(pid_t group)
{
        exit_cleanup_replace_group(group, 0);
}

/* ---------------------------------------------------------------------------------------------- within a handler */

/* The kernel's format of getdents64. */
struct directory_entry {
        uint64_t inode;
        int64_t offset;
        unsigned short length;
        unsigned char type;
        char name[];
};

static bool exit_cleanup_remove_at(int folder, const char *name, int depth);

/* Returns whether something was removed. A directory is read again until nothing is. */
static bool exit_cleanup_remove_entries(int fd, int depth)
{
        char block[1024] __attribute__((aligned(8)));
        bool removed = false;
        long n;
        while ((n = syscall(SYS_getdents64, fd, block, sizeof(block))) > 0) {
                for (long at = 0; at < n;) {
                        const struct directory_entry *e = (const struct directory_entry *)(block + at);
                        at += e->length;
                        if (strcmp(e->name, ".") == 0 || strcmp(e->name, "..") == 0)
                                continue;
                        removed |= exit_cleanup_remove_at(fd, e->name, depth);
                }
        }
        return removed;
}

static bool exit_cleanup_remove_at(int folder, const char *name, int depth)
{
        if (unlinkat(folder, name, 0) == 0)
                return true;
        if (errno == ENOENT || depth > MAX_DEPTH)
                return false;
        int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        while (fd >= 0 && exit_cleanup_remove_entries(fd, depth + 1))
                lseek(fd, 0, SEEK_SET);
        if (fd >= 0)
                close(fd);
        return unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

void exit_cleanup_run(void)
{
        int kept = errno;
        if (atomic_load(&owner) != getpid())
                return;
        for (size_t i = 0; i < MAX_PATHS; i++) {
                pid_t group = atomic_exchange(&groups[i], 0);
                if (group)
                        kill(-group, SIGKILL);
        }
        for (size_t i = 0; i < MAX_PATHS; i++) {
                const char *path = atomic_exchange(&all[i], NULL);
                if (path)
                        exit_cleanup_remove_at(AT_FDCWD, path, 0);
        }
        errno = kept;
}

static void exit_cleanup_handle(int number)
{
        exit_cleanup_run();
        _exit(128 + number);
}

void exit_cleanup_on_signals(void)
{
        static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
        for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
                struct sigaction action = {.sa_handler = exit_cleanup_handle}, before;
                sigfillset(&action.sa_mask);
                if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
                        sigaction(signals[i], &action, NULL);
        }
}
