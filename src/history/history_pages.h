/* The pages of a history server: the list of applications, in plain HTML, and the pages of an application (ui/pages).
 */
#pragma once

#include "ui/ui_request.h"

/*
 * Answers a page of the site or of an application. Any path of the site but those below /static shows the list, as in
 * Spark. The source of @q is that of a history server.
 */
void history_serve_page(const struct ui_request *q, struct ui_answer *a);
