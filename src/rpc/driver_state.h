/* Maps the state of a driver in a standalone or Mesos cluster to a launcher's state. */
#pragma once

#include "rpc/launcher_wire.h"

/* "RUNNING" and the other states of a REST server; LAUNCHER_UNKNOWN for any other text, and for NULL. */
enum launcher_state driver_state_parse(const char *driver_state);
