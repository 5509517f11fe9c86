/* See rack_resolver.h. */
#include "yarn/conf/rack_resolver.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "process/command.h"
#include "yarn/conf/yarn_conf.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define RACK_LOG "RackResolver"
#define DEFAULT_ARGUMENTS 100
#define TABLE_MAPPING "org.apache.hadoop.net.TableMapping"
#define MAX_TABLE ((size_t)64 << 20)
#define BLANKS " \t\r\n"

void rack_resolver_init(struct rack_resolver *r, const struct yarn_conf *conf)
{
        _cleanup_free_ char *class = yarn_conf_get(conf, "net.topology.node.switch.mapping.impl", "");
        int64_t most = DEFAULT_ARGUMENTS;
        *r = (struct rack_resolver){0};
        if (strcmp(class, TABLE_MAPPING) == 0)
                r->table = yarn_conf_get(conf, "net.topology.table.file.name", NULL);
        else
                r->script = yarn_conf_get(conf, "net.topology.script.file.name", NULL);
        yarn_conf_get_int(conf, "net.topology.script.number.args", DEFAULT_ARGUMENTS, &most, NULL);
        r->max_arguments = most < 1 || most > DEFAULT_ARGUMENTS * 100 ? DEFAULT_ARGUMENTS : (int)most;
}

void rack_resolver_deinit(struct rack_resolver *r)
{
        free(r->script);
        free(r->table);
        strmap_deinit(&r->racks);
        *r = (struct rack_resolver){0};
}

bool rack_resolver_has_topology(const struct rack_resolver *r)
{
        return r->script || r->table;
}

void rack_resolver_learn(struct rack_resolver *r, const char *host, const char *rack)
{
        if (host && rack && *rack)
                strmap_set(&r->racks, host, rack);
}

/* The IPv4 address of @host, or its name if it has none. The caller owns it. */
static char *rack_host_address(const char *host)
{
        const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
        struct addrinfo *found = NULL;
        char text[INET_ADDRSTRLEN];
        if (getaddrinfo(host, NULL, &hints, &found) != 0)
                return mem_strdup(host);
        const struct sockaddr_in *a = (const struct sockaddr_in *)found->ai_addr;
        const bool shown = inet_ntop(AF_INET, &a->sin_addr, text, sizeof(text));
        freeaddrinfo(found);
        return mem_strdup(shown ? text : host);
}

/* The next word of *@p, without moving it beyond the end; false: none is left. */
static bool rack_next_word(const char **p, const char **word, size_t *len)
{
        *word = *p + strspn(*p, BLANKS);
        *len = strcspn(*word, BLANKS);
        *p = *word + *len;
        return *len > 0;
}

/* Runs the script for @hosts. Keeps the answers, or the default racks if they are not complete. */
static void rack_resolver_run(struct rack_resolver *r, const char *const *hosts, size_t n)
{
        _cleanup_(string_list_deinit) struct string_list words = {0};
        _cleanup_(buf_deinit) struct buf output = BUF_INIT;
        int wait_status = 0;
        string_list_add(&words, r->script);
        for (size_t i = 0; i < n; i++)
                string_list_take(&words, rack_host_address(hosts[i]));
        const struct command command = {
                .words = (char *const *)string_list_argv(&words), .captured = &output, .no_input = true};
        const int failed = command_run(&command, &wait_status);
        const char *p = buf_text(&output), *word;
        size_t len, found = 0;
        while (rack_next_word(&p, &word, &len))
                found++;
        const bool usable = failed == 0 && WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0 && found == n;
        if (!usable)
                log_warn(RACK_LOG,
                         "The script %s (net.topology.script.file.name) %s: %zu host(s) are taken to be in %s",
                         r->script,
                         failed       ? strerror(-failed)
                         : found == n ? "failed"
                                      : "did not print one rack for each host",
                         n, RACK_RESOLVER_DEFAULT);
        p = buf_text(&output);
        for (size_t i = 0; i < n; i++) {
                const bool has = usable && rack_next_word(&p, &word, &len);
                _cleanup_free_ char *rack = has ? mem_strndup(word, len) : mem_strdup(RACK_RESOLVER_DEFAULT);
                strmap_set(&r->racks, hosts[i], rack);
        }
}

/* Reads the table: each line has a host or address, and its rack. Later lines replace earlier ones. */
static void rack_resolver_read_table(const struct rack_resolver *r, struct strmap *out)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        const int failed = file_text_read(r->table, MAX_TABLE, &text, &error);
        if (failed < 0)
                log_warn(RACK_LOG, "net.topology.table.file.name: %s", error_message(&error));
        for (const char *p = failed < 0 ? "" : buf_text(&text); *p; p += *p == '\n') {
                const size_t line = strcspn(p, "\n");
                _cleanup_free_ char *copy = mem_strndup(p, line);
                const char *q = copy, *host, *rack;
                size_t host_len, rack_len;
                p += line;
                if (!rack_next_word(&q, &host, &host_len) || *host == '#' || !rack_next_word(&q, &rack, &rack_len))
                        continue;
                _cleanup_free_ char *key = mem_strndup(host, host_len), *value = mem_strndup(rack, rack_len);
                strmap_set(out, key, value);
        }
}

static void rack_resolver_look_up(struct rack_resolver *r, const char *const *hosts, size_t n)
{
        _cleanup_(strmap_deinit) struct strmap table = STRMAP_INIT;
        rack_resolver_read_table(r, &table);
        for (size_t i = 0; i < n; i++) {
                _cleanup_free_ char *address = rack_host_address(hosts[i]);
                const char *rack = strmap_get(&table, address);
                rack = rack ? rack : strmap_get(&table, hosts[i]);
                strmap_set(&r->racks, hosts[i], rack ? rack : RACK_RESOLVER_DEFAULT);
        }
}

void rack_resolver_resolve(struct rack_resolver *r, const char *const *hosts, size_t n)
{
        const char **unknown = new_array(const char *, n + 1);
        size_t m = 0;
        for (size_t i = 0; i < n; i++)
                if (!strmap_get(&r->racks, hosts[i]))
                        unknown[m++] = hosts[i];
        if (m && r->table)
                rack_resolver_look_up(r, unknown, m);
        for (size_t i = 0; i < m && r->script; i += (size_t)r->max_arguments)
                rack_resolver_run(r, unknown + i, MIN(m - i, (size_t)r->max_arguments));
        free(unknown);
}

const char *rack_resolver_find(struct rack_resolver *r, const char *host)
{
        if (rack_resolver_has_topology(r))
                rack_resolver_resolve(r, &host, 1);
        const char *rack = strmap_get(&r->racks, host);
        return rack ? rack : RACK_RESOLVER_DEFAULT;
}
