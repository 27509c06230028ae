"""Values that together touch every branch of the templates."""

from typing import Any

Object = dict[str, Any]

PRODUCTION: Object = {
    "postgresql": {"enabled": False},
    "valkey": {"enabled": False},
    "secrets": {
        "databaseUrl": {"existingSecret": "database", "key": "url"},
        "redisUrl": {"existingSecret": "redis", "key": "url"},
        "signinSecret": {"enabled": True},
        "apiToken": {"enabled": True, "existingSecret": "api", "key": "token"},
        "hooks": {"enabled": True},
    },
    "github": {"clientId": "Iv23liAbC"},
    "image": {"digest": "sha256:" + "a" * 64},
    "imagePullSecrets": ["registry"],
    "web": {
        "autoscaling": {"enabled": True},
        "pdb": {"enabled": True},
        "topologySpread": "DoNotSchedule",
        "nodeSelector": {"pool": "services"},
        "tolerations": [{"key": "services", "operator": "Exists"}],
        "affinity": {"nodeAffinity": {}},
        "priorityClassName": "high",
        "podLabels": {"team": "platform"},
        "podAnnotations": {"example.com/a": "b"},
    },
    "worker": {
        "autoscaling": {"enabled": True, "queueAgeSeconds": 20},
        "pdb": {"enabled": True, "maxUnavailable": "50%"},
        "topologySpread": "ScheduleAnyway",
    },
    "ingress": {
        "enabled": True,
        "className": "internal",
        "tlsSecret": "tls",
        "webhook": {"enabled": True, "className": "public", "host": "hooks.example.com", "tlsSecret": "hooks-tls"},
    },
    "monitoring": {
        "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
        "prometheusRule": {"enabled": True, "silenceSeconds": 86400},
        "dashboard": {"enabled": True},
    },
    "settings": {"CAP": 5, "LOG_LEVEL": "debug", "LOG_JSON": True},
    "extraEnv": [{"name": "HTTPS_PROXY", "value": "http://proxy:3128"}],
    "extraVolumes": [{"name": "ca", "configMap": {"name": "ca"}}],
    "extraVolumeMounts": [{"name": "ca", "mountPath": "/etc/ca"}],
    "commonLabels": {"cost-centre": "42"},
}

MATRIX: dict[str, Object] = {
    "defaults": {},
    "production": PRODUCTION,
    "gateway": {
        "gateway": {
            "enabled": True,
            "parentRefs": [{"name": "internal"}],
            "webhook": {"enabled": True, "parentRefs": [{"name": "public"}], "hostnames": ["hooks.example.com"]},
        }
    },
    "one namespace": {"boxes": {"namespace": "team"}},
    "foreign box namespace": {"boxes": {"namespace": "shared-boxes", "createNamespace": False}},
    "allow-list": {
        "boxes": {
            "network": {
                "egress": "allowList",
                "allow": [{"cidr": "10.1.2.3/32", "ports": [443]}, {"cidr": "10.9.0.0/16"}],
                "dns": {"cidrs": ["169.254.20.10/32"]},
            }
        }
    },
    "hardened boxes": {
        "boxes": {
            "prePuller": {"enabled": True},
            "isolation": "session",
            "warm": 2,
            "limitRange": {"max": {"memory": "16Gi"}},
            "image": {"digest": "sha256:" + "b" * 64},
            "pod": {
                "runtimeClass": "gvisor",
                "hostUsers": False,
                "priorityClass": "low",
                "nodeSelector": {"pool": "boxes"},
                "tolerations": [{"key": "boxes", "operator": "Exists", "effect": "NoSchedule"}],
                "imagePullSecrets": ["registry"],
                "home": {"size": "", "storageClass": "fast"},
                "extraEnv": [{"name": "NPM_CONFIG_REGISTRY", "value": "https://npm.example.com"}],
                "extraVolumes": [{"name": "ca", "configMap": {"name": "ca"}}],
                "extraVolumeMounts": [{"name": "ca", "mountPath": "/etc/ca", "readOnly": True}],
            },
        }
    },
    "what the platform gives": {
        "user": None,
        "nodeSelector": {"pool": "all"},
        "tolerations": [{"operator": "Exists"}],
        "imagePullSecrets": ["registry"],
        "postgresql": {"existingSecret": "database"},
        "web": {"preStopSeconds": 0, "service": {"type": "LoadBalancer"}},
        "worker": {"nodeSelector": {"pool": "workers"}},
        "extraVolumes": [{"name": "ca", "configMap": {"name": "{{ .Release.Name }}-ca"}}],
        "boxes": {
            "pod": {"user": None},
            "prePuller": {"enabled": True},
            "network": {"dns": {"namespace": "openshift-dns", "ports": [5353], "cidrs": []}},
        },
    },
    "bare": {
        "networkPolicy": {"enabled": False},
        "migration": {"enabled": False},
        "boxes": {"quota": {"enabled": False}, "limitRange": {"enabled": False}},
    },
    "extra objects": {
        "extraObjects": [
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "{{ .Release.Name }}-map"},
                "data": {"a": "b"},
            },
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: text\ndata: {c: d}\n",
        ]
    },
}
