// ManagedAssignments: who may assign which version to whom, and what is refused before anything is kept.
import { beforeEach, describe, expect, it } from 'vitest';
import { compiledOf, functionOf, principalOf } from '../../../test/helpers/call-kit.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { AssignmentWho } from '../../ports/assignments/assignment-control.ts';
import type {
  AssignmentDraft,
  AssignmentRecord,
  AssignmentStore,
} from '../../ports/assignments/assignment-store.ts';
import { snapshotOf } from '../../registry/tool-spec-registry.ts';
import { ManagedAssignments } from './managed-assignments.ts';

const OLD = 'a'.repeat(64);
const mine = functionOf({ contentHash: 'c'.repeat(64), metadata: { version: '2.0.0' } });
const older = functionOf({ contentHash: OLD, metadata: { version: '1.0.0' } });
const hidden = functionOf({ name: 'hidden' });
const foreign = functionOf({ name: 'theirs', foreign: { server: 's' } });

let kept: AssignmentDraft[];
let changed: number;
let released: number;
let control: ManagedAssignments;

const recordOf = (draft: AssignmentDraft): AssignmentRecord => ({
  ...draft,
  revision: 7,
  assignedAt: new Date(0),
});

beforeEach(() => {
  [kept, changed, released] = [[], 0, 0];
  const store: Partial<AssignmentStore> = {
    put: async (draft) => {
      kept.push(draft);
      return recordOf(draft);
    },
    get: async () => undefined,
    delete: async () => 'missing',
    list: async () => [],
  };
  const tools = [compiledOf(mine), { ...compiledOf(hidden), isShownTo: () => false }, compiledOf(foreign)];
  const snapshot = snapshotOf(
    tools.map(({ function: fn }) => fn.spec),
    tools,
  );
  control = new ManagedAssignments({
    store: store as AssignmentStore,
    catalog: { snapshot: () => snapshot },
    versions: {
      take: async (_fn, pin) => {
        if (pin !== OLD && pin !== '1.0.0') throw toolFailure('VERSION_GONE', 'There is no such version.');
        return { tool: compiledOf(older), release: () => void (released += 1) };
      },
    },
    changed: async () => void (changed += 1),
  });
});

const admin = principalOf({ permissions: new Set(['*']) });
const platform = principalOf({ tenantId: '', permissions: new Set(['*', 'platform:*']) });
const desk: AssignmentWho = { tenant: undefined, tool: 'greet', kind: 'agent', subject: 'desk' };

const assign = (who: Partial<AssignmentWho> = {}, version = '1.0.0', by = admin) =>
  control.assign(by, { ...desk, ...who }, { version, reason: 'tested' }, undefined);
const refusal = (asked: Promise<unknown>) =>
  asked.then(
    () => 'taken',
    (error: ToolFailure) => error.reason,
  );

describe('a version that is assigned', () => {
  it('by its name is kept by its hash, once it was built, and is in force here', async () => {
    expect(await assign()).toMatchObject({ contentHash: OLD, version: '1.0.0', assignedBy: admin.id });
    expect([kept.length, changed, released]).toEqual([1, 1, 1]);
    expect(await assign({}, '2.0.0')).toMatchObject({ contentHash: mine.spec.contentHash });
  });

  it.each<[string, string, Partial<AssignmentWho>, string?, typeof admin?]>([
    ['VERSION_GONE', 'there is no such version', {}, '9.9.9'],
    ['VERSION_GONE', 'somebody else defines the tool', { tool: 'theirs' }, '1.0.0'],
    ['TOOL_NOT_FOUND', 'there is no such tool', { tool: 'nobody' }],
    ['TOOL_NOT_FOUND', 'the tool is not shown to who asks', { tool: 'hidden' }],
    ['TENANT_MISMATCH', 'it is of another tenant', { tenant: 'umbrella' }],
    ['TENANT_MISMATCH', 'it is another tenant', { kind: 'tenant', subject: 'umbrella' }],
    ['TENANT_MISMATCH', 'two tenants are named', { kind: 'tenant', subject: 'umbrella', tenant: 'acme' }],
    ['TENANT_REQUIRED', 'the platform names none', {}, '1.0.0', platform],
    ['AGENT_MISMATCH', 'the credential is of another agent', {}, '1.0.0', principalOf({ agents: ['other'] })],
    [
      'AGENT_MISMATCH',
      'the credential is of one agent, and it is for all',
      { kind: 'tenant', subject: 'acme' },
      '1.0.0',
      principalOf({ agents: ['desk'] }),
    ],
  ])('is refused as %s where %s, and nothing is kept', async (reason, _why, who, version, by) => {
    expect(await refusal(assign(who, version, by))).toBe(reason);
    expect([kept, changed]).toEqual([[], 0]);
  });

  it('is given to any tenant by the platform, which names it', async () => {
    await assign({ kind: 'tenant', subject: 'umbrella' }, '1.0.0', platform);
    await assign({ tenant: 'wayne', kind: 'user', subject: 'bruce' }, '1.0.0', platform);
    expect(kept).toMatchObject([
      { tenantId: 'umbrella', kind: 'tenant', subject: 'umbrella' },
      { tenantId: 'wayne', kind: 'user', subject: 'bruce' },
    ]);
  });

  it('that is not there is ASSIGNMENT_NOT_FOUND', async () => {
    expect(await refusal(control.get(admin, desk))).toBe('ASSIGNMENT_NOT_FOUND');
    expect(await refusal(control.unassign(admin, desk, undefined))).toBe('ASSIGNMENT_NOT_FOUND');
  });
});
