/* What a test of recovery mode ZOOKEEPER may put in the place of the module; nothing else sets it. */
#pragma once

struct zookeeper_ops;

extern const struct zookeeper_ops *persistence_zookeeper_module; /* NULL: the real one */
