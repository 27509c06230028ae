"""What a refusal of the cluster's means: for the box that was to be made, or for all of them. Pure.

The words of the refusals are Kubernetes' own, from the source of its admission plugins and of its webhooks' dispatcher.
"""

import re

from k8s.boxes import BoxSpec, BoxState, BoxStatus
from k8s.cluster import ClusterError, ClusterUnreachable

# Refusals of us, and of a namespace that comes or goes. Any other is for what the box is: limits, classes, policies.
NOT_ABOUT_THE_BOX = ('" cannot ', "is being terminated", "error looking up service account")

# Who refuses a box, by what is said then; `{}` is the name that stands in it. The first that fits counts.
BY_WHOM = (
    (r"violates PodSecurity", "The namespace's Pod Security refuses the box"),
    (r'admission webhook "([^"]+)" denied', 'The admission webhook "{}" refuses the box'),
    (r"ValidatingAdmissionPolicy '([^']+)'", 'The admission policy "{}" refuses the box'),
    (r"failed quota: ([^:]+): must specify", 'The quota "{}" counts what the box does not say (boxes.pod.resources)'),
    (r"(?:maximum|minimum) \S+ usage per|max limit to request ratio", "The namespace's LimitRange refuses the box"),
    (r"security context constraint", "OpenShift's security context constraints refuse the box"),
    (r"no PriorityClass with name (\S+) was found", 'The cluster has no priority class "{}"'),
    (r'RuntimeClass "([^"]+)" not found', 'The cluster has no runtime class "{}"'),
)

# What keeps the cluster from making any box, by the status and the words of the refusal.
NO_BOXES = (
    (401, "", "The cluster does not take the service's credentials any more: they have expired, or were withdrawn."),
    (403, '" cannot ', "The service may not do in the namespace of the boxes what boxes need."),
    (403, "is being terminated", "The namespace of the boxes is being deleted."),
    (404, "namespaces ", "The namespace of the boxes does not exist."),
)
UNCALLED = re.compile(r'failed calling webhook "([^"]+)"')


def refusal(spec: BoxSpec, error: ClusterError) -> BoxStatus | None:
    """What a refusal to make a box means for the box; None where it says nothing about it (no rights, no namespace)."""
    state, permanent = BoxState.FAILED, True
    if is_full(error):
        state, permanent, words = BoxState.FULL, False, "The namespace's quota for boxes is used up"
    elif error.reason == "NotOurs":
        words = "Another object in the namespace has the box's name"
    elif error.status == 403 and any(words in error.message for words in NOT_ABOUT_THE_BOX):
        return None
    elif error.status in (400, 403, 422):
        words = _by_whom(error.message) or (
            "The cluster does not admit the box" if error.status == 403 else "The cluster refuses the box as invalid"
        )
    else:
        return None
    message, crowded = f"{words}: {error.message}", state is BoxState.FULL
    return BoxStatus(name=spec.name, state=state, message=message, permanent=permanent, crowded=crowded)


def why_no_boxes(error: ClusterError | ClusterUnreachable) -> str:
    """A sentence for people on why there are no boxes at all now; empty where no more is known than that.

    What the cluster said itself is not in it: it holds addresses, and names of accounts.
    """
    if uncalled := UNCALLED.search(str(error)):
        return f'The admission webhook "{uncalled[1]}" does not answer, and without it the cluster makes no box.'
    if isinstance(error, ClusterUnreachable):
        return ""
    return next((said for status, words, said in NO_BOXES if error.status == status and words in error.message), "")


def is_full(error: ClusterError) -> bool:
    """Whether a quota has no place left."""
    return error.status == 403 and "exceeded quota" in error.message


def _by_whom(message: str) -> str:
    for pattern, words in BY_WHOM:
        if found := re.search(pattern, message):
            return words.format(*found.groups())
    return ""
