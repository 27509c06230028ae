"""What a newcomer does with PyGithub. Reads its task as JSON from stdin, prints what it saw as JSON."""

import json
import sys

from github import Auth, Github, GithubIntegration, GithubRetry, InputGitTreeElement

task = json.load(sys.stdin)
options = {
    "base_url": task["api"],
    "retry": GithubRetry(secondary_rate_wait=1),
    "seconds_between_writes": task["pace"],
    "seconds_between_requests": 0,
}
seen = {}
if app := task.get("app"):
    auth = Auth.AppAuth(app["id"], app["key"])
    integration = GithubIntegration(auth=auth, **options)
    seen["app"] = integration.get_app().slug
    installation = integration.get_repo_installation(*task["repository"].split("/"))
    hub = Github(auth=auth.get_installation_auth(installation.id), **options)
else:
    hub = Github(auth=Auth.Token(task["token"]), **options)

repository = hub.get_repo(task["repository"])
base = repository.get_branch(repository.default_branch).commit
seen["repository"] = repository.full_name
seen["unchanged"] = repository.update() is False
seen["tree"] = [entry.path for entry in repository.get_git_tree(base.sha, recursive=True).tree]

tree = repository.create_git_tree(
    [InputGitTreeElement(task["file"], "100644", "blob", content="one\ntwo\n")], repository.get_git_tree(base.sha)
)
commit = repository.create_git_commit("Add a file", tree, [repository.get_git_commit(base.sha)])
repository.create_git_ref(f"refs/heads/{task['branch']}", commit.sha)
pull = repository.create_pull(
    title="A change", body="By PyGithub", head=task["branch"], base=repository.default_branch, draft=True
)
seen["head"], seen["commit"], seen["draft"] = pull.head.sha, commit.sha, pull.draft
seen["files"] = [file.filename for file in pull.get_files()]
pull.mark_ready_for_review()
seen["ready"] = repository.get_pull(pull.number).draft is False

for number in range(3):
    pull.create_issue_comment(f"Comment {number}")
hub.per_page = 1
seen["comments"] = [comment.body for comment in pull.get_issue_comments()]
hub.per_page = 30

if app:
    repository.create_check_run("contract", commit.sha, status="completed", conclusion="success")
    checks = repository.get_commit(commit.sha).get_check_runs(check_name="contract")
    seen["checks"] = [[check.name, check.conclusion] for check in checks]
repository.get_commit(commit.sha).create_status("success", context="contract")
seen["status"] = repository.get_commit(commit.sha).get_combined_status().state
seen["runs"] = repository.get_workflow_runs(head_sha=commit.sha).totalCount
seen["left"] = hub.get_rate_limit().resources.core.remaining > 0

seen["labels"] = isinstance([label.name for label in repository.get_labels()], list)  # a limit may be met here
seen["found"] = pull.number in [
    issue.number for issue in hub.search_issues(f"repo:{task['repository']} is:pr A change")
]

pull.edit(state="closed")
repository.get_git_ref(f"heads/{task['branch']}").delete()
print(json.dumps(seen))
