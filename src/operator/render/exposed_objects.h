/* Names and URLs of the objects that expose a driver (application_objects.h). */
#pragma once

#include "operator/resources/spark_application.h"

struct fst_error;

/* Return "<app>-ui-svc" and "<app>-ui-ingress", shortened with a hash to 63 characters. The caller owns them. */
char *ui_service_name(const char *application);
char *ui_ingress_name(const char *application);

struct ingress_url {
        char *host, *path; /* owned; path may be "" */
        char *whole;       /* with its scheme */
};

/*
 * Fills @format with the application's name, namespace and id ({{$appName}}, {{$appNamespace}}, {{$appId}}) and splits
 * it. @application_id may be NULL. Returns -EINVAL with @error if the result is not a URL.
 */
int ingress_url_make(const char *format, const struct spark_application *app, const char *application_id,
                     struct ingress_url *out, struct fst_error *error);
void ingress_url_deinit(struct ingress_url *url);
