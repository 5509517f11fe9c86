/* Kubeconfig files in all forms, a pod's own files, Spark's keys over them, and credential programs. */
#include "kubernetes/api/kube_config.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/fs.h"
#include "conf/conf.h"
#include "kubernetes/api/exec_credential.h"
#include "unit/temp_dir.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct kube_config config;
static struct fst_error error;

static char *in_folder(const char *name)
{
        return mem_printf("%s/%s", temp_dir, name);
}

static void put(const char *name, const char *text, int mode)
{
        _cleanup_free_ char *path = in_folder(name);
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
        assert_true(fd >= 0);
        assert_int_equal(write_all(fd, text, strlen(text)), 0);
        close(fd);
}

static void parse(const char *text, const char *context)
{
        kube_config_deinit(&config);
        int r = kube_config_parse(text, strlen(text), "/etc/kube", context, &config, &error);
        if (r < 0)
                fail_msg("%s", error_message(&error));
}

static void assert_fails(const char *text, const char *context, const char *message)
{
        struct kube_config untouched = {.insecure = true};
        assert_true(kube_config_parse(text, strlen(text), "/etc/kube", context, &untouched, &error) < 0);
        assert_true(untouched.insecure);
        assert_true(!untouched.server);
        if (!strstr(error_message(&error), message))
                fail_msg("%s", error_message(&error));
}

#define TWO                                                                                                            \
        "apiVersion: v1\nkind: Config\ncurrent-context: one\n"                                                         \
        "contexts:\n"                                                                                                  \
        "- {name: one, context: {cluster: a, user: u, namespace: jobs}}\n"                                             \
        "- {name: two, context: {cluster: b, user: v}}\n"                                                              \
        "- {name: lost, context: {cluster: nowhere}}\n"                                                                \
        "clusters:\n"                                                                                                  \
        "- name: a\n  cluster:\n    server: https://10.0.0.1:6443/\n    certificate-authority: pki/ca.crt\n"           \
        "- name: b\n  cluster:\n    server: https://b:443\n    insecure-skip-tls-verify: true\n"                       \
        "    tls-server-name: api.b\n    proxy-url: http://proxy:3128\n    certificate-authority: /x\n"                \
        "    certificate-authority-data: |\n      UEVN\n      IQ==\n"                                                  \
        "users:\n"                                                                                                     \
        "- {name: u, user: {client-certificate: /c.crt, client-key-data: S0VZ, tokenFile: token}}\n"                   \
        "- {name: v, user: {username: me, password: secret, as: other, as-groups: [g, h], as-user-extra: {k: [v]}}}\n"

static void selects_context(void **state)
{
        parse(TWO, NULL);
        assert_string_equal(config.server, "https://10.0.0.1:6443");
        assert_string_equal(config.namespace, "jobs");
        assert_string_equal(config.context, "one");
        assert_string_equal(config.ca_file, "/etc/kube/pki/ca.crt");
        assert_string_equal(config.cert_file, "/c.crt");
        assert_string_equal(config.key_data, "KEY");
        assert_string_equal(config.token_file, "/etc/kube/token");
        assert_null(config.ca_data);
        assert_false(config.insecure || config.namespace_is_default);
        parse(TWO, "two");
        assert_string_equal(config.ca_data, "PEM!");
        assert_null(config.ca_file);
        assert_true(config.insecure);
        assert_true(config.namespace_is_default);
        assert_string_equal(config.namespace, "default");
        assert_string_equal(config.tls_server_name, "api.b");
        assert_string_equal(config.proxy_url, "http://proxy:3128");
        assert_string_equal(config.user, "me");
        assert_string_equal(config.impersonate[0], "Impersonate-User: other");
        assert_string_equal(config.impersonate[2], "Impersonate-Group: h");
        assert_string_equal(config.impersonate[3], "Impersonate-Extra-k: v");
        assert_null(config.impersonate[4]);
        _cleanup_free_ char *text = kube_config_describe(&config);
        assert_string_equal(text, "https://b:443, context two, user me, certificate not verified");
        parse("{}", NULL);
        assert_null(config.server);
}

static void rejects_invalid_files(void **state)
{
        assert_fails(TWO, "three", "kubeconfig: unknown context \"three\" (known: one, two, lost)");
        assert_fails(TWO, "lost", "unknown cluster \"nowhere\", named by context \"lost\" (known: a, b)");
        assert_fails("[1]", NULL, "(text): not a kubeconfig file");
        assert_fails("a: [", NULL, "kubeconfig file (text): line ");
        assert_fails("current-context: x\ncontexts: [{name: x, context: {user: u}}]\n"
                     "users: [{name: u, user: {client-key-data: '*'}}]\n",
                     NULL, "client-key-data is not PEM in base64");
        assert_fails(
                "current-context: x\ncontexts: [{name: x, context: {user: u}}]\nusers: [{name: u, user: {exec: {}}}]",
                NULL, "exec has no command");
        /* Every type of value in the place of another. */
        parse("current-context: [1]\ncontexts: {a: b}\nclusters: 3\nusers: text\n", NULL);
        parse("current-context: x\ncontexts: [1, {name: x, context: {cluster: [], user: {}}}]\n", NULL);
        assert_null(config.server);
}

static void reads_tokens_of_auth_providers(void **state)
{
        parse("current-context: x\ncontexts: [{name: x, context: {user: u}}]\n"
              "users: [{name: u, user: {auth-provider: {name: oidc, config: {id-token: t1}}}}]\n",
              NULL);
        assert_string_equal(config.token, "t1");
}

/* The first file that has an entry wins. Paths are relative to their file. */
static void merges_files_first_wins(void **state)
{
        _cleanup_free_ char *a = in_folder("a"), *b = in_folder("sub/b"), *sub = in_folder("sub");
        _cleanup_free_ char *paths = mem_printf("/nowhere/at/all:%s::%s", a, b);
        assert_int_equal(mkdir(sub, 0700), 0);
        put("a", "contexts: [{name: x, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {token: first}}]\n",
            0600);
        put("sub/b",
            "current-context: x\ncontexts: [{name: x, context: {cluster: other}}]\n"
            "clusters: [{name: c, cluster: {server: 'https://c', certificate-authority: ca}}]\n"
            "users: [{name: u, user: {token: second}}]\n",
            0600);
        struct kube_places places = {.kubeconfig = paths};
        assert_int_equal(kube_config_read(&places, "", &config, &error), 0);
        assert_string_equal(config.server, "https://c");
        assert_string_equal(config.token, "first");
        _cleanup_free_ char *ca = in_folder("sub/ca");
        assert_string_equal(config.ca_file, ca);
}

static void reads_service_account_in_pod(void **state)
{
        struct kube_places places = {.kubeconfig = "/nowhere",
                                     .home = temp_dir,
                                     .service_account = temp_dir,
                                     .service_host = "fd00::1",
                                     .service_port = "443"};
        put("token", "t", 0600);
        put("namespace", "ns-of-pod\n", 0600);
        assert_int_equal(kube_config_read(&places, NULL, &config, &error), 0);
        assert_string_equal(config.server, "https://[fd00::1]:443");
        assert_string_equal(config.namespace, "ns-of-pod");
        _cleanup_free_ char *token = in_folder("token");
        assert_string_equal(config.token_file, token);
        assert_null(config.ca_file);
        assert_true(kube_config_read(&places, "ctx", &config, &error) < 0);
        assert_non_null(strstr(error_message(&error), "unknown context \"ctx\": no kubeconfig file exists"));
}

static void a_flag_wins_over_the_environment(void **state)
{
        static const char file[] = "clusters: [{name: c, cluster: {server: \"https://%s\"}}]\n"
                                   "contexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x\n";
        _cleanup_free_ char *one = mem_printf(file, "one:1"), *two = mem_printf(file, "two:2");
        _cleanup_free_ char *path_one = in_folder("one"), *path_two = in_folder("two");
        put("one", one, 0600);
        put("two", two, 0600);
        setenv("KUBECONFIG", path_one, 1);
        assert_int_equal(kube_config_read_here("", &config, &error), 0);
        assert_string_equal(config.server, "https://one:1");
        kube_config_deinit(&config);
        assert_int_equal(kube_config_read_here(path_two, &config, &error), 0);
        assert_string_equal(config.server, "https://two:2");
        kube_config_deinit(&config);
        unsetenv("KUBECONFIG");
        unsetenv("KUBERNETES_SERVICE_HOST");
        setenv("HOME", temp_dir, 1);
        assert_int_equal(kube_config_read_here(NULL, &config, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "no API server: run this command in a pod"));
}

static int from_conf(enum kube_client_kind kind, const char *master, const char *const *settings)
{
        _cleanup_(conf_deinit) struct fst_conf conf;
        conf_init(&conf);
        for (size_t i = 0; settings[i]; i += 2)
                conf_set(&conf, settings[i], settings[i + 1]);
        kube_config_deinit(&config);
        error_deinit(&error);
        return kube_config_from_conf(&conf, kind, master, &config, &error);
}

static void keys_override_files(void **state)
{
        _cleanup_free_ char *path = in_folder("config");
        put("config", TWO, 0600);
        assert_int_equal(setenv("KUBECONFIG", path, 1), 0);
        const char *const submission[] = {"spark.kubernetes.context",
                                          "two",
                                          "spark.kubernetes.authenticate.submission.caCertFile",
                                          "/my/ca",
                                          "spark.kubernetes.authenticate.submission.oauthToken",
                                          "tok",
                                          "spark.kubernetes.authenticate.driver.caCertFile",
                                          "/not/this",
                                          "spark.kubernetes.submission.requestTimeout",
                                          "1234",
                                          "spark.kubernetes.driver.connectionTimeout",
                                          "1",
                                          NULL};
        assert_int_equal(from_conf(KUBE_SUBMISSION, "k8s://https://other:1/", submission), 0);
        assert_string_equal(config.server, "https://other:1");
        assert_string_equal(config.context, "two");
        assert_string_equal(config.ca_file, "/my/ca");
        assert_null(config.ca_data);
        assert_string_equal(config.token, "tok");
        assert_int_equal(config.request_timeout_ms, 1234);
        assert_int_equal(config.connect_timeout_ms, 10000);
        const char *const driver[] = {"spark.kubernetes.authenticate.clientKeyFile",
                                      "/k",
                                      "spark.kubernetes.authenticate.clientCertFile",
                                      "/c",
                                      "spark.kubernetes.authenticate.oauthTokenFile",
                                      "/t",
                                      "spark.kubernetes.trust.certificates",
                                      "true",
                                      "spark.kubernetes.namespace",
                                      "mine",
                                      NULL};
        assert_int_equal(from_conf(KUBE_CLIENT_DRIVER, NULL, driver), 0);
        assert_string_equal(config.server, "https://10.0.0.1:6443");
        assert_string_equal(config.key_file, "/k");
        assert_null(config.key_data);
        assert_string_equal(config.token_file, "/t");
        assert_string_equal(config.namespace, "mine");
        assert_true(config.insecure);
        const char *const pod[] = {"spark.kubernetes.authenticate.driver.mounted.oauthTokenFile", "/mounted",
                                   "spark.kubernetes.authenticate.oauthTokenFile", "/not/this", NULL};
        assert_int_equal(from_conf(KUBE_POD_DRIVER, "kubernetes.default.svc", pod), 0);
        assert_string_equal(config.server, "https://kubernetes.default.svc");
        assert_string_equal(config.token_file, "/mounted");
        const char *const both[] = {"spark.kubernetes.authenticate.oauthTokenFile", "/t",
                                    "spark.kubernetes.authenticate.oauthToken", "tok", NULL};
        assert_int_equal(from_conf(KUBE_CLIENT_DRIVER, NULL, both), -EINVAL);
        assert_string_equal(error_message(&error), "requirement failed: Cannot specify OAuth token through both a file "
                                                   "spark.kubernetes.authenticate.oauthTokenFile and a value "
                                                   "spark.kubernetes.authenticate.oauthToken.");
        const char *const strange[] = {"spark.kubernetes.submission.requestTimeout", "soon", NULL};
        assert_int_equal(from_conf(KUBE_SUBMISSION, NULL, strange), -EINVAL);
        assert_non_null(strstr(error_message(&error), "The value 'soon' in the config"));
        /* The environment overrides files, and keys override the environment. */
        assert_int_equal(setenv("KUBERNETES_AUTH_TOKEN", "env", 1), 0);
        const char *const none[] = {NULL};
        assert_int_equal(from_conf(KUBE_CLIENT_DRIVER, NULL, none), 0);
        assert_string_equal(config.token, "env");
        assert_null(config.token_file);
        assert_int_equal(from_conf(KUBE_SUBMISSION, NULL, submission), 0);
        assert_string_equal(config.token, "tok");
        unsetenv("KUBERNETES_AUTH_TOKEN");
        assert_int_equal(setenv("KUBECONFIG", "/nowhere", 1), 0);
        assert_int_equal(from_conf(KUBE_SUBMISSION, NULL, none), -EINVAL);
        assert_non_null(strstr(error_message(&error), "the address of the API server is unknown"));
}

static void parses_master_urls(void **state)
{
        static const char *const cases[][2] = {{"k8s://https://a:1", "https://a:1"},
                                               {"k8s://a:1", "https://a:1"},
                                               {"k8s://http://a/", "http://a"},
                                               {"https://a/b/", "https://a/b"},
                                               {"a", "https://a"}};
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_free_ char *server = kube_server_of_master(cases[i][0]);
                assert_string_equal(server, cases[i][1]);
        }
}

static void use_program(const char *script, const char *more)
{
        put("plugin", script, 0700);
        _cleanup_free_ char *text =
                mem_printf("current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
                           "clusters: [{name: c, cluster: {server: 'https://c', certificate-authority-data: UEVN}}]\n"
                           "users:\n- name: u\n  user:\n    exec:\n      apiVersion: client.authentication.k8s.io/v1\n"
                           "      command: ./plugin\n      args: [a b, c]\n      env: [{name: MINE, value: v}]\n"
                           "      provideClusterInfo: true\n%s",
                           more);
        kube_config_deinit(&config);
        assert_int_equal(kube_config_parse(text, strlen(text), temp_dir, NULL, &config, &error), 0);
}

static void reads_credentials_of_program(void **state)
{
        struct kube_credential c = {0};
        use_program(
                "#!/bin/sh\n[ \"$1\" = 'a b' ] && [ \"$2\" = c ] && [ \"$MINE\" = v ] || exit 9\n"
                "case \"$KUBERNETES_EXEC_INFO\" in *'\"certificate-authority-data\":\"UEVN\"'*) ;; *) exit 8;; esac\n"
                "echo '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":"
                "{\"token\":\"tok\",\"expirationTimestamp\":\"2026-11-22T10:30:00Z\"}}'\n",
                "");
        int r = kube_exec_run(&config, KUBE_EXEC_TIMEOUT_MS, &c, &error);
        if (r < 0)
                fail_msg("%s", error_message(&error));
        assert_string_equal(c.token, "tok");
        assert_int_equal(c.expires, 1795343400);
        kube_credential_deinit(&c);

        use_program("#!/bin/sh\necho '{\"kind\":\"ExecCredential\",\"status\":{\"clientCertificateData\":\"C\","
                    "\"clientKeyData\":\"K\"}}'\n",
                    "");
        assert_int_equal(kube_exec_run(&config, KUBE_EXEC_TIMEOUT_MS, &c, &error), 0);
        assert_string_equal(c.cert_data, "C");
        assert_string_equal(c.key_data, "K");
        assert_int_equal(c.expires, 0);
        kube_credential_deinit(&c);

        use_program("#!/bin/sh\necho secret-output; echo log in first >&2; exit 3\n", "");
        assert_int_equal(kube_exec_run(&config, KUBE_EXEC_TIMEOUT_MS, &c, &error), -ECANCELED);
        assert_non_null(strstr(error_message(&error), "plugin ended with status 3: log "
                                                      "in first"));
        assert_null(strstr(error_message(&error), "secret-output"));
        use_program("#!/bin/sh\necho hello\n", "");
        assert_int_equal(kube_exec_run(&config, KUBE_EXEC_TIMEOUT_MS, &c, &error), -EINVAL);
        use_program("#!/bin/sh\nexec sleep 1000\n", "");
        assert_int_equal(kube_exec_run(&config, 50, &c, &error), -ETIMEDOUT);
        use_program("", "      installHint: get it there\n");
        _cleanup_free_ char *path = in_folder("plugin");
        assert_int_equal(unlink(path), 0);
        assert_int_equal(kube_exec_run(&config, 50, &c, &error), -ENOENT);
        assert_non_null(strstr(error_message(&error), "is missing: get it there"));
}

static void parses_expiration_times(void **state)
{
        assert_int_equal(kube_time_parse("1970-01-01T00:00:01Z"), 1);
        assert_int_equal(kube_time_parse("2026-11-22T12:30:00.123456+02:00"), 1795343400);
        assert_int_equal(kube_time_parse("2026-11-22T08:30:00-02:00"), 1795343400);
        assert_int_equal(kube_time_parse("tomorrow"), -1);
        assert_int_equal(kube_time_parse("2026-11-22T08:30:00"), -1);
}

static int begin(void **state)
{
        unsetenv("KUBECONFIG");
        return temp_dir_make(NULL);
}

static int end(void **state)
{
        kube_config_deinit(&config);
        error_deinit(&error);
        temp_dir_remove(NULL);
        return 0;
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)
        const struct CMUnitTest tests[] = {
                CASE(selects_context),
                CASE(rejects_invalid_files),
                CASE(reads_tokens_of_auth_providers),
                CASE(merges_files_first_wins),
                CASE(reads_service_account_in_pod),
                CASE(keys_override_files),
                CASE(parses_master_urls),
                CASE(reads_credentials_of_program),
                CASE(parses_expiration_times),
                CASE(a_flag_wins_over_the_environment),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
