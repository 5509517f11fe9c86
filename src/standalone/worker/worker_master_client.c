/*
 * A worker's connections to its masters. To test a connection, the worker sends an ask of an unknown type: any reply
 * means that the master is connected, and a failure has the reason. The same ask follows each report. Messages arrive
 * in order, so its reply confirms the report.
 */
#include "standalone/worker/worker_master_client.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"

#define MASTER(type) FIRESTEEL__STANDALONE__STANDALONE_TYPE__##type

struct worker_master_link {
        struct worker_masters *masters;
        int number;
        const char *address; /* "host:port" */
        struct rpc_ref *ref;
        struct rpc_peer *peer;  /* NULL if not connected */
        struct rpc_ref *master; /* its endpoint, over this connection */
        bool told;              /* the log has the line that it cannot be reached */
};

/* A state change that a leader must acknowledge. */
struct pending_report {
        uint16_t type;
        int asked; /* index of the master asked last, -1 if none or if its connection is lost */
        size_t len;
        uint8_t body[];
};

/* Asks whether a master has stored a report. A frozen master does not reply, and another may lead meanwhile. Then the
 * report goes to that one too, and a late reply of the first is ignored.
 */
struct report_query {
        struct worker_masters *masters;
        struct pending_report *report; /* NULL if acknowledged */
        int asked;
};

struct worker_masters {
        uv_loop_t *loop;
        struct rpc_env *env;
        const struct worker_conf *conf;
        const struct worker_masters_ops *ops;
        void *owner;
        struct registration *registration;
        uv_timer_t timer;
        struct worker_master_link *links;
        size_t n;
        void *introduction;
        size_t introduction_len;
        char *nonce; /* sent by the last master that contacted this worker */
        char *url, *web_ui;
        bool was_taken; /* at least once */
        bool closed;
        VEC(struct pending_report *) reports;
        VEC(struct report_query *) questions; /* unanswered */
};

/* ------------------------------------------------------------------------------------------------- the clock */

static void worker_master_client_on_timer(uv_timer_t *timer);
static void worker_master_client_do(struct worker_masters *m, const struct registration_action *action);

/* Carries out the actions of the registration and restarts its timer. Called after each event. */
static void worker_master_client_run(struct worker_masters *m)
{
        for (const struct registration_action *action; (action = registration_next_action(m->registration));)
                worker_master_client_do(m, action);

        int64_t deadline = registration_deadline(m->registration), now = now_ns();
        if (m->closed || deadline == INT64_MAX)
                uv_timer_stop(&m->timer);
        else
                uv_timer_start(&m->timer, worker_master_client_on_timer, ms_until(deadline, now), 0);
}

static void worker_master_client_on_timer(uv_timer_t *timer)
{
        struct worker_masters *m = timer->data;
        uv_update_time(m->loop);
        registration_tick(m->registration, now_ns());
        worker_master_client_run(m);
}

/* ------------------------------------------------------------------------------------------------- reaching */

static void link_drop(struct worker_master_link *l)
{
        if (l->peer)
                rpc_peer_unref(steal(l->peer));
        rpc_ref_unref(steal(l->master));
}

static void worker_master_client_reached(void *owner, struct rpc_answer *answer)
{
        struct worker_master_link *l = owner;
        struct worker_masters *m = l->masters;
        if (m->closed)
                return;
        if (answer->peer && rpc_peer_connected(answer->peer)) {
                link_drop(l);
                l->peer = rpc_peer_ref_new(answer->peer);
                l->master = rpc_peer_ref(l->peer, STANDALONE_MASTER_ENDPOINT);
                l->told = false;
                rpc_peer_authorize(l->peer);
                registration_reached(m->registration, l->number, now_ns());
        } else {
                log_at(l->told ? LOG_DEBUG : LOG_WARN, "Worker", "Failed to connect to master %s: %s", l->address,
                       answer->message ? answer->message : "the connection was lost");
                l->told = true;
                registration_unreachable(m->registration, l->number, now_ns());
        }
        worker_master_client_run(m);
}

static void worker_master_client_reach(struct worker_masters *m, int number)
{
        struct worker_master_link *l = &m->links[number];
        log_at(l->told ? LOG_DEBUG : LOG_INFO, "Worker", "Connecting to master %s...", l->address);
        int r = rpc_ask(l->ref, MASTER(STANDALONE_NONE), NULL, 0, NULL, 0, worker_master_client_reached, l);
        if (r) {
                log_warn("Worker", "Failed to connect to master %s: %s", l->address, strerror(-r));
                registration_unreachable(m->registration, number, now_ns());
        }
}

static void worker_master_client_introduce(struct worker_masters *m, int number)
{
        Firesteel__Standalone__RegisterWorker more = FIRESTEEL__STANDALONE__REGISTER_WORKER__INIT;
        more.nonce = m->nonce;
        standalone_send_joined(m->links[number].master, MASTER(REGISTER_WORKER), m->introduction, m->introduction_len,
                               &more.base);
}

static void worker_master_client_do(struct worker_masters *m, const struct registration_action *action)
{
        switch (action->kind) {
        case REGISTRATION_REACH:
                worker_master_client_reach(m, action->number);
                break;
        case REGISTRATION_INTRODUCE:
                worker_master_client_introduce(m, action->number);
                break;
        case REGISTRATION_RETRYING:
                log_info("Worker", "Retrying connection to master (attempt # %d)", action->number);
                break;
        case REGISTRATION_GIVE_UP:
                log_error("Worker", "All masters are unresponsive! Giving up.");
                m->ops->refused(m->owner);
                break;
        }
}

struct worker_masters *worker_masters_new(uv_loop_t *loop, struct rpc_env *env, const struct worker_conf *conf,
                                          const struct worker_masters_ops *ops, void *owner)
{
        struct worker_masters *m = new0(struct worker_masters);
        m->loop = loop;
        m->env = env;
        m->conf = conf;
        m->ops = ops;
        m->owner = owner;
        m->registration = registration_new(&conf->registration);
        m->url = mem_strdup("");
        m->web_ui = mem_strdup("");
        m->nonce = mem_strdup("");
        m->n = conf->masters.len;
        m->links = new_array(struct worker_master_link, m->n);
        for (size_t i = 0; i < m->n; i++) {
                struct worker_master_link *l = &m->links[i];
                l->masters = m;
                l->number = (int)i;
                l->address = conf->masters.data[i];
                _cleanup_free_ char *url = mem_printf("spark://" STANDALONE_MASTER_ENDPOINT "@%s", l->address);
                if (rpc_env_ref(env, url, &l->ref, NULL))
                        abort(); /* cannot fail, because the configuration's addresses are valid */
        }
        uv_timer_init(loop, &m->timer);
        m->timer.data = m;
        return m;
}

void worker_masters_start(struct worker_masters *m, const void *introduction, size_t len)
{
        m->introduction = mem_alloc(MAX(len, (size_t)1));
        memcpy(m->introduction, introduction, len);
        m->introduction_len = len;
        registration_start(m->registration, now_ns());
        worker_master_client_run(m);
}

static void worker_master_client_timer_closed(uv_handle_t *handle)
{
        struct worker_masters *m = handle->data;
        for (size_t i = 0; i < m->reports.len; i++)
                free(m->reports.data[i]);
        for (size_t i = 0; i < m->questions.len; i++)
                free(m->questions.data[i]);
        vec_deinit(&m->reports);
        vec_deinit(&m->questions);
        registration_free(m->registration);
        free(m->links);
        free(m->introduction);
        free(m->url);
        free(m->web_ui);
        free(m->nonce);
        free(m);
}

void worker_masters_close(struct worker_masters *m)
{
        m->closed = true;
        for (size_t i = 0; i < m->n; i++) {
                link_drop(&m->links[i]);
                rpc_ref_unref(steal(m->links[i].ref));
        }
        uv_close((uv_handle_t *)&m->timer, worker_master_client_timer_closed);
}

/* --------------------------------------------------------------------------------------- messages from masters */

static struct worker_master_link *worker_master_client_link_of(struct worker_masters *m, const struct rpc_peer *peer)
{
        for (size_t i = 0; i < m->n; i++)
                if (m->links[i].peer == peer)
                        return &m->links[i];
        return NULL;
}

static void send_reports(struct worker_masters *m);

static void set_text(char **text, const char *value)
{
        free(*text);
        *text = mem_strdup(value);
}

static void worker_master_client_taken(struct worker_masters *m, struct worker_master_link *l, const char *url,
                                       const char *web_ui)
{
        registration_taken(m->registration, l->number);
        worker_master_client_run(m);
        set_text(&m->url, url);
        set_text(&m->web_ui, web_ui);
        m->was_taken = true;
        send_reports(m);
        m->ops->taken(m->owner);
}

/* Checks the master's version. A mismatch counts as a refusal unless another master leads. */
static bool worker_master_client_fits(struct worker_masters *m, const struct worker_master_link *l,
                                      const Firesteel__Standalone__Version *version)
{
        struct fst_error error = FST_ERROR_INIT;
        _cleanup_free_ char *master = mem_printf("the master at %s", l->address);
        if (standalone_version_check(version, master, "this worker", &error) == 0)
                return true;
        log_error("Worker", "%s", error_message(&error));
        error_deinit(&error);
        if (!m->was_taken)
                m->ops->refused(m->owner);
        return false;
}

static void handle_worker_registered(struct worker_masters *m, struct worker_master_link *l,
                                     const struct rpc_message *message)
{
        _cleanup_(standalone_memory_deinit) struct wire_memory memory = wire_memory_for(message->len);
        const Firesteel__Standalone__WorkerRegistered *r = standalone_decode(
                message->body, message->len, &firesteel__standalone__worker_registered__descriptor, &memory, NULL);
        if (!r || !worker_master_client_fits(m, l, r->version))
                return;
        _cleanup_free_ char *reached = mem_printf("spark://%s", l->address);
        const char *named = m->conf->prefer_configured_master ? reached : r->master_url;
        if (r->again && worker_masters_leads(m, l->peer))
                log_warn("Worker", "Duplicate registration at master %s", named);
        log_info("Worker", "Successfully registered with master %s", named);
        worker_master_client_taken(m, l, r->master_url, r->master_web_ui);
}

static void handle_master_in_standby(struct worker_masters *m, struct worker_master_link *l,
                                     const struct rpc_message *message)
{
        _cleanup_(standalone_memory_deinit) struct wire_memory memory = wire_memory_for(message->len);
        const Firesteel__Standalone__MasterInStandby *s = standalone_decode(
                message->body, message->len, &firesteel__standalone__master_in_standby__descriptor, &memory, NULL);
        if (!s || !worker_master_client_fits(m, l, s->version))
                return;
        log_debug("Worker", "The master at %s is in standby", l->address);
        if (worker_masters_leads(m, l->peer)) {
                registration_again(m->registration, now_ns());
                worker_master_client_run(m);
        }
}

/* A peer announced that a master leads: connect to that master and ask it. */
static void ask_master(struct worker_masters *m, const char *url)
{
        log_info("Worker", "Master has changed, new master is said to be at %s", url);
        if (registration_leader(m->registration) < 0) {
                registration_again(m->registration, now_ns());
                worker_master_client_run(m);
        }
}

static void handle_master_changed(struct worker_masters *m, struct worker_master_link *l,
                                  const struct rpc_message *message)
{
        _cleanup_(standalone_memory_deinit) struct wire_memory memory = wire_memory_for(message->len);
        const Firesteel__Standalone__MasterChanged *c = standalone_decode(
                message->body, message->len, &firesteel__standalone__master_changed__descriptor, &memory, NULL);
        if (!c)
                return;
        if (!l) {
                set_text(&m->nonce, c->nonce);
                ask_master(m, c->master_url);
                return;
        }
        if (!worker_master_client_fits(m, l, c->version))
                return;
        log_info("Worker", "Master has changed, new master is at %s", c->master_url);
        worker_master_client_taken(m, l, c->master_url, c->master_web_ui);
}

static void handle_registration_refused(struct worker_masters *m, const struct rpc_message *message)
{
        _cleanup_(standalone_memory_deinit) struct wire_memory memory = wire_memory_for(message->len);
        const Firesteel__Standalone__Sentence *s = standalone_decode(
                message->body, message->len, &firesteel__standalone__sentence__descriptor, &memory, NULL);
        if (!s || worker_masters_connected(m))
                return;
        log_error("Worker", "Worker registration failed: %s", s->text);
        m->ops->refused(m->owner);
}

static void handle_reconnect(struct worker_masters *m, const struct worker_master_link *l)
{
        if (registration_leader(m->registration) >= 0 && !worker_masters_leads(m, l->peer))
                return;
        log_info("Worker", "Master with url %s requested this worker to reconnect.", *m->url ? m->url : l->address);
        registration_again(m->registration, now_ns());
        worker_master_client_run(m);
}

bool worker_masters_receive(struct worker_masters *m, struct rpc_message *message)
{
        struct worker_master_link *l = worker_master_client_link_of(m, message->peer);
        switch (message->type) {
        case MASTER(WORKER_REGISTERED):
        case MASTER(REGISTRATION_REFUSED):
        case MASTER(MASTER_IN_STANDBY):
        case MASTER(RECONNECT_WORKER):
        case MASTER(MASTER_CHANGED):
                break;
        default:
                return false;
        }
        if (m->closed || (!l && message->type != MASTER(MASTER_CHANGED)))
                return true;
        if (message->type == MASTER(WORKER_REGISTERED))
                handle_worker_registered(m, l, message);
        else if (message->type == MASTER(MASTER_IN_STANDBY))
                handle_master_in_standby(m, l, message);
        else if (message->type == MASTER(MASTER_CHANGED))
                handle_master_changed(m, l, message);
        else if (message->type == MASTER(RECONNECT_WORKER))
                handle_reconnect(m, l);
        else
                handle_registration_refused(m, message);
        return true;
}

void worker_masters_disconnected(struct worker_masters *m, struct rpc_peer *peer, const char *why)
{
        struct worker_master_link *l = worker_master_client_link_of(m, peer);
        if (!l || m->closed)
                return;
        log_info("Worker", "%s Disassociated !", l->address);
        if (worker_masters_leads(m, peer))
                log_error("Worker", "Connection to master failed! Waiting for master to reconnect... (%s)", why);
        link_drop(l);
        for (size_t i = 0; i < m->reports.len; i++)
                if (m->reports.data[i]->asked == l->number)
                        m->reports.data[i]->asked = -1;
        registration_unreachable(m->registration, l->number, now_ns());
        worker_master_client_run(m);
}

bool worker_masters_leads(const struct worker_masters *m, const struct rpc_peer *peer)
{
        int leader = registration_leader(m->registration);
        return leader >= 0 && peer && m->links[leader].peer == peer;
}

bool worker_masters_connected(const struct worker_masters *m)
{
        return registration_leader(m->registration) >= 0;
}

const char *worker_masters_url(const struct worker_masters *m)
{
        return m->url;
}

const char *worker_masters_web_ui(const struct worker_masters *m)
{
        return m->web_ui;
}

/* ----------------------------------------------------------------------------------------- messages to masters */

static struct rpc_ref *worker_master_client_leader(const struct worker_masters *m)
{
        int number = registration_leader(m->registration);
        return number >= 0 ? m->links[number].master : NULL;
}

void worker_masters_send(struct worker_masters *m, uint16_t type, const ProtobufCMessage *body)
{
        if (worker_master_client_leader(m))
                rpc_send_packed(worker_master_client_leader(m), type, body, NULL);
}

static void forget_report(struct worker_masters *m, struct pending_report *report)
{
        for (size_t i = 0; i < m->questions.len; i++)
                if (m->questions.data[i]->report == report)
                        m->questions.data[i]->report = NULL;
        for (size_t i = 0; i < m->reports.len; i++)
                if (m->reports.data[i] == report) {
                        memmove(&m->reports.data[i], &m->reports.data[i + 1],
                                (m->reports.len - i - 1) * sizeof(*m->reports.data));
                        m->reports.len--;
                        break;
                }
        free(report);
}

static void worker_master_client_reported(void *owner, struct rpc_answer *answer)
{
        struct report_query *question = owner;
        struct worker_masters *m = question->masters;
        struct pending_report *report = question->report;
        for (size_t i = 0; i < m->questions.len; i++)
                if (m->questions.data[i] == question) {
                        m->questions.data[i] = m->questions.data[--m->questions.len];
                        break;
                }
        if (report && answer->status == 0 && worker_masters_leads(m, answer->peer)) {
                forget_report(m, report);
        } else if (report && !answer->peer && report->asked == question->asked) {
                report->asked = -1;
                send_reports(m); /* sends no message unless the reply was only late */
        }
        free(question);
}

/* Sends the reports that the leader has not been asked about. */
static void send_reports(struct worker_masters *m)
{
        int number = registration_leader(m->registration);
        for (size_t i = 0; number >= 0 && i < m->reports.len; i++) {
                struct pending_report *report = m->reports.data[i];
                if (report->asked == number)
                        continue;
                struct report_query *question = new0(struct report_query);
                *question = (struct report_query){m, report, number};
                if (rpc_ask(worker_master_client_leader(m), report->type, report->body, report->len, NULL, 0,
                            worker_master_client_reported, question)) {
                        free(question);
                        continue;
                }
                vec_push(&m->questions, question);
                report->asked = number;
        }
}

void worker_masters_send_reliable(struct worker_masters *m, uint16_t type, const ProtobufCMessage *body)
{
        size_t len = protobuf_c_message_get_packed_size(body);
        struct pending_report *report = mem_zero(sizeof(*report) + len);
        report->type = type;
        report->asked = -1;
        report->len = protobuf_c_message_pack(body, report->body);
        vec_push(&m->reports, report);
        send_reports(m);
}
