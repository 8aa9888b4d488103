{{- define "sounding.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{ (contains $name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $name)) | trunc 52 | trimSuffix "-" }}
{{- end -}}
{{- end -}}

{{- define "sounding.selectorLabels" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "sounding.labels" -}}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{ include "sounding.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "sounding.image" -}}
{{ .Values.image.repository }}:{{ default (printf "%s%s" .Chart.AppVersion (ternary "-slim" "" .Values.image.slim)) .Values.image.tag }}
{{- end -}}

{{- define "sounding.serviceAccountName" -}}
{{ .Values.serviceAccount.create | ternary (default (include "sounding.fullname" .) .Values.serviceAccount.name) (default "default" .Values.serviceAccount.name) }}
{{- end -}}

{{- define "sounding.kind" -}}
{{ .Values.persistence.enabled | ternary "StatefulSet" "Deployment" }}
{{- end -}}

{{- /* Environment variables with the addresses of the databases. */ -}}
{{- define "sounding.databases" -}}
{{- if .Values.database.existingSecret }}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef: { name: {{ .Values.database.existingSecret }}, key: {{ .Values.database.key }} }
{{- end }}
{{- if .Values.clickhouse.url }}
- { name: SOUNDING_CLICKHOUSE_URL, value: {{ .Values.clickhouse.url | quote }} }
- { name: SOUNDING_CLICKHOUSE_USER, value: {{ .Values.clickhouse.user | quote }} }
- { name: SOUNDING_CLICKHOUSE_DATABASE, value: {{ .Values.clickhouse.database | quote }} }
{{- with .Values.clickhouse.cluster }}
- { name: SOUNDING_CLICKHOUSE_CLUSTER, value: {{ . | quote }} }
{{- end }}
{{- end }}
{{- end -}}

{{- /* "true" if more than one server may run. */ -}}
{{- define "sounding.isFleet" -}}
{{- if or .Values.autoscaling.enabled (gt (int .Values.replicas) 1) }}true{{ end -}}
{{- end -}}

{{- /* Stops the installation if the values would lose or split data. */ -}}
{{- define "sounding.check" -}}
{{- $hasTelemetry := dig "telemetry" "enabled" true .Values.config -}}
{{- if and (include "sounding.isFleet" .) (not .Values.database.existingSecret) -}}
{{- fail "Several servers need a shared control database: set database.existingSecret." -}}
{{- end -}}
{{- if and (include "sounding.isFleet" .) $hasTelemetry (not .Values.clickhouse.url) -}}
{{- fail "Several servers need a shared telemetry store: set clickhouse.url, or config.telemetry.enabled to false." -}}
{{- end -}}
{{- if and (not .Values.persistence.enabled) (not .Values.database.existingSecret) -}}
{{- fail "Without a volume, keys would be lost: set database.existingSecret, or persistence.enabled to true." -}}
{{- end -}}
{{- if and (not .Values.persistence.enabled) $hasTelemetry (not .Values.clickhouse.url) -}}
{{- fail "Without a volume, telemetry would be lost: set clickhouse.url, or config.telemetry.enabled to false." -}}
{{- end -}}
{{- if and .Values.migration.enabled (not .Values.database.existingSecret) -}}
{{- fail "The migration job needs a control database that it can reach: set database.existingSecret." -}}
{{- end -}}
{{- if and .Values.migration.enabled $hasTelemetry (not .Values.clickhouse.url) -}}
{{- fail "The migration job needs a telemetry store that it can reach: set clickhouse.url, or config.telemetry.enabled to false." -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) -}}
{{- fail "ingress.hosts is empty: name at least one host." -}}
{{- end -}}
{{- if and .Values.image.slim $hasTelemetry (not .Values.clickhouse.url) -}}
{{- fail "The slim image has no telemetry store: set clickhouse.url, or config.telemetry.enabled to false." -}}
{{- end -}}
{{- end -}}
