/*
 * See file_cache.h. Each process that uses the directory holds a shared lock on ".users". At its end it releases the
 * lock, then removes everything if no other process holds one. The release comes first, so that of several processes
 * that end together the last one sees no lock.
 */
#include "exec/app/file_cache.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/fs.h"
#include "exec/blocks/block_network.h"
#include "net/sha256.h"
#include "rpc/transfer/transfer.h"
#include "rpc/transfer/transfer.pb-c.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PART ((size_t)256 << 10)

struct file_cache {
        char *dir;
        int dir_fd, users_fd;
        const struct sha256_ops *sha256;
        struct transfer_client *client;
        pthread_mutex_t lock; /* protects `driver` */
        struct block_location driver;
};

void file_cache_set_driver(struct file_cache *c, const struct block_location *driver)
{
        pthread_mutex_lock(&c->lock);
        c->driver = *driver;
        pthread_mutex_unlock(&c->lock);
}

void file_hash_format(const uint8_t hash[static FILE_HASH_SIZE], char out[static 2 * FILE_HASH_SIZE + 1])
{
        for (int i = 0; i < FILE_HASH_SIZE; i++)
                sprintf(out + 2 * i, "%02x", hash[i]);
}

/* Opens @dir and its lock file. Returns 0, 1 if another process has just removed the directory, or negative. */
static int file_cache_join(const char *dir, int *dir_fd, int *users_fd, struct fst_error *error)
{
        struct stat st;
        if (mkdir(dir, 0700) < 0 && errno != EEXIST)
                return error_errno(error, "cannot make the directory %s", dir);
        int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return errno == ENOENT ? 1 : error_errno(error, "%s", dir);
        if (fstat(fd, &st) < 0 || st.st_uid != geteuid()) {
                close(fd);
                return error_set(error, -EPERM, "the directory %s belongs to another user", dir);
        }
        int users = openat(fd, ".users", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        int r = 0;
        if (users < 0 || flock(users, LOCK_SH) < 0 || fstat(users, &st) < 0)
                r = errno == ENOENT ? 1 : error_errno(error, "%s/.users", dir);
        else if (st.st_nlink == 0)
                r = 1;
        if (r) {
                close(fd);
                if (users >= 0)
                        close(users);
                return r;
        }
        *dir_fd = fd;
        *users_fd = users;
        return 0;
}

int file_cache_new(const char *dir, const struct sha256_ops *sha256, struct transfer_client *client,
                   const struct block_location *driver, struct file_cache **cache, struct fst_error *error)
{
        int fd = -1, users = -1, r;
        while ((r = file_cache_join(dir, &fd, &users, error)) > 0)
                ;
        if (r)
                return r;
        struct file_cache *c = new0(struct file_cache);
        *c = (struct file_cache){mem_strdup(dir), fd, users, sha256, client, PTHREAD_MUTEX_INITIALIZER, *driver};
        *cache = c;
        return 0;
}

static void remove_cache_files(struct file_cache *c)
{
        int fd = dup(c->dir_fd);
        DIR *dir = fd < 0 ? NULL : fdopendir(fd);
        for (struct dirent *e; dir && (e = readdir(dir));)
                if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
                        unlinkat(c->dir_fd, e->d_name, 0);
        if (dir)
                closedir(dir);
        rmdir(c->dir);
}

void file_cache_leave(struct file_cache *c)
{
        flock(c->users_fd, LOCK_UN);
        if (flock(c->users_fd, LOCK_EX | LOCK_NB) == 0)
                remove_cache_files(c);
}

void file_cache_free(struct file_cache *c)
{
        if (!c)
                return;
        file_cache_leave(c);
        close(c->users_fd);
        close(c->dir_fd);
        free(c->dir);
        free(c);
}

char *file_cache_dir(const char *local_dirs, const char *app_id)
{
        int first = (int)strcspn(local_dirs, ",");
        return mem_printf("%.*s/firesteel-files-%s-%u", first, local_dirs, app_id, (unsigned)geteuid());
}

void file_cache_sweep(const char *dir)
{
        struct file_cache *c = NULL;
        if (access(dir, F_OK) == 0 && file_cache_new(dir, NULL, NULL, &(struct block_location){0}, &c, NULL) == 0)
                file_cache_free(c);
}

/* ---------------------------------------------------------------------------------------------------- fetching */

static void request_file(const uint8_t *hash, struct buf *out)
{
        Firesteel__FetchFile fetch = FIRESTEEL__FETCH_FILE__INIT;
        Firesteel__TransferRequest request = FIRESTEEL__TRANSFER_REQUEST__INIT;
        fetch.sha256 = (ProtobufCBinaryData){FILE_HASH_SIZE, (uint8_t *)hash};
        request.what_case = FIRESTEEL__TRANSFER_REQUEST__WHAT_FETCH_FILE;
        request.fetch_file = &fetch;
        buf_reserve(out, firesteel__transfer_request__get_packed_size(&request));
        out->len = firesteel__transfer_request__pack(&request, (uint8_t *)out->data);
}

/* Copies @in to @fd and hashes it. *@size is the number of bytes, at most @expected. */
static int file_cache_receive(struct file_cache *c, struct transfer_input *in, int fd, uint64_t expected,
                              uint8_t hash[], struct fst_error *error)
{
        struct sha256 *sha = c->sha256->begin();
        unsigned char *part = mem_alloc(PART);
        uint64_t size = 0;
        int r = sha ? 0 : error_set(error, -ENOMEM, "no memory for a checksum");
        while (r == 0) {
                ssize_t n = transfer_read(in, part, PART, error);
                if (n == 0)
                        break;
                if (n < 0) {
                        r = (int)n;
                } else if (size + (uint64_t)n > expected) {
                        r = error_set(error, -EBADMSG, "the driver sent more than the file's %" PRIu64 " bytes",
                                      expected);
                } else {
                        size += (uint64_t)n;
                        c->sha256->add(sha, part, (size_t)n);
                        r = write_all(fd, part, (size_t)n);
                        if (r)
                                error_set(error, r, "writing: %s", strerror(-r));
                }
        }
        free(part);
        if (sha)
                c->sha256->end(sha, r ? NULL : hash);
        return r;
}

static int fetch_to(struct file_cache *c, const uint8_t *hash, uint64_t size, const char *name, const int *stopped,
                    struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf request = BUF_INIT;
        _cleanup_free_ char *part = mem_printf("%s.part", name);
        struct transfer_call call = {.stopped = stopped};
        struct transfer_input *in = NULL;
        uint8_t got[FILE_HASH_SIZE];
        int fd = openat(c->dir_fd, part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
                return error_errno(error, "%s/%s", c->dir, part);
        request_file(hash, &request);
        pthread_mutex_lock(&c->lock);
        const struct block_location driver = c->driver;
        pthread_mutex_unlock(&c->lock);
        int r = transfer_open(c->client, driver.host, driver.port, request.data, request.len, &call, &in, error);
        if (r == 0)
                r = file_cache_receive(c, in, fd, size, got, error);
        transfer_close(in);
        if (r == 0 && memcmp(got, hash, FILE_HASH_SIZE) != 0)
                r = error_set(error, -EBADMSG, "the received file has another checksum: it was changed or damaged");
        /* Modules are loaded from here: the file is executable by this user and not writable. */
        if (r == 0 && (fchmod(fd, 0500) < 0 || renameat(c->dir_fd, part, c->dir_fd, name) < 0))
                r = error_errno(error, "%s/%s", c->dir, name);
        if (close(fd) < 0 && r == 0)
                r = error_errno(error, "%s/%s", c->dir, name);
        if (r)
                unlinkat(c->dir_fd, part, 0);
        return r;
}

static bool file_cache_is_here(struct file_cache *c, const char *name)
{
        struct stat st;
        return fstatat(c->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

/* Waits for the lock that another process or thread holds while it fetches. */
static int wait_for_name_lock(struct file_cache *c, const char *name, const int *stopped, int *fd,
                              struct fst_error *error)
{
        _cleanup_free_ char *lock = mem_printf("%s.lock", name);
        int f = openat(c->dir_fd, lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (f < 0)
                return error_errno(error, "%s/%s", c->dir, lock);
        while (flock(f, LOCK_EX | LOCK_NB) < 0) {
                int r = errno == EWOULDBLOCK || errno == EINTR ? 0 : -errno;
                if (r == 0 && stopped && __atomic_load_n(stopped, __ATOMIC_RELAXED))
                        r = -ECANCELED;
                if (r) {
                        close(f);
                        return error_set(error, r, "waiting for %s/%s: %s", c->dir, lock, strerror(-r));
                }
                nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        }
        *fd = f;
        return 0;
}

int file_cache_get(struct file_cache *c, const uint8_t hash[static FILE_HASH_SIZE], uint64_t size, const int *stopped,
                   char **path, struct fst_error *error)
{
        char name[2 * FILE_HASH_SIZE + 1];
        int r = 0, lock = -1;
        file_hash_format(hash, name);
        if (!file_cache_is_here(c, name)) {
                r = wait_for_name_lock(c, name, stopped, &lock, error);
                if (r == 0 && !file_cache_is_here(c, name))
                        r = fetch_to(c, hash, size, name, stopped, error);
                if (lock >= 0)
                        close(lock);
        }
        if (r)
                return r;
        *path = mem_printf("%s/%s", c->dir, name);
        return 0;
}
