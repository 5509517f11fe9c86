/* Recovery mode ZOOKEEPER (persistence.h): leader_latch.h elects the leader, and each record is a node
 *
 *      <dir>/master_status/app_<id>, driver_<id>, worker_<id>, framework_<id>
 *
 * as in Spark, with one entry of a journal (journal.h) as its data, packed with lz4. In the name, characters other
 * than letters, digits and -._:@ are written %XX. The entry holds the id itself.
 *
 * A new leader reads all nodes in the order of their creation. Changes are written in batches, one at a time. Each
 * batch is a transaction that first checks that this master's election node exists: either a leader applies the whole
 * batch, or nothing happens. If the connection is lost and the result is unknown, the batch is sent again with the
 * changes that have arrived meanwhile. If a node then exists, or is missing, unexpectedly, the batch is rebuilt
 * accordingly, with the same final state. Only a node that such a batch may have created needs a step to remove it.
 *
 * Departs from Spark: its records are Java objects, so neither reads the other's (ours are named and left; Spark
 * removes records that it cannot read). A connection that is restored in time does not cost leadership.
 */
#include "standalone/recovery/persistence_zookeeper.h"

#include "base/error.h"
#include "base/list.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "standalone/recovery/journal.h"
#include "standalone/recovery/leader_latch.h"
#include "base/hash_table.h"
#include "standalone/recovery/persistence_internal.h"

#include <ctype.h>
#include <string.h>

#define BATCH_STEPS 128
#define BATCH_BYTES (400 << 10)
#define READS 256 /* nodes read at once */
#define RETRY 1000

const struct zookeeper_ops *persistence_zookeeper_module;

struct record_change {
        uint64_t number;
        char *path;       /* NULL: nothing to do */
        struct buf entry; /* empty: remove */
};

/* Whether a node exists. */
enum presence { ABSENT, PERHAPS, THERE };

/* A node that exists or may exist. */
struct known {
        char *path;
        enum presence presence;
        struct known *prev, *next;
};

/* A node that is being read. */
struct record_node {
        struct zookeeper_mode *mode;
        char *path;
        int64_t created;
        struct buf data;
        bool there;
};

struct zookeeper_mode {
        struct persistence *p;
        struct leader_latch *latch;
        char *status;
        struct zookeeper *z; /* while this master leads */
        const char *election_node;
        bool connected;
        bool told; /* the owner was notified that it leads */

        /* Reading, until the owner is notified. */
        struct record_node *nodes;
        size_t n_nodes, n_asked, n_unanswered;
        bool reading, read_again;

        /* Writing. */
        struct object_table index;
        LIST(struct known) known;
        VEC(struct record_change) changes;
        size_t in_batch;   /* the first changes; 0: no batch in progress */
        VEC(size_t) batch; /* those that take effect, the last one of each path, in the order of steps */
        int tries;
        uv_timer_t timer;
};

static void send_batch(struct zookeeper_mode *m);
static void read_status(struct zookeeper_mode *m);
static void persistence_zookeeper_finish(struct zookeeper_mode *m);

/* ------------------------------------------------------------------------------------------------ existing nodes */

static bool has_path(const void *object, const void *path)
{
        return strcmp(((const struct known *)object)->path, path) == 0;
}

static enum presence presence_of(const struct zookeeper_mode *m, const char *path)
{
        const struct known *k = object_table_find(&m->index, object_hash_text(path), has_path, path);
        return k ? k->presence : ABSENT;
}

static void set_presence(struct zookeeper_mode *m, const char *path, enum presence presence)
{
        uint64_t hash = object_hash_text(path);
        struct known *k = object_table_find(&m->index, hash, has_path, path);
        if (presence != ABSENT && !k) {
                k = new0(struct known);
                k->path = mem_strdup(path);
                list_prepend(&m->known, k);
                object_table_put(&m->index, hash, k);
        } else if (presence == ABSENT && k) {
                object_table_remove(&m->index, hash, k);
                list_remove(&m->known, k);
                free(k->path);
                free(k);
                return;
        }
        if (k)
                k->presence = presence;
}

static char *persistence_zookeeper_path_of(const struct zookeeper_mode *m, enum master_record kind, const char *id)
{
        struct buf path = BUF_INIT;
        buf_printf(&path, "%s/%s_", m->status, journal_kind_name(kind));
        for (const char *c = id; *c; c++) {
                if (((unsigned char)*c < 128 && isalnum((unsigned char)*c)) || strchr("-._:@", *c))
                        buf_putc(&path, *c);
                else
                        buf_printf(&path, "%%%02X", (unsigned char)*c);
        }
        return buf_steal(&path);
}

/* ------------------------------------------------------------------------------------------------------ reading */

static void forget_nodes(struct zookeeper_mode *m)
{
        for (size_t i = 0; i < m->n_nodes; i++) {
                free(m->nodes[i].path);
                buf_deinit(&m->nodes[i].data);
        }
        free(m->nodes);
        m->nodes = NULL;
        m->n_nodes = m->n_asked = m->n_unanswered = 0;
}

static int by_age(const void *a, const void *b)
{
        const struct record_node *x = a, *y = b;
        return x->created != y->created ? (x->created < y->created ? -1 : 1) : strcmp(x->path, y->path);
}

struct read_record {
        struct zookeeper_mode *mode;
        const char *path;
        struct persistence_record record; /* owns id and data */
        bool fits;
};

static void persistence_zookeeper_on_entry(void *context, enum master_record kind, const char *id, const void *data,
                                           size_t size)
{
        struct read_record *t = context;
        _cleanup_free_ char *path = persistence_zookeeper_path_of(t->mode, kind, id);
        t->fits = strcmp(path, t->path) == 0;
        if (!t->fits)
                return;
        void *copy = mem_alloc(MAX(size, (size_t)1));
        t->record = (struct persistence_record){
                .kind = kind, .id = mem_strdup(id), .data = memcpy(copy, data, size), .size = size};
}

/* All nodes were read. */
static void persistence_zookeeper_elected(struct zookeeper_mode *m)
{
        VEC(struct persistence_record) records = {0};
        qsort(m->nodes, m->n_nodes, sizeof(*m->nodes), by_age);
        for (size_t i = 0; i < m->n_nodes; i++) {
                const struct record_node *n = &m->nodes[i];
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                struct read_record taken = {.mode = m, .path = n->path};
                const struct journal_reader reader = {.entry = persistence_zookeeper_on_entry, .context = &taken};
                if (!n->there)
                        continue;
                set_presence(m, n->path, THERE);
                int r = journal_read_one(buf_text(&n->data), n->data.len, n->path, &reader, &error);
                if (r == 0 && !taken.fits)
                        error_set(&error, -EBADMSG, "%s is the record of another object", n->path);
                if (r == 0 && taken.fits)
                        vec_push(&records, taken.record);
                else
                        log_warn(PERSISTENCE_LOG, "%s; skipped and left in place", error_message(&error));
        }
        forget_nodes(m);
        m->reading = false;
        m->told = true;
        log_info(PERSISTENCE_LOG, "%zu records were recovered from %s", records.len, m->status);
        persistence_elected(m->p, records.data, records.len);
        for (size_t i = 0; i < records.len; i++) {
                free((char *)records.data[i].id);
                free((void *)records.data[i].data);
        }
        vec_deinit(&records);
}

static void read_on(struct zookeeper_mode *m);

static void persistence_zookeeper_on_node(void *context, const struct zookeeper_answer *answer)
{
        struct record_node *n = context;
        struct zookeeper_mode *m = n->mode;
        m->n_unanswered--;
        if (answer->code == ZOOKEEPER_OK) {
                n->there = true;
                n->created = answer->created;
                buf_append(&n->data, answer->data, answer->size);
        } else if (answer->code == ZOOKEEPER_NO_RIGHTS)
                log_warn(PERSISTENCE_LOG, "ZooKeeper denies access to %s: skipped", n->path);
        else if (answer->code != ZOOKEEPER_NO_NODE)
                m->read_again = true;
        read_on(m);
}

static void persistence_zookeeper_on_timer(uv_timer_t *timer)
{
        struct zookeeper_mode *m = timer->data;
        if (m->reading && m->read_again && m->n_unanswered == 0 && m->connected)
                read_status(m);
        else
                send_batch(m);
}

/* Reads more nodes, finishes, or restarts after a reconnect. */
static void read_on(struct zookeeper_mode *m)
{
        while (!m->read_again && m->n_asked < m->n_nodes && m->n_unanswered < READS) {
                m->n_unanswered++;
                struct record_node *n = &m->nodes[m->n_asked++];
                zk_get(m->z, n->path, persistence_zookeeper_on_node, n);
        }
        if (m->n_unanswered > 0)
                return;
        if (!m->read_again)
                persistence_zookeeper_elected(m);
        else if (m->connected)
                uv_timer_start(&m->timer, persistence_zookeeper_on_timer, RETRY, 0);
}

static bool is_record(const char *name)
{
        for (int kind = MASTER_RECORD_APP; kind <= MASTER_RECORD_FRAMEWORK; kind++) {
                const char *prefix = journal_kind_name((enum master_record)kind);
                if (strncmp(name, prefix, strlen(prefix)) == 0 && name[strlen(prefix)] == '_')
                        return true;
        }
        return false;
}

static void on_names(void *context, const struct zookeeper_answer *answer)
{
        struct zookeeper_mode *m = context;
        m->n_unanswered--;
        m->read_again = answer->code != ZOOKEEPER_OK;
        if (answer->code == ZOOKEEPER_NO_RIGHTS || answer->code == ZOOKEEPER_FAILED)
                log_warn(PERSISTENCE_LOG, "Cannot read %s, trying again: %s", m->status, answer->text);
        if (!m->read_again) {
                m->nodes = new_array(struct record_node, answer->n_children + 1);
                for (size_t i = 0; i < answer->n_children; i++) {
                        if (!is_record(answer->children[i]))
                                continue;
                        m->nodes[m->n_nodes].mode = m;
                        m->nodes[m->n_nodes++].path = mem_printf("%s/%s", m->status, answer->children[i]);
                }
        }
        read_on(m);
}

static void read_status(struct zookeeper_mode *m)
{
        forget_nodes(m);
        m->reading = true;
        m->read_again = false;
        m->n_unanswered = 1;
        zk_children(m->z, m->status, on_names, m);
}

/* ------------------------------------------------------------------------------------------------------ writing */

static void drop_changes(struct zookeeper_mode *m, size_t n)
{
        if (n == 0)
                return;
        for (size_t i = 0; i < n; i++) {
                free(m->changes.data[i].path);
                buf_deinit(&m->changes.data[i].entry);
        }
        m->changes.len -= n;
        memmove(m->changes.data, m->changes.data + n, m->changes.len * sizeof(*m->changes.data));
}

static void persistence_zookeeper_try_again(struct zookeeper_mode *m, const char *why, const char *text)
{
        _cleanup_free_ char *trouble =
                mem_printf("cannot write recovery records to ZooKeeper's %s: %s%s", m->status, why, text);
        if (!m->p->closing)
                persistence_set_trouble(m->p, trouble);
        else
                log_error(PERSISTENCE_LOG, "The last recovery records are lost: %s", trouble);
        if (m->p->closing)
                persistence_zookeeper_finish(m);
        else if (m->connected)
                uv_timer_start(&m->timer, persistence_zookeeper_on_timer, RETRY, 0);
}

/* The step for the last change of a path. Returns false if it needs none. */
static bool step_of(const struct zookeeper_mode *m, const struct record_change *c, struct zookeeper_step *step)
{
        enum presence presence = presence_of(m, c->path);
        *step = (struct zookeeper_step){.path = c->path, .data = c->entry.data, .size = c->entry.len};
        if (c->entry.len > 0)
                step->what = presence == THERE ? ZOOKEEPER_SET : ZOOKEEPER_CREATE;
        else
                step->what = ZOOKEEPER_DELETE;
        return c->entry.len > 0 || presence != ABSENT;
}

/* The batch may have been applied or not. */
static void doubt_batch(struct zookeeper_mode *m)
{
        for (size_t i = 0; i < m->batch.len; i++) {
                const struct record_change *c = &m->changes.data[m->batch.data[i]];
                if (c->entry.len > 0 && presence_of(m, c->path) == ABSENT)
                        set_presence(m, c->path, PERHAPS);
        }
}

static void on_status_made(void *context, const struct zookeeper_answer *answer)
{
}

/* A node existed, or was missing, unexpectedly. */
static void on_surprise(struct zookeeper_mode *m, const struct zookeeper_answer *answer)
{
        bool exists = answer->code == ZOOKEEPER_NODE_EXISTS;
        if (answer->failed == 0) {
                leader_latch_step_down(m->latch, "its node in ZooKeeper was removed");
                return;
        }
        struct zookeeper_step step = {0};
        size_t n = 0, i = 0;
        for (; i < m->batch.len; i++) {
                n += step_of(m, &m->changes.data[m->batch.data[i]], &step);
                if (n == answer->failed)
                        break;
        }
        if (i == m->batch.len || ++m->tries > 1000) {
                persistence_zookeeper_try_again(m, "its answers are inconsistent", "");
                return;
        }
        if (!exists && step.what == ZOOKEEPER_CREATE) {
                /* The parent is missing, not the node. */
                zk_create(m->z, m->status, "", 0, false, on_status_made, m);
                persistence_zookeeper_try_again(m, "it was removed, and is made again", "");
                return;
        }
        set_presence(m, step.path, exists ? THERE : ABSENT);
        send_batch(m);
}

static void on_written(void *context, const struct zookeeper_answer *answer)
{
        struct zookeeper_mode *m = context;
        struct persistence *p = m->p;
        size_t n = m->in_batch;
        m->in_batch = 0;
        switch (answer->code) {
        case ZOOKEEPER_OK: {
                uint64_t number = m->changes.data[n - 1].number;
                for (size_t i = 0; i < m->batch.len; i++) {
                        const struct record_change *c = &m->changes.data[m->batch.data[i]];
                        set_presence(m, c->path, c->entry.len > 0 ? THERE : ABSENT);
                }
                m->tries = 0;
                drop_changes(m, n);
                persistence_set_trouble(p, NULL);
                persistence_is_durable(p, number);
                if (p->closing && m->changes.len > 0)
                        send_batch(m);
                else if (p->closing)
                        persistence_zookeeper_finish(m);
                return;
        }
        case ZOOKEEPER_NODE_EXISTS:
        case ZOOKEEPER_NO_NODE:
                on_surprise(m, answer);
                return;
        case ZOOKEEPER_LOST:
        case ZOOKEEPER_OVER:
                doubt_batch(m);
                persistence_zookeeper_try_again(m, "it does not answer", "");
                return;
        case ZOOKEEPER_NO_RIGHTS:
                persistence_zookeeper_try_again(m, "it denies access (spark.firesteel.zookeeper.user)", "");
                return;
        case ZOOKEEPER_FAILED:
                doubt_batch(m);
                persistence_zookeeper_try_again(m, "it says: ", answer->text);
                return;
        }
}

/* Chooses the changes of the next batch: as many as fit, and the last one of each path. */
static void choose_batch(struct zookeeper_mode *m)
{
        size_t bytes = 0, i = 0;
        m->batch.len = 0;
        for (; i < m->changes.len && m->batch.len < BATCH_STEPS; i++) {
                const struct record_change *c = &m->changes.data[i];
                size_t k = 0;
                if (i > 0 && bytes + c->entry.len > BATCH_BYTES)
                        break;
                bytes += c->entry.len;
                if (!c->path)
                        continue;
                while (k < m->batch.len && strcmp(m->changes.data[m->batch.data[k]].path, c->path) != 0)
                        k++;
                if (k < m->batch.len)
                        m->batch.data[k] = i;
                else
                        vec_push(&m->batch, i);
        }
        m->in_batch = i;
}

static void send_batch(struct zookeeper_mode *m)
{
        struct zookeeper_step steps[BATCH_STEPS + 1];
        size_t n = 1;
        if (!m->told || !m->z || !m->connected || m->in_batch > 0 || m->changes.len == 0)
                return;
        uv_timer_stop(&m->timer);
        choose_batch(m);
        steps[0] = (struct zookeeper_step){.what = ZOOKEEPER_CHECK, .path = m->election_node};
        for (size_t i = 0; i < m->batch.len; i++)
                n += step_of(m, &m->changes.data[m->batch.data[i]], &steps[n]);
        zk_multi(m->z, steps, n, on_written, m);
}

/* --------------------------------------------------------------------------------------------------- the election */

static void on_gained(void *owner, struct zookeeper *z, const char *node)
{
        struct zookeeper_mode *m = owner;
        m->z = z;
        m->election_node = node;
        m->connected = true;
        read_status(m);
}

static void persistence_zookeeper_on_connection(void *owner, bool there)
{
        struct zookeeper_mode *m = owner;
        m->connected = there;
        if (!there && m->p->closing && m->in_batch == 0)
                persistence_zookeeper_finish(m);
        else if (there && m->reading && m->read_again && m->n_unanswered == 0)
                read_status(m);
        else if (there)
                send_batch(m);
}

static void on_lost(void *owner, const char *why)
{
        struct zookeeper_mode *m = owner;
        m->z = NULL;
        m->connected = m->reading = false;
        m->in_batch = 0;
        uv_timer_stop(&m->timer);
        forget_nodes(m);
        if (m->p->closing) {
                if (m->changes.len > 0)
                        log_error(PERSISTENCE_LOG, "The last recovery records are lost: %s", why);
                persistence_zookeeper_finish(m);
        } else if (m->told)
                persistence_revoked(m->p, why);
        else
                leader_latch_again(m->latch);
}

static void persistence_zookeeper_on_failed(void *owner, const char *message)
{
        struct zookeeper_mode *m = owner;
        persistence_failed(m->p, message);
}

/* ------------------------------------------------------------------------------------------------------ the mode */

static void persistence_zookeeper_timer_closed(uv_handle_t *handle)
{
        struct zookeeper_mode *m = handle->data;
        struct persistence *p = m->p;
        drop_changes(m, m->changes.len);
        vec_deinit(&m->changes);
        vec_deinit(&m->batch);
        forget_nodes(m);
        while (m->known.first)
                set_presence(m, m->known.first->path, ABSENT);
        object_table_deinit(&m->index);
        free(m->status);
        free(m);
        persistence_closed(p);
}

static void latch_closed(void *owner)
{
        struct zookeeper_mode *m = owner;
        uv_close((uv_handle_t *)&m->timer, persistence_zookeeper_timer_closed);
}

static void persistence_zookeeper_finish(struct zookeeper_mode *m)
{
        struct leader_latch *latch = m->latch;
        if (!latch)
                return;
        m->latch = NULL;
        m->z = NULL;
        leader_latch_close(latch, latch_closed, m);
}

static void zookeeper_change(struct persistence *p, enum master_record kind, const char *id, const struct buf *entry)
{
        struct zookeeper_mode *m = p->data;
        struct record_change c = {.number = p->changed};
        if (entry && entry->len > MAX_PERSISTENCE_NODE)
                log_error(PERSISTENCE_LOG,
                          "%s %s cannot be recovered: its record has %zu bytes when packed, more than ZooKeeper takes",
                          journal_kind_name(kind), id, entry->len);
        else
                c.path = persistence_zookeeper_path_of(m, kind, id);
        if (entry && c.path)
                buf_append(&c.entry, entry->data, entry->len);
        vec_push(&m->changes, c);
}

static void zookeeper_write(struct persistence *p)
{
        struct zookeeper_mode *m = p->data;
        if (!uv_is_active((uv_handle_t *)&m->timer))
                send_batch(m);
}

static void zookeeper_close(struct persistence *p)
{
        struct zookeeper_mode *m = p->data;
        if (!p->leads || !m->connected || m->changes.len == 0)
                persistence_zookeeper_finish(m);
        else
                send_batch(m); /* repeats until nothing is left */
}

/* Reads "host" and "host:port", with ZooKeeper's default port, and "/chroot" at the end. */
static int read_servers(const char *url, struct buf *servers, struct fst_error *error)
{
        const char *chroot = strchr(url, '/');
        _cleanup_free_ char *list = mem_strndup(url, chroot ? (size_t)(chroot - url) : strlen(url));
        char *save = NULL;
        for (char *server = strtok_r(list, ", \t", &save); server; server = strtok_r(NULL, ", \t", &save)) {
                const char *end = strrchr(server, ']'), *colon = strrchr(end ? end : server, ':');
                char *rest = NULL;
                long port = colon ? strtol(colon + 1, &rest, 10) : 2181;
                if (colon == server || (colon && (!isdigit((unsigned char)colon[1]) || *rest)) || port < 1 ||
                    port > 65535)
                        return error_set(error, -EINVAL,
                                         "spark.deploy.zookeeper.url is %s: %s is not host:port of a server", url,
                                         server);
                buf_printf(servers, "%s%s%s", servers->len ? "," : "", server, colon ? "" : ":2181");
        }
        if (servers->len == 0)
                return error_set(error, -EINVAL,
                                 "spark.deploy.recoveryMode is ZOOKEEPER: set spark.deploy.zookeeper.url to "
                                 "ZooKeeper's servers, as host:port,host:port");
        if (chroot && chroot[1])
                buf_puts(servers, chroot);
        return 0;
}

static int read_dir(const struct fst_conf *conf, char **out, struct fst_error *error)
{
        int r = conf_get_string(conf, "spark.deploy.zookeeper.dir", out, error);
        if (r < 0)
                return r;
        if (!*out)
                *out = mem_strdup("/spark");
        size_t n = strlen(*out);
        while (n > 1 && (*out)[n - 1] == '/')
                (*out)[--n] = '\0';
        if (n < 2 || **out != '/' || strstr(*out, "//") || strstr(*out, "/../") || strstr(*out, "/./"))
                return error_set(error, -EINVAL, "spark.deploy.zookeeper.dir is %s: it must be a path like /spark",
                                 *out);
        return 0;
}

static int persistence_zookeeper_read_user(const struct fst_conf *conf, char **out, struct fst_error *error)
{
        _cleanup_free_ char *user = NULL, *password = NULL;
        int r = conf_get_string(conf, "spark.firesteel.zookeeper.user", &user, error);
        if (r == 0)
                r = conf_get_string(conf, "spark.firesteel.zookeeper.password", &password, error);
        if (r < 0)
                return r;
        if (!user != !password)
                return error_set(error, -EINVAL,
                                 "spark.firesteel.zookeeper.user and spark.firesteel.zookeeper.password belong "
                                 "together: set both or none");
        *out = user ? mem_printf("%s:%s", user, password) : NULL;
        return 0;
}

static int zookeeper_open(struct persistence *p, const struct fst_conf *conf, struct fst_error *error)
{
        static const struct leader_latch_ops ops = {.gained = on_gained,
                                                    .connection = persistence_zookeeper_on_connection,
                                                    .lost = on_lost,
                                                    .failed = persistence_zookeeper_on_failed};
        _cleanup_free_ char *url = NULL, *dir = NULL, *user_password = NULL;
        _cleanup_(buf_deinit) struct buf servers = BUF_INIT;
        int64_t timeout = 0;
        int r = conf_get_string(conf, "spark.deploy.zookeeper.url", &url, error);
        if (r == 0)
                r = read_servers(url ? url : "", &servers, error);
        if (r == 0)
                r = read_dir(conf, &dir, error);
        if (r == 0)
                r = persistence_zookeeper_read_user(conf, &user_password, error);
        if (r == 0)
                r = conf_get_ms(conf, "spark.firesteel.zookeeper.sessionTimeout", &timeout, error);
        if (r == 0 && (timeout < 1000 || timeout > 3600000))
                r = error_set(error, -EINVAL, "spark.firesteel.zookeeper.sessionTimeout is %lld ms: it can be 1s to 1h",
                              (long long)timeout);
        if (r < 0)
                return r;
        struct zookeeper_mode *m = new0(struct zookeeper_mode);
        m->p = p;
        m->status = mem_printf("%s/master_status", dir);
        p->data = m;
        p->codec.kind = CODEC_LZ4;
        uv_timer_init(p->loop, &m->timer);
        m->timer.data = m;
        log_info(PERSISTENCE_LOG, "Persisting recovery state to ZooKeeper Cluster: %s", buf_text(&servers));
        m->latch = leader_latch_open(p->loop,
                                     &(struct leader_latch_options){.zookeeper = {.servers = buf_text(&servers),
                                                                                  .session_timeout = (int)timeout,
                                                                                  .user_password = user_password},
                                                                    .dir = dir,
                                                                    .name = p->name,
                                                                    .module = persistence_zookeeper_module},
                                     &ops, m);
        return 0;
}

const struct persistence_mode persistence_zookeeper = {
        .open = zookeeper_open,
        .change = zookeeper_change,
        .write = zookeeper_write,
        .close = zookeeper_close,
};
