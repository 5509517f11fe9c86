/* See subscription.h. */
#include "mesos/scheduler/subscription.h"

#include "base/mem.h"
#include "base/string_prefix.h"

#include <stdio.h>

#define MS 1000000LL
#define FIRST_REST_MS 200
#define MAX_REST_MS 10000
#define OPENING_MS 60000 /* for SUBSCRIBED: a master may ask an authorizer */
#define MAX_REDIRECTIONS 5
#define MAX_BODY 500 /* bytes of an answer in a message */

void subscription_init(struct subscription *s, uint64_t seed)
{
        *s = (struct subscription){.state = SUBSCRIPTION_NO_LEADER, .deadline = INT64_MAX, .random = seed | 1};
}

void subscription_deinit(struct subscription *s)
{
        free(s->leader);
        free(s->target);
        free(s->failure);
        free(s->trouble);
}

static bool subscription_has_stream(const struct subscription *s)
{
        return s->state == SUBSCRIPTION_OPENING || s->state == SUBSCRIPTION_OPEN;
}

static void subscription_aim(struct subscription *s, const char *address)
{
        char *copy = mem_strdup(address);

        free(s->target);
        s->target = copy;
        s->state = SUBSCRIPTION_READY;
        s->deadline = INT64_MAX;
}

static void subscription_set_trouble(struct subscription *s, const char *why)
{
        free(s->trouble);
        s->trouble = mem_strdup_if(why);
}

/* Tries again after a rest that grows with the attempts. The leader may redirect to another master than before. */
static void subscription_rest(struct subscription *s, const char *why, int64_t now)
{
        int shift = s->attempts < 6 ? s->attempts : 6;
        int64_t most = (int64_t)FIRST_REST_MS << shift;

        if (most > MAX_REST_MS)
                most = MAX_REST_MS;
        s->random ^= s->random << 13;
        s->random ^= s->random >> 7;
        s->random ^= s->random << 17;
        s->deadline = now + (most / 2 + (int64_t)(s->random % (uint64_t)(most / 2 + 1))) * MS;
        s->attempts++;
        s->redirections = 0;
        s->state = SUBSCRIPTION_RESTING;
        subscription_set_trouble(s, why);
}

void subscription_fail(struct subscription *s, const char *message)
{
        if (s->state == SUBSCRIPTION_ENDED)
                return;
        s->close |= subscription_has_stream(s);
        s->state = SUBSCRIPTION_ENDED;
        s->deadline = INT64_MAX;
        s->failure = mem_strdup(message);
}

void subscription_set_leader(struct subscription *s, const char *address, int64_t now)
{
        if (s->state == SUBSCRIPTION_ENDED)
                return;
        if (!address) {
                free(s->leader);
                s->leader = NULL;
                if (!subscription_has_stream(s)) {
                        s->state = SUBSCRIPTION_NO_LEADER;
                        s->deadline = INT64_MAX;
                }
                return;
        }
        /* The present stream may already lead to the new leader, by a redirection. */
        bool there = subscription_has_stream(s) && strcmp(s->target, address) == 0;
        free(s->leader);
        s->leader = mem_strdup(address);
        if (there)
                return;
        s->close |= subscription_has_stream(s);
        s->attempts = s->redirections = 0;
        subscription_aim(s, address);
}

/* Returns "host:port" of "//host:port/path" or "http://host:port/path", which the caller owns, or NULL. */
static char *redirection_target(const char *location)
{
        const char *slashes = location ? strstr(location, "//") : NULL;
        size_t n = slashes ? strcspn(slashes + 2, "/?#") : 0;

        return n > 0 ? mem_strndup(slashes + 2, n) : NULL;
}

static void subscription_follow(struct subscription *s, const struct subscription_answer *answer, int64_t now)
{
        _cleanup_free_ char *target = redirection_target(answer->location);

        if (!target)
                subscription_rest(s, "the master redirects without an address", now);
        else if (s->redirections >= MAX_REDIRECTIONS)
                subscription_rest(s, "the masters redirect to each other", now);
        else {
                s->redirections++;
                subscription_aim(s, target);
        }
}

static void subscription_refuse(struct subscription *s, const struct subscription_answer *answer)
{
        const char *text = answer->text ? answer->text : "";
        char who[300], message[1400];

        if (answer->principal && !answer->has_secret)
                snprintf(who, sizeof(who), "wants a secret of the principal \"%.200s\"", answer->principal);
        else if (answer->principal)
                snprintf(who, sizeof(who), "does not accept the principal \"%.200s\" with the given secret",
                         answer->principal);
        else
                snprintf(who, sizeof(who), "wants a principal and a secret");
        switch (answer->status) {
        case 401:
                snprintf(message, sizeof(message),
                         "The Mesos master at %.200s %s: set spark.mesos.principal and spark.mesos.secret to a pair of "
                         "the master's credentials",
                         s->target, who);
                break;
        case 403:
                snprintf(message, sizeof(message),
                         "The Mesos master at %.200s does not allow this framework to subscribe (%.*s): change "
                         "spark.mesos.principal, spark.mesos.role or the user, or the master's ACLs",
                         s->target, MAX_BODY, text);
                break;
        case 404:
        case 405:
                snprintf(
                        message, sizeof(message),
                        "The server at %.200s has no scheduler's API of Mesos (HTTP status %d): check the host and the "
                        "port in spark.master",
                        s->target, answer->status);
                break;
        default:
                if (*text == '<' || *text == '{') /* masters refuse in plain text */
                        snprintf(message, sizeof(message),
                                 "The server at %.200s is not a Mesos master (HTTP status %d): check the host and the "
                                 "port in spark.master. A dispatcher needs --deploy-mode cluster",
                                 s->target, answer->status);
                else if (text_starts_with(text, "Failed to parse body")) /* an agent's API has other calls */
                        snprintf(message, sizeof(message),
                                 "The server at %.200s is not a Mesos master, but perhaps an agent (HTTP status %d: "
                                 "%.*s): check the host and the port in spark.master",
                                 s->target, answer->status, MAX_BODY, text);
                else
                        snprintf(message, sizeof(message),
                                 "The Mesos master at %.200s refuses the subscription with HTTP status %d: %.*s",
                                 s->target, answer->status, MAX_BODY, text);
        }
        subscription_fail(s, message);
}

void subscription_answered(struct subscription *s, const struct subscription_answer *answer, int64_t now)
{
        if (!subscription_has_stream(s))
                return;
        s->state = SUBSCRIPTION_RESTING; /* the stream is gone */
        if (answer->status >= 300 && answer->status < 400)
                subscription_follow(s, answer, now);
        else if (answer->status >= 500)
                subscription_rest(s, "it does not lead, or is not ready", now);
        else if (answer->status >= 400)
                subscription_refuse(s, answer);
        else
                subscription_rest(s, "the master has ended the stream", now);
}

void subscription_subscribed(struct subscription *s, double heartbeat_seconds, int64_t now)
{
        if (s->state != SUBSCRIPTION_OPENING)
                return;
        if (!(heartbeat_seconds >= 0.001 && heartbeat_seconds <= 86400))
                heartbeat_seconds = 15;
        s->state = SUBSCRIPTION_OPEN;
        s->heartbeat = (int64_t)(heartbeat_seconds * 1e9);
        s->attempts = s->redirections = 0;
        subscription_set_trouble(s, NULL);
        subscription_received(s, now);
}

void subscription_received(struct subscription *s, int64_t now)
{
        if (s->state == SUBSCRIPTION_OPEN)
                s->deadline = now + SUBSCRIPTION_MAX_LOST_HEARTBEATS * s->heartbeat;
}

void subscription_broken(struct subscription *s, const char *why, int64_t now)
{
        if (!subscription_has_stream(s))
                return;
        if (s->state == SUBSCRIPTION_OPEN)
                s->attempts = 0;
        subscription_rest(s, why, now);
}

/* A deadline has passed. */
static void subscription_expire(struct subscription *s, int64_t now)
{
        if (s->state == SUBSCRIPTION_OPENING || s->state == SUBSCRIPTION_OPEN) {
                const char *why = s->state == SUBSCRIPTION_OPEN ? "the master's heartbeats are missing"
                                                                : "the master has not answered in time";
                s->close = true;
                subscription_rest(s, why, now);
        } else if (s->state == SUBSCRIPTION_RESTING) {
                if (s->leader)
                        subscription_aim(s, s->leader);
                else {
                        s->state = SUBSCRIPTION_NO_LEADER;
                        s->deadline = INT64_MAX;
                }
        }
}

enum subscription_action subscription_next(struct subscription *s, int64_t now)
{
        if (!s->close && now >= s->deadline)
                subscription_expire(s, now);
        if (s->close) {
                s->close = false;
                return SUBSCRIPTION_CLOSE;
        }
        if (s->state == SUBSCRIPTION_READY) {
                s->state = SUBSCRIPTION_OPENING;
                s->deadline = now + OPENING_MS * MS;
                return SUBSCRIPTION_SUBSCRIBE;
        }
        if (s->state == SUBSCRIPTION_ENDED && !s->reported) {
                s->reported = true;
                return SUBSCRIPTION_FAIL;
        }
        return SUBSCRIPTION_WAIT;
}
