{{- define "ute.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* Short enough for what is added to it, and for the names of a StatefulSet's pods. */}}
{{- define "ute.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "ute.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "ute.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "ute.selector" -}}
app.kubernetes.io/name: {{ include "ute.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "ute.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "ute.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "ute.image" -}}
{{- if .Values.image.digest -}}
{{ printf "%s@%s" .Values.image.repository .Values.image.digest }}
{{- else -}}
{{ printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end -}}
{{- end -}}

{{- define "ute.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{ default (include "ute.fullname" .) .Values.serviceAccount.name }}
{{- else -}}
{{ default "default" .Values.serviceAccount.name }}
{{- end -}}
{{- end -}}

{{/* The enabled roles, as a list in YAML. */}}
{{- define "ute.roles" -}}
{{- range $role, $of := .Values.roles }}{{ if $of.enabled }}
- {{ $role }}
{{- end }}{{ end }}
{{- end -}}

{{/* Values that contradict each other, each in words. */}}
{{- define "ute.check" -}}
{{- $roles := include "ute.roles" . | fromYamlArray -}}
{{- if not (or (has "all" $roles) (has "api" $roles)) }}{{ fail "roles: none of those enabled serves; enable all, or api" }}{{ end -}}
{{- if not (or (has "all" $roles) (has "worker" $roles)) }}{{ fail "roles: none of those enabled runs accepted calls and schedules; enable all, or worker" }}{{ end -}}
{{- range $key := list "role" "host" "data_dir" "shutdown" "tls" "metrics" }}
{{- if hasKey $.Values.config $key }}{{ fail (printf "config.%s: the chart sets it; see roles, journal, shutdown, tls and service" $key) }}{{ end -}}
{{- end -}}
{{- range $door := list "http" "grpc" }}
{{- if hasKey (default dict (get $.Values.config $door)) "port" }}{{ fail (printf "config.%s.port: the chart sets it; see service.%sPort" $door $door) }}{{ end -}}
{{- end -}}
{{- range $path, $name := dict "redis.url" "redisUrl" "redis.sentinel_password" "redisSentinelPassword" "database.url" "databaseUrl" "database.owner_url" "databaseOwnerUrl" "database.replica_url" "databaseReplicaUrl" "secrets.keys" "secretsKeys" "webhooks.secret" "webhookSecret" "audit.checkpoint_webhook.secret" "auditWebhookSecret" "audit.checkpoint_s3.secret_access_key" "auditS3SecretAccessKey" "embeddings.api_key" "embeddingsApiKey" }}
{{- $at := $.Values.config -}}
{{- range $part := splitList "." $path }}{{ $at = ternary (get (ternary $at dict (kindIs "map" $at)) $part) "" (kindIs "map" $at) }}{{ end -}}
{{- if $at }}{{ fail (printf "config.%s: a secret does not belong into a ConfigMap; see secrets.values.%s and secrets.existingSecret" $path $name) }}{{ end -}}
{{- end -}}
{{- $given := include "ute.secrets" . | fromYaml -}}
{{- if eq .Values.stores "external" -}}
{{- range $name := list "redisUrl" "databaseUrl" }}
{{- if not (hasKey $given $name) }}{{ fail (printf "secrets.values.%s is needed, or secrets.existingSecret with secrets.keys.%s; stores: embedded does without, for a single process" $name $name) }}{{ end -}}
{{- end -}}
{{- if not (or (hasKey $given "secretsKeys") (hasKey (default dict .Values.config.secrets) "provider")) }}{{ fail "secrets.values.secretsKeys is needed (id:base64 of 32 bytes), or config.secrets.provider: each process would make a key of its own, and read no other's secrets" }}{{ end -}}
{{- else -}}
{{- if or (ne (len $roles) 1) (ne (int .Values.roles.all.replicas) 1) .Values.roles.all.autoscaling.enabled }}{{ fail "stores: embedded is for one process: roles.all alone, with replicas 1 and without autoscaling" }}{{ end -}}
{{- end -}}
{{- if and .Values.sandbox.bubblewrap (not .Values.sandbox.seccompProfile) }}{{ fail "sandbox.seccompProfile is needed with sandbox.bubblewrap: the runtime's own profile allows no user namespaces" }}{{ end -}}
{{- if and .Values.tls.requireClientCertificate (not .Values.tls.existingSecret) }}{{ fail "tls.existingSecret is needed with tls.requireClientCertificate" }}{{ end -}}
{{- end -}}

{{/* The secrets that are given to the gateway, by name, each with its key in the Secret and its variable. */}}
{{- define "ute.secrets" -}}
{{- $variables := dict "redisUrl" "UTE_REDIS_URL_FILE" "redisSentinelPassword" "UTE_REDIS_SENTINEL_PASSWORD_FILE" "databaseUrl" "UTE_DATABASE_URL_FILE" "databaseOwnerUrl" "UTE_DATABASE_OWNER_URL_FILE" "databaseReplicaUrl" "UTE_DATABASE_REPLICA_URL_FILE" "secretsKeys" "UTE_SECRETS_KEYS_FILE" "webhookSecret" "UTE_WEBHOOK_SECRET_FILE" "vaultToken" "UTE_VAULT_TOKEN_FILE" "vaultSecretId" "UTE_VAULT_SECRET_ID_FILE" "auditWebhookSecret" "UTE_AUDIT_WEBHOOK_SECRET_FILE" "auditS3SecretAccessKey" "UTE_AUDIT_S3_SECRET_ACCESS_KEY_FILE" "embeddingsApiKey" "UTE_EMBEDDINGS_API_KEY_FILE" "auditCheckpointKey" "" -}}
{{- $stores := list "redisUrl" "redisSentinelPassword" "databaseUrl" "databaseOwnerUrl" "databaseReplicaUrl" -}}
{{- range $name, $variable := $variables }}
{{- $isGiven := ternary (get $.Values.secrets.keys $name) (get $.Values.secrets.values $name) (ne $.Values.secrets.existingSecret "") }}
{{- if and $isGiven (or (eq $.Values.stores "external") (not (has $name $stores))) }}
{{ $name }}: { key: {{ default (kebabcase $name) (get $.Values.secrets.keys $name) | quote }}, variable: {{ $variable | quote }} }
{{- end }}
{{- end }}
{{- end -}}

{{- define "ute.secretName" -}}
{{- default (include "ute.fullname" .) .Values.secrets.existingSecret -}}
{{- end -}}

{{- define "ute.secretData" -}}
{{- range $name, $of := include "ute.secrets" . | fromYaml }}
{{ $of.key }}: {{ get $.Values.secrets.values $name | quote }}
{{- end }}
{{- end -}}

{{/* gateway.yaml: the values, and what follows from others of them. */}}
{{- define "ute.gatewayYaml" -}}
{{- $config := deepCopy .Values.config -}}
{{- $given := include "ute.secrets" . | fromYaml -}}
{{- if and .Values.migration.enabled (eq .Values.stores "external") -}}
{{- $config = merge $config (dict "database" (dict "migrate" false)) -}}
{{- end -}}
{{- if hasKey $given "auditCheckpointKey" -}}
{{- $config = merge $config (dict "audit" (dict "checkpoint_key_file" (printf "/run/secrets/ute/%s" $given.auditCheckpointKey.key))) -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}

{{/* What a restart is needed for: keys and toolsets are in force a second after they change. */}}
{{- define "ute.configChecksum" -}}
{{- $config := include "ute.gatewayYaml" . | fromYaml -}}
{{- if hasKey $config "auth" -}}{{- $_ := unset $config.auth "keys" -}}{{- end -}}
{{- $_ := unset $config "toolsets" -}}
{{- toYaml $config | sha256sum -}}
{{- end -}}

{{- define "ute.env" -}}
- { name: NODE_ENV, value: production }
- { name: UTE_HOST, value: 0.0.0.0 }
- { name: UTE_HTTP_PORT, value: '8080' }
- { name: UTE_GRPC_PORT, value: '50051' }
- { name: UTE_METRICS_PORT, value: '9464' }
- { name: UTE_CONFIG, value: /etc/unified-tool-executor/gateway.yaml }
- { name: UTE_DATA_DIR, value: /var/lib/unified-tool-executor }
- { name: UTE_DRAIN_MS, value: {{ mul .Values.shutdown.drainSeconds 1000 | quote }} }
{{- if eq .Values.stores "embedded" }}
- { name: UTE_REDIS_REQUIRED, value: 'false' }
{{- end }}
{{- range $name, $of := include "ute.secrets" . | fromYaml }}{{ if $of.variable }}
- { name: {{ $of.variable }}, value: {{ printf "/run/secrets/ute/%s" $of.key | quote }} }
{{- end }}{{ end }}
{{- if .Values.tls.existingSecret }}
- { name: UTE_TLS_CERT_FILE, value: /run/secrets/tls/tls.crt }
- { name: UTE_TLS_KEY_FILE, value: /run/secrets/tls/tls.key }
{{- if .Values.tls.requireClientCertificate }}
- { name: UTE_TLS_CLIENT_CA_FILE, value: /run/secrets/tls/ca.crt }
{{- end }}
{{- end }}
{{- end -}}

{{- define "ute.mounts" -}}
- { name: config, mountPath: /etc/unified-tool-executor, readOnly: true }
- { name: data, mountPath: /var/lib/unified-tool-executor }
- { name: tmp, mountPath: /tmp }
{{- if include "ute.secrets" . }}
- { name: secrets, mountPath: /run/secrets/ute, readOnly: true }
{{- end }}
{{- if .Values.tls.existingSecret }}
- { name: tls, mountPath: /run/secrets/tls, readOnly: true }
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Takes .suffix: a hook has a ConfigMap and a Secret of its own, as the release's are not there yet. */}}
{{- define "ute.volumes" -}}
{{- $name := include "ute.fullname" .root -}}
- name: config
  projected:
    sources:
      - configMap: { name: {{ $name }}{{ .suffix }} }
      {{- if not .suffix }}
      - configMap: { name: {{ default (printf "%s-tools" $name) .root.Values.tools.existingConfigMap }} }
      {{- end }}
- name: tmp
  emptyDir: { sizeLimit: 1Gi }
{{- with include "ute.secrets" .root | fromYaml }}
- name: secrets
  secret:
    secretName: {{ if $.root.Values.secrets.existingSecret }}{{ $.root.Values.secrets.existingSecret }}{{ else }}{{ $name }}{{ $.suffix }}{{ end }}
    defaultMode: 0440
    items:
      {{- range $key, $of := . }}
      - { key: {{ $of.key | quote }}, path: {{ $of.key | quote }} }
      {{- end }}
{{- end }}
{{- if .root.Values.tls.existingSecret }}
- name: tls
  secret: { secretName: {{ .root.Values.tls.existingSecret }}, defaultMode: 0440 }
{{- end }}
{{- with .root.Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "ute.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "ute.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}
