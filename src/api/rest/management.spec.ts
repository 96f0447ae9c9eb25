// The management side's permissions: each route asks for its own, before anything is read, asked or changed.
import type { FastifyRequest } from 'fastify';
import { describe, expect, it } from 'vitest';
import {
  namedPermissions as who,
  only,
  recordedActs,
  recordingReply,
  requestWith,
} from '../../../test/helpers/management-kit.ts';
import { AdminController } from './admin.controller.ts';
import { ApprovalsController } from './approvals.controller.ts';
import { AsyncCallsController } from './async-calls.controller.ts';
import { CallsController } from './calls.controller.ts';
import { CircuitsController } from './circuits.controller.ts';
import { DefinitionsController } from './definitions.controller.ts';
import { RecordingsController, ReplayController } from './recordings.controller.ts';
import { ReplicasController } from './replicas.controller.ts';
import { SchedulesController } from './schedules.controller.ts';
import { SpecsController } from './specs.controller.ts';
import { WebhooksController } from './webhooks.controller.ts';

type Route = (request: FastifyRequest) => unknown;

const { reply } = recordingReply();
const { acts } = recordedActs();
const admin = new AdminController(only(), only(), who, only(), acts);
const approvals = new ApprovalsController(only(), who, only(), acts);
const asyncCalls = new AsyncCallsController(only(), who, acts);
const calls = new CallsController(only(), who, acts);
const circuits = new CircuitsController(only(), who, acts);
const definitions = new DefinitionsController(only(), only(), who, acts);
const recordings = new RecordingsController(only(), who, acts);
const replay = new ReplayController(only(), who, acts);
const replicas = new ReplicasController(only(), who);
const schedules = new SchedulesController(only(), who, acts);
const specs = new SpecsController(only(), who, acts);
const webhooks = new WebhooksController(only(), who, acts);

const ROUTES: readonly (readonly [name: string, permission: string, route: Route])[] = [
  ['the registry’s version', 'tools:read', (r) => admin.registryVersion(r)],
  ['the pipeline', 'tools:read', (r) => admin.pipelineInForce(r)],
  ['the status of the reload', 'platform:admin', (r) => admin.reloadStatus(r)],
  ['a reload', 'platform:admin', (r) => admin.reload(r)],
  ['switching a tool off', 'platform:admin', (r) => admin.disable(r, 'x')],
  ['switching a tool on', 'platform:admin', (r) => admin.enable(r, 'x')],
  ['listing approvals', 'approvals:decide', (r) => approvals.list(r)],
  ['an approval', 'approvals:decide', (r) => approvals.get(r, 'x')],
  ['deciding an approval', 'approvals:decide', (r) => approvals.decide(r, 'x')],
  ['listing calls', 'calls:read', (r) => calls.calls(r, {})],
  ['listing audit records', 'audit:read', (r) => calls.audit(r, {})],
  ['resolving an unknown outcome', 'admin', (r) => calls.resolve(r, 'x')],
  ['listing circuits', 'platform:admin', (r) => circuits.list(r)],
  ['isolating an upstream', 'platform:admin', (r) => circuits.isolate(r, 'x')],
  ['resetting a circuit', 'platform:admin', (r) => circuits.reset(r, 'x')],
  ['listing definitions', 'platform:admin', (r) => definitions.list(r)],
  ['approving a definition', 'platform:admin', (r) => definitions.approve(r, 'x')],
  ['listing recordings', 'admin', (r) => recordings.list(r)],
  ['beginning a recording', 'admin', (r) => recordings.start(r)],
  ['ending a recording', 'admin', (r) => recordings.stop(r, 'x')],
  ['downloading a recording', 'admin', (r) => recordings.download(r, 'x', reply)],
  ['deleting a recording', 'admin', (r) => recordings.remove(r, 'x')],
  ['the report of a replay', 'platform:admin', (r) => replay.report(r)],
  ['rewinding a replay', 'platform:admin', (r) => replay.rewind(r)],
  ['the replicas', 'platform:admin', (r) => replicas.replicas(r)],
  ['making a schedule', 'tools:call', (r) => schedules.create(r, reply)],
  ['previewing a schedule', 'tools:call', (r) => schedules.preview(r)],
  ['listing schedules', 'tools:call', (r) => schedules.list(r, {})],
  ['a schedule', 'tools:call', (r) => schedules.get(r, reply, 'x')],
  ['changing a schedule', 'tools:call', (r) => schedules.change(r, reply, 'x')],
  ['deleting a schedule', 'tools:call', (r) => schedules.delete(r, 'x')],
  ['listing specs', 'specs:write', (r) => specs.list(r)],
  ['a spec', 'specs:write', (r) => specs.get(r, reply, 'x')],
  ['writing a spec', 'specs:write', (r) => specs.put(r, reply, 'x')],
  ['disabling a spec', 'specs:write', (r) => specs.disable(r, reply, 'x')],
  ['the versions of a spec', 'specs:write', (r) => specs.versions(r, 'x')],
  ['comparing versions of a spec', 'specs:write', (r) => specs.diff(r, 'x', 'a', 'b')],
  ['rolling a spec back', 'specs:write', (r) => specs.rollback(r, reply, 'x')],
  ['listing dead webhooks', 'admin', (r) => webhooks.dead(r)],
  ['sending a webhook again', 'admin', (r) => webhooks.redeliver(r, 'x')],
];
/** Each is the caller's own, or core says that there is none: any credential will do. */
const OWN: readonly (readonly [name: string, route: Route])[] = [
  ['a call', (r) => asyncCalls.get(r, reply, 'x')],
  ['cancelling a call', (r) => asyncCalls.cancel(r, reply, 'x')],
  ['running a call again', (r) => asyncCalls.retry(r, reply, 'x')],
  ['following a call', (r) => asyncCalls.events(r, reply, 'x')],
];

/** Synchronous routes throw, others reject: both are refusals. */
const answered = async (route: Route, request: FastifyRequest) => await route(request);

describe('without a credential, nothing is touched:', () => {
  it.each([...ROUTES.map(([name, , route]) => [name, route] as const), ...OWN])(
    '%s',
    async (_name, route) => {
      await expect(answered(route, requestWith({}))).rejects.toMatchObject({ type: 'AUTH' });
    },
  );
});

describe('with every other permission, nothing is touched:', () => {
  const all = [...new Set(ROUTES.map(([, permission]) => permission))];

  it.each(ROUTES)('%s needs %s', async (name, permission, route) => {
    // Who may see calls may see the schedules that make them.
    const alsoReads = ['listing schedules', 'a schedule'].includes(name) ? ['calls:read'] : [];
    const others = all.filter((other) => other !== permission && !alsoReads.includes(other));
    await expect(answered(route, requestWith({ permissions: others }))).rejects.toMatchObject({
      type: 'PERMISSION_DENIED',
      reason: 'PERMISSION_MISSING',
      details: { permission },
    });
  });
});
