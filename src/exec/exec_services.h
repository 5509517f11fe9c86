/*
 * Implements struct task_services (rdd/pipeline/task_services.h) with an exec_env: broadcast variables and files of the
 * application.
 *
 *      exec_services_init(&services, env);
 *      env->services = &services;              before the first slot
 */
#pragma once

#include "rdd/pipeline/task_services.h"

struct exec_env;

/* @env is read at each call, and must live as long as @services. */
void exec_services_init(struct task_services *services, struct exec_env *env);
