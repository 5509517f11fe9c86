/* Registration with masters. After give_up it calls no more operations. */
#include "standalone/wire/master_registration.h"

#include "base/mem.h"

enum connection_stage { AWAY, REACHING, REACHED };

#define FIRST_PAUSE (100 * NS_PER_MS)

struct registered_master {
        enum connection_stage stage;
        int tries;    /* consecutive failures */
        int64_t next; /* AWAY: time of the next attempt */
};

struct registration {
        struct registration_config config;
        const struct registration_ops *ops;
        void *owner;
        struct registered_master *masters;
        int leader;
        int attempts;       /* since there is no leader */
        int64_t next_round; /* INT64_MAX if there is a leader */
        bool over;
};

struct registration *registration_new(const struct registration_config *config, const struct registration_ops *ops,
                                      void *owner)
{
        struct registration *r = new0(struct registration);
        r->config = *config;
        r->ops = ops;
        r->owner = owner;
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
        r->ops->reach(r->owner, master);
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
                        r->ops->introduce(r->owner, i);
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
        r->ops->introduce(r->owner, master);
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
                        r->ops->introduce(r->owner, i);
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
                        r->ops->give_up(r->owner);
                        return;
                }
                r->attempts++;
                r->next_round = now + pause_after(r, r->attempts);
                r->ops->retrying(r->owner, r->attempts);
                master_registration_ask_all(r);
        }
        for (int i = 0; i < r->config.masters && !r->over; i++)
                if (r->masters[i].stage == AWAY && now >= r->masters[i].next)
                        master_registration_reach(r, i);
}
