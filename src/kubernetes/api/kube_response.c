/* Maps responses to outcomes and messages: the operation, the server's reason and, where there is one, the remedy. */
#include "kubernetes/api/kube_internal.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "text/json.h"

#include <stdio.h>

char *kube_deed(const char *method, const char *path)
{
        static const char *const verbs[][2] = {
                {"GET", "read"}, {"POST", "create"}, {"DELETE", "delete"}, {"PATCH", "change"}, {"PUT", "replace"}};
        const char *verb = method;
        char namespace[254] = "", resource[128] = "", name[254] = "";
        for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
                if (strcmp(method, verbs[i][0]) == 0)
                        verb = verbs[i][1];
        const char *rest = path;
        if (text_starts_with(path, "/api/"))
                rest = strchr(path + 5, '/');
        else if (text_starts_with(path, "/apis/"))
                rest = strchr(path + 6, '/') ? strchr(strchr(path + 6, '/') + 1, '/') : NULL;
        if (rest && sscanf(rest, "/namespaces/%253[^/]/%127[^/]/%253s", namespace, resource, name) < 2) {
                namespace[0] = 0;
                sscanf(rest, "/%127[^/]/%253s", resource, name);
        }
        if (!resource[0])
                return mem_printf("%s %s", verb, path);
        return mem_printf("%s %s%s%s%s%s%s%s", verb, resource, name[0] ? " \"" : "", name, name[0] ? "\"" : "",
                          namespace[0] ? " in namespace \"" : "", namespace, namespace[0] ? "\"" : "");
}

/* Copies the text between @before and the next quotation mark to @out. */
static bool copy_quoted(const char *text, const char *before, char *out, size_t size)
{
        const char *start = strstr(text, before);
        if (!start)
                return false;
        start += strlen(before);
        size_t n = strcspn(start, "\"");
        if (start[n] != '"' || n >= size)
                return false;
        memcpy(out, start, n);
        out[n] = 0;
        return true;
}

/*
 * Turns the server's `User "x" cannot create resource "pods" in API group "" in the namespace "y"` into a message with
 * the remedy.
 */
static char *explain_forbidden(const char *message)
{
        char user[512], resource[256], namespace[256], verb[64] = "";
        if (!copy_quoted(message, "User \"", user, sizeof(user)) ||
            !copy_quoted(message, " resource \"", resource, sizeof(resource)))
                return NULL;
        bool inside = copy_quoted(message, "in the namespace \"", namespace, sizeof(namespace));
        const char *cannot = strstr(message, "\" cannot ");
        if (cannot)
                sscanf(cannot, "\" cannot %63s", verb);
        struct buf out = BUF_INIT;
        char *account = strrchr(user, ':');
        buf_printf(&out,
                   "%s \"%s\" may not %s %s %s%s%s. An administrator of the cluster can allow it with: kubectl create ",
                   text_starts_with(user, "system:serviceaccount:") ? "The account" : "The user", user,
                   verb[0] ? verb : "use", resource, inside ? "in the namespace \"" : "in the whole cluster",
                   inside ? namespace : "", inside ? "\"" : "");
        buf_printf(&out, "%s spark-edit --clusterrole=edit ", inside ? "rolebinding" : "clusterrolebinding");
        if (text_starts_with(user, "system:serviceaccount:") && account > user + 22)
                buf_printf(&out, "--serviceaccount=%s", user + 22);
        else
                buf_printf(&out, "--user=%s", user);
        if (inside)
                buf_printf(&out, " --namespace=%s", namespace);
        return buf_steal(&out);
}

static int kube_response_forbidden(const char *deed, const char *message, struct fst_error *error)
{
        if (strstr(message, "exceeded quota"))
                return error_set(error, FST_KUBE_E_QUOTA,
                                 "cannot %s: a quota of the namespace is exhausted: %s (see kubectl describe quota)",
                                 deed, message);
        _cleanup_free_ char *what = explain_forbidden(message);
        return error_set(error, FST_KUBE_E_FORBIDDEN, "cannot %s: %s%s%s", deed, message, what ? ". " : "",
                         what ? what : "");
}

static int outcome_code(int status, const char *reason)
{
        switch (status) {
        case 404:
                return FST_KUBE_E_NOT_FOUND;
        case 409:
                return strcmp(reason, "AlreadyExists") == 0 ? FST_KUBE_E_ALREADY_EXISTS : FST_KUBE_E_CONFLICT;
        case 410:
                return FST_KUBE_E_GONE;
        case 429:
                return FST_KUBE_E_TOO_MANY;
        default:
                return status >= 500 ? FST_KUBE_E_UNAVAILABLE : FST_KUBE_E_INVALID;
        }
}

int kube_outcome(const struct kube_call *call, int status, const json_t *object, const char *text,
                 struct fst_error *error)
{
        if (status >= 200 && status < 300)
                return 0;
        const char *message = json_text_at(object, "message");
        const char *reason = json_text_at(object, "reason");
        char line[300];
        snprintf(line, sizeof(line), "%.*s", (int)MIN(strcspn(text, "\r\n"), 250u), text);
        _cleanup_free_ char *plain = mem_printf("HTTP %d%s%s", status, line[0] ? ": " : "", line);
        _cleanup_free_ char *deed = kube_deed(call->method, call->path);
        message = message && *message ? message : plain;
        reason = reason ? reason : "";
        if (status == 401)
                return error_set(error, FST_KUBE_E_UNAUTHORIZED,
                                 "cannot %s: %s rejects the credentials (%s): the token or client certificate is wrong "
                                 "or has expired (kubeconfig, spark.kubernetes.authenticate.*)",
                                 deed, call->client->config->server, message);
        if (status == 403)
                return kube_response_forbidden(deed, message, error);
        return error_set(error, outcome_code(status, reason), "cannot %s: %s", deed, message);
}
