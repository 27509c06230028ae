"""What a newcomer does with ghapi. Reads its task as JSON from stdin, prints what it saw as JSON."""

import json
import sys

from ghapi.all import APIError, GhApi, sync_paged

task = json.load(sys.stdin)
owner, name = task["repository"].split("/")
seen = {}
token = task.get("token")
if app := task.get("app"):
    import jwt

    now = app["now"]
    proof = jwt.encode({"iat": now - 60, "exp": now + 500, "iss": str(app["id"])}, app["key"], algorithm="RS256")
    me = GhApi(jwt_token=proof, gh_host=task["api"], sync=True)
    seen["app"] = me.apps.get_authenticated().slug
    installation = me.apps.get_repo_installation(owner, name)
    token = me.apps.create_installation_access_token(installation.id).token

left = []
hub = GhApi(
    owner=owner, repo=name, token=token, gh_host=task["api"], sync=True, limit_cb=lambda *rest: left.append(rest)
)
repository = hub.repos.get()
seen["repository"] = repository.full_name
base = hub.git.get_ref(f"heads/{repository.default_branch}").object.sha
seen["tree"] = [entry.path for entry in hub.git.get_tree(base, recursive=1).tree]

entry = {"path": task["file"], "mode": "100644", "type": "blob", "content": "one\ntwo\n"}
tree = hub.git.create_tree(base_tree=base, tree=[entry])
commit = hub.git.create_commit("Add a file", tree.sha, parents=[base])
hub.git.create_ref(f"refs/heads/{task['branch']}", commit.sha)
pull = hub.pulls.create(
    title="A change", body="By ghapi", head=task["branch"], base=repository.default_branch, draft=True
)
seen["commit"], seen["head"], seen["draft"] = commit.sha, pull.head.sha, pull.draft
seen["files"] = [file.filename for file in hub.pulls.list_files(pull.number)]

for number in range(3):
    hub.issues.create_comment(pull.number, f"Comment {number}")
pages = sync_paged(hub.issues.list_comments, pull.number, per_page=1)
seen["comments"] = [comment.body for page in pages for comment in page]

if app:
    hub.checks.create(name="contract", head_sha=commit.sha, status="completed", conclusion="success")
    listed = hub.checks.list_for_ref(commit.sha, check_name="contract")
    seen["checks"] = [[check.name, check.conclusion] for check in listed.check_runs]
hub.repos.create_commit_status(commit.sha, state="success", context="contract")
seen["status"] = hub.repos.get_combined_status_for_ref(commit.sha).state
seen["workflows"] = hub.actions.list_repo_workflows().total_count >= 0
seen["left"] = hub.rate_limit.get().resources.core.remaining > 0 and left != []

try:
    seen["labels"] = isinstance([label.name for label in hub.issues.list_labels_for_repo()], list)
except APIError as error:  # the limit that may be met here
    seen["labels"], seen["limited"] = True, error.status_code

hub.pulls.update(pull.number, state="closed")
hub.git.delete_ref(f"heads/{task['branch']}")
print(json.dumps(seen))
