/*
 * Reads the state of a pod as Spark's ExecutorPodsSnapshot.toState does. A deletion timestamp makes a pod deleted
 * unless it still runs. A running pod counts as ended once its Spark container has terminated (or, with check_all and a
 * restart policy of Never, once any container has failed), although its phase does not show it yet.
 *
 * A pod becomes one block. pod_state_fill() runs twice over the same JSON: once with an empty packer to learn the size,
 * once into the block. Invariant: both passes store the same texts in the same order.
 */
#include "kubernetes/api/pod_state.h"

#include "base/mem.h"
#include "base/string_prefix.h"
#include "kubernetes/api/kube_names.h"
#include "text/json.h"

#include <ctype.h>
#include <errno.h>
#include <stdalign.h>
#include <stdio.h>
#include <strings.h>
#include <time.h>

/* Texts from the server are cut at this length. */
enum { MAX_TEXT = 1024, MAX_ITEMS = 64 };

struct packer {
        char *base; /* NULL: only count */
        size_t used;
};

static void *pack_room(struct packer *p, size_t size, size_t align)
{
        p->used = (p->used + align - 1) / align * align;
        void *at = p->base ? p->base + p->used : NULL;
        p->used += size;
        return at;
}

/* Returns NULL for NULL and "". */
static const char *pack_text(struct packer *p, const char *text)
{
        if (!text || !*text)
                return NULL;
        size_t n = strnlen(text, MAX_TEXT);
        while (n > 0 && n == MAX_TEXT && ((unsigned char)text[n] & 0xc0) == 0x80)
                n--; /* do not split a UTF-8 character */
        char *copy = pack_room(p, n + 1, 1);
        if (copy) {
                memcpy(copy, text, n);
                copy[n] = '\0';
        }
        return copy;
}

const char *pod_state_kind_name(enum pod_state_kind kind)
{
        static const char *const names[] = {
                [POD_PENDING] = "pending", [POD_RUNNING] = "running", [POD_SUCCEEDED] = "succeeded",
                [POD_FAILED] = "failed",   [POD_DELETED] = "deleted", [POD_TERMINATING] = "terminating",
                [POD_UNKNOWN] = "unknown",
        };
        return names[kind];
}

bool pod_state_kind_is_final(enum pod_state_kind kind)
{
        return kind == POD_SUCCEEDED || kind == POD_FAILED || kind == POD_DELETED;
}

int64_t pod_time_read(const char *text)
{
        struct tm tm = {0};
        const char *rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
        if (!rest)
                return 0;
        int64_t ms = (int64_t)timegm(&tm) * 1000, digit = 100;
        if (*rest == '.')
                for (rest++; isdigit((unsigned char)*rest); rest++, digit /= 10)
                        ms += (*rest - '0') * digit;
        int hours, minutes;
        char sign;
        if (sscanf(rest, "%c%2d:%2d", &sign, &hours, &minutes) == 3 && (sign == '+' || sign == '-'))
                return ms - (sign == '+' ? 1 : -1) * (hours * 60 + minutes) * INT64_C(60000);
        return strcmp(rest, "Z") == 0 ? ms : 0;
}

/* ---------------------------------------------------------------------------------------------------------- reading */

static const json_t *terminated_of(const json_t *container)
{
        return json_at(container, "state.terminated");
}

const json_t *pod_condition_find(const json_t *status, const char *type, const char *value)
{
        size_t i;
        json_t *item;
        json_array_foreach(json_object_get(status, "conditions"), i, item) {
                const char *is = json_text_at(item, "type"), *holds = json_text_at(item, "status");
                if (is && holds && strcmp(is, type) == 0 && strcmp(holds, value) == 0)
                        return item;
        }
        return NULL;
}

static bool any_failed(const json_t *containers)
{
        size_t i;
        json_t *item;
        json_array_foreach(containers, i, item) {
                const json_t *code = json_object_get(terminated_of(item), "exitCode");
                if (json_is_integer(code) && json_integer_value(code) != 0)
                        return true;
        }
        return false;
}

static enum pod_state_kind pod_state_kind_of(const json_t *pod, const struct pod_rules *rules,
                                             const struct pod_state *s)
{
        const json_t *status = json_object_get(pod, "status");
        const char *phase = json_text_at(status, "phase");

        if (!phase)
                return s->leaving ? POD_DELETED : POD_UNKNOWN;
        if (strcasecmp(phase, "terminating") == 0)
                return POD_TERMINATING;
        if (strcasecmp(phase, "running") != 0 && s->leaving)
                return POD_DELETED;
        if (strcasecmp(phase, "pending") == 0)
                return POD_PENDING;
        if (strcasecmp(phase, "succeeded") == 0)
                return POD_SUCCEEDED;
        if (strcasecmp(phase, "failed") == 0)
                return POD_FAILED;
        if (strcasecmp(phase, "running") != 0)
                return POD_UNKNOWN;
        const char *policy = json_text_at(json_object_get(pod, "spec"), "restartPolicy");
        if (rules->check_all && policy && strcmp(policy, "Never") == 0 &&
            any_failed(json_object_get(status, "containerStatuses")))
                return POD_FAILED;
        if (s->ended)
                return s->exit_code == 0 ? POD_SUCCEEDED : POD_FAILED;
        return POD_RUNNING;
}

/* The ordinary stages of every pod are not a reason. */
static bool is_ordinary_wait(const char *reason)
{
        return strcmp(reason, "ContainerCreating") == 0 || strcmp(reason, "PodInitializing") == 0;
}

static struct pod_wait container_wait(const json_t *containers)
{
        size_t i;
        json_t *item;
        json_array_foreach(containers, i, item) {
                const json_t *waiting = json_at(item, "state.waiting");
                const char *reason = json_text_at(waiting, "reason");
                if (!reason || !*reason || is_ordinary_wait(reason))
                        continue;
                return (struct pod_wait){reason, json_text_at(waiting, "message"), json_text_at(item, "name")};
        }
        return (struct pod_wait){0};
}

struct pod_wait pod_wait_read(const json_t *status)
{
        const json_t *scheduled = pod_condition_find(status, "PodScheduled", "False");
        if (json_text_at(scheduled, "reason"))
                return (struct pod_wait){json_text_at(scheduled, "reason"), json_text_at(scheduled, "message"), NULL};
        struct pod_wait init = container_wait(json_object_get(status, "initContainerStatuses"));
        return init.reason ? init : container_wait(json_object_get(status, "containerStatuses"));
}

static void fill_waiting(struct pod_state *s, struct packer *p, const json_t *status)
{
        struct pod_wait wait = pod_wait_read(status);
        s->waiting = pack_text(p, wait.reason);
        s->waiting_message = pack_text(p, wait.message);
        s->waiting_container = pack_text(p, wait.container);
}

struct pod_container pod_container_read(const json_t *status, const json_t *spec)
{
        const json_t *state = json_object_get(status, "state");
        const json_t *running = json_object_get(state, "running"), *waiting = json_object_get(state, "waiting");
        const json_t *terminated = json_object_get(state, "terminated");
        const json_t *limits = json_at(spec, "resources.limits");
        const json_t *how = running ? running : terminated ? terminated : waiting;
        return (struct pod_container){
                .name = json_text_at(status, "name"),
                .image = json_text_at(status, "image"),
                .kind = running      ? CONTAINER_RUNNING
                        : terminated ? CONTAINER_TERMINATED
                        : waiting    ? CONTAINER_WAITING
                                     : CONTAINER_UNTOLD,
                .started = json_text_at(how, "startedAt"),
                .finished = json_text_at(how, "finishedAt"),
                .reason = json_text_at(how, "reason"),
                .memory_limit = json_text_at(limits, "memory"),
                .exit_code = (int)json_int_at(terminated, "exitCode"),
        };
}

/* @c NULL: only counts the space. */
static void fill_container(struct pod_container *c, struct packer *p, const json_t *status, const json_t *spec)
{
        struct pod_container read = pod_container_read(status, spec);
        const char **const texts[] = {&read.name,     &read.image,  &read.started,
                                      &read.finished, &read.reason, &read.memory_limit};
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                *texts[i] = pack_text(p, *texts[i]);
        if (c)
                *c = read;
}

static void fill_containers(struct pod_state *s, struct packer *p, const json_t *pod)
{
        const json_t *status = json_at(pod, "status.containerStatuses");
        const json_t *specs = json_at(pod, "spec.containers");
        int n = (int)MIN(json_array_size(status), (size_t)MAX_ITEMS);
        struct pod_container *all =
                pack_room(p, (size_t)n * sizeof(struct pod_container), alignof(struct pod_container));

        for (int i = 0; i < n; i++) {
                const json_t *one = json_array_get(status, (size_t)i);
                const char *name = json_text_at(one, "name");
                fill_container(all ? &all[i] : NULL, p, one, json_find_named(specs, name));
        }
        s->containers = all;
        s->n_containers = n;
}

static void fill_claims(struct pod_state *s, struct packer *p, const json_t *volumes)
{
        const char *names[MAX_ITEMS];
        int n = 0;
        size_t i;
        json_t *item;

        json_array_foreach(volumes, i, item) {
                const char *name = json_text_at(json_object_get(item, "persistentVolumeClaim"), "claimName");
                if (name && *name && n < MAX_ITEMS)
                        names[n++] = name;
        }
        s->n_claims = n;
        if (!n)
                return;
        const char **all = pack_room(p, (size_t)n * sizeof(char *), alignof(char *));
        for (int k = 0; k < n; k++) {
                const char *copy = pack_text(p, names[k]);
                if (all)
                        all[k] = copy;
        }
        s->claims = all;
}

/* Fills all fields but id, profile and refs. */
static void pod_state_fill(struct pod_state *s, struct packer *p, const json_t *pod, const struct pod_rules *rules)
{
        const json_t *metadata = json_object_get(pod, "metadata"), *status = json_object_get(pod, "status");
        const json_t *spec = json_object_get(pod, "spec");
        const char *inactive = json_text_at(json_object_get(metadata, "labels"), KUBE_LABEL_INACTIVE);
        const char *version = json_text_at(metadata, "resourceVersion");
        const json_t *ours = json_find_named(json_object_get(status, "containerStatuses"),
                                             rules->container ? rules->container : KUBE_EXECUTOR_CONTAINER);
        const json_t *code = json_object_get(terminated_of(ours), "exitCode");

        s->leaving = json_is_string(json_object_get(metadata, "deletionTimestamp"));
        s->inactive = inactive && strcmp(inactive, "true") == 0;
        s->ended = json_is_integer(code);
        s->exit_code = s->ended ? (int)json_integer_value(code) : -1;
        s->version = version ? strtoull(version, NULL, 10) : 0;
        s->created = pod_time_read(json_text_at(metadata, "creationTimestamp"));
        s->kind = pod_state_kind_of(pod, rules, s);
        if (pod_state_kind_is_final(s->kind))
                fill_containers(s, p, pod);
        fill_claims(s, p, json_object_get(spec, "volumes"));
        s->name = pack_text(p, json_text_at(metadata, "name"));
        s->uid = pack_text(p, json_text_at(metadata, "uid"));
        s->node = pack_text(p, json_text_at(spec, "nodeName"));
        s->reason = pack_text(p, json_text_at(status, "reason"));
        s->message = pack_text(p, json_text_at(status, "message"));
        if (s->kind == POD_PENDING || s->kind == POD_RUNNING)
                fill_waiting(s, p, status);
        const json_t *disruption = pod_condition_find(status, "DisruptionTarget", "True");
        s->disruption = pack_text(p, json_text_at(disruption, "reason"));
        s->disruption_message = pack_text(p, json_text_at(disruption, "message"));
}

static bool pod_state_read_number(const char *text, int32_t *out)
{
        char *end;
        errno = 0;
        long value = text ? strtol(text, &end, 10) : 0;
        if (!text || !isdigit((unsigned char)*text) || *end || errno || value > INT32_MAX)
                return false;
        *out = (int32_t)value;
        return true;
}

int pod_state_read(const json_t *pod, const struct pod_rules *rules, struct pod_state **out)
{
        const json_t *metadata = json_object_get(pod, "metadata"), *labels = json_object_get(metadata, "labels");
        const char *name = json_text_at(metadata, "name");
        struct pod_state s = {.refs = 1};
        struct packer p = {.used = sizeof(s)};

        if (!name || !*name || !pod_state_read_number(json_text_at(labels, KUBE_LABEL_EXECUTOR_ID), &s.id))
                return FST_POD_E_NO_EXECUTOR;
        if (!pod_state_read_number(json_text_at(labels, KUBE_LABEL_PROFILE_ID), &s.profile))
                s.profile = 0;
        pod_state_fill(&s, &p, pod, rules);

        struct packer real = {.base = mem_alloc(p.used), .used = sizeof(s)};
        struct pod_state *at = (struct pod_state *)real.base;
        *at = (struct pod_state){.refs = 1, .id = s.id, .profile = s.profile};
        pod_state_fill(at, &real, pod, rules);
        *out = at;
        return 0;
}

/* ------------------------------------------------------------------------------------------------------ copies */

struct pod_state *pod_state_deleted(const struct pod_state *pod)
{
        const char *const texts[] = {
                pod->name, pod->uid, pod->node, pod->reason, pod->message, pod->disruption, pod->disruption_message};
        const char *copies[ARRAY_SIZE(texts)];
        struct packer p = {.used = sizeof(*pod)};

        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                pack_text(&p, texts[i]);
        struct packer real = {.base = mem_alloc(p.used), .used = sizeof(*pod)};
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                copies[i] = pack_text(&real, texts[i]);
        struct pod_state *s = (struct pod_state *)real.base;
        *s = (struct pod_state){.refs = 1,
                                .id = pod->id,
                                .profile = pod->profile,
                                .kind = POD_DELETED,
                                .leaving = true,
                                .inactive = pod->inactive,
                                .ended = pod->ended,
                                .exit_code = pod->exit_code,
                                .version = pod->version,
                                .created = pod->created,
                                .name = copies[0],
                                .uid = copies[1],
                                .node = copies[2],
                                .reason = copies[3],
                                .message = copies[4],
                                .disruption = copies[5],
                                .disruption_message = copies[6]};
        return s;
}

static bool container_same(const struct pod_container *a, const struct pod_container *b)
{
        return a->kind == b->kind && a->exit_code == b->exit_code && text_equals(a->name, b->name) &&
               text_equals(a->image, b->image) && text_equals(a->started, b->started) &&
               text_equals(a->finished, b->finished) && text_equals(a->reason, b->reason) &&
               text_equals(a->memory_limit, b->memory_limit);
}

bool pod_state_same(const struct pod_state *a, const struct pod_state *b)
{
        if (a->id != b->id || a->profile != b->profile || a->kind != b->kind || a->leaving != b->leaving ||
            a->inactive != b->inactive || a->ended != b->ended || a->exit_code != b->exit_code ||
            a->n_containers != b->n_containers || a->n_claims != b->n_claims || a->created != b->created)
                return false;
        for (int i = 0; i < a->n_containers; i++)
                if (!container_same(&a->containers[i], &b->containers[i]))
                        return false;
        for (int i = 0; i < a->n_claims; i++)
                if (!text_equals(a->claims[i], b->claims[i]))
                        return false;
        return text_equals(a->name, b->name) && text_equals(a->uid, b->uid) && text_equals(a->node, b->node) &&
               text_equals(a->reason, b->reason) && text_equals(a->message, b->message) &&
               text_equals(a->waiting, b->waiting) && text_equals(a->waiting_message, b->waiting_message) &&
               text_equals(a->waiting_container, b->waiting_container) && text_equals(a->disruption, b->disruption) &&
               text_equals(a->disruption_message, b->disruption_message);
}

struct pod_state *pod_state_ref(struct pod_state *pod)
{
        pod->refs++;
        return pod;
}

void pod_state_unref(struct pod_state *pod)
{
        if (pod && --pod->refs == 0)
                free(pod);
}
