/*
 * The tables of applications, jobs, stages and executors from Spark's REST API /api/v1, which a driver and a history
 * server of Firesteel or of Spark answer.
 */
#pragma once

#include "cmd/text_table.h"

struct fst_error;

enum api_table { API_APPLICATIONS, API_JOBS, API_STAGES, API_EXECUTORS };

/*
 * Fills @table. @url is the address of a site, a page of it, or of an application of a history server:
 * "http://host:18080/history/app-1/2". @application is "ID" or "ID/ATTEMPT"; NULL: as the URL says, else the only one.
 * Returns 0, or negative with @error, as api_site_open.
 */
int api_tables_fill(struct text_table *table, enum api_table kind, const char *url, const char *application,
                    struct fst_error *error);

/*
 * Fills the table of applications with the running ones of this host, whose drivers have the ports from 4040 to 4056,
 * and their URLs. Returns 0, or -ENOENT with @error if there is none.
 */
int api_tables_fill_local(struct text_table *table, struct fst_error *error);
