// Names of tools: whatever a document calls its operations, each name is one that the registry takes.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { anyCharacter } from '../../../test/helpers/any-character.ts';
import type { Operation } from './document/list-operations.ts';
import { toolNames } from './tool-names.ts';

function operation(method: string, path: string, id?: string): Operation {
  return { method, path, id, place: undefined, tags: [], value: {}, item: {} };
}

it('uses operationId, and method and path where there is none', () => {
  const operations = [operation('GET', '/users/{id}', 'users/get'), operation('PUT', '/users/{id}')];
  expect(toolNames(operations, 'api_')).toEqual(['api_users_get', 'api_put_users_id']);
});

it('any operationId and path give a name that can be called', () => {
  const any = fc.string({ unit: anyCharacter, maxLength: 200 });
  fc.assert(
    fc.property(fc.array(fc.tuple(any, fc.option(any, { nil: undefined })), { maxLength: 10 }), (all) => {
      for (const name of toolNames(
        all.map(([path, id]) => operation('GET', `/${path}`, id)),
        'x.',
      )) {
        expect(name).toMatch(/^x\.[A-Za-z0-9][A-Za-z0-9_.-]{0,125}$/);
      }
    }),
  );
});

it('the name of one does not depend on where it stands', () => {
  const operations = [operation('GET', '/a', 'x'), operation('GET', '/b', 'x'), operation('GET', '/c', 'y')];
  expect(toolNames(operations.toReversed(), '').toReversed()).toEqual(toolNames(operations, ''));
});
