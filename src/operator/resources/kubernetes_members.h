/* The names of the members of Kubernetes' own types that SparkApplications contain. Each list ends with NULL. */
#pragma once

extern const char *const kubernetes_affinity_members[];
extern const char *const kubernetes_container_members[];
extern const char *const kubernetes_dns_config_members[];
extern const char *const kubernetes_env_from_members[];
extern const char *const kubernetes_env_members[];
extern const char *const kubernetes_host_alias_members[];
extern const char *const kubernetes_ingress_tls_members[];
extern const char *const kubernetes_lifecycle_members[];
extern const char *const kubernetes_pod_security_context_members[];
extern const char *const kubernetes_security_context_members[];
extern const char *const kubernetes_template_members[];
extern const char *const kubernetes_toleration_members[];
extern const char *const kubernetes_volume_members[];
extern const char *const kubernetes_volume_mount_members[];
