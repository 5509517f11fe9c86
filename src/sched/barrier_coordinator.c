/*
 * Spark's BarrierCoordinator. A meeting exists from the first request of a stage attempt until the attempt ends. Its
 * epoch counts completed barriers. The timeout runs from the arrival of the first task.
 *
 * Invariant: arrived is the number of taken seats. Between two epochs all seats are free.
 */
#include "sched/barrier_coordinator.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/queue.h"
#include "base/vec.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

struct seat {
        bool taken;
        void *user;
        struct barrier_message message; /* a copy */
};

struct meeting {
        int stage, stage_attempt, n_tasks;
        int epoch, arrived;
        enum barrier_method method; /* of this epoch */
        int64_t until;              /* INT64_MAX if no task waits */
        struct seat *seats;
};

struct barrier_coordinator {
        int64_t timeout;
        VEC(struct meeting) meetings;
        QUEUE(struct barrier_action) actions;
        struct barrier_action current; /* taken out last */
};

struct barrier_coordinator *barrier_coordinator_new(int64_t timeout)
{
        struct barrier_coordinator *c = new0(struct barrier_coordinator);

        c->timeout = timeout;
        return c;
}

static void clear_seats(struct meeting *m)
{
        for (int i = 0; i < m->n_tasks; i++) {
                free((void *)m->seats[i].message.data);
                m->seats[i] = (struct seat){0};
        }
        m->arrived = 0;
        m->until = INT64_MAX;
}

static void remove_meeting(struct barrier_coordinator *c, struct meeting *m)
{
        clear_seats(m);
        free(m->seats);
        *m = c->meetings.data[--c->meetings.len];
}

void barrier_coordinator_free(struct barrier_coordinator *c)
{
        if (!c)
                return;
        while (c->meetings.len > 0)
                remove_meeting(c, &c->meetings.data[0]);
        vec_deinit(&c->meetings);
        while (barrier_coordinator_next_action(c))
                ;
        queue_deinit(&c->actions);
        free(c);
}

static void barrier_action_deinit(struct barrier_action *action)
{
        for (int i = 0; action->messages && i < action->n; i++)
                free((void *)action->messages[i].data);
        free(action->messages);
        free(action->failure);
        free(action->users);
        *action = (struct barrier_action){0};
}

const struct barrier_action *barrier_coordinator_next_action(struct barrier_coordinator *c)
{
        barrier_action_deinit(&c->current);
        return queue_pop(&c->actions, &c->current) ? &c->current : NULL;
}

/* Fails one request. Takes @message. */
static void request_fail(struct barrier_coordinator *c, const struct barrier_request *r, char *message)
{
        void **users = new_array(void *, 1);

        users[0] = r->user;
        queue_push(&c->actions, (struct barrier_action){.users = users, .n = 1, .failure = message});
}

/* Fails the waiting tasks with the message, which it takes, and removes the meeting. */
static void fail_meeting(struct barrier_coordinator *c, struct meeting *m, char *message)
{
        struct barrier_action action = {.users = new_array(void *, (size_t)m->n_tasks), .failure = message};

        for (int i = 0; i < m->n_tasks; i++)
                if (m->seats[i].taken)
                        action.users[action.n++] = m->seats[i].user;
        if (action.n > 0)
                queue_push(&c->actions, action);
        else
                barrier_action_deinit(&action);
        remove_meeting(c, m);
}

static struct meeting *meeting_of(struct barrier_coordinator *c, const struct barrier_request *r)
{
        for (size_t i = 0; i < c->meetings.len; i++)
                if (c->meetings.data[i].stage == r->stage && c->meetings.data[i].stage_attempt == r->stage_attempt)
                        return &c->meetings.data[i];
        vec_push(&c->meetings, (struct meeting){.stage = r->stage,
                                                .stage_attempt = r->stage_attempt,
                                                .n_tasks = r->n_tasks,
                                                .until = INT64_MAX,
                                                .seats = new_array(struct seat, (size_t)MAX(r->n_tasks, 1))});
        return &c->meetings.data[c->meetings.len - 1];
}

static void barrier_coordinator_complete(struct barrier_coordinator *c, struct meeting *m)
{
        struct barrier_action action = {.users = new_array(void *, (size_t)m->n_tasks),
                                        .n = m->n_tasks,
                                        .messages = new_array(struct barrier_message, (size_t)m->n_tasks)};

        for (int i = 0; i < m->n_tasks; i++) {
                action.users[i] = m->seats[i].user;
                action.messages[i] = m->seats[i].message;
                m->seats[i].message.data = NULL;
        }
        queue_push(&c->actions, action);
        clear_seats(m);
        m->epoch++;
}

/* Checks the request by itself. Returns NULL or an error message, which the caller frees. */
static char *barrier_coordinator_refuse(const struct meeting *m, const struct barrier_request *r)
{
        if (r->n_tasks != m->n_tasks || r->index < 0 || r->index >= m->n_tasks)
                return mem_printf("Number of tasks of Stage %d (Attempt %d) is %d from Task %" PRId64
                                  ", previously it was %d.",
                                  r->stage, r->stage_attempt, r->n_tasks, r->task_id, m->n_tasks);
        if (r->epoch != m->epoch || m->seats[r->index].taken)
                return mem_printf("The request to sync of Stage %d (Attempt %d) with barrier epoch %d has already "
                                  "finished. Maybe task %" PRId64 " is not properly killed.",
                                  r->stage, r->stage_attempt, r->epoch, r->task_id);
        return NULL;
}

static void sit_down(struct meeting *m, const struct barrier_request *r)
{
        struct seat *seat = &m->seats[r->index];

        *seat = (struct seat){.taken = true, .user = r->user, .message = {NULL, r->message.len}};
        if (r->message.len > 0) {
                void *copy = mem_alloc(r->message.len);

                memcpy(copy, r->message.data, r->message.len);
                seat->message.data = copy;
        }
        m->arrived++;
}

void barrier_coordinator_request(struct barrier_coordinator *c, const struct barrier_request *r, int64_t now)
{
        struct meeting *m;
        char *refusal;

        if (r->n_tasks < 1) {
                request_fail(c, r, mem_strdup("a barrier has at least one task"));
                return;
        }
        m = meeting_of(c, r);
        refusal = barrier_coordinator_refuse(m, r);
        if (refusal) {
                request_fail(c, r, refusal);
                return;
        }
        if (m->arrived > 0 && m->method != r->method) {
                static const char *const names[] = {"BARRIER", "ALL_GATHER"};
                char *message =
                        mem_printf("Different barrier sync types found for the sync Stage %d (Attempt %d): %s, %s. "
                                   "Please use the same barrier sync type within a single sync.",
                                   r->stage, r->stage_attempt, names[m->method], names[r->method]);

                sit_down(m, r);
                fail_meeting(c, m, message);
                return;
        }
        if (m->arrived == 0) {
                m->method = r->method;
                m->until = c->timeout > INT64_MAX - now ? INT64_MAX : now + c->timeout;
        }
        sit_down(m, r);
        if (m->arrived == m->n_tasks)
                barrier_coordinator_complete(c, m);
}

void barrier_coordinator_stage_end(struct barrier_coordinator *c, int stage, int stage_attempt)
{
        for (size_t i = c->meetings.len; i-- > 0;) {
                struct meeting *m = &c->meetings.data[i];

                if (m->stage == stage && (stage_attempt < 0 || m->stage_attempt == stage_attempt))
                        fail_meeting(c, m, mem_strdup("the stage has ended"));
        }
}

int64_t barrier_coordinator_deadline(const struct barrier_coordinator *c)
{
        int64_t deadline = INT64_MAX;

        for (size_t i = 0; i < c->meetings.len; i++)
                if (c->meetings.data[i].until < deadline)
                        deadline = c->meetings.data[i].until;
        return deadline;
}

void barrier_coordinator_tick(struct barrier_coordinator *c, int64_t now)
{
        for (size_t i = c->meetings.len; i-- > 0;) {
                struct meeting *m = &c->meetings.data[i];

                if (m->until > now)
                        continue;
                char *message =
                        mem_printf("The coordinator didn't get all barrier sync requests for barrier epoch %d from "
                                   "Stage %d (Attempt %d) within %" PRId64 " second(s).",
                                   m->epoch, m->stage, m->stage_attempt, c->timeout / NS_PER_SECOND);
                fail_meeting(c, m, message);
        }
}
