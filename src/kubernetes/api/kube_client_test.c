/* Under every fault each call ends once and nothing is done twice. */
#include "kubernetes/api/kube_client.h"

#define HTTP_FIXTURE_CONNECTIONS 2048

#include "base/error.h"
#include "base/fs.h"
#include "kubernetes/api/kube_fixture.h"
#include "net/tls_fixture.h"
#include "unit/temp_dir.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct kube_fixture api;
static struct kube_config config;
static struct kube_client *client;
static uv_loop_t loop;
static struct fst_error error;

static json_t *pod(const char *name, const char *mark)
{
        return json_pack("{s:s, s:s, s:{s:s*, s:{s:s}}}", "apiVersion", "v1", "kind", "Pod", "metadata", "name", name,
                         "labels", "mark", mark);
}

static int create(const char *name, const char *mark, json_t **out)
{
        json_t *object = pod(name, mark);
        error_deinit(&error);
        int r = kube_wait(client, kube_create(client, "ns", object, NULL, NULL), out, &error);
        json_decref(object);
        return r;
}

static int get(const char *path, json_t **out)
{
        error_deinit(&error);
        return kube_wait(client, kube_get(client, path, NULL, NULL), out, &error);
}

static void assert_says(const char *part)
{
        if (!strstr(error_message(&error), part))
                fail_msg("%s", error_message(&error));
}

#define PODS "/api/v1/namespaces/ns/pods"

static void creates_gets_patches_and_deletes(void **state)
{
        json_t *object = NULL;
        assert_int_equal(create("a", "1", &object), 0);
        assert_string_equal(json_string_value(json_object_get(json_object_get(object, "metadata"), "uid")), "uid-1");
        json_decref(object);
        assert_non_null(strstr(api.last_head, "User-Agent: tester/1\r\n"));
        assert_non_null(strstr(api.last_head, "Content-Type: application/json\r\n"));
        json_t *patch = json_pack("{s:{s:{s:s}}}", "metadata", "labels", "more", "yes");
        assert_int_equal(
                kube_wait(client, kube_patch(client, PODS "/a", KUBE_PATCH_STRATEGIC, patch, NULL, NULL), NULL, &error),
                0);
        assert_non_null(strstr(api.last_head, "Content-Type: application/strategic-merge-patch+json\r\n"));
        json_decref(patch);
        assert_int_equal(get(PODS "/a", &object), 0);
        assert_string_equal(json_string_value(json_object_get(
                                    json_object_get(json_object_get(object, "metadata"), "labels"), "more")),
                            "yes");
        json_decref(object);
        int64_t at_once = 0;
        struct kube_deletion how = {.grace_s = &at_once, .uid = "uid-1", .labels = "a=b,c in (d)"};
        assert_int_equal(kube_wait(client, kube_delete(client, PODS "/a", &how, NULL, NULL), NULL, &error), 0);
        assert_non_null(strstr(api.last_head, "DELETE " PODS "/a?labelSelector=a%3Db%2Cc%20in%20%28d%29 "));
        object = NULL;
        assert_int_equal(get(PODS "/a", &object), FST_KUBE_E_NOT_FOUND);
        assert_null(object); /* the answer's Status is not the caller's */
        assert_string_equal(error_message(&error), "cannot read pods \"a\" in namespace \"ns\": pods not found");
        assert_int_equal(create("b", "1", NULL), 0);
        assert_int_equal(create("b", "1", NULL), FST_KUBE_E_ALREADY_EXISTS);
        assert_string_equal(error_message(&error), "cannot create pods in namespace \"ns\": pods already exists");
        assert_int_equal(api.http.connections, 1);
}

static void builds_paths_of_objects(void **state)
{
        static const struct {
                const char *api, *kind, *path;
        } kinds[] = {
                {"v1", "ConfigMap", "/api/v1/namespaces/ns/configmaps/x"},
                {"networking.k8s.io/v1", "NetworkPolicy", "/apis/networking.k8s.io/v1/namespaces/ns/networkpolicies/x"},
                {"scheduling.volcano.sh/v1beta1", "PodGroup",
                 "/apis/scheduling.volcano.sh/v1beta1/namespaces/ns/podgroups/x"},
                {"networking.k8s.io/v1", "Ingress", "/apis/networking.k8s.io/v1/namespaces/ns/ingresses/x"},
                {"v1", "Namespace", "/api/v1/namespaces/x"}};
        for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
                json_t *object = json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", kinds[i].api, "kind", kinds[i].kind,
                                           "metadata", "name", "x");
                _cleanup_free_ char *path = kube_object_path(object, "ns", true);
                assert_string_equal(path, kinds[i].path);
                json_decref(object);
        }
        _cleanup_free_ char *strange = kube_path("v1", "a/../b", "pods", "c?d");
        assert_string_equal(strange, "/api/v1/namespaces/a%2F..%2Fb/pods/c%3Fd");
}

/* The faults of a test, one letter for each request: see below. */
static const char *script;

static enum kube_fault scripted(struct kube_fixture *a, const struct fixture_exchange *x)
{
        static const char letters[] = {
                [FAULT_NONE] = '.', [FAULT_CLOSE] = 'c',   [FAULT_LOST] = 'l',   [FAULT_HALF] = 'h',
                [FAULT_GONE] = 'g', [FAULT_REFUSED] = 'r', [FAULT_SILENCE] = 's'};
        if (!script || !*script)
                return FAULT_NONE;
        const char *found = memchr(letters, *script++, sizeof(letters));
        return found ? (enum kube_fault)(found - letters) : FAULT_NONE;
}

static void faults(const char *letters)
{
        pthread_mutex_lock(&api.lock);
        script = letters;
        api.fault = scripted;
        pthread_mutex_unlock(&api.lock);
}

/* The response to the creation is lost, and so is that to the fetch. */
static void retries_reads_that_failed(void **state)
{
        faults("l.g.c");
        assert_int_equal(create("a", "1", NULL), 0);
        assert_int_equal(api.creations, 1);
}

static void lost_response_creates_no_second_object(void **state)
{
        json_t *object = NULL;
        faults("l");
        assert_int_equal(create("a", "1", &object), 0);
        assert_string_equal(json_string_value(json_object_get(json_object_get(object, "metadata"), "uid")), "uid-1");
        json_decref(object);
        assert_int_equal(api.creations, 1);
        faults("clhcc");
        assert_int_equal(create("b", "1", NULL), 0);
        assert_int_equal(api.creations, 2);
        /* Another owner's object has the name, and a response was lost. */
        faults("c");
        assert_int_equal(create("a", "2", NULL), FST_KUBE_E_ALREADY_EXISTS);
        assert_says("\"a\" already exists and belongs to another owner");
        /* Without a name: no retry, and the caller gets the error. */
        faults("l");
        assert_int_equal(create(NULL, "1", NULL), -ECONNRESET);
        assert_int_equal(api.creations, 3);
        /* A deletion whose response was lost has happened. One that meets 404 at first has not. */
        faults("l");
        assert_int_equal(kube_wait(client, kube_delete(client, PODS "/a", NULL, NULL, NULL), NULL, &error), 0);
        assert_int_equal(kube_wait(client, kube_delete(client, PODS "/a", NULL, NULL, NULL), NULL, &error),
                         FST_KUBE_E_NOT_FOUND);
}

static void refuse(int status, const char *headers, const char *text, const char *letters)
{
        api.refusal = status;
        api.refusal_headers = headers;
        api.refusal_text = text;
        faults(letters);
}

struct ended {
        int n, r, attempts, throttled, status;
        int64_t retry_after_ms;
        char reason[64];
};

static void note(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct ended *e = owner;
        e->n++;
        e->r = r;
        e->attempts = response->attempts;
        e->throttled = response->throttled;
        e->status = response->status;
        e->retry_after_ms = response->retry_after_ms;
        snprintf(e->reason, sizeof(e->reason), "%s", response->reason);
        assert_true((r == 0) == (response->error == NULL));
}

static void run_until_done(void)
{
        while (kube_client_pending(client))
                uv_run(&loop, UV_RUN_ONCE);
}

static struct ended create_and_note(const char *name)
{
        struct ended e = {0};
        json_t *object = pod(name, "1");
        kube_create(client, "ns", object, note, &e);
        json_decref(object);
        assert_int_equal(e.n, 0); /* never at once */
        run_until_done();
        assert_int_equal(e.n, 1);
        return e;
}

static void retries_429_and_503(void **state)
{
        refuse(429, NULL, "too many requests", "rrr");
        struct ended e = create_and_note("a");
        assert_int_equal(e.r, 0);
        assert_int_equal(e.attempts, 4);
        assert_int_equal(e.throttled, 3);
        refuse(503, NULL, "not now", "rr");
        assert_int_equal(create_and_note("b").attempts, 3);
        refuse(429, NULL, "{\"kind\":\"Status\",\"reason\":\"TooManyRequests\",\"message\":\"wait\"}", "rrrrrrrrr");
        e = create_and_note("c");
        assert_int_equal(e.r, FST_KUBE_E_TOO_MANY);
        assert_int_equal(e.attempts, KUBE_ATTEMPTS);
        assert_string_equal(e.reason, "TooManyRequests");
        refuse(500, NULL, "oops", "rrrrrrrrr");
        assert_int_equal(create_and_note("d").r, FST_KUBE_E_UNAVAILABLE);
        faults("cccccccccc");
        assert_true(create_and_note("e").r < 0);
        refuse(429, "Retry-After: 1\r\n", "wait", "r");
        kube_send(client, &(struct kube_request){.path = PODS, .attempts = 1}, note, &e);
        run_until_done();
        assert_int_equal(e.retry_after_ms, 1000);
        assert_int_equal(e.r, FST_KUBE_E_TOO_MANY);
        assert_int_equal(api.creations, 2);
}

static void refusals_name_remedy(void **state)
{
        static const struct {
                int status, r;
                const char *text, *says;
        } cases[] = {
                {403, FST_KUBE_E_FORBIDDEN,
                 "{\"message\":\"pods is forbidden: User \\\"system:serviceaccount:ns:default\\\" cannot create resource "
                 "\\\"pods\\\" in API group \\\"\\\" in the namespace \\\"ns\\\"\"}",
                 "The account \"system:serviceaccount:ns:default\" may not create pods in the namespace \"ns\". An "
                 "administrator of the cluster can allow it with: kubectl create rolebinding spark-edit --clusterrole=edit "
                 "--serviceaccount=ns:default --namespace=ns"},
                {403, FST_KUBE_E_FORBIDDEN,
                 "{\"message\":\"nodes is forbidden: User \\\"jane\\\" cannot list resource \\\"nodes\\\" in API group "
                 "\\\"\\\" at the cluster scope\"}",
                 "The user \"jane\" may not list nodes in the whole cluster. An administrator of the cluster can allow it "
                 "with: "
                 "kubectl create clusterrolebinding spark-edit --clusterrole=edit --user=jane"},
                {403, FST_KUBE_E_QUOTA,
                 "{\"message\":\"pods \\\"x\\\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=5\"}",
                 "a quota of the namespace is exhausted: pods \"x\" is forbidden: exceeded quota: q"},
                {403, FST_KUBE_E_FORBIDDEN, "go away", "cannot create pods in namespace \"ns\": HTTP 403: go away"},
                {401, FST_KUBE_E_UNAUTHORIZED, "{\"message\":\"Unauthorized\"}",
                 "rejects the credentials (Unauthorized)"},
                {422, FST_KUBE_E_INVALID, "{\"message\":\"spec.containers: Required value\"}",
                 "spec.containers: Required"},
                {409, FST_KUBE_E_CONFLICT, "{\"reason\":\"Conflict\",\"message\":\"modified\"}", "modified"},
                {410, FST_KUBE_E_GONE, "{}", "HTTP 410"},
                {404, FST_KUBE_E_NOT_FOUND, "", "HTTP 404"},
                {301, FST_KUBE_E_INVALID, "", "HTTP 301"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                refuse(cases[i].status, NULL, cases[i].text, "r");
                assert_int_equal(create("x", "1", NULL), cases[i].r);
                assert_says(cases[i].says);
        }
        assert_int_equal(api.creations, 0);
}

struct listed {
        size_t n, begun_again;
        int stop_at, r;
        char last[64];
        bool cancel;
        struct kube_call *call;
        bool over;
};

static int count_item(void *owner, json_t *item)
{
        struct listed *l = owner;
        if (!item) {
                l->n = 0;
                l->begun_again++;
                return 0;
        }
        const char *name = json_string_value(json_object_get(json_object_get(item, "metadata"), "name"));
        snprintf(l->last, sizeof(l->last), "%s", name ? name : "");
        l->n++;
        if (l->cancel)
                kube_cancel(steal(l->call));
        return l->stop_at && (int)l->n == l->stop_at ? 42 : 0;
}

static void listed(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct listed *l = owner;
        l->r = r;
        l->over = true;
        if (r == 0) {
                assert_non_null(json_object_get(json_object_get(response->object, "metadata"), "resourceVersion"));
                assert_int_equal(json_array_size(json_object_get(response->object, "items")), 0);
        } else if (r != 42) {
                error_set(&error, r, "%s", error_message(response->error));
        }
}

static struct listed list(const char *letters, struct listed how)
{
        struct listed l = how;
        faults(letters);
        l.call = kube_list_items(client,
                                 &(struct kube_listing){.path = PODS, .labels = "a=b", .page = 100, .item = count_item},
                                 listed, &l);
        run_until_done();
        uv_run(&loop, UV_RUN_NOWAIT);
        return l;
}

static void reads_list_in_pages(void **state)
{
        for (int i = 0; i < 950; i++) {
                char name[16];
                snprintf(name, sizeof(name), "p%03d", i);
                json_t *object = pod(name, "1");
                pthread_mutex_lock(&api.lock);
                kube_fixture_put(&api, object);
                pthread_mutex_unlock(&api.lock);
                json_decref(object);
        }
        struct listed l = list("", (struct listed){0});
        assert_int_equal(l.n, 950);
        assert_string_equal(l.last, "p949");
        assert_int_equal(api.lists, 10);
        assert_non_null(strstr(api.last_head, "labelSelector=a%3Db&limit=100&continue=900"));
        /* After half a page the list restarts. A page without data is requested again. */
        l = list("..h", (struct listed){0});
        assert_int_equal(l.n, 950);
        assert_int_equal(l.begun_again, 1);
        l = list("..cl", (struct listed){0});
        assert_int_equal(l.n, 950);
        assert_int_equal(l.begun_again, 0);
        l = list("....g", (struct listed){0});
        assert_int_equal(l.n, 950);
        assert_int_equal(l.begun_again, 1);
        l = list("", (struct listed){.stop_at = 250});
        assert_int_equal(l.r, 42);
        assert_int_equal(l.n, 250);
        l = list("", (struct listed){.cancel = true});
        assert_int_equal(l.n, 1);
        assert_false(l.over);
        refuse(200, NULL, "{\"items\":[3]}", "r");
        l = list("r", (struct listed){0});
        assert_int_equal(l.r, -EPROTO);
        assert_says("cannot read pods in namespace \"ns\": the list has an item that is not an object");
}

static int take_text(void *owner, const char *data, size_t n)
{
        buf_append(owner, data, n);
        return 0;
}

static void streams_logs(void **state)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        assert_int_equal(create("a", "1", NULL), 0);
        struct kube_log log = {.container = "c", .tail_lines = 10, .follow = true, .sink = take_text};
        assert_int_equal(kube_wait(client, kube_logs(client, "ns", "a", &log, NULL, &text), NULL, &error), 0);
        assert_int_equal(text.len, 20 * 100);
        assert_memory_equal(buf_text(&text), "a line of the log \n", 19);
        assert_non_null(strstr(api.last_head, "GET " PODS "/a/log?container=c&tailLines=10&follow=true "));
        faults("h"); /* a stream with data is not retried */
        assert_true(kube_wait(client, kube_logs(client, "ns", "a", &log, NULL, &text), NULL, &error) < 0);
        faults("ss.");
        log.silence_ms = 1;
        struct kube_call *call = kube_logs(client, "ns", "a", &log, NULL, &text);
        kube_limit_attempts(call, 1);
        assert_int_equal(kube_wait(client, call, NULL, &error), -ETIMEDOUT);
        assert_string_equal(script, "s.");
}

static void put_file(const char *path, const char *text, int mode)
{
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
        assert_true(fd >= 0);
        assert_int_equal(write_all(fd, text, strlen(text)), 0);
        close(fd);
}

static void reads_token_file_again_after_401(void **state)
{
        char path[] = "/tmp/kube-token-XXXXXX";
        close(mkstemp(path));
        config.token_file = path;
        put_file(path, "first\n", 0600);
        assert_int_equal(get(PODS, NULL), 0);
        assert_non_null(strstr(api.last_head, "Authorization: Bearer first\r\n"));
        put_file(path, "second\n", 0600);
        assert_int_equal(get(PODS, NULL), 0);
        assert_non_null(strstr(api.last_head, "Authorization: Bearer second\r\n"));
        refuse(401, NULL, "{}", "r");
        assert_int_equal(get(PODS, NULL), 0); /* retried once, with the file's new token */
        refuse(401, NULL, "{}", "rr");
        assert_int_equal(get(PODS, NULL), FST_KUBE_E_UNAUTHORIZED);
        unlink(path);
        assert_int_equal(get(PODS, NULL), -ENOENT);
        assert_says("the token for the API server: /tmp/kube-token-");
        config.token_file = NULL;
        config.user = "me";
        config.password = "secret";
        assert_int_equal(get(PODS, NULL), 0);
        assert_non_null(strstr(api.last_head, "Authorization: Basic bWU6c2VjcmV0\r\n"));
}

static void runs_credential_program_once(void **state)
{
        char folder[TEMP_DIR_SIZE];
        temp_dir_new(folder);
        _cleanup_free_ char *path = mem_printf("%s/plugin", folder), *count = mem_printf("%s/count", folder);
        _cleanup_free_ char *text = mem_printf("#!/bin/sh\necho x >> %s\necho '{\"kind\":\"ExecCredential\",\"status\":"
                                               "{\"token\":\"t'$(wc -l < %s)'\"}}'\n",
                                               count, count);
        char *none[] = {NULL};
        struct kube_exec exec = {.command = path, .arguments = none, .env = none, .api_version = "v"};
        struct ended ends[20] = {{0}};
        put_file(path, text, 0700);
        config.exec = &exec;
        for (int i = 0; i < 20; i++)
                kube_get(client, PODS, note, &ends[i]);
        run_until_done();
        for (int i = 0; i < 20; i++)
                assert_int_equal(ends[i].r, 0);
        assert_non_null(strstr(api.last_head, "Authorization: Bearer t1\r\n"));
        refuse(401, NULL, "{}", "r");
        assert_int_equal(get(PODS, NULL), 0);
        assert_non_null(strstr(api.last_head, "Authorization: Bearer t2\r\n"));
        put_file(path, "#!/bin/sh\necho no >&2\nexit 1\n", 0700);
        refuse(401, NULL, "{}", "r");
        assert_int_equal(get(PODS, NULL), -ECANCELED);
        assert_says("ended with status 1: no");
        refuse(401, NULL, "{}", "rrr");
        memset(ends, 0, sizeof(ends));
        for (int i = 0; i < 3; i++) /* each is freed as it ends */
                kube_get(client, PODS, note, &ends[i]);
        run_until_done();
        for (int i = 0; i < 3; i++)
                assert_int_equal(ends[i].r, -ECANCELED);
        unlink(path);
        unlink(count);
        rmdir(folder);
        config.exec = NULL;
}

/* The client and its configuration are freed while the program runs. Nothing waits for the program then. */
static void client_can_be_freed_while_program_runs(void **state)
{
        char folder[TEMP_DIR_SIZE];
        temp_dir_new(folder);
        _cleanup_free_ char *path = mem_printf("%s/plugin", folder), *pipe = mem_printf("%s/pipe", folder);
        _cleanup_free_ char *text = mem_printf("#!/bin/sh\nread x < %s\necho '{\"kind\":\"none\"}'\n", pipe);
        char **none = new0(char *), **no_more = new0(char *);
        struct kube_config brief = {.server = mem_strdup(api.http.url), .exec = new0(struct kube_exec)};
        struct kube_client *other;
        *brief.exec = (struct kube_exec){
                .command = mem_strdup(path), .arguments = none, .env = no_more, .api_version = mem_strdup("v")};
        put_file(path, text, 0700);
        kube_client_free(steal(client));
        assert_int_equal(mkfifo(pipe, 0600), 0);
        assert_int_equal(kube_client_new(&loop, &brief, NULL, &other, &error), 0);
        kube_get(other, PODS, note, NULL); /* freed: note is not called */
        int fd;
        while ((fd = open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0) /* until the server reads */
                uv_run(&loop, UV_RUN_NOWAIT);
        kube_client_free(other);
        kube_config_deinit(&brief);
        assert_int_equal(write(fd, "x\n", 2), 2);
        close(fd);
        uv_run(&loop, UV_RUN_DEFAULT);
        unlink(path);
        unlink(pipe);
        rmdir(folder);
}

static void over_tls_with_certificates(void **state)
{
        struct tls_fixture tls;
        tls_fixture_start(&tls, &(struct tls_fixture_options){.http1_port = api.http.port, .need_client = true});
        _cleanup_free_ char *server = mem_printf("https://127.0.0.1:%d", tls.port);
        struct kube_config secure = {.server = server,
                                     .ca_data = tls.ca,
                                     .cert_data = tls.client_cert,
                                     .key_data = tls.client_key,
                                     .request_timeout_ms = 30000,
                                     .connect_timeout_ms = 30000};
        kube_client_free(client);
        assert_int_equal(kube_client_new(&loop, &secure, NULL, &client, &error), 0);
        kube_client_set_pause(client, 2, 20);
        assert_int_equal(create("a", "1", NULL), 0);
        assert_int_equal(create("b", "1", NULL), 0);
        assert_int_equal(tls.handshakes, 1);
        kube_client_free(client);
        uv_run(&loop, UV_RUN_DEFAULT);
        secure.ca_data = NULL;
        assert_int_equal(kube_client_new(&loop, &secure, NULL, &client, &error), 0);
        assert_int_equal(create("c", "1", NULL), -EPROTO); /* not retried: the certificate is not trusted */
        kube_client_free(client);
        uv_run(&loop, UV_RUN_DEFAULT);
        secure.ca_file = "/nowhere/ca.crt";
        assert_int_equal(kube_client_new(&loop, &secure, NULL, &client, &error), -ENOENT);
        assert_says("cannot read the certificate /nowhere/ca.crt for the API server");
        client = NULL;
        tls_fixture_stop(&tls);
}

static enum kube_fault any_fault(struct kube_fixture *a, const struct fixture_exchange *x)
{
        unsigned n = (unsigned)(a->step = (int)((unsigned)a->step * 1103515245u + 12345u)) >> 16 & 31;
        return n < 3 ? FAULT_CLOSE : n < 6 ? FAULT_LOST : n < 8 ? FAULT_HALF : n < 12 ? FAULT_REFUSED : FAULT_NONE;
}

/* Creates 300 objects through a server that fails every third request: each exists once. */
static void creates_300_objects_under_faults(void **state)
{
        static struct ended ends[300];
        memset(ends, 0, sizeof(ends));
        api.refusal = 503;
        api.refusal_text = "not now";
        api.step = 42;
        api.fault = any_fault;
        for (int i = 0; i < 300; i++) {
                char name[16];
                snprintf(name, sizeof(name), "p%d", i);
                json_t *object = pod(name, "1");
                kube_create(client, "ns", object, note, &ends[i]);
                json_decref(object);
        }
        run_until_done();
        int made = 0;
        for (int i = 0; i < 300; i++) {
                assert_int_equal(ends[i].n, 1);
                made += ends[i].r == 0;
                if (ends[i].r != 0) /* all attempts failed: the caller learns that the result is unknown */
                        assert_true(ends[i].attempts >= KUBE_ATTEMPTS); /* and fetches the object */
        }
        assert_int_equal(api.creations, json_object_size(api.pods));
        assert_true(made > 280);
        assert_true(made <= api.creations);
}

static void free_client(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        kube_client_free(steal(client));
}

static void client_can_be_freed_in_callback(void **state)
{
        struct ended ends[50] = {{0}};
        for (int i = 0; i < 50; i++)
                kube_get(client, PODS, i == 20 ? free_client : note, &ends[i]);
        while (client)
                uv_run(&loop, UV_RUN_ONCE);
        uv_run(&loop, UV_RUN_DEFAULT);
        for (int i = 0; i < 50; i++)
                assert_in_range(ends[i].n, 0, 1);
}

static struct kube_call *other;

/* As many calls as before, but other ones. */
static void replace_calls(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct ended *ends = owner;
        assert_int_equal(r, -ECANCELED);
        kube_cancel(other);
        kube_get(client, PODS, note, &ends[0]);
        kube_get(client, PODS, note, &ends[1]);
}

static void calls_can_be_replaced_in_callback(void **state)
{
        struct ended ends[3] = {{0}};
        struct kube_call *first = kube_get(client, PODS, replace_calls, ends);
        other = kube_get(client, PODS, note, &ends[2]);
        kube_give_up(first);
        while (ends[0].n + ends[1].n < 2)
                uv_run(&loop, UV_RUN_ONCE);
        assert_int_equal(ends[2].n, 0);
}

static int begin(void **state)
{
        kube_fixture_start(&api);
        script = NULL;
        uv_loop_init(&loop);
        config = (struct kube_config){
                .server = api.http.url, .namespace = "ns", .request_timeout_ms = 30000, .connect_timeout_ms = 30000};
        int r = kube_client_new(&loop, &config, "tester/1", &client, &error);
        if (r < 0)
                print_message("%s\n", error_message(&error));
        else
                kube_client_set_pause(client, 2, 20);
        return r < 0;
}

static int end(void **state)
{
        kube_client_free(client);
        client = NULL;
        uv_run(&loop, UV_RUN_DEFAULT);
        kube_fixture_stop(&api);
        error_deinit(&error);
        return uv_loop_close(&loop);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)
        const struct CMUnitTest tests[] = {
                CASE(creates_gets_patches_and_deletes),
                CASE(builds_paths_of_objects),
                CASE(lost_response_creates_no_second_object),
                CASE(retries_reads_that_failed),
                CASE(retries_429_and_503),
                CASE(refusals_name_remedy),
                CASE(reads_list_in_pages),
                CASE(streams_logs),
                CASE(reads_token_file_again_after_401),
                CASE(runs_credential_program_once),
                CASE(client_can_be_freed_while_program_runs),
                CASE(over_tls_with_certificates),
                CASE(creates_300_objects_under_faults),
                CASE(client_can_be_freed_in_callback),
                CASE(calls_can_be_replaced_in_callback),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
