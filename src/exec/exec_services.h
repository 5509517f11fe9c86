/*
 * What functions of tasks ask their executor for (rdd/pipeline/task_services.h), answered by what is in its exec_env: broadcast
 * variables and files of the application.
 *
 *      exec_services_init(&services, env);
 *      env->services = &services;              before the first slot
 */
#pragma once

#include "rdd/pipeline/task_services.h"

struct exec_env;

/* @env is looked at when something is asked for; it lives as long as @services. */
void exec_services_init(struct task_services *services, struct exec_env *env);
