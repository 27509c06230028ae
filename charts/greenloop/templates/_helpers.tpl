{{- define "greenloop.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimAll "-" -}}
{{- end -}}

{{/* Leaves room for what stands behind it. A release's name may have dots, a Service's may not. */}}
{{- define "greenloop.fullname" -}}
{{- $release := .Release.Name | replace "." "-" -}}
{{- $name := include "greenloop.name" . -}}
{{- $both := ternary $release (printf "%s-%s" $release $name) (contains $name $release) -}}
{{- .Values.fullnameOverride | default $both | trunc 40 | trimAll "-" -}}
{{- end -}}

{{- define "greenloop.instance" -}}
{{- .Values.instance | default (include "greenloop.fullname" .) -}}
{{- end -}}

{{- define "greenloop.boxNamespace" -}}
{{- .Values.boxes.namespace | default (printf "%s-boxes" (.Release.Namespace | trunc 57)) -}}
{{- end -}}

{{/* Names the objects in the box namespace, where several releases may meet. */}}
{{- define "greenloop.boxPrefix" -}}
{{- printf "%s-%s" (include "greenloop.fullname" .) (sha256sum .Release.Namespace | trunc 6) -}}
{{- end -}}

{{- define "greenloop.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 }}
app.kubernetes.io/name: {{ include "greenloop.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: greenloop
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Labels that select the pods of one component: (list $ "web") */}}
{{- define "greenloop.selector" -}}
{{- $ := index . 0 -}}
app.kubernetes.io/name: {{ include "greenloop.name" $ }}
app.kubernetes.io/instance: {{ $.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{/* Labels that k8s/identity.py puts on every box of this instance. */}}
{{- define "greenloop.boxSelector" -}}
app.kubernetes.io/managed-by: greenloop
app.kubernetes.io/component: box
greenloop/instance: {{ include "greenloop.instance" . | quote }}
{{- end -}}

{{- define "greenloop.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end -}}
{{- end -}}
{{- end -}}

{{- define "greenloop.boxImage" -}}
{{- with .Values.boxes.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end -}}
{{- end -}}
{{- end -}}

{{- define "greenloop.publicHost" -}}
{{- (urlParse .Values.publicUrl).hostname -}}
{{- end -}}

{{/* Where boxes reach the service: a port and a Service of their own, which no ingress leads to. */}}
{{- define "greenloop.boxesUrl" -}}
http://{{ include "greenloop.fullname" . }}-boxes.{{ .Release.Namespace }}.svc:8081
{{- end -}}

{{- define "greenloop.serviceUrl" -}}
http://{{ include "greenloop.fullname" . }}-web.{{ .Release.Namespace }}.svc:{{ .Values.web.service.port }}
{{- end -}}

{{- define "greenloop.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities: { drop: [ALL] }
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{/* The Secret and key of one secret: (list $ "privateKey") as a name, and its key */}}
{{- define "greenloop.secretName" -}}
{{- $ := index . 0 -}}
{{- (index $.Values.secrets (index . 1)).existingSecret | default $.Values.secrets.existingSecret -}}
{{- end -}}

{{- define "greenloop.databaseEnv" -}}
# The root file system is read-only; nothing of ours has to outlive its pod.
- name: GREENLOOP_DATA
  value: /tmp/greenloop
{{- if .Values.postgresql.enabled }}
- name: POSTGRES_PASSWORD
  valueFrom:
    secretKeyRef: { name: {{ include "greenloop.postgresqlSecret" . }}, key: password }
- name: GREENLOOP_DATABASE_URL
  value: postgresql://greenloop:$(POSTGRES_PASSWORD)@{{ include "greenloop.fullname" . }}-postgresql:5432/greenloop
{{- else }}
- name: GREENLOOP_DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ include "greenloop.secretName" (list . "databaseUrl") }}
      key: {{ .Values.secrets.databaseUrl.key }}
{{- end }}
{{- end -}}

{{- define "greenloop.postgresqlSecret" -}}
{{- .Values.postgresql.existingSecret | default (printf "%s-postgresql" (include "greenloop.fullname" .)) -}}
{{- end -}}

{{- define "greenloop.env" -}}
{{ include "greenloop.databaseEnv" . }}
- name: GREENLOOP_REDIS_URL
  {{- if .Values.valkey.enabled }}
  value: redis://{{ include "greenloop.fullname" . }}-valkey:6379/0
  {{- else }}
  valueFrom:
    secretKeyRef:
      name: {{ include "greenloop.secretName" (list . "redisUrl") }}
      key: {{ .Values.secrets.redisUrl.key }}
  {{- end }}
- name: GREENLOOP_APP_PRIVATE_KEY_FILE
  value: /etc/greenloop/secrets/private-key
- name: GREENLOOP_WEBHOOK_SECRETS_FILE
  value: /etc/greenloop/secrets/webhook-secrets
- name: GREENLOOP_ENCRYPTION_KEYS_FILE
  value: /etc/greenloop/secrets/encryption-keys
{{- if .Values.secrets.signinSecret.enabled }}
- name: GREENLOOP_SIGN_IN_SECRET_FILE
  value: /etc/greenloop/secrets/signin-secret
{{- end }}
{{- if .Values.secrets.apiToken.enabled }}
- name: GREENLOOP_API_TOKEN_FILE
  value: /etc/greenloop/secrets/api-token
{{- end }}
{{- if .Values.secrets.hooks.enabled }}
- name: GREENLOOP_HOOKS_FILE
  value: /etc/greenloop/secrets/hooks
{{- end }}
- name: TMPDIR
  value: /tmp
{{- with .Values.extraEnv }}
{{ tpl (toYaml .) $ }}
{{- end }}
{{- end -}}

{{- define "greenloop.volumeMounts" -}}
- { name: secrets, mountPath: /etc/greenloop/secrets, readOnly: true }
- { name: tmp, mountPath: /tmp }
{{- with .Values.extraVolumeMounts }}
{{ tpl (toYaml .) $ }}
{{- end }}
{{- end -}}

{{- define "greenloop.volumes" -}}
- name: tmp
  emptyDir: { sizeLimit: 256Mi }
- name: secrets
  projected:
    defaultMode: 0440
    sources:
      {{- include "greenloop.secretSource" (list . "privateKey" "private-key") | nindent 6 }}
      {{- include "greenloop.secretSource" (list . "webhookSecrets" "webhook-secrets") | nindent 6 }}
      {{- include "greenloop.secretSource" (list . "encryptionKeys" "encryption-keys") | nindent 6 }}
      {{- if .Values.secrets.signinSecret.enabled }}
      {{- include "greenloop.secretSource" (list . "signinSecret" "signin-secret") | nindent 6 }}
      {{- end }}
      {{- if .Values.secrets.apiToken.enabled }}
      {{- include "greenloop.secretSource" (list . "apiToken" "api-token") | nindent 6 }}
      {{- end }}
      {{- if .Values.secrets.hooks.enabled }}
      {{- include "greenloop.secretSource" (list . "hooks" "hooks") | nindent 6 }}
      {{- end }}
{{- with .Values.extraVolumes }}
{{ tpl (toYaml .) $ }}
{{- end }}
{{- end -}}

{{- define "greenloop.secretSource" -}}
{{- $ := index . 0 -}}
- secret:
    name: {{ include "greenloop.secretName" (list $ (index . 1)) }}
    items:
      - { key: {{ (index $.Values.secrets (index . 1)).key }}, path: {{ index . 2 }} }
{{- end -}}

{{/* The port of probes and figures, open to the cluster while a ServiceMonitor asks for it. */}}
{{- define "greenloop.scraped" -}}
{{- if .Values.monitoring.serviceMonitor.enabled -}}
- from:
    - namespaceSelector: {}
  ports:
    - { protocol: TCP, port: 9090 }
{{- end -}}
{{- end -}}

{{/*
What all pods have in common, but for where their account's token goes:
(dict "root" $ "component" "web" "values" $.Values.web "user" 1000 "boxes" true), all but the root may be left out. With
"boxes" it goes where `values` say, and nowhere else: where boxes go.
*/}}
{{- define "greenloop.pod" -}}
{{- $ := .root -}}
{{- $values := .values | default dict -}}
{{- $shared := ternary dict $.Values (hasKey . "boxes") -}}
{{- $component := .component -}}
enableServiceLinks: false
{{- with $.Values.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  {{- if $.Values.user }}
  {{- $user := .user | default $.Values.user | int64 }}
  runAsUser: {{ $user }}
  runAsGroup: {{ $user }}
  fsGroup: {{ $user }}
  {{- end }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- with $values.nodeSelector | default $shared.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations | default $shared.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $values.topologySpread }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: {{ . }}
    labelSelector:
      matchLabels: {{- include "greenloop.selector" (list $ $component) | nindent 8 }}
{{- end }}
{{- end -}}
