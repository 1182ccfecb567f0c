{{- define "pluriverse.name" -}}
pluriverse-{{ .Values.runtime }}
{{- end }}

{{- define "pluriverse.labels" -}}
app.kubernetes.io/name: pluriverse
pluriverse/runtime: {{ .Values.runtime }}
{{- end }}

{{- define "pluriverse.podLabels" -}}
app.kubernetes.io/name: pluriverse
app.kubernetes.io/component: remote
pluriverse/runtime: {{ .Values.runtime }}
{{- end }}

{{- define "pluriverse.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile:
    type: RuntimeDefault
{{- /* After the drain everything is ended within a few seconds. */}}
terminationGracePeriodSeconds: {{ add .Values.drainSeconds 15 }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
containers:
  - name: remote
    image: {{ .Values.image | default (printf "pluriverse/%s:latest" .Values.runtime) | quote }}
    imagePullPolicy: {{ .Values.imagePullPolicy }}
    env:
      {{- if .Values.tls.secretName }}
      - name: PLURIVERSE_TLS_CERT
        value: /run/secrets/pluriverse-tls/tls.crt
      - name: PLURIVERSE_TLS_KEY
        value: /run/secrets/pluriverse-tls/tls.key
      {{- end }}
      - name: PLURIVERSE_TOKENS_FILE
        value: /run/secrets/pluriverse/tokens
      - name: PLURIVERSE_DRAIN_S
        value: {{ .Values.drainSeconds | quote }}
      {{- with .Values.env }}
      - name: PLURIVERSE_ENV
        value: {{ . | quote }}
      {{- end }}
    ports:
      - name: rewarder
        containerPort: 15900
      - name: vnc
        containerPort: 5900
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities:
        drop:
          - ALL
    resources: {{ toYaml .Values.resources | nindent 6 }}
    {{- /* An environment may take some seconds to start, and an image's files to be read first. */}}
    startupProbe:
      httpGet:
        path: /readyz
        port: rewarder
        {{- if .Values.tls.secretName }}
        scheme: HTTPS
        {{- end }}
      periodSeconds: 1
      failureThreshold: 120
    readinessProbe:
      httpGet:
        path: /readyz
        port: rewarder
        {{- if .Values.tls.secretName }}
        scheme: HTTPS
        {{- end }}
      periodSeconds: 2
      timeoutSeconds: 2
      failureThreshold: 3
    {{- /* A remote heals what crashes; Kubernetes has to see to the daemon alone. */}}
    livenessProbe:
      httpGet:
        path: /healthz
        port: rewarder
        {{- if .Values.tls.secretName }}
        scheme: HTTPS
        {{- end }}
      periodSeconds: 5
      timeoutSeconds: 3
      failureThreshold: 3
    volumeMounts:
      {{- if .Values.tls.secretName }}
      - name: tls
        mountPath: /run/secrets/pluriverse-tls
        readOnly: true
      {{- end }}
      - name: tmp
        mountPath: /tmp
      - name: tokens
        mountPath: /run/secrets/pluriverse
        readOnly: true
volumes:
  {{- with .Values.tls.secretName }}
  - name: tls
    secret:
      secretName: {{ . }}
      defaultMode: 288
  {{- end }}
  - name: tmp
    emptyDir:
      medium: Memory
      sizeLimit: {{ .Values.tmpSize }}
  - name: tokens
    secret:
      secretName: {{ .Values.secret }}
      defaultMode: 288
      items:
        - key: tokens
          path: tokens
{{- end }}
