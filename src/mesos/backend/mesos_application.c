/* See mesos_application.h. */
#include "mesos/backend/mesos_application.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "driver/context.h"
#include "driver/events/driver_ui.h"
#include "driver/resume/resume.h"
#include "exec/app/app_compiler.h"
#include "mesos/tasks/executor_data.h"
#include "process/loop_wait.h"

#include <string.h>
#include <sys/wait.h>

#define SECRET "spark.authenticate.secret"
#define TEARDOWN_MS 5000

/* Contexts of this process so far whose framework id is configured; atomic. */
static int n_frameworks;

/* A second context of this process appends -0001 to the id, the next one -0002. */
static int application_read_framework_id(struct mesos_application *a, struct fst_error *error)
{
        _cleanup_free_ char *id = NULL;
        int r = conf_get_string(a->sc->conf, "spark.mesos.driver.frameworkId", &id, error);

        if (r < 0 || !id)
                return r;
        int before = __atomic_fetch_add(&n_frameworks, 1, __ATOMIC_RELAXED);
        a->framework_id = before ? mem_printf("%s-%04d", id, before) : steal(id);
        return 0;
}

int mesos_application_init(struct mesos_application *a, struct fst_context *sc, struct fst_error *error)
{
        const struct fst_conf *conf = sc->conf;
        bool encrypted;
        int r = conf_get_bool(conf, "spark.io.encryption.enabled", &encrypted, error);

        *a = (struct mesos_application){.sc = sc};
        if (r == 0 && encrypted)
                r = error_set(error, -ENOTSUP,
                              "requirement failed: I/O encryption is currently not supported in Mesos.");
        r = r < 0 ? r : conf_get_bool(conf, "spark.mesos.coarse", &a->coarse, error);
        r = r < 0 ? r : conf_get_double(conf, "spark.mesos.driver.failoverTimeout", &a->failover_timeout, error);
        if (r == 0 && !(a->failover_timeout >= 0))
                r = error_set(error, -EINVAL, "spark.mesos.driver.failoverTimeout is %g: set it to 0 or more seconds",
                              a->failover_timeout);
        r = r < 0 ? r : conf_get_int(conf, "spark.mesos.gpus.max", &a->max_gpus, error);
        r = r < 0 ? r : conf_get_bool(conf, "spark.firesteel.mesos.checkpoint", &a->checkpoint, error);
        r = r < 0 ? r : conf_get_string(conf, "spark.mesos.role", &a->role, error);
        r = r < 0 ? r : conf_get_string(conf, "spark.mesos.driver.webui.url", &a->webui_url, error);
        r = r < 0 ? r : mesos_master_parse(conf_get_raw(conf, "spark.master"), &a->master, error);
        r = r < 0 ? r : mesos_credentials_read(conf, conf_environment, &a->credentials, error);
        r = r < 0 ? r : application_read_framework_id(a, error);
        if (r < 0)
                mesos_application_deinit(a);
        return r;
}

void mesos_application_deinit(struct mesos_application *a)
{
        mesos_master_deinit(&a->master);
        mesos_credentials_deinit(&a->credentials);
        free(a->role);
        free(a->webui_url);
        free(a->framework_id);
        if (a->has_tasks)
                executor_tasks_deinit(&a->tasks);
        buf_deinit(&a->data);
        free(a->driver_url);
        free(a->app_id);
        *a = (struct mesos_application){0};
}

static int application_connect(struct mesos_application *a, uv_loop_t *loop, const struct mesos_scheduler_ops *ops,
                               void *owner, struct fst_error *error)
{
        const struct fst_context *sc = a->sc;
        const char *public_name = getenv("SPARK_PUBLIC_DNS");
        const struct mesos_framework framework = {.user = sc->user,
                                                  .name = sc->app_name,
                                                  .id = a->framework_id,
                                                  .role = a->role,
                                                  .hostname = public_name ? public_name : sc->host,
                                                  .webui_url = a->webui_url ? a->webui_url : driver_ui_address(sc->ui),
                                                  .principal = a->credentials.principal,
                                                  .failover_timeout = a->failover_timeout,
                                                  .has_failover_timeout = a->coarse,
                                                  .checkpoint = a->checkpoint,
                                                  .gpus = a->max_gpus > 0};

        return mesos_scheduler_new(loop,
                                   &(struct mesos_scheduler_options){.master = &a->master,
                                                                     .credentials = &a->credentials,
                                                                     .framework = &framework},
                                   ops, owner, &a->scheduler, error);
}

/* ---------------------------------------------------------------------------------------------------- announcement */

/* Nothing tells how many GPUs an executor of an earlier driver has. */
int mesos_application_outlive(struct mesos_application *a, bool *resumed, struct fst_error *error)
{
        struct resume_identity identity;
        int64_t timeout_ms;
        bool wait;
        int r = resume_executors_wait(a->sc->conf, &wait, error);

        *resumed = false;
        if (r == 0)
                r = conf_get_ms(a->sc->conf, "spark.firesteel.resume.executorTimeout", &timeout_ms, error);
        if (r < 0 || !wait || !a->coarse || a->max_gpus > 0)
                return r;
        a->failover_timeout = MAX(a->failover_timeout, (double)timeout_ms / 1000);
        if (!resume_identity(a->sc->resume, &identity) || !identity.earlier_id)
                return 0;
        free(a->framework_id);
        a->framework_id = mem_strdup(identity.earlier_id);
        *resumed = true;
        return 0;
}

static bool application_is_announced(void *owner)
{
        return ((const struct mesos_application *)owner)->announced != 0;
}

int mesos_application_announce(struct mesos_application *a, uv_loop_t *loop, const struct mesos_scheduler_ops *ops,
                               void *owner, const char *driver_url, char **app_id, struct fst_error *error)
{
        a->driver_url = mem_strdup(driver_url);
        a->announcing = error;
        int r = application_connect(a, loop, ops, owner, error);
        if (r < 0)
                return r;
        loop_wait(loop, application_is_announced, a, LOOP_WAIT_FOREVER);
        if (a->announced < 0)
                return a->announced;
        *app_id = mem_strdup(a->app_id);
        return 0;
}

static int application_begin_tasks(struct mesos_application *a, struct fst_error *error)
{
        const struct fst_conf *conf = a->sc->conf;
        const char *secret = getenv("_SPARK_AUTH_SECRET");
        bool authenticate;
        int r = conf_get_bool(conf, "spark.authenticate", &authenticate, error);

        if (r < 0)
                return r;
        if (!a->coarse)
                executor_data_write(&a->data, a->driver_url, conf);
        const struct executor_tasks_options options = {.conf = conf,
                                                       .fine = !a->coarse,
                                                       .driver_url = a->driver_url,
                                                       .app_id = a->app_id,
                                                       .app_name = a->sc->app_name,
                                                       .user = a->sc->user,
                                                       .home = app_compiler_home(),
                                                       .secret = !authenticate ? NULL
                                                                 : secret      ? secret
                                                                               : conf_get_raw(conf, SECRET),
                                                       .env = conf_environment,
                                                       .data = (const uint8_t *)a->data.data,
                                                       .data_len = a->data.len};
        r = executor_tasks_init(&a->tasks, &options, error);
        a->has_tasks = r == 0;
        return r;
}

int mesos_application_subscribed(struct mesos_application *a, const char *framework_id)
{
        if (!a->announcing)
                return 0;
        a->app_id = mem_strdup(framework_id);
        int r = application_begin_tasks(a, a->announcing);
        a->announcing = NULL;
        return a->announced = r < 0 ? r : 1;
}

char *mesos_application_exit(int wait_status)
{
        const char *name = WIFSIGNALED(wait_status) ? sigabbrev_np(WTERMSIG(wait_status)) : NULL;

        return WIFSIGNALED(wait_status) ? mem_printf("its process was ended by SIG%s (signal %d)", name ? name : "?",
                                                     WTERMSIG(wait_status))
                                        : mem_printf("its process has exited with status %d", WEXITSTATUS(wait_status));
}

char *mesos_application_failed(struct mesos_application *a, const char *message, const char *log_name)
{
        const char *remedy = "";

        if (strstr(message, "Framework has been removed"))
                remedy = ". The connection with the master broke for longer than spark.mesos.driver.failoverTimeout "
                         "seconds (0 by default): a larger value lets the application go on";
        else if (strstr(message, "Framework failed over"))
                remedy = ". Another driver has subscribed with the same spark.mesos.driver.frameworkId";
        if (a->announcing) {
                a->announced = error_set(a->announcing, -ENOTCONN, "Error starting driver, DRIVER_ABORTED: %s%s",
                                         message, remedy);
                a->announcing = NULL;
                return NULL;
        }
        char *reason = mem_printf("Mesos error: %s%s", message, remedy);
        log_error(log_name, "%s", reason);
        return reason;
}

int mesos_application_announce_anew(struct mesos_application *a, uv_loop_t *loop, const struct mesos_scheduler_ops *ops,
                                    void *owner)
{
        mesos_scheduler_free(steal(a->scheduler));
        free(steal(a->framework_id));
        return application_connect(a, loop, ops, owner, a->announcing);
}

/* ------------------------------------------------------------------------------------------------------------- end */

static void application_on_torn_down(void *owner, void *context)
{
        struct mesos_application *a = context;

        a->torn_down = true;
}

void mesos_application_end(struct mesos_application *a, uv_loop_t *loop)
{
        a->announcing = NULL;
        if (!a->scheduler)
                return;
        mesos_scheduler_teardown(a->scheduler, TEARDOWN_MS, application_on_torn_down, a);
        loop_wait_for_flag(loop, &a->torn_down);
        mesos_scheduler_free(steal(a->scheduler));
}
