/* Members of Kubernetes' types, as of its version 1.35. */
#include "operator/resources/kubernetes_members.h"

#include <stddef.h>

const char *const kubernetes_affinity_members[] = {"nodeAffinity", "podAffinity", "podAntiAffinity", NULL};

const char *const kubernetes_container_members[] = {
        "args",
        "command",
        "env",
        "envFrom",
        "image",
        "imagePullPolicy",
        "lifecycle",
        "livenessProbe",
        "name",
        "ports",
        "readinessProbe",
        "resizePolicy",
        "resources",
        "restartPolicy",
        "restartPolicyRules",
        "securityContext",
        "startupProbe",
        "stdin",
        "stdinOnce",
        "terminationMessagePath",
        "terminationMessagePolicy",
        "tty",
        "volumeDevices",
        "volumeMounts",
        "workingDir",
        NULL,
};

const char *const kubernetes_dns_config_members[] = {"nameservers", "options", "searches", NULL};
const char *const kubernetes_env_from_members[] = {"configMapRef", "prefix", "secretRef", NULL};
const char *const kubernetes_env_members[] = {"name", "value", "valueFrom", NULL};
const char *const kubernetes_host_alias_members[] = {"hostnames", "ip", NULL};
const char *const kubernetes_ingress_tls_members[] = {"hosts", "secretName", NULL};
const char *const kubernetes_lifecycle_members[] = {"postStart", "preStop", "stopSignal", NULL};

const char *const kubernetes_pod_security_context_members[] = {
        "appArmorProfile",
        "fsGroup",
        "fsGroupChangePolicy",
        "runAsGroup",
        "runAsNonRoot",
        "runAsUser",
        "seLinuxOptions",
        "seLinuxChangePolicy",
        "seccompProfile",
        "supplementalGroups",
        "sysctls",
        "windowsOptions",
        "supplementalGroupsPolicy",
        NULL,
};

const char *const kubernetes_security_context_members[] = {
        "allowPrivilegeEscalation", "appArmorProfile", "capabilities", "privileged", "procMount",
        "readOnlyRootFilesystem",   "runAsGroup",      "runAsNonRoot", "runAsUser",  "seLinuxOptions",
        "seccompProfile",           "windowsOptions",  NULL,
};

const char *const kubernetes_template_members[] = {"metadata", "spec", NULL};
const char *const kubernetes_toleration_members[] = {"effect", "key", "operator", "tolerationSeconds", "value", NULL};

const char *const kubernetes_volume_members[] = {
        "awsElasticBlockStore",
        "azureDisk",
        "azureFile",
        "cephfs",
        "cinder",
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "fc",
        "flexVolume",
        "flocker",
        "gcePersistentDisk",
        "gitRepo",
        "glusterfs",
        "hostPath",
        "image",
        "iscsi",
        "name",
        "nfs",
        "persistentVolumeClaim",
        "photonPersistentDisk",
        "portworxVolume",
        "projected",
        "quobyte",
        "rbd",
        "scaleIO",
        "secret",
        "storageos",
        "vsphereVolume",
        NULL,
};

const char *const kubernetes_volume_mount_members[] = {
        "mountPath", "mountPropagation", "name", "readOnly", "recursiveReadOnly", "subPath", "subPathExpr", NULL,
};
