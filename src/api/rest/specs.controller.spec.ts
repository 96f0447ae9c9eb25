// Tool definitions by REST: what is asked for is read strictly, and a dry run changes nothing.
import { describe, expect, it } from 'vitest';
import {
  namedPermissions,
  only,
  recordingReply,
  requestWith,
  recordedActs,
} from '../../../test/helpers/management-kit.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { SpecControl, SpecOutcome } from '../../ports/registry/spec-control.ts';
import { SpecsController } from './specs.controller.ts';

const HASH = 'a'.repeat(64);
const OUTCOME: SpecOutcome = {
  name: 'send',
  contentHash: HASH,
  version: '1.0.0',
  action: 'put',
  revision: 4,
  changed: true,
  inForce: true,
  registryVersion: '1.0.x',
  problems: [],
};
const asked = (body?: unknown, headers = {}) =>
  requestWith({
    permissions: ['specs:write'],
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });
const controllerOf = (specs: Partial<SpecControl>) =>
  new SpecsController(only(specs), namedPermissions, recordedActs().acts);

describe('writing a definition', () => {
  it('is done in the name of the credential, only at the revision of If-Match, and answers with the next', async () => {
    const edits: unknown[] = [];
    const { said, reply } = recordingReply();
    const controller = controllerOf({
      put: (name, document, edit) => {
        edits.push([name, document, edit]);
        return Promise.resolve(OUTCOME);
      },
    });
    const request = asked({ description: 'sends' }, { 'if-match': '"3"' });
    await controller.put(request, reply, 'send', undefined, 'why');
    expect(edits).toEqual([['send', { description: 'sends' }, { by: 'op', note: 'why', ifRevision: 3 }]]);
    expect(said.headers.get('etag')).toBe('"4"');
  });

  it('with dry_run is judged, and nothing is kept', async () => {
    const report = { name: 'send', contentHash: HASH, version: '1.0.0' };
    const controller = controllerOf({ check: () => Promise.resolve(report) });
    const answer = await controller.put(asked({ description: 'x' }), recordingReply().reply, 'send', 'true');
    expect(answer).toMatchObject({ dry_run: true, content_hash: HASH });
  });

  it.each([
    ['a dry_run that is neither true nor false', 'yes', undefined, '/dry_run'],
    ['a note too long', undefined, 'x'.repeat(501), '/note'],
  ])('with %s is refused', async (_what, dryRun, note, pointer) => {
    const put = controllerOf({}).put(asked({}), recordingReply().reply, 'send', dryRun, note);
    await expect(put).rejects.toThrow(pointer);
  });
});

describe('going back to a version', () => {
  it.each([
    ['no hash', {}, '/content_hash'],
    ['a hash that is none', { content_hash: 'abc' }, '/content_hash'],
    ['a note that is no text', { content_hash: HASH, note: 1 }, '/note'],
    ['a field that there is not', { content_hash: HASH, force: true }, '/force'],
  ])('with %s is refused', async (_what, body, pointer) => {
    const back = controllerOf({}).rollback(asked(body), recordingReply().reply, 'send');
    await expect(back).rejects.toMatchObject({ details: { violations: [{ pointer }] } });
  });
});

describe('comparing versions', () => {
  const gone = () =>
    Promise.reject(new ToolFailure('NOT_FOUND', 'no such version', { reason: 'VERSION_GONE' }));

  it('needs both', async () => {
    const diff = controllerOf({ version: () => new Promise(() => {}) }).diff(asked(), 'send', 'a', '');
    await expect(diff).rejects.toThrow('/to');
  });

  it('with one unknown and the other not named is one refusal: none is left with nobody to hear it', async () => {
    const diff = controllerOf({ version: gone }).diff(asked(), 'send', 'a', undefined);
    await expect(diff).rejects.toBeInstanceOf(ToolFailure);
  });
});
