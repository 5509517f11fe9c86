/* See yarn_client.h. Follows Client.submitApplication of Spark 4.3. */
#include "submit/yarn/yarn_client.h"

#include "submit/options/application_kind.h"
#include "submit/prepare/submission.h"
#include "submit/yarn/am_launch.h"
#include "submit/yarn/submission_pipeline.h"
#include "submit/yarn/undecided_applications.h"
#include "yarn/application/conf_archive.h"
#include "yarn/application/staging.h"
#include "yarn/application/application_acl.h"
#include "yarn/application/application_client.h"
#include "yarn/application/yarn_settings.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "driver/resume/resume.h"
#include "hadoop/credentials.h"
#include "hadoop/rpc_client.h"
#include "launch/spark_home.h"
#include "net/kerberos.h"
#include "yarn/application/delegation_tokens.h"
#include "yarn/application/yarn_web.h"
#include "yarn/conf/am_settings.h"
#include "yarn/conf/yarn_cluster.h"

#include <unistd.h>

#define COMPONENT "Client"

struct yarn_client {
        const char *(*env)(const char *name);
        char *ticket_cache; /* NULL: the user's own */
        struct fst_conf conf;
        struct yarn_settings settings;
        struct am_arguments arguments;
        struct yarn_cluster *cluster;
        const struct yarn_conf *yarn; /* these two belong to the cluster */
        const char *user;
        struct hadoop_credentials credentials;
        struct yarn_connection *connection; /* NULL between calls */
        bool has_token;                     /* that proves the user to the ResourceManager */
        struct application_client app;
        struct string_list archives, fallback_archives; /* of Python */
        struct submission_pipeline *pipeline;           /* NULL: it used a connection of its own */
        struct undecided_applications *undecided;       /* once it is sent, until it is decided */
        int64_t sent_ns;
        bool native;
        struct am_launch launch;
        struct staging staging;
};

/* ---------------------------------------------------------------------------------------------------- construction */

/* Selects the ticket of --principal and --keytab on this thread. */
static void yarn_client_use_ticket(const struct yarn_client *c, bool use)
{
        if (c->ticket_cache)
                kerberos_use(use ? c->ticket_cache : NULL);
}

/* Settings that only the driver reads: refused before the application is submitted. */
static int yarn_client_check_driver(const struct yarn_client *c, struct fst_error *error)
{
        int64_t ignored;
        const int r = am_wait_time_read(&c->conf, &ignored, error);
        return r < 0 ? r : am_final_message_limit_read(&c->conf, &ignored, error);
}

/*
 * Programs in Python and R run natively unless Spark's libraries for the cluster are known, as in client mode: in
 * SPARK_HOME, or on the cluster.
 */
static bool yarn_client_runs_natively(const struct yarn_client *c)
{
        if (c->arguments.jar)
                return submit_is_native(c->arguments.jar);
        return (c->arguments.python || c->arguments.r) && !conf_get_value(&c->conf, "spark.yarn.archive") &&
               !conf_get_value(&c->conf, "spark.yarn.jars") && !spark_home_has_jvm(c->env);
}

static int yarn_client_read(struct yarn_client *c, const struct submission *s, struct fst_error *error)
{
        /* YARN's cache distributes these. */
        static const char *const removed[] = {"spark.jars", "spark.files", "spark.archives"};
        strmap_merge(&c->conf.set, &s->conf);
        for (size_t i = 0; i < ARRAY_SIZE(removed); i++)
                strmap_remove(&c->conf.set, removed[i]);
        int r = am_arguments_parse(&c->arguments, s->arguments.data, s->arguments.len, error);
        c->native = r == 0 && yarn_client_runs_natively(c);
        if (r == 0)
                r = yarn_settings_read(&c->settings, &c->conf, error);
        if (r == 0 && c->native)
                r = yarn_client_check_driver(c, error);
        if (r < 0)
                return r;
        yarn_client_use_ticket(c, true);
        r = yarn_cluster_get(&(struct yarn_cluster_identity){.spark = &c->conf.set,
                                                             .env = c->env,
                                                             .proxy_user = s->proxy_user,
                                                             .ticket_cache = c->ticket_cache},
                             &c->cluster, error);
        yarn_client_use_ticket(c, false);
        if (r < 0)
                return r;
        c->yarn = yarn_cluster_conf(c->cluster);
        c->user = yarn_cluster_user(c->cluster);
        return 0;
}

int yarn_client_new(const struct submission *s, const char *(*env)(const char *name), const int *stopped,
                    struct yarn_client **out, struct fst_error *error)
{
        struct yarn_client *c = new0(struct yarn_client);
        c->env = env;
        c->app.stopped = stopped;
        c->ticket_cache = s->ticket_cache ? mem_strdup(s->ticket_cache) : NULL;
        conf_init(&c->conf);
        const int r = yarn_client_read(c, s, error);
        if (r < 0)
                yarn_client_free(c);
        else
                *out = c;
        return r;
}

void yarn_client_free(struct yarn_client *c)
{
        if (!c)
                return;
        undecided_applications_leave(c->undecided);
        submission_pipeline_leave(c->pipeline);
        application_client_deinit(&c->app);
        staging_deinit(&c->staging);
        am_launch_deinit(&c->launch);
        string_list_deinit(&c->archives);
        string_list_deinit(&c->fallback_archives);
        am_arguments_deinit(&c->arguments);
        hadoop_credentials_deinit(&c->credentials);
        yarn_settings_deinit(&c->settings);
        conf_deinit(&c->conf);
        free(c->ticket_cache);
        yarn_cluster_unref(c->cluster);
        free(c);
}

const struct yarn_settings *yarn_client_settings(const struct yarn_client *c)
{
        return &c->settings;
}

const struct fst_conf *yarn_client_conf(const struct yarn_client *c)
{
        return &c->conf;
}

const char *yarn_client_id(const struct yarn_client *c)
{
        return *c->app.text ? c->app.text : NULL;
}

static bool yarn_client_is_stopped(const struct yarn_client *c)
{
        return c->app.stopped && __atomic_load_n(c->app.stopped, __ATOMIC_RELAXED);
}

/* Without a ticket, as in a container, a token of the ResourceManager is the proof if there is one. */
static int yarn_client_connect(struct yarn_client *c, struct fst_error *error)
{
        _cleanup_free_ char *ticket = yarn_conf_is_secure(c->yarn) ? kerberos_principal() : NULL;
        const struct hadoop_token *token =
                ticket ? NULL : hadoop_credentials_find(&c->credentials, "RM_DELEGATION_TOKEN", NULL);
        const int r = yarn_cluster_connect(c->cluster, token, &c->connection, error);
        if (r < 0)
                return r;
        c->has_token = token != NULL;
        c->app.rm = c->connection->rm;
        hadoop_rpc_client_set_stopped(c->app.rm, c->app.stopped);
        return 0;
}

/* After a call that returned @r, which may be a failed yarn_client_connect. */
static void yarn_client_disconnect(struct yarn_client *c, int r)
{
        if (c->connection)
                yarn_cluster_release(c->cluster, c->connection, r >= 0 && !c->has_token);
        c->connection = NULL;
        c->app.rm = NULL;
}

/* ------------------------------------------------------------------------------------------------------ submitting */

/* Finds the archives of pyspark that the submission brings. */
static int yarn_client_find_archives(struct yarn_client *c, struct fst_error *error)
{
        if (!c->native)
                return c->settings.python ? am_launch_python_archives(c->env, &c->archives, error) : 0;
        if (c->arguments.python)
                am_launch_native_python_archives(&c->conf, c->env, &c->archives, &c->fallback_archives);
        return 0;
}

static int yarn_client_build_launch(struct yarn_client *c, struct fst_error *error)
{
        struct remote_fs *remote;
        int r = yarn_cluster_remote_fs(c->cluster, &remote, error);
        r = r < 0 ? r : yarn_client_find_archives(c, error);
        if (r < 0)
                return r;
        const struct staging_options options = {.conf = &c->conf,
                                                .hadoop = &c->yarn->hadoop,
                                                .settings = &c->settings,
                                                .jar = c->arguments.jar,
                                                .python = c->arguments.python,
                                                .python_archives =
                                                        c->archives.len ? &c->archives : &c->fallback_archives,
                                                .env = c->env,
                                                .stopped = c->app.stopped,
                                                .user = c->user,
                                                .application_id = c->app.text,
                                                .native = c->native,
                                                .remote = remote,
                                                .owner = yarn_cluster_owner(c->cluster),
                                                .credentials = &c->credentials};
        log_info(COMPONENT, "Setting up container launch context for our AM");
        r = staging_init(&c->staging, &options, error);
        if (r == 0 && c->native)
                r = staging_store_program(&c->staging, error);
        if (r < 0)
                return r;
        log_info(COMPONENT, "Setting up the launch environment for our AM container");
        const struct am_launch_request request = {
                .conf = &c->conf,
                .hadoop = &c->yarn->hadoop,
                .arguments = &c->arguments,
                .settings = &c->settings,
                .env = c->env,
                .staging = c->staging.text,
                .user = c->user,
                .application_id = c->app.text,
                .python_archives = &c->archives,
                .fallback_archives = &c->fallback_archives,
                .without_hadoop = !c->native && spark_is_without_hadoop(c->env),
                .native = c->native,
        };
        return am_launch_build(&c->launch, &request, error);
}

/* Fills in the submission, and calls @use with it. */
static int yarn_client_with_submission(struct yarn_client *c,
                                       int (*use)(struct yarn_client *c, const struct application_submission *s,
                                                  void *context, struct fst_error *error),
                                       void *context, struct fst_error *error)
{
        _cleanup_(arena_deinit) struct arena arena = ARENA_INIT;
        _cleanup_(buf_deinit_secret) struct buf tokens = BUF_INIT;
        _cleanup_free_ char *view = NULL, *modify = NULL;
        Firesteel__Yarn__ContainerLaunchContext am;
        const char *set = c->env("SPARK_USER");
        bool keep = false;
        int r = application_acls(&c->conf, set ? set : c->user, &view, &modify, error);
        if (r == 0 && c->native && c->settings.max_attempts != 1)
                r = resume_executors_wait(&c->conf, &keep, error);
        if (r < 0)
                return r;
        for (size_t i = 0; i < c->launch.warnings.len; i++)
                log_warn(COMPONENT, "%s", c->launch.warnings.data[i]);
        hadoop_credentials_write(&c->credentials, &tokens);
        container_launch_message(&c->launch.container, &c->staging.resources, &tokens, &arena, &am);
        const struct application_submission submission = {.yarn = c->yarn,
                                                          .settings = &c->settings,
                                                          .am = &am,
                                                          .view_acl = view,
                                                          .modify_acl = modify,
                                                          .keep_containers = keep,
                                                          .may_end = true};
        return use(c, &submission, context, error);
}

static int yarn_client_stage(struct yarn_client *c, struct fst_error *error)
{
        int r = yarn_client_build_launch(c, error);
        if (r == 0)
                r = staging_fill(&c->staging, error);
        if (r == 0 && c->native && !c->staging.created)
                strmap_remove(&c->launch.container.environment, "SPARK_YARN_STAGING_DIR");
        if (r == 0 && yarn_client_is_stopped(c))
                r = error_set(error, -EINTR, "the submission was interrupted");
        return r;
}

/* Frees what only a submission needs: a submitter keeps clients of thousands of applications. */
static void yarn_client_forget_launch(struct yarn_client *c)
{
        am_launch_deinit(&c->launch);
        c->launch = (struct am_launch){0};
        hadoop_credentials_forget_secrets(&c->credentials);
}

static int yarn_client_submit_message(struct yarn_client *c, const struct application_submission *s, void *wait,
                                      struct fst_error *error)
{
        return *(bool *)wait ? application_client_submit(&c->app, s, error)
                             : application_client_send(&c->app, s, error);
}

void yarn_client_set_sent(struct yarn_client *c)
{
        c->sent_ns = now_ns();
        c->undecided = undecided_applications_join(yarn_cluster_owner(c->cluster));
}

int yarn_client_submit(struct yarn_client *c, bool wait, struct fst_error *error)
{
        yarn_client_use_ticket(c, true);
        int r = delegation_tokens_of_submission(&c->conf, c->yarn, c->env("HADOOP_TOKEN_FILE_LOCATION"),
                                                &c->credentials, error);
        r = r < 0 ? r : yarn_client_connect(c, error);
        r = r < 0 ? r : application_client_create(&c->app, &c->settings, error);
        r = r < 0 ? r : yarn_client_stage(c, error);
        r = r < 0 ? r : yarn_client_with_submission(c, yarn_client_submit_message, &wait, error);
        if (r < 0)
                yarn_client_clean_up(c);
        yarn_client_disconnect(c, r);
        yarn_client_forget_launch(c);
        yarn_client_use_ticket(c, false);
        if (r == 0 && !wait)
                yarn_client_set_sent(c);
        return r;
}

/* ------------------------------------------------------------------------------------------ over a shared connection
 */

struct yarn_client_sending {
        yarn_client_done done;
        void *owner;
        char id[YARN_ID_TEXT];
};

bool yarn_client_can_share(const struct yarn_client *c)
{
        return yarn_cluster_owner(c->cluster) && !c->env("HADOOP_TOKEN_FILE_LOCATION");
}

/* On the pipeline's thread. The client may be freed. */
static void on_client_sent(void *owner, struct hadoop_rpc_result *result)
{
        struct yarn_client_sending *sending = owner;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        int status = hadoop_rpc_result_error(result, &error);
        if (status < 0)
                status = application_client_refused(sending->id, status, &error);
        protobuf_c_message_free_unpacked(result->answer, NULL);
        sending->done(sending->owner, status, &error);
        free(sending);
}

static int yarn_client_pack_message(struct yarn_client *c, const struct application_submission *s, void *request,
                                    struct fst_error *error)
{
        application_client_pack(&c->app, s, request);
        return 0;
}

int yarn_client_send(struct yarn_client *c, size_t others, yarn_client_done done, void *owner, struct fst_error *error)
{
        Firesteel__Yarn__GetNewApplicationResponse *created;
        struct buf request = BUF_INIT;
        int r = delegation_tokens_of_submission(&c->conf, c->yarn, NULL, &c->credentials, error);
        r = r < 0 ? r : submission_pipeline_join(c->cluster, &c->pipeline, error);
        r = r < 0 ? r : submission_pipeline_take_id(c->pipeline, others, c->app.stopped, &created, error);
        r = r < 0 ? r : application_client_take_id(&c->app, created, &c->settings, error);
        r = r < 0 ? r : yarn_client_stage(c, error);
        r = r < 0 ? r : yarn_client_with_submission(c, yarn_client_pack_message, &request, error);
        yarn_client_forget_launch(c);
        if (r < 0) {
                yarn_client_clean_up(c);
                return r;
        }
        struct yarn_client_sending *sending = new0(struct yarn_client_sending);
        *sending = (struct yarn_client_sending){.done = done, .owner = owner};
        memcpy(sending->id, c->app.text, sizeof(sending->id));
        submission_pipeline_send(c->pipeline, &request, on_client_sent, sending);
        return 0;
}

int yarn_client_is_accepted(struct yarn_client *c, struct fst_error *error)
{
        yarn_client_use_ticket(c, true);
        int r = yarn_client_connect(c, error);
        if (r == 0 && !undecided_applications_has(c->undecided, c->app.rm, c->app.id, c->sent_ns))
                r = application_client_is_accepted(&c->app, &(struct application_submission){.may_end = true}, error);
        if (r != 0) {
                undecided_applications_leave(c->undecided);
                c->undecided = NULL;
        }
        if (r < 0)
                yarn_client_clean_up(c);
        yarn_client_disconnect(c, r);
        yarn_client_use_ticket(c, false);
        return r;
}

char *yarn_client_driver_logs(struct yarn_client *c)
{
        struct fst_error error = FST_ERROR_INIT;
        struct yarn_web web;
        char *base = NULL, *lines = NULL;
        if (!c->settings.driver_logs_link)
                return NULL;
        yarn_client_use_ticket(c, true);
        int r = yarn_web_init(&web, c->yarn, &error);
        if (r == 0) {
                r = yarn_web_master_logs(&web, yarn_client_id(c), &base, &error);
                yarn_web_deinit(&web);
        }
        yarn_client_use_ticket(c, false);
        if (r < 0)
                log_warn(COMPONENT, "Unable to get driver log links for %s: %s", yarn_client_id(c),
                         error_message(&error));
        else if (base)
                lines = mem_printf("\n\t Driver Logs (stdout): %s/stdout?start=-4096\n\t Driver Logs (stderr): "
                                   "%s/stderr?start=-4096",
                                   base, base);
        error_deinit(&error);
        free(base);
        return lines;
}

void yarn_client_clean_up(struct yarn_client *c)
{
        yarn_client_use_ticket(c, true);
        if (c->staging.path)
                staging_remove(&c->staging);
        yarn_client_use_ticket(c, false);
}

/* ------------------------------------------------------------------------------------------------------ afterwards */

static bool yarn_client_has_failed(const Firesteel__Yarn__ApplicationReport *report)
{
        return report->state == YARN_FAILED || report->final_status == YARN_FINAL_FAILED;
}

int yarn_client_report(struct yarn_client *c, Firesteel__Yarn__GetApplicationReportResponse **out,
                       struct fst_error *error)
{
        yarn_client_use_ticket(c, true);
        int r = yarn_client_connect(c, error);
        r = r < 0 ? r : application_client_report(&c->app, out, error);
        if (r == 0 && yarn_client_has_failed((*out)->report))
                staging_forget(&c->staging);
        yarn_client_disconnect(c, r);
        yarn_client_use_ticket(c, false);
        return r;
}

int yarn_client_kill(struct yarn_client *c, struct fst_error *error)
{
        yarn_client_use_ticket(c, true);
        int r = yarn_client_connect(c, error);
        r = r < 0 ? r : application_client_kill(&c->app, c->yarn, error);
        yarn_client_disconnect(c, r);
        yarn_client_use_ticket(c, false);
        return r;
}
