// The reasons that the gateway itself gives inside an error's type: what each means to whoever reads it, and what follows
// from it. Tools may report others of their own. The reference page is made from this list.
import { CONVERSATION_REASONS } from './conversation-reasons.ts';
import { AGENT_REASONS } from './agent-reasons.ts';
import { IDENTITY_REASONS } from './identity-reasons.ts';
import { MANAGEMENT_REASONS } from './management-reasons.ts';
import { MAIL_REASONS } from './mail-reasons.ts';
import { OAUTH_REASONS } from './oauth-reasons.ts';
import { PAGE_REASONS } from './page-reasons.ts';
import { row, type ReasonRow } from './reason-row.ts';
import { RESULT_REASONS } from './result-reasons.ts';
import { TOOLSET_REASONS } from './toolset-reasons.ts';

const FAILED_PRECONDITION = 9;

const spares = { sparesUpstream: true };

// oxfmt-ignore
export const REASONS = {
  // The request: nobody has looked at a tool yet.
  ACTION_MISSING: row('NOT_FOUND', 'the tool is called by its actions: the message names them'),
  ARGUMENTS_NOT_JSON: row('VALIDATION', 'the arguments of a call in a provider\'s form are no JSON: details.position says where'),
  BAD_REQUEST: row('VALIDATION', 'the request cannot be read as HTTP'),
  CALL_CUT_OFF: row('VALIDATION', 'the answer of the model ended in this call, at its limit of tokens'),
  CALL_NOT_JSON: row('VALIDATION', 'a call that a model wrote into a text is broken: details.position says where'),
  CLIENT_GONE: row('CANCELLED', 'the connection was closed before the body had arrived'),
  DUPLICATE_KEY: row('VALIDATION', 'an object has one key twice'),
  FORBIDDEN_KEY: row('VALIDATION', 'an object has a key that JSON readers treat specially, such as __proto__'),
  HEADERS_TOO_LARGE: row(['VALIDATION', 'OUTPUT_TOO_LARGE'], 'the headers of the request, or of the upstream\'s answer, are too large', { http: 431 }),
  HOST_DENIED: row('PERMISSION_DENIED', 'without credentials only requests to this machine\'s own names are taken'),
  HOST_UNCLEAR: row('VALIDATION', 'the request names its host twice, by its target, or not at all'),
  KEY_TOO_LONG: row('VALIDATION', 'a key of an object is too long'),
  LONE_SURROGATE: row('VALIDATION', 'a text holds half a character'),
  MALFORMED_CALL: row('VALIDATION', 'a field of the request has the wrong form: the message names it'),
  METADATA_TOO_LARGE: row('PAYLOAD_TOO_LARGE', 'the metadata of the gRPC call is too large'),
  METHOD_NOT_ALLOWED: row('VALIDATION', 'this route does not take the method', { http: 405 }),
  NUL: row('VALIDATION', 'a text holds U+0000'),
  NUMBER_RANGE: row('VALIDATION', 'a number cannot be passed on exactly: write it as text, or as an integer of format int64'),
  ORIGIN_DENIED: row('PERMISSION_DENIED', 'without credentials no web page may call the gateway'),
  ROUTE_NOT_FOUND: row('NOT_FOUND', 'there is no such route'),
  STRING_TOO_LONG: row('VALIDATION', 'a text is too long'),
  SYNTAX: row('VALIDATION', 'the body is not JSON'),
  TOOL_NOT_FOUND: row('NOT_FOUND', 'there is no tool of this name in force'),
  TOO_MANY_TOKENS: row('VALIDATION', 'the body holds too many values'),
  UNKNOWN_ACTION: row('VALIDATION', 'the tool has no such action'),
  UNSUPPORTED_MEDIA_TYPE: row('VALIDATION', 'the body has to be application/json', { http: 415 }),
  UPGRADE_REQUIRED: row('VALIDATION', 'this path takes WebSockets alone', { http: 426 }),
  URI_TOO_LONG: row('VALIDATION', 'the URL is too long', { http: 414 }),

  // Who calls, and what they may.
  ...IDENTITY_REASONS,

  ...AGENT_REASONS,
  ...OAUTH_REASONS,
  // Arguments.
  IDEMPOTENCY_KEYS_DIFFER: row('VALIDATION', 'header and context name different idempotency keys'),
  IDEMPOTENCY_KEY_MALFORMED: row('VALIDATION', 'an idempotency key is 1 to 255 printable ASCII characters'),
  IDEMPOTENCY_KEY_REQUIRED: row('VALIDATION', 'calls of this tool need an idempotency key'),
  CONTENT_REFUSED: row(['PERMISSION_DENIED', 'OUTPUT_INVALID'], 'a rule about content refuses arguments or result: details.rule, details.pointer'),
  CURSOR_INVALID: row('VALIDATION', 'context.cursor is none that this tool gave for these arguments'),
  INVALID_PARAMETER: row('VALIDATION', 'the database, or the MCP server, refused an argument'),
  NO_DRY_RUN: row('VALIDATION', 'this kind of tool has no dry run'),
  SCHEMA_CHECK_FAILED: row(['UNAVAILABLE', 'OUTPUT_INVALID'], 'the tool\'s schema takes too much to check this value'),
  SCHEMA_MISMATCH: row(['VALIDATION', 'OUTPUT_INVALID'], 'arguments or result do not fit the tool\'s schema: details.violations'),
  SESSION_REQUIRED: row('VALIDATION', 'the tool, or the gateway, needs context.session_id'),
  UNSAFE_ARGUMENT: row('VALIDATION', 'an argument cannot be placed where the tool puts it'),
  VALIDATION_BUSY: row('UNAVAILABLE', 'too many calls wait for their arguments to be checked', spares),

  // Approval and idempotency.
  APPROVALS_FULL: row('UNAVAILABLE', 'too many calls wait for approval: have some decided'),
  APPROVED_CALL_CHANGED: row('PERMISSION_DENIED', 'what is kept of the call is not what was approved: somebody has changed it in the database'),
  APPROVAL_CONFLICT: row('CONFLICT', 'somebody has decided this approval already'),
  APPROVAL_EXPIRED: row(['VALIDATION', 'CONFLICT'], 'the approval is past its time'),
  APPROVAL_MISMATCH: row('VALIDATION', 'the token was given for another call'),
  APPROVAL_NOT_FOUND: row('NOT_FOUND', 'there is no approval of this id'),
  DELEGATION_NOT_FOUND: row('NOT_FOUND', 'there is no delegation of a vote of this id that could be revoked'),
  APPROVAL_PENDING: row('CONFIRMATION_REQUIRED', 'a human has to approve the call: details.approval_id'),
  APPROVAL_REJECTED: row('PERMISSION_DENIED', 'an approver rejected the call'),
  APPROVAL_REQUIRED: row('CONFIRMATION_REQUIRED', 'the token does not approve this call'),
  APPROVAL_STALE: row('VALIDATION', 'what would run has changed since it was approved'),
  APPROVAL_UNKNOWN: row('VALIDATION', 'there is no approval of this token'),
  APPROVAL_USED: row('VALIDATION', 'the approval was good for one call, and is used'),
  APPROVER_NOT_IN_GROUP: row('PERMISSION_DENIED', 'the tool names groups of approvers, and the key is in none of them'),
  REASON_MISSING: row('VALIDATION', 'a rejection has to say why (approvals.require_reason)'),
  APPROVER_UNKNOWN: row('PERMISSION_DENIED', 'the key names no user, so that nobody can tell who approves'),
  IDEMPOTENCY_IN_FLIGHT: row('CONFLICT', 'a call with this idempotency key is under way'),
  PAYLOAD_MISMATCH: row('CONFLICT', 'the idempotency key was used for other arguments', { http: 422, grpc: FAILED_PRECONDITION }),
  SELF_APPROVAL: row('PERMISSION_DENIED', 'whoever asked for an approval may not give it'),

  // The tool in force.
  DEFINITION_CHANGED: row('CONFLICT', 'the MCP server\'s definition is not the one that was agreed to'),
  DEFINITION_NOT_FOUND: row('NOT_FOUND', 'no definition of a tool of this name is pinned'),
  DEFINITION_REFUSED: row('CONFLICT', 'the MCP server\'s definition was refused at load'),
  TOOL_CHANGING: row('UNAVAILABLE', 'the tool\'s code was just changed and is not in force yet'),
  TOOL_DEFINITION_CHANGED: row(['CONFLICT', 'UNAVAILABLE'], 'the tool is not the one that was agreed to', spares),
  TOOL_DISABLED: row('UNAVAILABLE', 'an operator has switched the tool off'),
  VERSIONS_BUSY: row('UNAVAILABLE', 'too many versions of tools are being looked for'),
  VERSION_CONFLICT: row('CONFLICT', 'it was changed meanwhile: look at it again', { http: 412 }),
  VERSION_GONE: row('NOT_FOUND', 'this version of the tool cannot be called'),
  VERSION_MISMATCH: row('CONFLICT', 'it was changed meanwhile: look at it again', { http: 412 }),

  // Limits, and what the gateway can do now.
  CIRCUIT_OPEN: row('UNAVAILABLE', 'what the tool calls keeps failing and is left alone for a while', { ranNothing: true, ...spares }),
  DRAINING: row('UNAVAILABLE', 'the gateway is shutting down: another replica takes the call', spares),
  EXTENSION_FAILED: row('INTERNAL', 'a step of the gateway\'s own pipeline failed: the log has the cause'),
  LEASE_LOST: row('UNAVAILABLE', 'the call lost its slot under a concurrency limit while it ran'),
  LIMITS_UNAVAILABLE: row('UNAVAILABLE', 'the limits of this tool cannot be counted now'),
  OVERLOADED: row('UNAVAILABLE', 'the gateway has too much to do', spares),
  QUEUE_FULL: row(['UNAVAILABLE', 'CONCURRENCY_LIMIT'], 'too many calls wait for a worker', { ranNothing: true, ...spares }),
  RATE_EXCEEDED: row('RATE_LIMIT', 'a rate limit of the tool is used up: retry_after_ms'),
  READ_ONLY: row('PERMISSION_DENIED', 'a tool that is declared read-only would write'),
  STEPS_TOO_DEEP: row('BUDGET_EXCEEDED', 'tools call tools on too many levels'),
  TOO_MANY_STEPS: row('BUDGET_EXCEEDED', 'one call causes too many calls of other tools'),
  WAITED_TOO_LONG: row('TIMEOUT', 'the asynchronous call waited longer than it may'),
  ...CONVERSATION_REASONS,
  // The gateway's own records.
  ACCEPTANCE_UNKNOWN: row('UNAVAILABLE', 'whether the call was accepted is not known: repeat it with its idempotency key'),
  AUDIT_UNAVAILABLE: row('UNAVAILABLE', 'the call could not be recorded, so it was not run'),
  DATABASE_UNAVAILABLE: row('UNAVAILABLE', 'a database cannot be reached now'),
  PINS_UNAVAILABLE: row('UNAVAILABLE', 'pinned definitions cannot be kept: data_dir cannot be written'),

  // Asynchronous calls and schedules.
  ASYNC_QUEUE_FULL: row('CONCURRENCY_LIMIT', 'too many calls of the tenant wait already'),
  CALLBACK_NOT_ALLOWED: row('VALIDATION', 'webhooks may not be sent to this URL'),
  CALL_ENDED: row('CONFLICT', 'the call has ended already'),
  CALL_NOT_FOUND: row('NOT_FOUND', 'there is no call of this id'),
  MALFORMED_SCHEDULE: row('VALIDATION', 'the schedule is not in one of the forms that are understood'),
  OUTCOME_ERASED: row('PERMANENT', 'what the call with this idempotency key was answered has been erased with its user'),
  OUTCOME_KNOWN: row('CONFLICT', 'only an outcome that is unknown can be resolved'),
  OWNER_LOST: row('OUTCOME_UNKNOWN', 'the gateway that ran the call died: whether it ran to its end is not known'),
  RESOLVED: row('OUTCOME_UNKNOWN', 'of records: a human has said how the call ended'),
  RETRY_NOT_ASYNC: row('CONFLICT', 'the call was not an asynchronous one: its arguments were not kept'),
  RETRY_NOT_ENDED: row('CONFLICT', 'the call has not ended yet'),
  RETRY_SUCCEEDED: row('CONFLICT', 'the call has succeeded: there is nothing to do again'),
  RETRY_UNSAFE: row('CONFLICT', 'the call may have acted, and its tool is not idempotent: "force": true runs it again'),
  SCHEDULE_FINISHED: row('CONFLICT', 'the schedule has finished: make a new one'),
  SCHEDULE_NOT_FOUND: row('NOT_FOUND', 'there is no schedule of this id'),
  SCHEDULE_NOT_UNDERSTOOD: row('VALIDATION', 'the words of the schedule have no meaning here, or several'),
  SCHEDULE_TOO_OFTEN: row('VALIDATION', 'the schedule is due more often than the tool that makes it allows'),
  SCHEDULE_TOO_LARGE: row('PAYLOAD_TOO_LARGE', 'arguments and context are more than a schedule keeps'),
  TOO_MANY_FOLLOWERS: row('UNAVAILABLE', 'too many follow calls on this replica'),
  TASK_NEEDS_APPROVAL: row('PERMISSION_DENIED', 'the task would run a tool that asks for approval at each run, when nobody is there to give it'),
  TASK_TOOL_NOT_FOUND: row('NOT_FOUND', 'the task would run a tool that is not there: executors.schedules.tools names another'),
  TOO_MANY_SCHEDULES: row('CONCURRENCY_LIMIT', 'the tenant, or this agent and user, has all the schedules that it may have'),
  WEBHOOK_NOT_FOUND: row('NOT_FOUND', 'there is no dead webhook of this id'),

  // Management.
  ...MANAGEMENT_REASONS,
  CONCURRENT_CHANGE: row('TRANSIENT', 'the statement met another one at work on the same rows: try again'),
  NO_REPLAY: row('NOT_FOUND', 'this gateway replays nothing'),
  OFFLINE: row('UNAVAILABLE', 'ute validate asks no server unless told --online'),
  RECORDINGS_FULL: row('UNAVAILABLE', 'the recordings take all the space that they may'),
  RECORDINGS_OFF: row('UNAVAILABLE', 'gateway.yaml has recording switched off'),
  RECORDINGS_UNAVAILABLE: row('UNAVAILABLE', 'recordings cannot be kept: data_dir does not allow it'),
  RECORDING_EXISTS: row('CONFLICT', 'there is a recording of this name'),
  RECORDING_NOT_FOUND: row('NOT_FOUND', 'there is no recording of this name'),
  SPECS_BUSY: row('UNAVAILABLE', 'other definitions change too fast for this one to be judged'),
  SPECS_NOT_CONFIGURED: row('CONFLICT', 'gateway.yaml has no loader of type postgres'),
  SPEC_INVALID: row('VALIDATION', 'the definition has faults: details.problems'),
  SPEC_NOT_FOUND: row('NOT_FOUND', 'there is no tool definition of this name in the database'),
  TOO_MANY_WATCHERS: row('CONCURRENCY_LIMIT', 'too many watch the tools at once'),
  UPSTREAM_NOT_FOUND: row('NOT_FOUND', 'no tool calls an upstream of this name'),

  // What a tool calls over the network.
  COMPRESSION_RATIO: row('OUTPUT_TOO_LARGE', 'the upstream\'s answer unpacks to many times its size'),
  CONNECTION_LOST: row('UNAVAILABLE', 'the connection was lost before the answer'),
  CONNECT_FAILED: row('UNAVAILABLE', 'no connection could be made', { ranNothing: true }),
  CONNECT_TIMEOUT: row('UNAVAILABLE', 'the MCP server did not take the connection in time'),
  CREDENTIALS_REFUSED: row('UNAVAILABLE', 'the token endpoint refused the gateway\'s credentials: an operator sets them right', spares),
  DNS_TIMEOUT: row('UNAVAILABLE', 'the name of the upstream was not resolved in time'),
  EGRESS_DENIED: row('PERMANENT', 'the egress policy does not let the tool reach its upstream'),
  GRPC_PROTOCOL: row('OUTPUT_INVALID', 'the upstream answered with something that is not the message of its method'),
  MALFORMED_RESPONSE: row('OUTPUT_INVALID', 'the upstream answered with something that is not HTTP'),
  NOT_JSON: row('OUTPUT_INVALID', 'the answer is not JSON'),
  REDIRECT_REFUSED: row('PERMANENT', 'the upstream answered with a redirect: none is followed'),
  SELECTION_FAILED: row('OUTPUT_INVALID', 'what the tool selects is not in the answer, or is too large'),
  TOKEN_UNAVAILABLE: row('UNAVAILABLE', 'no access token could be had', spares),
  UNKNOWN_CHARSET: row('OUTPUT_INVALID', 'the answer is in a charset that is not known'),
  UNREADABLE_ENCODING: row('OUTPUT_INVALID', 'the answer is not in the coding that it names'),
  UNSAFE_NUMBER: row('OUTPUT_INVALID', 'the answer holds a number that JSON readers round'),
  UNSUPPORTED_ENCODING: row('OUTPUT_INVALID', 'the answer is in a coding that cannot be read'),

  // MCP servers.
  INPUT_REQUIRED: row('PERMANENT', 'the MCP server asks for input, which no caller can give here'),
  LIST_TIMEOUT: row('UNAVAILABLE', 'the MCP server does not say which tools it has'),
  NO_STRUCTURED_CONTENT: row('OUTPUT_INVALID', 'the MCP tool answered without structured content'),
  PROTOCOL_VIOLATION: row('OUTPUT_INVALID', 'the MCP server broke the protocol'),
  RESTART_BUDGET_SPENT: row('UNAVAILABLE', 'the MCP server fails too often and is left alone for a while'),
  RPC_ERROR: row(['TRANSIENT', 'PERMANENT'], 'the MCP server reports an error of the protocol'),
  TOOL_ERROR: row('PERMANENT', 'the MCP tool reports an error'),
  TOO_MANY_BLOCKS: row('OUTPUT_TOO_LARGE', 'the answer has too many content blocks'),
  TOO_MANY_TOOLS: row('OUTPUT_TOO_LARGE', 'the MCP server offers too many tools'),

  // Databases of tools.
  COMMIT_UNKNOWN: row('UNAVAILABLE', 'the connection was lost during the commit: whether it holds is not known'),
  CONSTRAINT_VIOLATION: row('VALIDATION', 'a constraint of the database refuses the change'),
  DATABASE_DENIED: row('PERMISSION_DENIED', 'the database refuses the statement to its login'),
  EXCLUSION_VIOLATION: row('CONFLICT', 'a row that excludes this one is there'),
  MORE_THAN_ONE_ROW: row('OUTPUT_INVALID', 'the statement gave more than the one row that it may'),
  POOL_EXHAUSTED: row('UNAVAILABLE', 'all connections to the database are in use', spares),
  ROW_TOO_LARGE: row('OUTPUT_TOO_LARGE', 'one row is larger than the limit'),
  SCHEMA_CHANGED: row('TRANSIENT', 'the tables changed since the statement was prepared: try again'),
  STATEMENT_FAILED: row('PERMANENT', 'the database refuses the statement: the log has its words'),
  STATEMENT_REFUSED: row('UNAVAILABLE', 'the statement does what its tool may not'),
  STATEMENT_TIMEOUT: row('TIMEOUT', 'the statement did not finish in time'),
  UNIQUE_VIOLATION: row('CONFLICT', 'there is a row with this key already'),

  // Programs and handlers.
  DISK_FULL: row('UNAVAILABLE', 'the disk of the workspaces is full'),
  DISK_LIMIT: row('PERMANENT', 'the program wrote more than its workspace may hold'),
  ENVELOPE_INVALID: row('OUTPUT_INVALID', 'the handler gave something like an envelope that is none'),
  EXCEPTION: row('PERMANENT', 'the tool\'s code threw: the log has the cause'),
  EXECUTOR_CLOSED: row('UNAVAILABLE', 'the executor is being closed', spares),
  EXIT_CODE: row('PERMANENT', 'the command ended with an exit code that means failure'),
  FILES_TOO_LARGE: row('OUTPUT_TOO_LARGE', 'the files of the result are too large'),
  HANDLER_NOT_LOADED: row('UNAVAILABLE', 'the handler could not be loaded in a new thread'),
  INTENTS_INVALID: row('OUTPUT_INVALID', 'the handler gave intents that are none'),
  LOG_FLOOD: row('OUTPUT_TOO_LARGE', 'the tool printed without end'),
  MEMORY_LIMIT: row('PERMANENT', 'the program used more memory than it may'),
  NO_PROCESS: row('UNAVAILABLE', 'no process can be had for the tool now', spares),
  OUTPUT_LIMIT: row('OUTPUT_TOO_LARGE', 'the command printed more than it may'),
  OUT_OF_MEMORY: row('PERMANENT', 'the handler used more memory than it may'),
  PACKAGE_NOT_INSTALLED: row('UNAVAILABLE', 'the package of the MCP server could not be installed', { ranNothing: true }),
  READER_TOO_SLOW: row('OUTPUT_TOO_LARGE', 'partial results came faster than they were read'),
  SANDBOX_FAILED: row('UNAVAILABLE', 'the program could not be put into the sandbox'),
  SANDBOX_UNAVAILABLE: row('UNAVAILABLE', 'there is no sandbox, and the tool needs one'),
  SPAWN_FAILED: row('UNAVAILABLE', 'the program could not be started', { ranNothing: true }),
  UNSAFE_FILE: row('PERMANENT', 'a file of the workspace is no plain file'),
  WORKER_DIED: row('UNAVAILABLE', 'the worker ended in the middle of the call', spares),
  WORKER_PROTOCOL_VIOLATION: row('INTERNAL', 'the worker broke the protocol between it and the gateway'),
  WORKER_START_FAILED: row('UNAVAILABLE', 'no worker could be started for the tool'),
  WORKSPACES_FULL: row('BUDGET_EXCEEDED', 'the tenant\'s workspaces take all that they may'),
  WORKSPACE_NOT_KEPT: row('UNAVAILABLE', 'the command ran, and its workspace could not be kept'),
  WORKSPACE_NOT_RESTORED: row('UNAVAILABLE', 'the session\'s workspace could not be restored'),

  ...MAIL_REASONS,
  ...PAGE_REASONS,
  ...RESULT_REASONS,
  ...TOOLSET_REASONS,
} satisfies Readonly<Record<string, ReasonRow>>;

export type Reason = keyof typeof REASONS;

/** Undefined: the type itself, a status of an upstream (`HTTP_503`), or a word of the tool's own. */
export function reasonRow(reason: string): ReasonRow | undefined {
  return Object.hasOwn(REASONS, reason) ? REASONS[reason as Reason] : undefined;
}
