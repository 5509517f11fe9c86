/*
 * A driver or a history server, of Firesteel or of Spark, that answers Spark's REST API /api/v1, and one of its
 * applications.
 *
 *      struct api_site site = {0};
 *      json_t *apps = NULL, *jobs = NULL;
 *      int r = api_site_open(&site, "http://host:18080/history/app-1", NULL, true, &apps, error);
 *      if (r == 0)
 *              r = api_site_get(&site, "jobs", &jobs, error);
 *      json_decref(jobs);
 *      json_decref(apps);
 *      api_site_deinit(&site);
 */
#pragma once

#include "text/json.h"

#include <stdbool.h>
#include <stdint.h>

struct fst_error;
struct http_client;

struct api_site {
        struct http_client *client; /* NULL until something is asked */
        char *root;                 /* "http://host:4040": what /api/v1 follows */
        char *id, *attempt;         /* NULL: not named */
        int64_t now_ms;             /* up to which what runs has lasted; set by api_site_open with an application */
};

/* True for "http://…" and "https://…". */
bool api_site_is_url(const char *text);

/*
 * Divides the URL into the site's root and the application: "http://host/proxy/history/app-1/2/jobs/" has the root
 * "http://host/proxy", the application app-1 and the attempt 2. @application, "ID" or "ID/ATTEMPT", has precedence;
 * NULL: as the URL says. @url must satisfy api_site_is_url. Returns 0, or -EINVAL with @error.
 */
int api_site_parse(struct api_site *site, const char *url, const char *application, struct fst_error *error);

/*
 * Parses the URL and asks for the applications: all, or the named one, in a list. The caller owns *@apps. If @one,
 * chooses the only application where none is named. A chosen application has its latest attempt where none is named.
 * Returns 0, or negative with @error:
 *   -EINVAL the URL is invalid, or it serves several applications and none is named;
 *   -EACCES the server wants a login or refuses it; -ENOENT no such application;
 *   -EPROTO the answer is not that of the API; others are those of http_perform.
 */
int api_site_open(struct api_site *site, const char *url, const char *application, bool one, json_t **apps,
                  struct fst_error *error);

/* Asks for a list of the chosen application: "jobs?status=failed". The caller owns *@out. Errors as of api_site_open.
 */
int api_site_get(struct api_site *site, const char *resource, json_t **out, struct fst_error *error);

void api_site_deinit(struct api_site *site);

/* ------------------------------------------------------------------------------------------------ values */

/* Returns the ms since 1970 of "2015-02-20T23:21:17.190GMT", or 0. */
int64_t api_date_at(const json_t *tree, const char *path);

/* Returns the ms between two dates. Without the second, up to now. -1: the first is unknown. */
int64_t api_elapsed(const struct api_site *site, const json_t *tree, const char *from, const char *to);

/* Returns the time up to which a running attempt has lasted: when its log was changed last, or now. */
int64_t api_attempt_now(const json_t *attempt);
