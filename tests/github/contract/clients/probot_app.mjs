// A Probot app that thanks for issues. Its task is JSON in $TASK; it prints its port, then serves until it is ended.
import { createServer } from "node:http";
import { Probot, ProbotOctokit, createNodeMiddleware } from "probot";

const task = JSON.parse(process.env.TASK);
const probot = new Probot({
  appId: task.app.id,
  privateKey: task.app.key,
  secret: task.secret,
  logLevel: "fatal",
  Octokit: ProbotOctokit.defaults({ baseUrl: task.api }),
});
const thanks = (app) => {
  app.on("issues.opened", async (context) => {
    const { data } = await context.octokit.rest.repos.get(context.repo());
    await context.octokit.rest.issues.createComment(context.issue({ body: `Thanks, says Probot of ${data.name}` }));
  });
};
const middleware = await createNodeMiddleware(thanks, { probot, webhooksPath: "/hook" });
const server = createServer((request, response) => middleware(request, response));
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
