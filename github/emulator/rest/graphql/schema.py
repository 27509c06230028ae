"""The types that are answered here, under the names that GitHub gives them."""

from graphql import build_schema

SCHEMA = build_schema("""
enum ReactionContent { THUMBS_UP THUMBS_DOWN LAUGH CONFUSED HEART HOORAY ROCKET EYES }
enum ReportedContentClassifiers { OUTDATED RESOLVED DUPLICATE OFF_TOPIC SPAM ABUSE }
enum PullRequestState { OPEN CLOSED MERGED }
enum MergeableState { MERGEABLE CONFLICTING UNKNOWN }
enum StatusState { EXPECTED ERROR FAILURE PENDING SUCCESS }
enum CheckStatusState { REQUESTED QUEUED IN_PROGRESS COMPLETED WAITING PENDING }
enum CheckConclusionState {
  ACTION_REQUIRED TIMED_OUT CANCELLED FAILURE SUCCESS NEUTRAL SKIPPED STARTUP_FAILURE STALE
}
input MarkPullRequestReadyForReviewInput { pullRequestId: ID! clientMutationId: String }
input ResolveReviewThreadInput { threadId: ID! clientMutationId: String }
input ConvertPullRequestToDraftInput { pullRequestId: ID! clientMutationId: String }
input UnresolveReviewThreadInput { threadId: ID! clientMutationId: String }
input AddPullRequestReviewThreadReplyInput { pullRequestReviewThreadId: ID! body: String! clientMutationId: String }
input MinimizeCommentInput { subjectId: ID! classifier: ReportedContentClassifiers! clientMutationId: String }
input AddReactionInput { subjectId: ID! content: ReactionContent! clientMutationId: String }
type PageInfo { hasNextPage: Boolean! endCursor: String }
type Reaction { content: ReactionContent! }
type PullRequestReviewComment { id: ID! databaseId: Int body: String! }
type PullRequestReviewCommentConnection { nodes: [PullRequestReviewComment] totalCount: Int! }
type PullRequestReviewThread {
  id: ID! isResolved: Boolean! isOutdated: Boolean!
  comments(first: Int, after: String): PullRequestReviewCommentConnection!
}
type PullRequestReviewThreadConnection { nodes: [PullRequestReviewThread] pageInfo: PageInfo! totalCount: Int! }
type PullRequest {
  id: ID! number: Int! isDraft: Boolean! title: String! url: String! state: PullRequestState! headRefName: String!
  headRefOid: String! baseRefName: String! mergeable: MergeableState!
  reviewThreads(first: Int, after: String): PullRequestReviewThreadConnection!
  commits(first: Int, last: Int): PullRequestCommitConnection!
  statusCheckRollup: StatusCheckRollup
}
type Minimized { isMinimized: Boolean! minimizedReason: String }
type Repository { id: ID! nameWithOwner: String! pullRequest(number: Int!): PullRequest }
type MarkPullRequestReadyForReviewPayload { pullRequest: PullRequest clientMutationId: String }
type ConvertPullRequestToDraftPayload { pullRequest: PullRequest clientMutationId: String }
type ResolveReviewThreadPayload { thread: PullRequestReviewThread clientMutationId: String }
type UnresolveReviewThreadPayload { thread: PullRequestReviewThread clientMutationId: String }
type AddPullRequestReviewThreadReplyPayload { comment: PullRequestReviewComment clientMutationId: String }
type MinimizeCommentPayload { minimizedComment: Minimized clientMutationId: String }
type AddReactionPayload { reaction: Reaction clientMutationId: String }
type PullRequestCommitConnection { nodes: [PullRequestCommit] totalCount: Int! }
type PullRequestCommit { commit: Commit! }
type Commit { oid: String! messageHeadline: String! statusCheckRollup: StatusCheckRollup }
type StatusCheckRollup { state: StatusState! contexts(first: Int, after: String): StatusCheckRollupContextConnection! }
type StatusCheckRollupContextConnection { nodes: [StatusCheckRollupContext] totalCount: Int! pageInfo: PageInfo! }
union StatusCheckRollupContext = CheckRun | StatusContext
type CheckRun {
  id: ID! databaseId: Int name: String! status: CheckStatusState! conclusion: CheckConclusionState detailsUrl: String
}
type StatusContext { id: ID! context: String! state: StatusState! description: String targetUrl: String }
type User { login: String! databaseId: Int }
type RateLimit { limit: Int! cost: Int! remaining: Int! used: Int! resetAt: String! }
type Query { repository(owner: String!, name: String!): Repository viewer: User! rateLimit: RateLimit }
type Mutation {
  markPullRequestReadyForReview(input: MarkPullRequestReadyForReviewInput!): MarkPullRequestReadyForReviewPayload
  convertPullRequestToDraft(input: ConvertPullRequestToDraftInput!): ConvertPullRequestToDraftPayload
  resolveReviewThread(input: ResolveReviewThreadInput!): ResolveReviewThreadPayload
  unresolveReviewThread(input: UnresolveReviewThreadInput!): UnresolveReviewThreadPayload
  addPullRequestReviewThreadReply(input: AddPullRequestReviewThreadReplyInput!): AddPullRequestReviewThreadReplyPayload
  minimizeComment(input: MinimizeCommentInput!): MinimizeCommentPayload
  addReaction(input: AddReactionInput!): AddReactionPayload
}
""")
