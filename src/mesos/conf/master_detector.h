/*
 * Finds the leading Mesos master, on a loop.
 *
 *      master_detector_new(loop, &master, &ops, owner, &d);
 *      …                                                     → ops.leader(owner, "10.0.0.7:5050")
 *      …                                                     → ops.leader(owner, NULL)         none leads
 *      master_detector_free(d, closed);                       → closed(owner)
 *
 * For an address, that is the leader, once. In ZooKeeper, the masters have ephemeral nodes json.info_NNNNNNNNNN, whose
 * smallest number leads. A dead leader's node stays until its session ends. While ZooKeeper cannot be reached, the last
 * leader stays.
 *
 * All calls and callbacks are on the loop's thread. No callback runs inside a call.
 */
#pragma once

#include <uv.h>

struct master_detector;
struct mesos_master;
struct zookeeper_ops;

struct master_detector_ops {
        /* Another leader: "host:port", borrowed; NULL: none. */
        void (*leader)(void *owner, const char *address);
        /* The leader cannot be found, and trying again does not help. Once; no callback follows. */
        void (*failed)(void *owner, const char *message);
};

/* @master, @ops and @owner are borrowed until master_detector_free. Never NULL. */
struct master_detector *master_detector_new(uv_loop_t *loop, const struct mesos_master *master,
                                            const struct master_detector_ops *ops, void *owner);

/*
 * No callback follows but @closed, which may be NULL: on the loop, when the session with ZooKeeper has ended. Until
 * then the detector has handles on the loop.
 */
void master_detector_free(struct master_detector *d, void (*closed)(void *owner));

/* For tests: in place of the module of ZooKeeper, for detectors that are made from now on. */
extern const struct zookeeper_ops *master_detector_zookeeper;

/*
 * Reads the address in the content of a master's node. Returns NULL if it is not a master's; otherwise "host:port",
 * which the caller owns.
 */
char *master_node_address(const void *data, size_t size);

/* The number of a master's node, or -1 for other names. */
long long master_node_number(const char *name);
