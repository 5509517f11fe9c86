/*
 * Calls of a ResourceManager for `make check-yarn`, with the configuration in HADOOP_CONF_DIR:
 *
 *      rm_calls new | nodes | token RENEWER | report ID | wait ID | kill ID | submit QUEUE MEMORY NAME_LENGTH
 *
 *      rm_calls with-token RENEWER      counts the nodes with a delegation token instead of the user's proof
 *
 * It prints the answer as one line, or the error on stderr with exit status 1.
 */
#include "submit_unmanaged.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "hadoop/credentials.h"
#include "hadoop/rpc_client.h"
#include "yarn/conf/yarn_conf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POLL_US 20000

struct calls {
        uv_loop_t loop;
        struct yarn_conf conf;
};

static int calls_new(struct calls *calls, struct hadoop_rpc_client *rm, char **words, struct fst_error *error)
{
        Firesteel__Yarn__GetNewApplicationResponse *answer;
        char text[YARN_ID_TEXT];
        const int r = yarn_rm_new_application(rm, &answer, error);
        if (r < 0)
                return r;
        const struct yarn_application_id id = {.cluster_timestamp = answer->application_id->cluster_timestamp,
                                               .id = answer->application_id->id};
        printf("%s %" PRId64 " %d\n", yarn_application_text(id, text), answer->maximum_capability->memory,
               answer->maximum_capability->virtual_cores);
        protobuf_c_message_free_unpacked(&answer->base, NULL);
        return 0;
}

static int calls_nodes(struct calls *calls, struct hadoop_rpc_client *rm, char **words, struct fst_error *error)
{
        int count;
        const int r = yarn_rm_count_nodes(rm, &count, error);
        if (r == 0)
                printf("%d\n", count);
        return r;
}

static int calls_token(struct calls *calls, struct hadoop_rpc_client *rm, char **words, struct fst_error *error)
{
        Firesteel__Yarn__GetDelegationTokenResponse *answer;
        const int r = yarn_rm_delegation_token(rm, words[0], &answer, error);
        if (r < 0)
                return r;
        printf("%s %s %zu\n", answer->token->kind, answer->token->service, answer->token->identifier.len);
        protobuf_c_message_free_unpacked(&answer->base, NULL);
        return 0;
}

static int calls_with_token(struct calls *calls, struct hadoop_rpc_client *rm, char **words, struct fst_error *error)
{
        Firesteel__Yarn__GetDelegationTokenResponse *answer;
        struct hadoop_rpc_client *other;
        int r = yarn_rm_delegation_token(rm, words[0], &answer, error);
        if (r < 0)
                return r;
        const Firesteel__Yarn__Token *m = answer->token;
        struct hadoop_token token = {.alias = "", .kind = m->kind, .service = m->service};
        buf_append(&token.identifier, m->identifier.data, m->identifier.len);
        buf_append(&token.password, m->password.data, m->password.len);
        r = yarn_conf_client(&calls->conf, YARN_RM_CLIENT, &token, NULL, &calls->loop, &other, error);
        buf_deinit(&token.identifier);
        buf_deinit(&token.password);
        protobuf_c_message_free_unpacked(&answer->base, NULL);
        if (r < 0)
                return r;
        r = calls_nodes(calls, other, NULL, error);
        hadoop_rpc_client_free(other);
        return r;
}

/* Prints the report once the application is in @state or a later one. */
static int report_print(struct hadoop_rpc_client *rm, struct yarn_application_id id, int state,
                        struct fst_error *error)
{
        for (;;) {
                Firesteel__Yarn__GetApplicationReportResponse *answer;
                const int r = yarn_rm_report(rm, id, &answer, error);
                if (r < 0)
                        return r;
                const Firesteel__Yarn__ApplicationReport *report = answer->report;
                const bool reached = (int)report->state >= state;
                if (reached)
                        printf("%s %s %s %zu %s\n", yarn_application_state_name(report->state),
                               yarn_final_status_name(report->final_status), report->user, strlen(report->name),
                               report->diagnostics ? report->diagnostics : "");
                protobuf_c_message_free_unpacked(&answer->base, NULL);
                if (reached)
                        return 0;
                usleep(POLL_US);
        }
}

static int calls_report(struct calls *calls, struct hadoop_rpc_client *rm, char **words, struct fst_error *error)
{
        struct yarn_application_id id;
        const int r = yarn_application_parse(words[0], &id, error);
        return r < 0 ? r : report_print(rm, id, YARN_NEW, error);
}

/* The ResourceManager stores the end of an unmanaged application after it has said that it is unregistered. */
static int calls_wait(struct calls *calls, struct hadoop_rpc_client *rm, char **words, struct fst_error *error)
{
        struct yarn_application_id id;
        const int r = yarn_application_parse(words[0], &id, error);
        return r < 0 ? r : report_print(rm, id, YARN_FINISHED, error);
}

static int calls_kill(struct calls *calls, struct hadoop_rpc_client *rm, char **words, struct fst_error *error)
{
        struct yarn_application_id id;
        bool killed = false;
        int r = yarn_application_parse(words[0], &id, error);
        while (r == 0 && !killed) {
                r = yarn_rm_kill(rm, id, "killed by the check", &killed, error);
                usleep(POLL_US);
        }
        return r < 0 ? r : report_print(rm, id, YARN_FINISHED, error);
}

/* Prints the id, then the report once the application is accepted or has ended. */
static int calls_submit(struct calls *calls, struct hadoop_rpc_client *rm, char **words, struct fst_error *error)
{
        const size_t len = (size_t)atol(words[2]);
        _cleanup_free_ char *name = mem_alloc(len + 1);
        memset(name, 'n', len);
        name[len] = '\0';
        const struct unmanaged_application application = {
                .name = name, .queue = words[0], .memory_mb = atol(words[1])};
        struct yarn_application_id id;
        char text[YARN_ID_TEXT];
        const int r = unmanaged_submit(rm, &application, &id, error);
        if (r < 0)
                return r;
        printf("%s ", yarn_application_text(id, text));
        return report_print(rm, id, YARN_ACCEPTED, error);
}

static const struct verb {
        const char *name;
        int n_words;
        int (*run)(struct calls *calls, struct hadoop_rpc_client *rm, char **words, struct fst_error *error);
} verbs[] = {
        {"new", 0, calls_new},       {"nodes", 0, calls_nodes}, {"token", 1, calls_token},
        {"report", 1, calls_report}, {"wait", 1, calls_wait}, {"kill", 1, calls_kill},   {"submit", 3, calls_submit}, {"with-token", 1, calls_with_token},
};

static int calls_run(const struct verb *verb, char **words, struct fst_error *error)
{
        struct calls calls = {0};
        struct hadoop_rpc_client *rm;
        int r = check_login(error);
        if (r == 0)
                r = yarn_conf_load(&calls.conf, NULL, (const char *(*)(const char *))getenv, error);
        if (r < 0)
                return r;
        uv_loop_init(&calls.loop);
        r = yarn_conf_client(&calls.conf, YARN_RM_CLIENT, NULL, NULL, &calls.loop, &rm, error);
        if (r == 0) {
                r = verb->run(&calls, rm, words, error);
                hadoop_rpc_client_free(rm);
        }
        uv_run(&calls.loop, UV_RUN_DEFAULT);
        uv_loop_close(&calls.loop);
        yarn_conf_deinit(&calls.conf);
        return r;
}

int main(int argc, char **argv)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(verbs); i++) {
                if (strcmp(verbs[i].name, argv[1]) != 0 || argc - 2 != verbs[i].n_words)
                        continue;
                if (calls_run(&verbs[i], argv + 2, &error) == 0)
                        return 0;
                fprintf(stderr, "%s\n", error_message(&error));
                return 1;
        }
        fprintf(stderr, "usage: rm_calls new | nodes | token RENEWER | report ID | wait ID | kill ID | with-token RENEWER |\n"
                        "       submit QUEUE MEMORY LENGTH\n");
        return 2;
}
