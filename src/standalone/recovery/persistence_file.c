/* Recovery mode FILESYSTEM (persistence.h): a journal in a directory, and a lock on the directory.
 *
 * All file operations run in libuv's pool, one at a time: taking the lock and reading, an append with its fdatasync,
 * or writing a new journal beside the old one, which it then replaces. The loop keeps all current records as entries
 * (journal.h), so a new journal is written without reading the old one. That happens when half of the journal is out
 * of date, and when fsync has failed: the kernel may drop data that it could not write, so only rewriting everything
 * is safe then.
 *
 * A failed append (the disk is full) may leave a partial entry: the next append first truncates the file to its good
 * length.
 *
 * Invariants: the first `size` bytes of the journal are durable and complete. `batch` holds the following changes up to
 * `writing`, and `pending` later ones. While work is in progress (`working`) only it uses `fd`, `lock`,
 * `size` and `batch` and, when it reads, `live`.
 *
 * Departs from Spark, which has a file for each record, writes it in place without fsync, and elects every master.
 */
#include "base/error.h"
#include "base/list.h"
#include "base/log.h"
#include "base/fs.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "io/durable_file.h"
#include "standalone/recovery/journal.h"
#include "base/hash_table.h"
#include "standalone/recovery/persistence_internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_FILE "lock"
#define NEW_FILE "journal.new"
#define DAMAGED_FILE "journal.damaged"
#define LOCK_INTERVAL 500  /* ms between attempts to lock */
#define RETRY_INTERVAL 500 /* ms between attempts to write */
#define GARBAGE (1 << 20)  /* bytes of outdated entries that a journal may have beyond the size of its current ones */

struct current_record {
        enum master_record kind;
        char *id;
        struct buf entry;
        struct current_record *prev, *next; /* in the order of first storing */
};

enum journal_work { WORK_LEAD, WORK_APPEND, WORK_REWRITE };

struct file_mode {
        struct persistence *p;
        char *dir, *lock_path, *path, *new_path, *damaged_path;
        int lock, fd; /* -1: closed */
        off_t size;
        bool rewrite;      /* an append is not enough */
        bool keep_damaged; /* copy the old journal */
        bool told;         /* the log has the line that it stands by */
        struct object_table index;
        struct current_record *first, *last;
        size_t live_bytes;
        struct buf batch, pending;
        uint64_t writing; /* the last change in `batch` */
        enum journal_work what;
        bool working;
        int result;
        bool gone; /* set by the work: another master has the directory */
        struct fst_error error;
        char *leader; /* set by the work: holder of the lock */
        uv_work_t request;
        uv_timer_t timer;
};

/* ---------------------------------------------------------------------------------------------- current records */

struct live_key {
        enum master_record kind;
        const char *id;
};

static uint64_t persistence_file_key_hash(const struct live_key *key)
{
        return object_hash_text(key->id) ^ object_hash_number((uint64_t)key->kind + 1);
}

static bool persistence_file_has_key(const void *object, const void *key)
{
        const struct current_record *l = object;
        const struct live_key *k = key;
        return l->kind == k->kind && strcmp(l->id, k->id) == 0;
}

static void live_remove(struct file_mode *f, const struct live_key *key)
{
        uint64_t hash = persistence_file_key_hash(key);
        struct current_record *l = object_table_find(&f->index, hash, persistence_file_has_key, key);
        if (!l)
                return;
        object_table_remove(&f->index, hash, l);
        list_remove(f, l);
        f->live_bytes -= l->entry.len;
        buf_deinit(&l->entry);
        free(l->id);
        free(l);
}

static void live_store(struct file_mode *f, const struct live_key *key, const struct buf *entry)
{
        uint64_t hash = persistence_file_key_hash(key);
        struct current_record *l = object_table_find(&f->index, hash, persistence_file_has_key, key);
        if (!l) {
                l = new0(struct current_record);
                l->kind = key->kind;
                l->id = mem_strdup(key->id);
                list_append(f, l);
                object_table_put(&f->index, hash, l);
        }
        f->live_bytes += entry->len - l->entry.len;
        buf_deinit(&l->entry);
        buf_append(&l->entry, entry->data, entry->len);
}

/* ---------------------------------------------------------------------------------------------- work in the pool */

static int persistence_file_write(int fd, const char *data, size_t n, off_t at)
{
        return durable_file_write(fd, &(struct iovec){(char *)data, n}, 1, at);
}

static bool persistence_file_same_file(int fd, const char *path)
{
        struct stat a, b;
        return fstat(fd, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static char *persistence_file_read_text(int fd)
{
        char text[1024];
        ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
        text[n > 0 ? n : 0] = '\0';
        return mem_strndup(text, strcspn(text, "\n"));
}

/* Returns 0, or -EWOULDBLOCK if another process has the lock. */
static int take_lock(struct file_mode *f)
{
        for (;;) {
                int fd = open(f->lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
                if (fd < 0)
                        return error_errno(&f->error, "cannot open %s", f->lock_path);
                if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
                        int r = errno == EWOULDBLOCK ? -EWOULDBLOCK
                                                     : error_errno(&f->error, "cannot lock %s", f->lock_path);
                        free(f->leader);
                        f->leader = r == -EWOULDBLOCK ? persistence_file_read_text(fd) : NULL;
                        close(fd);
                        return r;
                }
                if (persistence_file_same_file(fd, f->lock_path)) {
                        char host[256] = "";
                        gethostname(host, sizeof(host) - 1);
                        _cleanup_free_ char *line =
                                mem_printf("%s, process %d on %s\n", f->p->name, (int)getpid(), host);
                        /* For operators: a failure to write the name is harmless. */
                        if (ftruncate(fd, 0) < 0 || persistence_file_write(fd, line, strlen(line), 0) < 0)
                                log_debug(PERSISTENCE_LOG, "cannot write %s", f->lock_path);
                        f->lock = fd;
                        return 0;
                }
                close(fd); /* removed meanwhile */
        }
}

static void persistence_file_on_entry(void *context, enum master_record kind, const char *id, const void *data,
                                      size_t size)
{
        struct file_mode *f = context;
        struct live_key key = {kind, id};
        if (!data) {
                live_remove(f, &key);
                return;
        }
        _cleanup_(buf_deinit) struct buf entry = BUF_INIT;
        if (journal_put_store(&entry, &f->p->codec, kind, id, data, size) == 0)
                live_store(f, &key, &entry);
}

static void on_damaged(void *context, const char *message, bool cut_off)
{
        struct file_mode *f = context;
        log_warn(PERSISTENCE_LOG, "%s", message);
        f->rewrite = true;
        f->keep_damaged = f->keep_damaged || !cut_off;
}

static int read_journal(struct file_mode *f)
{
        const struct journal_reader reader = {.entry = persistence_file_on_entry, .damaged = on_damaged, .context = f};
        struct stat st;
        f->fd = open(f->path, O_RDWR | O_CLOEXEC);
        if (f->fd < 0 && errno == ENOENT) {
                f->rewrite = true; /* no journal exists yet */
                return 0;
        }
        if (f->fd < 0 || fstat(f->fd, &st) < 0)
                return error_errno(&f->error, "cannot open %s", f->path);
        _cleanup_free_ char *bytes = malloc(st.st_size ? (size_t)st.st_size : 1);
        if (!bytes)
                return error_set(&f->error, -ENOMEM, "no memory for the %lld bytes of %s", (long long)st.st_size,
                                 f->path);
        size_t n = 0;
        while (n < (size_t)st.st_size) {
                ssize_t got = pread(f->fd, bytes + n, (size_t)st.st_size - n, (off_t)n);
                if (got < 0 && errno == EINTR)
                        continue;
                if (got < 0)
                        return error_errno(&f->error, "cannot read %s", f->path);
                if (got == 0)
                        break;
                n += (size_t)got;
        }
        int64_t end = journal_read(bytes, n, f->path, &reader, &f->error);
        if (end < 0)
                return error_wrap(
                        &f->error, (int)end,
                        "the master does not start with it and leaves it unchanged: move it away or set another "
                        "spark.deploy.recoveryDirectory");
        f->size = end;
        f->rewrite = f->rewrite || end == 0;
        return 0;
}

/* Warns about Spark's own records: a file for each. */
static void warn_about_spark_records(struct file_mode *f)
{
        int n = 0;
        DIR *dir = opendir(f->dir);
        for (struct dirent *e; dir && (e = readdir(dir));)
                n += strncmp(e->d_name, "app_", 4) == 0 || strncmp(e->d_name, "driver_", 7) == 0 ||
                     strncmp(e->d_name, "worker_", 7) == 0;
        if (dir)
                closedir(dir);
        if (n > 0)
                log_warn(PERSISTENCE_LOG,
                         "%s holds %d records of a master of Apache Spark, which are Java objects: they are not read",
                         f->dir, n);
}

static int persistence_file_lead(struct file_mode *f)
{
        int r = take_lock(f);
        if (r < 0)
                return r;
        warn_about_spark_records(f);
        return read_journal(f);
}

static int persistence_file_append(struct file_mode *f)
{
        struct stat st;
        if (fstat(f->fd, &st) < 0 || (st.st_size != f->size && ftruncate(f->fd, f->size) < 0))
                return error_errno(&f->error, "cannot truncate %s to its valid part", f->path);
        int r = persistence_file_write(f->fd, f->batch.data, f->batch.len, f->size);
        if (r < 0)
                return error_set(&f->error, r, "cannot write recovery records to %s: %s", f->path, strerror(-r));
        if (durable_file_calls->fdatasync(f->fd) < 0) {
                f->rewrite = true;
                return error_errno(&f->error, "cannot write recovery records to %s (fdatasync)", f->path);
        }
        f->size += (off_t)f->batch.len;
        return 0;
}

/* The batch is a whole new journal. */
static int persistence_file_rewrite(struct file_mode *f)
{
        int fd = open(f->new_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        int r = fd < 0 ? -errno : persistence_file_write(fd, f->batch.data, f->batch.len, 0);
        if (r == 0 && durable_file_calls->fsync(fd) < 0)
                r = -errno;
        if (r == 0 && f->keep_damaged) {
                unlink(f->damaged_path);
                if (link(f->path, f->damaged_path) == 0)
                        log_warn(PERSISTENCE_LOG, "Saved the damaged journal as %s", f->damaged_path);
        }
        if (r == 0 && durable_file_calls->rename(f->new_path, f->path) < 0)
                r = -errno;
        if (r == 0)
                r = durable_file_sync_directory(f->dir);
        if (r < 0) {
                if (fd >= 0)
                        close(fd);
                unlink(f->new_path);
                return error_set(&f->error, r, "cannot write recovery records to %s: %s", f->new_path, strerror(-r));
        }
        if (f->fd >= 0)
                close(f->fd);
        f->fd = fd;
        f->size = (off_t)f->batch.len;
        f->rewrite = f->keep_damaged = false;
        return 0;
}

static void persistence_file_work(uv_work_t *request)
{
        struct file_mode *f = container_of(request, struct file_mode, request);
        if (f->what == WORK_LEAD) {
                f->result = persistence_file_lead(f);
                return;
        }
        f->gone = !persistence_file_same_file(f->lock, f->lock_path);
        if (f->gone) {
                f->result = -ESTALE;
                return;
        }
        if (f->what == WORK_APPEND && !persistence_file_same_file(f->fd, f->path)) {
                f->rewrite = true; /* the file was removed */
                f->result = error_set(&f->error, -ESTALE, "%s was removed or replaced", f->path);
                return;
        }
        f->result = f->what == WORK_APPEND ? persistence_file_append(f) : persistence_file_rewrite(f);
}

/* -------------------------------------------------------------------------------------------------- on the loop */

static void persistence_file_worked(uv_work_t *request, int status);

static void persistence_file_start(struct file_mode *f, enum journal_work what)
{
        f->what = what;
        f->working = true;
        f->gone = false;
        error_deinit(&f->error);
        uv_queue_work(f->p->loop, &f->request, persistence_file_work, persistence_file_worked);
}

/* Copies the content of an entry. */
static void persistence_file_collect(void *context, enum master_record kind, const char *id, const void *data,
                                     size_t size)
{
        struct persistence_record *record = context;
        void *copy = mem_alloc(size ? size : 1);
        memcpy(copy, data, size);
        record->data = copy;
        record->size = size;
}

static void persistence_file_elected(struct file_mode *f)
{
        VEC(struct persistence_record) records = {0};
        for (struct current_record *l = f->first; l; l = l->next) {
                struct persistence_record record = {.kind = l->kind, .id = l->id};
                const struct journal_reader reader = {.entry = persistence_file_collect, .context = &record};
                if (journal_read_one(l->entry.data, l->entry.len, l->id, &reader, NULL) == 0)
                        vec_push(&records, record);
        }
        log_info(PERSISTENCE_LOG, "%zu records were recovered from %s", records.len, f->path);
        persistence_elected(f->p, records.data, records.len);
        for (size_t i = 0; i < records.len; i++)
                free((void *)records.data[i].data);
        vec_deinit(&records);
}

static void try_to_lead(uv_timer_t *timer)
{
        persistence_file_start(timer->data, WORK_LEAD);
}

static void write_again(uv_timer_t *timer)
{
        struct file_mode *f = timer->data;
        f->p->mode->write(f->p);
}

static void persistence_file_timer_closed(uv_handle_t *handle)
{
        struct file_mode *f = handle->data;
        struct persistence *p = f->p;
        if (f->fd >= 0)
                close(f->fd);
        if (f->lock >= 0)
                close(f->lock);
        while (f->first)
                live_remove(f, &(struct live_key){f->first->kind, f->first->id});
        object_table_deinit(&f->index);
        buf_deinit(&f->batch);
        buf_deinit(&f->pending);
        error_deinit(&f->error);
        free(f->leader);
        free(f->dir);
        free(f->lock_path);
        free(f->path);
        free(f->new_path);
        free(f->damaged_path);
        free(f);
        persistence_closed(p);
}

static void persistence_file_led(struct file_mode *f)
{
        if (f->result == 0) {
                persistence_file_elected(f);
                return;
        }
        if (f->result != -EWOULDBLOCK) {
                persistence_failed(f->p, error_message(&f->error));
                return;
        }
        if (!f->told)
                log_info(PERSISTENCE_LOG, "Standing by: %s is locked by the master that leads (%s)", f->dir,
                         f->leader && *f->leader ? f->leader : "unknown");
        f->told = true;
        uv_timer_start(&f->timer, try_to_lead, LOCK_INTERVAL, 0);
}

static void persistence_file_written(struct file_mode *f)
{
        struct persistence *p = f->p;
        if (f->result == 0) {
                buf_reset(&f->batch);
                persistence_set_trouble(p, NULL);
                persistence_is_durable(p, f->writing);
                return;
        }
        if (f->gone) {
                _cleanup_free_ char *why =
                        mem_printf("%s was removed or replaced, and another master may lead", f->dir);
                persistence_revoked(p, why);
                return;
        }
        persistence_set_trouble(p, error_message(&f->error));
        uv_timer_start(&f->timer, write_again, RETRY_INTERVAL, 0);
}

static void persistence_file_finish(struct file_mode *f)
{
        uv_close((uv_handle_t *)&f->timer, persistence_file_timer_closed);
}

static void persistence_file_worked(uv_work_t *request, int status)
{
        struct file_mode *f = container_of(request, struct file_mode, request);
        struct persistence *p = f->p;
        f->working = false;
        if (!p->closing) {
                if (f->what == WORK_LEAD)
                        persistence_file_led(f);
                else
                        persistence_file_written(f);
                return;
        }
        if (f->what != WORK_LEAD) {
                if (f->result < 0)
                        log_error(PERSISTENCE_LOG, "The last recovery records are lost: %s", error_message(&f->error));
                else
                        p->durable = f->writing;
        }
        if (f->what != WORK_LEAD && f->result == 0 && p->durable < p->changed)
                p->mode->write(p);
        else
                persistence_file_finish(f);
}

static void file_change(struct persistence *p, enum master_record kind, const char *id, const struct buf *entry)
{
        struct file_mode *f = p->data;
        struct live_key key = {kind, id};
        if (entry) {
                live_store(f, &key, entry);
                buf_append(&f->pending, entry->data, entry->len);
        } else {
                live_remove(f, &key);
                journal_put_remove(&f->pending, kind, id);
        }
}

static void file_write(struct persistence *p)
{
        struct file_mode *f = p->data;
        if (f->working || (uv_is_active((uv_handle_t *)&f->timer) && !p->closing))
                return;
        uv_timer_stop(&f->timer);
        f->writing = p->changed;
        size_t after = (size_t)f->size + f->batch.len + f->pending.len;
        if (!f->rewrite && after <= 2 * f->live_bytes + GARBAGE) {
                buf_append(&f->batch, f->pending.data, f->pending.len);
                buf_reset(&f->pending);
                persistence_file_start(f, WORK_APPEND);
                return;
        }
        buf_deinit(&f->pending);
        buf_deinit(&f->batch);
        buf_reserve(&f->batch, strlen(JOURNAL_BEGINNING) + f->live_bytes);
        buf_puts(&f->batch, JOURNAL_BEGINNING);
        for (struct current_record *l = f->first; l; l = l->next)
                buf_append(&f->batch, l->entry.data, l->entry.len);
        persistence_file_start(f, WORK_REWRITE);
}

static void persistence_file_file_close(struct persistence *p)
{
        struct file_mode *f = p->data;
        if (f->working)
                return; /* continues in `worked` */
        if (p->leads && p->durable < p->changed)
                file_write(p);
        else
                persistence_file_finish(f);
}

static int persistence_file_read_codec(struct persistence *p, const struct fst_conf *conf, struct fst_error *error)
{
        const char *key = "spark.deploy.recoveryCompressionCodec";
        _cleanup_free_ char *name = NULL;
        int r = conf_get_string(conf, key, &name, error);
        if (r < 0 || !name)
                return r;
        if (codec_parse(name, &p->codec.kind, NULL) < 0)
                return error_set(error, -EINVAL, "%s is %s: it can be none, lz4 or zstd", key, name);
        return 0;
}

static int file_open(struct persistence *p, const struct fst_conf *conf, struct fst_error *error)
{
        _cleanup_free_ char *dir = NULL;
        int r = conf_get_string(conf, "spark.deploy.recoveryDirectory", &dir, error);
        if (r == 0 && !*dir)
                r = error_set(error, -EINVAL,
                              "spark.deploy.recoveryMode is FILESYSTEM: set spark.deploy.recoveryDirectory to a "
                              "directory for the records");
        if (r == 0)
                r = persistence_file_read_codec(p, conf, error);
        if (r == 0 && (r = make_dirs(dir, 0700)))
                error_set(error, r, "cannot make %s for spark.deploy.recoveryDirectory: %s", dir, strerror(-r));
        if (r == 0 && access(dir, R_OK | W_OK | X_OK) < 0)
                r = error_errno(error, "cannot write to %s, which is spark.deploy.recoveryDirectory", dir);
        if (r < 0)
                return r;
        /* A write beyond the process's file size limit must fail like one on a full disk instead of ending the
         * process.
         */
        signal(SIGXFSZ, SIG_IGN);
        struct file_mode *f = new0(struct file_mode);
        f->p = p;
        f->dir = steal(dir);
        f->lock_path = mem_printf("%s/%s", f->dir, LOCK_FILE);
        f->path = mem_printf("%s/%s", f->dir, JOURNAL_FILE);
        f->new_path = mem_printf("%s/%s", f->dir, NEW_FILE);
        f->damaged_path = mem_printf("%s/%s", f->dir, DAMAGED_FILE);
        f->lock = f->fd = -1;
        p->data = f;
        uv_timer_init(p->loop, &f->timer);
        f->timer.data = f;
        log_info(PERSISTENCE_LOG, "Persisting recovery state to directory: %s", f->dir);
        persistence_file_start(f, WORK_LEAD);
        return 0;
}

const struct persistence_mode persistence_file = {
        .open = file_open,
        .change = file_change,
        .write = file_write,
        .close = persistence_file_file_close,
};
