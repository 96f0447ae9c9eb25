// Settings of a request: one that would do nothing where it stands is refused there, and one that does something is not.
import { expect, it } from 'vitest';
import { httpOptionsSchema } from './options-schema.ts';

function problems(own: object): string[] {
  const parsed = httpOptionsSchema.safeParse({ connection: 'crm', method: 'POST', path: '/{id}', ...own });
  return parsed.success ? [] : parsed.error.issues.map(({ path }) => path.join('.'));
}

const pair = (rule: object) => ({ query: { a: { from: 'a', ...rule } } });
const form = (rule: object) => ({ body: '{b}', body_as: 'form', body_parts: { a: rule } });
const multipart = (rule: object) => ({ ...form(rule), body_as: 'multipart' });

it.each<[object, string]>([
  [pair({ lists: 'repeat' }), 'query.a.lists'],
  [pair({ style: 'form', lists: 'repeat' }), 'query.a.lists'],
  [pair({ style: 'json', explode: true }), 'query.a.explode'],
  [pair({ style: 'deepObject', explode: true }), 'query.a.explode'],
  [{ cookies: { a: { from: 'a', style: 'json', explode: false } } }, 'cookies.a.explode'],
  [{ header_arguments: { a: { from: 'a', style: 'json', explode: true } } }, 'header_arguments.a.explode'],
  [{ path: '/x', path_slashes: 'refuse' }, 'path_slashes'],
  [{ path_arguments: { a: { style: 'label' } } }, 'path_arguments.a'],
  [{ path_arguments: { id: { style: 'json', explode: true } } }, 'path_arguments.id.explode'],
  [{ path_arguments: { id: { style: 'label', name: 'x' } } }, 'path_arguments.id.name'],
  [{ body_as: 'form' }, 'body_as'],
  [{ body: '{b}', body_parts: { a: { style: 'form' } } }, 'body_parts'],
  [{ body: '{b}', body_as: 'text', body_parts: { a: { style: 'form' } } }, 'body_parts'],
  [{ ...form({ style: 'form' }), body: { b: '{b}' } }, 'body_parts.a'],
  [form({ file: true }), 'body_parts.a.file'],
  [form({ content_type: 'text/csv' }), 'body_parts.a.content_type'],
  [form({ lists: 'repeat' }), 'body_parts.a.lists'],
  [form({ style: 'json', explode: true }), 'body_parts.a.explode'],
  [multipart({ style: 'form' }), 'body_parts.a.style'],
  [multipart({ explode: true }), 'body_parts.a.explode'],
  [multipart({ lists: 'repeat' }), 'body_parts.a.lists'],
  [{ body: '{b}', file_urls: 'public' }, 'file_urls'],
  [{ body: '{b}', body_as: 'multipart', max_file_bytes: 9 }, 'max_file_bytes'],
  [{ response: 'text', large_numbers: 'refuse' }, 'large_numbers'],
  [{ response: { as: 'file', jmespath: 'size' }, large_numbers: 'text' }, 'large_numbers'],
])('%j has a problem at %s', (own, at) => {
  expect(problems(own)).toEqual([at]);
  expect(
    problems({ path: undefined, actions: { act: { path: '/{id}', ...own } }, method: undefined }),
  ).toContain(`actions.act.${at}`);
});

it.each<object>([
  pair({ explode: false }),
  pair({ style: 'deepObject', lists: 'repeat' }),
  form({ explode: false }),
  form({ style: 'deepObject', lists: 'brackets' }),
  { ...multipart({ file: true }), file_urls: 'public', max_file_bytes: 9 },
  { body: '{b}', body_as: 'file', file_urls: 'public' },
  { path_slashes: 'refuse', path_arguments: { id: { style: 'matrix', name: 'x', explode: true } } },
  { response: { as: 'json', jmespath: 'a' }, large_numbers: 'refuse' },
])('%j has none', (own) => {
  expect(problems(own)).toEqual([]);
});
