// The management side's permissions: each route asks for its own, before anything is read, asked or changed.
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openRestDoor } from '../../../../test/helpers/rest-door.ts';
import type { AuditRecord } from '../../../ports/audit-sink.ts';
import { ROUTES } from '../openapi/document.ts';
import type { Route } from '../route/route.ts';

const NEEDS: Readonly<Record<string, string>> = {
  parseText: 'tools:read',
  listTools: 'tools:read',
  searchTools: 'tools:read',
  getTool: 'tools:read',
  getToolDocs: 'tools:read',
  getRegistry: 'tools:read',
  getPipeline: 'tools:read',
  getReloadStatus: 'platform:admin',
  reload: 'platform:admin',
  disableTool: 'platform:admin',
  enableTool: 'platform:admin',
  listApprovals: 'approvals:decide',
  followApprovals: 'approvals:decide',
  delegateVote: 'approvals:decide',
  listVoteDelegations: 'approvals:decide',
  revokeVoteDelegation: 'approvals:decide',
  getApproval: 'approvals:decide',
  decideApproval: 'approvals:decide',
  listCalls: 'calls:read',
  exportAuditRecords: 'audit:read',
  listAuditRecords: 'audit:read',
  getAnalytics: 'calls:read',
  getSuggestions: 'calls:read',
  resolveCall: 'admin',
  eraseUserData: 'admin',
  listCircuits: 'platform:admin',
  isolateCircuit: 'platform:admin',
  resetCircuit: 'platform:admin',
  listToolDefinitions: 'platform:admin',
  approveToolDefinition: 'platform:admin',
  listRecordings: 'admin',
  startRecording: 'admin',
  stopRecording: 'admin',
  downloadRecording: 'admin',
  deleteRecording: 'admin',
  getReplay: 'platform:admin',
  rewindReplay: 'platform:admin',
  listReplicas: 'platform:admin',
  createSchedule: 'tools:call',
  previewSchedule: 'tools:call',
  listSchedules: 'tools:call',
  getSchedule: 'tools:call',
  changeSchedule: 'tools:call',
  deleteSchedule: 'tools:call',
  createSession: 'tools:call',
  listSessions: 'tools:call',
  getSession: 'tools:call',
  beginTurn: 'tools:call',
  endSession: 'tools:call',
  listSessionCalls: 'tools:call',
  listToolSpecs: 'specs:write',
  getToolSpec: 'specs:write',
  putToolSpec: 'specs:write',
  disableToolSpec: 'specs:write',
  listToolVersions: 'specs:write',
  diffToolVersions: 'specs:write',
  rollbackToolSpec: 'specs:write',
  listKeys: 'keys:read',
  getKey: 'keys:read',
  createKey: 'keys:manage',
  changeKey: 'keys:manage',
  rotateKey: 'keys:manage',
  revokeKey: 'keys:manage',
  explainPolicy: 'policies:explain',
  listAgents: 'agents:read',
  getAgent: 'agents:read',
  listAgentTools: 'agents:read',
  getAgentTool: 'agents:read',
  getAgentToolConfigForm: 'agents:read',
  createAgent: 'agents:write',
  changeAgent: 'agents:write',
  deleteAgent: 'agents:write',
  putAgentTool: 'agents:write',
  changeAgentTool: 'agents:write',
  deleteAgentTool: 'agents:write',
  listOAuthConnections: 'agents:read',
  authorizeOAuth: 'agents:connect',
  startOAuthDevice: 'agents:connect',
  pollOAuthDevice: 'agents:connect',
  disconnectOAuth: 'agents:connect',
  getStatus: 'platform:admin',
  listRunningCalls: 'platform:admin',
  listAssignments: 'assignments:read',
  getAssignment: 'assignments:read',
  putAssignment: 'assignments:write',
  deleteAssignment: 'assignments:write',
  listSecretKeys: 'platform:admin',
  rotateSecretKey: 'platform:admin',
  rewrapSecrets: 'platform:admin',
  listDeadWebhooks: 'admin',
  redeliverWebhook: 'admin',
};
/** Each is the caller's own, or core says that there is none: any credential will do. */
const OWN = ['getCall', 'cancelCall', 'retryCall', 'followCall'];
/** Who may see calls may see the schedules that make them. */
const ALSO: Readonly<Record<string, string>> = {
  listSchedules: 'calls:read',
  getSchedule: 'calls:read',
  listSessions: 'sessions:read',
  getSession: 'sessions:read',
  listSessionCalls: 'sessions:read',
  beginTurn: 'sessions:write',
  endSession: 'sessions:write',
  getAnalytics: 'platform:admin',
  getSuggestions: 'platform:admin',
};
const ALL = [...new Set(Object.values(NEEDS))];

const managed = ROUTES.filter(({ problems }) => problems !== undefined);
const needing = managed.filter(({ operationId }) => !OWN.includes(operationId));

let app: NestFastifyApplication;
let records: readonly AuditRecord[];

beforeAll(async () => {
  ({ app, records } = await openRestDoor());
});

beforeEach(() => void (records as AuditRecord[]).splice(0));

afterAll(() => app.close());

function send(route: Route, permissions?: readonly string[]) {
  const method = route.method.toUpperCase() as 'GET';
  const url = route.path.replaceAll(/\{\w+\}/g, 'x');
  const headers = permissions && { authorization: `Bearer ${permissions.join(' ')}` };
  return app.inject({ method, url, headers });
}

it('are known of every route that answers with problems', () => {
  expect(managed.map(({ operationId }) => operationId).toSorted()).toEqual(
    [...Object.keys(NEEDS), ...OWN].toSorted(),
  );
});

it.each(managed)('$operationId is nothing for who has no credential', async (route) => {
  const answer = await send(route);
  expect([answer.statusCode, answer.json<{ code: string }>().code]).toEqual([401, 'AUTH']);
  expect(records).toEqual([]);
});

describe('with every other permission, nothing is touched:', () => {
  it.each(needing)('$operationId', async (route) => {
    const needed = NEEDS[route.operationId];
    const others = ALL.filter((each) => each !== needed && each !== ALSO[route.operationId]);
    const answer = await send(route, others);
    expect(answer.statusCode).toBe(403);
    expect(answer.json()).toMatchObject({ reason: 'PERMISSION_MISSING', permission: needed });
  });
});

it('a refused act is in the records, and a refused look is not', async () => {
  await send(routeOf('listCalls'), ['none']);
  expect(records).toEqual([]);
  await send(routeOf('disableTool'), ['none']);
  expect(records).toMatchObject([
    { outcome: 'PERMISSION_DENIED', tool: 'x', notes: { action: 'tools.disable', target: 'x' } },
  ]);
});

it('a dry run of a definition is a look', async () => {
  const url = '/v1/specs/x?dry_run=true';
  const answer = await app.inject({ method: 'PUT', url, headers: { authorization: 'Bearer none' } });
  expect([answer.statusCode, records]).toEqual([403, []]);
});

function routeOf(operationId: string): Route {
  const found = ROUTES.find((each) => each.operationId === operationId);
  if (found === undefined) throw new Error(`there is no ${operationId}`);
  return found;
}
