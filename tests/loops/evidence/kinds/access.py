"""A right or a secret is missing."""

from tests.loops.evidence.kinds.case import Case


def _mark(name: str, *marks: str, output: str = "") -> Case:
    return Case(name, "permission", output, command="./act", marks=marks)


CASES = (
    _mark("the job's token may not", "Resource not accessible by integration"),
    _mark(
        "the job's token may not, as octokit says it",
        "RequestError [HttpError]: Resource not accessible by integration",
    ),
    _mark("a person's token may not", "HttpError: Resource not accessible by personal access token"),
    _mark("bad credentials", "HttpError: Bad credentials"),
    _mark("an empty token", "Input required and not supplied: token"),
    _mark("an empty secret of an action", "Input required and not supplied: api-key"),
    _mark("empty registry secrets", "Username and password required"),
    _mark(
        "empty ssh key",
        "The ssh-private-key argument is empty. Maybe the secret has not been configured, or you are using a wrong secret name in your workflow file.",
    ),
    _mark(
        "no credentials of AWS",
        "Credentials could not be loaded, please check your action inputs: Could not load credentials from any providers",
    ),
    _mark("no role of AWS", "Could not assume role with OIDC: Not authorized to perform sts:AssumeRoleWithWebIdentity"),
    _mark("no id-token permission", "Error message: Unable to get ACTIONS_ID_TOKEN_REQUEST_URL env variable"),
    _mark(
        "no id-token permission, google",
        "google-github-actions/auth failed with: GitHub Actions did not inject $ACTIONS_ID_TOKEN_REQUEST_TOKEN or $ACTIONS_ID_TOKEN_REQUEST_URL into this job. This most likely means the GitHub Actions workflow permissions are incorrect, or this job is being run from a fork.",
    ),
    _mark(
        "no credentials of google",
        'google-github-actions/auth failed with: the GitHub Action workflow must specify exactly one of "workload_identity_provider" or "credentials_json"! If you are specifying input values via GitHub secrets, ensure the secret is being injected into the environment.',
    ),
    _mark(
        "a workflow file may not be pushed",
        "refusing to allow a GitHub App to create or update workflow `.github/workflows/ci.yml` without `workflows` permission",
    ),
    _mark(
        "registry refuses the push",
        "buildx failed with: ERROR: failed to push ghcr.io/octo/shop:1.0: denied: permission_denied: write_package",
    ),
    *(
        Case(name, "permission", output, command=command, code=code)
        for name, command, code, output in (
            (
                "git push by the job's token",
                "git push",
                128,
                "remote: Permission to octo/repo.git denied to github-actions[bot].\nfatal: unable to access 'https://github.com/octo/repo/': The requested URL returned error: 403",
            ),
            (
                "git without credentials",
                "git fetch",
                128,
                "fatal: could not read Username for 'https://github.com': terminal prompts disabled",
            ),
            (
                "git, private submodule",
                "git submodule update --init",
                128,
                "Cloning into '/__w/shop/shop/lib'...\nremote: Repository not found.\nfatal: repository 'https://github.com/octo/lib/' not found\nfatal: clone of 'https://github.com/octo/lib' into submodule path '/__w/shop/shop/lib' failed",
            ),
            (
                "ssh key refused",
                "git fetch",
                128,
                "git@github.com: Permission denied (publickey).\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.",
            ),
            ("host key unknown", "scp a b:", 255, "Host key verification failed.\nlost connection"),
            (
                "branch is protected",
                "git push",
                1,
                "remote: error: GH006: Protected branch update failed for refs/heads/main.\nremote: error: Changes must be made through a pull request.\nTo https://github.com/octo/repo\n ! [remote rejected] main -> main (protected branch hook declined)\nerror: failed to push some refs to 'https://github.com/octo/repo'",
            ),
            (
                "gh without a token",
                "gh pr list",
                4,
                "gh: To use GitHub CLI in a GitHub Actions workflow, set the GH_TOKEN environment variable. Example:\n  env:\n    GH_TOKEN: ${{ github.token }}",
            ),
            (
                "gh, token may not",
                "gh pr merge 7",
                1,
                "GraphQL: Resource not accessible by integration (mergePullRequest)",
            ),
            (
                "docker push denied",
                "docker push octo/shop",
                1,
                "The push refers to repository [docker.io/octo/shop]\ndenied: requested access to the resource is denied",
            ),
            (
                "docker pull of a private image",
                "docker pull ghcr.io/octo/shop",
                1,
                'Error response from daemon: Head "https://ghcr.io/v2/octo/shop/manifests/latest": unauthorized: authentication required',
            ),
            (
                "npm publish without a login",
                "npm publish",
                1,
                "npm error code ENEEDAUTH\nnpm error need auth This command requires you to be logged in to https://registry.npmjs.org/\nnpm error need auth You need to authorize this machine using `npm adduser`",
            ),
            (
                "npm publish forbidden",
                "npm publish",
                1,
                "npm error code E403\nnpm error 403 403 Forbidden - PUT https://registry.npmjs.org/shop - You cannot publish over the previously published versions: 1.0.0.",
            ),
            (
                "npm, private package",
                "npm ci",
                1,
                "npm error code E401\nnpm error Incorrect or missing password.\nnpm error If you were trying to login, change your password, create an\nnpm error authentication token or enable two-factor authentication then",
            ),
            (
                "twine, forbidden",
                "twine upload dist/*",
                1,
                "Uploading distributions to https://upload.pypi.org/legacy/\nERROR    HTTPError: 403 Forbidden from https://upload.pypi.org/legacy/\n         Invalid or non-existent authentication information.",
            ),
            (
                "cargo publish without a token",
                "cargo publish",
                101,
                "error: no token found, please run `cargo login`\nor use environment variable CARGO_REGISTRY_TOKEN",
            ),
            (
                "aws, denied",
                "aws s3 sync dist s3://shop",
                1,
                "upload failed: dist/index.html to s3://shop/index.html An error occurred (AccessDenied) when calling the PutObject operation: Access Denied",
            ),
            (
                "aws without credentials",
                "aws s3 ls",
                253,
                'Unable to locate credentials. You can configure credentials by running "aws configure".',
            ),
            (
                "kubectl, forbidden",
                "kubectl apply -f k8s",
                1,
                'Error from server (Forbidden): error when creating "k8s/app.yaml": deployments.apps is forbidden: User "system:serviceaccount:ci:deployer" cannot create resource "deployments" in API group "apps" in the namespace "shop"',
            ),
            (
                "codecov without a token",
                "codecov upload",
                1,
                'error - 2026-03-01 00:00:00,000 -- Upload failed: {"message":"Token required - not valid tokenless upload"}',
            ),
            (
                "sonar without a token",
                "sonar-scanner",
                3,
                "ERROR: Error during SonarScanner execution\nERROR: Not authorized. Analyzing this project requires authentication. Please check the user token in the property 'sonar.token' or the credentials in the properties 'sonar.login' and 'sonar.password'.",
            ),
            (
                "a script that is no program",
                "./deploy.sh",
                126,
                "/__w/_temp/ab.sh: line 1: ./deploy.sh: Permission denied",
            ),
            (
                "an empty variable that bash insists on",
                "./deploy.sh",
                1,
                "./deploy.sh: line 3: DEPLOY_TOKEN: parameter null or not set",
            ),
        )
    ),
)
