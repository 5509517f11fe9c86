/*
 * The tables of applications, jobs, stages and executors from Spark's REST API /api/v1, which a driver and a history
 * server of Firesteel or of Spark answer.
 */
#pragma once

#include "cmd/text_table.h"

#include <stdbool.h>

struct fst_error;

enum api_table { API_APPLICATIONS, API_JOBS, API_STAGES, API_EXECUTORS };

/* True for "http://…" and "https://…". */
bool api_tables_is_url(const char *text);

/*
 * Fills @table. @url is the address of a site, a page of it, or of an application of a history server:
 * "http://host:18080/history/app-1/2". @application is "ID" or "ID/ATTEMPT"; NULL: as the URL says, else the only one.
 * Returns 0, or negative with @error:
 *   -EINVAL the URL is invalid, or it serves several applications and none is named;
 *   -EACCES the server wants a login or refuses it; -ENOENT no such application;
 *   -EPROTO the answer is not that of the API; others are those of http_perform.
 */
int api_tables_fill(struct text_table *table, enum api_table kind, const char *url, const char *application,
                    struct fst_error *error);
