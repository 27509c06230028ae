"""The types that are answered here, under the names that GitHub gives them."""

from graphql import build_schema

# GitHub calls the type of `databaseId` Int, and gives numbers beyond 32 bits all the same (apache/devlake#3705)
_ACCOUNTS = """
scalar BigInt
scalar DateTime
scalar GitObjectID
scalar URI
interface Node { id: ID! }
interface Actor { login: String! }
interface RepositoryOwner { id: ID! login: String! }
type User implements Actor & Node & RepositoryOwner { id: ID! login: String! databaseId: BigInt name: String }
type Organization implements Actor & Node & RepositoryOwner { id: ID! login: String! databaseId: BigInt name: String }
type Bot implements Actor & Node { id: ID! login: String! databaseId: BigInt }
type UserConnection { nodes: [User] pageInfo: PageInfo! totalCount: Int! }
type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! endCursor: String startCursor: String }
type RateLimit { limit: Int! cost: Int! remaining: Int! used: Int! resetAt: DateTime! }
"""

_REPOSITORIES = """
enum RepositoryPermission { ADMIN MAINTAIN WRITE TRIAGE READ }
enum LabelOrderField { NAME CREATED_AT }
enum RepositoryVisibility { PRIVATE PUBLIC INTERNAL }
input LabelOrder { field: LabelOrderField! direction: OrderDirection! }
type Ref { name: String! target: GitObject }
interface GitObject { oid: GitObjectID! }
type Tree implements GitObject { oid: GitObjectID! entries: [TreeEntry!] }
type TreeEntry { name: String! type: String! oid: GitObjectID! }
type Blob implements GitObject {
  oid: GitObjectID! byteSize: Int! isBinary: Boolean isTruncated: Boolean! text: String
}
type Label implements Node { id: ID! name: String! color: String! description: String }
type LabelConnection { nodes: [Label] pageInfo: PageInfo! totalCount: Int! }
type Repository implements Node {
  id: ID! databaseId: BigInt name: String! nameWithOwner: String! owner: RepositoryOwner! url: URI! description: String
  isPrivate: Boolean! isFork: Boolean! isArchived: Boolean! visibility: RepositoryVisibility! createdAt: DateTime!
  pushedAt: DateTime hasIssuesEnabled: Boolean! hasWikiEnabled: Boolean! mergeCommitAllowed: Boolean!
  rebaseMergeAllowed: Boolean! squashMergeAllowed: Boolean! viewerPermission: RepositoryPermission
  defaultBranchRef: Ref parent: Repository isDisabled: Boolean!
  object(oid: GitObjectID, expression: String): GitObject
  ref(qualifiedName: String!): Ref
  labels(first: Int, last: Int, after: String, query: String, orderBy: LabelOrder): LabelConnection
  issue(number: Int!): Issue
  pullRequest(number: Int!): PullRequest
  issueOrPullRequest(number: Int!): IssueOrPullRequest
  issues(
    first: Int, last: Int, after: String, orderBy: IssueOrder, states: [IssueState!], labels: [String!],
    filterBy: IssueFilters
  ): IssueConnection!
  pullRequests(
    first: Int, last: Int, after: String, orderBy: IssueOrder, states: [PullRequestState!], headRefName: String,
    baseRefName: String
  ): PullRequestConnection!
}
"""

_THREADS = """
enum ReactionContent { THUMBS_UP THUMBS_DOWN LAUGH CONFUSED HEART HOORAY ROCKET EYES }
enum ReportedContentClassifiers { OUTDATED RESOLVED DUPLICATE OFF_TOPIC SPAM ABUSE }
enum IssueState { OPEN CLOSED }
enum IssueStateReason { COMPLETED NOT_PLANNED REOPENED DUPLICATE }
enum IssueOrderField { CREATED_AT UPDATED_AT }
enum OrderDirection { ASC DESC }
enum PullRequestState { OPEN CLOSED MERGED }
enum MergeableState { MERGEABLE CONFLICTING UNKNOWN }
enum MergeStateStatus { BEHIND BLOCKED CLEAN DIRTY DRAFT HAS_HOOKS UNKNOWN UNSTABLE }
input IssueOrder { field: IssueOrderField! direction: OrderDirection! }
input IssueFilters { assignee: String createdBy: String labels: [String!] mentioned: String states: [IssueState!] }
enum CommentAuthorAssociation {
  MEMBER OWNER MANNEQUIN COLLABORATOR CONTRIBUTOR FIRST_TIME_CONTRIBUTOR FIRST_TIMER NONE
}
enum PullRequestReviewState { PENDING COMMENTED APPROVED CHANGES_REQUESTED DISMISSED }
union IssueOrPullRequest = Issue | PullRequest
union RequestedReviewer = User | Team
type Reaction { content: ReactionContent! }
type ReactionGroup { content: ReactionContent! users: ReactingUserConnection! }
type ReactingUserConnection { totalCount: Int! }
type Team { name: String! slug: String! organization: Organization! }
type Milestone { number: Int! title: String! description: String dueOn: DateTime }
type ReviewRequest { requestedReviewer: RequestedReviewer }
type ReviewRequestConnection { nodes: [ReviewRequest] pageInfo: PageInfo! totalCount: Int! }
type ProjectCard { project: Project! column: ProjectColumn }
type Project { name: String! }
type ProjectColumn { name: String! }
type ProjectCardConnection { nodes: [ProjectCard] pageInfo: PageInfo! totalCount: Int! }
type PullRequestReview implements Node {
  id: ID! databaseId: BigInt author: Actor authorAssociation: CommentAuthorAssociation! body: String! commit: Commit
  state: PullRequestReviewState! submittedAt: DateTime url: URI! reactionGroups: [ReactionGroup!]
  includesCreatedEdit: Boolean!
}
type PullRequestReviewConnection { nodes: [PullRequestReview] pageInfo: PageInfo! totalCount: Int! }
interface Minimizable { isMinimized: Boolean! minimizedReason: String }
type IssueComment implements Node & Minimizable {
  id: ID! databaseId: BigInt author: Actor authorAssociation: CommentAuthorAssociation! body: String!
  createdAt: DateTime! updatedAt: DateTime! url: URI! isMinimized: Boolean! minimizedReason: String
  includesCreatedEdit: Boolean! viewerDidAuthor: Boolean! reactionGroups: [ReactionGroup!]
}
type IssueCommentConnection { nodes: [IssueComment] pageInfo: PageInfo! totalCount: Int! }
type IssueCommentEdge { node: IssueComment }
type Issue implements Node {
  id: ID! databaseId: BigInt number: Int! title: String! body: String! url: URI! state: IssueState!
  stateReason: IssueStateReason author: Actor closed: Boolean! closedAt: DateTime createdAt: DateTime!
  updatedAt: DateTime! locked: Boolean! authorAssociation: CommentAuthorAssociation! milestone: Milestone
  reactionGroups: [ReactionGroup!] projectCards(first: Int, last: Int, after: String): ProjectCardConnection!
  labels(first: Int, last: Int, after: String): LabelConnection
  assignees(first: Int, last: Int, after: String): UserConnection!
  comments(first: Int, last: Int, after: String): IssueCommentConnection!
}
type IssueConnection { nodes: [Issue] pageInfo: PageInfo! totalCount: Int! }
type PullRequestReviewComment implements Node & Minimizable {
  id: ID! databaseId: BigInt body: String! isMinimized: Boolean! minimizedReason: String
}
type PullRequestReviewCommentConnection { nodes: [PullRequestReviewComment] pageInfo: PageInfo! totalCount: Int! }
type PullRequestReviewThread implements Node {
  id: ID! isResolved: Boolean! isOutdated: Boolean!
  comments(first: Int, last: Int, after: String): PullRequestReviewCommentConnection!
}
type PullRequestReviewThreadConnection { nodes: [PullRequestReviewThread] pageInfo: PageInfo! totalCount: Int! }
type PullRequest implements Node {
  id: ID! databaseId: BigInt number: Int! title: String! body: String! url: URI!
  state: PullRequestState! isDraft: Boolean! author: Actor closed: Boolean! closedAt: DateTime createdAt: DateTime!
  updatedAt: DateTime! locked: Boolean! merged: Boolean! mergedAt: DateTime mergedBy: Actor
  mergeable: MergeableState! isCrossRepository: Boolean!
  headRefName: String! headRefOid: GitObjectID! headRepository: Repository headRepositoryOwner: RepositoryOwner
  baseRefName: String! baseRefOid: GitObjectID! baseRepository: Repository mergeStateStatus: MergeStateStatus!
  baseRef: Ref
  maintainerCanModify: Boolean! additions: Int! deletions: Int! changedFiles: Int!
  authorAssociation: CommentAuthorAssociation! milestone: Milestone reactionGroups: [ReactionGroup!]
  projectCards(first: Int, last: Int, after: String): ProjectCardConnection!
  reviewRequests(first: Int, last: Int, after: String): ReviewRequestConnection
  reviews(first: Int, last: Int, after: String): PullRequestReviewConnection
  labels(first: Int, last: Int, after: String): LabelConnection
  assignees(first: Int, last: Int, after: String): UserConnection!
  comments(first: Int, last: Int, after: String): IssueCommentConnection!
  reviewThreads(first: Int, last: Int, after: String): PullRequestReviewThreadConnection!
  commits(first: Int, last: Int, after: String): PullRequestCommitConnection!
  statusCheckRollup: StatusCheckRollup isInMergeQueue: Boolean! mergeQueueEntry: MergeQueueEntry
}
type MergeQueueEntry implements Node {
  id: ID! position: Int! baseCommit: Commit headCommit: Commit enqueuer: Actor! pullRequest: PullRequest
}
type PullRequestConnection { nodes: [PullRequest] pageInfo: PageInfo! totalCount: Int! }
"""

_CHECKS = """
enum StatusState { EXPECTED ERROR FAILURE PENDING SUCCESS }
enum CheckStatusState { REQUESTED QUEUED IN_PROGRESS COMPLETED WAITING PENDING }
enum CheckConclusionState {
  ACTION_REQUIRED TIMED_OUT CANCELLED FAILURE SUCCESS NEUTRAL SKIPPED STARTUP_FAILURE STALE
}
type PullRequestCommitConnection { nodes: [PullRequestCommit] pageInfo: PageInfo! totalCount: Int! }
type PullRequestCommit { commit: Commit! }
enum CheckRunType { ALL LATEST }
enum CheckAnnotationLevel { FAILURE NOTICE WARNING }
input CheckRunFilter {
  checkType: CheckRunType checkName: String appId: Int status: CheckStatusState conclusions: [CheckConclusionState!]
}
type CheckStep { number: Int! name: String! status: CheckStatusState! conclusion: CheckConclusionState }
type CheckStepConnection { nodes: [CheckStep] pageInfo: PageInfo! totalCount: Int! }
type Commit implements GitObject & Node {
  id: ID! oid: GitObjectID! message: String! messageHeadline: String! tree: Tree! status: Status
  statusCheckRollup: StatusCheckRollup
  checkSuites(first: Int, last: Int, after: String): CheckSuiteConnection
}
type Status implements Node { id: ID! state: StatusState! contexts: [StatusContext!]! }
type App implements Node { id: ID! databaseId: BigInt slug: String! name: String! }
type CheckSuiteConnection { nodes: [CheckSuite] pageInfo: PageInfo! totalCount: Int! }
type CheckRunConnection { nodes: [CheckRun] pageInfo: PageInfo! totalCount: Int! }
type CheckAnnotationConnection { nodes: [CheckAnnotation] pageInfo: PageInfo! totalCount: Int! }
type CheckAnnotationPosition { line: Int! }
type CheckAnnotationSpan { start: CheckAnnotationPosition! end: CheckAnnotationPosition! }
type CheckAnnotation {
  path: String! annotationLevel: CheckAnnotationLevel title: String message: String! location: CheckAnnotationSpan!
}
type StatusCheckRollup {
  state: StatusState!
  contexts(first: Int, last: Int, after: String): StatusCheckRollupContextConnection!
}
type StatusCheckRollupContextConnection { nodes: [StatusCheckRollupContext] pageInfo: PageInfo! totalCount: Int! }
union StatusCheckRollupContext = CheckRun | StatusContext
type CheckRun implements Node {
  id: ID! databaseId: BigInt name: String! status: CheckStatusState! conclusion: CheckConclusionState detailsUrl: URI
  startedAt: DateTime completedAt: DateTime checkSuite: CheckSuite! url: URI! externalId: String
  title: String summary: String text: String
  annotations(first: Int, last: Int, after: String): CheckAnnotationConnection
  steps(first: Int, last: Int, after: String, number: Int): CheckStepConnection
  isRequired(pullRequestId: ID, pullRequestNumber: Int): Boolean!
}
type CheckSuite implements Node {
  id: ID! databaseId: BigInt status: CheckStatusState! conclusion: CheckConclusionState app: App
  workflowRun: WorkflowRun createdAt: DateTime! updatedAt: DateTime!
  checkRuns(first: Int, last: Int, after: String, filterBy: CheckRunFilter): CheckRunConnection
}
type WorkflowRun { databaseId: BigInt event: String! workflow: Workflow! }
type Workflow { name: String! }
type StatusContext implements Node {
  id: ID! context: String! state: StatusState! description: String targetUrl: URI createdAt: DateTime!
  avatarUrl(size: Int): URI
  isRequired(pullRequestId: ID, pullRequestNumber: Int): Boolean!
}
"""

# each mutation with the fields of its input and of its payload
_MUTATIONS = {
    "addComment": ("subjectId: ID! body: String!", "commentEdge: IssueCommentEdge subject: Node"),
    "addPullRequestReviewThreadReply": (
        "pullRequestReviewThreadId: ID! body: String!",
        "comment: PullRequestReviewComment",
    ),
    "addReaction": ("subjectId: ID! content: ReactionContent!", "reaction: Reaction"),
    "closeIssue": ("issueId: ID! stateReason: IssueClosedStateReason", "issue: Issue"),
    "closePullRequest": ("pullRequestId: ID!", "pullRequest: PullRequest"),
    "convertPullRequestToDraft": ("pullRequestId: ID!", "pullRequest: PullRequest"),
    "createIssue": ("repositoryId: ID! title: String! body: String labelIds: [ID!] assigneeIds: [ID!]", "issue: Issue"),
    "createPullRequest": (
        "repositoryId: ID! baseRefName: String! headRefName: String! title: String! body: String draft: Boolean"
        " maintainerCanModify: Boolean",
        "pullRequest: PullRequest",
    ),
    "dequeuePullRequest": ("id: ID!", "mergeQueueEntry: MergeQueueEntry"),
    "enqueuePullRequest": (
        "pullRequestId: ID! expectedHeadOid: GitObjectID jump: Boolean",
        "mergeQueueEntry: MergeQueueEntry",
    ),
    "markPullRequestReadyForReview": ("pullRequestId: ID!", "pullRequest: PullRequest"),
    "minimizeComment": ("subjectId: ID! classifier: ReportedContentClassifiers!", "minimizedComment: Minimizable"),
    "resolveReviewThread": ("threadId: ID!", "thread: PullRequestReviewThread"),
    "unresolveReviewThread": ("threadId: ID!", "thread: PullRequestReviewThread"),
}


def _mutations() -> str:
    """Inputs and payloads are named after their mutation."""
    types, fields = ["enum IssueClosedStateReason { COMPLETED NOT_PLANNED DUPLICATE }"], []
    for name, (given, answered) in _MUTATIONS.items():
        kind = name[0].upper() + name[1:]
        types += [
            f"input {kind}Input {{ {given} clientMutationId: String }}",
            f"type {kind}Payload {{ {answered} clientMutationId: String }}",
        ]
        fields.append(f"{name}(input: {kind}Input!): {kind}Payload")
    return "\n".join([*types, f"type Mutation {{ {' '.join(fields)} }}"])


_QUERY = """
type Query {
  repository(owner: String!, name: String!): Repository node(id: ID!): Node viewer: User! rateLimit: RateLimit
}
"""

SCHEMA = build_schema("\n".join((_ACCOUNTS, _REPOSITORIES, _THREADS, _CHECKS, _mutations(), _QUERY)))
