/* See application_monitor.h. Follows Client.monitorApplication of Spark 4.3. */
#include "yarn/application/application_monitor.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "yarn/protocol/resource_manager.h"

#include <inttypes.h>

#define COMPONENT "Client"

void application_monitor_log(struct application_monitor *m, const char *id,
                             const Firesteel__Yarn__ApplicationReport *report)
{
        const bool changed = m->last_state != report->state;
        m->unlogged++;
        if (changed || m->unlogged >= m->frequency) {
                log_info(COMPONENT, "Application report for %s (state: %s)", id,
                         yarn_application_state_name(report->state));
                m->unlogged = 0;
        }
        if (changed || log_enabled(LOG_DEBUG, COMPONENT)) {
                _cleanup_free_ char *text = application_report_text(report);
                _cleanup_free_ char *more = m->add_details ? m->add_details(m->owner) : NULL;
                log_multiline(log_enabled(LOG_DEBUG, COMPONENT) ? LOG_DEBUG : LOG_INFO, COMPONENT, "%s%s", text,
                              more ? more : "");
        }
        m->last_state = report->state;
}

char *application_report_text(const Firesteel__Yarn__ApplicationReport *report)
{
        const Firesteel__Yarn__Token *token = report->client_to_am_token;
        _cleanup_free_ char *token_text =
                token ? mem_printf("Token { kind: %s, service: %s }", token->kind, token->service) : NULL;
        _cleanup_free_ char *port = mem_printf("%d", report->rpc_port);
        _cleanup_free_ char *start = mem_printf("%" PRId64, report->start_time);
        const char *const details[][2] = {
                {"client token", token_text},
                {"diagnostics", report->diagnostics},
                {"ApplicationMaster host", report->host},
                {"ApplicationMaster RPC port", port},
                {"queue", report->queue},
                {"start time", start},
                {"final status", yarn_final_status_name(report->final_status)},
                {"tracking URL", report->tracking_url},
                {"user", report->user},
        };
        struct buf text = BUF_INIT;
        for (size_t i = 0; i < ARRAY_SIZE(details); i++)
                buf_printf(&text, "\n\t %s: %s", details[i][0],
                           details[i][1] && *details[i][1] ? details[i][1] : "N/A");
        return buf_steal(&text);
}
