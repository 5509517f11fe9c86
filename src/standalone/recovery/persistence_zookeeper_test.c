/* Recovery mode ZOOKEEPER with a server that loses messages on request (zookeeper_fixture.h): election, records, and
 * random sequences of masters. With a real server: make check-zookeeper.
 */
#include "standalone/recovery/persistence_zookeeper.h"

#include "base/log.h"
#include "conf/conf.h"
#include "standalone/recovery/persistence_fixture.h"
#include "standalone/recovery/zookeeper_fixture.h"

#define STATUS "/spark/master_status"
#define ELECTION "/spark/leader_election"

static int use_fake(void **state)
{
        persistence_zookeeper_module = &fake_ops;
        log_set_level(LOG_OFF);
        return 0;
}

static int forget_fake(void **state)
{
        fake_reset();
        log_set_level(LOG_WARN);
        return 0;
}

static const struct fst_conf *configuration(const char *key, const char *value)
{
        static struct fst_conf conf;
        conf_deinit(&conf);
        conf_init(&conf);
        conf_set(&conf, "spark.deploy.recoveryMode", "ZOOKEEPER");
        conf_set(&conf, "spark.deploy.zookeeper.url", "nowhere:2181");
        if (key)
                conf_set(&conf, key, value);
        return &conf;
}

/* Makes all timers due at once, because no test depends on the length of a wait. */
static void hurry(uv_handle_t *handle, void *context)
{
        if (handle->type == UV_TIMER && uv_is_active(handle))
                uv_timer_start((uv_timer_t *)handle, ((uv_timer_t *)handle)->timer_cb, 0, 0);
}

/* Waits for work in the pool (begin and end of sessions), so that a seed always gives the same run. */
static void turn(struct master_like *m)
{
        uv_walk(m->loop, hurry, NULL);
        uv_run(m->loop, UV_RUN_NOWAIT);
        while (m->loop->active_reqs.count > 0)
                uv_run(m->loop, UV_RUN_ONCE);
}

static void turn_until(struct master_like *m, const bool *flag)
{
        while (!*flag)
                turn(m);
}

static struct zookeeper_handle *newest_session(void)
{
        return fake.sessions[fake.n_sessions - 1];
}

static void locked(void (*do_it)(struct zookeeper_handle *), struct zookeeper_handle *h)
{
        pthread_mutex_lock(&fake.lock);
        do_it(h);
        pthread_mutex_unlock(&fake.lock);
}

static int children_of(const char *path)
{
        int n = 0;
        pthread_mutex_lock(&fake.lock);
        for (int i = 0; i < fake.n_nodes; i++)
                n += strncmp(fake.nodes[i].path, path, strlen(path)) == 0 && fake.nodes[i].path[strlen(path)] == '/';
        pthread_mutex_unlock(&fake.lock);
        return n;
}

static void commit_and_turn(struct master_like *m)
{
        size_t before = m->done.len;
        if (!commit(m, -1))
                while (m->done.len == before)
                        turn(m);
}

static void expect_recovered(const char *records)
{
        struct master_like m;
        start(&m, configuration(NULL, NULL));
        assert_string_equal(buf_text(&m.records), records);
        stop(&m);
}

/* ------------------------------------------------------------------------------------------------------- tests */

static void stored_and_removed_as_in_the_engines_suite(void **state)
{
        struct master_like m;
        start(&m, configuration(NULL, NULL));
        assert_string_equal(buf_text(&m.records), "");
        store(&m, MASTER_RECORD_APP, "test_1", "test_1_value");
        commit_and_wait(&m);
        assert_true(fake_find(STATUS "/app_test_1") >= 0);
        stop(&m);
        start(&m, configuration(NULL, NULL));
        assert_string_equal(buf_text(&m.records), "app test_1=test_1_value ");
        store(&m, MASTER_RECORD_APP, "test_2", "test_2_value");
        stop(&m); /* uncommitted changes are written as well */
        start(&m, configuration(NULL, NULL));
        assert_string_equal(buf_text(&m.records), "app test_1=test_1_value app test_2=test_2_value ");
        persistence_remove(m.p, MASTER_RECORD_APP, "test_1");
        persistence_remove(m.p, MASTER_RECORD_APP, "never_there");
        commit_and_wait(&m);
        persistence_remove(m.p, MASTER_RECORD_APP, "test_2");
        store(&m, MASTER_RECORD_WORKER, "test/worker ü", "127.0.0.1:10000");
        store(&m, MASTER_RECORD_WORKER, "test/worker ü", "127.0.0.1:10001");
        commit_and_wait(&m);
        assert_true(fake_find(STATUS "/worker_test%2Fworker%20%C3%BC") >= 0);
        stop(&m);
        expect_recovered("worker test/worker ü=127.0.0.1:10001 ");
        assert_int_equal(children_of(ELECTION), 0);
}

static void many_changes_go_in_few_transactions_in_order(void **state)
{
        struct master_like m;
        start(&m, configuration(NULL, NULL));
        store(&m, MASTER_RECORD_APP, "first", "");
        commit_and_wait(&m);
        m.done.len = 0;
        int before = fake.requests;
        for (int i = 0; i < 1000; i++) {
                char id[16];
                snprintf(id, sizeof(id), "a-%04d", i % 500);
                store(&m, MASTER_RECORD_APP, id, i < 500 ? "old" : "new");
                assert_false(commit(&m, i));
        }
        while (m.done.len < 1000)
                uv_run(m.loop, UV_RUN_ONCE);
        for (int i = 0; i < 1000; i++)
                assert_int_equal(m.done.data[i], i);
        assert_true(fake.requests - before < 20);
        stop(&m);
        start(&m, configuration(NULL, NULL));
        assert_null(strstr(buf_text(&m.records), "old"));
        assert_non_null(strstr(buf_text(&m.records), "app a-0498=new app a-0499=new "));
        stop(&m);
}

static void those_who_stand_by_follow_in_order(void **state)
{
        struct master_like a, b, c;
        start(&a, configuration(NULL, NULL));
        stand(&b, configuration(NULL, NULL));
        while (children_of(ELECTION) < 2)
                turn(&b);
        stand(&c, configuration(NULL, NULL));
        while (children_of(ELECTION) < 3)
                turn(&c);
        for (int i = 0; i < 20; i++) {
                turn(&b);
                turn(&c);
        }
        assert_false(b.elected || c.elected);
        stop(&a);
        turn_until(&b, &b.elected);
        for (int i = 0; i < 20; i++)
                turn(&c);
        assert_false(c.elected);
        locked(fake_expire, fake.sessions[1]);
        turn_until(&b, &b.revoked);
        assert_false(commit(&b, 1));
        turn_until(&c, &c.elected);
        stop(&b);
        stop(&c);
}

/* Number of sessions so far. Another thread creates them. */
static int sessions(void)
{
        pthread_mutex_lock(&fake.lock);
        int n = fake.n_sessions;
        pthread_mutex_unlock(&fake.lock);
        return n;
}

/* The answer to the latch's creation is lost: no second latch may remain. */
static void a_lost_answer_leaves_no_second_latch(void **state)
{
        for (int way = LOSE_REQUEST; way <= LOSE_ANSWER; way++) {
                struct master_like m;
                start(&m, configuration(NULL, NULL));
                stop(&m); /* the directories exist */
                int before = sessions();
                stand(&m, configuration(NULL, NULL));
                while (sessions() == before)
                        uv_run(m.loop, UV_RUN_NOWAIT);
                for (int nth = 0; !m.elected; nth++) {
                        pthread_mutex_lock(&fake.lock);
                        if (nth < 30)
                                newest_session()->lose = (unsigned)way;
                        fake_reconnect(newest_session());
                        pthread_mutex_unlock(&fake.lock);
                        turn(&m);
                }
                assert_int_equal(children_of(ELECTION), 1);
                stop(&m);
                fake_reset();
        }
}

static void a_batch_of_which_nobody_knows_is_sent_again(void **state)
{
        for (int way = LOSE_REQUEST; way <= LOSE_ANSWER; way++) {
                struct master_like m;
                start(&m, configuration(NULL, NULL));
                store(&m, MASTER_RECORD_APP, "a-1", "one");
                store(&m, MASTER_RECORD_APP, "a-2", "two");
                store(&m, MASTER_RECORD_APP, "a-3", "three");
                commit_and_wait(&m);
                m.done.len = 0;
                newest_session()->lose = (unsigned)way;
                store(&m, MASTER_RECORD_APP, "a-4", "four");
                persistence_remove(m.p, MASTER_RECORD_APP, "a-1");
                persistence_remove(m.p, MASTER_RECORD_APP, "a-9");
                store(&m, MASTER_RECORD_APP, "a-2", "changed");
                persistence_remove(m.p, MASTER_RECORD_APP, "a-3");
                assert_false(commit(&m, 1));
                while (!persistence_trouble(m.p))
                        turn(&m);
                for (int i = 0; i < 10; i++)
                        turn(&m);
                assert_int_equal(m.done.len, 0);
                locked(fake_reconnect, newest_session());
                while (m.done.len == 0)
                        turn(&m);
                assert_null(persistence_trouble(m.p));
                assert_false(m.revoked);
                stop(&m);
                expect_recovered("app a-2=changed app a-4=four ");
                fake_reset();
        }
}

/* It may exist, so removing it takes a step, although its creation was never confirmed. */
static void what_may_have_been_made_is_removed(void **state)
{
        for (int way = LOSE_REQUEST; way <= LOSE_ANSWER; way++) {
                struct master_like m;
                start(&m, configuration(NULL, NULL));
                newest_session()->lose = (unsigned)way;
                store(&m, MASTER_RECORD_DRIVER, "d-1", "one");
                store(&m, MASTER_RECORD_DRIVER, "d-2", "two");
                assert_false(commit(&m, 1));
                while (!persistence_trouble(m.p))
                        turn(&m);
                persistence_remove(m.p, MASTER_RECORD_DRIVER, "d-1");
                assert_false(commit(&m, 2));
                locked(fake_reconnect, newest_session());
                while (m.done.len < 2)
                        turn(&m);
                stop(&m);
                expect_recovered("driver d-2=two ");
                fake_reset();
        }
}

static void a_leader_that_hears_nothing_gives_up(void **state)
{
        struct master_like m;
        fake_agreed = 1000;
        start(&m, configuration(NULL, NULL));
        locked(fake_disconnect, newest_session());
        store(&m, MASTER_RECORD_APP, "a-1", "one");
        assert_false(commit(&m, 1));
        run_until(&m, &m.revoked);
        assert_non_null(strstr(m.why, "ZooKeeper has not answered for"));
        assert_int_equal(m.done.len, 0);
        stop(&m);
        locked(fake_expire, newest_session());
        expect_recovered("");
}

static void a_node_that_is_taken_away_ends_leadership(void **state)
{
        struct master_like m;
        start(&m, configuration(NULL, NULL));
        pthread_mutex_lock(&fake.lock);
        for (int i = fake.n_nodes - 1; i >= 0; i--)
                if (fake.nodes[i].owner)
                        fake_remove(i);
        pthread_mutex_unlock(&fake.lock);
        store(&m, MASTER_RECORD_APP, "a-1", "one"); /* the transaction checks for it */
        assert_false(commit(&m, 1));
        run_until(&m, &m.revoked);
        assert_string_equal(m.why, "its node in ZooKeeper was removed");
        assert_true(fake_find(STATUS "/app_a-1") < 0);
        stop(&m);
}

static void what_is_no_record_is_left_out_and_left(void **state)
{
        struct master_like m;
        start(&m, configuration(NULL, NULL));
        store(&m, MASTER_RECORD_APP, "a-1", "one");
        store(&m, MASTER_RECORD_APP, "a-2", "two");
        stop(&m);
        int i = fake_find(STATUS "/app_a-2");
        fake.nodes[i].data[fake.nodes[i].size - 1] ^= 1;
        fake_put(STATUS "/worker_w", "\xac\xed\0\5", 4, NULL);
        fake_put(STATUS "/other", "what", 4, NULL);
        i = fake_find(STATUS "/app_a-1");
        fake_put(STATUS "/app_copy", fake.nodes[i].data, fake.nodes[i].size, NULL);
        start(&m, configuration(NULL, NULL));
        assert_string_equal(buf_text(&m.records), "app a-1=one ");
        assert_int_equal(children_of(STATUS), 5);
        store(&m, MASTER_RECORD_APP, "a-2", "again"); /* replaces the existing record */
        commit_and_wait(&m);
        stop(&m);
        expect_recovered("app a-1=one app a-2=again ");
}

static void a_directory_that_is_taken_away_is_made_again(void **state)
{
        struct master_like m;
        start(&m, configuration(NULL, NULL));
        store(&m, MASTER_RECORD_APP, "a-1", "one");
        commit_and_wait(&m);
        pthread_mutex_lock(&fake.lock);
        fake_remove(fake_find(STATUS "/app_a-1"));
        fake_remove(fake_find(STATUS));
        pthread_mutex_unlock(&fake.lock);
        store(&m, MASTER_RECORD_APP, "a-2", "two");
        commit_and_turn(&m);
        stop(&m);
        expect_recovered("app a-2=two ");
}

static void servers_that_cannot_be_found_are_tried_again(void **state)
{
        struct master_like m;
        fake.no_names = true;
        stand(&m, configuration(NULL, NULL));
        for (int i = 0; i < 50; i++)
                turn(&m);
        assert_false(m.elected || m.failed);
        pthread_mutex_lock(&fake.lock);
        fake.no_names = false;
        pthread_mutex_unlock(&fake.lock);
        turn_until(&m, &m.elected);
        stop(&m);
        fake.no_names = true;
        stand(&m, configuration(NULL, NULL));
        stop(&m); /* while it retries */
}

static void a_record_that_is_too_large_delays_nobody(void **state)
{
        struct master_like m;
        unsigned random = 1;
        size_t n = MAX_PERSISTENCE_NODE + 1;
        char *data = mem_alloc(n);
        for (size_t i = 0; i < n; i++)
                data[i] = (char)((random = random * 1103515245 + 12345) >> 16);
        start(&m, configuration(NULL, NULL));
        persistence_store(m.p, MASTER_RECORD_APP, "large", data, n);
        commit_and_wait(&m);
        memset(data, 'x', n); /* too large unpacked only */
        persistence_store(m.p, MASTER_RECORD_APP, "long", data, n);
        commit_and_wait(&m);
        stop(&m);
        assert_true(fake_find(STATUS "/app_large") < 0);
        assert_true(fake_find(STATUS "/app_long") >= 0);
        free(data);
}

/* --------------------------------------------------------------------------------------------------- at random */

static unsigned random_state, random_seed;

static unsigned dice(unsigned sides)
{
        random_state = random_state * 1103515245 + 12345;
        return (random_state >> 16) % sides;
}

#define MASTERS 3
#define IDS 8
#define SEEDS 300

struct write {
        int number; /* the order of writing, and the value */
        bool removed;
};

/* Valid contents of an id: the last committed value, or a later written one. */
static struct {
        VEC(struct write) ids[IDS];
        int number;
        struct master_like *leader; /* the last one elected */
        struct model_snapshot *snapshots;
        int elections, commits;
} model;

/* The state that a commit makes durable. */
struct model_snapshot {
        struct master_like *m;
        int number;
        struct model_snapshot *next;
};

static void written(int id, bool removed)
{
        vec_push(&model.ids[id], (struct write){++model.number, removed});
}

static void check_recovered(struct master_like *m)
{
        for (int i = 0; i < IDS; i++) {
                char prefix[16];
                snprintf(prefix, sizeof(prefix), "app a-%d=", i);
                const char *found = strstr(buf_text(&m->records), prefix);
                size_t k = 0;
                for (; k < model.ids[i].len; k++) {
                        const struct write *w = &model.ids[i].data[k];
                        if (w->removed ? !found : found && atoi(found + strlen(prefix)) == w->number)
                                break;
                }
                if (k == model.ids[i].len)
                        fail_msg("seed %u: %s… is none of the %zu that may be in: %s", random_seed, prefix, k,
                                 buf_text(&m->records));
                model.ids[i].data[0] = model.ids[i].data[k];
                model.ids[i].len = 1;
        }
        model.leader = m;
        model.elections++;
}

static void committed(void *context)
{
        const struct model_snapshot *s = context;
        if (s->m != model.leader) /* a late call; the next leader has found its changes */
                return;
        model.commits++;
        for (int i = 0; i < IDS; i++) {
                size_t last = model.ids[i].len - 1;
                while (last > 0 && model.ids[i].data[last].number > s->number)
                        last--;
                model.ids[i].len -= last;
                memmove(model.ids[i].data, model.ids[i].data + last, model.ids[i].len * sizeof(struct write));
        }
}

/* Changes by the leader. A former leader's writes are never found and are not in the model. */
static void work(struct master_like *m)
{
        if (m != model.leader) {
                store(m, MASTER_RECORD_APP, "a-0", "-1");
                commit(m, -1);
                return;
        }
        for (unsigned n = 1 + dice(5); n > 0; n--) {
                unsigned id = dice(IDS);
                char name[8], value[16];
                snprintf(name, sizeof(name), "a-%u", id);
                written((int)id, dice(3) == 0);
                snprintf(value, sizeof(value), "%d", model.number);
                if (model.ids[id].data[model.ids[id].len - 1].removed)
                        persistence_remove(m->p, MASTER_RECORD_APP, name);
                else
                        store(m, MASTER_RECORD_APP, name, value);
        }
        struct model_snapshot *s = new0(struct model_snapshot);
        *s = (struct model_snapshot){.m = m, .number = model.number, .next = model.snapshots};
        model.snapshots = s;
        if (persistence_commit(m->p, committed, s))
                committed(s);
}

/* Any session in use. */
static struct zookeeper_handle *any_session(void)
{
        struct zookeeper_handle *h = NULL;
        unsigned n = 0;
        for (int i = 0; i < fake.n_sessions; i++)
                if (!fake.sessions[i]->closed && dice(++n) == 0)
                        h = fake.sessions[i];
        return h;
}

static void disturb(void)
{
        pthread_mutex_lock(&fake.lock);
        struct zookeeper_handle *h = any_session();
        if (h)
                switch (dice(8)) {
                case 0:
                        fake_disconnect(h);
                        break;
                case 1:
                        fake_expire(h);
                        break;
                case 2:
                        h->lose = LOSE_REQUEST;
                        break;
                case 3:
                        h->lose = LOSE_ANSWER;
                        break;
                default:
                        fake_reconnect(h);
                }
        if (dice(6) == 0) /* the servers notice sessions that were abandoned */
                for (int i = 0; i < fake.n_sessions; i++)
                        if (fake.sessions[i]->closed)
                                fake_expire(fake.sessions[i]);
        pthread_mutex_unlock(&fake.lock);
}

/* A master and its state in the model. */
struct zookeeper_member {
        struct master_like m;
        struct zookeeper_handle *session;
        bool known; /* it was notified that it leads */
};

/* Replaces an expired session within an iteration. */
static void turn_member(struct zookeeper_member *member)
{
        int sessions = fake.n_sessions;
        turn(&member->m);
        if (fake.n_sessions > sessions)
                member->session = newest_session();
}

static void join(struct zookeeper_member *member)
{
        stand(&member->m, configuration(NULL, NULL));
        turn(&member->m);
        member->session = newest_session();
        member->known = false;
}

static void leave(struct zookeeper_member *member)
{
        if (model.leader == &member->m)
                model.leader = NULL; /* its pending commits will never complete */
        stop(&member->m);
}

/* One iteration of a master: checks an elected one, replaces a deposed one. A master that is elected after its
 * session has expired may have read outdated records but cannot change anything: it is not a leader. (Outside of this
 * test it would notice by the time that has passed.)
 */
static void live(struct zookeeper_member *member)
{
        struct master_like *m = &member->m;
        turn_member(member);
        if (m->elected && !member->known) {
                member->known = true;
                if (!member->session->expired)
                        check_recovered(m);
        }
        if (m->revoked || dice(200) == 0) {
                leave(member);
                join(member);
        }
}

/* Stops all faults and waits for a leader that can commit. */
static void calm_down(struct zookeeper_member members[static MASTERS])
{
        int before = model.commits;
        while (model.commits == before) {
                pthread_mutex_lock(&fake.lock);
                for (int i = 0; i < fake.n_sessions; i++) {
                        fake.sessions[i]->lose = LOSE_NOTHING;
                        if (fake.sessions[i]->closed)
                                fake_expire(fake.sessions[i]);
                        else
                                fake_reconnect(fake.sessions[i]);
                }
                pthread_mutex_unlock(&fake.lock);
                for (int i = 0; i < MASTERS; i++) {
                        live(&members[i]);
                        if (&members[i].m == model.leader && persistence_leads(members[i].m.p))
                                work(&members[i].m);
                }
        }
}

static void whatever_is_lost_what_was_committed_is_not(void **state)
{
        int elections = 0, commits = 0;
        for (unsigned seed = 1; seed <= SEEDS; seed++) {
                struct zookeeper_member members[MASTERS] = {0};
                random_state = random_seed = seed;
                model.leader = NULL;
                model.number = model.elections = model.commits = 0;
                for (int i = 0; i < IDS; i++) {
                        model.ids[i].len = 0;
                        vec_push(&model.ids[i], (struct write){0, true});
                }
                for (int i = 0; i < MASTERS; i++)
                        join(&members[i]);
                for (int step = 0; step < 400; step++) {
                        struct zookeeper_member *member = &members[dice(MASTERS)];
                        live(member);
                        if (persistence_leads(member->m.p) && dice(3) == 0)
                                work(&member->m);
                        if (step < 300 && dice(12) == 0)
                                disturb();
                }
                calm_down(members);
                for (int i = 0; i < MASTERS; i++)
                        leave(&members[i]);
                join(&members[0]); /* check the final records once more */
                while (!members[0].known)
                        live(&members[0]);
                leave(&members[0]);
                for (struct model_snapshot *s = model.snapshots, *next; s; s = next) {
                        next = s->next;
                        free(s);
                }
                model.snapshots = NULL;
                elections += model.elections;
                commits += model.commits;
                fake_reset();
        }
        for (int i = 0; i < IDS; i++)
                vec_deinit(&model.ids[i]);
        assert_true(elections >= SEEDS);
        assert_true(commits >= SEEDS);
}

/* -------------------------------------------------------------------------------------------------------- refusals */

static void expect_refused(const struct fst_conf *conf, const char *text)
{
        struct fst_error error = FST_ERROR_INIT;
        struct persistence *p = NULL;
        uv_loop_t loop;
        uv_loop_init(&loop);
        assert_true(persistence_open(&loop, conf, "spark://here:7077", &ops, NULL, &p, &error) < 0);
        if (!strstr(error_message(&error), text))
                fail_msg("%s", error_message(&error));
        error_deinit(&error);
        assert_int_equal(uv_loop_close(&loop), 0);
}

static void rejects_invalid_zookeeper_urls_paths_and_timeouts(void **state)
{
        expect_refused(configuration("spark.deploy.zookeeper.url", ""), "set spark.deploy.zookeeper.url");
        expect_refused(configuration("spark.deploy.zookeeper.url", "a:2181,b:x"),
                       "spark.deploy.zookeeper.url is a:2181,b:x: b:x is not host:port of a server");
        expect_refused(configuration("spark.deploy.zookeeper.url", ":2181"), "is not host:port of a server");
        expect_refused(configuration("spark.deploy.zookeeper.dir", "spark"), "spark.deploy.zookeeper.dir is spark");
        expect_refused(configuration("spark.deploy.zookeeper.dir", "/"), "it must be a path like /spark");
        expect_refused(configuration("spark.firesteel.zookeeper.user", "alice"), "belong together");
        expect_refused(configuration("spark.firesteel.zookeeper.sessionTimeout", "10ms"),
                       "spark.firesteel.zookeeper.sessionTimeout is 10 ms");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, use_fake, forget_fake)
        const struct CMUnitTest tests[] = {
                TEST(stored_and_removed_as_in_the_engines_suite),
                TEST(many_changes_go_in_few_transactions_in_order),
                TEST(those_who_stand_by_follow_in_order),
                TEST(a_lost_answer_leaves_no_second_latch),
                TEST(a_batch_of_which_nobody_knows_is_sent_again),
                TEST(what_may_have_been_made_is_removed),
                TEST(a_leader_that_hears_nothing_gives_up),
                TEST(a_node_that_is_taken_away_ends_leadership),
                TEST(what_is_no_record_is_left_out_and_left),
                TEST(a_directory_that_is_taken_away_is_made_again),
                TEST(servers_that_cannot_be_found_are_tried_again),
                TEST(a_record_that_is_too_large_delays_nobody),
                TEST(whatever_is_lost_what_was_committed_is_not),
                TEST(rejects_invalid_zookeeper_urls_paths_and_timeouts),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
