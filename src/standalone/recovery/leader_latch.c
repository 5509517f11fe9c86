/*
 * Leader election, as a state machine over one session at a time:
 *
 *      PREPARING   the directories are made
 *      LOOKING     lists the nodes. If this master's is missing, it is created and looked for again, so that a lost
 *                  answer leaves no second node (the node's name begins with an id of the session)
 *      WAITING     until the node with the next smaller number is removed
 *      LEADING
 *      OUT         lost or failed
 *
 * Each of the first three can be restarted at any time, and is whenever the connection comes back. Answers come in the
 * order of requests, so answers to earlier requests are recognised by counting (`stale`).
 */
#include "standalone/recovery/leader_latch.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

#define LOG "ZooKeeperLeaderElectionAgent"
#define RETRY 1000            /* ms before an attempt that failed for an unknown reason is repeated */
#define FIRST_SILENCE_MS 2000 /* without a session, until the first warning; then twice as long each time */
#define MAX_SILENCE_MS 60000
#define MARK "-latch-"

enum latch_state { PREPARING, LOOKING, WAITING, LEADING, OUT };

struct leader_latch {
        uv_loop_t *loop;
        const struct leader_latch_ops *ops;
        void *owner;
        struct leader_latch_options options;
        char *servers, *user_password, *dir, *election, *status, *name;
        struct zookeeper *z; /* NULL: none, until the timer */
        bool z_closing, connected;
        int timeout;        /* of the session, ms */
        char id[UUID_TEXT]; /* of the session, in its node's name */
        char *node;
        enum latch_state state;
        int unanswered, stale;
        bool warned;                     /* about unreachable servers */
        bool told;                       /* the log has the line that it stands by */
        bool no_rights;                  /* no permission to create one of the directories */
        bool asking;                     /* reading the node, while leading */
        int64_t asked, proven, ask_next; /* ns */
        int64_t silence_ms;              /* between this warning that the servers do not answer and the next */
        int64_t silence_ends;            /* ns: when the next one is due, unless connected */
        uv_timer_t timer;
        bool closing;
        void (*closed)(void *owner);
        void *closed_owner;
};

static void open_session(struct leader_latch *l);
static void leader_latch_step(struct leader_latch *l);
static void leader_latch_on_timer(uv_timer_t *timer);

/* Ignores answers that are still to come. */
static void forget_answers(struct leader_latch *l)
{
        l->stale = l->unanswered;
}

static void leader_latch_rest(struct leader_latch *l, uint64_t ms)
{
        uv_timer_start(&l->timer, leader_latch_on_timer, ms, 0);
}

/* ------------------------------------------------------------------------------------------------- the session */

/* Sets the timer to the next warning. */
static void leader_latch_await_session(struct leader_latch *l)
{
        l->silence_ends = now_ns() + ms_to_ns(l->silence_ms);
        leader_latch_rest(l, (uint64_t)l->silence_ms);
}

static void leader_latch_warn_of_silence(struct leader_latch *l)
{
        const int64_t left = l->silence_ends - now_ns();
        if (left > 0) { /* the timer was set to repeat a request */
                leader_latch_rest(l, (uint64_t)(left / NS_PER_MS) + 1);
                return;
        }
        log_warn(LOG, "ZooKeeper at %s does not answer, trying again: check the servers of spark.deploy.zookeeper.url",
                 l->servers);
        l->silence_ms = MIN(l->silence_ms * 2, MAX_SILENCE_MS);
        leader_latch_await_session(l);
}

static void leader_latch_timer_closed(uv_handle_t *handle)
{
        struct leader_latch *l = handle->data;
        void (*closed)(void *) = l->closed;
        void *owner = l->closed_owner;
        free(l->servers);
        free(l->user_password);
        free(l->dir);
        free(l->election);
        free(l->status);
        free(l->name);
        free(l->node);
        free(l);
        if (closed)
                closed(owner);
}

static void session_closed(void *owner)
{
        struct leader_latch *l = owner;
        l->z = NULL;
        l->z_closing = false;
        if (l->closing)
                uv_close((uv_handle_t *)&l->timer, leader_latch_timer_closed);
        else if (l->state != OUT && !uv_is_active((uv_handle_t *)&l->timer))
                open_session(l);
}

static void close_session(struct leader_latch *l)
{
        l->connected = false;
        if (!l->z || l->z_closing)
                return;
        l->z_closing = true;
        zk_close(l->z, session_closed, l);
}

/* Restarts with another session, now or when the timer fires. */
static void leader_latch_reopen(struct leader_latch *l)
{
        l->state = PREPARING;
        close_session(l);
}

static void leader_latch_lose(struct leader_latch *l, const char *why)
{
        l->state = OUT;
        uv_timer_stop(&l->timer);
        close_session(l);
        log_info(LOG, "We have lost leadership");
        l->ops->lost(l->owner, why);
}

static void leader_latch_fail(struct leader_latch *l, const char *message)
{
        bool led = l->state == LEADING;
        l->state = OUT;
        uv_timer_stop(&l->timer);
        close_session(l);
        if (led)
                l->ops->lost(l->owner, message);
        else
                l->ops->failed(l->owner, message);
}

static void leader_latch_on_session(void *owner, enum zookeeper_session session, int timeout, const char *message)
{
        struct leader_latch *l = owner;
        switch (session) {
        case ZOOKEEPER_CONNECTED:
                l->connected = true;
                l->warned = false;
                l->silence_ms = FIRST_SILENCE_MS;
                l->timeout = timeout;
                if (l->state == LEADING) {
                        l->asking = false;
                        l->ask_next = 0;
                        leader_latch_rest(l, 0);
                        l->ops->connection(l->owner, true);
                        return;
                }
                if (l->state == WAITING)
                        l->state = LOOKING;
                leader_latch_step(l);
                return;
        case ZOOKEEPER_DISCONNECTED:
                if (!l->connected)
                        return;
                l->connected = false;
                forget_answers(l);
                log_warn(LOG, "The connection to ZooKeeper is lost (%s), trying again", l->servers);
                if (l->state == LEADING)
                        l->ops->connection(l->owner, false);
                else
                        leader_latch_await_session(l);
                return;
        case ZOOKEEPER_EXPIRED:
                if (l->state == LEADING)
                        leader_latch_lose(l, "the session with ZooKeeper has expired");
                else {
                        uv_timer_stop(&l->timer); /* the next session begins as soon as this one is closed */
                        leader_latch_reopen(l);
                }
                return;
        case ZOOKEEPER_REFUSED:
                leader_latch_fail(l, "ZooKeeper does not accept spark.firesteel.zookeeper.user and .password");
                return;
        case ZOOKEEPER_UNREACHABLE:
                if (!l->warned)
                        log_warn(LOG, "Cannot begin a session with ZooKeeper at %s, trying again: %s", l->servers,
                                 message);
                l->warned = true;
                leader_latch_rest(l, RETRY);
                leader_latch_reopen(l);
                return;
        }
}

static void leader_latch_on_watch(void *owner, const char *path)
{
        struct leader_latch *l = owner;
        if (l->state != WAITING)
                return;
        l->state = LOOKING;
        leader_latch_step(l);
}

static void open_session(struct leader_latch *l)
{
        static const struct zookeeper_events events = {.session = leader_latch_on_session,
                                                       .watch = leader_latch_on_watch};
        uuid_draw(l->id);
        l->unanswered = l->stale = 0;
        l->state = PREPARING;
        leader_latch_await_session(l);
        zk_open(l->loop, &l->options.zookeeper, &events, l, l->options.module, &l->z);
}

/* ----------------------------------------------------------------------------------------------------- requests */

static void leader_latch_count_request(struct leader_latch *l)
{
        l->unanswered++;
}

static bool is_stale(struct leader_latch *l)
{
        l->unanswered--;
        if (l->stale == 0)
                return false;
        l->stale--;
        return true;
}

static void fail_without_rights(struct leader_latch *l, const char *to)
{
        _cleanup_free_ char *message = mem_printf(
                "ZooKeeper denies access to %s: set spark.firesteel.zookeeper.user and .password to those of its creator, or another "
                "spark.deploy.zookeeper.dir",
                to);
        forget_answers(l);
        leader_latch_fail(l, message);
}

/* Returns true if the caller must handle the answer. Handles codes other than OK and those about a node's existence.
 */
static bool leader_latch_check_reply(struct leader_latch *l, const struct zookeeper_answer *answer, const char *what)
{
        if (is_stale(l))
                return false;
        switch (answer->code) {
        case ZOOKEEPER_OK:
        case ZOOKEEPER_NO_NODE:
        case ZOOKEEPER_NODE_EXISTS:
                return true;
        case ZOOKEEPER_NO_RIGHTS:
                fail_without_rights(l, what);
                return false;
        case ZOOKEEPER_FAILED:
                log_warn(LOG, "ZooKeeper requests for %s fail, trying again: %s", what, answer->text);
                break;
        case ZOOKEEPER_LOST:
        case ZOOKEEPER_OVER:
                break; /* the next session event decides, or the timer */
        }
        forget_answers(l);
        leader_latch_rest(l, RETRY);
        return false;
}

/* ---------------------------------------------------------------------------------------------------- leading */

static void leader_latch_on_node(void *context, const struct zookeeper_answer *answer)
{
        struct leader_latch *l = context;
        if (is_stale(l))
                return;
        l->asking = false;
        if (answer->code == ZOOKEEPER_OK)
                l->proven = l->asked;
        else if (answer->code == ZOOKEEPER_NO_NODE) {
                leader_latch_lose(l, "its node in ZooKeeper was removed");
                return;
        }
        leader_latch_rest(l, 0);
}

/* Verifies that the session is alive, or steps down. */
static void lead_on(struct leader_latch *l)
{
        int64_t now = now_ns(), ms = 1000000, ends = l->proven + l->timeout * ms / 10 * 9;
        if (now >= ends) {
                char why[128];
                snprintf(why, sizeof(why), "ZooKeeper has not answered for %lld ms and may have elected another master",
                         (long long)((now - l->proven) / ms));
                leader_latch_lose(l, why);
                return;
        }
        if (l->connected && !l->asking && now >= l->ask_next) {
                l->asking = true;
                l->asked = now;
                l->ask_next = now + l->timeout * ms / 6;
                leader_latch_count_request(l);
                zk_exists(l->z, l->node, false, leader_latch_on_node, l);
        }
        int64_t next = l->connected && !l->asking && l->ask_next < ends ? l->ask_next : ends;
        leader_latch_rest(l, (uint64_t)((next - now) / ms) + 1);
}

static void leader_latch_on_timer(uv_timer_t *timer)
{
        struct leader_latch *l = timer->data;
        if (l->state == LEADING)
                lead_on(l);
        else if (!l->z)
                open_session(l);
        else if (l->connected) {
                if (l->state == WAITING)
                        l->state = LOOKING;
                leader_latch_step(l);
        } else if (!l->z_closing)
                leader_latch_warn_of_silence(l);
}

static void leader_latch_lead(struct leader_latch *l, char *node)
{
        free(l->node);
        l->node = node;
        l->state = LEADING;
        l->proven = l->asked;
        l->ask_next = 0;
        l->asking = false;
        leader_latch_rest(l, 0);
        log_info(LOG, "We have gained leadership");
        l->ops->gained(l->owner, l->z, l->node);
}

/* ------------------------------------------------------------------------------------------------- the election */

static void on_created(void *context, const struct zookeeper_answer *answer)
{
        struct leader_latch *l = context;
        if (leader_latch_check_reply(l, answer, l->election))
                leader_latch_step(l);
}

static void on_predecessor(void *context, const struct zookeeper_answer *answer)
{
        struct leader_latch *l = context;
        if (!leader_latch_check_reply(l, answer, l->election))
                return;
        if (answer->code == ZOOKEEPER_NO_NODE) {
                leader_latch_step(l);
                return;
        }
        l->state = WAITING;
        if (!l->told)
                log_info(LOG, "Standing by: another master leads");
        l->told = true;
}

/* Returns the number at the end of a latch's name, or -1 for other names. */
static long long leader_latch_number_of(const char *name)
{
        const char *mark = strstr(name, MARK), *digits = mark ? mark + strlen(MARK) : NULL;
        if (!digits || !*digits || strspn(digits, "0123456789") != strlen(digits))
                return -1;
        return strtoll(digits, NULL, 10);
}

static void on_children(void *context, const struct zookeeper_answer *answer)
{
        struct leader_latch *l = context;
        const char *mine = NULL, *before = NULL;
        long long my_number = -1, its_number = -1;
        if (!leader_latch_check_reply(l, answer, l->election))
                return;
        if (answer->code == ZOOKEEPER_NO_NODE && l->no_rights) {
                fail_without_rights(l, l->dir);
                return;
        }
        if (answer->code == ZOOKEEPER_NO_NODE) { /* the directory was removed */
                l->state = PREPARING;
                leader_latch_step(l);
                return;
        }
        for (size_t i = 0; i < answer->n_children; i++) {
                const char *name = answer->children[i];
                long long number = leader_latch_number_of(name);
                if (number >= 0 && strncmp(name, "_c_", 3) == 0 && strncmp(name + 3, l->id, strlen(l->id)) == 0 &&
                    (!mine || number < my_number)) {
                        mine = name;
                        my_number = number;
                }
        }
        if (!mine) {
                _cleanup_free_ char *path = mem_printf("%s/_c_%s" MARK, l->election, l->id);
                leader_latch_count_request(l);
                zk_create(l->z, path, l->name, strlen(l->name), true, on_created, l);
                return;
        }
        for (size_t i = 0; i < answer->n_children; i++) {
                long long number = leader_latch_number_of(answer->children[i]);
                if (number >= 0 && number < my_number && number > its_number) {
                        before = answer->children[i];
                        its_number = number;
                }
        }
        char *path = mem_printf("%s/%s", l->election, before ? before : mine);
        if (!before) {
                leader_latch_lead(l, path);
                return;
        }
        leader_latch_count_request(l);
        zk_exists(l->z, path, true, on_predecessor, l);
        free(path);
}

/* A session that may not create a directory may still use an existing one. */
static bool leader_latch_made(struct leader_latch *l, const struct zookeeper_answer *answer)
{
        if (answer->code != ZOOKEEPER_NO_RIGHTS)
                return leader_latch_check_reply(l, answer, l->dir);
        if (is_stale(l))
                return false;
        l->no_rights = true;
        return true;
}

static void on_made(void *context, const struct zookeeper_answer *answer)
{
        leader_latch_made(context, answer);
}

static void on_last_made(void *context, const struct zookeeper_answer *answer)
{
        struct leader_latch *l = context;
        if (!leader_latch_made(l, answer))
                return;
        l->state = LOOKING;
        leader_latch_step(l);
}

/* Creates each component in order. */
static void make_path(struct leader_latch *l, const char *full, zookeeper_done *last)
{
        _cleanup_free_ char *path = mem_strdup(full);
        for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
                if (slash)
                        *slash = '\0';
                leader_latch_count_request(l);
                zk_create(l->z, path, "", 0, false, slash ? on_made : last, l);
                if (!slash)
                        return;
                *slash = '/';
        }
}

static void leader_latch_step(struct leader_latch *l)
{
        forget_answers(l);
        uv_timer_stop(&l->timer);
        if (l->state == PREPARING) {
                l->no_rights = false;
                make_path(l, l->status, on_made);
                make_path(l, l->election, on_last_made);
                return;
        }
        l->asked = now_ns();
        leader_latch_count_request(l);
        zk_children(l->z, l->election, on_children, l);
}

/* ------------------------------------------------------------------------------------------------ for the owner */

struct leader_latch *leader_latch_open(uv_loop_t *loop, const struct leader_latch_options *options,
                                       const struct leader_latch_ops *ops, void *owner)
{
        struct leader_latch *l = new0(struct leader_latch);
        l->loop = loop;
        l->ops = ops;
        l->owner = owner;
        l->silence_ms = FIRST_SILENCE_MS;
        l->options = *options;
        l->options.zookeeper.servers = l->servers = mem_strdup(options->zookeeper.servers);
        if (options->zookeeper.user_password)
                l->user_password = mem_strdup(options->zookeeper.user_password);
        l->options.zookeeper.user_password = l->user_password;
        l->dir = mem_strdup(options->dir);
        l->election = mem_printf("%s/leader_election", l->dir);
        l->status = mem_printf("%s/master_status", l->dir);
        l->name = mem_strdup(options->name);
        uv_timer_init(loop, &l->timer);
        l->timer.data = l;
        log_info(LOG, "Starting ZooKeeper LeaderElection agent");
        open_session(l);
        return l;
}

void leader_latch_step_down(struct leader_latch *l, const char *why)
{
        if (l->state == LEADING)
                leader_latch_lose(l, why);
}

void leader_latch_again(struct leader_latch *l)
{
        if (l->state != OUT || l->closing)
                return;
        l->state = PREPARING;
        l->told = false;
        if (!l->z)
                open_session(l);
}

void leader_latch_close(struct leader_latch *l, void (*closed)(void *owner), void *owner)
{
        l->closing = true;
        l->closed = closed;
        l->closed_owner = owner;
        l->state = OUT;
        uv_timer_stop(&l->timer);
        if (l->z)
                close_session(l);
        else
                uv_close((uv_handle_t *)&l->timer, leader_latch_timer_closed);
}
