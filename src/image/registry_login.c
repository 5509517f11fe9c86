/* See registry_login.h. The files are those of docker and of the containers project (containers-auth.json(5)). */
#include "image/registry_login.h"

#include "base/base64.h"
#include "base/buf.h"
#include "process/command.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "text/json.h"

#include <jansson.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST ((size_t)1 << 20)
#define DOCKER_HUB "https://index.docker.io/v1/" /* docker login's name of docker.io */

/* The user's credential files, in order. NULL: an unset one. */
static char *registry_login_auth_file(int i)
{
        const char *said = getenv("REGISTRY_AUTH_FILE"), *runtime = getenv("XDG_RUNTIME_DIR");
        const char *docker = getenv("DOCKER_CONFIG"), *home = getenv("HOME");
        if (i == 0)
                return said && *said ? mem_strdup(said) : NULL;
        if (i == 1)
                return runtime && *runtime ? mem_printf("%s/containers/auth.json", runtime) : NULL;
        if (docker && *docker)
                return mem_printf("%s/config.json", docker);
        return home && *home ? mem_printf("%s/.docker/config.json", home) : NULL;
}

static json_t *registry_login_host_entry(const json_t *map, const char *host)
{
        json_t *found = json_object_get(map, host);
        if (!found && strcmp(host, "docker.io") == 0)
                found = json_object_get(map, DOCKER_HUB);
        return found;
}

/*
 * Runs docker-credential-@helper, which reads the host and prints {"Username": …, "Secret": …}. Status 1 and a message
 * mean no credentials.
 */
static int registry_login_run_helper(const char *helper, const char *host, char **out, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf said = BUF_INIT;
        static const char script[] = "printf %s \"$2\" | \"docker-credential-$1\" get";
        const char *asked = strcmp(host, "docker.io") == 0 ? DOCKER_HUB : host;
        char *words[] = {"sh", "-c", (char *)script, "sh", (char *)helper, (char *)asked, NULL};
        int status, r = command_run(&(struct command){.words = words, .captured = &said, .no_input = true}, &status);
        if (r == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 1 && strstr(buf_text(&said), "not found"))
                return 0;
        json_t *answer = r == 0 && status == 0 ? json_loadb(buf_text(&said), said.len, 0, NULL) : NULL;
        const char *user = json_text_at(answer, "Username");
        const char *secret = json_text_at(answer, "Secret");
        if (user && secret && strcmp(user, "<token>") != 0)
                *out = mem_printf("%s:%s", user, secret);
        else
                r = error_set(error, -EACCES, "docker-credential-%s returns no credentials for %s: log in again",
                              helper, host);
        json_decref(answer);
        return r;
}

static int registry_login_search(const json_t *file, const char *path, const char *host, char **out,
                                 struct fst_error *error)
{
        const char *helper = json_string_value(registry_login_host_entry(json_object_get(file, "credHelpers"), host));
        const char *text = json_string_value(
                json_object_get(registry_login_host_entry(json_object_get(file, "auths"), host), "auth"));
        if (text && *text) {
                struct buf plain = BUF_INIT;
                if (!base64_decode(text, strlen(text), &plain) || !strchr(buf_text(&plain), ':')) {
                        buf_deinit(&plain);
                        return error_set(error, -EINVAL, "%s: the entry of %s is not a name and password", path, host);
                }
                *out = buf_steal(&plain);
                return 0;
        }
        if (!helper && registry_login_host_entry(json_object_get(file, "auths"), host))
                helper = json_text_at(file, "credsStore");
        return helper ? registry_login_run_helper(helper, host, out, error) : 0;
}

int registry_login_find(const char *host, char **out, struct fst_error *error)
{
        *out = NULL;
        int r = 0;
        for (int i = 0; i < 3 && r == 0 && !*out; i++) {
                _cleanup_free_ char *path = registry_login_auth_file(i);
                _cleanup_(buf_deinit) struct buf text = BUF_INIT;
                if (!path || access(path, F_OK) < 0)
                        continue;
                r = file_text_read(path, MOST, &text, error);
                if (r < 0)
                        return r;
                json_t *file = json_loadb(buf_text(&text), text.len, 0, NULL);
                r = file ? registry_login_search(file, path, host, out, error)
                         : error_set(error, -EINVAL, "%s is not valid JSON", path);
                json_decref(file);
        }
        return r;
}
