/*
 * Who pushes to a registry: what docker login or podman login have written. Looked at are REGISTRY_AUTH_FILE,
 * $XDG_RUNTIME_DIR/containers/auth.json, and config.json in DOCKER_CONFIG (~/.docker); the first that knows the host
 * counts. Where one of them leaves it to a program (credsStore, credHelpers), docker-credential-NAME is asked.
 */
#pragma once

struct fst_error;

/*
 * "name:password" for @host ("docker.io", "registry.example:5000") as *@out, the caller's; NULL: nobody knows one.
 * -EINVAL for a file that cannot be understood, -EACCES for a program that fails, each named in @error.
 */
int registry_login_find(const char *host, char **out, struct fst_error *error);
