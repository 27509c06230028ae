// What a newcomer does with Octokit, whose throttling and retries are on. Reads its task as JSON from stdin, prints
// what it saw as JSON.
import { readFileSync } from "node:fs";
import Bottleneck from "bottleneck/light.js";
import { App, Octokit } from "octokit";

const task = JSON.parse(readFileSync(0, "utf8"));
const [owner, repo] = task.repository.split("/");
const seen = { limited: 0 };
const wait = (after, options, octokit, count) => {
  seen.limited += 1;
  return count < 2;
};
// it waits a second between writes, and three where somebody is notified; a GitHub on this machine needs no such rest
const restless = () => new Bottleneck.Group({ id: "restless", maxConcurrent: 1, minTime: 0 });
const rest = task.pace ? {} : { write: restless(), notifications: restless() };
const Client = Octokit.defaults({
  baseUrl: task.api,
  userAgent: "newcomer",
  throttle: { onRateLimit: wait, onSecondaryRateLimit: wait, ...rest },
});

let octokit = new Client({ auth: task.token });
if (task.app) {
  const app = new App({ appId: task.app.id, privateKey: task.app.key, Octokit: Client });
  seen.app = (await app.octokit.rest.apps.getAuthenticated()).data.slug;
  const installation = await app.octokit.rest.apps.getRepoInstallation({ owner, repo });
  octokit = await app.getInstallationOctokit(installation.data.id);
}

const { data: repository, headers } = await octokit.rest.repos.get({ owner, repo });
seen.repository = repository.full_name;
seen.unchanged = await octokit
  .request("GET /repos/{owner}/{repo}", { owner, repo, headers: { "if-none-match": headers.etag } })
  .then(() => false, (error) => error.status === 304);
const head = await octokit.rest.git.getRef({ owner, repo, ref: `heads/${repository.default_branch}` });
const base = head.data.object.sha;
const listed = await octokit.rest.git.getTree({ owner, repo, tree_sha: base, recursive: "1" });
seen.tree = listed.data.tree.map((entry) => entry.path);

const entry = { path: task.file, mode: "100644", type: "blob", content: "one\ntwo\n" };
const tree = await octokit.rest.git.createTree({ owner, repo, base_tree: base, tree: [entry] });
const commit = await octokit.rest.git.createCommit({
  owner, repo, message: "Add a file", tree: tree.data.sha, parents: [base],
});
seen.commit = commit.data.sha;
await octokit.rest.git.createRef({ owner, repo, ref: `refs/heads/${task.branch}`, sha: seen.commit });
const { data: pull } = await octokit.rest.pulls.create({
  owner, repo, title: "A change", body: "By Octokit", head: task.branch, base: repository.default_branch, draft: true,
});
seen.head = pull.head.sha;
seen.draft = pull.draft;
const files = await octokit.paginate(octokit.rest.pulls.listFiles, { owner, repo, pull_number: pull.number });
seen.files = files.map((file) => file.filename);
await octokit.graphql(
  "mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } } }",
  { id: pull.node_id },
);
const ready = await octokit.rest.pulls.get({ owner, repo, pull_number: pull.number });
seen.ready = ready.data.draft === false;

const about = { owner, repo, issue_number: pull.number };
for (const number of [0, 1, 2]) await octokit.rest.issues.createComment({ ...about, body: `Comment ${number}` });
const comments = await octokit.paginate(octokit.rest.issues.listComments, { ...about, per_page: 1 });
seen.comments = comments.map((comment) => comment.body);

if (task.app) {
  const name = "contract";
  await octokit.rest.checks.create({
    owner, repo, name, head_sha: seen.commit, status: "completed", conclusion: "success",
  });
  const runs = octokit.rest.checks.listForRef;
  const checks = await octokit.paginate(runs, { owner, repo, ref: seen.commit, check_name: name });
  seen.checks = checks.map((check) => [check.name, check.conclusion]);
}
await octokit.rest.repos.createCommitStatus({ owner, repo, sha: seen.commit, state: "success", context: "contract" });
const status = await octokit.rest.repos.getCombinedStatusForRef({ owner, repo, ref: task.branch });
seen.status = status.data.state;
const left = await octokit.rest.rateLimit.get();
seen.left = left.data.resources.core.remaining > 0;

await octokit.rest.issues.createLabel({ owner, repo, name: `${task.branch}/red`, color: "ff0000" });
await octokit.rest.issues.addLabels({ ...about, labels: [`${task.branch}/red`] });
await octokit.rest.issues.removeLabel({ ...about, name: `${task.branch}/red` });
await octokit.rest.issues.deleteLabel({ owner, repo, name: `${task.branch}/red` });
// a limit, and an answer that fails, may be met here
seen.labels = Array.isArray(await octokit.paginate(octokit.rest.issues.listLabelsForRepo, { owner, repo }));
seen.branches = (await octokit.rest.repos.listBranches({ owner, repo })).data.length > 0;

await octokit.rest.pulls.update({ owner, repo, pull_number: pull.number, state: "closed" });
await octokit.rest.git.deleteRef({ owner, repo, ref: `heads/${task.branch}` });
console.log(JSON.stringify(seen));
