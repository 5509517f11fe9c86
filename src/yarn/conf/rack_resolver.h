/*
 * The racks of hosts, for the locality of containers (Hadoop's RackResolver).
 *
 *      rack_resolver_init(&r, &yarn_conf);
 *      const char *rack = rack_resolver_find(&r, "node7");     "/dc1/rack3"
 *
 * A rack comes from the first of
 *
 *      rack_resolver_learn                    what the ResourceManager has reported
 *      net.topology.table.file.name           if net.topology.node.switch.mapping.impl is Hadoop's TableMapping: lines
 *                                             "ADDRESS RACK"
 *      net.topology.script.file.name          a program that prints the rack of each argument
 *      "/default-rack"
 *
 * As in Hadoop, table and script get the IPv4 address of a host whose name can be resolved. Answers are kept.
 */
#pragma once

#include "base/strmap.h"

struct yarn_conf;

#define RACK_RESOLVER_DEFAULT "/default-rack"

struct rack_resolver {
        char *script, *table; /* NULL: none */
        int max_arguments;    /* net.topology.script.number.args */
        struct strmap racks;  /* host → rack */
};

/* Whether racks are configured; without, every host that was not learnt is in the default rack. */
bool rack_resolver_has_topology(const struct rack_resolver *r);

/* Reads the settings. Copies them. */
void rack_resolver_init(struct rack_resolver *r, const struct yarn_conf *conf);
void rack_resolver_deinit(struct rack_resolver *r);

/* The ResourceManager knows that @host is in @rack. */
void rack_resolver_learn(struct rack_resolver *r, const char *host, const char *rack);

/* Resolves hosts that are not known yet, with as few runs of the script as possible. Blocks. */
void rack_resolver_resolve(struct rack_resolver *r, const char *const *hosts, size_t n);

/* Never NULL. Valid until the host's rack is learnt anew. May block. */
const char *rack_resolver_find(struct rack_resolver *r, const char *host);
