/* See am_ip_filter.h. */
#include "web/am_ip_filter.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "base/string_prefix.h"
#include "web/active_proxy.h"
#include "web/form.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>

#define RESOLVE_INTERVAL_S 300 /* as Hadoop's filter */
#define USER_COOKIE "proxy-user="
#define MAPPED "::ffff:" /* an IPv4 address of a socket for IPv6 */

struct am_ip_filter {
        struct string_list hosts, addresses;
        struct active_proxy *proxy;
        int64_t resolved_s;
};

static void am_ip_filter_resolve_host(struct am_ip_filter *f, const char *host)
{
        const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
        struct addrinfo *found = NULL;
        const int r = getaddrinfo(host, NULL, &hints, &found);
        if (r != 0)
                log_warn("AmIpFilter", "the host %s of YARN's proxy has no address: %s", host, gai_strerror(r));
        for (const struct addrinfo *a = found; a; a = a->ai_next) {
                char text[NI_MAXHOST];
                if (getnameinfo(a->ai_addr, a->ai_addrlen, text, sizeof(text), NULL, 0, NI_NUMERICHOST) == 0)
                        string_list_add(&f->addresses, text);
        }
        if (found)
                freeaddrinfo(found);
}

static void am_ip_filter_resolve(struct am_ip_filter *f, int64_t now_s)
{
        string_list_deinit(&f->addresses);
        f->addresses = (struct string_list){0};
        for (size_t i = 0; i < f->hosts.len; i++)
                am_ip_filter_resolve_host(f, f->hosts.data[i]);
        f->resolved_s = now_s;
}

/* Appends the elements of @text (NULL: none), which commas and blanks separate. */
static void am_ip_filter_split(const char *text, struct string_list *out)
{
        for (const char *p = text ? text : ""; *p;) {
                const size_t len = strcspn(p, ", ");
                if (len)
                        string_list_take(out, mem_strndup(p, len));
                p += len + (p[len] != '\0');
        }
}

/* The bases at @managers, in their order; all @bases if there is none. */
static void am_ip_filter_order_bases(const struct string_list *bases, const struct string_list *managers,
                                     struct string_list *out)
{
        for (size_t i = 0; i < managers->len; i++) {
                const char *wanted = managers->data[i];
                for (size_t k = 0; k < bases->len; k++) {
                        const char *host = strstr(bases->data[k], "://");
                        if (host && strcspn(host + 3, "/") == strlen(wanted) && text_starts_with(host + 3, wanted))
                                string_list_add(out, bases->data[k]);
                }
        }
        for (size_t k = 0; out->len == 0 && k < bases->len; k++)
                string_list_add(out, bases->data[k]);
}

int am_ip_filter_new(const char *hosts, const char *bases, const char *managers, int64_t now_s,
                     struct am_ip_filter **out, struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list all = {0}, wanted = {0}, ordered = {0};
        am_ip_filter_split(bases, &all);
        am_ip_filter_split(managers, &wanted);
        if (!hosts || !*hosts || all.len == 0)
                return error_set(error, -EINVAL, "spark." AM_IP_FILTER ".param.%s is not set: name YARN's proxy",
                                 hosts && *hosts ? "PROXY_URI_BASES" : "PROXY_HOSTS");
        struct am_ip_filter *f = new0(struct am_ip_filter);
        am_ip_filter_order_bases(&all, &wanted, &ordered);
        f->proxy = active_proxy_new(&ordered);
        am_ip_filter_split(hosts, &f->hosts);
        am_ip_filter_resolve(f, now_s);
        *out = f;
        return 0;
}

void am_ip_filter_free(struct am_ip_filter *f)
{
        if (!f)
                return;
        string_list_deinit(&f->hosts);
        string_list_deinit(&f->addresses);
        active_proxy_free(f->proxy);
        free(f);
}

static bool am_ip_filter_has(const struct am_ip_filter *f, const char *address, size_t len)
{
        for (size_t i = 0; i < f->addresses.len; i++)
                if (strlen(f->addresses.data[i]) == len && strncmp(f->addresses.data[i], address, len) == 0)
                        return true;
        return false;
}

bool am_ip_filter_is_proxy(struct am_ip_filter *f, const char *peer, int64_t now_s)
{
        const char *colon = strrchr(peer, ':');
        size_t len = colon ? (size_t)(colon - peer) : strlen(peer);
        if (*peer == '[' && len >= 2) {
                peer++;
                len -= 2;
        }
        if (len > strlen(MAPPED) && text_starts_with(peer, MAPPED) && memchr(peer, '.', len)) {
                peer += strlen(MAPPED);
                len -= strlen(MAPPED);
        }
        if (am_ip_filter_has(f, peer, len))
                return true;
        if (now_s - f->resolved_s < RESOLVE_INTERVAL_S)
                return false;
        am_ip_filter_resolve(f, now_s);
        return am_ip_filter_has(f, peer, len);
}

char *am_ip_filter_user(const char *cookies)
{
        for (const char *p = cookies; p && *p;) {
                const size_t len = strcspn(p, ";");
                if (text_starts_with(p, USER_COOKIE)) {
                        struct buf user = BUF_INIT;
                        const size_t start = strlen(USER_COOKIE);
                        if (len > start && form_put_decoded(&user, p + start, len - start))
                                return buf_steal(&user);
                        buf_deinit(&user);
                        return NULL;
                }
                p += len;
                p += strspn(p, "; ");
        }
        return NULL;
}

char *am_ip_filter_location(struct am_ip_filter *f, const char *path, const char *query)
{
        return mem_printf("%s%s%s%s", active_proxy_base(f->proxy), path, *query ? "?" : "", query);
}
