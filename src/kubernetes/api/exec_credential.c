/* Runs credential programs. Their output is secret and appears in no message. */
#include "kubernetes/api/exec_credential.h"

#include "base/base64.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/vec.h"
#include "net/http/http.h"
#include "process/spawn.h"
#include "text/json.h"

#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_PRINTED (1u << 20)
#define LONGEST_TOKEN (1u << 20)

extern char **environ;

static void exec_credential_wipe(char *text)
{
        if (text)
                explicit_bzero(text, strlen(text));
        free(text);
}

void kube_credential_deinit(struct kube_credential *c)
{
        exec_credential_wipe(c->token);
        exec_credential_wipe(c->key_data);
        free(c->cert_data);
        *c = (struct kube_credential){0};
}

int64_t kube_time_parse(const char *text)
{
        struct tm tm = {0};
        int hours = 0, minutes = 0, n = 0;
        char sign = 0;
        if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min,
                   &tm.tm_sec, &n) != 6)
                return -1;
        const char *rest = text + n;
        if (*rest == '.')
                rest += 1 + strspn(rest + 1, "0123456789");
        if (strcmp(rest, "Z") != 0 &&
            (sscanf(rest, "%c%2d:%2d%n", &sign, &hours, &minutes, &n) != 3 || rest[n] || (sign != '+' && sign != '-')))
                return -1;
        tm.tm_year -= 1900;
        tm.tm_mon -= 1;
        int64_t at = timegm(&tm), off = (int64_t)hours * 3600 + minutes * 60;
        return at < 0 ? -1 : sign == '-' ? at + off : at - off;
}

/* --------------------------------------------------------------------------------------------------- environment */

/* Searches PATH as execvp does. Returns NULL if the program is missing. */
static char *find_program(const char *command)
{
        if (strchr(command, '/'))
                return access(command, X_OK) == 0 ? mem_strdup(command) : NULL;
        const char *path = getenv("PATH");
        for (const char *p = path ? path : "/usr/local/bin:/usr/bin:/bin"; *p; p += *p == ':') {
                size_t n = strcspn(p, ":");
                _cleanup_free_ char *file = mem_printf("%.*s/%s", (int)n, p, command);
                if (n > 0 && access(file, X_OK) == 0)
                        return steal(file);
                p += n;
        }
        return NULL;
}

/* KUBERNETES_EXEC_INFO=… */
static char *exec_credential_info(const struct kube_config *config)
{
        const struct kube_exec *x = config->exec;
        json_t *spec = json_pack("{s:b}", "interactive", 0);
        if (x->cluster_info) {
                json_t *cluster = json_pack("{s:s}", "server", config->server ? config->server : "");
                if (config->ca_data) {
                        _cleanup_(buf_deinit) struct buf data = BUF_INIT;
                        base64_put(&data, config->ca_data, strlen(config->ca_data));
                        json_object_set_new(cluster, "certificate-authority-data", json_string(buf_text(&data)));
                }
                if (config->tls_server_name)
                        json_object_set_new(cluster, "tls-server-name", json_string(config->tls_server_name));
                if (config->insecure)
                        json_object_set_new(cluster, "insecure-skip-tls-verify", json_true());
                json_object_set_new(spec, "cluster", cluster);
        }
        json_t *info =
                json_pack("{s:s, s:s, s:o}", "apiVersion", x->api_version, "kind", "ExecCredential", "spec", spec);
        char *text = json_dumps(info, JSON_COMPACT);
        char *line = mem_printf("KUBERNETES_EXEC_INFO=%s", text ? text : "{}");
        free(text);
        json_decref(info);
        return line;
}

/* Merges this process's environment with the file's entries. The caller owns the array, the texts are borrowed. */
static char **exec_credential_environment(const struct kube_exec *x, char *info)
{
        VEC(char *) all = {0};
        for (char **e = environ; *e; e++) {
                bool overridden = strncmp(*e, "KUBERNETES_EXEC_INFO=", 21) == 0;
                size_t n = strcspn(*e, "=") + 1;
                for (size_t i = 0; x->env[i] && !overridden; i++)
                        overridden = strncmp(*e, x->env[i], n) == 0;
                if (!overridden)
                        vec_push(&all, *e);
        }
        for (size_t i = 0; x->env[i]; i++)
                vec_push(&all, x->env[i]);
        vec_push(&all, info);
        vec_push(&all, NULL);
        return all.data;
}

/* --------------------------------------------------------------------------------------------------------- running */

/* Reads both pipes until they close, at most MOST_PRINTED of each. */
static int exec_credential_collect(int out, int err, int timeout_ms, struct buf *printed, struct buf *err_text)
{
        struct pollfd fds[2] = {{.fd = out, .events = POLLIN}, {.fd = err, .events = POLLIN}};
        struct buf *const to[2] = {printed, err_text};
        int64_t end = now_ms() + timeout_ms;
        while (fds[0].fd >= 0 || fds[1].fd >= 0) {
                int64_t left = end - now_ms();
                if (left <= 0)
                        return -ETIMEDOUT;
                int ready = poll(fds, 2, (int)left);
                if (ready < 0 && errno != EINTR)
                        return -errno;
                if (ready <= 0)
                        continue;
                for (int i = 0; i < 2; i++) {
                        char piece[4096];
                        ssize_t n = fds[i].revents ? read(fds[i].fd, piece, sizeof(piece)) : 1;
                        if (fds[i].revents && n <= 0)
                                fds[i].fd = -1;
                        else if (fds[i].revents && to[i]->len < MOST_PRINTED)
                                buf_append(to[i], piece, (size_t)n);
                        explicit_bzero(piece, sizeof(piece));
                }
        }
        return 0;
}

static int exec_credential_run(const char *file, const struct kube_config *config, int timeout_ms, struct buf *printed,
                               struct buf *err_text, int *status, struct fst_error *error)
{
        const struct kube_exec *x = config->exec;
        VEC(char *) arguments = {0};
        int out[2] = {-1, -1}, err[2] = {-1, -1};
        pid_t pid = -1;
        vec_push(&arguments, x->command);
        for (size_t i = 0; x->arguments[i]; i++)
                vec_push(&arguments, x->arguments[i]);
        vec_push(&arguments, NULL);
        _cleanup_free_ char *info = exec_credential_info(config);
        char **env = exec_credential_environment(x, info);
        int r = pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0 ? error_errno(error, "no pipe") : 0;
        if (r == 0)
                r = spawn_process(&(struct spawn){.file = file,
                                                  .arguments = arguments.data,
                                                  .environment = env,
                                                  .output = out[1],
                                                  .errors = err[1],
                                                  .words = err[1]},
                                  &pid, error);
        vec_deinit(&arguments);
        free(env);
        close(out[1]);
        close(err[1]);
        if (r == 0) {
                r = exec_credential_collect(out[0], err[0], timeout_ms, printed, err_text);
                if (r < 0) {
                        kill(-pid, SIGKILL);
                        error_set(error, r, "%s timed out", x->command);
                }
                while (waitpid(pid, status, 0) < 0 && errno == EINTR)
                        ;
        }
        close(out[0]);
        close(err[0]);
        return r;
}

static int exec_credential_parse(const struct kube_exec *x, const struct buf *printed, struct kube_credential *out,
                                 struct fst_error *error)
{
        json_t *root = json_loadb(buf_text(printed), printed->len, 0, NULL);
        const json_t *status = json_object_get(root, "status");
        const char *kind = json_text_at(root, "kind");
        const char *token = json_text_at(status, "token");
        const char *cert = json_text_at(status, "clientCertificateData");
        const char *key = json_text_at(status, "clientKeyData");
        const char *expires = json_text_at(status, "expirationTimestamp");
        int r = 0;
        if (!kind || strcmp(kind, "ExecCredential") != 0)
                r = error_set(error, -EINVAL, "%s printed no ExecCredential", x->command);
        else if (!(token && *token) && !(cert && key))
                r = error_set(error, -EINVAL, "%s printed an ExecCredential without token or certificate", x->command);
        else if (expires && kube_time_parse(expires) < 0)
                r = error_set(error, -EINVAL, "%s printed an invalid expirationTimestamp", x->command);
        else
                *out = (struct kube_credential){
                        .token = token && *token ? mem_strdup(token) : NULL,
                        .cert_data = cert && key ? mem_strdup(cert) : NULL,
                        .key_data = cert && key ? mem_strdup(key) : NULL,
                        .expires = expires ? kube_time_parse(expires) : 0,
                };
        json_decref(root);
        return r;
}

int kube_exec_run(const struct kube_config *config, int timeout_ms, struct kube_credential *out,
                  struct fst_error *error)
{
        const struct kube_exec *x = config->exec;
        const char *hint = x->install_hint;
        _cleanup_free_ char *file = find_program(x->command);
        if (!file)
                return error_set(error, -ENOENT, "the credential program %s is missing%s%s", x->command,
                                 hint ? ": " : "", hint ? hint : "");
        _cleanup_(buf_deinit) struct buf printed = BUF_INIT, err_text = BUF_INIT;
        int status = 0, r = exec_credential_run(file, config, timeout_ms, &printed, &err_text, &status, error);
        if (r == 0 && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) {
                size_t end = err_text.len;
                while (end > 0 && (err_text.data[end - 1] == '\n' || err_text.data[end - 1] == ' '))
                        end--;
                const char *text = buf_text(&err_text) + (end > 500 ? end - 500 : 0);
                r = error_set(error, -ECANCELED, "the credential program %s ended with %s %d: %.*s", x->command,
                              WIFEXITED(status) ? "status" : "signal",
                              WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), end > 500 ? 500 : (int)end,
                              text);
        }
        if (r == 0)
                r = exec_credential_parse(x, &printed, out, error);
        if (printed.data)
                explicit_bzero(printed.data, printed.len);
        return r;
}

int kube_credential_read_token(const struct kube_config *config, const struct kube_credential *credential, char **token,
                               struct fst_error *error)
{
        *token = NULL;
        if (!config->token_file) {
                const char *token_text = config->token ? config->token : credential->token;
                *token = token_text ? mem_strdup(token_text) : NULL;
                return 0;
        }
        _cleanup_(buf_deinit_secret) struct buf text = BUF_INIT;
        int r = file_text_read(config->token_file, LONGEST_TOKEN, &text, error);
        if (r < 0)
                return error_wrap(error, r, "the token for the API server");
        const char *start = buf_text(&text) + strspn(buf_text(&text), " \t\r\n");
        *token = mem_strndup(start, strcspn(start, " \t\r\n"));
        return 0;
}

void kube_credential_set_connection(const struct kube_config *config, const struct kube_credential *credential,
                                    struct http_request *request)
{
        const bool given = credential->cert_data != NULL;
        request->connect_timeout_ms = config->connect_timeout_ms;
        request->proxy = config->proxy_url;
        request->insecure = config->insecure;
        request->ca_file = config->ca_file;
        request->ca_data = config->ca_file ? NULL : config->ca_data;
        request->ca_only = true;
        request->cert_file = given ? NULL : config->cert_file;
        request->key_file = given ? NULL : config->key_file;
        request->cert_data = given ? credential->cert_data : config->cert_file ? NULL : config->cert_data;
        request->key_data = given ? credential->key_data : config->key_file ? NULL : config->key_data;
        request->tls_name = config->tls_server_name;
}
