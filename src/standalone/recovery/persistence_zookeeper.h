/* Lets a test of recovery mode ZOOKEEPER replace the module. Nothing else sets it. */
#pragma once

struct zookeeper_ops;

extern const struct zookeeper_ops *persistence_zookeeper_module; /* NULL: the real one */
