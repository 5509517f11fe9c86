/* Paths as absolute URIs (Spark: Utils.resolveURI). */
#pragma once

#include "conf/compat.h"

/*
 * Returns a file or URI as an absolute URI: "a.so" becomes "file:/here/a.so", and a URI with a scheme is unchanged.
 * With COMPAT_2_4 the path keeps its symbolic links and dots. Owned by the caller.
 */
char *submit_resolve_uri(const char *path, enum submit_compat compat);

/* The same for each name of a comma-separated list. Empty and blank names are dropped. Other names keep their blanks.
 */
char *submit_resolve_uris(const char *list, enum submit_compat compat);
