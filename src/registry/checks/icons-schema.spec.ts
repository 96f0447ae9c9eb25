// Icons are few, small, and nothing that a client would have to run.
import { expect, it } from 'vitest';
import { icons } from './icons-schema.ts';

const PNG = 'data:image/png;base64,iVBORw0KGgo=';
const accepts = (value: unknown) => icons.safeParse(value).success;

it.each([
  [[{ src: 'https://example.com/icon.png' }]],
  [[{ src: 'https://example.com/icon', mime_type: 'image/svg+xml', sizes: ['any'] }]],
  [[{ src: PNG, sizes: ['48x48', '96x96'], theme: 'dark' }]],
])('%j is taken', (value) => {
  expect(accepts(value)).toBe(true);
});

it.each([
  ['none', []],
  ['plain http', [{ src: 'http://example.com/icon.png' }]],
  ['a script', [{ src: 'javascript:alert(1)' }]],
  ['a file', [{ src: 'file:///etc/passwd' }]],
  ['a URL with a password', [{ src: 'https://me:secret@example.com/icon.png' }]],
  ['a picture that may hold a program', [{ src: 'data:image/svg+xml;base64,PHN2Zy8+' }]],
  ['a page', [{ src: 'data:text/html;base64,PGI+' }]],
  ['data that is no base64', [{ src: 'data:image/png,<svg>' }]],
  ['a large one', [{ src: `data:image/png;base64,${'A'.repeat(20_000)}` }]],
  ['a long URL', [{ src: `https://example.com/${'a'.repeat(3_000)}` }]],
  ['many', Array.from({ length: 5 }, () => ({ src: PNG }))],
  [
    'too much together',
    Array.from({ length: 3 }, () => ({ src: `${PNG.slice(0, -1)}${'A'.repeat(12_000)}` })),
  ],
  ['a size that is none', [{ src: PNG, sizes: ['large'] }]],
  ['a type that is no picture', [{ src: PNG, mime_type: 'text/html' }]],
  ['an unknown field', [{ src: PNG, onload: 'x' }]],
])('%s: refused', (_what, value) => {
  expect(accepts(value)).toBe(false);
});
