/*
 * See master_detector.h. With ZooKeeper, a look is: list the nodes, read the smallest, watch it. Its number tells the
 * answers of one look from those of the next. While nobody leads, and after errors, a look follows each RETRY_MS.
 */
#include "mesos/conf/master_detector.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "mesos/conf/mesos_master.h"
#include "net/socket.h"
#include "net/zookeeper.h"
#include "text/json.h"

#include <stdlib.h>
#include <string.h>

#define LOG "MesosMasterDetector"
#define RETRY_MS 1000
#define FIRST_SILENCE_MS                                                                                               \
        2000 /* without a session with ZooKeeper, until the first warning; then twice as long each time */
#define MAX_SILENCE_MS 60000
#define SESSION_MS 10000 /* as Mesos's own library */
#define NODE_PREFIX "json.info_"

const struct zookeeper_ops *master_detector_zookeeper;

struct master_detector {
        uv_loop_t *loop;
        const struct mesos_master *master;
        const struct master_detector_ops *ops;
        void *owner;
        uv_timer_t timer;
        struct zookeeper *z; /* NULL: none, until the timer */
        bool z_closing, connected, warned, freed;
        uint64_t silence_ms; /* until the next warning that ZooKeeper does not answer */
        char *node;          /* path of the leader's node; NULL: none */
        char *leader;        /* as last reported */
        bool reported;
        bool looking, look_again;
        void (*closed)(void *owner);
};

static void detector_open(struct master_detector *d);
static void detector_look(struct master_detector *d);

long long master_node_number(const char *name)
{
        size_t n = strlen(NODE_PREFIX);
        const char *digits = strncmp(name, NODE_PREFIX, n) == 0 ? name + n : "";

        return *digits && strlen(digits) <= 18 && strspn(digits, "0123456789") == strlen(digits)
                       ? strtoll(digits, NULL, 10)
                       : -1;
}

char *master_node_address(const void *data, size_t size)
{
        char text[512];
        json_t *tree = json_loadb(data, size, 0, NULL);
        const char *host = json_text_at(tree, "address.hostname"), *ip = json_text_at(tree, "address.ip");
        json_int_t port = json_int_at(tree, "address.port");
        char *address = NULL;

        /* The ip is what the master listens at. Names need not be known here. */
        if ((ip || host) && port > 0 && port < 65536 && strlen(ip ? ip : host) < 400)
                address = mem_strdup(host_port_text(ip ? ip : host, (int)port, text, sizeof(text)));
        json_decref(tree);
        return address;
}

/* --------------------------------------------------------------------------------------------------------- reports */

static void detector_report(struct master_detector *d, const char *address)
{
        bool same = address ? d->leader && strcmp(d->leader, address) == 0 : !d->leader;

        if (d->reported && same)
                return;
        d->reported = true;
        free(d->leader);
        d->leader = mem_strdup_if(address);
        if (address)
                log_info(LOG, "Detected a new leading Mesos master at %s", address);
        else
                log_info(LOG, "No Mesos master leads");
        d->ops->leader(d->owner, d->leader);
}

static void detector_await_session(struct master_detector *d);

static void detector_warn_of_silence(struct master_detector *d)
{
        log_warn(
                LOG,
                "ZooKeeper at %s does not answer, trying again: check the servers of mesos://zk://HOST:PORT,HOST:PORT/PATH",
                d->master->servers);
        d->silence_ms = MIN(d->silence_ms * 2, (uint64_t)MAX_SILENCE_MS);
        detector_await_session(d);
}

static void detector_on_timer(uv_timer_t *timer)
{
        struct master_detector *d = timer->data;

        if (d->master->kind == MESOS_MASTER_ADDRESS)
                detector_report(d, d->master->address);
        else if (!d->z)
                detector_open(d);
        else if (!d->connected)
                detector_warn_of_silence(d);
        else
                detector_look(d);
}

static void detector_rest(struct master_detector *d, uint64_t ms)
{
        uv_timer_start(&d->timer, detector_on_timer, ms, 0);
}

static void detector_await_session(struct master_detector *d)
{
        detector_rest(d, d->silence_ms);
}

/* ----------------------------------------------------------------------------------------------------------- looks */

static void detector_end_look(struct master_detector *d, bool retry)
{
        d->looking = false;
        if (d->look_again) {
                d->look_again = false;
                detector_look(d);
        } else if (retry)
                detector_rest(d, RETRY_MS);
}

/* The answers may come after master_detector_free. zk_close drops them, so @context is alive. */
static void detector_on_watched(void *context, const struct zookeeper_answer *answer)
{
        struct master_detector *d = context;

        if (answer->code == ZOOKEEPER_NO_NODE)
                d->look_again = true; /* gone since it was listed */
        detector_end_look(d, answer->code != ZOOKEEPER_OK);
}

static void detector_on_node(void *context, const struct zookeeper_answer *answer)
{
        struct master_detector *d = context;

        if (answer->code != ZOOKEEPER_OK) {
                d->look_again |= answer->code == ZOOKEEPER_NO_NODE;
                detector_end_look(d, true);
                return;
        }
        _cleanup_free_ char *address = master_node_address(answer->data, answer->size);
        if (!address)
                log_warn(LOG, "%s in ZooKeeper does not hold the address of a Mesos master", d->node);
        zk_exists(d->z, d->node, true, detector_on_watched, d);
        detector_report(d, address);
}

static void detector_fail(struct master_detector *d, const char *message)
{
        uv_timer_stop(&d->timer);
        d->connected = false;
        d->ops->failed(d->owner, message);
}

static void detector_on_children(void *context, const struct zookeeper_answer *answer)
{
        struct master_detector *d = context;
        const char *first = NULL;

        if (answer->code == ZOOKEEPER_NO_RIGHTS) {
                _cleanup_free_ char *message =
                        mem_printf("ZooKeeper denies access to %s: write the user of the masters "
                                   "into the URL, mesos://zk://user:password@…",
                                   d->master->text);
                d->looking = false;
                detector_fail(d, message);
                return;
        }
        if (answer->code != ZOOKEEPER_OK && answer->code != ZOOKEEPER_NO_NODE) {
                detector_end_look(d, true);
                return;
        }
        for (size_t i = 0; i < answer->n_children; i++) {
                long long number = master_node_number(answer->children[i]);
                if (number >= 0 && (!first || number < master_node_number(first)))
                        first = answer->children[i];
        }
        free(d->node);
        d->node = first ? mem_printf("%s/%s", d->master->path, first) : NULL;
        if (first) {
                zk_get(d->z, d->node, detector_on_node, d);
        } else {
                detector_report(d, NULL);
                detector_end_look(d, true);
        }
}

static void detector_look(struct master_detector *d)
{
        if (!d->connected || d->freed)
                return;
        if (d->looking) {
                d->look_again = true;
                return;
        }
        uv_timer_stop(&d->timer);
        d->looking = true;
        zk_children(d->z, *d->master->path ? d->master->path : "/", detector_on_children, d);
}

/* ----------------------------------------------------------------------------------------------------- the session */

static void detector_on_timer_closed(uv_handle_t *handle)
{
        struct master_detector *d = handle->data;

        void (*closed)(void *) = d->closed;
        void *owner = d->owner;
        free(d->node);
        free(d->leader);
        free(d);
        if (closed)
                closed(owner);
}

static void detector_on_session_closed(void *owner)
{
        struct master_detector *d = owner;

        d->z = NULL;
        d->z_closing = false;
        if (d->freed)
                uv_close((uv_handle_t *)&d->timer, detector_on_timer_closed);
        else
                detector_rest(d, d->warned ? RETRY_MS : 0);
}

static void detector_close_session(struct master_detector *d)
{
        d->connected = d->looking = d->look_again = false;
        if (!d->z || d->z_closing)
                return;
        uv_timer_stop(&d->timer);
        d->z_closing = true;
        zk_close(d->z, detector_on_session_closed, d);
}

static void detector_on_session(void *owner, enum zookeeper_session session, int timeout, const char *message)
{
        struct master_detector *d = owner;

        switch (session) {
        case ZOOKEEPER_CONNECTED:
                d->connected = true;
                d->warned = false;
                d->silence_ms = FIRST_SILENCE_MS;
                detector_look(d);
                return;
        case ZOOKEEPER_DISCONNECTED:
                if (d->connected)
                        log_warn(LOG, "The connection to ZooKeeper at %s is lost, trying again", d->master->servers);
                d->connected = false;
                detector_await_session(d);
                return;
        case ZOOKEEPER_EXPIRED:
                detector_close_session(d);
                return;
        case ZOOKEEPER_REFUSED: {
                _cleanup_free_ char *text = mem_printf("ZooKeeper at %s does not accept the user and the password in "
                                                       "mesos://zk://user:password@…",
                                                       d->master->servers);
                detector_fail(d, text);
                return;
        }
        case ZOOKEEPER_UNREACHABLE:
                if (!d->warned)
                        log_warn(LOG, "Cannot begin a session with ZooKeeper at %s, trying again: %s",
                                 d->master->servers, message);
                d->warned = true;
                detector_close_session(d);
                return;
        }
}

static void detector_on_watch(void *owner, const char *path)
{
        detector_look(owner);
}

static void detector_open(struct master_detector *d)
{
        static const struct zookeeper_events events = {.session = detector_on_session, .watch = detector_on_watch};
        const struct zookeeper_options options = {.servers = d->master->servers,
                                                  .session_timeout = SESSION_MS,
                                                  .user_password = d->master->user_password};

        if (!d->warned)
                log_info(LOG, "Looking for the leading Mesos master in ZooKeeper at %s, path %s", d->master->servers,
                         *d->master->path ? d->master->path : "/");
        detector_await_session(d);
        zk_open(d->loop, &options, &events, d, master_detector_zookeeper, &d->z);
}

struct master_detector *master_detector_new(uv_loop_t *loop, const struct mesos_master *master,
                                            const struct master_detector_ops *ops, void *owner)
{
        struct master_detector *d = new0(struct master_detector);

        *d = (struct master_detector){
                .loop = loop, .master = master, .ops = ops, .owner = owner, .silence_ms = FIRST_SILENCE_MS};
        uv_timer_init(loop, &d->timer);
        d->timer.data = d;
        detector_rest(d, 0);
        return d;
}

void master_detector_free(struct master_detector *d, void (*closed)(void *owner))
{
        d->freed = true;
        d->closed = closed;
        uv_timer_stop(&d->timer);
        if (d->z)
                detector_close_session(d);
        else
                uv_close((uv_handle_t *)&d->timer, detector_on_timer_closed);
}
