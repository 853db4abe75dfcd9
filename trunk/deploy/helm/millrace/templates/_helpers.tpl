{{- define "millrace.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "millrace.selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "millrace.labels" -}}
{{ include "millrace.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "millrace.secretName" -}}
{{- default (printf "%s-cluster" (include "millrace.fullname" .)) .Values.cluster.existingSecret -}}
{{- end -}}

{{- define "millrace.registry" -}}
{{- if .Values.cluster.registry -}}
{{- .Values.cluster.registry -}}
{{- else if .Values.valkey.enabled -}}
redis://{{ include "millrace.fullname" . }}-valkey:6379
{{- else -}}
{{- fail "cluster.registry, cluster.existingSecret or valkey.enabled: nodes need a registry to find each other" -}}
{{- end -}}
{{- end -}}

{{- define "millrace.config" -}}
{{- $role := index .root.Values (printf "%ss" .role) -}}
{{- default (.root.Files.Get (printf "files/%s.conf" .role)) $role.config -}}
{{- end -}}

{{/* The pods of one role: {root, role: origin|edge}. */}}
{{- define "millrace.pod" -}}
{{- $root := .root -}}
{{- $role := index $root.Values (printf "%ss" .role) -}}
{{- $finalSeconds := 10 -}}
{{- $stopSeconds := add (int $role.drainSeconds) $finalSeconds 5 -}}
metadata:
  labels:
    {{- include "millrace.selector" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
    millrace/node: "true"
  annotations:
    checksum/config: {{ include "millrace.config" . | sha256sum }}
    {{- with $role.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  {{- with $root.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if $role.hostNetwork }}
  hostNetwork: true
  dnsPolicy: ClusterFirstWithHostNet
  {{- end }}
  securityContext:
    {{- toYaml $root.Values.podSecurityContext | nindent 4 }}
  # preStop waits for the whole stop; what is left is for a server that does not drain.
  terminationGracePeriodSeconds: {{ add $stopSeconds $finalSeconds 10 }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "millrace.selector" $root | nindent 10 }}
          app.kubernetes.io/component: {{ .role }}
  containers:
    - name: millrace
      image: {{ printf "%s:%s" $root.Values.image.repository (default $root.Chart.AppVersion $root.Values.image.tag) | quote }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      args: ["-c", "/etc/millrace/millrace.conf"]
      securityContext:
        {{- toYaml $root.Values.securityContext | nindent 8 }}
      env:
        - name: POD_NAME
          valueFrom: {fieldRef: {fieldPath: metadata.name}}
        - name: POD_IP
          valueFrom: {fieldRef: {fieldPath: status.podIP}}
        - name: HOST_IP
          valueFrom: {fieldRef: {fieldPath: status.hostIP}}
        - name: SRS_SERVER_ID
          value: $(POD_NAME)
        - name: SRS_CLUSTER_NODE_ID
          value: $(POD_NAME)
        - name: SRS_CLUSTER_ADVERTISE
          value: $(POD_IP)
        - name: SRS_CLUSTER_REGION
          value: {{ $root.Values.cluster.region | quote }}
        - name: SRS_CLUSTER_REGISTRY
          valueFrom: {secretKeyRef: {name: {{ include "millrace.secretName" $root }}, key: registry}}
        - name: SRS_CLUSTER_SECRET
          valueFrom: {secretKeyRef: {name: {{ include "millrace.secretName" $root }}, key: secret}}
        - name: SRS_CLUSTER_DRAIN_LIMIT
          value: {{ int $role.drainSeconds | quote }}
        - name: SRS_GRACE_FINAL_WAIT
          value: {{ mul $finalSeconds 1000 | quote }}
        - name: SRS_RTC_SERVER_ENABLED
          value: {{ ternary "on" "off" $role.rtc.enabled | quote }}
        - name: SRS_RTC_SERVER_LISTEN
          value: {{ $role.rtc.port | quote }}
        - name: CANDIDATE
          value: {{ default "$(HOST_IP)" $role.rtc.candidate | quote }}
        {{- with $role.capacity }}
        - name: SRS_CLUSTER_CAPACITY
          value: {{ . | int64 | quote }}
        {{- end }}
        {{- with $role.env }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      ports:
        - {name: rtmp, containerPort: 1935}
        - {name: http, containerPort: 8080}
        - {name: metrics, containerPort: 9972}
        {{- if $role.rtc.enabled }}
        - {name: rtc, containerPort: {{ $role.rtc.port }}, hostPort: {{ $role.rtc.port }}, protocol: UDP}
        {{- end }}
      startupProbe:
        httpGet: {path: /healthz, port: metrics}
        periodSeconds: 2
        failureThreshold: 30
      livenessProbe:
        httpGet: {path: /healthz, port: metrics}
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: {path: /readyz, port: metrics}
        periodSeconds: 5
        timeoutSeconds: 3
        failureThreshold: 2
      lifecycle:
        # Clients are sent elsewhere, then the server stops; the image's stop signal, SIGQUIT, is for one that could not be asked.
        preStop:
          exec: {command: ["perl", "scripts/docker-drain.pl", "{{ $stopSeconds }}"]}
      resources:
        {{- toYaml $role.resources | nindent 8 }}
      volumeMounts:
        - {name: config, mountPath: /etc/millrace, readOnly: true}
        - {name: data, mountPath: /data}
        - {name: tmp, mountPath: /tmp}
  volumes:
    - name: config
      configMap: {name: {{ include "millrace.fullname" $root }}-{{ .role }}}
    - name: data
      emptyDir: {sizeLimit: {{ $role.dataSizeLimit }}}
    - name: tmp
      emptyDir: {sizeLimit: 512Mi}
  {{- with $role.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $role.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $role.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* What players or encoders are told: {root, role}. */}}
{{- define "millrace.service" -}}
{{- $role := index .root.Values (printf "%ss" .role) -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "millrace.fullname" .root }}-{{ .role }}
  labels:
    {{- include "millrace.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
  {{- with $role.service.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ $role.service.type }}
  {{- if ne $role.service.type "ClusterIP" }}
  externalTrafficPolicy: {{ $role.service.externalTrafficPolicy }}
  {{- end }}
  # What follows a WHIP or WHEP offer goes where the offer went.
  sessionAffinity: ClientIP
  selector:
    {{- include "millrace.selector" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
  ports:
    - {name: rtmp, port: 1935, targetPort: rtmp}
    - {name: http, port: 8080, targetPort: http}
{{- end -}}

{{- define "millrace.disruption" -}}
{{- $role := index .root.Values (printf "%ss" .role) -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "millrace.fullname" .root }}-{{ .role }}
  labels:
    {{- include "millrace.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
spec:
  maxUnavailable: {{ $role.podDisruptionBudget.maxUnavailable }}
  selector:
    matchLabels:
      {{- include "millrace.selector" .root | nindent 6 }}
      app.kubernetes.io/component: {{ .role }}
{{- end -}}

{{- define "millrace.configmap" -}}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "millrace.fullname" .root }}-{{ .role }}
  labels:
    {{- include "millrace.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
data:
  millrace.conf: |
    {{- include "millrace.config" . | nindent 4 }}
{{- end -}}
