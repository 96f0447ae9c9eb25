// What to do about an error, for docs/reference/errors.md: by type, and by reason where that is not all there is to say.

/** What holds for a type where its reason has no words of its own. */
export const BY_TYPE = {
  VALIDATION: 'caller: send what the message asks for; the same again fails again',
  PAYLOAD_TOO_LARGE: 'caller: send less',
  AUTH: 'caller: show a credential that is good',
  PERMISSION_DENIED: 'caller: do without; operator: grant what the message names, if that is wanted',
  NOT_FOUND: 'caller: look the name or id up; lists show what a credential may see',
  MODE_RESTRICTED: 'caller: call it in a mode that it is for',
  SESSION_INACTIVE: 'caller: begin another session',
  BUDGET_EXCEEDED: 'caller: do without it until the budget is free again; operator: raise the budget',
  RATE_LIMIT: 'caller: wait for `retry_after_ms`; operator: raise the limit if its upstream bears it',
  CONCURRENCY_LIMIT: 'caller: wait for `retry_after_ms`; operator: raise the limit if its upstream bears it',
  CONFIRMATION_REQUIRED: 'caller: wait until somebody has decided, then come with the token',
  CONFLICT: 'caller: look at how it stands now, and decide anew',
  TIMEOUT:
    'caller: again if the tool is idempotent; operator: see what it waits for, or raise the time that was used up',
  CANCELLED: 'nothing: the caller did not want it any more',
  OUTPUT_INVALID: 'who keeps the tool: mend what it answers, or its declaration; the log has the call',
  OUTPUT_TOO_LARGE: 'who keeps the tool: have it answer with less, by pages or a selection',
  TRANSIENT: 'caller: again after a pause',
  PERMANENT: 'who keeps the tool: see the log under the call id; the same again fails again',
};

/** Nobody but an operator, or whoever looks the call up, can say what follows. */
const MUST_SAY = new Set(['UNAVAILABLE', 'INTERNAL', 'OUTCOME_UNKNOWN']);

const ROOM = 'caller: again in a moment; operator: if it lasts,';
const NEVER =
  'never by itself: somebody finds out, and [resolves the call](../audit.md#calls-without-an-end)';

/** Names of alerts become links to their runbooks. */
export const BY_REASON = {
  // The gateway's stores.
  ACCEPTANCE_UNKNOWN: 'caller: again with the same idempotency key, never without; operator: UteDatabaseAway',
  AUDIT_UNAVAILABLE: 'caller: again later, nothing has run; operator: UteAuditRefusesCalls, UteDatabaseAway',
  DATABASE_UNAVAILABLE:
    "caller: again later; operator: UteDatabaseAway where it is the gateway's own, else the connection of the tool",
  LIMITS_UNAVAILABLE:
    "caller: again later; operator: UteLimitsDegraded, or let the tool's limits fail open (`on_store_failure`)",
  LEASE_LOST:
    'caller: again if the tool is idempotent; operator: Redis was away or the process stood still: UteLimitsDegraded',
  ISSUER_UNAVAILABLE: 'caller: again later; operator: UteIssuerKeysUnread',
  PINS_UNAVAILABLE: 'operator: let the gateway write to `data_dir`, or free its disk: UteDiskAlmostFull',
  POOL_EXHAUSTED: `${ROOM} raise the pool of that connection, or find the statement that holds it`,
  COMMIT_UNKNOWN:
    'caller: look whether the change is there before it is made again; operator: mend the way to that database',
  CONNECTION_LOST:
    'caller: again if the tool is idempotent, it may have acted; operator: see why the upstream or MCP server ends',
  DELIVERY_UNKNOWN:
    'caller: look for the message id where mail arrives, or ask, before it is sent again; operator: the log of the mail server',
  SMTP_TLS_MISSING:
    'operator: another port or `security` for that mail server; where it had TLS before, somebody may be taking it away on the way',
  CONNECT_FAILED:
    'caller: again later, nothing was sent; operator: name, port, certificate and firewall of the upstream',
  CONNECT_TIMEOUT:
    'caller: again later; operator: see whether the MCP server starts at all: its words are in the log',
  DNS_TIMEOUT: 'caller: again later, nothing was sent; operator: the name servers of the machine',
  CIRCUIT_OPEN: 'caller: again after `retry_after_ms`; operator: UteCircuitOpen',
  // Load, and the end of a process.
  OVERLOADED: 'caller: again after `retry_after_ms`; operator: UteCallsShed',
  DRAINING: 'caller: again at once, at another replica',
  OWNER_LOST: NEVER,
  RESOLVED: 'nothing: this is what somebody found out',
  QUEUE_FULL: `${ROOM} raise \`workers\` or the limit, or add replicas`,
  ASYNC_QUEUE_FULL: `${ROOM} UteJobsWaitTooLong, \`async.max_queued_per_tenant\``,
  VALIDATION_BUSY: `${ROOM} simplify the schema that takes so long, or add replicas`,
  SCHEMA_CHECK_FAILED: 'who keeps the tool: simplify its schema; the log names it',
  STREAM_NOT_FOUND:
    'caller: start another stream, with `session_id`, and repeat what has no answer with its idempotency key',
  STREAM_TOO_FAR: 'caller: start another stream, with `session_id`, and read faster or resume sooner',
  STREAM_REPLACED: 'caller: nothing, if that was you; else let each session have one connection',
  STREAM_IDLE: 'caller: say `ping` now and then; operator: raise `stream.idle`',
  STREAM_CALLS_FULL: 'caller: wait for a result',
  TOO_MANY_STREAMS:
    'caller: end streams, or come again later; operator: raise `stream.max_per_credential` or `stream.max_streams`, or add replicas',
  TURN_OVER: 'caller: begin the next turn with `turn_start`',
  UPGRADE_REQUIRED: 'caller: ask for an upgrade to a WebSocket',
  STEPS_UNKNOWN: 'caller: again in a moment; operator: UteLimitsDegraded',
  STEP_MISSING: 'caller: call what the message names first; operator: `extensions.chaining.rules`',
  STEP_REFUSED: 'caller: do without, or begin another session; operator: `extensions.chaining.rules`',
  SESSIONS_BUSY: `${ROOM} add replicas`,
  VERSIONS_BUSY: `${ROOM} see who calls so many versions`,
  PLAN_OUTDATED:
    'caller: propose the plan again, or do without; operator: see which of its tools was changed',
  PLANS_UNAVAILABLE: 'operator: `GET /v1/admin/reload` says what is wrong with the tools',
  ANALYTICS_BUSY: `${ROOM} read figures from a replica (\`database.replica_url\`), and ask for shorter times`,
  SPECS_BUSY: `${ROOM} see who changes so many definitions`,
  TOO_MANY_FOLLOWERS: `${ROOM} add replicas, or have callers ask instead of following`,
  FLOOD: 'caller: slow down; operator: `extensions.auth.flood_rate`, if so much is wanted',
  // What is full.
  AGENTS_FULL: 'operator: delete agents that nobody uses (`ute agents`)',
  APPROVALS_FULL: 'operator: have approvals decided: UteApprovalsExpiring, `limits.max_pending_approvals`',
  ASSIGNMENTS_FULL: 'operator: take assignments away that nobody needs ([versions](../tool-versions.md))',
  KEYS_FULL: 'operator: revoke keys that nobody uses (`ute keys`)',
  FLOWS_FULL: 'caller: again in ten minutes, when links that nobody followed have ended',
  RECORDINGS_FULL: 'operator: stop or delete recordings, or raise `recording.max_total_bytes`',
  RECORDINGS_OFF: 'operator: `recording.enabled`, if recordings are wanted',
  RECORDINGS_UNAVAILABLE:
    'operator: let the gateway write to `data_dir`, or free its disk: UteDiskAlmostFull',
  DISK_FULL:
    'operator: free the disk of the workspaces, or give them one of their own (`executors.shell.workspace_dir`)',
  WORKSPACES_FULL: 'caller: wait until sessions end; operator: raise `workspace_tenant_bytes`',
  // Processes of tools.
  EXECUTOR_CLOSED: 'caller: again at once: the replica stops, or its tools were just replaced',
  EXTENSION_FAILED:
    'operator: the log names the extension and the cause under the call id; one of your own: mend it, else report it',
  HANDLER_NOT_LOADED: 'who keeps the tool: see the log; the file was changed or is gone since the load',
  NO_PROCESS: 'caller: again in a moment; operator: processes or memory of the machine are used up',
  PACKAGE_NOT_INSTALLED:
    'operator: the message says why; without a network, install where there is one and bring the folder of packages',
  SPAWN_FAILED: 'operator: the log says why: the program, its rights, processes or memory of the machine',
  SANDBOX_FAILED: 'caller: again in a moment; operator: the log says what was short: disk, memory, time',
  SANDBOX_UNAVAILABLE: 'operator: install what the message names; found within 30 s, without a restart',
  WORKER_DIED:
    'caller: again if the tool is idempotent; who keeps it: what ends the process is in the log: UteWorkersRestart',
  WORKER_PROTOCOL_VIOLATION:
    'who keeps the tool: its code writes to a pipe that is not its own, or kills its worker; the log has it',
  WORKER_START_FAILED: 'operator: the log has the last words of the interpreter: UteWorkersRestart',
  RESTART_BUDGET_SPENT: 'operator: see why the MCP server ends; it is tried again after a while',
  LIST_TIMEOUT: 'operator: see why the MCP server does not answer `tools/list`',
  WORKSPACE_NOT_KEPT:
    'caller: the command has run; operator: see the log: `tar` is missing, or the disk failed',
  WORKSPACE_NOT_RESTORED: 'operator: give tools that share a session the same `workspace_bytes`',
  // Secrets and credentials.
  CREDENTIALS_REFUSED: 'operator: mend client id and secret for that token endpoint',
  SECRETS_KEY_MISSING: 'operator: give this replica the key that details name, or set the secret anew',
  SECRETS_PROVIDER_AWAY:
    "caller: again later; operator: the key service, or the gateway's credentials there: UteDegraded",
  SECRET_UNREADABLE: 'operator: set the secret anew (`ute agents`)',
  TOKEN_UNAVAILABLE:
    'caller: again later; operator: see whether the token endpoint answers; the log has its words',
  NEEDS_REAUTH: "the agent's user: connect the account again, at the address in details",
  NOT_CONNECTED: "the agent's user: connect an account, at the address in details",
  // What operators have decided.
  OFFLINE: 'nothing, or `ute validate --online`',
  STATEMENT_REFUSED:
    'who keeps the tool: what its statement does is not what it declares; the log says which check failed',
  TOOL_CHANGING: 'caller: again in a few seconds',
  TOOL_DEFINITION_CHANGED: 'operator: look at the new definition, and agree to it or not',
  TOOL_DISABLED: 'operator: enable it again when that is right (`POST /v1/admin/tools/{name}/enable`)',
  PAGE_NOT_TEXT: 'caller: look for the same as a page; a picture or a PDF document cannot be read',
  PAGE_TOO_COMPLEX:
    'operator: raise executors.web-page.max_work_ms or max_memory_mb, if such pages are wanted',
  ROBOTS_DENIED: 'caller: do without; operator: robots: ignore in the tool, where the site is yours',
  ROBOTS_UNREADABLE: 'caller: again in a minute; operator: look at the robots.txt of the site',
  EGRESS_DENIED: 'operator: allow the address at the connection, if the tool is to reach it',
  POLICY_FAILED: 'operator: the log says why the rule cannot be evaluated; until it is mended it refuses',
  MEMORY_LIMIT: 'who keeps the tool: use less, or raise its memory',
  DISK_LIMIT: 'who keeps the tool: write less, or raise `workspace_bytes`',
};

/** Throws Error for a reason of which there is nothing to say, and for words about a reason that is gone. */
export function whatToDo(reasons, alerts) {
  const gone = Object.keys(BY_REASON).filter((reason) => !(reason in reasons));
  const silent = Object.entries(reasons)
    .filter(([reason, { types }]) => !(reason in BY_REASON) && types.some((type) => MUST_SAY.has(type)))
    .map(([reason]) => reason);
  if (gone.length > 0) throw new Error(`there is no reason ${gone.join(', ')}: take it out of what-to-do.js`);
  if (silent.length > 0)
    throw new Error(`say in scripts/reasons/what-to-do.js what to do about ${silent.join(', ')}`);
  return (reason) => {
    const [type] = reasons[reason].types;
    return (BY_REASON[reason] ?? BY_TYPE[type]).replaceAll(/\bUte[A-Z]\w+/g, (name) => linkTo(name, alerts));
  };
}

function linkTo(name, alerts) {
  const found = alerts.find(({ alert }) => alert === name);
  if (found === undefined) throw new Error(`what-to-do.js sends readers to ${name}, which is no alert`);
  return `[${name}](${found.runbook.replace('docs/', '../')})`;
}
