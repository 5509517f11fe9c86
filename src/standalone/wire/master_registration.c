/* Registration with masters. REGISTRATION_GIVE_UP is the last action. */
#include "standalone/wire/master_registration.h"

#include "base/mem.h"
#include "base/queue.h"

enum connection_stage { AWAY, REACHING, REACHED };

#define FIRST_PAUSE (100 * NS_PER_MS)

struct registered_master {
        enum connection_stage stage;
        int tries;    /* consecutive failures */
        int64_t next; /* AWAY: time of the next attempt */
};

struct registration {
        struct registration_config config;
        QUEUE(struct registration_action) actions;
        struct registration_action current; /* taken out last */
        struct registered_master *masters;
        int leader;
        int attempts;       /* since there is no leader */
        int64_t next_round; /* INT64_MAX if there is a leader */
        bool over;
};

static void registration_emit(struct registration *r, enum registration_action_kind kind, int number)
{
        queue_push(&r->actions, (struct registration_action){kind, number});
}

const struct registration_action *registration_next_action(struct registration *r)
{
        return queue_pop(&r->actions, &r->current) ? &r->current : NULL;
}

struct registration *registration_new(const struct registration_config *config)
{
        struct registration *r = new0(struct registration);
        r->config = *config;
        r->masters = new_array(struct registered_master, (size_t)config->masters);
        r->leader = -1;
        r->next_round = INT64_MAX;
        for (int i = 0; i < config->masters; i++)
                r->masters[i].next = INT64_MAX;
        return r;
}

void registration_free(struct registration *r)
{
        if (!r)
                return;
        queue_deinit(&r->actions);
        free(r->masters);
        free(r);
}

/* Returns the pause of Spark's schedule after @attempts attempts. */
static int64_t pause_after(const struct registration *r, int attempts)
{
        int64_t pause = attempts < r->config.quick ? r->config.short_pause : r->config.long_pause;
        return (int64_t)((double)pause * r->config.stretch);
}

static void master_registration_reach(struct registration *r, int master)
{
        r->masters[master].stage = REACHING;
        r->masters[master].next = INT64_MAX;
        registration_emit(r, REGISTRATION_REACH, master);
}

static void begin_rounds(struct registration *r, int64_t now)
{
        r->leader = -1;
        r->attempts = 0;
        r->next_round = now + pause_after(r, 0);
}

/* Registers with every connected master. */
static void master_registration_ask_all(struct registration *r)
{
        for (int i = 0; i < r->config.masters && !r->over; i++) {
                if (r->masters[i].stage == AWAY)
                        master_registration_reach(r, i);
                else if (r->masters[i].stage == REACHED)
                        registration_emit(r, REGISTRATION_INTRODUCE, i);
        }
}

void registration_start(struct registration *r, int64_t now)
{
        begin_rounds(r, now);
        master_registration_ask_all(r);
}

void registration_reached(struct registration *r, int master, int64_t now)
{
        struct registered_master *m = &r->masters[master];
        (void)now;
        if (r->over)
                return;
        *m = (struct registered_master){.stage = REACHED, .next = INT64_MAX};
        registration_emit(r, REGISTRATION_INTRODUCE, master);
}

void registration_unreachable(struct registration *r, int master, int64_t now)
{
        struct registered_master *m = &r->masters[master];
        bool was_there = m->stage == REACHED;
        if (r->over || m->stage == AWAY)
                return;
        int64_t most = pause_after(r, r->leader < 0 ? r->attempts : r->config.most);
        double pause = (double)FIRST_PAUSE * r->config.stretch;
        for (int i = 0; i < m->tries && pause < (double)most; i++)
                pause *= 2;
        *m = (struct registered_master){.stage = AWAY, .tries = was_there ? 0 : m->tries + 1};
        m->next = now + MIN((int64_t)pause, most);
        if (r->leader != master)
                return;
        begin_rounds(r, now);
        for (int i = 0; i < r->config.masters; i++)
                if (r->masters[i].stage == REACHED)
                        registration_emit(r, REGISTRATION_INTRODUCE, i);
}

void registration_taken(struct registration *r, int master)
{
        r->leader = master;
        r->attempts = 0;
        r->next_round = INT64_MAX;
}

void registration_again(struct registration *r, int64_t now)
{
        if (r->over)
                return;
        begin_rounds(r, now);
        master_registration_ask_all(r);
}

int registration_leader(const struct registration *r)
{
        return r->leader;
}

int64_t registration_deadline(const struct registration *r)
{
        int64_t first = r->next_round;
        if (r->over)
                return INT64_MAX;
        for (int i = 0; i < r->config.masters; i++)
                first = MIN(first, r->masters[i].next);
        return first;
}

void registration_tick(struct registration *r, int64_t now)
{
        if (!r->over && now >= r->next_round) {
                if (r->attempts >= r->config.most) {
                        r->over = true;
                        registration_emit(r, REGISTRATION_GIVE_UP, 0);
                        return;
                }
                r->attempts++;
                r->next_round = now + pause_after(r, r->attempts);
                registration_emit(r, REGISTRATION_RETRYING, r->attempts);
                master_registration_ask_all(r);
        }
        for (int i = 0; i < r->config.masters && !r->over; i++)
                if (r->masters[i].stage == AWAY && now >= r->masters[i].next)
                        master_registration_reach(r, i);
}
