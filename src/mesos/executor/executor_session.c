/* See executor_session.h. */
#include "mesos/executor/executor_session.h"

#include "base/mem.h"

#define FIRST_PAUSE_MS 100

static uint64_t session_random(struct executor_session *s)
{
        s->random ^= s->random << 13;
        s->random ^= s->random >> 7;
        s->random ^= s->random << 17;
        return s->random * 0x2545f4914f6cdd1d;
}

void executor_session_init(struct executor_session *s, int64_t recovery_ms, int64_t backoff_ms, uint64_t seed)
{
        *s = (struct executor_session){
                .recovery_ms = recovery_ms, .backoff_ms = backoff_ms, .broken_at = -1, .random = seed | 1};
}

static void session_update_free(struct session_update *u)
{
        free(u->message);
        free(u);
}

static void session_task_free(struct session_task *t)
{
        free(t->id);
        free(t->info);
        free(t);
}

void executor_session_deinit(struct executor_session *s)
{
        struct session_update *u;
        struct session_task *t;

        while ((u = s->updates.first)) {
                list_remove(&s->updates, u);
                session_update_free(u);
        }
        while ((t = s->tasks.first)) {
                list_remove(&s->tasks, t);
                session_task_free(t);
        }
}

/* -------------------------------------------------------------------------------------------------- the connection */

void executor_session_subscribed(struct executor_session *s)
{
        s->subscribed = true;
        s->broken_at = -1;
        s->attempts = 0;
        for (struct session_update *u = s->updates.first; u; u = u->next)
                u->sent = false; /* what SUBSCRIBE handed over is refused as a repetition */
}

bool executor_session_broken(struct executor_session *s, int64_t now)
{
        s->subscribed = false;
        if (s->recovery_ms <= 0)
                return false;
        if (s->broken_at < 0)
                s->broken_at = now;
        const int64_t longest = MAX(s->backoff_ms, 1), doubled = (int64_t)FIRST_PAUSE_MS << s->attempts;
        const int64_t pause = MIN(doubled, longest);
        s->attempts = MIN(s->attempts + 1, 10);
        s->retry_at = now + pause / 2 + (int64_t)(session_random(s) % (uint64_t)(pause / 2 + 1));
        return !executor_session_gave_up(s, now);
}

int64_t executor_session_deadline(const struct executor_session *s)
{
        return s->broken_at >= 0 ? s->broken_at + s->recovery_ms : INT64_MAX;
}

bool executor_session_gave_up(const struct executor_session *s, int64_t now)
{
        return now >= executor_session_deadline(s);
}

/* ----------------------------------------------------------------------------------------------- tasks and updates */

static struct session_task *session_find(const struct executor_session *s, const char *id)
{
        for (struct session_task *t = s->tasks.first; t; t = t->next)
                if (strcmp(t->id, id) == 0)
                        return t;
        return NULL;
}

static void session_add_update(struct executor_session *s, struct session_task *t, mesos_task_state state,
                               const char *message, double timestamp)
{
        struct session_update *u = new0(struct session_update);

        *u = (struct session_update){
                .task = t, .state = state, .message = mem_strdup_if(message), .timestamp = timestamp};
        for (size_t i = 0; i < EXECUTOR_UUID_LEN; i++)
                u->uuid[i] = (uint8_t)(session_random(s) >> 32);
        u->uuid[6] = (u->uuid[6] & 0x0f) | 0x40; /* version 4 */
        u->uuid[8] = (u->uuid[8] & 0x3f) | 0x80; /* of RFC 4122 */
        list_append(&s->updates, u);
}

bool executor_session_launched(struct executor_session *s, const char *id, const uint8_t *info, size_t len,
                               double timestamp)
{
        if (session_find(s, id))
                return false;
        struct session_task *t = new0(struct session_task);
        t->id = mem_strdup(id);
        t->info = memcpy(mem_alloc(len + 1), info, len);
        t->info_len = len;
        list_append(&s->tasks, t);
        session_add_update(s, t, MESOS_TASK_RUNNING, NULL, timestamp);
        return true;
}

void executor_session_ended(struct executor_session *s, const char *id, mesos_task_state state,
                            const char *message, double timestamp)
{
        struct session_task *t = session_find(s, id);

        if (!t || t->ended)
                return;
        t->ended = true;
        session_add_update(s, t, state, message, timestamp);
}

static bool session_has_updates(const struct executor_session *s, const struct session_task *t)
{
        for (const struct session_update *u = s->updates.first; u; u = u->next)
                if (u->task == t)
                        return true;
        return false;
}

void executor_session_acknowledged(struct executor_session *s, const char *id, const uint8_t *uuid, size_t len)
{
        for (struct session_update *u = s->updates.first; u; u = u->next) {
                struct session_task *t = u->task;
                if (len != EXECUTOR_UUID_LEN || memcmp(u->uuid, uuid, len) != 0 || strcmp(t->id, id) != 0)
                        continue;
                list_remove(&s->updates, u);
                session_update_free(u);
                if (t->ended && !session_has_updates(s, t)) {
                        list_remove(&s->tasks, t);
                        session_task_free(t);
                }
                return;
        }
}

struct session_update *executor_session_next(struct executor_session *s)
{
        for (struct session_update *u = s->updates.first; u && s->subscribed; u = u->next) {
                const struct session_update *older = s->updates.first;
                while (older->task != u->task)
                        older = older->next;
                if (u->sent || older != u)
                        continue;
                u->sent = true;
                return u;
        }
        return NULL;
}

void executor_session_unsent(struct executor_session *s, const uint8_t *uuid)
{
        for (struct session_update *u = s->updates.first; u; u = u->next)
                if (memcmp(u->uuid, uuid, EXECUTOR_UUID_LEN) == 0)
                        u->sent = false;
}

bool executor_session_is_settled(const struct executor_session *s)
{
        return !s->updates.first;
}
