/* See persistence.h: the keys, pending commits, and recovery mode NONE.
 *
 * Departs from Spark: an unknown recoveryMode is refused (Spark treats it as NONE, so a typo would discard recovery
 * state). CUSTOM needs a Java class and is refused. ROCKSDB means FILESYSTEM.
 */
#include "standalone/recovery/persistence_internal.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "standalone/recovery/journal.h"

#include <strings.h>

/* ------------------------------------------------------------------------------------------------ for the modes */

void persistence_elected(struct persistence *p, const struct persistence_record *records, size_t n)
{
        if (p->closing || p->over)
                return;
        p->leads = true;
        p->ops->elected(p->owner, records, n);
}

static void end_leading(struct persistence *p)
{
        p->leads = false;
        p->over = true;
        p->commits.len = p->first_commit = 0;
}

void persistence_revoked(struct persistence *p, const char *why)
{
        if (p->over)
                return;
        end_leading(p);
        if (!p->closing)
                p->ops->revoked(p->owner, why);
}

void persistence_failed(struct persistence *p, const char *message)
{
        if (p->over)
                return;
        end_leading(p);
        if (!p->closing)
                p->ops->failed(p->owner, message);
}

void persistence_is_durable(struct persistence *p, uint64_t change)
{
        p->durable = change;
        while (p->first_commit < p->commits.len && p->commits.data[p->first_commit].change <= change) {
                struct waiting_commit c = p->commits.data[p->first_commit++];
                if (p->first_commit == p->commits.len)
                        p->first_commit = p->commits.len = 0;
                c.done(c.context);
        }
        if (p->commits.len > 0)
                p->mode->write(p);
}

void persistence_set_trouble(struct persistence *p, const char *why)
{
        if (why && !p->trouble)
                log_warn(PERSISTENCE_LOG,
                         "%s; trying again until it works, nothing new is launched or registered "
                         "meanwhile",
                         why);
        else if (!why && p->trouble)
                log_warn(PERSISTENCE_LOG, "Recovery records are written again");
        free(p->trouble);
        p->trouble = why ? mem_strdup(why) : NULL;
}

void persistence_closed(struct persistence *p)
{
        void (*closed)(void *) = p->closed;
        void *owner = p->closed_owner;
        codec_deinit(&p->codec);
        buf_deinit(&p->entry);
        vec_deinit(&p->commits);
        free(p->trouble);
        free(p->name);
        free(p);
        if (closed)
                closed(owner);
}

/* ------------------------------------------------------------------------------------------------- mode NONE */

/* Elected in the next loop iteration. */
static void none_due(uv_timer_t *timer)
{
        persistence_elected(timer->data, NULL, 0);
}

static int none_open(struct persistence *p, const struct fst_conf *conf, struct fst_error *error)
{
        uv_timer_t *timer = new0(uv_timer_t);
        p->data = timer;
        timer->data = p;
        uv_timer_init(p->loop, timer);
        uv_timer_start(timer, none_due, 0, 0);
        return 0;
}

static void none_change(struct persistence *p, enum master_record kind, const char *id, const struct buf *entry)
{
        p->durable = p->changed;
}

static void none_write(struct persistence *p)
{
}

static void none_closed(uv_handle_t *handle)
{
        struct persistence *p = handle->data;
        free(handle);
        persistence_closed(p);
}

static void none_close(struct persistence *p)
{
        uv_close(p->data, none_closed);
}

const struct persistence_mode persistence_none = {
        .open = none_open,
        .change = none_change,
        .write = none_write,
        .close = none_close,
};

/* ------------------------------------------------------------------------------------------------ for the owner */

static int mode_of(const struct fst_conf *conf, const struct persistence_mode **mode, struct fst_error *error)
{
        _cleanup_free_ char *name = NULL, *factory = NULL;
        int r = conf_get_string(conf, "spark.deploy.recoveryMode", &name, error);
        if (r < 0)
                return r;
        if (strcasecmp(name, "NONE") == 0)
                *mode = &persistence_none;
        else if (strcasecmp(name, "FILESYSTEM") == 0)
                *mode = &persistence_file;
        else if (strcasecmp(name, "ROCKSDB") == 0) {
                log_warn(PERSISTENCE_LOG, "spark.deploy.recoveryMode is ROCKSDB: Firesteel has no RocksDB and keeps "
                                          "the records in a journal, as with FILESYSTEM");
                *mode = &persistence_file;
        } else if (strcasecmp(name, "ZOOKEEPER") == 0)
                *mode = &persistence_zookeeper;
        else if (strcasecmp(name, "CUSTOM") == 0) {
                r = conf_get_string(conf, "spark.deploy.recoveryMode.factory", &factory, error);
                if (r < 0)
                        return r;
                return error_set(error, -EINVAL,
                                 "spark.deploy.recoveryMode is CUSTOM, but the class %s of "
                                 "spark.deploy.recoveryMode.factory is Java's, which Firesteel does not run: set it to "
                                 "FILESYSTEM or ZOOKEEPER",
                                 *factory ? factory : "(none)");
        } else
                return error_set(error, -EINVAL,
                                 "spark.deploy.recoveryMode is %s: it can be NONE, FILESYSTEM or ZOOKEEPER", name);
        return 0;
}

int persistence_open(uv_loop_t *loop, const struct fst_conf *conf, const char *name, const struct persistence_ops *ops,
                     void *owner, struct persistence **out, struct fst_error *error)
{
        const struct persistence_mode *mode = NULL;
        int r = mode_of(conf, &mode, error);
        if (r < 0)
                return r;
        struct persistence *p = new0(struct persistence);
        p->loop = loop;
        p->mode = mode;
        p->ops = ops;
        p->owner = owner;
        p->name = mem_strdup(name);
        codec_init(&p->codec, CODEC_NONE, 1);
        r = mode->open(p, conf, error);
        if (r < 0) {
                persistence_closed(p);
                return r;
        }
        *out = p;
        return 0;
}

bool persistence_leads(const struct persistence *p)
{
        return p->leads;
}

static bool takes_changes(const struct persistence *p)
{
        return p->leads && !p->closing && p->mode != &persistence_none;
}

void persistence_store(struct persistence *p, enum master_record kind, const char *id, const void *data, size_t size)
{
        if (!takes_changes(p))
                return;
        buf_reset(&p->entry);
        if (journal_put_store(&p->entry, &p->codec, kind, id, data, size) < 0) {
                log_error(PERSISTENCE_LOG, "%s %s cannot be recovered: its record of %zu bytes is too large",
                          journal_kind_name(kind), id, size);
                return;
        }
        p->changed++;
        p->mode->change(p, kind, id, &p->entry);
}

void persistence_remove(struct persistence *p, enum master_record kind, const char *id)
{
        if (!takes_changes(p))
                return;
        p->changed++;
        p->mode->change(p, kind, id, NULL);
}

bool persistence_commit(struct persistence *p, void (*done)(void *context), void *context)
{
        if (p->over || p->closing)
                return false;
        if (p->durable == p->changed && p->commits.len == 0)
                return true;
        if (p->first_commit > p->commits.len / 2) {
                p->commits.len -= p->first_commit;
                memmove(p->commits.data, p->commits.data + p->first_commit, p->commits.len * sizeof(*p->commits.data));
                p->first_commit = 0;
        }
        vec_push(&p->commits, (struct waiting_commit){.change = p->changed, .done = done, .context = context});
        p->mode->write(p);
        return false;
}

const char *persistence_trouble(const struct persistence *p)
{
        return p->trouble;
}

void persistence_close(struct persistence *p, void (*closed)(void *owner), void *owner)
{
        if (!p || p->closing)
                return;
        p->closing = true;
        p->commits.len = p->first_commit = 0;
        p->closed = closed;
        p->closed_owner = owner;
        p->mode->close(p);
}
