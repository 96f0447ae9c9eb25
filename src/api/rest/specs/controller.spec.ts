// Tool definitions by REST: what is asked for is read strictly, and a dry run changes nothing.
import { describe, expect, it } from 'vitest';
import { ask, only } from '../../../../test/helpers/management-kit.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { SpecControl, SpecOutcome } from '../../../ports/registry/spec-control.ts';
import { SpecsController } from './controller.ts';
import { diffToolVersions, putToolSpec, rollbackToolSpec } from './schema.ts';

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
const params = { name: 'send' };
const headers = { 'content-type': 'application/json' };
const controllerOf = (specs: Partial<SpecControl>) => new SpecsController(only(specs));

describe('writing a definition', () => {
  it('is done in the name of the credential, only at the revision of If-Match, and answers with the next', async () => {
    const edits: unknown[] = [];
    const controller = controllerOf({
      put: (name, document, edit) => {
        edits.push([name, document, edit]);
        return Promise.resolve(OUTCOME);
      },
    });
    const told = await ask(controller, putToolSpec, {
      params,
      query: { note: 'why' },
      headers: { ...headers, 'if-match': '"3"' },
      body: { description: 'sends' },
    });
    expect(edits).toEqual([['send', { description: 'sends' }, { by: 'op', note: 'why', ifRevision: 3 }]]);
    expect(told.headers.get('etag')).toBe('"4"');
  });

  it('with dry_run is judged, and nothing is kept', async () => {
    const report = { name: 'send', contentHash: HASH, version: '1.0.0' };
    const controller = controllerOf({ check: () => Promise.resolve(report) });
    const query = { dry_run: 'true' };
    const answer = await ask(controller, putToolSpec, { params, query, headers, body: { description: 'x' } });
    expect(answer.body).toMatchObject({ dry_run: true, content_hash: HASH });
  });

  it.each([
    ['a dry_run that is neither true nor false', { dry_run: 'yes' }, '/dry_run'],
    ['a note too long', { note: 'x'.repeat(501) }, '/note'],
  ])('with %s is refused', async (_what, query, pointer) => {
    const put = ask(controllerOf({}), putToolSpec, { params, query, headers, body: {} });
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
    const back = ask(controllerOf({}), rollbackToolSpec, { params, body });
    await expect(back).rejects.toMatchObject({ details: { violations: [{ pointer }] } });
  });
});

describe('comparing versions', () => {
  const gone = () =>
    Promise.reject(new ToolFailure('NOT_FOUND', 'no such version', { reason: 'VERSION_GONE' }));

  it('needs both', async () => {
    const query = { from: 'a', to: '' };
    const diff = ask(controllerOf({}), diffToolVersions, { params, query });
    await expect(diff).rejects.toThrow('/to');
  });

  it('of which there is neither is one refusal: none is left with nobody to hear it', async () => {
    const query = { from: 'a', to: 'b' };
    const diff = ask(controllerOf({ version: gone }), diffToolVersions, { params, query });
    await expect(diff).rejects.toBeInstanceOf(ToolFailure);
  });
});
