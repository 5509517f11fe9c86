/* Recovery: a new leader takes the stored records over, notifies their peers, and keeps those that answer.
 *
 * STANDBY → ALIVE, or STANDBY → RECOVERING → COMPLETING_RECOVERY → ALIVE. COMPLETING_RECOVERY lasts for one call, in
 * which nothing is placed, so that removed executors are not replaced too early.
 */
#include "standalone/core/master_state.h"

void master_elected(struct master *m, const struct app_record *apps, int n_apps, const struct driver_record *drivers,
                    int n_drivers, const struct worker_spec *workers, int n_workers, int64_t now)
{
        master_begin(m, now);
        if (m->status != MASTER_STANDBY)
                return;
        m->status = n_apps + n_drivers + n_workers == 0 ? MASTER_ALIVE : MASTER_RECOVERING;
        master_log(m, LOG_INFO, "I have been elected leader! New state: %s", master_status_name(m->status));
        m->recovery_began = now;
        m->recovery_ends = now + m->config.recovery_timeout;
        for (int i = 0; i < n_apps; i++) {
                if (master_app(m, apps[i].id))
                        continue;
                master_log(m, LOG_INFO, "Trying to recover app: %s", apps[i].id);
                struct master_app *app =
                        master_add_app(m, apps[i].id, &apps[i].spec, apps[i].submitted, 0, APP_UNKNOWN);

                app->stored_executors = apps[i].next_executor;
                if (apps[i].waiting) /* it has no driver that could answer */
                        app_wait_for_driver(m, app, now + MAX(app->resume.timeout, m->config.app_timeout));
        }
        for (int i = 0; i < n_drivers; i++) {
                if (master_driver(m, drivers[i].id))
                        continue;
                struct master_driver *d =
                        master_add_driver(m, drivers[i].id, &drivers[i].spec, drivers[i].submitted, false);

                d->was_launched = drivers[i].launched;
        }
        for (int i = 0; i < n_workers; i++) {
                if (master_worker(m, workers[i].id))
                        continue;
                master_log(m, LOG_INFO, "Trying to recover worker: %s", workers[i].id);
                master_add_worker(m, &workers[i], 0, WORKER_UNKNOWN);
        }
        for (struct master_app *app = m->apps.first; app; app = app->next)
                if (app->state == APP_UNKNOWN)
                        master_emit(m, (struct master_action){MASTER_CHANGED_APP, .app = app});
        for (struct master_worker *w = m->workers.first; w; w = w->next)
                master_emit(m, (struct master_action){MASTER_CHANGED_WORKER, .worker = w});
        master_recovery_check(m);
}

void master_recovery_check(struct master *m)
{
        if (m->status == MASTER_RECOVERING && m->n_unknown_workers == 0 && m->n_unknown_apps == 0)
                master_complete_recovery(m);
}

static void settle_drivers(struct master *m)
{
        for (struct master_driver *d = m->drivers.first, *next; d; d = next) {
                next = d->next;
                if (d->worker || d->waiting)
                        continue;
                if (!d->was_launched) {
                        master_driver_wait(m, d);
                        continue;
                }
                master_log(m, LOG_WARN, "Driver %s was not found after master recovery", d->id);
                if (d->supervise) {
                        master_log(m, LOG_WARN, "Re-launching %s", d->id);
                        master_relaunch_driver(m, d);
                } else {
                        master_log(m, LOG_WARN, "Did not re-launch %s because it was not supervised", d->id);
                        master_remove_driver(m, d, DRIVER_ERROR, NULL);
                }
        }
}

void master_complete_recovery(struct master *m)
{
        m->status = MASTER_COMPLETING_RECOVERY;
        for (struct master_worker *w = m->workers.first, *next; w; w = next) {
                next = w->next;
                if (w->state == WORKER_UNKNOWN)
                        master_remove_worker(m, w, "Not responding for recovery");
        }
        for (struct master_app *app = m->apps.first, *next; app; app = next) {
                next = app->next;
                if (app->state == APP_UNKNOWN && app->resume.epoch > 0)
                        app_wait_for_driver(m, app, m->now + app->resume.timeout);
                else if (app->state == APP_UNKNOWN)
                        master_remove_app(m, app, APP_FINISHED);
                else if (app->state == APP_WAITING)
                        app->state = APP_RUNNING;
        }
        settle_drivers(m);
        m->status = MASTER_ALIVE;
        m->dirty = true;
        master_log(m, LOG_INFO, "Recovery complete in %lld ms - resuming operations!",
                   (long long)((m->now - m->recovery_began) / NS_PER_MS));
}
