// Packages as operators and READMEs write them: read in full, or not at all.
import { expect, it } from 'vitest';
import { exactPackage, nameOf } from './mcp-package.ts';

it.each([
  'npm:name@1.2.3',
  'npm:@scope/name@2026.8.31-rc.1',
  'pypi:name==1.2',
  'pypi:mcp-server[cli,dev]==0.0.1a8',
])('%s is one version of a package', (text) => {
  expect(nameOf(exactPackage(text))).toBe(text);
});

it.each([
  ['npm:name', /exact version, such as npm:name@1\.2\.3/],
  ['npm:name@latest', /exact version/],
  ['npm:name@^1.2.3', /exact version/],
  ['npm:name@1', /exact version/],
  ['pypi:name', /exact version, such as pypi:name==1\.2\.3/],
  ['pypi:name==1.*', /exact version/],
  ['npm:../up@1.2.3', /Expected a package/],
  ['npm:--registry@1.2.3', /Expected a package/],
  ['npm:name@https://x.example/y.tgz', /exact version/],
  ['pypi:-r==1.0', /Expected a package/],
  ['pypi:name @ git+https://x.example', /Expected a package/],
  ['cargo:name@1.2.3', /Expected a package/],
  ['name@1.2.3', /Expected a package/],
])('%s is refused with what was expected', (text, message) => {
  expect(() => exactPackage(text)).toThrow(message);
});
