/* See master_pages_internal.h: the forms and requests that end applications, drivers and workers. */
#include "base/log.h"
#include "base/mem.h"
#include "standalone/pages/master_pages_internal.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#define MOST_HOSTS 1000

/* Returns the id of a kill form, or NULL when the request was answered. */
static const char *id_to_kill(struct master_pages *p, struct web_request *q)
{
        if (!p->kill_enabled) {
                web_refuse(q, 403, "Kill requests are disabled: spark.ui.killEnabled is false.");
                return NULL;
        }
        if (!web_require_form(q))
                return NULL;
        const char *id = form_get(&q->form, "id"), *terminate = form_get(&q->form, "terminate");
        if (id && !form_has_controls(id) && terminate && strcasecmp(terminate, "true") == 0)
                return id;
        web_redirect(q, "/");
        return NULL;
}

void master_serve_app_kill(struct master_pages *p, struct web_request *q)
{
        const char *id = id_to_kill(p, q);
        if (!id)
                return;
        if (p->options.ops->kill_app(p->options.master, id))
                log_info(MASTER_PAGES_LOG, "%s ended application %s", q->user ? q->user : q->call->peer, id);
        web_redirect(q, "/");
}

static void waiting_free(struct waiting *w)
{
        list_remove(&w->pages->waiting, w);
        free(w);
}

static void on_killed(void *context, const struct master_reply *reply)
{
        struct waiting *w = context;
        log_info(MASTER_PAGES_LOG, "%s", reply->message ? reply->message : "Kill request sent to a driver");
        web_redirect(w->request, "/");
        waiting_free(w);
}

void master_serve_driver_kill(struct master_pages *p, struct web_request *q)
{
        const char *id = id_to_kill(p, q);
        if (!id)
                return;
        struct waiting *w = new0(struct waiting);
        w->pages = p;
        w->request = q;
        list_prepend(&p->waiting, w);
        p->options.ops->kill_driver(p->options.master, id, on_killed, w);
}

/* Returns true if @peer ("10.0.0.1:4000") is an address of this host. */
static bool is_of_this_host(const char *peer)
{
        char text[INET6_ADDRSTRLEN + 2] = "";
        struct ifaddrs *all = NULL;
        bool found = text_starts_with(peer, "127.") || text_starts_with(peer, "[::1]");
        if (found || getifaddrs(&all) < 0)
                return found;
        for (const struct ifaddrs *i = all; i && !found; i = i->ifa_next) {
                int family = i->ifa_addr ? i->ifa_addr->sa_family : AF_UNSPEC;
                if (family == AF_INET)
                        uv_ip4_name((struct sockaddr_in *)i->ifa_addr, text, sizeof(text));
                else if (family == AF_INET6)
                        uv_ip6_name((struct sockaddr_in6 *)i->ifa_addr, text, sizeof(text));
                else
                        continue;
                _cleanup_free_ char *with_port = mem_printf(family == AF_INET ? "%s:" : "[%s]:", text);
                found = text_starts_with(peer, with_port);
        }
        freeifaddrs(all);
        return found;
}

void master_serve_decommission(struct master_pages *p, struct web_request *q)
{
        const char *hosts[MOST_HOSTS];
        int n = 0;
        if (!p->decommission_enabled)
                return web_not_found(q);
        if (!web_require_modify(q))
                return;
        if (strcasecmp(p->decommission_mode, "ALLOW") != 0 &&
            (strcasecmp(p->decommission_mode, "LOCAL") != 0 || !is_of_this_host(q->call->peer)))
                return web_refuse(q, 403,
                                  "Workers cannot be decommissioned from your address "
                                  "(spark.master.ui.decommission.allow.mode).");
        for (size_t i = 0; i < q->form.fields.len && n < MOST_HOSTS; i++)
                if (strcmp(q->form.fields.data[i].name, "host") == 0)
                        hosts[n++] = q->form.fields.data[i].value;
        int workers = n ? p->options.ops->decommission(p->options.master, hosts, n) : 0;
        log_info(MASTER_PAGES_LOG, "Decommissioning of %d hosts decommissioned %d workers", n, workers);
        if (workers == 0)
                return web_refuse(q, 404, "No worker runs on these hosts.");
        struct buf text = BUF_INIT;
        buf_printf(&text, "%d workers are decommissioned.\n", workers);
        web_answer_text(q, 200, &text);
}

void master_deeds_end(struct master_pages *p)
{
        while (p->waiting.first) {
                struct web_request *q = p->waiting.first->request;
                waiting_free(p->waiting.first);
                web_refuse(q, 503, "This master ends.");
        }
}
