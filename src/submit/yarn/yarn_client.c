/* See yarn_client.h. Follows Client.submitApplication of Spark 4.3 and YarnClientImpl of Hadoop. */
#include "submit/yarn/yarn_client.h"

#include "submit/options/application_kind.h"
#include "submit/prepare/submission.h"
#include "submit/yarn/am_launch.h"
#include "yarn/application/conf_archive.h"
#include "yarn/application/staging.h"
#include "yarn/application/yarn_context.h"
#include "yarn/application/yarn_settings.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "hadoop/credentials.h"
#include "hadoop/rpc_client.h"
#include "net/kerberos.h"
#include "io/fs/file_systems.h"
#include "yarn/application/program_archive.h"
#include "yarn/conf/yarn_conf.h"

#include <inttypes.h>
#include <pwd.h>
#include <unistd.h>

#define COMPONENT "Client"
#define POLL_KEY "yarn.client.application-client-protocol.poll-interval-ms"
#define DEFAULT_POLL_MS 200

struct yarn_client {
        const char *(*env)(const char *name);
        const int *stopped;
        char *ticket_cache; /* NULL: the user's own */
        struct fst_conf conf;
        struct yarn_settings settings;
        struct am_arguments arguments;
        struct yarn_conf yarn;
        struct hadoop_credentials credentials;
        char *user;
        uv_loop_t loop;
        struct hadoop_rpc_client *rm; /* NULL before the first call */
        struct yarn_application_id id;
        char text[YARN_ID_TEXT]; /* the id, or "" */
        struct string_list archives;
        bool native;
        struct local_resource program; /* of a native application */
        struct am_launch launch;
        struct staging staging;
};

/* ---------------------------------------------------------------------------------------------------- construction */

/* Tokens that the user has already, as a process in a YARN container does. */
static int yarn_client_load_tokens(struct yarn_client *c, struct fst_error *error)
{
        const char *file = c->env("HADOOP_TOKEN_FILE_LOCATION");
        const int r = file && *file ? hadoop_credentials_load(&c->credentials, file, error) : 0;
        if (r < 0 || !yarn_conf_is_secure(&c->yarn) ||
            hadoop_credentials_find(&c->credentials, "HDFS_DELEGATION_TOKEN", NULL))
                return r;
        return error_set(
                error, -ENOTSUP,
                "hadoop.security.authentication is kerberos, but Firesteel does not fetch delegation tokens for "
                "YARN: fetch one of HDFS with \"hdfs fetchdt\" and set HADOOP_TOKEN_FILE_LOCATION to its file");
}

static int yarn_client_read(struct yarn_client *c, const struct submission *s, struct fst_error *error)
{
        /* YARN's cache distributes these. */
        static const char *const removed[] = {"spark.jars", "spark.files", "spark.archives"};
        strmap_merge(&c->conf.set, &s->conf);
        for (size_t i = 0; i < ARRAY_SIZE(removed); i++)
                strmap_remove(&c->conf.set, removed[i]);
        int r = am_arguments_parse(&c->arguments, s->arguments.data, s->arguments.len, error);
        c->native = r == 0 && c->arguments.jar && submit_is_native(c->arguments.jar);
        if (r == 0)
                r = yarn_settings_read(&c->settings, &c->conf, error);
        if (r == 0)
                r = yarn_conf_load(&c->yarn, &c->conf.set, c->env, error);
        if (r < 0)
                return r;
        c->user = hadoop_conf_user(&c->yarn.hadoop);
        return yarn_client_load_tokens(c, error);
}

int yarn_client_new(const struct submission *s, const char *(*env)(const char *name), const int *stopped,
                    struct yarn_client **out, struct fst_error *error)
{
        struct yarn_client *c = new0(struct yarn_client);
        c->env = env;
        c->stopped = stopped;
        c->ticket_cache = s->ticket_cache ? mem_strdup(s->ticket_cache) : NULL;
        conf_init(&c->conf);
        uv_loop_init(&c->loop);
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
        hadoop_rpc_client_free(c->rm);
        uv_run(&c->loop, UV_RUN_DEFAULT);
        uv_loop_close(&c->loop);
        staging_deinit(&c->staging);
        am_launch_deinit(&c->launch);
        local_resource_deinit(&c->program);
        string_list_deinit(&c->archives);
        am_arguments_deinit(&c->arguments);
        hadoop_credentials_deinit(&c->credentials);
        yarn_conf_deinit(&c->yarn);
        yarn_settings_deinit(&c->settings);
        conf_deinit(&c->conf);
        free(c->ticket_cache);
        free(c->user);
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
        return *c->text ? c->text : NULL;
}

static bool yarn_client_is_stopped(const struct yarn_client *c)
{
        return c->stopped && __atomic_load_n(c->stopped, __ATOMIC_RELAXED);
}

static int yarn_client_connect(struct yarn_client *c, struct fst_error *error)
{
        return c->rm ? 0 : yarn_conf_client(&c->yarn, YARN_RM_CLIENT, NULL, NULL, &c->loop, &c->rm, error);
}

/* ------------------------------------------------------------------------------------------------------ submitting */

/* Firesteel itself, for a native application. */
static int yarn_client_store_program(struct yarn_client *c, struct fst_error *error)
{
        if (!c->native)
                return 0;
        file_systems_use(c, &c->conf.set);
        const int r = program_archive_store(&c->conf, &c->program, error);
        file_systems_leave(c);
        return r;
}

static int yarn_client_build_launch(struct yarn_client *c, struct fst_error *error)
{
        const int stored = yarn_client_store_program(c, error);
        if (stored < 0)
                return stored;
        const struct staging_options options = {.conf = &c->conf,
                                                .hadoop = &c->yarn.hadoop,
                                                .settings = &c->settings,
                                                .jar = c->arguments.jar,
                                                .python = c->arguments.python,
                                                .python_archives = &c->archives,
                                                .env = c->env,
                                                .stopped = c->stopped,
                                                .user = c->user,
                                                .application_id = c->text,
                                                .program = c->native ? &c->program : NULL};
        log_info(COMPONENT, "Setting up container launch context for our AM");
        int r = c->settings.python ? am_launch_python_archives(c->env, &c->archives, error) : 0;
        if (r == 0)
                r = staging_init(&c->staging, &options, error);
        if (r < 0)
                return r;
        log_info(COMPONENT, "Setting up the launch environment for our AM container");
        const struct am_launch_request request = {
                .conf = &c->conf,
                .hadoop = &c->yarn.hadoop,
                .arguments = &c->arguments,
                .settings = &c->settings,
                .env = c->env,
                .staging = c->staging.text,
                .user = c->user,
                .application_id = c->text,
                .python_archives = &c->archives,
                .without_hadoop = !c->native && spark_is_without_hadoop(c->env),
                .native = c->native,
        };
        return am_launch_build(&c->launch, &request, error);
}

static int yarn_client_send(struct yarn_client *c, const Firesteel__Yarn__Resource *maximum, struct fst_error *error)
{
        _cleanup_(arena_deinit) struct arena arena = ARENA_INIT;
        _cleanup_(buf_deinit) struct buf tokens = BUF_INIT;
        _cleanup_free_ char *view = NULL, *modify = NULL;
        Firesteel__Yarn__ApplicationSubmissionContext context;
        Firesteel__Yarn__ContainerLaunchContext am;
        const struct passwd *account = getpwuid(geteuid());
        const char *os_user = account ? account->pw_name : c->user;
        int r = am_launch_acl(&c->conf, os_user, c->user, true, &view, error);
        if (r == 0)
                r = am_launch_acl(&c->conf, os_user, c->user, false, &modify, error);
        if (r < 0)
                return r;
        for (size_t i = 0; i < c->launch.warnings.len; i++)
                log_warn(COMPONENT, "%s", c->launch.warnings.data[i]);
        hadoop_credentials_write(&c->credentials, &tokens);
        container_launch_message(&c->launch.container, &c->staging.resources, &tokens, &arena, &am);
        const struct yarn_context_request request = {.id = c->id,
                                                     .settings = &c->settings,
                                                     .am = &am,
                                                     .view_acl = view,
                                                     .modify_acl = modify,
                                                     .maximum = maximum};
        yarn_context_build(&request, &arena, &context);
        log_info(COMPONENT, "Submitting application %s to ResourceManager", c->text);
        return yarn_rm_submit(c->rm, &context, error);
}

/* Waits until the ResourceManager has saved the application, as Hadoop's client does. */
static int yarn_client_await_acceptance(struct yarn_client *c, struct fst_error *error)
{
        int64_t pause;
        int r = yarn_conf_get_int(&c->yarn, POLL_KEY, DEFAULT_POLL_MS, &pause, error);
        while (r == 0) {
                Firesteel__Yarn__GetApplicationReportResponse *answer;
                r = yarn_client_report(c, &answer, error);
                if (r != 0)
                        return r < 0 ? r : -ENOENT;
                const int state = answer->report->state;
                if (state == YARN_FAILED || state == YARN_KILLED)
                        r = error_set(error, -ECANCELED, "Failed to submit %s to YARN : %s", c->text,
                                      answer->report->diagnostics ? answer->report->diagnostics : "");
                protobuf_c_message_free_unpacked(&answer->base, NULL);
                if (r < 0)
                        return r;
                if (state != YARN_NEW && state != YARN_NEW_SAVING) {
                        log_info("YarnClientImpl", "Submitted application %s", c->text);
                        return 0;
                }
                if (yarn_client_is_stopped(c))
                        return 0;
                usleep((useconds_t)MAX(pause, (int64_t)1) * 1000);
        }
        return r;
}

static int yarn_client_create(struct yarn_client *c, Firesteel__Yarn__GetNewApplicationResponse **out,
                              struct fst_error *error)
{
        Firesteel__Yarn__GetNewApplicationResponse *created = NULL;
        int r = yarn_client_connect(c, error);
        if (r == 0)
                r = yarn_rm_new_application(c->rm, &created, error);
        if (r < 0)
                return r;
        c->id = (struct yarn_application_id){.cluster_timestamp = created->application_id->cluster_timestamp,
                                             .id = created->application_id->id};
        yarn_application_text(c->id, c->text);
        const int64_t maximum = created->maximum_capability->memory;
        log_info(COMPONENT, "Application ID is assigned: %s", c->text);
        log_info(COMPONENT,
                 "Verifying our application has not requested more than the maximum memory capability of the cluster "
                 "(%" PRId64 " MB per container)",
                 maximum);
        r = yarn_settings_verify(&c->settings, maximum, error);
        if (r < 0) {
                protobuf_c_message_free_unpacked(&created->base, NULL);
                return r;
        }
        log_info(COMPONENT, "Will allocate AM container, with %" PRId64 " MB memory including %" PRId64 " MB overhead",
                 c->settings.memory + c->settings.overhead, c->settings.overhead);
        *out = created;
        return 0;
}

static int yarn_client_submit_created(struct yarn_client *c, const Firesteel__Yarn__Resource *maximum,
                                      struct fst_error *error)
{
        int r = yarn_client_build_launch(c, error);
        if (r == 0)
                r = staging_fill(&c->staging, error);
        if (r == 0 && yarn_client_is_stopped(c))
                r = error_set(error, -EINTR, "the submission was interrupted");
        if (r == 0)
                r = yarn_client_send(c, maximum, error);
        return r == 0 ? yarn_client_await_acceptance(c, error) : r;
}

int yarn_client_submit(struct yarn_client *c, struct fst_error *error)
{
        Firesteel__Yarn__GetNewApplicationResponse *created = NULL;
        if (c->ticket_cache)
                kerberos_use(c->ticket_cache);
        int r = yarn_client_create(c, &created, error);
        if (r == 0) {
                r = yarn_client_submit_created(c, created->maximum_capability, error);
                protobuf_c_message_free_unpacked(&created->base, NULL);
        }
        if (r < 0)
                yarn_client_clean_up(c);
        if (c->ticket_cache)
                kerberos_use(NULL);
        return r;
}

void yarn_client_clean_up(struct yarn_client *c)
{
        if (c->staging.path)
                staging_remove(&c->staging);
}

/* ------------------------------------------------------------------------------------------------------ afterwards */

int yarn_client_report(struct yarn_client *c, Firesteel__Yarn__GetApplicationReportResponse **out,
                       struct fst_error *error)
{
        struct fst_error why = FST_ERROR_INIT;
        int r = yarn_client_connect(c, &why);
        if (r == 0)
                r = yarn_rm_report(c->rm, c->id, out, &why);
        if (r < 0)
                error_set(error, r, "%s", error_message(&why));
        if (r == -EREMOTEIO && strncmp(error_message(&why), "ApplicationNotFoundException", 28) == 0)
                r = YARN_CLIENT_E_NOT_FOUND;
        error_deinit(&why);
        return r;
}

int yarn_client_kill(struct yarn_client *c, struct fst_error *error)
{
        bool killed = false;
        int64_t pause;
        int r = yarn_conf_get_int(&c->yarn, POLL_KEY, DEFAULT_POLL_MS, &pause, error);
        if (r == 0)
                r = yarn_client_connect(c, error);
        while (r == 0 && !killed) {
                r = yarn_rm_kill(c->rm, c->id, NULL, &killed, error);
                if (r == 0 && !killed)
                        usleep((useconds_t)MAX(pause, (int64_t)1) * 1000);
        }
        if (r == 0)
                log_info("YarnClientImpl", "Killed application %s", c->text);
        return r;
}

char *yarn_client_report_text(const Firesteel__Yarn__ApplicationReport *report)
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
