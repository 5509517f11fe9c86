/* Keys of sparkConf that would send a file of the operator's own machine to a driver. */
#pragma once

#include <stdbool.h>

/*
 * Whether the setting @key=@value makes a submission read a file where it runs. The operator submits for users of other
 * namespaces, who must not get its files. @value may be NULL.
 */
bool conf_reads_operator_file(const char *key, const char *value);

/* The reason and the remedy, for messages. */
#define OPERATOR_FILE_REFUSAL "it would read a file of the operator; mount a secret or a config map of the application"
