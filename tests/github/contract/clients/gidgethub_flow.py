"""What a newcomer does with gidgethub. Reads its task as JSON from stdin, prints what it saw as JSON."""

import asyncio
import json
import sys

import aiohttp
from gidgethub import RateLimitExceeded
from gidgethub.aiohttp import GitHubAPI
from gidgethub.apps import get_installation_access_token, get_jwt


async def main(task: dict) -> dict:
    seen: dict = {}
    async with aiohttp.ClientSession() as session:
        hub = GitHubAPI(session, "newcomer", base_url=task["api"], cache={}, oauth_token=task.get("token"))
        if app := task.get("app"):
            token = get_jwt(app_id=str(app["id"]), private_key=app["key"])
            seen["app"] = (await hub.getitem("/app", jwt=token))["slug"]
            installation = await hub.getitem(f"/repos/{task['repository']}/installation", jwt=token)
            minted = await get_installation_access_token(
                hub, installation_id=str(installation["id"]), app_id=str(app["id"]), private_key=app["key"]
            )
            hub = GitHubAPI(session, "newcomer", base_url=task["api"], cache={}, oauth_token=minted["token"])

        repo = f"/repos/{task['repository']}"
        repository = await hub.getitem(repo)
        seen["repository"] = repository["full_name"]
        seen["unchanged"] = await hub.getitem(repo) is repository  # what it kept, since the answer was 304
        default = repository["default_branch"]
        ref = await hub.getitem(f"{repo}/git/ref/heads/{default}")
        base = ref["object"]["sha"]
        listed = await hub.getitem(f"{repo}/git/trees/{base}?recursive=1")
        seen["tree"] = [entry["path"] for entry in listed["tree"]]

        entry = {"path": task["file"], "mode": "100644", "type": "blob", "content": "one\ntwo\n"}
        tree = await hub.post(f"{repo}/git/trees", data={"base_tree": base, "tree": [entry]})
        change = {"message": "Add a file", "tree": tree["sha"], "parents": [base]}
        commit = await hub.post(f"{repo}/git/commits", data=change)
        seen["commit"] = commit["sha"]
        await hub.post(f"{repo}/git/refs", data={"ref": f"refs/heads/{task['branch']}", "sha": commit["sha"]})
        wanted = {"title": "A change", "body": "By gidgethub", "head": task["branch"], "base": default, "draft": True}
        pull = await hub.post(f"{repo}/pulls", data=wanted)
        seen["head"], seen["draft"] = pull["head"]["sha"], pull["draft"]
        seen["files"] = [file["filename"] async for file in hub.getiter(f"{pull['url']}/files")]
        ready = "mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { clientMutationId } }"
        await hub.graphql(ready, endpoint=f"{task['api']}/graphql", id=pull["node_id"])
        seen["ready"] = (await hub.getitem(pull["url"]))["draft"] is False

        for number in range(3):
            await hub.post(pull["comments_url"], data={"body": f"Comment {number}"})
        pages = hub.getiter(pull["comments_url"] + "{?per_page}", {"per_page": "1"})
        seen["comments"] = [comment["body"] async for comment in pages]

        if app:
            check = {"name": "contract", "head_sha": commit["sha"], "status": "completed", "conclusion": "success"}
            await hub.post(f"{repo}/check-runs", data=check)
            checks = hub.getiter(
                f"{repo}/commits/{commit['sha']}/check-runs?check_name=contract", iterable_key="check_runs"
            )
            seen["checks"] = [[each["name"], each["conclusion"]] async for each in checks]
        await hub.post(f"{repo}/statuses/{commit['sha']}", data={"state": "success", "context": "contract"})
        seen["status"] = (await hub.getitem(f"{repo}/commits/{commit['sha']}/status"))["state"]
        seen["left"] = (await hub.getitem("/rate_limit"))["resources"]["core"]["remaining"] > 0

        try:
            seen["labels"] = isinstance([label["name"] async for label in hub.getiter(f"{repo}/labels")], list)
        except RateLimitExceeded as error:  # the limit that may be met here
            seen["labels"], seen["limited"] = True, error.rate_limit.remaining == 0

        await hub.patch(pull["url"], data={"state": "closed"})
        await hub.delete(f"{repo}/git/refs/heads/{task['branch']}")
    return seen


print(json.dumps(asyncio.run(main(json.load(sys.stdin)))))
