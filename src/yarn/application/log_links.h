/*
 * The links of Spark's pages and history server to the logs of a container: its log URLs and attributes, as
 * variables (YarnContainerInfoHelper of Spark). Executors find them in their environment, and so does a driver in
 * cluster mode.
 */
#pragma once

struct strmap;
struct yarn_conf;

/* Borrowed. */
struct log_links {
        const struct yarn_conf *conf;
        const char *container; /* its id */
        const char *user;
        const char *http_address; /* of the NodeManager: "host:port" */
        const char *node_port;    /* of its RPC; "-1": unknown */
};

/* Sets @urls followed by STDOUT and STDERR, and @attributes followed by CONTAINER_ID, NM_HOST and others, in @out. */
void log_links_add(const struct log_links *links, const char *urls, const char *attributes, struct strmap *out);
