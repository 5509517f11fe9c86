/* See executor_shortage.h. */
#include "mesos/backend/executor_shortage.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"

#include <inttypes.h>

#define MAX_WAIT (600 * NS_PER_SECOND)
#define MIN_TICK_MS 10

/* ------------------------------------------------------------------------------------------------------------ text */

static const char *shortage_host(const struct executor_shortage *s, const char *agent)
{
        const char *host = agent_offers_host(&s->offers, agent);
        return host ? host : agent;
}

/* The setting that says where agents find the program of executors. */
static void shortage_put_program(const struct executor_shortage *s, struct buf *out)
{
        static const char *const keys[] = {"spark.mesos.executor.docker.image", "spark.executor.uri",
                                           "spark.mesos.executor.home"};
        for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
                const char *value = conf_get_raw(s->options.conf, keys[i]);
                if (!value)
                        continue;
                buf_printf(out, ". Is %s=%s right on the agents?", keys[i], value);
                return;
        }
        buf_printf(out,
                   ". Is Firesteel in %s on the agents? If not, set spark.mesos.executor.home or spark.executor.uri",
                   s->options.home ? s->options.home : "the directory of this driver");
}

static void shortage_put_ends(const struct executor_shortage *s, struct buf *out)
{
        buf_printf(out, "%zu executor%s ended before registering, the last on %s: %s", s->ended,
                   s->ended == 1 ? "" : "s", s->ended_on, s->end_reason);
        shortage_put_program(s, out);
        if (s->options.excludes_agents)
                buf_puts(out, " An agent gets no more executors after two failures");
        buf_puts(out, ". The stderr of executors is in their sandboxes, which the pages of Mesos show. ");
}

static void shortage_put_silence(const struct executor_shortage *s, struct buf *out)
{
        const size_t n = s->launched - s->ended;
        buf_printf(out,
                   "%zu executor%s launched, the last on %s, and did not register with the driver. Agents must reach "
                   "%s: see spark.driver.host, and stderr in the sandbox of the executor, which the pages of Mesos "
                   "show. ",
                   n, n == 1 ? " was" : "s were", s->launched_on, s->options.driver_url);
}

static void shortage_put_offers(const struct executor_shortage *s, int64_t now, struct buf *out)
{
        const char *role = conf_get_raw(s->options.conf, "spark.mesos.role");
        const size_t len = out->len;
        const size_t n_fit = agent_offers_put_shortage(&s->offers, &s->options.needs, now - s->max_age, out);
        if (out->len > len) {
                if (n_fit == 0)
                        buf_puts(out, ". Lower what an executor needs, or add agents that have it");
                return;
        }
        buf_puts(out, "Mesos makes no offers: it has no agents, or other frameworks hold their resources");
        if (role)
                buf_printf(out, ", or the role of spark.mesos.role=%s has none", role);
}

static void shortage_put_reason(const struct executor_shortage *s, int64_t now, struct buf *out)
{
        if (s->launched > s->ended)
                return shortage_put_silence(s, out);
        if (s->ended > 0)
                shortage_put_ends(s, out);
        shortage_put_offers(s, now, out);
}

/* ----------------------------------------------------------------------------------------------------------- clock */

static void shortage_on_tick(uv_timer_t *timer)
{
        struct executor_shortage *s = timer->data;
        const int64_t now = now_ns();
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;

        if (s->registered > 0 || !s->options.wants_executors(s->options.owner)) {
                s->begun = INT64_MAX;
                return;
        }
        if (s->begun == INT64_MAX) {
                s->begun = now;
                s->wait = s->first_wait;
                s->next = now + s->wait;
        }
        if (now < s->next)
                return;
        shortage_put_reason(s, now, &text);
        log_warn(s->options.log_name, "No executor has been registered for %" PRId64 " s. %s",
                 (now - s->begun) / NS_PER_SECOND, buf_text(&text));
        const int64_t limit = MAX(MAX_WAIT, s->first_wait);
        s->wait = MIN(s->wait * 2, limit);
        s->next = now + s->wait;
}

void executor_shortage_start(struct executor_shortage *s, const struct executor_shortage_options *options)
{
        int64_t wait_ms = 0, refuse_ms = 0;
        conf_get_ms(options->conf, "spark.starvation.timeout", &wait_ms, NULL);
        conf_get_ms(options->conf, "spark.mesos.rejectOfferDurationForUnmetConstraints", &refuse_ms, NULL);
        const uint64_t tick_ms = (uint64_t)MAX(wait_ms / 3, MIN_TICK_MS);

        s->options = *options;
        s->first_wait = ms_to_ns(MAX(wait_ms, MIN_TICK_MS));
        s->max_age = agent_offers_max_age(refuse_ms);
        s->begun = INT64_MAX;
        uv_timer_init(options->loop, &s->timer);
        s->timer.data = s;
        s->started = true;
        uv_timer_start(&s->timer, shortage_on_tick, tick_ms, tick_ms);
        uv_unref((uv_handle_t *)&s->timer);
}

void executor_shortage_stop(struct executor_shortage *s)
{
        if (s->started)
                uv_close((uv_handle_t *)&s->timer, NULL);
        s->started = false;
}

void executor_shortage_deinit(struct executor_shortage *s)
{
        agent_offers_deinit(&s->offers);
        free(s->launched_on);
        free(s->ended_on);
        free(s->end_reason);
        *s = (struct executor_shortage){0};
}

/* ---------------------------------------------------------------------------------------------------------- events */

void executor_shortage_offered(struct executor_shortage *s, const struct mesos_offer *offers, size_t n)
{
        if (s->started)
                agent_offers_add(&s->offers, offers, n, s->options.needs.port, now_ns());
}

void executor_shortage_launched(struct executor_shortage *s, const char *agent, size_t n)
{
        free(s->launched_on);
        s->launched_on = mem_strdup(shortage_host(s, agent));
        s->launched += n;
}

void executor_shortage_ended(struct executor_shortage *s, const char *agent, const char *reason)
{
        free(s->ended_on);
        free(s->end_reason);
        s->ended_on = mem_strdup(shortage_host(s, agent));
        s->end_reason = mem_strdup(reason && *reason ? reason : "without a reason");
        s->ended += s->ended < s->launched;
}

void executor_shortage_registered(struct executor_shortage *s)
{
        s->registered++;
        s->launched = s->ended = 0;
}

void executor_shortage_forgotten(struct executor_shortage *s)
{
        s->registered -= s->registered > 0;
}
