"""docker build, pre-commit, terraform, and the package managers."""

from loops.evidence.recognise.shapes.shape import Shape

# fmt: off
SHAPES = (
    # docker and buildkit
    Shape("docker", "title", r"#(?P<id>\d+) (?:\[.+\] .*|\d+\.\d+ [$+] .*)", worth=0),
    Shape("docker", "error", r"#(?P<id>\d+) ERROR: .*", before=2, worth=84),
    Shape("docker", "noise", r"#\d+ (?:DONE|CACHED|CANCELED|sha256:|extracting|resolve |transferring|writing|exporting|naming|preparing|sending|\.\.\.|(?:\d+\.\d+ )?(?:Get:\d|Unpacking|Setting up|Selecting|Preparing to unpack|Collecting|Downloading|Installing collected)).*"),
    Shape("docker", "error", r"(?:ERROR: )?(?:failed to (?:solve|build|compute|fetch|load|read|process)|dockerfile parse error|executor failed running|The command '.*' returned a non-zero code:|error: failed to solve).*", "code", worth=86),
    Shape("docker", "place", r"(?P<file>\S*Dockerfile\S*):(?P<line>\d+)$", "code", after=9, worth=80),
    Shape("docker", "section", r" > (?:\[.*\] .*|importing .*|load .*|resolve .*):?$", worth=70, after=5),
    Shape("docker", "source", r"\s*\d+ \| >>> .*", worth=74),
    Shape("docker", "noise", r"(?:[0-9a-f]{12}: (?:Pulling|Waiting|Verifying|Download|Pull complete|Extracting|Already exists|Pushed|Layer|Preparing)|Digest: sha256:|Status: (?:Downloaded|Image)|Step \d+/\d+ : | ---> ).*"),
    Shape("docker", "error", r"(?:docker: )?Error response from daemon: .*", worth=78, after=1),
    Shape("docker", "error", r"(?:dependency failed to start: |.*\bexited with code [1-9]\d*$|service \".*\" (?:didn't|is not)|Error: No such (?:image|container)).*", worth=72),
    # pre-commit
    Shape("pre-commit", "test", r"(?P<test>\S.*?)\.{3,}(?:\(.*\))?Failed$", "lint", after=4, worth=86),
    Shape("pre-commit", "noise", r"\S.*\.{3,}(?:\(.*\))?(?:Passed|Skipped)$"),
    Shape("pre-commit", "title", r"- (?:hook id|duration|exit code): .*", worth=52),
    Shape("pre-commit", "error", r"- files were modified by this hook", "lint", after=4),
    Shape("pre-commit", "place", r"(?:Fixing|Fixed|Formatted|reformatted|Sorting) (?P<file>\S+)$", "lint", worth=66),
    Shape("pre-commit", "error", r"(?:pre-commit hook\(s\) made changes|All changes made by hooks:|An (?:error|unexpected error) has occurred:).*", "lint", after=6),
    # npm, pnpm, yarn, bun
    Shape("npm", "noise", r"npm (?:ERR!|error) (?:A complete log of this run|\s*/.*-debug-\d|Log files were not|\s*$).*|npm (?:warn|WARN|notice|http|info) .*"),
    Shape("npm", "error", r"npm (?:ERR!|error) code (?:ERESOLVE|ETARGET|E404|EUSAGE|ENOLOCK|EINTEGRITY|EBADENGINE|EBADPLATFORM|ENOVERSIONS)\b.*", "dependency", after=4),
    Shape("npm", "error", r"npm (?:ERR!|error) Missing script: .*", "configuration", worth=84),
    Shape("npm", "error", r"npm (?:ERR!|error) .*", worth=64),
    Shape("pnpm", "error", r".*\bERR_PNPM_(?:OUTDATED_LOCKFILE|NO_MATCHING_VERSION|PEER_DEP|FETCH_404|LOCKFILE|FROZEN|UNSUPPORTED_ENGINE|TARBALL)\w*.*", "dependency", after=4),
    Shape("pnpm", "error", r".*\b(?:ERR_PNPM_\w+|ELIFECYCLE)\b.*", worth=68, after=1),
    Shape("yarn", "error", r"error Command failed with exit code \d+\.?", worth=72),
    Shape("yarn", "error", r"error (?:Couldn't find|Your lockfile|Found incompatible|An unexpected error|\S+@\S+: ).*", "dependency", after=2),
    Shape("yarn", "error", r"➤ YN\d{4}: .*(?:[Ee]rror|exit code|can't|couldn't|[Ff]ailed|forbidden|isn't|would have been).*", "dependency", worth=70),
    Shape("yarn", "noise", r"(?:info Visit https|info No lockfile|warning ).*"),
    Shape("bun", "error", r"error: (?:lockfile had changes|.* failed to resolve$|No version matching .* found).*", "dependency", worth=82, after=2),
    Shape("yarn", "error", r"error: script .* exited with code \d+", worth=72),
    # python packaging
    Shape("pip", "section", r"The conflict is caused by:$", "dependency", after=4, worth=70),
    Shape("pip", "error", r"ERROR: (?:Could not find a version|No matching distribution|Cannot install|ResolutionImpossible|Package .* requires|Failed (?:building|to build)|pip's dependency|Could not build|Invalid requirement|THESE PACKAGES|Could not open requirements).*", "dependency", after=3),
    Shape("pip", "error", r"ERROR: Could not install packages due to an (?:OSError|EnvironmentError).*", "dependency", worth=82, after=1),
    Shape("pip", "error", r"\s*(?:error: (?:subprocess-exited-with-error|metadata-generation-failed|legacy-install-failure|externally-managed)|\s*× (?:.* did not run successfully|.*Encountered error|Failed to build)).*", "dependency", after=6),
    Shape("pip", "noise", r"\s*(?:Collecting |Downloading \S+|Using cached |Requirement already satisfied|Installing collected packages|Successfully (?:installed|built|uninstalled)|Preparing metadata|Building wheel|Created wheel|Stored in directory|Attempting uninstall|Found existing installation|Obtaining dependency information|━).*"),
    Shape("poetry", "error", r"\s*(?:Because .*|So, because .*|And because .*|version solving failed.*|pyproject\.toml changed significantly.*|Error: .*lock file.*)", "dependency"),
    Shape("uv", "error", r"\s*(?:× (?:No solution found|Failed to|Because).*|╰─▶ .*|(?:cause: |And )?[Bb]ecause .*|(?:error: )?The lockfile at .*|error: (?:Failed to (?:download|fetch|parse|build|prepare|install|resolve)|No solution found|distribution).*)", "dependency", after=4),
    Shape("conda", "error", r"(?:PackagesNotFoundError|ResolvePackageNotFound|LibMambaUnsatisfiableError|UnsatisfiableError|CondaHTTPError|EnvironmentFileNotFound|Could not solve for environment specs|error +libmamba).*", "dependency", after=5),
    Shape("apt", "error", r"E: (?:Unable to locate package|Package .* has no installation|Unable to correct problems|Version .* was not found).*", "dependency"),
    Shape("apt", "error", r"E: .*", worth=74),
    Shape("apt", "noise", r"(?:Get:\d+|Hit:\d+|Ign:\d+|Fetched |Reading package lists|Building dependency tree|Selecting previously|Preparing to unpack|Unpacking |Setting up |Processing triggers).*"),
    Shape("composer", "error", r"\s*(?:Your requirements could not be resolved|Problem \d+$|- Root composer\.json requires|The lock file is not up to date).*", "dependency", after=3),
    Shape("bundler", "error", r"(?:Could not find (?:gem|compatible versions|\S+-\d)|Bundler (?:could not|found conflicting)|Gem::|An error occurred while installing|Your bundle is locked|The gemspecs? ).*", "dependency", after=4),
    # terraform, helm, ansible, kubectl
    Shape("terraform", "error", r"[│|╷ ]*[│|╷] *Error: .*", "configuration", worth=84, after=9),
    Shape("terraform", "error", r"Error: .*", "configuration", needs="erraform", worth=84, after=9),
    Shape("terraform", "place", r"[│| ]*on (?P<file>\S+) line (?P<line>\d+)(?:, in .*)?:.*", "configuration", after=2),
    Shape("terraform", "summary", r"(?:Terraform exited with code|Plan: \d+ to add|Error: Terraform).*", worth=60),
    Shape("helm", "error", r"(?:Error: (?:INSTALLATION|UPGRADE) FAILED|error validating|error: (?:unable to recognize|the server)).*", "configuration", after=2),
    Shape("ansible", "error", r"(?:fatal|failed): \[.*\].*(?:FAILED!|UNREACHABLE!|=>).*", "configuration", worth=82, before=2, after=1),
    Shape("ansible", "title", r"(?:TASK|PLAY) \[.*\] \*+$", worth=40),
    Shape("ansible", "summary", r"\S+ +: ok=\d+ .*(?:failed=[1-9]|unreachable=[1-9]).*"),
)
