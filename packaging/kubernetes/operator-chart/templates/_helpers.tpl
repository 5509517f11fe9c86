{{- define "operator.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default "spark-operator" .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "operator.controller.name" -}}
{{ include "operator.fullname" . }}-controller
{{- end -}}

{{- define "operator.controller.account" -}}
{{- default (include "operator.controller.name" .) .Values.controller.serviceAccount.name -}}
{{- end -}}

{{- define "operator.spark.account" -}}
{{- default (printf "%s-spark" (include "operator.fullname" .)) .Values.spark.serviceAccount.name -}}
{{- end -}}

{{- define "operator.labels" -}}
app.kubernetes.io/name: {{ default "spark-operator" .Values.nameOverride }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: controller
{{- end -}}

{{/* The labels of an object: those that select pods, and the user's. */}}
{{- define "operator.meta" -}}
{{ include "operator.labels" . }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "operator.image" -}}
{{- if .Values.image.registry }}{{ .Values.image.registry }}/{{ end }}{{ .Values.image.repository }}:{{ .Values.image.tag }}
{{- end -}}

{{/* Whether all namespaces are watched: "true" or "". */}}
{{- define "operator.all" -}}
{{- if or (not .Values.spark.jobNamespaces) (has "" .Values.spark.jobNamespaces) .Values.spark.jobNamespaceSelector -}}true{{- end -}}
{{- end -}}

{{- define "operator.rules" -}}
{{- if .Values.spark.jobNamespaceSelector }}
- apiGroups: [""]
  resources: [namespaces]
  verbs: [list, watch]
{{- end }}
- apiGroups: [sparkoperator.k8s.io]
  resources: [sparkapplications]
  verbs: [get, list, watch, create, delete]
- apiGroups: [sparkoperator.k8s.io]
  resources: [scheduledsparkapplications]
  verbs: [get, list, watch]
- apiGroups: [sparkoperator.k8s.io]
  resources: [sparkapplications/status, scheduledsparkapplications/status]
  verbs: [patch]
- apiGroups: [sparkoperator.k8s.io]
  resources: [sparkapplications/finalizers, scheduledsparkapplications/finalizers]
  verbs: [update]
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, watch, create, delete]
- apiGroups: [""]
  resources: [services, configmaps]
  verbs: [get, create, patch, delete]
- apiGroups: [networking.k8s.io]
  resources: [networkpolicies, ingresses]
  verbs: [get, create, patch, delete]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [get, create, patch, delete]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create]
{{- if .Values.controller.apacheApplications.enable }}
- apiGroups: [spark.apache.org]
  resources: [sparkapplications]
  verbs: [get, list, watch, patch, delete]
- apiGroups: [spark.apache.org]
  resources: [sparkclusters]
  verbs: [get, list, watch, patch]
- apiGroups: [spark.apache.org]
  resources: [sparkapplications/status, sparkclusters/status]
  verbs: [patch]
- apiGroups: [spark.apache.org]
  resources: [sparkapplications/finalizers, sparkclusters/finalizers]
  verbs: [update]
- apiGroups: [apps]
  resources: [statefulsets]
  verbs: [get, create, patch]
- apiGroups: [autoscaling]
  resources: [horizontalpodautoscalers]
  verbs: [get, create, patch]
- apiGroups: [gateway.networking.k8s.io]
  resources: [httproutes, grpcroutes]
  verbs: [get, create, patch, delete]
{{- end }}
{{- if .Values.controller.batchScheduler.enable }}
- apiGroups: [scheduling.volcano.sh, scheduling.x-k8s.io]
  resources: [podgroups]
  verbs: [get, create, patch, delete]
{{- end }}
{{- end -}}
