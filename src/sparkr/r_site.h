/* The place of calls that R makes. Logs and pages show it as Spark does, by the file of its R backend. */
#pragma once

#include <firesteel/types.h>

#define R_SITE(operation_) ((fst_site){.operation = (operation_), .file = "RRDD.scala"})
