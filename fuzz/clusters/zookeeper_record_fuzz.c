/*
 * Nodes that a new leader finds in ZooKeeper, with arbitrary names and content. The leader is elected with the readable
 * records. The input is a list of nodes: the length of the name, the name, the length of the content in two bytes
 * (little-endian), the content. If the highest bit of the first byte is set, the content becomes the data of a valid
 * journal entry.
 */
#include "base/error.h"
#include "base/log.h"
#include "conf/conf.h"
#include "standalone/core/master_state.h"
#include "standalone/recovery/journal.h"
#include "standalone/recovery/master_record.h"
#include "standalone/recovery/persistence.h"
#include "standalone/recovery/persistence_zookeeper.h"
#include "standalone/recovery/zookeeper_fixture.h"

#define STATUS "/spark/master_status/"

static bool elected, closed;

static void on_elected(void *owner, const struct persistence_record *records, size_t n)
{
        struct master_records r = MASTER_RECORDS_INIT;
        if (elected)
                abort();
        elected = true;
        master_records_read(&r, records, n);
        master_records_deinit(&r);
}

static void on_lost(void *owner, const char *why)
{
        abort();
}

static void on_closed(void *owner)
{
        closed = true;
}

static void expire_timer(uv_handle_t *handle, void *context)
{
        if (handle->type == UV_TIMER && uv_is_active(handle))
                uv_timer_start((uv_timer_t *)handle, ((uv_timer_t *)handle)->timer_cb, 0, 0);
}

static void run_until(uv_loop_t *loop, const bool *flag)
{
        for (int i = 0; !*flag && i < 100000; i++) {
                uv_walk(loop, expire_timer, NULL);
                uv_run(loop, loop->active_reqs.count > 0 ? UV_RUN_ONCE : UV_RUN_NOWAIT);
        }
        if (!*flag)
                abort();
}

/* @name with its prefix gives the kind and the id of an entry. */
static void put_entry(const char *path, const char *name, const void *content, size_t size)
{
        struct buf entry = BUF_INIT;
        const char *id = strchr(name, '_');
        enum master_record kind = *name == 'a'   ? MASTER_RECORD_APP
                                  : *name == 'd' ? MASTER_RECORD_DRIVER
                                                 : MASTER_RECORD_WORKER;
        if (journal_put_store(&entry, NULL, kind, id ? id + 1 : name, content, size) == 0)
                fake_put(path, entry.data, entry.len, NULL);
        buf_deinit(&entry);
}

static void put_nodes(const uint8_t *data, size_t size)
{
        for (size_t at = 0; at < size && fake.n_nodes < 40;) {
                bool is_entry = data[at] & 0x80;
                size_t name_len = MIN((size_t)(data[at] & 0x7f), size - at - 1);
                _cleanup_free_ char *name = mem_strndup((const char *)data + at + 1, name_len);
                at += 1 + name_len;
                size_t len = at + 2 <= size ? (size_t)data[at] | (size_t)data[at + 1] << 8 : 0;
                at = MIN(at + 2, size);
                len = MIN(len, size - at);
                _cleanup_free_ char *path = mem_printf(STATUS "%s", name);
                if (*name && !strchr(name, '/') && fake_find(path) < 0) {
                        if (is_entry)
                                put_entry(path, name, data + at, len);
                        else
                                fake_put(path, data + at, len, NULL);
                }
                at += len;
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const struct persistence_ops ops = {.elected = on_elected, .revoked = on_lost, .failed = on_lost};
        static struct fst_conf conf;
        struct persistence *p;
        uv_loop_t loop;
        if (!persistence_zookeeper_module) {
                persistence_zookeeper_module = &fake_ops;
                log_set_level(LOG_OFF);
                conf_init(&conf);
                conf_set(&conf, "spark.deploy.recoveryMode", "ZOOKEEPER");
                conf_set(&conf, "spark.deploy.zookeeper.url", "nowhere:2181");
        }
        fake_put("/spark", NULL, 0, NULL);
        fake_put("/spark/master_status", NULL, 0, NULL);
        fake_put("/spark/leader_election", NULL, 0, NULL);
        put_nodes(data, size);
        elected = closed = false;
        uv_loop_init(&loop);
        if (persistence_open(&loop, &conf, "spark://h:7077", &ops, NULL, &p, NULL) < 0)
                abort();
        run_until(&loop, &elected);
        persistence_close(p, on_closed, NULL);
        run_until(&loop, &closed);
        uv_run(&loop, UV_RUN_DEFAULT);
        uv_loop_close(&loop);
        fake_reset();
        return 0;
}
