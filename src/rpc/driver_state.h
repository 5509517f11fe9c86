/*
 * What the state of a driver in a standalone or Mesos cluster is to a launcher.
 */
#pragma once

#include "rpc/launcher_wire.h"

/* "RUNNING" and the others that a REST server answers; LAUNCHER_UNKNOWN for what is none of them, and for NULL. */
enum launcher_state driver_state_parse(const char *driver_state);
