"""The rights of the worker are those that boxes use: all of them, and no others."""

import time
from dataclasses import replace
from pathlib import Path

from k8s.boxes import BoxState
from k8s.kubernetes_boxes import KubernetesBoxes
from k8s.options import PodOptions
from k8s.rights import RIGHTS
from tests.k8s.cluster.conftest import SLEEP, grant, settled
from tests.k8s.cluster.test_kubernetes_boxes import agreed
from tests.k8s.cluster_double.server import small_cluster
from tests.k8s.objects import IMAGE, spec


async def test_a_box_from_its_making_to_the_end_of_its_home_uses_each_right_of_the_worker(tmp_path: Path) -> None:
    async with small_cluster(tmp_path) as cluster:
        cluster.make_namespace("boxes", enforce="restricted")
        options = PodOptions.model_validate({"image": IMAGE, "command": SLEEP, "graceSeconds": 1})
        boxes = await KubernetesBoxes.connect("boxes", "greenloop", options, kubeconfig=grant(cluster, "boxes"))
        await boxes.ensure(spec(login="ann"))
        assert (await settled(boxes, spec().name, 20)).state is BoxState.RUNNING
        await boxes.ensure(replace(spec(login="renamed"), token="another"))
        await boxes.reconcile({}, confirm=agreed, now=time.time())
        await boxes.delete_home(spec().name)
        await boxes.close()
        used = {
            (verb, group, resource)
            for user, verb, group, resource in cluster.surface.audit
            if user.startswith("system:serviceaccount:boxes:")
        }
    assert used == {(verb, *thing) for thing, verbs in RIGHTS.items() for verb in verbs}
