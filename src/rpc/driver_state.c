/* Names of driver states. Standalone masters use RELAUNCHING and ERROR, Mesos dispatchers QUEUED and RETRYING. */
#include "rpc/driver_state.h"

#include "base/mem.h"

enum launcher_state driver_state_parse(const char *driver_state)
{
        static const struct {
                const char *name;
                enum launcher_state state;
        } states[] = {
                {"SUBMITTED", LAUNCHER_SUBMITTED}, {"RELAUNCHING", LAUNCHER_SUBMITTED}, {"QUEUED", LAUNCHER_SUBMITTED},
                {"RETRYING", LAUNCHER_SUBMITTED},  {"RUNNING", LAUNCHER_RUNNING},       {"FINISHED", LAUNCHER_FINISHED},
                {"FAILED", LAUNCHER_FAILED},       {"ERROR", LAUNCHER_FAILED},          {"KILLED", LAUNCHER_KILLED}};
        for (size_t i = 0; driver_state && i < ARRAY_SIZE(states); i++) {
                if (strcmp(states[i].name, driver_state) == 0)
                        return states[i].state;
        }
        return LAUNCHER_UNKNOWN;
}
